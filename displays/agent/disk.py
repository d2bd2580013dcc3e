"""What the agent keeps on a disk that may refuse: the count of its starts, and the journal of commands."""

import contextlib
import uuid
from logging import WARNING
from pathlib import Path

from displays.agent.vitals import disk_takes
from displays.client.installation import next_boot
from displays.client.journal import Journal, UnwritableJournal
from displays.client.state import Boot
from shared.structured_log import event


def count_boot(folder: Path, boot_id: str) -> Boot:
    """Count a start. If the disk cannot be written, this start is a new installation, as the contract demands."""
    try:
        return next_boot(folder / "installation.json", boot_id)
    except OSError as error:
        event("machine_disk_refuses", f"The disk takes nothing: {error.strerror}.", WARNING)
        return Boot(str(uuid.uuid4()), 1, boot_id)


class Disk:
    """The journal of commands, and whether it can be written now. Without it commands are refused."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / "journal.jsonl"
        self.works = True
        try:
            self.journal = Journal(self._path)
        except OSError:
            self.journal = UnwritableJournal(self._path)
        self.look()

    def look(self) -> None:
        """Check whether the journal can be written. It is opened as soon as the disk works again."""
        takes = disk_takes(self._folder)
        if takes and isinstance(self.journal, UnwritableJournal):
            with contextlib.suppress(OSError):
                self.journal = Journal(self._path)
        works = takes and not isinstance(self.journal, UnwritableJournal) and self.journal.works()
        if self.works and not works:
            event("machine_no_journal", "Commands are refused: their journal cannot be written.", WARNING)
        self.works = works
