"""Open, keep, close and release the breakers of the fleet and of its sites."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from shared.config import Config
from shared.leadership.rules import BridgeStatus
from shared.maintenance import operations as maintenance
from shared.recovery import store as recovery
from shared.recovery.breakers import rules, store
from shared.recovery.breakers.rules import Silence
from shared.recovery.breakers.store import FoundBreaker, OpenBreaker, SilentAtSite
from shared.recovery.evidence import store as evidence
from shared.recovery.evidence.store import Beats
from shared.recovery.store import NewDecision
from shared.vocabulary import RecoveryDecision

SITES_TOLD = 3  # by name, where several are open at once


@dataclass(frozen=True)
class Watch:
    """What the breakers were found to be."""

    seen: int
    """Clients heard within the last 24 hours of listening: the size of the fleet."""
    open: Mapping[str | None, str] = field(default_factory=dict)
    """Why, by site; None is the whole fleet."""
    silent: Sequence[str] = ()
    """Every client that is silent by the raw age of its last sign."""
    late: str | None = None
    """Why silence is not acted on at this moment, in words: so many may be about to fall silent."""


@dataclass(frozen=True)
class SilenceWindow:
    """The moments that silence is reckoned with."""

    seen_since: datetime
    """Who was heard since then counts for a breaker that is closed."""
    fleet_since: datetime
    """The same for the fleet's breaker as it stands, which may be open."""
    oldest_since: datetime
    """The earliest of all breakers."""
    looked_at: datetime
    """The last look."""
    since: datetime | None
    """The start of the listening time."""
    heard_until: datetime | None
    """The last heartbeat before it; None where that does not matter."""


@dataclass(frozen=True)
class Reckoning:
    """Who is heard, late and silent, and who of them counts."""

    window: "SilenceWindow"
    before: Mapping[str | None, OpenBreaker]
    """The breakers that are open so far, by site."""
    beats: Beats
    rows: Sequence[SilentAtSite]
    """The silent, by site: `store.silent`."""
    resting: Mapping[str | None, int]
    """The heard whose silence would be no news, by site."""
    deleted: Mapping[str | None, int]
    """The silent that were deleted while a breaker was open, by site."""

    @property
    def counted(self) -> int:
        """Clients that were seen, without the resting."""
        return self.beats.seen - sum(self.resting.values())

    @property
    def why_wait(self) -> str | None:
        """Why silence is not acted on at this moment; None where it may be."""
        return rules.why_wait(self.beats.late, self.counted)


@dataclass(frozen=True)
class BreakerFinding:
    """What a tick found of one breaker."""

    is_open: bool
    silence: Silence
    low_since: datetime | None = None
    """Since when an open one finds few enough silent."""


def watch(connection: Connection, now: datetime, config: Config, bridge: BridgeStatus) -> Watch:
    """Reckon every breaker anew from who is silent now, write down what changed, and record it once.

    1. The fleet's own first; while it is open no site's opens beside it.
    2. Those that are open stay open until their share has been low for a while, or somebody releases them.
    The caller holds recovery's lock.
    """
    reckoned = _reckon(connection, now, config, bridge)
    rows, before = reckoned.rows, reckoned.before
    found: dict[str | None, BreakerFinding] = {None: _found(now, before.get(None), _of_fleet(reckoned))}
    sites = {
        row.site: row for row in rows if row.site is not None and (row.site_stale >= rules.FEWEST or row.site in before)
    }
    seen_since = reckoned.window.seen_since
    seen = store.seen_at(connection, sites, seen_since) if sites else {}
    may_open = not found[None].is_open
    for site in {*sites, *before} - {None}:
        silence = _of_site(reckoned, seen.get(site, 0), sites[site]) if site in sites else Silence(0, 0, 0)
        found[site] = _found(now, before.get(site), silence, may_open=may_open)
    _write(connection, now, before, found, seen_since)
    store.note_look(connection, now)
    why = {site: rules.why(site, one.silence) for site, one in found.items() if one.is_open}
    return Watch(reckoned.beats.seen, why, reckoned.beats.silent, reckoned.why_wait)


def why_wait(connection: Connection, now: datetime, config: Config, bridge: BridgeStatus) -> str | None:
    """Why a tick would act on nobody's silence at this moment; None where it would. Scans the fleet's heartbeats."""
    return _reckon(connection, now, config, bridge).why_wait


def _reckon(connection: Connection, now: datetime, config: Config, bridge: BridgeStatus) -> Reckoning:
    before: dict[str | None, OpenBreaker] = {row.site or None: row for row in store.standing(connection)}
    window = _window(connection, now, bridge, before)
    beats = evidence.beats(connection, now, config["HEARTBEAT_STALE_SECONDS"], window.fleet_since, rules.LATE)
    windows = maintenance.on_now(connection, now) if beats.silent else []
    rows = _silent(connection, now, config, beats.silent, window, windows)
    resting = _resting(connection, now, config, window, windows, rows, is_open=bool(before))
    deleted: Mapping[str | None, int] = {}
    if before and beats.silent:
        deleted = store.deleted(connection, beats.silent, min(row.open_since for row in before.values()))
    return Reckoning(window, before, beats, rows, resting, deleted)


