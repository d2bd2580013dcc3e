"""SQL of pictures of screens. The bytes are in the row, because the tick deletes them and has no media volume."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection

from extensions.screenshots.rules import KEPT, Picture
from shared.postgres import query
from shared.postgres.fragments import is_bad, is_open
from shared.postgres.query import NO_ROW, Query, columns
from shared.sites.pictures_store import SEEN


class Screenshot(Struct, frozen=True):
    """A stored picture: `command_id` asked for it, or it was taken before the failure at `failure_at`."""

    id: int
    client_uuid: str
    command_id: str | None
    failure_at: datetime | None
    taken_at: datetime
    stored_at: datetime
    width: int
    height: int


SHOWN: Final = columns(Screenshot, "s")
WHOSE: Final = "JOIN clients AS c ON c.uuid = s.client_uuid AND c.deleted_at IS NULL"


@query.rows(
    f"""
    SELECT {SHOWN} FROM screenshots AS s {WHOSE}
    WHERE s.client_uuid = :client_uuid AND {SEEN} ORDER BY s.taken_at DESC
    """
)
def of_client(connection: Connection, client_uuid: str) -> list[Screenshot]:
    """A client's pictures, the newest first; none if people may not see them."""


@query.rows(
    f"""
    SELECT {SHOWN} FROM unnest(CAST(:uuids AS text[])) AS w (uuid) CROSS JOIN LATERAL (
        SELECT * FROM screenshots WHERE client_uuid = w.uuid ORDER BY taken_at DESC, id DESC LIMIT 1) AS s {WHOSE}
    WHERE {SEEN} ORDER BY s.client_uuid
    """
)
def newest(connection: Connection, uuids: Collection[str]) -> list[Screenshot]:
    """The newest picture of each of these clients that has one and whose screen people may see."""


@query.rows(
    f"""
    SELECT {SHOWN} FROM screenshots AS s {WHOSE} JOIN incidents AS i ON i.id = :incident_id
    WHERE {SEEN} AND EXISTS (
        SELECT FROM incident_members AS m WHERE m.incident_id = i.id AND m.client_uuid = s.client_uuid
            AND s.failure_at BETWEEN m.failed_at - interval '5 minutes' AND coalesce(i.closed_at, 'infinity'))
    ORDER BY c.name, c.uuid, s.place LIMIT :limit
    """
)
def of_incident(connection: Connection, incident_id: int, limit: int) -> list[Screenshot]:
    """The pictures of an incident's displays before they failed, ordered by display."""


class StoredJpeg(Struct, frozen=True):
    """The client of a picture, and its bytes."""

    client_uuid: str
    jpeg: bytes


@query.one_or_none(f"SELECT s.client_uuid, s.jpeg FROM screenshots AS s {WHOSE} WHERE s.id = :screenshot_id AND {SEEN}")
def jpeg(connection: Connection, screenshot_id: int) -> StoredJpeg | None:
    """One picture; None if it does not exist or people may not see it."""


INSERT_ASKED = Query(
    f"""
    INSERT INTO screenshots (client_uuid, command_id, taken_at, stored_at, width, height, jpeg)
    SELECT k.client_uuid, k.id, :taken_at, :now, :width, :height, :jpeg FROM client_commands AS k
    WHERE k.id = :command_id AND k.client_uuid = :client AND k.action = 'screenshot' AND {is_open("k")}
      AND :taken_at >= k.created_at - INTERVAL '1 second'
    ON CONFLICT (command_id) DO NOTHING
    """,
    NO_ROW,
)


def insert_asked(
    connection: Connection, now: datetime, client_uuid: str, command_id: str, taken_at: datetime, picture: Picture
) -> bool:
    """Store the picture that a command of this client requests.

    Returns False if the command is not open, or if the picture is older; the display gives its age in whole seconds.
    """
    values = {"now": now, "client": client_uuid, "command_id": command_id, "taken_at": taken_at}
    return INSERT_ASKED.run(connection, **values, **asdict(picture)) == 1


