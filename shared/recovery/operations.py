"""Recover clients, and say of every unhealthy one what recovery does about it."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection

from shared.clients import signs_store
from shared.clients.signs_rules import may_be_mute
from shared.commands import store as commands_store
from shared.commands.rules import CommandRequest, Timings
from shared.config import Config
from shared.leadership import store as leadership_store
from shared.leadership.rules import BridgeStatus
from shared.recovery import rules, store
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers import store as breakers_store
from shared.recovery.breakers.operations import Watch
from shared.recovery.evidence import operations as evidence
from shared.recovery.evidence import store as evidence_store
from shared.recovery.evidence.rules import (
    Condition,
    Fleet,
    KnownRow,
    condition,
    has_recovered,
    is_healthy,
    is_unwell,
    stays_well,
)
from shared.recovery.evidence.store import Surroundings
from shared.recovery.rules import Verdict
from shared.recovery.store import HealthNote, NewDecision, Rung
from shared.vocabulary import ClientStatus, CommandAction, CommandSource, RecoveryBasis, RecoveryDecision

REQUESTED_BY = "recovery"
UNKNOWN_SINCE: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class RecoveryReport:
    """What one round of recovery did."""

    command_ids: tuple[str, ...] = ()
    """The commands asked for; they are to be published after the commit."""
    waiting: int = 0
    """Clients that are due but beyond the number of recovery commands open at once; those looked at."""
    blocked_bridge: bool = False
    restarts: int = 0
    reboots: int = 0
    breakers_open: int = 0
    """Of the fleet and of sites."""
    recovered: int = 0
    """Clients that were well for so long that their ladder begins anew."""


@dataclass(frozen=True)
class Case:
    """One client as a tick sees it: what is known of it and what follows."""

    row: KnownRow
    client: Condition
    verdict: Verdict
    healthy: bool
    """It is known to be well; its verdict then means nothing."""

    @property
    def uuid(self) -> str:
        return self.row.uuid

    @property
    def since(self) -> datetime:
        """Since when it has been waiting for help, for the order among those that are due."""
        row, basis = self.row, self.verdict.basis
        began = row.service_failed_at if basis is RecoveryBasis.SERVICE_FAILED else row.process_status_since
        at = row.last_heartbeat_at if basis is RecoveryBasis.STALE or began is None else began
        return at or UNKNOWN_SINCE


def states_of(
    connection: Connection, now: datetime, config: Config, rows: Sequence[Any], around: Surroundings | None = None
) -> dict[str, dict[str, Any]]:
    """{state, why, until, mute, step} of the unhealthy among these clients, by uuid.

    `rows` have uuid, status, process_status and service_failed_at, and where that costs nothing last_heartbeat_at and
    sign_at; `step` is the number of rungs used. `around`: the surroundings, where the caller has read them.
    """
    uuids = [row["uuid"] for row in rows if _is_unwell(row) or _is_mute(row)]
    unasked = [row["uuid"] for row in rows if row["status"] == ClientStatus.UNKNOWN and "sign_at" not in row]
    if unasked:
        uuids += set(signs_store.mute(connection, unasked)).difference(uuids)
    if not uuids:
        return {}
    around = around or evidence_store.surroundings(connection, now)
    return _states(connection, now, config, evidence_store.conditions(connection, uuids), around)


def states_known(
    connection: Connection, now: datetime, config: Config, rows: Sequence[KnownRow], around: Surroundings
) -> dict[str, dict[str, Any]]:
    """The same for unwell clients whose rows were read already."""
    return _states(connection, now, config, rows, around)


def _is_unwell(row: Any) -> bool:
    return is_unwell(row["status"], row["process_status"], row["service_failed_at"])


def _is_mute(row: Any) -> bool:
    return "sign_at" in row and may_be_mute(row["status"], row["last_heartbeat_at"], row["sign_at"])


def _states(
    connection: Connection, now: datetime, config: Config, rows: Sequence[KnownRow], around: Surroundings
) -> dict[str, dict[str, Any]]:
    standing = breakers.standing(connection, config) if around.breakers else {}
    fleet = evidence.circumstances(connection, now, config, around, standing, [row.uuid for row in rows])
    clients = {row.uuid: condition(row, now, fleet) for row in rows}
    verdicts = {uuid: rules.recovery_state(client, now, fleet) for uuid, client in clients.items()}
    if any(verdict.basis is RecoveryBasis.STALE for verdict in verdicts.values()):  # else a tick's scan tells nothing
        fleet = replace(fleet, late=breakers.why_wait(connection, now, config, around.bridge))
        verdicts = {uuid: rules.recovery_state(client, now, fleet) for uuid, client in clients.items()}
    fields = ("state", "why", "until", "mute")
    return {
        uuid: {**{name: getattr(verdict, name) for name in fields}, "step": clients[uuid].step}
        for uuid, verdict in verdicts.items()
    }


def recover(connection: Connection, now: datetime, config: Config, timings: Timings) -> RecoveryReport:
    """Ask for what is due: at most one command a client, the longest unwell first, up to the cap.

    1. Only with CRASH_RECOVERY_ENABLED, and only one transaction at a time; the breakers are reckoned anew.
    2. While the bridge is silent, or the fleet's breaker is open, silent clients are no case.
    3. Each client that could need help gets its verdict; those that are well go down the ladder in time.
    4. The due ones are locked and judged again, then commanded in one statement; each goes one rung up.
    5. Actions and changed decisions are recorded with their evidence.
    """
    if not config["CRASH_RECOVERY_ENABLED"]:
        return RecoveryReport()
    store.lock_recovery(connection)
    bridge = leadership_store.bridge_status(connection)
    watch = breakers.watch(connection, now, config, bridge)
    places = rules.places(config["RECOVERY_MAX_OPEN"], watch.seen)
    uuids = evidence.candidates(connection, now, config, bridge, watch.open, watch.silent, places)
    fleet = evidence.circumstances(connection, now, config, Surroundings(bridge), watch.open, uuids, watch.late)
    cases = _cases(connection, now, fleet, uuids)
    due = sorted((case for case in cases if case.verdict.acts), key=lambda case: (case.since, case.uuid))
    chosen = _still_due(connection, now, config, bridge, watch, _within_cap(connection, places, watch, due))
    issued = _issue(connection, now, chosen, timings)
    _record(connection, now, bridge, [case for case in cases if not case.healthy], chosen, issued)
    recovered = _note_health(connection, now, cases)
    actions = [case.verdict.action for case in chosen if case.uuid in issued]
    return RecoveryReport(
        command_ids=tuple(issued.values()),
        waiting=len(due) - len(issued),
        blocked_bridge=fleet.bridge_silent and bool(cases),
        restarts=actions.count(CommandAction.RESTART_APP),
        reboots=actions.count(CommandAction.REBOOT_HOST),
        breakers_open=len(watch.open),
        recovered=recovered,
    )


def watch_breakers(connection: Connection, now: datetime, config: Config) -> int:
    """Reckon the breakers anew and do nothing else, as a late tick must; how many are open."""
    if not config["CRASH_RECOVERY_ENABLED"]:
        return 0
    store.lock_recovery(connection)
    return len(breakers.watch(connection, now, config, leadership_store.bridge_status(connection)).open)


def forget_the_future(connection: Connection, now: datetime) -> None:
    """After the database's clock was set back: what recovery and its breakers noted ahead of time counts as noted now.

    A breaker that was released ahead of time would else open over no silence until the clock is there again.
    """
    store.lock_recovery(connection)
    store.forget_the_future(connection, now)
    breakers_store.forget_the_future(connection, now)


def _cases(connection: Connection, now: datetime, fleet: Fleet, uuids: Collection[str]) -> list[Case]:
    """These clients, each with its verdict; deleted ones are no case."""
    return _judged(evidence.conditions(connection, now, fleet, uuids), now, fleet) if uuids else []


def _judged(found: Sequence[tuple[KnownRow, Condition]], now: datetime, fleet: Fleet) -> list[Case]:
    return [
        Case(row, client, rules.recovery_state(client, now, fleet), is_healthy(client, now, fleet))
        for row, client in found
    ]


def _within_cap(connection: Connection, most: int, watch: Watch, due: Sequence[Case]) -> list[Case]:
    """As many of these, the first first, as may be commanded beside what is open; in a small fleet one silent one."""
    if not due:
        return []
    places = most - commands_store.count_open(connection, CommandSource.RECOVERY)
    silent = len(due) if watch.seen >= rules.SMALL_FLEET else 1 - store.count_open_silent(connection)
    chosen: list[Case] = []
    for case in due:
        is_silent = case.verdict.basis is RecoveryBasis.STALE
        if len(chosen) < places and (silent > 0 or not is_silent):
            chosen.append(case)
            silent -= is_silent
    return chosen


def _still_due(
    connection: Connection, now: datetime, config: Config, bridge: BridgeStatus, watch: Watch, chosen: Sequence[Case]
) -> list[Case]:
    """Those, now locked, to which the same would be done by what stands there now."""
    if not chosen:
        return []
    actions = {case.uuid: case.verdict.action for case in chosen}
    commands_store.lock_clients(connection, actions)
    fleet = evidence.circumstances(connection, now, config, Surroundings(bridge), watch.open, actions, watch.late)
    again = _cases(connection, now, fleet, actions)
    return [case for case in again if case.verdict.action is actions[case.uuid]]


def _issue(connection: Connection, now: datetime, chosen: Sequence[Case], timings: Timings) -> dict[str, str]:
    """Command these, and put each one rung up: ids by client; one that somebody else commands meanwhile is missing."""
    if not chosen:
        return {}
    by_uuid = {case.uuid: case for case in chosen}
    requests = {str(uuid.uuid4()): _request(case) for case in chosen}
    issued = {one.client_uuid: one.id for one in commands_store.insert(connection, now, requests, timings)}
    rungs = [_rung(by_uuid[client], command_id) for client, command_id in issued.items()]
    if rungs:
        store.step_up(connection, now, rungs)
    return issued


def _request(case: Case) -> CommandRequest:
    return CommandRequest(
        client_uuid=case.uuid,
        action=case.verdict.action or CommandAction.RESTART_APP,
        requested_by=REQUESTED_BY,
        reason=rules.why_acted(case.client, case.verdict),
        source=CommandSource.RECOVERY,
    )


def _rung(case: Case, command_id: str) -> Rung:
    is_restart = case.verdict.action is CommandAction.RESTART_APP
    return Rung(case.uuid, command_id, case.verdict.basis, restarts=int(is_restart), reboots=int(not is_restart))


def _note_health(connection: Connection, now: datetime, cases: Sequence[Case]) -> int:
    """Keep since when those on the ladder are well; how many of them were long enough to begin it anew."""
    notes = []
    for case in cases:
        since = case.row.healthy_since
        if not (case.client.step or case.client.refused) or (since is None and not case.healthy):
            continue
        well = (since or now) if stays_well(case.client, now) else None
        recovered = has_recovered(case.client, now, well)
        if recovered or well != since:
            notes.append(HealthNote(case.uuid, well, recovered))
    if notes:
        store.note_health(connection, notes)
    return sum(note.recovered for note in notes)


def _record(
    connection: Connection,
    now: datetime,
    bridge: BridgeStatus,
    unwell: Sequence[Case],
    chosen: Sequence[Case],
    issued: Mapping[str, str],
) -> None:
    """Write the actions, and those decisions to do nothing that differ from the client's last one."""
    acted = [case for case in chosen if case.uuid in issued]
    changed = [case for case in unwell if case.uuid not in issued and _is_news(case, now)]
    events = [_event(case, bridge, issued.get(case.uuid)) for case in (*acted, *changed)]
    if events:
        store.record(connection, now, events)
    if changed:
        store.note_decisions(connection, now, {case.uuid: case.verdict.state for case in changed})


