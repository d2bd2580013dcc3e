"""The answers about command batches: outcomes, waves and counts."""

from datetime import datetime

from functions.api.bodies import Answer
from functions.api.pages import Page
from functions.api.shapes.commands import StoredAction
from shared.vocabulary import BatchState, CommandState, ConfirmedBy, MemberOutcome


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
    state_reason: str | None
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
