"""The lock that allows one stack for each state folder. The kernel releases it when its holders end."""

import fcntl
import os
import time

from deploy.parts.layout import Layout


class Lock:
    """A file lock, held as long as the guardian or the runner lives."""

    def __init__(self, layout: Layout) -> None:
        self._path = layout.lock
        self._file: int | None = None

    def take(self) -> bool:
        """Take the lock; False when another process holds it, which `holder` names."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        self._file = file
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        return True

    def take_within(self, seconds: float) -> bool:
        """Take the lock, and wait up to `seconds` for it; False when it is still held."""
        deadline = time.monotonic() + seconds
        while not self.take():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def release(self) -> None:
        """Release the lock."""
        if self._file is not None:
            os.close(self._file)

    def holder(self) -> int | None:
        """The process id of the running stack; None when none runs."""
        try:
            with self._path.open(encoding="ascii") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(file.read() or 0)
        except FileNotFoundError:
            pass
        return None
