"""Use cases of batches: create, send wave by wave, pause, resume, abort.

A batch is first a committed row with all its members. The request that made it, and later the tick, lock the row,
issue the commands of a part of the present wave and store each outcome, all in one transaction. If that process
dies, nothing of its part was issued; no member gets its command twice.
"""

import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from extensions.batches import rules, store
from extensions.batches.rules import BatchRequest, BatchStep, DecidedMember, Decision, PlannedMember
from extensions.batches.store import BatchRow, Maker
from shared.clients import store as clients_store
from shared.clients.store import ClientFilter
from shared.commands import operations as commands
from shared.commands import rules as command_rules
from shared.commands import store as commands_store
from shared.commands.rules import Timings
from shared.commands.store import CommandRow
from shared.errors import (
    CommandBatchNotFound,
    CommandBatchOver,
    NoClients,
    Refused,
    ServiceError,
    TooManyClients,
)
from shared.postgres.door import database_now, scrub, transaction
from shared.quiet import operations as quiet_times
from shared.structured_log import failure
from shared.vocabulary import BatchState, CommandAction, MemberOutcome, Quiet

OVER = (BatchState.FINISHED, BatchState.ABORTED)


class WorkReport(Struct, frozen=True):
    """The result of `work_off`."""

    batches: int = 0
    sent: int = 0
    paused: int = 0
    finished: int = 0


def find(connection: Connection, batch_id: str) -> BatchRow:
    """One batch. Raises CommandBatchNotFound."""
    row = store.get(connection, batch_id)
    if row is None:
        raise CommandBatchNotFound
    return row


def preview(
    connection: Connection, now: datetime, request: BatchRequest, uuids: Sequence[str]
) -> list[tuple[PlannedMember, datetime | None]]:
    """The outcome of each client if its turn were now, in the order of the request, and the end of its lockout.

    Stores and sends nothing. Raises the errors of `create`.
    """
    refusals = _refusals_now(connection, now, request, uuids)
    return [
        (replace(one, outcome=rules.outcome_of(refusals[one.client_uuid])), _locked_until(refusals[one.client_uuid]))
        for one in _planned(request, refusals)
    ]


def chosen(connection: Connection, request: BatchRequest) -> list[str]:
    """The requested clients: the list, or those that match the filter now. Raises Refused like `matching`."""
    return matching(connection, request.filter or {}) if request.clients is None else list(request.clients)


def matching(connection: Connection, wanted: Mapping[str, object]) -> list[str]:
    """The clients that match this filter of a request now, at most one more than a batch may have.

    Raises Refused for a filter of later code: without a field that we do not know it would match too many.
    """
    fields: dict[str, Any] = {"text" if name == "q" else name: value for name, value in wanted.items()}
    if unknown := fields.keys() - set(ClientFilter.__struct_fields__):
        raise Refused("filter_unknown", facts={"names": sorted(unknown)})
    return clients_store.matching(connection, ClientFilter(**fields), rules.MOST_CLIENTS + 1)


def create(
    connection: Connection,
    now: datetime,
    request: BatchRequest,
    uuids: Sequence[str],
    batch_id: str | None = None,
    left_out: Collection[str] = (),
) -> BatchRow:
    """A new batch with all its members, nothing sent yet.

    `batch_id` None: a new id. `left_out`: members that get nothing.

    Raises:
        CommandBatchNotFound: the batch of this id was made before.
        NoClients, TooManyClients: no client, or more than 10,000.
        InvalidWaves, Refused: the waves, the limit or the time to live are invalid.
    """
    request = replace(request, reason=scrub(request.reason))
    members = _planned(request, _refusals_now(connection, now, request, uuids), left_out)
    batch_id = batch_id or str(uuid.uuid4())
    waves = max((one.wave for one in members if one.wave is not None), default=1)
    if not store.insert_batch(connection, now, batch_id, request, waves):
        raise CommandBatchNotFound
    store.insert_members(connection, now, batch_id, members)
    return find(connection, batch_id)


def _planned(
    request: BatchRequest, refusals: Mapping[str, ServiceError | None], left_out: Collection[str] = ()
) -> list[PlannedMember]:
    rules.check_limit(request.max_unproven)
    outcomes = {one: rules.outcome_of(refusal) for one, refusal in refusals.items()}
    return rules.plan(outcomes | dict.fromkeys(left_out, MemberOutcome.ABORTED), request.waves)


