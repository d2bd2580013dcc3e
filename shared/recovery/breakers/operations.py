"""Open, keep, close and release the breakers of the fleet and of the sites."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import asdict
from sqlalchemy import Connection

from shared.config import Config
from shared.leadership.rules import BridgeStatus
from shared.quiet import operations as quiet_times
from shared.quiet.rules import QuietNow
from shared.recovery import screens_rules, screens_store
from shared.recovery import store as recovery_store
from shared.recovery.breakers import rules, store, words_rules
from shared.recovery.breakers.rules import BreakerKey, Silence
from shared.recovery.breakers.store import FoundBreaker, OpenBreaker, SilentAtSite
from shared.recovery.evidence import store as evidence_store
from shared.recovery.evidence.store import Beats
from shared.recovery.store import NewDecision
from shared.vocabulary import Quiet, RecoveryBasis, RecoveryDecision
from shared.words.sentences import Sentence, together

SITES_TOLD = 3  # by name, where several are open at once
NUMBERS: Final = {
    RecoveryBasis.STALE: ("seen", "stale", "recent"),
    RecoveryBasis.SCREEN_FAILED: ("telling", "failing", "at_once"),
}
"""The names of a breaker's numbers in the evidence of its events."""


class Watch(Struct, frozen=True):
    """The result of one evaluation of the breakers."""

    seen: int
    """The size of the fleet: clients heard within the last 24 hours of listening time."""
    open: Mapping[BreakerKey, Sentence] = field(default_factory=dict)
    """Why each open breaker is open."""
    silent: Sequence[str] = ()
    """Every client that is silent by the raw age of its last sign of life."""
    late: Sentence | None = None
    """Why recovery must not act on silence now: so many displays are late. None: it may."""


NOBODY: Final = Silence(0, 0, 0)


class SilenceWindow(Struct, frozen=True):
    """The times by which silence is counted."""

    seen_since: datetime
    """A client heard since this time counts for a closed breaker."""
    fleet_since: datetime
    """A client heard since this time counts for the fleet's breaker, open or closed."""
    oldest_since: datetime
    """The earliest such time of all breakers."""
    looked_at: datetime
    """When the breakers were evaluated last."""
    since: datetime | None
    """The start of the listening time."""
    heard_until: datetime | None
    """The last sign of life before `since`; None when it is not needed."""


class Reckoning(Struct, frozen=True):
    """The clients that are heard, late and silent, and which of them count."""

    window: "SilenceWindow"
    before: Mapping[BreakerKey, OpenBreaker]
    """The breakers that were open before."""
    beats: Beats
    rows: Sequence[SilentAtSite]
    """Silent clients by site: `store.silent`."""
    resting: Mapping[str | None, int]
    """How many clients are heard, but do not count (stopped, or in a quiet time), by site."""
    deleted: Mapping[str | None, int]
    """How many silent clients were deleted while a breaker was open, by site."""

    @property
    def counted(self) -> int:
        """How many clients were seen, without the resting ones."""
        return self.beats.seen - sum(self.resting.values())

    @property
    def late(self) -> Sentence | None:
        """Why recovery must not act on silence now; None: it may."""
        return rules.why_wait(self.beats.late + _fell_together(self.rows), self.counted)


class BreakerFinding(Struct, frozen=True):
    """One breaker, as a tick evaluated it."""

    is_open: bool
    silence: Silence
    low_since: datetime | None = None
    """Since when few enough displays are silent, if the breaker was open."""


