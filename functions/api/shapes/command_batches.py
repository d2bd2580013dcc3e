"""Answers about many commands at once: one outcome for each client, waves, counts."""

from datetime import datetime

from functions.api.bodies import Answer, Page
from shared.vocabulary import BatchState, CommandAction, CommandState, ConfirmedBy, MemberOutcome


class MemberCommand(Answer):
    """How far a member's command has come; `GET /api/commands/<id>` tells all of it."""

    id: str
    state: CommandState
    outcome_reason: str | None
    created_at: datetime
    expires_at: datetime
    finished_at: datetime | None
    late_state: str | None
    confirmed_by: ConfirmedBy | None


class Outcome(Answer):
    """What became of one client. `accepted` is not success: its command's state is."""

    uuid: str
    outcome: MemberOutcome
    wave: int | None
    command: MemberCommand | None
    lockout_until: datetime | None


class Sent(Answer):
    """One outcome for each client asked for, in that order. `batch_id` is null in a dry run."""

    batch_id: str | None
    state: BatchState | None
    counts: dict[str, int]
    outcomes: list[Outcome]


class WaveView(Answer):
    """One wave: how many members, what was decided of them, and where their commands stand."""

    number: int
    clients: int
    outcomes: dict[str, int]
    states: dict[str, int]


class Batch(Answer):
    """Many commands asked for at once. `state_reason` says in words why it is paused or aborted."""

    id: str
    action: CommandAction
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
    """A member with its client's name; null where there is no such client."""

    name: str | None
    decided_at: datetime | None


class BatchDetails(Batch):
    """A batch with its counts. `result` is null until it is over: then succeeded (every one), partial or failed."""

    clients: int
    unproven: int
    result: str | None
    outcomes: dict[str, int]
    states: dict[str, int]
    by_wave: list[WaveView]
    members: Page[BatchMember]
