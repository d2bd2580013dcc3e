"""The gauges, the meaning of each, and the functions that make their samples from rows. Pure.

A label's value is a word of `vocabulary` or one of a few fixed words below, never a uuid, a site or other text that
users choose. So the number of series does not depend on the size of the fleet.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from msgspec import Struct

PREFIX: Final = "signage_"
RECENTLY: Final = timedelta(minutes=15)  # the period of the gauges whose names end in _last_15m
STORM: Final = timedelta(minutes=30)  # the period of the gauges whose names end in _last_30m
A_DAY: Final = timedelta(days=1)
OTHER: Final = "other"

MEANINGS: Final[Mapping[str, str]] = {
    "clients": "clients by shown state",
    "clients_service_failed": "clients with a service that fails",
    "clients_service_mended": "clients whose failed service is mended, but not acknowledged",
    "clients_screen_failed": "clients with a screen that fails (off: nobody planned it), by what it shows",
    "clients_over_limit": "clients that pass a limit of health, by limit",
    "commands_open": "open commands, by state",
    "commands_oldest_seconds": "age of the oldest open command, by state; 0 without one",
    "commands_ended_last_15m": "commands that ended within 15 minutes, by state and reason (unknown ones: other)",
    "screenshots_last_30m": "screenshots that ended at a display within 30 minutes, by picture",
    "outbox_waiting": "commands that no broker has answered for yet",
    "outbox_oldest_seconds": "age of the oldest of them; 0 without one",
    "outbox_leases": "commands that a publisher holds now",
    "recovery_enabled": "1 while CRASH_RECOVERY_ENABLED is true",
    "recovery_commands_last_30m": "commands that recovery asked for within 30 minutes, by action",
    "breakers_open": "open breakers: of the fleet, of sites",
    "incidents_open": "open incidents, by kind",
    "conversions": "conversions by status",
    "conversions_oldest_seconds": "time since the oldest open conversion was requested; 0 without one",
    "conversion_leases": "conversions that a worker holds, by whether its lease runs",
    "dead_letters_last_15m": "different dead letters within 15 minutes, by reason",
    "notifications_last_day": "notifications of the last day, and older pending ones, by state",
    "notifications_overdue_seconds": "how long the oldest pending notification has been due; 0 without one",
    "notification_channels_failing": "channels in use that missed their last message",
    "sign_in_failures_last_15m": "sign-ins with a wrong name or password within 15 minutes",
    "tick_age_seconds": "time since the last tick of the scheduler began; +Inf before the first",
    "tick_duration_seconds": "how long the last tick took",
    "tick_period_seconds": "period of the scheduler's ticks",
    "tick_failed_steps": "steps of the last tick that failed",
    "listening": "1 while the bridge's canary is younger than 45 s: the fleet is heard",
    "canary_age_seconds": "time since the bridge's canary last came back; +Inf before the first",
    "last_commit_age_seconds": "time since the bridge last committed a batch; +Inf before the first",
    "broker_open_files": "files and connections that the broker has open; 0 where unknown",
    "broker_open_files_limit": "how many it may open",
    "broker_memory_bytes": "memory of the broker's process; 0 where unknown",
    "broker_crashes_last_day": "crashes of the broker within a day",
    "certificate_seconds_left": "time until a door's certificate ends, if seen within two days; none where plain",
    "certificate_lifetime_seconds": "time from its begin to its end",
    "database_size_bytes": "size of our database",
    "media_volume_size_bytes": "size of the volume that holds MEDIA_ROOT",
    "media_volume_free_bytes": "free bytes of it",
}
"""Name without the prefix -> meaning. All are gauges, computed from the database when they are requested."""


class Gauge(Struct, frozen=True):
    """One metric with all its samples: the values of `labels`, in their order, and the number."""

    name: str
    labels: tuple[str, ...]
    samples: Sequence[tuple[tuple[str, ...], float]]

    @property
    def meaning(self) -> str:
        """The meaning of the gauge, for people."""
        return MEANINGS[self.name]


def plain(name: str, value: float) -> Gauge:
    """A gauge without labels."""
    return Gauge(name, (), [((), value)])


def by_word(name: str, label: str, words: Iterable[str], found: Mapping[str, float]) -> Gauge:
    """A gauge with one label: a sample for every word, 0 if `found` lacks it; other keys of `found` are left out."""
    return Gauge(name, (label,), [((str(word),), float(found.get(str(word), 0))) for word in words])


def certificates(now: datetime, lifetimes: Sequence[tuple[str, datetime, datetime]]) -> tuple[Gauge, Gauge]:
    """The rest, negative after the end, and the lifetime of certificates: door, begin and end of each."""
    left = [((door,), (ends - now).total_seconds()) for door, _, ends in lifetimes]
    whole = [((door,), (ends - begins).total_seconds()) for door, begins, ends in lifetimes]
    return (
        Gauge("certificate_seconds_left", ("door",), left),
        Gauge("certificate_lifetime_seconds", ("door",), whole),
    )


def by_state_and_reason(name: str, ends: Mapping[str, Sequence[str]], found: Mapping[tuple[str, str], float]) -> Gauge:
    """A gauge of ended commands; a reason that a display or a person wrote counts as `other`."""
    samples: dict[tuple[str, ...], float] = {
        (state, reason): 0.0 for state, reasons in ends.items() for reason in (*reasons, OTHER)
    }
    for (state, reason), count in found.items():
        known = reason in ends.get(state, ())
        samples[state, reason if known else OTHER] = samples.get((state, reason if known else OTHER), 0.0) + count
    return Gauge(name, ("state", "reason"), list(samples.items()))


def age_seconds(now: datetime, since: datetime | None, never: float = math.inf) -> float:
    """The seconds since `since`, at least 0; `never` if `since` is None."""
    return never if since is None else max(0.0, (now - since).total_seconds())


def words_of(*enums: type[StrEnum]) -> Iterator[str]:
    """All words of these enumerations."""
    for enum in enums:
        yield from (word.value for word in enum)
