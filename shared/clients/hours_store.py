"""SQL of the opening hours that displays are meant to keep, and of those that keep other ones."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.vocabulary import SCREEN_ACTIONS, Presence


class Kept(NamedTuple):
    """A client and a version of hours; None: no hours."""

    uuid: str
    version: str | None


class Untold(Struct, frozen=True):
    """The hours that a display is meant to keep and does not; both None: none any more."""

    uuid: str
    version: str | None
    hours: dict[str, Any] | None


@query.rows(
    """
    WITH wanting AS MATERIALIZED (
        SELECT uuid FROM clients WHERE uuid = ANY(CAST(:uuids AS text[])) AND deleted_at IS NULL
            AND hours_wanted IS DISTINCT FROM CAST(:version AS text)
        ORDER BY uuid FOR NO KEY UPDATE),
    put AS (
        INSERT INTO client_hours (client_uuid, version, hours, set_at)
        SELECT uuid, CAST(:version AS text), CAST(:hours AS jsonb), :now FROM wanting
        ON CONFLICT (client_uuid) DO UPDATE
            SET version = EXCLUDED.version, hours = EXCLUDED.hours, set_at = EXCLUDED.set_at)
    UPDATE clients AS c SET hours_wanted = CAST(:version AS text) FROM wanting WHERE c.uuid = wanting.uuid
    RETURNING c.uuid
    """
)
def put(
    connection: Connection, now: datetime, uuids: Collection[str], version: str, hours: Mapping[str, Any]
) -> list[str]:
    """Let these clients keep these hours. Returns those that were meant to keep other ones, or none."""


@query.rows(
    """
    WITH wanting AS MATERIALIZED (
        SELECT uuid FROM clients WHERE uuid = ANY(CAST(:uuids AS text[])) AND hours_wanted IS NOT NULL
        ORDER BY uuid FOR NO KEY UPDATE),
    gone AS (DELETE FROM client_hours AS h USING wanting WHERE h.client_uuid = wanting.uuid)
    UPDATE clients AS c SET hours_wanted = NULL FROM wanting WHERE c.uuid = wanting.uuid
    RETURNING c.uuid
    """
)
def clear(connection: Connection, uuids: Collection[str]) -> list[str]:
    """Let these clients keep no hours. Returns those that were meant to keep some."""


TOLD: Final = ManyRows("told", Kept)
ABLE: Final = ", ".join(f"'{action}'" for action in SCREEN_ACTIONS)


@query.rows(
    f"""
    SELECT c.uuid, c.hours_wanted AS version, h.hours
    FROM clients AS c LEFT JOIN client_hours AS h ON h.client_uuid = c.uuid AND h.version = c.hours_wanted
    WHERE c.hours_version IS DISTINCT FROM c.hours_wanted AND c.deleted_at IS NULL
        AND (c.hours_wanted IS NULL) = (h.version IS NULL)
        AND c.presence <> '{Presence.OFFLINE}' AND c.capabilities @> CAST(ARRAY[{ABLE}] AS text[])
        AND NOT EXISTS (SELECT FROM {TOLD}
            WHERE told.uuid = c.uuid AND told.version IS NOT DISTINCT FROM c.hours_wanted)
    ORDER BY c.uuid LIMIT CAST(:most AS int)
    """,
    TOLD,
)
def untold(connection: Connection, told: Sequence[Kept], most: int) -> list[Untold]:
    """Displays that keep other hours than they are meant to, without those that were `told` these hours lately.

    Only of displays that are not known to be offline and can switch their screen on and off.
    """
