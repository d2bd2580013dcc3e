"""The spool of logs: every numbered log message stays here until the service has committed it.

Messages are always sent in the order of their numbers, also when they are sent again. A PUBACK removes no message,
because the broker has taken it but the database has not. Only `logs_committed` removes messages.

When the spool is full, new messages are refused *before* they are numbered, and counted in `refused`. A numbered
message that is dropped would leave a gap, which stops the service's mark for a day.

Appending does not wait for the disk: the file survives the death of the process, but a power cut may lose the last
moments. A client that cannot afford this adds an fsync to `append`.
"""

import contextlib
import os
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from displays.client import durable
from displays.client.contract import LogsCommitted

MAX_MESSAGES: Final = 10_000
COMPACT_AT_LINES: Final = 2_000  # so many obsolete lines, and the file is rewritten


@dataclass(frozen=True, slots=True)
class SpooledLog:
    """One numbered log message: the level, which is part of its topic, and its body with the stamp."""

    level: str
    body: dict[str, Any]

    def is_covered_by(self, mark: LogsCommitted) -> bool:
        """Whether this mark, of the message's own boot, says that the message is committed."""
        own_boot = (self.body["install_id"], self.body["boot_seq"]) == (mark.install_id, mark.boot_seq)
        return own_boot and self.body["seq"] <= mark.seq


class Spool:
    """The file, the messages in it, and how many of them were sent since the last `rewind`."""

    def __init__(self, path: Path, max_messages: int = MAX_MESSAGES) -> None:
        self._path = path
        self._max_messages = max_messages
        self._messages: deque[SpooledLog] = deque()
        self._handed_out = 0
        self.refused = 0
        self._load()
        self._file = self._compacted()

    def __len__(self) -> int:
        return len(self._messages)

    def has_room(self) -> bool:
        """Whether one more message may be numbered. Each False is counted in `refused`."""
        if len(self._messages) < self._max_messages:
            return True
        self.refused += 1
        return False

    def append(self, message: SpooledLog) -> None:
        """Keep `message`; call it before the message is sent for the first time.

        On a full disk it is kept only in memory: it has its number, so it must be sent.
        """
        self._messages.append(message)
        self._append_line({"level": message.level, "body": message.body})

    def has_unsent(self) -> bool:
        """Whether a message was not sent since the last rewind."""
        return self._handed_out < len(self._messages)

    def next(self) -> SpooledLog | None:
        """The next message to send, in order; None when all were sent since the last rewind."""
        if not self.has_unsent():
            return None
        self._handed_out += 1
        return self._messages[self._handed_out - 1]

    def rewind(self) -> None:
        """Start again with the oldest message: after a reconnect, or a pause without progress."""
        self._handed_out = 0

    def commit(self, mark: LogsCommitted) -> int:
        """Remove the messages that `mark` covers. Returns how many."""
        kept = [message for message in self._messages if not message.is_covered_by(mark)]
        dropped = len(self._messages) - len(kept)
        if dropped:
            before = list(self._messages)[: self._handed_out]
            self._handed_out -= sum(message.is_covered_by(mark) for message in before)
            self._messages = deque(kept)
            self._append_line({"committed": [mark.install_id, mark.boot_seq, mark.seq]})
            self._compact_when_due()
        return dropped

    def close(self) -> None:
        """Close the file. A later write fails, because -1 is never another file's descriptor."""
        os.close(self._file)
        self._file = -1

    def _load(self) -> None:
        for line in durable.json_lines(self._path):
            if "committed" in line:
                mark = LogsCommitted(*line["committed"])
                self._messages = deque(m for m in self._messages if not m.is_covered_by(mark))
            elif "body" in line:
                self._messages.append(SpooledLog(line["level"], line["body"]))

    def _append_line(self, body: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # on a full disk the message stays in memory
            durable.append(self._file, durable.as_lines([body]))
            self._lines += 1

    def _compact_when_due(self) -> None:
        if self._lines - len(self._messages) > COMPACT_AT_LINES:
            with contextlib.suppress(OSError):  # without room for a new file, keep using the old one
                old, self._file = self._file, self._compacted()
                os.close(old)

    def _compacted(self) -> int:
        """Rewrite the file with the messages that are left. Returns its new descriptor."""
        lines = [{"level": message.level, "body": message.body} for message in self._messages]
        durable.replace_file(self._path, durable.as_lines(lines))
        self._lines = len(lines)
        return os.open(self._path, os.O_WRONLY | os.O_APPEND)


@dataclass(slots=True)
class Pace:
    """A token bucket that keeps a resend within the service's budget of 50 a second, burst 500."""

    per_second: float = 40.0
    burst: float = 100.0
    _tokens: float = field(default=100.0, init=False)
    _at: float = field(default=0.0, init=False)

    def wait_seconds(self, now: float) -> float:
        """0.0 when one more message may be sent now, which is then counted; otherwise the seconds to wait.

        `now` is in monotonic seconds.
        """
        self._tokens = min(self.burst, self._tokens + max(0.0, now - self._at) * self.per_second)
        self._at = now
        if self._tokens < 1.0:
            return max(0.001, (1.0 - self._tokens) / self.per_second)  # a rounding error must not make a busy loop
        self._tokens -= 1.0
        return 0.0