@query.one("SELECT EXISTS (SELECT FROM screenshots WHERE command_id = :command_id AND client_uuid = :client_uuid)")
def has_answer(connection: Connection, client_uuid: str, command_id: str) -> bool:
    """Whether the picture for this command is already stored."""


@query.one_or_none(
    f"""
    SELECT min(at) FROM (
        SELECT at FROM client_state_changes WHERE client_uuid = :client_uuid AND to_status = 'crashed'
        UNION ALL SELECT at FROM service_failure_events WHERE client_uuid = :client_uuid AND event = 'failed'
        UNION ALL SELECT screen_health_since FROM clients WHERE uuid = :client_uuid AND {is_bad("screen_health::text")}
    ) AS failures (at) WHERE at > :since HAVING count(*) > 0
    """
)
def failed_at(connection: Connection, client_uuid: str, since: datetime) -> datetime | None:
    """When this client's player, a service or its screen first failed after `since`; None if nothing did."""


INSERT_BEFORE_FAILURE = Query(
    """
    INSERT INTO screenshots (client_uuid, failure_at, place, taken_at, stored_at, width, height, jpeg)
    VALUES (:client, :failure_at, :place, :taken_at, :now, :width, :height, :jpeg)
    ON CONFLICT (client_uuid, failure_at, place) DO NOTHING
    """,
    NO_ROW,
)


def insert_before_failure(
    connection: Connection,
    now: datetime,
    client_uuid: str,
    failure_at: datetime,
    place: int,
    taken_at: datetime,
    picture: Picture,
) -> None:
    """Store one of the last pictures before a failure; a picture that already has this place stays."""
    values = {"now": now, "client": client_uuid, "failure_at": failure_at, "place": place, "taken_at": taken_at}
    INSERT_BEFORE_FAILURE.run(connection, **values, **asdict(picture))


PRUNE = Query(
    """
    DELETE FROM screenshots WHERE client_uuid = :client AND (
        failure_at < (SELECT max(failure_at) FROM screenshots WHERE client_uuid = :client)
        OR command_id IS NOT NULL AND id NOT IN (
            SELECT id FROM screenshots WHERE client_uuid = :client AND command_id IS NOT NULL
            ORDER BY id DESC LIMIT :kept))
    """,
    NO_ROW,
)


def prune(connection: Connection, client_uuid: str) -> int:
    """Keep a client's newest requested pictures and those before its last failure. Returns how many were deleted."""
    return PRUNE.run(connection, client=client_uuid, kept=KEPT)


@query.run(
    """
    DELETE FROM screenshots
    WHERE stored_at < :before OR client_uuid IN (SELECT uuid FROM clients WHERE deleted_at IS NOT NULL)
    """
)
def drop_before(connection: Connection, before: datetime) -> int:
    """Delete pictures that were stored before then, and those of deleted clients. Returns how many."""


@query.rows("SELECT site FROM screenshots_off ORDER BY site")
def sites_off(connection: Connection) -> list[str]:
    """The sites that forbid pictures; '' stands for clients without a site."""


@query.run('INSERT INTO screenshots_off (site, since, "by") VALUES (:site, :now, :by) ON CONFLICT (site) DO NOTHING')
def switch_off(connection: Connection, now: datetime, site: str, by: str) -> None:
    """Forbid pictures of this site's screens."""


@query.run("DELETE FROM screenshots_off WHERE site = :site")
def switch_on(connection: Connection, site: str) -> None:
    """Allow pictures of this site's screens."""


@query.run("DELETE FROM screenshots WHERE client_uuid IN (SELECT uuid FROM clients WHERE coalesce(site, '') = :site)")
def drop_of_site(connection: Connection, site: str) -> int:
    """Delete the pictures of this site's clients. Returns how many."""
