"""Opening hours as displays keep them: times of a day, to the minute."""

from collections.abc import Iterator, Sequence
from typing import Final

from shared.clients.hours_rules import OpeningHours, OpenTime
from shared.quiet.hours_rules import DAYS, MIDNIGHT, Span, clock

START_OF_DAY: Final = "00:00"


def kept_by_displays(spans: Sequence[Span], zone: str) -> OpeningHours:
    """These opening hours as a display's. Hours that last longer than to the next day are split at midnight."""
    days: dict[tuple[str, str], set[int]] = {}
    for span in spans:
        for day in span.days:
            for passed, opens, until in _parts(span):
                days.setdefault((opens, until), set()).add((DAYS.index(day) + passed) % len(DAYS))
    return OpeningHours(
        zone,
        tuple(OpenTime(tuple(DAYS[day] for day in sorted(on)), *times) for times, on in sorted(days.items())),
    )


def _parts(span: Span) -> Iterator[tuple[int, str, str]]:
    """The span as (days after its own, from, until); until may be on the day after, but before `from`."""
    if span.nights == 0 or (span.nights == 1 and clock(span.ends) < clock(span.begins)):
        yield 0, span.begins, span.ends
        return
    yield 0, span.begins, MIDNIGHT
    for passed in range(1, span.nights):
        yield passed, START_OF_DAY, MIDNIGHT
    if span.ends != START_OF_DAY:
        yield span.nights, START_OF_DAY, span.ends
