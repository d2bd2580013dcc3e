"""Which displays to sample when, and how to summarise the samples. Pure.

A hash of the uuid puts each display into a bunch. Each bunch belongs to one of five turns. Each minute the tick
samples one turn's displays, so that no tick samples the whole fleet.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

EVERY: Final = timedelta(minutes=5)
"""How often the tick samples a display. An older report is not sampled: the history has a gap."""
KEPT: Final = timedelta(days=7)
MINUTE: Final = timedelta(minutes=1)
TURNS: Final = EVERY // MINUTE
BUNCHES: Final = 1000  # at most so many rows in five minutes; a multiple of TURNS (measured: decision 9)
POINTS_AT_MOST: Final = 300
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Sample(Struct, frozen=True):
    """A display's last reported values at that time; None: not reported."""

    at: datetime
    cpu_percent: float | None
    memory_percent: float | None
    disk_percent: float | None
    temperature_celsius: float | None


class HealthPoint(Sample, frozen=True):
    """The averages over `step_seconds` from `at` on; null when nothing was reported."""


MEASURES: Final = Sample.__struct_fields__[1:]


class HealthExtremes(Struct, frozen=True):
    """The lowest and the highest sample, and the last sample with its time."""

    least: float
    most: float
    last: float
    last_at: datetime


class HealthSummary(Struct, frozen=True):
    """The extremes of each figure; null when it was not reported in this time."""

    cpu_percent: HealthExtremes | None
    memory_percent: HealthExtremes | None
    disk_percent: HealthExtremes | None
    temperature_celsius: HealthExtremes | None


def due(last_tick_at: datetime | None, now: datetime) -> list[tuple[int, datetime]]:
    """The turns (0 to 4) that are due since the last tick, each with its newest time, the newest first.

    After a long pause, or at the first tick (None), each turn is due once.
    """
    minute = (now - _EPOCH) // MINUTE
    moments = [(number % TURNS, _EPOCH + number * MINUTE) for number in range(minute, minute - TURNS, -1)]
    return [(turn, at) for turn, at in moments if last_tick_at is None or at > last_tick_at]


def step_of(since: datetime, until: datetime) -> timedelta:
    """The step between two points: a multiple of EVERY that makes at most 300 points."""
    shortest = (until - since) / POINTS_AT_MOST
    return max(EVERY, -(-shortest // EVERY) * EVERY)


def points(samples: Sequence[Sample], since: datetime, until: datetime) -> list[HealthPoint]:
    """One point for each step in [`since`, `until`): the mean of its samples, None without samples.

    A point's time is the start of its step. Samples outside are ignored.
    """
    step = step_of(since, until)
    count = max(0, -(-(until - since) // step))
    slots: list[list[Sample]] = [[] for _ in range(count)]
    for sample in samples:
        if since <= sample.at < until:
            slots[(sample.at - since) // step].append(sample)
    return [HealthPoint(since + number * step, *_means(slot)) for number, slot in enumerate(slots)]


def _means(slot: Sequence[Sample]) -> list[float | None]:
    means: list[float | None] = []
    for name in MEASURES:
        values = [value for sample in slot if (value := getattr(sample, name)) is not None]
        means.append(round(sum(values) / len(values), 1) if values else None)
    return means


def summary(samples: Sequence[Sample]) -> HealthSummary:
    """Minimum, maximum and last value of each measure in samples in order of time."""
    return HealthSummary(**{measure: _extremes(samples, measure) for measure in MEASURES})


def _extremes(samples: Sequence[Sample], measure: str) -> HealthExtremes | None:
    points = [(sample.at, value) for sample in samples if (value := getattr(sample, measure)) is not None]
    if not points:
        return None
    values = [value for _, value in points]
    return HealthExtremes(min(values), max(values), values[-1], points[-1][0])
