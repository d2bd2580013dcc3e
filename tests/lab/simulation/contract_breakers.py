"""When the contract forbids acting on silence because many displays are silent at once; written from its text."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from tests.lab.simulation.contract import LADDER, MENDED, Facts, is_held, screen_fails, steps_of, threshold

CLOSES_AFTER: Final = timedelta(seconds=45)
CLOSES_AFTER_INTERVALS: Final = 1.5
"""How long few enough must be silent before a breaker closes: at least, and in intervals of their heartbeats."""
WAVE: Final = timedelta(minutes=5)
INTERVAL: Final = timedelta(seconds=30)
DAY: Final = timedelta(days=1)
WELL: Final = ("running", "late", "starting", "stopped")


class Breaker:
    """Open while so many are silent at once that the cause is the service's, or one that no reboot cures.

    It stays open for the whole silence: a client that counted when it opened counts until it closes.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.released_at: datetime | None = None  # silence that began earlier is not evidence
        self._low_since: datetime | None = None  # since when few enough are silent
        self._opened_at: datetime | None = None
        self._members: set[str] = set()  # the clients that counted when it opened
        self._silent: set[str] = set()  # the clients that were silent at the last check, while it was open

    def look(
        self,
        now: datetime,
        silences: Mapping[str, timedelta],
        *,
        let_alone: Mapping[str, timedelta] = MappingProxyType({}),
        there: Collection[str] = (),
        intervals: Mapping[str, timedelta] = MappingProxyType({}),
        may_open: bool = True,
    ) -> None:
        """Evaluate the breaker, as each tick does. `silences`: uuid -> time beyond the client's threshold.

        `let_alone`: the same for silent clients that do not count. They have not come back, and neither have clients
        that are no longer `there`. `intervals`: uuid -> interval of the client's heartbeats.
        """
        counted = {uuid: beyond for uuid, beyond in silences.items() if beyond <= DAY or uuid in self._members}
        silent = {uuid: intervals.get(uuid, INTERVAL) for uuid, beyond in counted.items() if beyond > timedelta()}
        stale = len(silent)
        wave = sum(counted[uuid] <= max(WAVE, interval) for uuid, interval in silent.items())
        opens = (wave >= 5 and wave >= 0.2 * len(counted)) or (stale >= 5 and stale >= 0.5 * len(counted))
        self._silent = {one for one in self._silent if one not in there}  # they were deleted
        aside = {uuid for uuid, beyond in let_alone.items() if beyond <= DAY or uuid in self._members}
        few_left = 0 < stale < 5 <= stale + len(aside) + len(self._silent) and stale >= 0.5 * len(counted)
        is_high = (stale >= 5 and stale >= 0.2 * len(counted)) or few_left
        was_open, since = self.is_open, min(self._low_since or now, now)
        self._low_since = None if is_high or not was_open else since
        waits = max([CLOSES_AFTER, *(CLOSES_AFTER_INTERVALS * interval for interval in silent.values())])
        self.is_open = (is_high or now - since < waits) if was_open else (opens and may_open)
        if self.is_open and not was_open:
            self._opened_at = now
        if self.is_open:
            self._members |= {uuid for uuid, beyond in silences.items() if beyond <= DAY}
            self._silent |= {uuid for uuid, beyond in silences.items() if beyond > timedelta()} | aside
        else:
            self._members, self._silent = set(), set()

    def release(self, now: datetime) -> None:
        """A person releases the breaker for the present silence."""
        self.is_open, self._low_since, self._members, self._silent = False, None, set(), set()
        self.released_at = max(now, self._opened_at or now)

    def knows(self, stale_at: datetime) -> bool:
        """Whether a silence that began then was released."""
        return self.released_at is not None and stale_at <= self.released_at


class Breakers:
    """The fleet's breaker, and one for each site, which does not open while the fleet's is open.

    They are evaluated in three ways: by heartbeats, by any sign of life, and with presence as a sign, which the
    connection of a hanging display gives too. Where the results differ, either is right.
    """

    def __init__(self) -> None:
        self._by_heartbeats = _Set(lambda facts, client: facts.now - client.last_heartbeat_at)
        by_signs = _Set(lambda facts, client: facts.silence(client))
        self.screens = Screens()
        self._all = (self._by_heartbeats, by_signs, _Set(lambda facts, client: facts.silence_of_all(client)))

    def look(self, facts: Facts) -> None:
        """Evaluate all breakers."""
        self.screens.look(facts)
        for one in self._all:
            one.look(facts)

    def release(self, now: datetime, sites: Iterable[str | None]) -> None:
        """A person released these breakers; None is the fleet's."""
        self.screens.release(now, sites := list(sites))
        for one in self._all:
            one.release(now, sites)

    def vouched_for(self, client: Any) -> bool:
        """Whether a person released a breaker during this client's silence."""
        return self._by_heartbeats.vouched_for(client)

    def holds_back(self, client: Any) -> bool | None:
        """Whether silence of this client is not evidence now; None if the ways of evaluation differ."""
        said = {one.holds_back(client) for one in self._all}
        return said.pop() if len(said) == 1 else None


