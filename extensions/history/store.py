"""SQL of one client's history, across the tables that hold it."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.availability.segments_rules import Change
from shared.postgres import query
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import Query
from shared.vocabulary import EventKind


class ClientEventRow(Struct, frozen=True):
    """An event of a client; `key` distinguishes events of the same time."""

    at: datetime
    kind: EventKind
    key: str
    details: dict[str, Any]


@query.rows(
    """
    SELECT at, from_status AS was, to_status AS became FROM client_state_changes
    WHERE client_uuid = :uuid AND at >= coalesce(
        (SELECT max(at) FROM client_state_changes WHERE client_uuid = :uuid AND at <= :since), :since)
    ORDER BY at DESC, id DESC LIMIT :limit
    """
)
def state_changes(connection: Connection, uuid: str, since: datetime, limit: int) -> list[Change]:
    """The newest `limit` changes of the shown state after `since` and the one before it, the newest first."""


def _branch(kind: str, source: str, at: str, key: str, details: str, order: str) -> str:
    """SQL: the newest events of one kind before the cursor. `key` distinguishes events of the same time."""
    return f"""
        (SELECT {at} AS at, {kind} AS kind, {key} AS key, {details} AS details FROM {source}
            AND {at} <= CAST(:at AS timestamptz)
            AND ({at}, {kind}, {key}) < (CAST(:at AS timestamptz), CAST(:kind AS text), CAST(:key AS text))
        ORDER BY {order} LIMIT CAST(:limit AS int))"""


def _number(column: str) -> str:
    """SQL: a number as a text that sorts like the number."""
    return f"lpad({column}::text, 19, '0')"


# Of screenshots a client has one open at a time, and of all other commands one. So the events of two of either never
# interleave: the newest of both that were created before the cursor hold the newest events before it.
_COMMANDS: Final = """
    (VALUES (true), (false)) AS of(screenshots) CROSS JOIN LATERAL
    (SELECT * FROM client_commands WHERE client_uuid = :uuid AND (action = 'screenshot') = of.screenshots
        AND created_at <= CAST(:at AS timestamptz)
        ORDER BY created_at DESC LIMIT CAST(:limit AS int) + 1) AS c
    CROSS JOIN LATERAL (VALUES ('1 asked', created_at), ('2 received', received_at), ('3 finished', finished_at),
        ('4 late', late_at)) AS s(step, at)
    WHERE s.at IS NOT NULL"""
_TIMELINE: Final = "\nUNION ALL".join(
    (
        _branch(
            "'state'::text",
            "client_state_changes WHERE client_uuid = :uuid",
            "at",
            _number("id"),
            "jsonb_build_object('from', from_status, 'to', to_status, 'cause', cause)",
            "at DESC, id DESC",
        ),
        _branch(
            "'service_' || event",
            "service_failure_events WHERE client_uuid = :uuid",
            "at",
            _number("id"),
            "jsonb_build_object('unit', unit, 'by', by)",
            "at DESC, id DESC",
        ),
        _branch(
            "'screen'::text",
            "client_screen_changes WHERE client_uuid = :uuid",
            "at",
            _number("id"),
            "jsonb_build_object('screen', screen, 'fails', fails)",
            "at DESC, id DESC",
        ),
        _branch(
            "'log'::text",
            "client_logs WHERE client_uuid = :uuid AND level IN ('error', 'critical')",
            "received_at",
            _number("id"),
            "jsonb_build_object('log_id', id, 'level', level, 'message', message, 'logger', logger)",
            "received_at DESC, id DESC",
        ),
        _branch(
            "'command'::text",
            _COMMANDS,
            "s.at",
            "c.id || s.step",
            "jsonb_build_object('command_id', id, 'action', action, 'step', split_part(step, ' ', 2), 'state', state,"
            " 'source', source, 'reason', reason,"
            " 'outcome_reason', outcome_reason, 'requested_by', requested_by,"
            " 'confirmed_by', confirmed_by, 'late_state', late_state)",
            "s.at DESC, s.step DESC",
        ),
        _branch(
            "'recovery'::text",
            "recovery_events WHERE client_uuid = :uuid",
            "at",
            _number("id"),
            "jsonb_build_object('decision', decision, 'why', why, 'command_id', command_id)",
            "at DESC, id DESC",
        ),
        _branch(  # commands and acknowledgements have branches of their own; addresses and request ids are for admins
            "'audit'::text",
            "audit_log WHERE target = :uuid AND action NOT LIKE 'command.%' AND action <> 'service_failed.clear'",
            "at",
            _number("id"),
            "jsonb_build_object('actor', actor, 'action', action, 'result', result)",
            "at DESC, id DESC",
        ),
        _branch(
            "'registered'::text",
            "clients WHERE uuid = :uuid",
            "created_at",
            "uuid",
            "jsonb_build_object('registered_by', registered_by)",
            "created_at",
        ),
    )
)


TIMELINE = Query(  # each branch reads its index backwards up to the limit
    f"SELECT at, kind, key, details FROM ({_TIMELINE}) AS e"
    " ORDER BY at DESC, kind DESC, key DESC LIMIT CAST(:limit AS int)",
    ClientEventRow,
)


def timeline(
    connection: Connection, uuid: str, limit: int, after: tuple[datetime, str, str] | None
) -> list[ClientEventRow]:
    """Up to `limit` events of one client, the newest first, that come after (at, kind, key)."""
    at, kind, key = after or (END_OF_TIME, "", "")
    return TIMELINE.all(connection, uuid=uuid, at=at, kind=kind, key=key, limit=limit)
