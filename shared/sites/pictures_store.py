"""SQL of the sites whose screens people may not see."""

from typing import Final

from sqlalchemy import Connection

from shared.postgres import query

SEEN: Final = "NOT EXISTS (SELECT FROM screenshots_off AS o WHERE o.site = coalesce(c.site, ''))"
"""SQL: whether people may see the screen of the client `c`."""


@query.one_or_none(f"SELECT {SEEN} FROM clients AS c WHERE c.uuid = :client_uuid AND c.deleted_at IS NULL")
def is_allowed(connection: Connection, client_uuid: str) -> bool | None:
    """Whether people may see this client's screen; None if there is no such client."""
