"""The fleet at one moment: the overview with its deltas, and who is crashed or silent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Connection

from shared.config import Config
from shared.leadership import store as leadership_store
from shared.leadership.rules import BridgeStatus, listening
from shared.maintenance import operations as maintenance
from shared.overview import packed_operations, rules, store
from shared.overview.rules import OverviewCursor
from shared.overview.store import LastTick
from shared.recovery import operations as recovery
from shared.recovery.breakers import operations as breakers
from shared.recovery.evidence import store as evidence
from shared.recovery.evidence.rules import may_be_told_of
from shared.recovery.evidence.store import Surroundings

FAILED_SHOWN = 1000  # service failures told whole in one overview
JUDGED_BY = {name: tuple(store.TOLD).index(name) for name in ("uuid", "status", "process_status", "service_failed_at")}
UNWELL_BY = ("status", "process_status", "service_failed_at")  # in the order that `may_be_told_of` takes them in
RECOVERY = tuple(store.TOLD).index("recovery")


@dataclass(frozen=True)
class Overview:
    """The fleet, whole or what changed since a cursor."""

    now: datetime
    here: OverviewCursor
    full: bool  # False: `rows` are only what changed, `gone` whom to forget
    packed: bool  # `rows` and `heartbeats` are written column by column (`packed.rules`)
    rows: bytes  # JSON: an array of arrays, each in the order of `columns`; packed: an object of columns
    columns: Sequence[str]
    gone: Sequence[str]
    heartbeats: bytes | None  # JSON: an array of [uuid, time]; packed: an object of the columns uuid, last_heartbeat_at
    counts: Mapping[str, int]
    service_failed: Sequence[store.ListedFailure]
    bridge: Mapping[str, Any]
    scheduler: Mapping[str, Any]
    breaker: Mapping[str, Any]


@dataclass(frozen=True)
class Reader:
    """One reading of the fleet: its connection, time, settings, surroundings and form."""

    connection: Connection
    now: datetime
    config: Config
    around: Surroundings
    packed: bool

    def recovery_of(self, rows: Sequence[Any]) -> Mapping[str, Mapping[str, Any]]:
        """What recovery does about the unhealthy clients among these rows, by uuid."""
        return recovery.states_of(self.connection, self.now, self.config, rows, self.around)


def overview(
    connection: Connection,
    now: datetime,
    config: Config,
    asked: OverviewCursor | None,
    *,
    with_heartbeats: bool,
    packed: bool = False,
) -> Overview:
    """The whole fleet, or the changes since `asked` where they are known.

    The cursor is read first: a change that commits between it and the rows is sent twice, never lost.
    """
    stands = store.standpoint(connection)
    reader = Reader(connection, now, config, evidence.surroundings(connection, now), packed)
    here = _here(reader, stands.cursor)
    since = asked if rules.can_continue(asked, here) else None
    rows, gone = (_whole(reader), []) if since is None else _changed(reader, since, here)
    return Overview(
        now=now,
        here=here,
        full=since is None,
        packed=packed,
        rows=rows,
        columns=tuple(store.TOLD),
        gone=gone,
        heartbeats=_heartbeats(reader) if with_heartbeats else None,
        counts=rules.counts(store.count_by_status(connection)),
        service_failed=store.failed_services(connection, FAILED_SHOWN),
        bridge=bridge_state_of(reader.around.bridge, now, config),
        scheduler=_scheduler_state(stands, now, config),
        breaker=breakers.banner(breakers.standing(connection, config) if reader.around.breakers else {}),
    )


def _here(reader: Reader, cursor: OverviewCursor) -> OverviewCursor:
    """Where a reader stands, with all that recovery judges every client by."""
    enabled = "on" if reader.config["CRASH_RECOVERY_ENABLED"] else "off"
    bridge = bridge_state_of(reader.around.bridge, reader.now, reader.config)["state"]
    windows = maintenance.on_now(reader.connection, reader.now) if reader.around.windows else []
    circumstances = f"{cursor.circumstances} {enabled} {bridge} {windows}"
    return replace(cursor, circumstances=sha256(circumstances.encode()).hexdigest()[:12])


def _whole(reader: Reader) -> bytes:
    """Every client; what recovery does about the unwell ones goes through Postgres into their rows."""
    states = reader.recovery_of([vars(one) for one in store.unwell(reader.connection)])
    why = {uuid: msgspec.json.encode(state).decode() for uuid, state in states.items()}
    if reader.packed:
        return packed_operations.whole_fleet(reader.connection, reader.now, why)
    return f"[{store.whole_fleet(reader.connection, why)}]".encode()


def _heartbeats(reader: Reader) -> bytes:
    if reader.packed:
        return packed_operations.heartbeats(reader.connection, reader.now)
    return f"[{store.heartbeats(reader.connection)}]".encode()


def _changed(reader: Reader, asked: OverviewCursor, here: OverviewCursor) -> tuple[bytes, list[str]]:
    """The rows of changed clients, and the uuids of deleted ones.

    Few rows changed, so recovery is asked only when a client among them is unwell. When the circumstances changed,
    every unwell client is sent: what recovery does about it may have changed.
    """
    anew = asked.circumstances != here.circumstances
    too = [one.uuid for one in store.unwell(reader.connection)] if anew else []
    changed, gone = store.changed(reader.connection, asked.xid)
    uuids = [*changed, *too]
    if not reader.packed:
        return _with_recovery(reader, f"[{store.some_clients(reader.connection, uuids)}]".encode()), gone
    packed = packed_operations.some_clients(reader.connection, reader.now, uuids)
    if not packed_operations.holds_for_any(may_be_told_of, packed, UNWELL_BY):
        return packed_operations.written(packed), gone
    judged = packed_operations.judged(packed, tuple(JUDGED_BY))
    states = reader.recovery_of(judged)
    return packed_operations.with_recovery(packed, [states.get(row["uuid"]) for row in judged]), gone


def _with_recovery(reader: Reader, text: bytes) -> bytes:
    """The rows of this text with what recovery does about the unwell among them."""
    rows = msgspec.json.decode(text, type=list[list[Any]])
    judged = [{name: row[place] for name, place in JUDGED_BY.items()} for row in rows]
    states = reader.recovery_of(judged)
    if not states:
        return text
    for row in rows:
        row[RECOVERY] = states.get(row[JUDGED_BY["uuid"]])
    return msgspec.json.encode(rows)


def bridge_state(connection: Connection, now: datetime, config: Config) -> dict[str, Any]:
    """{state: listening | silent, silent_since}; `silent_since` is None for a bridge that was never heard."""
    return bridge_state_of(leadership_store.bridge_status(connection), now, config)


def bridge_state_of(status: BridgeStatus, now: datetime, config: Config) -> dict[str, Any]:
    """The same, from a status that was read already."""
    heard = listening(status, now, timedelta(seconds=config["CANARY_MAX_AGE_SECONDS"]))
    return {"state": "silent" if heard.silent else "listening", "silent_since": heard.silent_since}


def scheduler_state(connection: Connection, now: datetime, config: Config) -> dict[str, Any]:
    """{last_tick_at, late, duration_ms, did} of the last tick."""
    return _scheduler_state(store.scheduler(connection), now, config)


def _scheduler_state(tick: LastTick, now: datetime, config: Config) -> dict[str, Any]:
    late = rules.is_scheduler_late(tick.last_tick_at, now, timedelta(seconds=config["TICK_SECONDS"]))
    return {"last_tick_at": tick.last_tick_at, "late": late, "duration_ms": tick.duration_ms, "did": tick.did}
