"""Recover crashed clients, and say of every unhealthy one what recovery does about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping

from shared.clients.reports.rules import stale_after
from shared.commands import operations as commands
from shared.commands import store as commands_store
from shared.commands.operations import CommandRequest
from shared.config import Config
from shared.errors import ServiceError
from shared.listening import store as listening_store
from shared.listening.rules import BridgeStatus, is_bridge_silent
from shared.recovery import rules, store
from shared.recovery.rules import Condition, Verdict
from shared.vocabulary import (
    CommandAction,
    CommandSource,
    CommandState,
    Presence,
    ProcessStatus,
    RecoveryDecision,
    RecoveryState,
)

REQUESTED_BY = "recovery"
UNDELIVERED = (CommandState.QUEUED, CommandState.SENT)


@dataclass(frozen=True)
class RecoveryReport:
    """What one round of recovery did."""

    command_ids: tuple[str, ...] = ()
    """The restarts asked for; they are to be published after the commit."""
    waiting: int = 0
    """Crashed clients that are due but beyond the number of recovery commands open at once."""
    blocked_bridge: bool = False


def states_of(
    connection: Connection, now: datetime, config: Config, rows: Sequence[RowMapping]
) -> dict[str, dict[str, Any]]:
    """{state, why, until, step} of the unhealthy among these clients, by uuid; `rows` are `clients.store.shown`.

    `step` is the rung of the ladder: 0, as long as there is one action only.
    """
    unwell = [row for row in rows if rules.is_unwell(row["status"], row["process_status"], row["service_failed_at"])]
    if not unwell:
        return {}
    verdicts = _verdicts(connection, now, config, unwell, listening_store.bridge_status(connection))
    return {uuid: {"state": v.state, "why": v.why, "until": v.until, "step": 0} for uuid, v in verdicts.items()}


def recover(connection: Connection, now: datetime, config: Config, timings: commands.Timings) -> RecoveryReport:
    """Ask for one restart_app for each crashed client that is due, the longest crashed first, up to the cap.

    1. Only with CRASH_RECOVERY_ENABLED, and only one transaction at a time.
    2. Every crashed client gets its verdict; while the bridge is silent all are blocked.
    3. The due ones get a restart, each in a savepoint: one that somebody else commands meanwhile is left alone.
    4. Actions and changed decisions are recorded with their evidence.
    """
    if not config["CRASH_RECOVERY_ENABLED"]:
        return RecoveryReport()
    store.lock_recovery(connection)
    bridge = listening_store.bridge_status(connection)
    crashed = store.crashed(connection)
    if not crashed:
        return RecoveryReport()
    verdicts = _verdicts(connection, now, config, crashed, bridge)
    free = max(0, config["RECOVERY_MAX_OPEN"] - commands_store.count_open(connection, CommandSource.RECOVERY))
    due = [row for row in crashed if verdicts[row["uuid"]].acts]
    commands_store.lock_clients(connection, [row["uuid"] for row in due[:free]])
    issued = {row["uuid"]: _restart(connection, now, row["uuid"], timings) for row in due[:free]}
    _record(connection, now, [_event(row, verdicts[row["uuid"]], bridge, issued.get(row["uuid"])) for row in crashed])
    sent = tuple(command_id for command_id in issued.values() if command_id is not None)
    return RecoveryReport(
        sent, len(due[free:]), any(v.state is RecoveryState.BLOCKED_BRIDGE for v in verdicts.values())
    )


def _restart(connection: Connection, now: datetime, client_uuid: str, timings: commands.Timings) -> str | None:
    """The id of the new command; None when a rule of commands refuses it after all."""
    request = CommandRequest(
        client_uuid=client_uuid,
        action=CommandAction.RESTART_APP,
        requested_by=REQUESTED_BY,
        reason="The display says that its player has crashed.",
        source=CommandSource.RECOVERY,
    )
    try:
        return str(commands.issue(connection, now, request, timings)["id"])
    except ServiceError:
        return None


def _verdicts(
    connection: Connection, now: datetime, config: Config, rows: Sequence[RowMapping], bridge: BridgeStatus
) -> dict[str, Verdict]:
    """The verdict on each of these unhealthy clients, by uuid."""
    max_age = timedelta(seconds=config["CANARY_MAX_AGE_SECONDS"])
    silent = bridge.connected_since is None or is_bridge_silent(bridge, now, max_age)
    more = store.obstacles(connection, [row["uuid"] for row in rows])
    return {
        row["uuid"]: rules.recovery_state(
            _condition(row, more[row["uuid"]], config["HEARTBEAT_STALE_SECONDS"]),
            now,
            enabled=config["CRASH_RECOVERY_ENABLED"],
            bridge_silent=silent,
        )
        for row in rows
    }


def _condition(row: RowMapping, more: RowMapping, stale_seconds: int) -> Condition:
    undelivered = row["command_state"] in UNDELIVERED
    return Condition(
        process_status=ProcessStatus(row["process_status"]),
        process_status_since=row["process_status_since"],
        last_heartbeat_at=row["last_heartbeat_at"],
        stale_after=stale_after(row["interval_seconds"] or 0, stale_seconds),
        presence=Presence(row["presence"]),
        presence_at=more["presence_at"],
        service_failed_unit=row["service_failed_unit"],
        capabilities=more["capabilities"],
        lockout_until=row["lockout_until"],
        open_action=row["command_action"],
        open_until=row["command_expires_at"] if undelivered else None,
        unheard_at=more["unheard_at"],
    )


def _event(row: RowMapping, verdict: Verdict, bridge: BridgeStatus, command_id: str | None) -> dict[str, Any]:
    """The decision on one client as it is recorded."""
    evidence = {
        "state": verdict.state,
        "process_status": row["process_status"],
        "process_status_since": _text(row["process_status_since"]),
        "last_heartbeat_at": _text(row["last_heartbeat_at"]),
        "presence": row["presence"],
        "lockout_until": _text(row["lockout_until"]),
        "canary_at": _text(bridge.canary_at),
        "connected_since": _text(bridge.connected_since),
    }
    decision = RecoveryDecision.NONE if command_id is None else RecoveryDecision.RESTART_APP
    return {
        "client_uuid": row["uuid"],
        "decision": decision,
        "why": verdict.why if command_id is None else "The player crashed and the heartbeat that says so is fresh.",
        "evidence": evidence,
        "command_id": command_id,
    }


def _record(connection: Connection, now: datetime, events: Sequence[dict[str, Any]]) -> None:
    """Write the actions, and those decisions to do nothing that differ from the client's last one."""
    before = store.last_decisions(connection, [event["client_uuid"] for event in events])
    changed = [event for event in events if event["command_id"] is not None or _is_news(event, before)]
    if changed:
        store.record(connection, now, changed)


def _is_news(event: Mapping[str, Any], before: Mapping[str, tuple[str, str | None]]) -> bool:
    state = event["evidence"]["state"]
    return state in rules.OBSTACLES and before.get(event["client_uuid"]) != (event["decision"], state)


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
