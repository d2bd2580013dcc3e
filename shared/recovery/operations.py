"""Recover clients, and tell what recovery does about each unhealthy client."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from shared.clients import operations as clients_operations
from shared.clients import signs_store
from shared.clients.failures_rules import service_fails
from shared.clients.store import ClientState
from shared.commands import store as commands_store
from shared.commands.rules import CommandRequest, Timings
from shared.config import Config
from shared.leadership import store as leadership_store
from shared.leadership.rules import BridgeStatus
from shared.quiet import operations as quiet_times
from shared.quiet.rules import QuietNow
from shared.recovery import rules, store
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers.operations import Watch
from shared.recovery.evidence import operations as evidence
from shared.recovery.evidence import store as evidence_store
from shared.recovery.evidence.rules import (
    Fleet,
    RecoveryFacts,
    has_recovered,
    is_healthy,
    is_unwell,
    stays_well,
)
from shared.recovery.evidence.store import Surroundings
from shared.recovery.rules import ShownRecovery, Verdict
from shared.recovery.store import HealthNote, NewDecision, Rung
from shared.vocabulary import ClientStatus, CommandAction, CommandSource, RecoveryBasis, RecoveryDecision

REQUESTED_BY = "recovery"
UNKNOWN_SINCE: Final = datetime.min.replace(tzinfo=UTC)


class RecoveryReport(Struct, frozen=True):
    """The counts of one call of `recover`."""

    command_ids: tuple[str, ...] = ()
    """The commands that were stored; the step `publish` of the tick finds them by itself."""
    waiting: int = 0
    """Clients that are due but got no command, because of the cap on recovery's open commands."""
    blocked_bridge: bool = False
    restarts: int = 0
    reboots: int = 0
    breakers_open: int = 0
    """Open breakers of the fleet and of sites."""
    recovered: int = 0
    """Clients that were well for long enough that their ladder was reset."""


class Case(Struct, frozen=True):
    """One client in a tick: its facts and the verdict."""

    client: RecoveryFacts
    verdict: Verdict
    healthy: bool
    """The client is known to be well; then its verdict means nothing."""

    @property
    def uuid(self) -> str:
        return self.client.uuid

    @property
    def since(self) -> datetime:
        """Since when the client has been unwell, to order the clients that are due."""
        client, basis = self.client, self.verdict.basis
        failed = {
            RecoveryBasis.SERVICE_FAILED: client.service_failed_at,
            RecoveryBasis.SCREEN_FAILED: client.screen_failed_since,
        }
        began = failed.get(basis, client.process_status_since) if basis is not None else client.process_status_since
        at = client.last_heartbeat_at if basis is RecoveryBasis.STALE or began is None else began
        return at or UNKNOWN_SINCE


def states_of(
    connection: Connection,
    now: datetime,
    config: Config,
    clients: Sequence[ClientState],
    around: Surroundings | None = None,
) -> dict[str, ShownRecovery]:
    """What recovery does about the unwell and the mute among these clients, by uuid.

    `around`: the surroundings, if the caller has read them.
    """
    uuids = [one.uuid for one in clients if _is_unwell(one)]
    unknown = [one.uuid for one in clients if one.status is ClientStatus.UNKNOWN]
    if unknown:
        uuids += set(signs_store.mute(connection, unknown)).difference(uuids)
    if not uuids:
        return {}
    around = around or evidence_store.surroundings(connection, now)
    return states_of_facts(connection, now, config, evidence_store.facts(connection, uuids), around)


def _is_unwell(one: ClientState) -> bool:
    fails = service_fails(one.service_failed_at, one.service_mended_at)
    return is_unwell(one.status, one.process_status, fails, one.screen_failed_since)


