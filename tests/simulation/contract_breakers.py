"""When so many displays are silent at once that the contract lets nobody act on silence, written from its text."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from tests.simulation.contract import Facts, is_held, threshold

CLOSES_AFTER: Final = timedelta(seconds=45)
"""For so long few enough must be silent before a breaker closes."""
WAVE: Final = timedelta(minutes=5)


class Breaker:
    """Open while so many are silent at once that the cause must be ours, or nobody's that a reboot would help."""

    def __init__(self) -> None:
        self.is_open = False
        self.released_at: datetime | None = None  # silence that began before is no evidence
        self._low_since: datetime | None = None  # few enough must be silent for a while
        self._opened_at: datetime | None = None

    def look(self, now: datetime, silences: Sequence[timedelta], *, may_open: bool = True) -> None:
        """Judge anew, as each tick does, from how long each client that counts is beyond its threshold."""
        stale = sum(silence > timedelta() for silence in silences)
        wave = sum(timedelta() < silence <= WAVE for silence in silences)
        opens = (wave >= 5 and wave >= 0.2 * len(silences)) or (stale >= 5 and stale >= 0.5 * len(silences))
        is_high = stale >= 5 and stale >= 0.2 * len(silences)
        was_open, since = self.is_open, min(self._low_since or now, now)
        self._low_since = None if is_high or not was_open else since
        self.is_open = (is_high or now - since < CLOSES_AFTER) if was_open else (opens and may_open)
        if self.is_open and not was_open:
            self._opened_at = now

    def release(self, now: datetime) -> None:
        """An operator vouches for what is silent until now."""
        self.is_open, self._low_since = False, None
        self.released_at = max(now, self._opened_at or now)

    def knows(self, stale_at: datetime) -> bool:
        """Whether a silence from then on was vouched for."""
        return self.released_at is not None and stale_at <= self.released_at


class Breakers:
    """The fleet's, and one for each site, which does not open while the fleet's is open."""

    def __init__(self) -> None:
        self._all: dict[str | None, Breaker] = {None: Breaker()}

    def look(self, facts: Facts) -> None:
        """Judge all of them anew."""
        fleet = self._all[None]
        counted = [c for c in facts.clients.values() if _counts(facts, c)]
        counted = [c for c in counted if not fleet.knows(c.last_heartbeat_at + threshold(c))]
        fleet.look(facts.now, [_silence(facts, client) for client in counted])
        sites = {client.site for client in counted} | self._all.keys()
        for site in sites - {None}:
            one = self._all.setdefault(site, Breaker())
            here = [c for c in counted if c.site == site and not one.knows(c.last_heartbeat_at + threshold(c))]
            one.look(facts.now, [_silence(facts, client) for client in here], may_open=not fleet.is_open)

    def release(self, now: datetime, sites: Iterable[str | None]) -> None:
        """An operator released these; None is the fleet's."""
        for site in sites:
            self._all.setdefault(site, Breaker()).release(now)

    def vouched_for(self, client: Any) -> bool:
        """Whether an operator released a breaker over this client's silence."""
        stale_at = client.last_heartbeat_at + threshold(client)
        return any(self._all[site].knows(stale_at) for site in (None, client.site) if site in self._all)

    def holds_back(self, client: Any) -> bool:
        """Whether silence of this client is no evidence now."""
        return any(self._all[site].is_open for site in (None, client.site) if site in self._all)


def _silence(facts: Facts, client: Any) -> timedelta:
    silence: timedelta = facts.now - client.last_heartbeat_at - threshold(client)
    return silence


def _counts(facts: Facts, client: Any) -> bool:
    heard_at = client.last_heartbeat_at
    is_news = not is_held(client) and not client.is_let_alone
    return is_news and heard_at is not None and facts.now - heard_at <= timedelta(days=1)