def _refusals_now(
    connection: Connection, now: datetime, request: BatchRequest, uuids: Sequence[str]
) -> dict[str, ServiceError | None]:
    """Why each of these clients would not get its command now (None: it would), in the order of the request."""
    unique = list(dict.fromkeys(uuids))
    if not unique:
        raise NoClients
    if len(unique) > rules.MOST_CLIENTS:
        raise TooManyClients
    targets = commands_store.targets(connection, unique)
    return {one: command_rules.refusal(request.to(one), targets.get(one), now) for one in unique}


def _locked_until(refusal: ServiceError | None) -> datetime | None:
    return None if refusal is None else refusal.extras.get("lockout_until")


def work_off(
    engine: Engine, timings: Timings, budget_seconds: float, batch_ids: Sequence[str] | None = None
) -> WorkReport:
    """Send these batches, or all running ones, until they wait for results or the budget is over.

    Opens its own transactions. A fault of the database loses only the part in progress: a later call continues.
    """
    until = time.monotonic() + budget_seconds
    if batch_ids is None:
        with transaction(engine) as connection:
            batch_ids = store.running(connection)
    turns = [turn for batch_id in batch_ids for turn in _turns(engine, timings, batch_id, until)]
    kinds = [turn for turn, _ in turns]
    sent = sum(number for _, number in turns)
    return WorkReport(len(batch_ids), sent, kinds.count(BatchStep.PAUSE), kinds.count(BatchStep.FINISH))


def _turns(engine: Engine, timings: Timings, batch_id: str, until: float) -> list[tuple[BatchStep, int]]:
    """The steps of one batch until it waits. A database error ends only this batch's turn and is logged."""
    turns: list[tuple[BatchStep, int]] = []
    try:
        while time.monotonic() < until:
            with transaction(engine) as connection:
                turns.append(advance(connection, database_now(connection), batch_id, timings))
            if turns[-1][0] not in {BatchStep.SEND, BatchStep.NEXT_WAVE}:
                break
    except SQLAlchemyError:
        failure("batch_interrupted", "a batch could not be worked off; the next tick goes on", batch_id=batch_id)
    return turns


def advance(connection: Connection, now: datetime, batch_id: str, timings: Timings) -> tuple[BatchStep, int]:
    """Do the batch's next step in this transaction. Returns the step, and how many commands it issued.

    What it sends is sent in its maker's name, by the rights that they have now.
    """
    batch = store.lock_running(connection, batch_id)
    if batch is None:
        return BatchStep.WAIT, 0
    counts = store.counts(connection, batch_id)
    now_at = rules.progress(counts, batch.wave)
    decision = rules.decide(
        now_at,
        wave=batch.wave,
        limit=batch.max_unproven,
        excused=batch.excused,
        excused_wave=batch.excused_wave,
    )
    if decision.turn is BatchStep.SEND:
        quiet_times.lock_batch(connection)  # before rights are read: a rename changes them and the displays together
        maker = store.maker(connection, batch.requested_by, batch.created_at, batch.action)
        if maker is None:
            return _end(connection, now, batch), 0
        return _send(connection, now, batch, timings, maker)
    if decision.turn is BatchStep.FINISH:
        decision = replace(decision, why=rules.why_left_out(counts, batch.requested_by))
    _write_down(connection, now, batch, decision)
    return decision.turn, 0


def _end(connection: Connection, now: datetime, batch: BatchRow) -> BatchStep:
    """Abort a batch whose maker may not send it any more. Commands that were sent go on."""
    left_out = store.leave_out_waiting(connection, now, batch.id)
    why = rules.maker_may_not(by=batch.requested_by, displays=left_out)
    store.write(connection, replace(batch, state=BatchState.ABORTED, state_reason=why, finished_at=now))
    return BatchStep.FINISH


def _write_down(connection: Connection, now: datetime, batch: BatchRow, decision: Decision) -> None:
    if decision.turn is BatchStep.NEXT_WAVE:
        store.write(connection, replace(batch, state_reason=None, wave=batch.wave + 1))
    elif decision.turn is BatchStep.PAUSE:
        store.write(connection, replace(batch, state=BatchState.PAUSED, state_reason=decision.why))
    elif decision.turn is BatchStep.FINISH:
        finished = replace(batch, state=BatchState.FINISHED, state_reason=decision.why, finished_at=now)
        store.write(connection, finished)


