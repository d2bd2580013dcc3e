"""What a display keeps while its power is off. A disk can be copied, and the copy put back."""

from dataclasses import dataclass, field

from deploy.displays.client.spool import SpooledLog
from deploy.displays.client.state import JournalEntry


@dataclass
class Disk:
    """The installation, how often it booted, the commands that it knows, and the log lines that nobody has yet."""

    install_id: str
    boot_seq: int = 0
    journal: dict[str, JournalEntry] = field(default_factory=dict)
    spool: list[SpooledLog] = field(default_factory=list)

    def copy(self) -> "Disk":
        """Another disk with the same on it."""
        return Disk(self.install_id, self.boot_seq, dict(self.journal), list(self.spool))
