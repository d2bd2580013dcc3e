"""The answers about commands, and the headers of a request for a command."""

from datetime import datetime
from typing import Annotated, Final

import msgspec

from functions.api.bodies import Answer
from functions.api.idempotency import HEADER
from functions.api.routing import Header
from shared.commands import rules
from shared.commands import store as commands_store
from shared.trace import trace_id
from shared.vocabulary import CommandAction, CommandSource, CommandState, ConfirmedBy
from shared.words.sentences import Sentence, as_given

ASKED_WITH: Final = {
    **HEADER,
    "traceparent": Header("W3C trace context; its trace id is named in the answer, in log lines and to the display"),
}


StoredAction = Annotated[
    str, msgspec.Meta(description=f"{', '.join(CommandAction)}, or a word that a later version has stored")
]
StoredSource = Annotated[
    str, msgspec.Meta(description=f"{', '.join(CommandSource)}, or a word that a later version has stored")
]


class Command(Answer):
    """A command with the times of its steps."""

    id: str
    client_uuid: str
    action: StoredAction
    state: CommandState
    source: StoredSource
    reason: Sentence
    """A person's own words, or why recovery asked."""
    outcome_reason: str | None
    """A word, who ended it and why, or a display's own text."""
    outcome_words: Sentence | None
    """The same for people."""
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
    """The boot that the command is for; null when none was known."""
    acked_boot_id: str | None
    """The boot from which the display answered; null when it has not answered or did not name it."""
    trace_id: str | None
    """The id in every log line about the command; null for commands of older versions."""
    cuts_through: Sentence | None
    """In the answer to sending it: the quiet times that it does not respect, as a sentence. Else null."""


def command(found: commands_store.CommandRow, cuts_through: Sentence | None = None) -> Command:
    """A command as its answer."""
    own = {"trace_id", "outcome_words", "reason", "cuts_through"}
    fields = {name: getattr(found, name) for name in Command.__struct_fields__ if name not in own}
    return Command(
        **fields,
        reason=found.reason or as_given(text=""),
        outcome_words=rules.why_ended(found.state, found.outcome_reason),
        trace_id=trace_id(found.traceparent),
        cuts_through=cuts_through,
    )