def _is_news(case: Case, now: datetime) -> bool:
    """Whether this decision is another one than the last, or about another silence."""
    if case.verdict.state not in rules.RECORDED:
        return False
    heard_at, decided_at = case.client.last_sign_at, case.row.decided_at
    if case.row.decided != case.verdict.state or heard_at is None or decided_at is None:
        return case.row.decided != case.verdict.state
    return now - heard_at > case.client.stale_after and heard_at > decided_at


def _event(case: Case, bridge: BridgeStatus, command_id: str | None) -> NewDecision:
    """The decision on one client as it is recorded."""
    verdict, row = case.verdict, case.row
    heard = ("process_status_since", "last_heartbeat_at", "sign_at")
    moments = (*heard, "lockout_until", "service_failed_at", "unheard_at")
    seen = {
        "state": verdict.state,
        "step": case.client.step,
        "basis": verdict.basis,
        "process_status": row.process_status,
        "presence": row.presence,
        **{name: _text(getattr(row, name)) for name in moments},
        "canary_at": _text(bridge.canary_at),
        "connected_since": _text(bridge.connected_since),
    }
    acted = command_id is not None and verdict.action is not None
    decision = RecoveryDecision(verdict.action) if acted and verdict.action else RecoveryDecision.NONE
    why = rules.why_acted(case.client, verdict) if acted else verdict.why
    return NewDecision(case.uuid, decision, why, seen, command_id)


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
