"""Read the overview: the whole fleet at one moment, or the changes since an earlier answer."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.config import Config
from shared.leadership import store as leadership_store
from shared.leadership.rules import BridgeStatus, listening
from shared.overview import large_store, packed_operations, rules, store, summary_store
from shared.overview.large_store import DisplayFilter, NamedDisplay, PlaceCounts
from shared.overview.rules import OverviewCursor
from shared.overview.store import LastTick
from shared.overview.summary_store import FailedService, OngoingIncident
from shared.quiet import operations as quiet_times
from shared.quiet.rules import KeptQuietTime, QuietOn
from shared.recovery import operations as recovery
from shared.recovery.breakers import operations as breakers
from shared.recovery.evidence import store as evidence_store
from shared.recovery.evidence.rules import RecoveryFacts
from shared.recovery.evidence.store import Surroundings
from shared.words.reader import english
from shared.words.sentences import Sentence

FAILED_SHOWN = 1000  # service failures listed in one overview
INCIDENTS_SHOWN = 50
FIRST_SHOWN = 100  # displays named in the whole answer of a large fleet
CHANGES_SHOWN = 1000  # more changed displays of a large fleet are answered as a whole
LARGE = ".large"  # marks the epoch of cursors of answers without the list of displays


class Bridge(Struct, frozen=True):
    """Whether the bridge hears the fleet."""

    state: str
    """`listening` or `silent`."""
    silent_since: datetime | None
    """None also if it never listened."""


class Scheduler(LastTick, frozen=True):
    """Whether ticks come on time, how long the last one took and what each of its steps did."""

    late: bool


class Overview(Struct, frozen=True):
    """The whole fleet, or its changes since a cursor."""

    now: datetime
    here: OverviewCursor
    full: bool  # False: `rows` has only changed clients, and `gone` the deleted ones
    packed: bool  # `rows` and `heartbeats` are in the packed form (`packed_rules`)
    rows: bytes  # JSON: an array of arrays, each in the order of `columns`; packed: an object of columns
    columns: Sequence[str]
    gone: Sequence[str]
    heartbeats: bytes | None  # JSON: an array of [uuid, time]; packed: an object of the columns uuid, last_heartbeat_at
    counts: Mapping[str, int]
    service_failed: Sequence[FailedService]
    incidents: Sequence[OngoingIncident]
    bridge: Bridge
    scheduler: Scheduler
    breaker: Mapping[str, Any]
    quiet_times: Sequence[QuietOn] | None  # those that are on; None: the same as at the cursor
    places: Sequence[PlaceCounts] | None
    """None: `rows` has every client. Otherwise the fleet is large: the counts of each place, or of the changed ones."""


class Reader(Struct, frozen=True):
    """What every step of reading an overview needs: connection, time, settings, surroundings and form."""

    connection: Connection
    now: datetime
    config: Config
    around: Surroundings
    packed: bool
    quiet: Sequence[QuietOn]
    say: Callable[[Sentence], str]

    def recovery_of(self, unwell: Sequence[RecoveryFacts]) -> dict[str, str]:
        """Uuid -> what recovery does about the client, as JSON, which Postgres inserts into the client's row."""
        if not unwell:
            return {}
        states = recovery.states_of_facts(self.connection, self.now, self.config, unwell, self.around)
        return {uuid: msgspec.json.encode(state, enc_hook=self.say).decode() for uuid, state in states.items()}


def overview(
    connection: Connection,
    now: datetime,
    config: Config,
    asked: OverviewCursor | None,
    *,
    with_heartbeats: bool,
    packed: bool = False,
    sites: Sequence[str] | None = None,
    most: int | None = None,
    say: Callable[[Sentence], str] = english,
) -> Overview:
    """Read the whole fleet, or the changes since `asked` if they are known.

    `most`: a fleet of more displays is large: its whole answer names few displays, and counts the others by place.
    Heartbeats are left out. A display that moves changes the counts of its new place only, so that the places' sum is
    too high until the caller reads the whole again.
    `sites`: those that the caller may see; None: all. A display that comes to or leaves these sites makes a new epoch,
    because the caller cannot see that it left.
    The cursor and the changes are read first, at one moment. A change that commits later is sent the next time, also
    if the rows, which are read after it, show it already.
    """
    asked_xid = None if asked is None else asked.xid
    summary = summary_store.summary(connection, now, asked_xid, FAILED_SHOWN, INCIDENTS_SHOWN)
    quiet = quiet_times.of_fleet(connection, now) if summary.around.quiet_times else ()
    reader = Reader(connection, now, config, summary.around, packed, quiet, say)
    here = _here(reader, summary.cursor if sites is None else _at_sites(connection, summary.cursor, sites))
    is_large = most is not None and summary.counts.total > most
    if is_large:
        here = replace(here, epoch=here.epoch + LARGE)
    since = asked if rules.can_continue(asked, here) else None
    if is_large and len(summary.changed) > CHANGES_SHOWN:
        since = None
    circumstances_same = since is not None and since.circumstances == here.circumstances
    changed = None if since is None else summary.changed
    if is_large:
        places, rows = _large(reader, changed, first_too=not circumstances_same)
    elif changed is None:
        places, rows = None, _whole(reader)
    else:
        places, rows = None, _changed(reader, changed, unwell_too=not circumstances_same)
    return Overview(
        now=now,
        here=here,
        full=since is None,
        packed=packed,
        rows=rows,
        columns=tuple(store.COLUMNS),
        gone=[] if since is None else summary.gone,
        heartbeats=_heartbeats(reader) if with_heartbeats and not is_large else None,
        counts=summary.counts.by_name(),
        service_failed=summary.service_failed,
        incidents=summary.incidents,
        bridge=bridge_state_of(summary.around.bridge, now),
        scheduler=_scheduler_state(summary, now),
        breaker=breakers.state(connection, config)
        if summary.around.breakers
        else {"open": False, "why": None, "sites": []},
        quiet_times=None if circumstances_same else quiet,
        places=places,
    )


