"""Requests for commands to many displays, and the answers about batches: outcomes, waves and counts."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

import msgspec

from extensions.batches import rules
from extensions.batches.rules import BatchRequest
from functions.api.bodies import END, Answer, Body
from functions.api.pages import Page
from functions.api.routing import Call
from functions.api.shapes.commands import StoredAction
from functions.api.shapes.sites import AnySite, SearchText, Tag
from functions.problems import InvalidField
from shared.access.rules import check_may_send
from shared.vocabulary import BatchState, ClientStatus, CommandAction, CommandState, ConfirmedBy, MemberOutcome
from shared.words.sentences import Sentence

AnyUuid = Annotated[str, msgspec.Meta(pattern=rf"^[0-9a-fA-F]{{8}}(-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}{END}")]
Number = Annotated[int, msgspec.Meta(ge=0, le=rules.MOST_CLIENTS)]
Share = Annotated[str, msgspec.Meta(pattern=f"^(rest|[0-9]{{1,3}}%){END}", max_length=4)]
BatchAction = Literal["restart_app", "reboot_host", "shutdown_host", "screen_on", "screen_off"]
Reason = Annotated[str, msgspec.Meta(max_length=500, description="why, for the history")]
Waves = Annotated[list[Number | Share], msgspec.Meta(min_length=1, max_length=rules.MOST_WAVES)]


class ChosenClients(Body):
    """A filter as in `GET /api/clients`, with at least one field."""

    status: ClientStatus | None = None
    site: AnySite | None = None
    tag: Tag | None = None
    version: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    q: SearchText | None = None
    stale: bool | None = None
    service_failed: bool | None = None
    screen_failed: bool | None = None


class CommandsForMany(Body):
    """A command for many displays, chosen by `clients` or `filter`."""

    action: BatchAction
    reason: Reason = ""
    clients: Annotated[list[AnyUuid], msgspec.Meta(max_length=rules.MOST_CLIENTS)] | None = None
    filter: ChosenClients | None = None
    waves: Waves | None = None
    max_unproven: Number | Share = "10%"
    ttl_seconds: Annotated[int, msgspec.Meta(ge=10, le=86_400)] | None = None


def batch_request(call: Call, body: CommandsForMany) -> BatchRequest:
    """The batch that the caller requests. Raises Forbidden: only admins may shut down. Raises InvalidField."""
    action = CommandAction(body.action)
    check_may_send(call.principal, action)
    fields = {} if body.filter is None else msgspec.structs.asdict(body.filter)
    chosen = {name: value for name, value in fields.items() if value is not None}
    if (body.clients is None) == (not chosen):
        raise InvalidField.at("clients", "field_clients_or_filter")
    return BatchRequest(
        action=action,
        requested_by=call.principal.actor,
        reason=body.reason,
        waves=tuple(body.waves) if body.waves is not None else rules.ALL_AT_ONCE,
        max_unproven=body.max_unproven,
        ttl=timedelta(seconds=body.ttl_seconds) if body.ttl_seconds is not None else None,
        clients=None if body.clients is None else tuple(uuid.lower() for uuid in body.clients),
        filter=chosen or None,
        traceparent=call.traceparent,
    )


class MemberCommand(Answer):
    """The state of a member's command; for the rest see `GET /api/commands/<id>`."""

    id: str
    state: CommandState
    outcome_reason: str | None
    created_at: datetime
    expires_at: datetime
    finished_at: datetime | None
    late_state: str | None
    confirmed_by: ConfirmedBy | None


class Outcome(Answer):
    """The outcome for one client. `accepted` only means that it has a command; the command's state shows success."""

    uuid: str
    outcome: MemberOutcome
    wave: int | None
    command: MemberCommand | None
    lockout_until: datetime | None


class Sent(Answer):
    """One outcome for each requested client, in the requested order. `batch_id` is null in a dry run."""

    batch_id: str | None
    state: BatchState | None
    counts: dict[str, int]
    outcomes: list[Outcome]


class WaveView(Answer):
    """One wave: how many members, and the counts of their outcomes and of their commands' states."""

    number: int
    clients: int
    outcomes: dict[str, int]
    states: dict[str, int]


class Batch(Answer):
    """A batch of commands. `state_reason` tells people why it is paused or aborted, or that members wait."""

    id: str
    action: StoredAction
    reason: str
    requested_by: str
    state: BatchState
    state_reason: Sentence | None
    wave: int
    waves: int
    max_unproven: str
    created_at: datetime
    finished_at: datetime | None


class BatchMember(Outcome):
    """A member with its client's name; null when there is no such client."""

    name: str | None
    decided_at: datetime | None


class BatchDetails(Batch):
    """A batch with its counts. `result` is null until it is over; then `succeeded` (all), `partial` or `failed`."""

    clients: int
    unproven: int
    result: str | None
    outcomes: dict[str, int]
    states: dict[str, int]
    by_wave: list[WaveView]
    members: Page[BatchMember]
