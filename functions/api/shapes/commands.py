"""Commands as routes show them, and the headers that every request for one may carry."""

from datetime import datetime
from typing import Final

from functions.api.bodies import Answer
from functions.api.routing import Call, Header
from functions.problems import InvalidField
from shared.commands import store as commands_store
from shared.postgres.door import scrub
from shared.trace import trace_id
from shared.vocabulary import CommandAction, CommandSource, CommandState, ConfirmedBy

LONGEST_KEY: Final = 200
ASKED_WITH: Final = {
    "Idempotency-Key": Header(
        f"1 to {LONGEST_KEY} characters: the same key answers what it answered before",
        {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
    ),
    "traceparent": Header("W3C trace context; its trace id is named in the answer, in log lines and to the display"),
}


class Command(Answer):
    """A command with every step of its life."""

    id: str
    client_uuid: str
    action: CommandAction
    state: CommandState
    source: CommandSource
    reason: str
    outcome_reason: str | None
    requested_by: str
    created_at: datetime
    expires_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    running_at: datetime | None
    result_deadline: datetime | None
    finished_at: datetime | None
    late_state: str | None
    late_at: datetime | None
    confirmed_by: ConfirmedBy | None
    if_boot_id: str | None
    """The boot that it is for; null where none was known."""
    acked_boot_id: str | None
    """The boot that the display answered from; null where it has not answered, or did not say."""
    trace_id: str | None
    """Names it in every log line about it; null before such ids were kept."""


def command(found: commands_store.CommandRow) -> Command:
    """A command as its answer."""
    told = {name: getattr(found, name) for name in Command.__struct_fields__ if name != "trace_id"}
    return Command(**told, trace_id=trace_id(found.traceparent))


def idempotency_key(call: Call) -> str | None:
    """The caller's key for this request; None without. Raises InvalidField."""
    key = call.request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not 1 <= len(key) <= LONGEST_KEY or scrub(key) != key:
        raise InvalidField(
            f"Idempotency-Key: expected 1 to {LONGEST_KEY} characters.",
            errors=[{"field": "Idempotency-Key", "expected": f"1 to {LONGEST_KEY} characters"}],
        )
    return key