def watch(
    connection: Connection, now: datetime, config: Config, bridge: BridgeStatus, quiet: QuietNow | None = None
) -> Watch:
    """Evaluate every breaker by the silent clients and the failing screens. Store the open ones; record each change.

    1. The fleet's breaker comes first; while it is open, no site's of its kind opens.
    2. An open breaker of silence stays open until the share of silent displays has been low for a while, or a person
       releases it.
    3. Silence in a quiet time does not count. Afterwards it does, by the moment when it began.
    The caller holds recovery's lock. `quiet`: what `quiet_since_last_look` answers, if the caller has read it.
    """
    quiet = quiet or quiet_since_last_look(connection, now)
    reckoned = _reckon(connection, now, config, bridge, quiet)
    before = reckoned.before
    found = {
        **_found(now, before, RecoveryBasis.STALE, _silences(connection, reckoned)),
        **_found(now, before, RecoveryBasis.SCREEN_FAILED, _failing_screens(connection, now, quiet)),
    }
    _write(connection, now, before, found, reckoned.window.seen_since)
    store.note_look(connection, now)
    why = {key: rules.why(*key, one.silence) for key, one in found.items() if one.is_open}
    return Watch(reckoned.beats.seen, why, reckoned.beats.silent, reckoned.late)


def why_late(connection: Connection, now: datetime, config: Config, bridge: BridgeStatus) -> Sentence | None:
    """Why a tick would not act on silence now; None: it would. Scans the fleet's heartbeats."""
    return _reckon(connection, now, config, bridge, quiet_since_last_look(connection, now)).late


def quiet_since_last_look(connection: Connection, now: datetime) -> QuietNow:
    """What is quiet now, and what is over since the breakers were evaluated last."""
    return quiet_times.now_quiet(connection, now, rules.last_look(now, store.looked_at(connection)))


def _reckon(connection: Connection, now: datetime, config: Config, bridge: BridgeStatus, quiet: QuietNow) -> Reckoning:
    before = {row.key: row for row in store.standing(connection)}
    of_silence = {site: row for (basis, site), row in before.items() if basis is RecoveryBasis.STALE}
    window = _window(connection, now, bridge, of_silence)
    beats = evidence_store.beats(connection, now, config["HEARTBEAT_STALE_SECONDS"], window.fleet_since, rules.LATE)
    rows = _silent(connection, now, config, beats.silent, window, quiet)
    resting = _resting(connection, now, config, window, quiet, rows, is_open=bool(of_silence))
    deleted: Mapping[str | None, int] = {}
    if of_silence and beats.silent:
        opened_at = min(row.open_since for row in of_silence.values())
        deleted = store.deleted(connection, now, config["HEARTBEAT_STALE_SECONDS"], opened_at)
    return Reckoning(window, before, beats, rows, resting, deleted)


def _found(
    now: datetime,
    before: Mapping[BreakerKey, OpenBreaker],
    basis: RecoveryBasis,
    silences: Mapping[str | None, Silence],
) -> dict[BreakerKey, BreakerFinding]:
    """Evaluate the breakers of this evidence: of the fleet, of `silences`' sites, and each that was open."""
    fleet = _finding(now, basis, before.get((basis, None)), silences.get(None, NOBODY))
    found: dict[BreakerKey, BreakerFinding] = {(basis, None): fleet}
    for site in {*silences, *(site for of, site in before if of is basis)} - {None}:
        last, silence = before.get((basis, site)), silences.get(site, NOBODY)
        found[basis, site] = _finding(now, basis, last, silence, may_open=not fleet.is_open)
    return found


def _finding(
    now: datetime, basis: RecoveryBasis, last: OpenBreaker | None, silence: Silence, *, may_open: bool = True
) -> BreakerFinding:
    """Evaluate one breaker, by its state before (None: closed) and the present silence.

    A breaker of screens closes as soon as it would not open.
    """
    if last is None or basis is RecoveryBasis.SCREEN_FAILED:
        return BreakerFinding((may_open or last is not None) and rules.opens(silence), silence)
    since = min(last.low_since or now, now)  # the clock may have been set back
    low_since = since if rules.is_low(silence) else None
    return BreakerFinding(not rules.closes(now, low_since, silence), silence, low_since)


