"""Log lines about commands, written after the commit of the change."""

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import Connection

from shared.commands import store
from shared.commands.rules import News
from shared.structured_log import event
from shared.trace import trace_id

WORDS: Final = {
    "command_acked": "a display answered a command",
    "command_ack_unknown": "a display answered a command that is not its own, or none",
    "command_proven": "what a display does, or does not do, decided a command",
    "command_ended": "a command's time was over, or nobody is left to answer it",
}
"""Event -> text of its log line."""


def log_news(news: Iterable[News]) -> None:
    """Write a log line for each. Call it after the commit."""
    for one in news:
        event(
            one.event,
            WORDS[one.event],
            command_id=one.command_id,
            client_uuid=one.client_uuid,
            trace_id=trace_id(one.traceparent),
            state=one.state,
            reason=one.reason,
        )


def news_of(name: str, connection: Connection, command_ids: Sequence[str]) -> tuple[News, ...]:
    """A log line for each of these commands in its present state."""
    commands_now = store.traced(connection, command_ids) if command_ids else []
    return tuple(News(name, k.id, k.client_uuid, k.state, k.outcome_reason, k.traceparent) for k in commands_now)
