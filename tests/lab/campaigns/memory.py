"""The growth of processes in memory."""

from collections.abc import Callable, Mapping
from pathlib import Path


class Memory:
    """The largest growth of any process's private memory since the start."""

    def __init__(self, processes: Callable[[], Mapping[str, set[int]]]) -> None:
        """`processes` returns the running processes by kind."""
        self._processes = processes
        self._before = self._now()
        self.grew = 0.0  # growth of the process that grew most, in megabytes
        self.who = ""

    def look(self) -> None:
        """Measure all processes now."""
        for name, megabytes in self._now().items():
            grew = megabytes - self._before.setdefault(name, megabytes)
            if grew > self.grew:
                self.grew, self.who = grew, name

    def _now(self) -> dict[str, float]:
        return {
            f"{name} {pid}": size
            for name, pids in self._processes().items()
            for pid in pids
            if (size := megabytes(pid)) is not None
        }


def megabytes(pid: int) -> float | None:
    """The private memory of a process, without mapped files; None if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024