def _send(
    connection: Connection, now: datetime, batch: BatchRow, timings: Timings, maker: Maker
) -> tuple[BatchStep, int]:
    """Issue the commands of some members of the present wave and store their outcomes. Returns how many commands.

    Members in a quiet time of commands wait, and with them the next waves; the batch says until when. Members that are
    no longer at a site of the maker get nothing.
    """
    request = _request_of(batch)
    found = quiet_times.now_quiet(connection, now)
    waiting = store.waiting(connection, batch.id, batch.wave, None if found.ids(Quiet.COMMANDS) else rules.AT_ONCE)
    held = quiet_times.covered(connection, found, Quiet.COMMANDS, waiting)
    uuids = [one for one in waiting if one not in held][: rules.AT_ONCE]
    last = max(held.values(), key=lambda one: one.order, default=None)
    why = rules.why_waiting(len(held), last.until, last.time.time_zone) if last is not None else None
    if batch.state_reason != why:
        store.write(connection, replace(batch, state_reason=why))
    if not uuids:
        return BatchStep.WAIT, 0
    reached = store.at_sites_of(connection, maker, uuids)
    requests = [replace(request.to(one), id=rules.command_id(batch.id, one)) for one in uuids if one in reached]
    answers = commands.issue_many(connection, now, requests, timings) if requests else {}
    decided = [_decided(one, answer) for one, answer in answers.items()]
    decided += [DecidedMember(one, MemberOutcome.ABORTED, None, None) for one in uuids if one not in reached]
    store.decide(connection, now, batch.id, decided)
    return BatchStep.SEND, sum(one.command_id is not None for one in decided)


def _decided(client_uuid: str, answer: CommandRow | ServiceError) -> DecidedMember:
    """The outcome of a member."""
    if isinstance(answer, ServiceError):
        return DecidedMember(client_uuid, rules.outcome_of(answer), None, _locked_until(answer))
    return DecidedMember(client_uuid, MemberOutcome.ACCEPTED, answer.id, None)


def _request_of(batch: BatchRow) -> BatchRequest:
    ttl = batch.ttl_seconds
    return BatchRequest(
        action=CommandAction(batch.action),
        requested_by=batch.requested_by,
        reason=batch.reason,
        ttl=None if ttl is None else timedelta(seconds=ttl),
        traceparent=batch.traceparent,
    )


def pause(connection: Connection, batch_id: str, by: str) -> tuple[BatchRow, bool]:
    """Send nothing more until a resume; sent commands still run. Returns the batch, and whether it changed.

    Raises CommandBatchNotFound, CommandBatchOver.
    """
    batch = _locked(connection, batch_id)
    if batch.state == BatchState.PAUSED:
        return batch, False
    paused = replace(batch, state=BatchState.PAUSED, state_reason=rules.batch_paused(by=by))
    store.write(connection, paused)
    return paused, True


def resume(connection: Connection, batch_id: str) -> tuple[BatchRow, bool]:
    """Continue a paused batch; failures until now no longer count. Returns and raises like `pause`."""
    batch = _locked(connection, batch_id)
    if batch.state == BatchState.RUNNING:
        return batch, False
    unproven = rules.progress(store.counts(connection, batch_id), batch.wave).unproven
    resumed = replace(batch, state=BatchState.RUNNING, state_reason=None, excused=unproven, excused_wave=batch.wave)
    store.write(connection, resumed)
    return resumed, True


def abort(connection: Connection, now: datetime, batch_id: str, by: str) -> tuple[BatchRow, dict[str, int]]:
    """End a batch: waiting members get nothing, commands that provably no display has are cancelled. Counts both.

    Commands that a display may have still run. A batch that is aborted already does not change.
    Raises CommandBatchNotFound, CommandBatchOver.
    """
    batch = store.lock(connection, batch_id)
    if batch is not None and batch.state == BatchState.ABORTED:
        return batch, {}
    batch = _locked(connection, batch_id)
    left_out = store.leave_out_waiting(connection, now, batch_id)
    commands_store.lock_clients(connection, store.open_clients(connection, batch_id))
    cancelled = store.cancel_nobodys(connection, now, batch_id, command_rules.cancelled(by))
    why = rules.batch_aborted(by=by, not_sent=left_out, withdrawn=cancelled)
    aborted = replace(batch, state=BatchState.ABORTED, state_reason=why, finished_at=now)
    store.write(connection, aborted)
    return aborted, {"not_sent": left_out, "cancelled": cancelled}


def _locked(connection: Connection, batch_id: str) -> BatchRow:
    """A batch that is not over, locked."""
    batch = store.lock(connection, batch_id)
    if batch is None:
        raise CommandBatchNotFound
    if batch.state in OVER:
        raise CommandBatchOver(state=batch.state)
    return batch
