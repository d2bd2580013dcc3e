"""Which displays a snooze covers, and how long it may last."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.errors import SnoozeRefused
from shared.vocabulary import SnoozeScope

LONGEST: Final = timedelta(days=31)  # so that a forgotten snooze ends by itself


@dataclass(frozen=True)
class KeptSnooze:
    """A snooze: no messages about the fleet, a site or a client until `until`."""

    id: int
    scope: SnoozeScope
    site: str | None
    client_uuid: str | None
    reason: str
    until: datetime
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    ended_by: str | None
    client_name: str | None

    def is_on(self, now: datetime) -> bool:
        """Whether it is neither over nor ended by a person."""
        return self.ended_at is None and self.until > now


@dataclass(frozen=True)
class Snoozed:
    """The fleet, sites and clients that are snoozed now."""

    fleet: bool = False
    sites: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()

    def covers(self, uuid: str, site: str | None) -> bool:
        """Whether a snooze covers this client, its site or the fleet."""
        return self.fleet or uuid in self.clients or (site is not None and site in self.sites)

    def covers_all_of(self, sites: Collection[str] | None) -> bool:
        """Whether snoozes cover all of these sites; None is the whole fleet."""
        return self.fleet or (sites is not None and bool(sites) and self.sites.issuperset(sites))


def check(now: datetime, until: datetime) -> None:
    """Check a snooze's end: in the future, within LONGEST. Raises SnoozeRefused."""
    if until <= now:
        raise SnoozeRefused("until must be in the future.")
    if until - now > LONGEST:
        raise SnoozeRefused(f"A snooze lasts {LONGEST.days} days at most; a maintenance window may last longer.")
