"""When which displays are sampled, and how what was sampled is drawn. Pure.

The fleet is divided into bunches, by a hash of the uuid, and every bunch into one of five turns: each minute one
turn's displays are sampled, so that no tick has to do all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Final

EVERY: Final = timedelta(minutes=5)
"""How often a display is sampled; a report older than that is not sampled again: a gap."""
MINUTE: Final = timedelta(minutes=1)
TURNS: Final = EVERY // MINUTE
BUNCHES: Final = 1000  # rows of five minutes at most; a multiple of TURNS (measured: docs/lab-notes.md)
POINTS_AT_MOST: Final = 300
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sample:
    """What a display reported last at that time; None: it did not say."""

    at: datetime
    cpu_percent: float | None
    memory_percent: float | None
    disk_percent: float | None
    temperature_celsius: float | None


MEASURES: Final = tuple(field.name for field in fields(Sample))[1:]


@dataclass(frozen=True, slots=True)
class Extremes:
    """The least and most of one measure in a time, and its last value there."""

    least: float
    most: float
    last: float
    last_at: datetime


def due(last_tick_at: datetime | None, now: datetime) -> list[tuple[int, datetime]]:
    """The turns (0 to 4) that came since the last tick, each with its newest moment, the newest first.

    After a long rest, or at the very first tick (None), that is each turn once.
    """
    minute = (now - _EPOCH) // MINUTE
    moments = [(number % TURNS, _EPOCH + number * MINUTE) for number in range(minute, minute - TURNS, -1)]
    return [(turn, at) for turn, at in moments if last_tick_at is None or at > last_tick_at]


def step_of(since: datetime, until: datetime) -> timedelta:
    """How much time one point stands for: a multiple of EVERY, so that there are 300 points at most."""
    shortest = (until - since) / POINTS_AT_MOST
    return max(EVERY, -(-shortest // EVERY) * EVERY)


def points(samples: Sequence[Sample], since: datetime, until: datetime) -> list[Sample]:
    """One point for each step from `since` to before `until`: the mean of what was sampled in it, None where nothing.

    A point's time is the beginning of its step. Samples outside are left out.
    """
    step = step_of(since, until)
    count = max(0, -(-(until - since) // step))
    slots: list[list[Sample]] = [[] for _ in range(count)]
    for sample in samples:
        if since <= sample.at < until:
            slots[(sample.at - since) // step].append(sample)
    return [Sample(since + number * step, *_means(slot)) for number, slot in enumerate(slots)]


def _means(slot: Sequence[Sample]) -> list[float | None]:
    means: list[float | None] = []
    for name in MEASURES:
        values = [value for sample in slot if (value := getattr(sample, name)) is not None]
        means.append(round(sum(values) / len(values), 1) if values else None)
    return means


def summary(samples: Sequence[Sample], measure: str) -> Extremes | None:
    """Least, most and last of one measure, from samples in order of time; None when no sample has it."""
    points = [(sample.at, value) for sample in samples if (value := getattr(sample, measure)) is not None]
    if not points:
        return None
    values = [value for _, value in points]
    return Extremes(min(values), max(values), values[-1], points[-1][0])
