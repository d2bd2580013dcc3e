"""SQL of the audit log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import NO_ROW, Query


@dataclass(frozen=True)
class AuditLine:
    """Who did what to what, and how it ended."""

    id: int
    at: datetime
    actor: str
    action: str
    target: str
    result: str
    request_id: str | None
    details: dict[str, Any]


@dataclass(frozen=True)
class Repeats:
    """How often something happened again since the last line of the audit log about it, which was at `began_at`."""

    actor: str
    action: str
    target: str
    result: str
    began_at: datetime
    repeats: int


INSERT = Query(
    """
    INSERT INTO audit_log (at, actor, action, target, result, request_id, details)
    VALUES (:at, :actor, :action, :target, :result, :request_id, :details)
    """,
    NO_ROW,
)


def insert(
    connection: Connection,
    at: datetime,
    actor: str,
    action: str,
    target: str,
    result: str,
    request_id: str | None,
    details: Mapping[str, Any],
) -> None:
    """Append a line; nothing in the product changes or removes one before its retention ends."""
    INSERT.run(
        connection,
        at=at,
        actor=actor,
        action=action,
        target=target,
        result=result,
        request_id=request_id,
        details=dict(details),
    )


COUNT_REPEAT = Query(
    """
    INSERT INTO audit_repeats (key, actor, action, target, result, began_at)
    VALUES (:key, :actor, :action, :target, :result, :now)
    ON CONFLICT (key) DO UPDATE SET repeats = audit_repeats.repeats + 1
    RETURNING actor, action, target, result, began_at, repeats
    """,
    Repeats,
)


def count_repeat(
    connection: Connection, now: datetime, key: str, actor: str, action: str, target: str, result: str
) -> Repeats:
    """Count what may be a repetition, and lock its count: `repeats` is 0 the first time, `began_at` the last line's."""
    return COUNT_REPEAT.one(connection, now=now, key=key, actor=actor, action=action, target=target, result=result)


BEGIN_REPEATS = Query("UPDATE audit_repeats SET began_at = :now, repeats = 0 WHERE key = :key", NO_ROW)


def begin_repeats(connection: Connection, now: datetime, key: str) -> None:
    """Another line was written of it: count from there."""
    BEGIN_REPEATS.run(connection, now=now, key=key)


TAKE_REPEATS_BEFORE = Query(
    """
    DELETE FROM audit_repeats WHERE began_at <= :moment
    RETURNING actor, action, target, result, began_at, repeats
    """,
    Repeats,
)


def take_repeats_before(connection: Connection, moment: datetime) -> list[Repeats]:
    """Forget the counts that began before `moment`, and answer them."""
    return TAKE_REPEATS_BEFORE.all(connection, moment=moment)


DELETE_BEFORE = Query("SELECT forget_audit_before(:moment)", int)


def delete_before(connection: Connection, moment: datetime) -> int:
    """End the retention of lines from before `moment`; says how many. No component may delete: a function does it.

    It spares the last 30 days (migration 0046), whatever it is asked for.
    """
    return DELETE_BEFORE.one(connection, moment=moment)


PAGE = Query(
    f"""
    SELECT id, at, actor, action, target, result, request_id, details FROM audit_log
    WHERE (at, id) < (:before, :before_id)
        AND (CAST(:actor AS text) IS NULL OR actor = :actor)
        AND (CAST(:action AS text) IS NULL OR action = :action)
        AND (CAST(:target AS text) IS NULL OR target = :target)
    ORDER BY at DESC, id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,  # noqa: S608 - made of constants
    AuditLine,
)


def page(
    connection: Connection,
    limit: int,
    after: tuple[datetime, int] | None,
    actor: str | None = None,
    action: str | None = None,
    target: str | None = None,
) -> list[AuditLine]:
    """Audit lines, newest first, past the (at, id) of `after`, of one actor, action or target if asked."""
    before, before_id = after or (END_OF_TIME, 0)
    values = {"before": before, "before_id": before_id, "actor": actor, "action": action, "target": target}
    return PAGE.all(connection, limit=limit, **values)
