"""SQL of the links to public status pages, and of the incidents that such a page tells."""

from datetime import datetime

from msgspec import Struct
from sqlalchemy import Connection

from shared.access.sites_store import SCHEMA, SETTING
from shared.postgres import query
from shared.postgres.fragments import END_OF_TIME
from shared.postgres.query import Query
from shared.words.sentences import Sentence


class PageLink(Struct, frozen=True):
    """A link without its secret."""

    id: int
    name: str
    site: str
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    last_used_at: datetime | None


class UsedLink(Struct, frozen=True):
    """A valid link that somebody opened, and the transaction's `now`."""

    id: int
    site: str
    last_used_at: datetime | None
    now: datetime
    search_path: str
    sites: str


class StoredIncident(Struct, frozen=True):
    """An open incident as it is stored."""

    began_at: datetime
    cause: Sentence


@query.one(
    """
    INSERT INTO status_links (name, site, secret_hash, created_by, created_at)
    VALUES (:name, :site, :secret_hash, :created_by, :now)
    RETURNING id, name, site, created_by, created_at, ended_at, last_used_at
    """
)
def insert(connection: Connection, now: datetime, name: str, site: str, secret_hash: str, created_by: str) -> PageLink:
    """Add a link."""


PAGE = Query(
    """
    SELECT id, name, site, created_by, created_at, ended_at, last_used_at FROM status_links
    WHERE (created_at, id) < (:at, :id) ORDER BY created_at DESC, id DESC LIMIT :limit
    """,
    PageLink,
)


def page(connection: Connection, limit: int, after: tuple[datetime, int] | None) -> list[PageLink]:
    """Links, newest first, past the (created_at, id) of `after`."""
    at, link_id = after or (END_OF_TIME, 0)
    return PAGE.all(connection, at=at, id=link_id, limit=limit)


@query.run("UPDATE status_links SET ended_at = coalesce(ended_at, :now) WHERE id = :link_id")
def end(connection: Connection, now: datetime, link_id: int) -> bool:
    """End a link; an ended one keeps its time. False when no link has this id."""


@query.one_or_none(
    f"""
    SELECT id, site, last_used_at, now() AS now, set_config('search_path', '{SCHEMA}', true) AS search_path,
        set_config('{SETTING}', CAST(ARRAY[site] AS text), true) AS sites
    FROM status_links WHERE secret_hash = :secret_hash AND ended_at IS NULL
    """
)
def narrow(connection: Connection, secret_hash: str) -> UsedLink | None:
    """The valid link with this hash. From now on this transaction sees the link's site only (`migrations.site_views`).

    None: there is no such link, or it was ended.
    """


@query.run(
    """
    UPDATE status_links SET last_used_at = :now WHERE id IN (
        SELECT id FROM status_links WHERE id = :link_id AND (last_used_at IS NULL OR last_used_at <= :not_since)
        FOR UPDATE SKIP LOCKED)
    """
)
def note_use(connection: Connection, link_id: int, now: datetime, not_since: datetime) -> None:
    """Set last_used_at unless it was set after `not_since`, or another transaction has locked the row: no wait."""


@query.rows(
    """
    SELECT began_at, cause FROM incidents AS i
    WHERE closed_at IS NULL AND (kind = 'listening' OR EXISTS (
        SELECT FROM incident_members AS m WHERE m.incident_id = i.id AND m.left_at IS NULL))
    ORDER BY id DESC LIMIT :limit
    """
)
def incidents(connection: Connection, limit: int) -> list[StoredIncident]:
    """The open incidents in which displays that this transaction sees are unwell, the newest first."""
