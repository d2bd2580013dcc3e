"""/api/audit: who did what, newest first."""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from functions.api.bodies import Answer, answer_of
from functions.api.pages import Page, PageQuery, decode_cursor, page
from functions.api.routing import Bound, Call, Routes
from shared.access import audit_store
from shared.vocabulary import Role

routes = Routes("audit", "/api/audit", "Who did what, and how it ended. Append only.")

Word = Annotated[str, msgspec.Meta(max_length=300)]


class AuditQuery(PageQuery, kw_only=True):
    """Which lines to list; each filter is exact."""

    actor: Word | None = None
    action: Word | None = None
    target: Word | None = None


class AuditEntry(Answer):
    """One change, done or refused."""

    id: int
    at: datetime
    actor: str
    action: str
    target: str
    result: str
    request_id: str | None
    details: dict[str, Any]


@routes.get("", role=Role.ADMIN, bound=Bound.FLEET)
def list_audit(call: Call, query: AuditQuery) -> Page[AuditEntry]:
    """The audit log, newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = audit_store.page(connection, query.limit + 1, after, query.actor, query.action, query.target)
    return page(rows, query.limit, lambda row: (row.at, row.id), lambda row: answer_of(AuditEntry, row))
