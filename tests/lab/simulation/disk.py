"""The data that a display keeps while its power is off. A disk can be copied, and the copy restored."""

from dataclasses import dataclass, field

from displays.client.spool import SpooledLog
from displays.client.state import JournalEntry


@dataclass
class Disk:
    """The installation, its count of boots, the known commands, and the log lines that are not committed."""

    install_id: str
    boot_seq: int = 0
    journal: dict[str, JournalEntry] = field(default_factory=dict)
    spool: list[SpooledLog] = field(default_factory=list)

    def copy(self) -> "Disk":
        """A copy of the disk."""
        return Disk(self.install_id, self.boot_seq, dict(self.journal), list(self.spool))