class DisplaysPage(Struct, frozen=True):
    """Some displays in the packed form, and the place in the list of the last one if others follow."""

    now: datetime
    rows: bytes
    last: NamedDisplay | None


def displays(
    connection: Connection,
    now: datetime,
    config: Config,
    wanted: DisplayFilter,
    limit: int,
    after: tuple[str, str] | None,
    say: Callable[[Sentence], str] = english,
) -> DisplaysPage:
    """Read a page of the displays that match, in the order of (name, uuid)."""
    named = large_store.displays(connection, wanted, limit + 1, after)
    reader = Reader(connection, now, config, evidence_store.surroundings(connection, now), True, (), say)
    rows = _some(reader, [one.uuid for one in named[:limit]])
    return DisplaysPage(now, rows, named[limit - 1] if len(named) > limit else None)


def _here(reader: Reader, cursor: OverviewCursor) -> OverviewCursor:
    """The cursor, with the circumstances that the database does not hold or that depend on the time."""
    enabled = "on" if reader.config["CRASH_RECOVERY_ENABLED"] else "off"
    bridge = bridge_state_of(reader.around.bridge, reader.now).state
    quiet = [(one.time.id, one.until, one.time.reason, _named(one)) for one in reader.quiet]
    circumstances = f"{cursor.circumstances} {enabled} {bridge} {quiet}"
    return replace(cursor, circumstances=sha256(circumstances.encode()).hexdigest()[:12])


def _named(quiet: QuietOn) -> Sequence[str]:
    """The clients that a quiet time names and covers: a move, or other rights of its maker, changes them."""
    return quiet.time.clients if isinstance(quiet.time, KeptQuietTime) else ()


def _at_sites(connection: Connection, cursor: OverviewCursor, sites: Sequence[str]) -> OverviewCursor:
    """The cursor of a caller of chosen sites: its epoch is of these sites and of the displays that are there now."""
    epoch = f"{cursor.epoch} {sorted(sites)} {store.which_clients(connection)}"
    return replace(cursor, epoch=sha256(epoch.encode()).hexdigest()[:12])


def _whole(reader: Reader) -> bytes:
    """The rows of all clients."""
    unwell = store.unwell(reader.connection)
    states = reader.recovery_of(evidence_store.facts(reader.connection, unwell)) if unwell else {}
    if reader.packed:
        return packed_operations.whole_fleet(reader.connection, reader.now, states)
    return f"[{store.whole_fleet(reader.connection, states)}]".encode()


def _heartbeats(reader: Reader) -> bytes:
    if reader.packed:
        return packed_operations.heartbeats(reader.connection, reader.now)
    return f"[{store.heartbeats(reader.connection)}]".encode()


def _changed(reader: Reader, changed: Sequence[str], *, unwell_too: bool) -> bytes:
    """The rows of changed clients. `unwell_too`: and those of every unwell client.

    That is so when the circumstances changed, because then what recovery does may have changed.
    """
    return _some(reader, [*changed, *store.unwell(reader.connection)] if unwell_too else changed)


def _large(reader: Reader, changed: Sequence[str] | None, *, first_too: bool) -> tuple[Sequence[PlaceCounts], bytes]:
    """The counts of places, and rows. `changed`: these clients and their places; None: every place.

    `first_too`: also the clients to name first.
    """
    connection = reader.connection
    sites = None if changed is None else large_store.sites_of(connection, changed)
    if sites == [] and not first_too:
        return [], _some(reader, [])
    mute = _mute(reader)
    first = large_store.first(connection, reader.now, mute, FIRST_SHOWN) if first_too else []
    return large_store.places(connection, mute, sites), _some(reader, [*(changed or ()), *first])


def _mute(reader: Reader) -> list[str]:
    """The clients whose other messages arrive, but no heartbeats."""
    maybe = large_store.maybe_mute(reader.connection)
    if not maybe:
        return []
    facts = evidence_store.facts(reader.connection, maybe)
    states = recovery.states_of_facts(reader.connection, reader.now, reader.config, facts, reader.around)
    return [uuid for uuid, state in states.items() if state.mute]


def _some(reader: Reader, uuids: Sequence[str]) -> bytes:
    """The rows of these clients."""
    states = reader.recovery_of(store.unwell_among(reader.connection, uuids))
    if reader.packed:
        return packed_operations.some_clients(reader.connection, reader.now, uuids, states)
    return f"[{store.some_clients(reader.connection, uuids, states)}]".encode()


def bridge_state(connection: Connection, now: datetime) -> Bridge:
    """Whether the bridge hears the fleet."""
    return bridge_state_of(leadership_store.bridge_status(connection), now)


def bridge_state_of(status: BridgeStatus, now: datetime) -> Bridge:
    """The same, from a status that was already read."""
    heard = listening(status, now)
    return Bridge("silent" if heard.deaf else "listening", heard.deaf_since)


def _scheduler_state(tick: LastTick, now: datetime) -> Scheduler:
    return Scheduler(tick.last_tick_at, tick.duration_ms, tick.did, rules.is_scheduler_late(tick.last_tick_at, now))
