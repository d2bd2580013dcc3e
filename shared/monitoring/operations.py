"""The fleet at one moment: the overview with its deltas, and who is crashed or silent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import msgspec
from sqlalchemy import Connection, RowMapping

from shared.config import Config
from shared.listening import store as listening_store
from shared.listening.rules import Listening, listening
from shared.maintenance import operations as maintenance
from shared.monitoring import rules, store
from shared.monitoring.packed import operations as columns
from shared.monitoring.rules import Cursor
from shared.recovery import operations as recovery
from shared.recovery.breakers import operations as breakers
from shared.vocabulary import ProcessStatus

FAILED_SHOWN = 1000  # service failures told whole in one overview
JUDGED_BY = {name: tuple(store.TOLD).index(name) for name in ("uuid", "status", "process_status", "service_failed_at")}
RECOVERY = tuple(store.TOLD).index("recovery")


@dataclass(frozen=True)
class Overview:
    """The fleet, whole or what changed since a cursor."""

    now: datetime
    here: Cursor
    full: bool  # False: `rows` are only what changed, `gone` whom to forget
    packed: bool  # `rows` and `heartbeats` are written column by column (`packed.rules`)
    rows: bytes  # JSON: an array of arrays, each in the order of `columns`; packed: an object of columns
    columns: Sequence[str]
    gone: Sequence[str]
    heartbeats: str | None  # JSON: an array of [uuid, time]; packed: an object of the columns uuid, last_heartbeat_at
    counts: Mapping[str, int]
    service_failed: Sequence[RowMapping]
    bridge: Mapping[str, Any]
    scheduler: Mapping[str, Any]
    breaker: Mapping[str, Any]


def overview(
    connection: Connection,
    now: datetime,
    config: Config,
    asked: Cursor | None,
    *,
    with_heartbeats: bool,
    packed: bool = False,
) -> Overview:
    """The whole fleet, or what changed since `asked` where that can be told.

    The cursor is read first: what commits between it and the rows is told again next time, never lost.
    """
    bridge = bridge_state(connection, now, config)
    here = _here(connection, now, config, bridge["state"])
    since = asked if rules.can_continue(asked, here) else None
    if since is None:
        told = _whole(connection, now, config, packed=packed)
    else:
        told = _changed(connection, now, config, since, here, packed=packed)
    return Overview(
        now=now,
        here=here,
        full=since is None,
        packed=packed,
        rows=told.encode(),
        columns=tuple(store.TOLD),
        gone=[] if since is None else store.gone_clients(connection, since.xid),
        heartbeats=_heartbeats(connection, now, packed=packed) if with_heartbeats else None,
        bridge=bridge,
        **_figures(connection, now, config),
    )


def _figures(connection: Connection, now: datetime, config: Config) -> dict[str, Any]:
    """What an overview tells of the fleet as one, and of who looks after it."""
    return {
        "counts": rules.counts(store.count_by_status(connection)),
        "service_failed": store.failed_services(connection, FAILED_SHOWN),
        "scheduler": scheduler_state(connection, now, config),
        "breaker": breakers.state(connection, config),
    }


def _whole(connection: Connection, now: datetime, config: Config, *, packed: bool) -> str:
    """Every client; what recovery does about the unwell ones goes through Postgres into their rows."""
    states = recovery_of(connection, now, config, store.unwell(connection))
    recovery = {uuid: msgspec.json.encode(state).decode() for uuid, state in states.items()}
    if packed:
        return columns.whole_fleet(connection, now, recovery)
    return f"[{store.whole_fleet(connection, recovery)}]"


def _heartbeats(connection: Connection, now: datetime, *, packed: bool) -> str:
    if packed:
        return columns.heartbeats(connection, now)
    return f"[{store.heartbeats(connection)}]"


def _here(connection: Connection, now: datetime, config: Config, bridge: str) -> Cursor:
    """Where a reader stands, with all that recovery judges every client by."""
    cursor = store.cursor(connection)
    enabled = "on" if config["CRASH_RECOVERY_ENABLED"] else "off"
    windows = maintenance.on_now(connection, now)
    known = f"{cursor.circumstances} {enabled} {bridge} {windows}"
    return replace(cursor, circumstances=sha256(known.encode()).hexdigest()[:12])


def _changed(
    connection: Connection, now: datetime, config: Config, asked: Cursor, here: Cursor, *, packed: bool
) -> str:
    """What changed; it is little, so only where somebody is unwell is recovery asked and written into the rows.

    Where the circumstances changed, everybody unwell is told: what recovery says of them may have.
    """
    anew = asked.circumstances != here.circumstances
    too = [row["uuid"] for row in store.unwell(connection)] if anew else []
    uuids = [*store.changed_uuids(connection, asked.xid), *too]
    if packed:
        told = columns.some_clients(connection, now, uuids)
        judged = columns.judged(told, tuple(JUDGED_BY))
        states = recovery_of(connection, now, config, judged)
        return columns.with_recovery(told, [states.get(row["uuid"]) for row in judged])
    text = f"[{store.some_clients(connection, uuids)}]"
    return _with_recovery(connection, now, config, text)


def _with_recovery(connection: Connection, now: datetime, config: Config, text: str) -> str:
    """The rows of this text with what recovery does about the unwell among them."""
    rows = msgspec.json.decode(text, type=list[list[Any]])
    judged = [{name: row[place] for name, place in JUDGED_BY.items()} for row in rows]
    states = recovery_of(connection, now, config, judged)
    if not states:
        return text
    for row in rows:
        row[RECOVERY] = states.get(row[JUDGED_BY["uuid"]])
    return msgspec.json.encode(rows).decode()


def crashed(
    connection: Connection, now: datetime, config: Config, limit: int
) -> list[tuple[RowMapping, dict[str, Any]]]:
    """Clients that are crashed or silent, each with `reason` in words and `since`."""
    stale_after = timedelta(seconds=config["HEARTBEAT_STALE_SECONDS"])
    return [(row, _because(row, now)) for row in store.crashed(connection, now, stale_after, limit)]


def _because(row: RowMapping, now: datetime) -> dict[str, Any]:
    says_so = row["process_status"] == ProcessStatus.CRASHED
    heard_at = row["last_heartbeat_at"]
    silent_for = now - heard_at if heard_at is not None else timedelta()
    return {
        "reason": rules.why_crashed(row["process_status"], silent_for),
        "since": row["process_status_since"] if says_so else heard_at,
    }


def recovery_of(
    connection: Connection, now: datetime, config: Config, rows: Sequence[Any]
) -> Mapping[str, Mapping[str, Any]]:
    """What recovery does about each unhealthy client of these: {state, why, until, step} by uuid."""
    return recovery.states_of(connection, now, config, rows)


def hearing(connection: Connection, now: datetime, config: Config) -> Listening:
    """Whether, and since when, the fleet is heard."""
    max_age = timedelta(seconds=config["CANARY_MAX_AGE_SECONDS"])
    return listening(listening_store.bridge_status(connection), now, max_age)


def bridge_state(connection: Connection, now: datetime, config: Config) -> dict[str, Any]:
    """{state: listening | silent, silent_since}; `silent_since` is None for a bridge that was never heard."""
    heard = hearing(connection, now, config)
    return {"state": "silent" if heard.silent else "listening", "silent_since": heard.silent_since}


def scheduler_state(connection: Connection, now: datetime, config: Config) -> dict[str, Any]:
    """{last_tick_at, late, duration_ms, did} of the last tick."""
    row = store.scheduler(connection)
    late = rules.is_scheduler_late(row["last_tick_at"], now, timedelta(seconds=config["TICK_SECONDS"]))
    return {"last_tick_at": row["last_tick_at"], "late": late, "duration_ms": row["duration_ms"], "did": row["did"]}
