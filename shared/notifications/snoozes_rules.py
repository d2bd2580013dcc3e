"""Whom a snooze covers, and how long one may last."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from shared.errors import SnoozeRefused
from shared.vocabulary import SnoozeScope

LONGEST: Final = timedelta(days=31)  # a forgotten one ends by itself


@dataclass(frozen=True)
class KeptSnooze:
    """Nobody is told of the fleet, of a site or of a client until then."""

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
        """Neither over nor ended by a person."""
        return self.ended_at is None and self.until > now


@dataclass(frozen=True)
class Snoozed:
    """Of whom nobody is told now."""

    fleet: bool = False
    sites: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()

    def covers(self, uuid: str, site: str | None) -> bool:
        """Whether this client is covered, by itself, its site or the fleet."""
        return self.fleet or uuid in self.clients or (site is not None and site in self.sites)

    def covers_all_of(self, sites: Collection[str] | None) -> bool:
        """Whether all of these sites are covered; None is the whole fleet."""
        return self.fleet or (sites is not None and bool(sites) and self.sites.issuperset(sites))


def check(now: datetime, until: datetime) -> None:
    """Raises SnoozeRefused unless it ends after now, and not too late."""
    if until <= now:
        raise SnoozeRefused("until must be in the future.")
    if until - now > LONGEST:
        raise SnoozeRefused(f"A snooze lasts {LONGEST.days} days at most; a maintenance window may last longer.")