def _silences(connection: Connection, reckoned: Reckoning) -> dict[str | None, Silence]:
    """The silence of the fleet, and of each site that may have a breaker."""
    sites = {
        row.site: row
        for row in reckoned.rows
        if row.site is not None
        and (row.site_stale >= rules.FEWEST or (RecoveryBasis.STALE, row.site) in reckoned.before)
    }
    seen = store.seen_at(connection, sites, reckoned.window.seen_since) if sites else {}
    of_sites: dict[str | None, Silence] = {
        site: _of_site(reckoned, seen.get(site, 0), row) for site, row in sites.items()
    }
    return {None: _of_fleet(reckoned)} | of_sites


def _failing_screens(connection: Connection, now: datetime, quiet: QuietNow) -> dict[str | None, Silence]:
    """The numbers of the fleet and of each site with a failing screen; nothing if fewer than FEWEST fail."""
    if len(screens_store.mendable(connection)) < rules.FEWEST:
        return {}
    failing = screens_store.failing(connection, now, quiet.ids(Quiet.RECOVERY))
    if len(failing) < rules.FEWEST:
        return {}
    telling = screens_store.telling(connection)
    found: dict[str | None, Silence] = {None: screens_rules.counted(sum(telling.values()), failing)}
    for site in {one.site for one in failing} - {None}:
        here = [one for one in failing if one.site == site]
        found[site] = screens_rules.counted(telling.get(site, len(here)), here)
    return found


def _window(
    connection: Connection, now: datetime, bridge: BridgeStatus, before: Mapping[str | None, OpenBreaker]
) -> SilenceWindow:
    since = bridge.connected_since
    listened_long = since is not None and now - since >= rules.SEEN_WITHIN
    heard_until = None if listened_long else store.heard_until(connection, since)
    seen_since = rules.seen_since(now, since, heard_until)
    counted = {site: rules.counted_since(row.open_since, row.counted_since) for site, row in before.items()}
    return SilenceWindow(
        seen_since=seen_since,
        fleet_since=min(seen_since, counted.get(None, seen_since)),
        oldest_since=min([seen_since, *counted.values()]),
        looked_at=rules.last_look(now, store.looked_at(connection)),
        since=since,
        heard_until=heard_until,
    )


def _silent(
    connection: Connection,
    now: datetime,
    config: Config,
    silent: Sequence[str],
    window: SilenceWindow,
    quiet: QuietNow,
) -> Sequence[SilentAtSite]:
    """How many of these silent clients count, by site. Clients in a quiet time do not."""
    if not silent:
        return []
    moments = {**asdict(window), "together": rules.TOGETHER}
    return store.silent(connection, now, config["HEARTBEAT_STALE_SECONDS"], silent, quiet, moments)


def _resting(
    connection: Connection,
    now: datetime,
    config: Config,
    window: SilenceWindow,
    quiet: QuietNow,
    rows: Sequence[SilentAtSite],
    *,
    is_open: bool,
) -> Mapping[str | None, int]:
    """How many heard clients do not count, by site; counted only when it can matter."""
    if not is_open and sum(row.stale for row in rows) < rules.FEWEST:
        return {}
    return store.resting(connection, now, config["HEARTBEAT_STALE_SECONDS"], window.fleet_since, quiet)


def _of_fleet(reckoned: Reckoning) -> Silence:
    rows = reckoned.rows
    known, stale = sum(row.known for row in rows), sum(row.stale for row in rows)
    interval = max((row.interval_seconds for row in rows), default=0)
    let_alone = known + sum(reckoned.deleted.values())
    return Silence(reckoned.counted - known, stale, _fell_together(rows), let_alone, interval)


def _fell_together(rows: Sequence[SilentAtSite]) -> int:
    """The most displays of the fleet that fell silent at once."""
    return max((row.recent for row in rows), default=0)


def _of_site(reckoned: Reckoning, seen: int, row: SilentAtSite) -> Silence:
    site, known = row.site, row.site_known
    counted = seen - reckoned.resting.get(site, 0) - known
    let_alone = known + reckoned.deleted.get(site, 0)
    return Silence(counted, row.site_stale, row.site_recent, let_alone, row.site_interval_seconds)


