"""/api/commands sends commands to many clients; /api/command-batches shows each outcome, wave by wave."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from extensions.batches import operations, rules, store
from extensions.batches.answers import (
    Batch,
    BatchDetails,
    BatchMember,
    CommandsForMany,
    MemberCommand,
    Outcome,
    Sent,
    WaveView,
    batch_request,
)
from extensions.batches.rules import BatchRequest
from extensions.batches.store import BatchRow, MemberRow
from functions.api.bodies import answer_of
from functions.api.idempotency import keyed, once
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Reply, Routes
from functions.api.shapes.commands import ASKED_WITH
from shared.access.rules import check_may_send
from shared.clients import store as clients_store
from shared.commands import operations as commands
from shared.commands.outbox import operations as outbox
from shared.errors import (
    CommandBatchNotFound,
    CommandBatchOver,
    Forbidden,
    InvalidWaves,
    NoClients,
    SiteNotAllowed,
    TooManyClients,
)
from shared.vocabulary import CommandState, MemberOutcome, Role
from shared.words.reader import english

routes = Routes(
    "command_batches", "/api", "Commands for many clients: one outcome each, in waves that pause after failures."
)

WORK_SECONDS: Final = 5.0  # a request makes commands no longer than this; the tick makes the rest
PUBLISH_SECONDS: Final = 3.0
PUBLISH_AT_ONCE: Final = 50  # a request publishes no more than this; the bridge publishes the rest


class NewCommands(CommandsForMany):
    """A command for many displays, chosen by `clients` or `filter`.

    `waves` are numbers, shares such as `10%`, or `rest`. Each wave is sent when the one before it is over; clients that
    no wave includes come last. More unproven commands than `max_unproven` pause the batch.
    """

    dry_run: bool = False


class MemberQuery(PageQuery):
    """Which members to show."""

    outcome: MemberOutcome | None = None


@routes.post(
    "/commands",
    role=Role.OPERATOR,
    bound=Bound.CLIENTS,
    statuses={202: "Stored; one outcome for each client", 200: "Dry run: the outcomes it would have; nothing is sent"},
    raises=(Forbidden, InvalidWaves, NoClients, TooManyClients),
    headers=ASKED_WITH,
)
def send_commands(call: Call, body: NewCommands) -> Reply[Sent]:
    """Send a command to many displays. Each display has an outcome of its own."""
    request = batch_request(call, body)
    if body.dry_run:
        return Reply(_dry_run(call, request), 200)
    with call.transaction() as (connection, now):

        def create() -> BatchRow:
            created = operations.create(connection, now, request, _uuids(call, connection, request))
            facts = {"command": body.action, "reason": body.reason, "max_unproven": created.max_unproven}
            call.audit(connection, now, "command_batch.send", created.id, waves=created.waves, **facts)
            return created

        batch = once(connection, keyed(call), "command_batches", create, store.get)
    _work_off(call, batch.id)
    return Reply(_sent(call, batch.id), 202)


def _uuids(call: Call, connection: Connection, request: BatchRequest) -> list[str]:
    """The requested clients: the list, or the clients that match the filter now.

    Raises SiteNotAllowed when a caller of chosen sites lists any other.
    """
    uuids = operations.chosen(connection, request)
    if call.is_narrowed and request.clients is not None and not clients_store.are_known(connection, uuids):
        raise SiteNotAllowed
    return uuids


def _dry_run(call: Call, request: BatchRequest) -> Sent:
    with call.transaction() as (connection, now):
        members = operations.preview(connection, now, request, _uuids(call, connection, request))
    outcomes = [
        Outcome(uuid=one.client_uuid, outcome=one.outcome, wave=one.wave, command=None, lockout_until=until)
        for one, until in members
    ]
    return Sent(batch_id=None, state=None, counts=Counter(one.outcome.value for one in outcomes), outcomes=outcomes)


def _work_off(call: Call, batch_id: str) -> None:
    """Make the commands of this batch that are due, and publish the first ones; the bridge and the tick do the rest."""
    engine, timings = call.services.engine, commands.timings(call.services.config)
    operations.work_off(engine, timings, WORK_SECONDS, [batch_id])
    with call.transaction() as (connection, _):
        rows = store.members(connection, batch_id, PUBLISH_AT_ONCE, outcome=MemberOutcome.ACCEPTED)
    queued = [row.command_id for row in rows if row.command_id and row.command_state is CommandState.QUEUED]
    if queued:
        outbox.publish_due(engine, call.services.publisher, timings, PUBLISH_SECONDS, only_ids=queued)


def _sent(call: Call, batch_id: str) -> Sent:
    with call.transaction() as (connection, _):
        batch = operations.find(connection, batch_id)
        rows = store.members(connection, batch_id, rules.MOST_CLIENTS)
    counts = Counter(str(row.outcome) for row in rows)
    return Sent(batch_id=batch_id, state=batch.state, counts=counts, outcomes=[_outcome(r) for r in rows])


def _outcome(row: MemberRow) -> Outcome:
    return answer_of(Outcome, row, command=_command(row))


def _member(row: MemberRow) -> BatchMember:
    return answer_of(BatchMember, row, command=_command(row))


def _command(row: MemberRow) -> dict[str, Any] | None:
    if row.command_id is None:
        return None
    return {name: getattr(row, f"command_{name}") for name in MemberCommand.__struct_fields__}


@routes.get("/command-batches", role=Role.VIEWER, bound=Bound.LISTS)
def list_command_batches(call: Call, query: PageQuery) -> Page[Batch]:
    """Batches, the newest first."""
    after = decode_cursor(query.cursor, datetime, str)
    with call.transaction() as (connection, _):
        rows = store.page(connection, query.limit + 1, after)
    return page(rows, query.limit, lambda row: (row.created_at, row.id), _batch)


@routes.get("/command-batches/<uuid:batch_id>", role=Role.VIEWER, bound=Bound.LISTS, raises=(CommandBatchNotFound,))
def command_batch(call: Call, batch_id: str, query: MemberQuery) -> BatchDetails:
    """One batch: its counts, its waves, and a page of its members in the requested order."""
    return _details(call, batch_id, query)


def _batch(row: BatchRow) -> Batch:
    return answer_of(Batch, row)


def _details(call: Call, batch_id: str, query: MemberQuery) -> BatchDetails:
    after = decode_cursor(query.cursor, int)
    with call.transaction() as (connection, _):
        batch = operations.find(connection, batch_id)
        counts = store.counts(connection, batch_id)
        rows = store.members(connection, batch_id, query.limit + 1, None if after is None else after[0], query.outcome)
    is_over = batch.state in operations.OVER
    return answer_of(
        BatchDetails,
        batch,
        clients=sum(counts.values()),
        unproven=rules.progress(counts, batch.wave).unproven,
        result=rules.result(counts) if is_over else None,
        outcomes=_by(1, counts.items()),
        states=_by(2, counts.items()),
        by_wave=[_wave(number, counts) for number in range(1, batch.waves + 1)],
        members=page(rows, query.limit, lambda row: (row.position,), _member),
    )


def _wave(number: int, counts: rules.Counts) -> WaveView:
    mine = [(key, amount) for key, amount in counts.items() if key[0] == number]
    total = sum(amount for _, amount in mine)
    return WaveView(number=number, clients=total, outcomes=_by(1, mine), states=_by(2, mine))


def _by(part: int, counts: Iterable[tuple[tuple[int | None, str, str | None], int]]) -> dict[str, int]:
    """The number of members by one part of their key; members without that part are left out."""
    summed: Counter[str] = Counter()
    for key, number in counts:
        if (word := key[part]) is not None:
            summed[str(word)] += number
    return dict(summed)


@routes.post(
    "/command-batches/<uuid:batch_id>/pause",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    raises=(CommandBatchNotFound, CommandBatchOver),
)
def pause_command_batch(call: Call, batch_id: str) -> BatchDetails:
    """Pause a batch: no more commands are sent. Commands already sent continue."""
    with call.transaction() as (connection, now):
        _, changed = operations.pause(connection, batch_id, call.principal.actor)
        _audit(call, connection, now, "command_batch.pause", batch_id, changed)
    return _details(call, batch_id, MemberQuery())


@routes.post(
    "/command-batches/<uuid:batch_id>/resume",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    raises=(CommandBatchNotFound, CommandBatchOver, Forbidden),
)
def resume_command_batch(call: Call, batch_id: str) -> BatchDetails:
    """Resume a paused batch; its failures so far no longer count. Needs the role that sending it needs."""
    with call.transaction() as (connection, now):
        batch = operations.find(connection, batch_id)
        check_may_send(call.principal, batch.action)
        _, changed = operations.resume(connection, batch_id)
        why = batch.state_reason and english(batch.state_reason)
        _audit(call, connection, now, "command_batch.resume", batch_id, changed, why_paused=why)
    _work_off(call, batch_id)
    return _details(call, batch_id, MemberQuery())


@routes.post(
    "/command-batches/<uuid:batch_id>/abort",
    role=Role.OPERATOR,
    bound=Bound.LISTS,
    raises=(CommandBatchNotFound, CommandBatchOver),
)
def abort_command_batch(call: Call, batch_id: str) -> BatchDetails:
    """Abort a batch: waiting members get no command, and commands that no display can have are cancelled.

    The other commands continue to their end.
    """
    with call.transaction() as (connection, now):
        _, numbers = operations.abort(connection, now, batch_id, call.principal.actor)
        _audit(call, connection, now, "command_batch.abort", batch_id, bool(numbers), **numbers)
    return _details(call, batch_id, MemberQuery())


def _audit(
    call: Call, connection: Connection, now: datetime, action: str, batch_id: str, changed: bool, **details: Any
) -> None:
    """Write an audit line, but only if the call changed something."""
    if changed:
        call.audit(connection, now, action, batch_id, **details)