def _found(now: datetime, last: OpenBreaker | None, silence: Silence, *, may_open: bool = True) -> BreakerFinding:
    """One breaker, by what it was (None: closed) and who is silent now."""
    if last is None:
        return BreakerFinding(may_open and rules.opens(silence), silence)
    since = min(last.low_since or now, now)  # the clock may have been set back
    low_since = since if rules.is_low(silence) else None
    return BreakerFinding(not rules.closes(now, low_since, silence), silence, low_since)


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
    windows: Sequence[int],
) -> Sequence[SilentAtSite]:
    """How many of these count, by site. Who is in one of these maintenance windows does not."""
    if not silent:
        return []
    quiet = maintenance.quiet_uuids(connection, now, silent) if windows else set()
    moments = {**asdict(window), "together": rules.TOGETHER}
    return store.silent(connection, now, config["HEARTBEAT_STALE_SECONDS"], silent, quiet, moments)


def _resting(
    connection: Connection,
    now: datetime,
    config: Config,
    window: SilenceWindow,
    windows: Sequence[int],
    rows: Sequence[SilentAtSite],
    *,
    is_open: bool,
) -> Mapping[str | None, int]:
    """How many clients, by site, are heard whose silence would be no news; asked for only where that may matter."""
    if not is_open and sum(row.stale for row in rows) < rules.FEWEST:
        return {}
    return store.resting(connection, now, config["HEARTBEAT_STALE_SECONDS"], window.fleet_since, windows)


def _of_fleet(reckoned: Reckoning) -> Silence:
    rows = reckoned.rows
    known, stale = sum(row.known for row in rows), sum(row.stale for row in rows)
    recent, interval = (max((getattr(row, name) for row in rows), default=0) for name in ("recent", "interval_seconds"))
    return Silence(reckoned.counted - known, stale, recent, known + sum(reckoned.deleted.values()), interval)


def _of_site(reckoned: Reckoning, seen: int, row: SilentAtSite) -> Silence:
    site, known = row.site, row.site_known
    counted = seen - reckoned.resting.get(site, 0) - known
    let_alone = known + reckoned.deleted.get(site, 0)
    return Silence(counted, row.site_stale, row.site_recent, let_alone, row.site_interval_seconds)


def _write(
    connection: Connection,
    now: datetime,
    before: Mapping[str | None, OpenBreaker],
    found: Mapping[str | None, BreakerFinding],
    seen_since: datetime,
) -> None:
    """Write the open breakers and those that closed; record each opening and closing."""
    touched = {site: one for site, one in found.items() if one.is_open or site in before}
    rows = [_row(site, now, before.get(site), one, seen_since) for site, one in touched.items()]
    if rows:
        store.put(connection, rows)
    events = [
        _event(site, RecoveryDecision.BREAKER_OPEN if one.is_open else RecoveryDecision.BREAKER_CLOSED, one.silence)
        for site, one in touched.items()
        if one.is_open != (site in before)
    ]
    if events:
        recovery.record(connection, now, events)


def _row(
    site: str | None, now: datetime, before: OpenBreaker | None, one: BreakerFinding, seen_since: datetime
) -> FoundBreaker:
    since = before.open_since if before is not None else now
    counted_since = rules.counted_since(since, before.counted_since) if before is not None else seen_since
    return FoundBreaker(
        site=site or store.THE_FLEET,
        open_since=since if one.is_open else None,
        why=rules.why(site, one.silence) if one.is_open else None,
        stale=one.silence.stale,
        seen=one.silence.seen,
        low_since=one.low_since if one.is_open else None,
        counted_since=counted_since if one.is_open else None,
    )


def _event(site: str | None, decision: RecoveryDecision, silence: Silence, by: str | None = None) -> NewDecision:
    whose = "The breaker of the fleet" if site is None else f"The breaker of {site}"
    words = {
        RecoveryDecision.BREAKER_OPEN: rules.why(site, silence),
        RecoveryDecision.BREAKER_CLOSED: f"{whose} closed: few enough displays are silent.",
        RecoveryDecision.BREAKER_RELEASED: f"{whose} was released by {by}; silence that began before counts no more.",
    }
    numbers = {"seen": silence.seen, "stale": silence.stale, "recent": silence.recent}
    return NewDecision(None, decision, words[decision], {"site": site, **numbers}, None)


def release(connection: Connection, now: datetime, by: str, site: str | None) -> list[str | None]:
    """Release the breaker of this site, or all that are open (None): the sites, None being the whole fleet.

    Silence that began before the release is never evidence again, neither for the fleet's breaker nor for a
    site's below it; displays that fall silent later are. Nothing happens where nothing is open.
    """
    recovery.lock_recovery(connection)
    rows = store.release(connection, now, by, site)
    released = [(row.site or None, Silence(row.seen, row.stale, 0)) for row in rows]
    if released:
        events = [_event(one, RecoveryDecision.BREAKER_RELEASED, silence, by) for one, silence in released]
        recovery.record(connection, now, events)
    return [one for one, _ in released]


def standing(connection: Connection, config: Config) -> dict[str | None, str]:
    """Why each open breaker is open, by site; None is the whole fleet. None is open while recovery is off."""
    if not config["CRASH_RECOVERY_ENABLED"]:
        return {}
    return {row.site or None: row.why for row in store.standing(connection)}


def state(connection: Connection, config: Config) -> dict[str, Any]:
    """{open, why} for the overview's one banner; `why` is None while every breaker is closed."""
    return banner(standing(connection, config))


def banner(open_now: Mapping[str | None, str]) -> dict[str, Any]:
    """{open, why} of these open breakers: why each is open, by site."""
    words = [why for _, why in sorted(open_now.items(), key=lambda item: item[0] or "")]
    more = len(words) - SITES_TOLD
    rest = [f"{more:,} more sites are held back as well."] if more > 0 else []
    return {"open": bool(words), "why": " ".join(words[:SITES_TOLD] + rest) or None}
