"""SQL of expectations: what should be on the screens of displays, tags and sites."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.clients.screens_rules import SeenPage
from shared.expectations.rules import Expectation, ExpectedPage
from shared.postgres import query
from shared.vocabulary import ExpectationScope

MOST: Final = 1_000  # in one list


class OfClient(ExpectedPage, frozen=True):
    """What should be on a client's screen, and what was there by its last report."""

    uuid: str
    page: SeenPage | None


@query.rows(f"SELECT * FROM expectations ORDER BY scope, target LIMIT {MOST}")
def every(connection: Connection) -> list[Expectation]:
    """The expectations, up to MOST."""


@query.one(
    """
    INSERT INTO expectations (scope, target, address, title, black, set_at, set_by)
    VALUES (:scope, :target, :address, :title, :black, :now, :by)
    ON CONFLICT (scope, target) DO UPDATE SET address = EXCLUDED.address, title = EXCLUDED.title,
        black = EXCLUDED.black, set_at = EXCLUDED.set_at, set_by = EXCLUDED.set_by
    RETURNING *
    """
)
def put(
    connection: Connection,
    now: datetime,
    scope: ExpectationScope,
    target: str,
    address: str | None,
    title: str | None,
    black: bool,
    by: str,
) -> Expectation:
    """Expect this there from now on, instead of what was expected."""


@query.one_or_none("DELETE FROM expectations WHERE id = :expectation_id RETURNING *")
def delete(connection: Connection, expectation_id: int) -> Expectation | None:
    """Expect nothing there any more. Returns what was expected."""


COVERS: Final = """(e.scope = 'client' AND e.target = c.uuid OR e.scope = 'tag' AND c.tags @> ARRAY[e.target]
    OR e.scope = 'site' AND e.target = c.site)"""
"""SQL: whether the expectation `e` is about the client `c`."""
NEAREST: Final = "array_position(ARRAY['client', 'tag', 'site'], e.scope), e.id DESC"
"""SQL: the order of a client's expectations; the first one counts, of several tags the newest."""


@query.rows(
    f"""
    SELECT DISTINCT ON (c.uuid) c.uuid, e.address, e.title, e.black, h.page
    FROM clients AS c JOIN expectations AS e ON {COVERS} LEFT JOIN client_health AS h ON h.client_uuid = c.uuid
    WHERE c.uuid = ANY(CAST(:uuids AS text[])) ORDER BY c.uuid, {NEAREST}
    """
)
def of_clients(connection: Connection, uuids: Collection[str]) -> list[OfClient]:
    """What should be on the screens of these clients, where anything is expected."""


@query.one_or_none(
    f"SELECT e.* FROM clients AS c JOIN expectations AS e ON {COVERS} WHERE c.uuid = :uuid ORDER BY {NEAREST} LIMIT 1"
)
def of_client(connection: Connection, uuid: str) -> Expectation | None:
    """What should be on this client's screen."""


@query.rows(
    f"""
    SELECT h.page ->> 'kind' AS kind, h.page ->> 'address' AS address, h.page ->> 'title' AS title
    FROM expectations AS e JOIN clients AS c ON {COVERS} AND c.deleted_at IS NULL
    JOIN client_health AS h ON h.client_uuid = c.uuid AND h.page ->> 'address' IS NOT NULL
    WHERE e.id = :expectation_id AND h.received_at > CAST(:now AS timestamptz) - interval '15 minutes'
    """
)
def seen(connection: Connection, now: datetime, expectation_id: int) -> list[SeenPage]:
    """The pages that the displays of an expectation see now, as far as their addresses are told."""