class Screens:
    """The fleet (None) and the sites where so many screens fail at once that no player is restarted for its screen."""

    def __init__(self) -> None:
        self._held: set[str | None] = set()
        self._released: dict[str | None, datetime] = {}

    def look(self, facts: Facts) -> None:
        """Evaluate, as each tick does."""
        heard = [c for c in facts.clients.values() if c.status in WELL and c.screen != "unknown"]
        fails = [c for c in heard if screen_fails(c) and c.screen in MENDED and self._counts(facts, c)]
        sites = {None, *(c.site for c in fails)}
        self._held = {
            site
            for site in sites
            if self._are_many([c for c in fails if site in {None, c.site}], sum(site in {None, c.site} for c in heard))
        }

    def release(self, now: datetime, sites: Iterable[str | None]) -> None:
        """A person released these, for the screens that fail now."""
        for site in self._held.intersection(sites):
            self._released[site] = now
        self._held.difference_update(sites)

    def hold_back(self, client: Any) -> bool:
        """Whether recovery does not act on screens of its site, or of the fleet."""
        return None in self._held or client.site in self._held

    def _counts(self, facts: Facts, client: Any) -> bool:
        released = [self._released[site] for site in (None, client.site) if site in self._released]
        own = [c for c in facts.commands if c.client_uuid == client.uuid]
        is_alone = client.is_let_alone or is_held(client) or steps_of(own, None) >= len(LADDER)
        return not is_alone and all(client.screen_failed_at > at for at in released)

    @staticmethod
    def _are_many(fails: Sequence[Any], heard: int) -> bool:
        moments = [one.screen_failed_at for one in fails]
        wave = max((sum(timedelta() <= at - first <= WAVE for at in moments) for first in moments), default=0)
        return (wave >= 5 and wave >= 0.2 * heard) or (len(fails) >= 5 and len(fails) >= 0.5 * heard)


class _Set:
    """The breakers for one way of evaluation."""

    def __init__(self, silence: Callable[[Facts, Any], timedelta]) -> None:
        self._all: dict[str | None, Breaker] = {None: Breaker()}
        self._silence = silence

    def look(self, facts: Facts) -> None:
        fleet = self._all[None]
        counted = [c for c in facts.clients.values() if _counts(c)]
        counted = [c for c in counted if not fleet.knows(self._stale_at(facts, c))]
        others = [c for c in facts.clients.values() if not _counts(c) and c.last_heartbeat_at is not None]
        let_alone = {c.uuid: beyond for c in others if (beyond := self._silence(facts, c) - threshold(c)) > timedelta()}
        intervals = {c.uuid: timedelta(seconds=c.interval_seconds) for c in counted}
        known: dict[str, Any] = {"there": facts.clients.keys(), "intervals": intervals}
        fleet.look(facts.now, self._silences(facts, counted), let_alone=let_alone, **known)
        sites = {client.site for client in counted} | self._all.keys()
        for site in sites - {None}:
            one = self._all.setdefault(site, Breaker())
            here = [c for c in counted if c.site == site and not one.knows(self._stale_at(facts, c))]
            alone = {uuid: beyond for uuid, beyond in let_alone.items() if facts.clients[uuid].site == site}
            silences = self._silences(facts, here)
            one.look(facts.now, silences, let_alone=alone, **known, may_open=not fleet.is_open)

    def release(self, now: datetime, sites: Iterable[str | None]) -> None:
        for site in sites:
            self._all.setdefault(site, Breaker()).release(now)

    def vouched_for(self, client: Any) -> bool:
        stale_at = client.last_heartbeat_at + threshold(client)
        return any(self._all[site].knows(stale_at) for site in (None, client.site) if site in self._all)

    def holds_back(self, client: Any) -> bool:
        return any(self._all[site].is_open for site in (None, client.site) if site in self._all)

    def _stale_at(self, facts: Facts, client: Any) -> datetime:
        stale_at: datetime = facts.now - self._silence(facts, client) + threshold(client)
        return stale_at

    def _silences(self, facts: Facts, clients: Iterable[Any]) -> dict[str, timedelta]:
        return {client.uuid: self._silence(facts, client) - threshold(client) for client in clients}


def _counts(client: Any) -> bool:
    return not is_held(client) and not client.is_let_alone and client.last_heartbeat_at is not None
