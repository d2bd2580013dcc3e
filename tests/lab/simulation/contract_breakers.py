"""When so many displays are silent at once that the contract lets nobody act on silence, written from its text."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from tests.lab.simulation.contract import Facts, is_held, threshold

CLOSES_AFTER: Final = timedelta(seconds=45)
CLOSES_AFTER_INTERVALS: Final = 1.5
"""For so long few enough must be silent before a breaker closes: at least, and by the interval of their heartbeats."""
WAVE: Final = timedelta(minutes=5)
INTERVAL: Final = timedelta(seconds=30)
DAY: Final = timedelta(days=1)


class Breaker:
    """Open while so many are silent at once that the cause must be ours, or nobody's that a reboot would help.

    It stays open through any length of the same silence: whoever counted when it opened counts until it closes.
    """

    def __init__(self) -> None:
        self.is_open = False
        self.released_at: datetime | None = None  # silence that began before is no evidence
        self._low_since: datetime | None = None  # few enough must be silent for a while
        self._opened_at: datetime | None = None
        self._members: set[str] = set()  # who counted when it opened
        self._silent: set[str] = set()  # who was silent at the last look, while it was open

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
        """Judge anew, as each tick does, from how long each client is beyond its threshold.

        `let_alone`: who is silent and does not count, and for how long beyond the threshold. They have not come back,
        nor has who is not `there` any more. `intervals`: of the heartbeats of each client.
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
        """An operator vouches for what is silent until now."""
        self.is_open, self._low_since, self._members, self._silent = False, None, set(), set()
        self.released_at = max(now, self._opened_at or now)

    def knows(self, stale_at: datetime) -> bool:
        """Whether a silence from then on was vouched for."""
        return self.released_at is not None and stale_at <= self.released_at


class Breakers:
    """The fleet's, and one for each site, which does not open while the fleet's is open.

    Reckoned by the age of heartbeats, by that of any sign of life, and with presence as a sign too, which the
    connection of a display that hangs gives as well: where they differ, either will do.
    """

    def __init__(self) -> None:
        self._by_heartbeats = _Set(lambda facts, client: facts.now - client.last_heartbeat_at)
        by_signs = _Set(lambda facts, client: facts.silence(client))
        self._all = (self._by_heartbeats, by_signs, _Set(lambda facts, client: facts.silence_of_all(client)))

    def look(self, facts: Facts) -> None:
        """Judge all of them anew."""
        for one in self._all:
            one.look(facts)

    def release(self, now: datetime, sites: Iterable[str | None]) -> None:
        """An operator released these; None is the fleet's."""
        for one in self._all:
            one.release(now, sites)

    def vouched_for(self, client: Any) -> bool:
        """Whether an operator released a breaker over this client's silence."""
        return self._by_heartbeats.vouched_for(client)

    def holds_back(self, client: Any) -> bool | None:
        """Whether silence of this client is no evidence now; None where that is a matter of how it is reckoned."""
        said = {one.holds_back(client) for one in self._all}
        return said.pop() if len(said) == 1 else None


class _Set:
    """The breakers by one way to reckon silence."""

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
