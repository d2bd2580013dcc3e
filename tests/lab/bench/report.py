"""One measured row: our value, the peer's for the same work in the same run, and the limit."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """`limit`: a ratio to the peer's value, or without a peer a value in `unit`; a minimum, or a maximum."""

    what: str
    ours: float
    unit: str
    limit: float
    at_most: bool = False
    peer: str = ""
    theirs: float | None = None
    note: str = ""

    @property
    def measured(self) -> float:
        """The value that is compared with the limit."""
        return self.ours if self.theirs is None else self.ours / self.theirs

    @property
    def passed(self) -> bool:
        return self.measured <= self.limit if self.at_most else self.measured >= self.limit

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "measured": self.measured, "passed": self.passed}

    def line(self) -> str:
        """The row for people."""
        sign = "<=" if self.at_most else ">="
        against = "" if self.theirs is None else f"{_short(self.theirs)} {self.peer}"
        ratio = "" if self.theirs is None else f"{self.measured:.2f} x"
        limit = f"{sign} {self.limit:g}" + (" x" if self.theirs is not None else f" {self.unit}")
        verdict = "pass" if self.passed else "MISS"
        return f"{self.what:<46} {_short(self.ours):>9} {self.unit:<6} {against:<34} {ratio:>8} {limit:>14} {verdict}"


HEADER = f"{'what':<46} {'ours':>9} {'':<6} {'peer':<34} {'ratio':>8} {'limit':>14}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def median(values: Iterable[float]) -> float:
    return statistics.median(list(values))


def alternating(times: int, *measured: Callable[[], float]) -> list[float]:
    """The median of each function's values. They run in turns, so that a disturbance of the machine affects all."""
    found = [[one() for one in measured] for _ in range(times)]
    return [median(column) for column in zip(*found, strict=True)]
