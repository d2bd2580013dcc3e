"""/api/audit: who did what, newest first."""

from datetime import datetime
from typing import Annotated

import msgspec

from functions.api.pages import Page, PageQuery, decode_cursor, page_of
from functions.api.routing import Bound, Call, Routes
from shared.access import audit_store
from shared.access.audit_store import AuditEntry
from shared.vocabulary import Role

routes = Routes("audit", "/api/audit", "Who did what, and how it ended. Append only.")

Word = Annotated[str, msgspec.Meta(max_length=300)]


class AuditQuery(PageQuery, kw_only=True):
    """Which lines to list; each filter is exact."""

    actor: Word | None = None
    action: Word | None = None
    target: Word | None = None


@routes.get("", role=Role.ADMIN, bound=Bound.FLEET)
def list_audit(call: Call, query: AuditQuery) -> Page[AuditEntry]:
    """The audit log, newest first."""
    after = decode_cursor(query.cursor, datetime, int)
    with call.transaction() as (connection, _):
        rows = audit_store.page(connection, query.limit + 1, after, query.actor, query.action, query.target)
    return page_of(rows, query.limit, lambda row: (row.at, row.id))
