"""How much more memory processes take than they took before."""

from collections.abc import Callable, Mapping
from pathlib import Path


class Memory:
    """How much more memory of its own any process has had than in the beginning."""

    def __init__(self, processes: Callable[[], Mapping[str, set[int]]]) -> None:
        """`processes` names those that run now, by what they are."""
        self._processes = processes
        self._before = self._now()
        self.grew = 0.0  # megabytes, of the one that grew most
        self.who = ""

    def look(self) -> None:
        """Once now."""
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
    """What a process has in memory that is no file's; None when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024