def _write(
    connection: Connection,
    now: datetime,
    before: Mapping[BreakerKey, OpenBreaker],
    found: Mapping[BreakerKey, BreakerFinding],
    seen_since: datetime,
) -> None:
    """Store the open breakers and the closed ones; record each opening and closing."""
    touched = {key: one for key, one in found.items() if one.is_open or key in before}
    rows = [_row(key, now, before.get(key), one, seen_since) for key, one in touched.items()]
    if rows:
        store.put(connection, rows)
    events = [
        _event(key, RecoveryDecision.BREAKER_OPEN if one.is_open else RecoveryDecision.BREAKER_CLOSED, one.silence)
        for key, one in touched.items()
        if one.is_open != (key in before)
    ]
    if events:
        recovery_store.record(connection, now, events)


def _row(
    key: BreakerKey, now: datetime, before: OpenBreaker | None, one: BreakerFinding, seen_since: datetime
) -> FoundBreaker:
    basis, site = key
    since = before.open_since if before is not None else now
    counted_since = rules.counted_since(since, before.counted_since) if before is not None else seen_since
    return FoundBreaker(
        basis=basis,
        site=site or store.THE_FLEET,
        open_since=since if one.is_open else None,
        why=rules.why(basis, site, one.silence) if one.is_open else None,
        stale=one.silence.stale,
        seen=one.silence.seen,
        low_since=one.low_since if one.is_open else None,
        counted_since=counted_since if one.is_open else None,
    )


def _event(key: BreakerKey, decision: RecoveryDecision, silence: Silence, by: str = "") -> NewDecision:
    basis, site = key
    is_of_screens = basis is RecoveryBasis.SCREEN_FAILED
    closed = words_rules.screens_closed if is_of_screens else words_rules.breaker_closed
    released = words_rules.screens_released if is_of_screens else words_rules.breaker_released
    why = {
        RecoveryDecision.BREAKER_OPEN: rules.why(basis, site, silence),
        RecoveryDecision.BREAKER_CLOSED: closed(site=site),
        RecoveryDecision.BREAKER_RELEASED: released(site=site, by=by),
    }[decision]
    numbers = zip(NUMBERS[basis], (silence.seen, silence.stale, silence.recent), strict=True)
    return NewDecision(None, decision, why, {"site": site, **dict(numbers)}, None)


def release(connection: Connection, now: datetime, by: str, site: str | None) -> list[str | None]:
    """Release the breakers of this site, or (None) every open one. Returns their sites; None is the fleet's.

    Silence that began before the release never counts again, neither for the fleet's breaker nor for a site's. Displays
    that fall silent later count. The same holds for failing screens. Without an open breaker nothing happens.
    """
    recovery_store.lock_recovery(connection)
    rows = store.release(connection, now, by, site)
    if rows:
        decision = RecoveryDecision.BREAKER_RELEASED
        released = [
            _event((row.basis, row.site or None), decision, Silence(row.seen, row.stale, 0), by) for row in rows
        ]
        recovery_store.record(connection, now, released)
    return [name or None for name in sorted({row.site for row in rows})]


def standing(connection: Connection, config: Config) -> dict[BreakerKey, Sentence]:
    """Why each open breaker is open, those of silence first. Empty while recovery is off."""
    if not config["CRASH_RECOVERY_ENABLED"]:
        return {}
    return {row.key: row.why for row in store.standing(connection)}


def state(connection: Connection, config: Config) -> dict[str, Any]:
    """{open, why, sites}; `why` is None while every breaker is closed. Site None: the fleet's."""
    whys = standing(connection, config)
    words, more = list(whys.values()), len(whys) - SITES_TOLD
    rest = [words_rules.more_sites_held(sites=more)] if more > 0 else []
    return {
        "open": bool(words),
        "why": together(words[:SITES_TOLD] + rest) if words else None,
        "sites": [name or None for name in sorted({site or "" for _, site in whys})],
    }