def states_of_facts(
    connection: Connection, now: datetime, config: Config, clients: Sequence[RecoveryFacts], around: Surroundings
) -> dict[str, ShownRecovery]:
    """Like `states_of`, for unwell clients whose rows the caller has read."""
    standing = breakers.standing(connection, config) if around.breakers else {}
    uuids = [client.uuid for client in clients]
    fleet = evidence.circumstances(connection, now, config, around, standing, uuids)
    verdicts = [rules.recovery_state(client, now, fleet) for client in clients]
    if any(verdict.basis is RecoveryBasis.STALE for verdict in verdicts):  # only then is the scan needed
        fleet = replace(fleet, late=breakers.why_late(connection, now, config, around.bridge))
        verdicts = [rules.recovery_state(client, now, fleet) for client in clients]
    return {
        client.uuid: ShownRecovery(
            state=verdict.state,
            why=verdict.why,
            until=verdict.until,
            mute=verdict.mute,
            step=client.step,
        )
        for client, verdict in zip(clients, verdicts, strict=True)
    }


def recover(connection: Connection, now: datetime, config: Config, timings: Timings) -> RecoveryReport:
    """Store the commands that are due: at most one for each client, the longest unwell first, up to the cap.

    1. With CRASH_RECOVERY_ENABLED only. A lock lets one transaction run at a time. The breakers are evaluated.
    2. While the bridge is silent or the fleet's breaker is open, silent clients are not considered.
    3. Each client that may need help gets a verdict. Clients that have been well for long have their ladder reset.
    4. The clients that are due are locked and judged again. One statement stores their commands; each goes one rung up.
    5. Actions and changed decisions are recorded with their evidence.
    """
    if not config["CRASH_RECOVERY_ENABLED"]:
        return RecoveryReport()
    store.lock_recovery(connection)
    bridge = leadership_store.bridge_status(connection)
    quiet = breakers.quiet_since_last_look(connection, now)
    watch = breakers.watch(connection, now, config, bridge, quiet)
    cap = rules.cap(watch.seen)
    uuids = evidence.candidates(connection, now, config, bridge, watch.open, watch.silent, cap, quiet)
    fleet = evidence.circumstances(connection, now, config, Surroundings(bridge), watch.open, uuids, watch.late, quiet)
    cases = _cases(connection, now, fleet, uuids)
    due = sorted((case for case in cases if case.verdict.acts), key=lambda case: (case.since, case.uuid))
    chosen = _still_due(connection, now, config, fleet, bridge, _within_cap(connection, cap, watch, due), quiet)
    issued = _issue(connection, now, chosen, timings)
    _record(connection, now, fleet, bridge, [case for case in cases if not case.healthy], chosen, issued)
    recovered = _note_health(connection, now, fleet, cases)
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
    """Evaluate the breakers and do nothing else, for a late tick. Returns how many are open."""
    if not config["CRASH_RECOVERY_ENABLED"]:
        return 0
    store.lock_recovery(connection)
    return len(breakers.watch(connection, now, config, leadership_store.bridge_status(connection)).open)


def resume(connection: Connection, now: datetime, client_uuid: str, by: str) -> bool:
    """End a suspension and the holds that name only this client, and reset the ladder; False when there is none of it.

    Other quiet times stay. A lockout stays, so that the display has time to come back. Raises ClientNotFound.
    """
    clients_operations.find(connection, client_uuid)
    store.lock_recovery(connection)
    ended = quiet_times.end_holds(connection, now, client_uuid, by)
    return store.resume(connection, client_uuid) or bool(ended)


def _cases(connection: Connection, now: datetime, fleet: Fleet, uuids: Collection[str]) -> list[Case]:
    """These clients, each with its verdict, without the deleted ones."""
    clients = evidence_store.facts(connection, uuids) if uuids else []
    return [
        Case(client, rules.recovery_state(client, now, fleet), is_healthy(client, now, fleet)) for client in clients
    ]


def _within_cap(connection: Connection, cap: int, watch: Watch, due: Sequence[Case]) -> list[Case]:
    """The first of these, as many as the cap allows beside the open commands; in a small fleet one silent client."""
    if not due:
        return []
    free = cap - commands_store.count_open(connection, CommandSource.RECOVERY)
    silent = len(due) if watch.seen >= rules.SMALL_FLEET else 1 - store.count_open_silent(connection)
    chosen: list[Case] = []
    for case in due:
        is_silent = case.verdict.basis is RecoveryBasis.STALE
        if len(chosen) < free and (silent > 0 or not is_silent):
            chosen.append(case)
            silent -= is_silent
    return chosen


