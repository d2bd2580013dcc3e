"""SQL of the causes of incidents."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.signs_store import LAST_SIGN
from shared.incidents import failures_store
from shared.incidents.causes_rules import Facts, Place
from shared.incidents.rules import OLDEST
from shared.postgres import query
from shared.postgres.many import as_json
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import IncidentKind, Symptom
from shared.words.sentences import Sentence

HEARD: Final = timedelta(minutes=10)
"""A display that was silent for longer says nothing about what fails now."""


class CountedMembers(Struct, frozen=True):
    """An incident with its members, counted by how they failed, and for a cluster the place with most of them."""

    kind: IncidentKind
    key: str
    group_size: int | None
    first_at: datetime
    last_at: datetime
    silent: int
    crashed: int
    service_failed: int
    disconnected: int
    screen_failed: int
    sites: int
    site: str | None
    unit: str | None
    place_kind: IncidentKind | None
    place_key: str | None
    place_members: int


FACTS = Query(
    """
    WITH member AS (
        SELECT DISTINCT ON (m.client_uuid)
            m.client_uuid, m.symptom, m.unit,
            m.failed_at, c.site, subnet_of(c.ip) AS subnet
        FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
        WHERE m.incident_id = :id AND c.deleted_at IS NULL
            AND m.joined_at >= coalesce(  -- not those whose failure is of the incident before
                (SELECT o.waned_at FROM incidents AS i JOIN incidents AS o ON o.id = i.again_of WHERE i.id = :id),
                m.joined_at)
        ORDER BY m.client_uuid, m.joined_at),
    place AS (
        SELECT kind, key, count(*) AS members
        FROM member, LATERAL (VALUES ('site', site), ('subnet', subnet)) AS p(kind, key)
        WHERE key IS NOT NULL GROUP BY kind, key
        ORDER BY kind = 'site' AND 2 * count(*) >= (SELECT count(*) FROM member) DESC, count(*) DESC, key LIMIT 1)
    SELECT i.kind, i.key, i.group_size, min(m.failed_at) AS first_at, max(m.failed_at) AS last_at,
        count(*) FILTER (WHERE m.symptom = 'silent') AS silent,
        count(*) FILTER (WHERE m.symptom = 'crashed') AS crashed,
        count(*) FILTER (WHERE m.symptom = 'service_failed') AS service_failed,
        count(*) FILTER (WHERE m.symptom = 'disconnected') AS disconnected,
        count(*) FILTER (WHERE m.symptom = 'screen_failed') AS screen_failed,
        count(DISTINCT m.site) AS sites,
        CASE WHEN count(DISTINCT coalesce(m.site, '')) = 1 THEN min(m.site) END AS site,
        CASE WHEN count(DISTINCT m.unit) = 1 THEN min(m.unit) END AS unit,
        p.kind AS place_kind, p.key AS place_key, coalesce(p.members, 0) AS place_members
    FROM incidents AS i JOIN member AS m ON true LEFT JOIN place AS p ON i.kind = 'cluster'
    WHERE i.id = :id GROUP BY i.id, p.kind, p.key, p.members
    """,
    CountedMembers,
)


@query.one(
    f"""
    SELECT 2 * count(*) FILTER (WHERE c.status IN ('late', 'stale')) >= count(*)
    FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid AND c.deleted_at IS NULL
    WHERE {LAST_SIGN} > :heard_since
        AND NOT EXISTS (SELECT FROM incident_members AS m WHERE m.incident_id = :id AND m.client_uuid = c.uuid)
    """
)
def is_elsewhere(connection: Connection, id: int, heard_since: datetime) -> bool:  # noqa: A002
    """Whether half of the displays that are outside an incident and were heard since then are lost. Reads the fleet."""


def facts(connection: Connection, incident_id: int, now: datetime) -> Facts | None:
    """The facts about the members of an incident, for its cause; None when all of them are deleted.

    The size of a place is the number of its displays that were heard in the last day.
    """
    found = FACTS.one_or_none(connection, id=incident_id)
    if found is None:
        return None
    counts = (found.silent, found.crashed, found.service_failed, found.disconnected, found.screen_failed)
    symptoms = {symptom: count for symptom, count in zip(Symptom, counts, strict=True) if count}
    place, kind, key = None, found.place_kind, found.place_key
    if kind is not None and key is not None and 2 * found.place_members >= sum(counts):
        sizes = (failures_store.sites if kind is IncidentKind.SITE else failures_store.subnets)(
            connection, [key], now - OLDEST
        )
        place = Place(kind, key, found.place_members, sizes.get(key, 0))
    alone = place is None and found.kind is IncidentKind.CLUSTER
    return Facts(
        found.kind,
        found.key,
        found.group_size,
        symptoms,
        found.first_at,
        found.last_at,
        found.sites,
        found.unit,
        place,
        found.site,
        elsewhere=alone and is_elsewhere(connection, incident_id, now - HEARD),
    )


DESCRIBE = Query(
    "UPDATE incidents SET cause = CAST(CAST(:cause AS text) AS jsonb), began_at = :began_at WHERE id = :id",
    NO_ROW,
)


def describe(connection: Connection, incident_id: int, cause: Sentence, began_at: datetime) -> None:
    """Write an incident's cause, and when its first display failed."""
    DESCRIBE.run(connection, id=incident_id, cause=as_json(cause), began_at=began_at)
