"""SQL of the availability of many displays."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.vocabulary import ClientStatus


class CountedClient(Struct, frozen=True):
    """A display whose availability is asked for."""

    uuid: str
    name: str
    site: str
    created_at: datetime
    status: ClientStatus
    """Its shown state at the end of the time that is asked for."""


class ChangeOfClient(Struct, frozen=True):
    """A change of the shown state of one display."""

    uuid: str
    at: datetime
    was: ClientStatus
    became: ClientStatus


_MEMBERS: Final = """
    SELECT c.uuid, c.name, coalesce(c.site, '') AS site, c.created_at, coalesce((
        SELECT s.from_status FROM client_state_changes AS s WHERE s.client_uuid = c.uuid AND s.at >= :end
        ORDER BY s.at, s.id LIMIT 1), c.status::text) AS status
    FROM clients AS c WHERE c.deleted_at IS NULL AND"""
"""SQL: displays, with the state that each had at `:end`."""


@query.rows(f"{_MEMBERS} c.uuid = ANY(CAST(:uuids AS text[])) ORDER BY c.uuid")
def some(connection: Connection, uuids: Collection[str], end: datetime) -> list[CountedClient]:
    """These displays, by uuid; one that does not exist is left out."""


@query.rows(f"{_MEMBERS} true ORDER BY site, c.uuid")
def every(connection: Connection, end: datetime) -> list[CountedClient]:
    """All displays, by site."""


@query.rows(f"{_MEMBERS} coalesce(c.site, '') = :site AND c.uuid > :after ORDER BY c.uuid LIMIT :limit")
def of_site(connection: Connection, site: str, end: datetime, limit: int, after: str) -> list[CountedClient]:
    """Up to `limit` displays of a site, by uuid, after this one. '' stands for displays without a site."""


@query.rows(
    """
    SELECT w.uuid, s.at, s.from_status AS was, s.to_status AS became
    FROM unnest(CAST(:uuids AS text[])) AS w (uuid) CROSS JOIN LATERAL (
        SELECT * FROM client_state_changes WHERE client_uuid = w.uuid AND at >= :start AND at < :end
        ORDER BY at DESC, id DESC LIMIT :limit) AS s
    ORDER BY w.uuid, s.at, s.id
    """
)
def changes(
    connection: Connection, uuids: Collection[str], start: datetime, end: datetime, limit: int
) -> list[ChangeOfClient]:
    """The newest `limit` changes of each display from `start` until `end`, the oldest of a display first."""


@query.one(
    """
    WITH states AS (DELETE FROM client_state_changes WHERE at < :before RETURNING id),
    failures AS (DELETE FROM service_failure_events WHERE at < :before RETURNING id),
    screens AS (DELETE FROM client_screen_changes WHERE at < :before RETURNING id)
    SELECT (SELECT count(*) FROM states) + (SELECT count(*) FROM failures) + (SELECT count(*) FROM screens)
    """
)
def drop_before(connection: Connection, before: datetime) -> int:
    """Delete state changes, service failures and changes of screens before `before`. Returns how many."""
