"""SQL of the audit log."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection

from shared.access.rules import AuditLine
from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import NO_ROW, Query


class AuditEntry(AuditLine, frozen=True):
    """One change, done or refused."""

    id: int
    at: datetime


class Repeats(Struct, frozen=True):
    """How often an act was repeated since the last audit line about it, which was at `began_at`."""

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


def insert(connection: Connection, at: datetime, line: AuditLine) -> None:
    """Append a line. The product changes no line and removes none before the end of its retention."""
    INSERT.run(connection, at=at, **asdict(line))


COUNT_REPEAT = Query(
    """
    INSERT INTO audit_repeats (key, actor, action, target, result, began_at)
    VALUES (:key, :actor, :action, :target, :result, :now)
    ON CONFLICT (key) DO UPDATE SET repeats = audit_repeats.repeats + 1
    RETURNING actor, action, target, result, began_at, repeats
    """,
    Repeats,
)


def count_repeat(connection: Connection, now: datetime, key: str, line: AuditLine) -> Repeats:
    """Count a possible repetition and lock its row. `repeats`: 0 the first time; `began_at`: time of the last line."""
    return COUNT_REPEAT.one(connection, now=now, key=key, **asdict(line))


@query.run("UPDATE audit_repeats SET began_at = :now, repeats = 0 WHERE key = :key")
def begin_repeats(connection: Connection, now: datetime, key: str) -> None:
    """Count from 0 again, after a new audit line."""


@query.rows(
    """
    DELETE FROM audit_repeats WHERE began_at <= :moment
    RETURNING actor, action, target, result, began_at, repeats
    """
)
def take_repeats_before(connection: Connection, moment: datetime) -> list[Repeats]:
    """Delete the counts that began before `moment`. Returns them."""


@query.one("SELECT forget_audit_before(:moment)")
def delete_before(connection: Connection, moment: datetime) -> int:
    """Delete lines before `moment`, by a database function: components may not delete. Returns how many.

    The function always keeps the last 30 days (migration 0046).
    """


PAGE = Query(
    f"""
    SELECT id, at, actor, action, target, result, request_id, details FROM audit_log
    WHERE (at, id) < (:before, :before_id)
        AND (CAST(:actor AS text) IS NULL OR actor = :actor)
        AND (CAST(:action AS text) IS NULL OR action = :action)
        AND (CAST(:target AS text) IS NULL OR target = :target)
    ORDER BY at DESC, id DESC LIMIT :limit {FOR_ITS_VALUES}
    """,
    AuditEntry,
)


def page(
    connection: Connection,
    limit: int,
    after: tuple[datetime, int] | None,
    actor: str | None = None,
    action: str | None = None,
    target: str | None = None,
) -> list[AuditEntry]:
    """Audit lines, newest first, past the (at, id) of `after`, of one actor, action or target if asked."""
    before, before_id = after or (END_OF_TIME, 0)
    values = {"before": before, "before_id": before_id, "actor": actor, "action": action, "target": target}
    return PAGE.all(connection, limit=limit, **values)
