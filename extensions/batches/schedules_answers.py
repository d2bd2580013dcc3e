"""The answers about schedules: when commands will be sent, to whom, and what became of each time."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection

from extensions.batches import schedules_rules
from extensions.batches.schedules_rules import KeptSchedule
from functions.api.bodies import Answer, answer_of
from functions.api.pages import Page
from functions.api.shapes.commands import StoredAction
from functions.api.shapes.sites import EmptySites, empty_sites
from shared.vocabulary import BatchState, ScheduleOutcome, ScheduleState, Weekday
from shared.words.sentences import Sentence


class ScheduleTime(Answer):
    """What became of one time. `why`: the reason why it was missed. `batch_state`: null when its batch is gone."""

    due_at: datetime
    outcome: ScheduleOutcome
    why: Sentence | None
    batch_id: str | None
    batch_state: BatchState | None


class CommandSchedule(Answer):
    """A schedule. `next_at` is null when no time is left; `words` says its state, for people.

    `filter`: whom it is for, found anew at each time; null: the `named` clients that it names.
    """

    id: str
    action: StoredAction
    reason: str
    filter: dict[str, Any] | None
    named: int
    waves: list[int | str]
    max_unproven: str
    ttl_seconds: int | None
    time_zone: str
    at: datetime | None
    weekdays: list[Weekday]
    local_time: str | None
    until: date | None
    state: ScheduleState
    words: Sentence
    next_at: datetime | None
    last: ScheduleTime | None
    created_by: str
    created_at: datetime
    cancelled_by: str | None
    cancelled_at: datetime | None
    empty_sites: EmptySites


class ScheduleDetails(CommandSchedule):
    """A schedule with the clients that it names, how many displays it is for now, and what became of its times."""

    clients: list[str]
    covers: int
    times: Page[ScheduleTime]


class SchedulesOfClient(Answer):
    """What will happen to a client: the schedules that name it or whose filter it matches now, the next one first."""

    uuid: str
    items: list[CommandSchedule]


def schedules(connection: Connection, rows: Sequence[KeptSchedule]) -> list[CommandSchedule]:
    """Schedules as every list shows them."""
    return [answer_of(CommandSchedule, row, **more) for row, more in zip(rows, facts(connection, rows), strict=True)]


def facts(connection: Connection, rows: Sequence[KeptSchedule]) -> Iterator[dict[str, Any]]:
    """What an answer adds to each row."""
    sites = [None if row.filter is None or "site" not in row.filter else [row.filter["site"]] for row in rows]
    for row, empty in zip(rows, empty_sites(connection, sites), strict=True):
        told = {"state": schedules_rules.state_of(row), "words": schedules_rules.words(row)}
        yield {**told, "last": _last(row), "empty_sites": empty}


def _last(row: KeptSchedule) -> dict[str, Any] | None:
    if row.last_due_at is None:
        return None
    return {
        "due_at": row.last_due_at,
        "outcome": row.last_outcome,
        "why": row.last_why,
        "batch_id": row.last_batch_id,
        "batch_state": row.last_batch_state,
    }