def _still_due(
    connection: Connection,
    now: datetime,
    config: Config,
    fleet: Fleet,
    bridge: BridgeStatus,
    chosen: Sequence[Case],
    quiet: QuietNow,
) -> list[Case]:
    """Lock these clients and judge them again, by the breakers of `fleet`. Returns those whose action is the same."""
    if not chosen:
        return []
    actions = {case.uuid: case.verdict.action for case in chosen}
    commands_store.lock_clients(connection, actions)
    fleet = evidence.circumstances(
        connection, now, config, Surroundings(bridge), fleet.breakers, actions, fleet.late, quiet
    )
    again = _cases(connection, now, fleet, actions)
    return [case for case in again if case.verdict.action is actions[case.uuid]]


def _issue(connection: Connection, now: datetime, chosen: Sequence[Case], timings: Timings) -> dict[str, str]:
    """Store commands for these clients, and move each one rung up. Returns the ids by client.

    A client that got another command meanwhile is missing.
    """
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
        why=rules.why_acted(case.client, case.verdict),
        source=CommandSource.RECOVERY,
    )


def _rung(case: Case, command_id: str) -> Rung:
    is_restart = case.verdict.action is CommandAction.RESTART_APP
    return Rung(case.uuid, command_id, case.verdict.basis, restarts=int(is_restart), reboots=int(not is_restart))


def _note_health(connection: Connection, now: datetime, fleet: Fleet, cases: Sequence[Case]) -> int:
    """Store since when clients on the ladder are well. Returns how many were reset, well for long enough."""
    notes = []
    for case in cases:
        since = case.client.healthy_since
        if not (case.client.step or case.client.refused) or (since is None and not case.healthy):
            continue
        well = (since or now) if stays_well(case.client, now, fleet) else None
        recovered = has_recovered(case.client, now, well)
        if recovered or well != since:
            notes.append(HealthNote(case.uuid, well, recovered))
    if notes:
        store.note_health(connection, notes)
    return sum(note.recovered for note in notes)


def _record(
    connection: Connection,
    now: datetime,
    fleet: Fleet,
    bridge: BridgeStatus,
    unwell: Sequence[Case],
    chosen: Sequence[Case],
    issued: Mapping[str, str],
) -> None:
    """Record the actions, and each decision to do nothing that differs from the client's last one."""
    acted = [case for case in chosen if case.uuid in issued]
    changed = [case for case in unwell if case.uuid not in issued and _is_news(case, now, fleet)]
    events = [_event(case, bridge, issued.get(case.uuid)) for case in (*acted, *changed)]
    if events:
        store.record(connection, now, events)
    if changed:
        store.note_decisions(connection, now, {case.uuid: case.verdict.state for case in changed})


def _is_news(case: Case, now: datetime, fleet: Fleet) -> bool:
    """Whether this decision differs from the last one, or is about a new silence."""
    if case.verdict.state not in rules.RECORDED:
        return False
    heard_at, decided_at = case.client.last_sign_at, case.client.decided_at
    if case.client.decided != case.verdict.state or heard_at is None or decided_at is None:
        return case.client.decided != case.verdict.state
    return now - heard_at > fleet.stale_after(case.client) and heard_at > decided_at


def _event(case: Case, bridge: BridgeStatus, command_id: str | None) -> NewDecision:
    """The record of the decision on one client."""
    verdict, client = case.verdict, case.client
    heard = ("process_status_since", "last_heartbeat_at", "sign_at")
    moments = (*heard, "lockout_until", "service_failed_at", "unheard_at", "screen_failed_since")
    seen = {
        "state": verdict.state,
        "step": client.step,
        "basis": verdict.basis,
        "process_status": client.process_status,
        "screen_health": client.screen_health,
        "presence": client.presence,
        **{name: _text(getattr(client, name)) for name in moments},
        "canary_at": _text(bridge.canary_at),
        "connected_since": _text(bridge.connected_since),
    }
    acted = command_id is not None and verdict.action is not None
    decision = RecoveryDecision(verdict.action) if acted and verdict.action else RecoveryDecision.NONE
    why = rules.why_acted(client, verdict) if acted else verdict.why
    return NewDecision(case.uuid, decision, why, seen, command_id)


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None
