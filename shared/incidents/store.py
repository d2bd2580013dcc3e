"""SQL that keeps incidents: what failed lately, what is open, and each step of an incident's life.

Every statement costs what failed lately or is open, not what the fleet is: recent changes of state have an
index of their own, and so have site, subnet and the last loss of the broker.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, Row

from shared.clients.signs.store import LAST_SIGN
from shared.incidents.causes.rules import Facts
from shared.incidents.rules import Failure, OpenIncident
from shared.tables import client_heartbeats, clients, incident_events, incident_members, incidents, scheduler_status
from shared.vocabulary import IncidentEventKind, IncidentKind, Symptom

_LAST_SIGN: Final = sa.func.greatest(client_heartbeats.c.last_heartbeat_at, client_heartbeats.c.sign_at)
INCIDENTS_LOCK: Final = 7_305_006  # advisory lock of the transaction that groups


@dataclass(frozen=True)
class Since:
    """From when on something counts as lately."""

    noticed: datetime  # failures noticed after
    happened: datetime  # and that happened after
    heard: datetime  # losses of the broker after: while we listened


def lock_incidents(connection: Connection) -> None:
    """Wait until no other transaction groups failures."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(INCIDENTS_LOCK)))


def look(connection: Connection, now: datetime) -> datetime | None:
    """When failures were last grouped, None before the first time; from here on it is now."""
    before = sa.select(scheduler_status.c.incidents_at).scalar_subquery()
    statement = sa.update(scheduler_status).values(incidents_at=now).returning(before)
    looked_at: datetime | None = connection.execute(statement).scalar_one()
    return looked_at


_FAILED: Final = sa.text(  # every branch reads an index of its own; Core says it at twice the length
    f"""
    WITH fallen AS (
        SELECT DISTINCT ON (client_uuid) client_uuid, at, to_status FROM client_state_changes
        WHERE at > CAST(:noticed AS timestamptz) AND to_status IN ('stale', 'crashed')
        ORDER BY client_uuid, at DESC, id DESC),
    failed AS (
        SELECT c.uuid, f.at AS noticed_at, NULL AS unit,
            CASE f.to_status WHEN 'stale' THEN 'silent' ELSE 'crashed' END AS symptom,
            CASE f.to_status WHEN 'stale' THEN coalesce({LAST_SIGN}, f.at)
                ELSE coalesce(c.process_status_since, f.at) END AS at
        FROM fallen AS f JOIN clients AS c ON c.uuid = f.client_uuid AND c.status = f.to_status
        LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
        UNION ALL
        SELECT uuid, service_failed_at, service_failed_unit, 'service_failed', service_failed_at
        FROM clients WHERE service_failed_at > CAST(:noticed AS timestamptz)
        UNION ALL
        SELECT uuid, mqtt_last_disconnect_at, NULL, 'disconnected', mqtt_last_disconnect_at
        FROM clients WHERE mqtt_last_disconnect_at > greatest(CAST(:noticed AS timestamptz),
            CAST(:heard AS timestamptz)) AND mqtt_last_disconnect_at <= CAST(:now AS timestamptz))
    SELECT f.uuid, c.site, subnet_of(c.ip) AS subnet, f.symptom, f.at, f.unit,
        (SELECT m.incident_id FROM incident_members AS m JOIN incidents AS i ON i.id = m.incident_id
            WHERE m.client_uuid = f.uuid AND i.closed_at IS NULL ORDER BY m.joined_at DESC LIMIT 1) AS was_in
    FROM failed AS f JOIN clients AS c ON c.uuid = f.uuid AND c.deleted_at IS NULL
    WHERE f.at > CAST(:happened AS timestamptz) AND NOT EXISTS (
        SELECT FROM incident_members AS m WHERE m.client_uuid = f.uuid
            AND (m.left_at IS NULL OR m.left_at >= f.noticed_at))
    ORDER BY f.uuid
    """  # noqa: S608 - made of constants
)


def failed(connection: Connection, now: datetime, since: Since) -> list[Failure]:
    """Failures of displays that are in no open incident, but for what an incident they left has told of already."""
    times = {"now": now, "noticed": since.noticed, "happened": since.happened, "heard": since.heard}
    return [
        Failure(row.uuid, row.site, row.subnet, Symptom(row.symptom), row.at, row.unit, row.was_in)
        for row in connection.execute(_FAILED, times)
    ]


def sites(connection: Connection, names: Collection[str], heard_since: datetime) -> dict[str, int]:
    """How many displays of each of these sites were heard since then."""
    return _sizes(connection, clients.c.site, names, heard_since)


def subnets(connection: Connection, names: Collection[str], heard_since: datetime) -> dict[str, int]:
    """How many displays of each of these subnets were heard since then."""
    return _sizes(connection, sa.func.subnet_of(clients.c.ip), names, heard_since)


def _sizes(connection: Connection, place: Any, names: Collection[str], heard_since: datetime) -> dict[str, int]:
    heard = heard_since < _LAST_SIGN
    query = (
        sa.select(place, sa.func.count())
        .join_from(clients, client_heartbeats, client_heartbeats.c.client_uuid == clients.c.uuid)
        .where(place == sa.any_(sa.literal(list(names), sa.ARRAY(sa.Text))), clients.c.deleted_at.is_(None), heard)
        .group_by(place)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def fleet(connection: Connection, heard_since: datetime) -> int:
    """How many displays were heard since then: reads every heartbeat, so it is asked for a cluster only."""
    query = sa.select(sa.func.count()).select_from(client_heartbeats).where(heard_since < _LAST_SIGN)
    return int(connection.execute(query).scalar_one())


def open_incidents(connection: Connection) -> list[OpenIncident]:
    """Every open incident of displays, the oldest first."""
    query = (
        sa.select(
            incidents.c.id,
            incidents.c.kind,
            incidents.c.key,
            sa.func.percentile_disc(0.5).within_group(incident_members.c.failed_at).label("moment"),
            sa.func.min(incident_members.c.failed_at).label("first_failed_at"),
            sa.func.max(incident_members.c.failed_at).label("last_failed_at"),
            sa.func.array_agg(sa.distinct(clients.c.site)).label("sites"),
            sa.func.array_agg(sa.distinct(incident_members.c.symptom)).label("symptoms"),
        )
        .join_from(incidents, incident_members, incident_members.c.incident_id == incidents.c.id)
        .join(clients, clients.c.uuid == incident_members.c.client_uuid)
        .where(incidents.c.closed_at.is_(None), incidents.c.kind != IncidentKind.LISTENING.value)
        .group_by(incidents.c.id)
        .order_by(incidents.c.id)
    )
    return [_open(row) for row in connection.execute(query)]


def _open(row: Row[Any]) -> OpenIncident:
    sites, symptoms = frozenset(row.sites), frozenset(map(Symptom, row.symptoms))
    times = (row.moment, row.first_failed_at, row.last_failed_at)
    return OpenIncident(row.id, IncidentKind(row.kind), row.key, *times, sites, symptoms)


def reopen(connection: Connection, kind: IncidentKind, key: str, closed_since: datetime) -> int | None:
    """Open the latest incident of this place that was closed since then once more; None when there is none."""
    latest = (
        sa.select(incidents.c.id)
        .where(incidents.c.kind == kind.value, incidents.c.key == key, incidents.c.merged_into.is_(None))
        .where(incidents.c.closed_at >= closed_since)
        .order_by(incidents.c.closed_at.desc(), incidents.c.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    again = sa.update(incidents).where(incidents.c.id == latest).values(closed_at=None)
    return connection.execute(again.returning(incidents.c.id)).scalar_one_or_none()


def find_open(connection: Connection, kind: IncidentKind, key: str) -> int | None:
    """The open incident of this place."""
    mine = (incidents.c.kind == kind.value, incidents.c.key == key, incidents.c.closed_at.is_(None))
    return connection.execute(sa.select(incidents.c.id).where(*mine)).scalar_one_or_none()


def insert(connection: Connection, now: datetime, kind: IncidentKind, key: str, began_at: datetime, words: str) -> int:
    """A new incident; a place has one open at most."""
    values = {"kind": kind.value, "key": key, "began_at": began_at, "opened_at": now, "cause": words}
    return int(connection.execute(sa.insert(incidents).values(**values).returning(incidents.c.id)).scalar_one())


def add_members(connection: Connection, now: datetime, incident_id: int, failures: Iterable[Failure]) -> int:
    """Put displays into an incident; how many. One that is in an open incident stays where it is."""
    statement = sa.text(  # one parameter for the whole batch
        """
        INSERT INTO incident_members (incident_id, client_uuid, joined_at, symptom, unit, failed_at)
        SELECT CAST(:incident_id AS bigint), uuid, CAST(:now AS timestamptz), symptom, unit, at
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS f(uuid text, symptom text, unit text, at timestamptz)
        ORDER BY uuid ON CONFLICT DO NOTHING
        """
    )
    rows = [{"uuid": f.uuid, "symptom": f.symptom.value, "unit": f.unit, "at": f.at} for f in failures]
    values = {"incident_id": incident_id, "now": now, "rows": msgspec.json.encode(rows).decode()}
    return connection.execute(statement, values).rowcount


def absorb(connection: Connection, now: datetime, into: int, absorbed: Collection[int]) -> Sequence[int]:
    """Close incidents that turned out to be part of another one, which gets their members; which ones were open."""
    statement = sa.text(
        """
        WITH part AS (
            UPDATE incidents SET closed_at = CAST(:now AS timestamptz), merged_into = CAST(:into AS bigint)
            WHERE id = ANY(CAST(:absorbed AS bigint[])) AND closed_at IS NULL RETURNING id),
        moved AS (
            UPDATE incident_members SET incident_id = CAST(:into AS bigint)
            WHERE incident_id IN (SELECT id FROM part))
        SELECT id FROM part ORDER BY id
        """
    )
    values = {"now": now, "into": into, "absorbed": list(absorbed)}
    return connection.execute(statement, values).scalars().all()


def leave_well(connection: Connection, now: datetime) -> int:
    """Let every member leave that is well again or is no client any more; how many.

    A failed service is well when it was acknowledged; everything else when the display is heard and its player
    has not crashed. While its state is unknown a display stays.
    """
    statement = sa.text(
        """
        UPDATE incident_members AS m SET left_at = CAST(:now AS timestamptz) FROM clients AS c
        WHERE m.left_at IS NULL AND c.uuid = m.client_uuid AND (c.deleted_at IS NOT NULL
            OR c.status IN ('running', 'late', 'starting', 'stopped')
                AND (m.symptom <> 'service_failed' OR c.service_failed_at IS NULL))
        """
    )
    return connection.execute(statement, {"now": now}).rowcount


def close_quiet(connection: Connection, now: datetime, well_since: datetime) -> Sequence[int]:
    """Close incidents of displays without a member since then; which ones."""
    of_it = incident_members.c.incident_id == incidents.c.id
    present = sa.exists().where(of_it, incident_members.c.left_at.is_(None))
    last_left = sa.select(sa.func.max(incident_members.c.left_at)).where(of_it).scalar_subquery()
    statement = (
        sa.update(incidents)
        .where(incidents.c.closed_at.is_(None), incidents.c.kind != IncidentKind.LISTENING.value)
        .where(sa.not_(present), sa.func.coalesce(last_left, incidents.c.opened_at) <= well_since)
        .values(closed_at=now)
    )
    return connection.execute(statement.returning(incidents.c.id)).scalars().all()


def close_listening(connection: Connection, now: datetime) -> Sequence[int]:
    """Close the incident of our own, if it is open."""
    mine = (incidents.c.kind == IncidentKind.LISTENING.value, incidents.c.closed_at.is_(None))
    statement = sa.update(incidents).where(*mine).values(closed_at=now)
    return connection.execute(statement.returning(incidents.c.id)).scalars().all()


def facts(connection: Connection, incident_id: int) -> Facts:
    """What is known of the members of an incident that has some, for its cause in words."""
    statement = sa.text(
        """
        WITH member AS (
            SELECT DISTINCT ON (client_uuid) client_uuid, symptom, unit, failed_at FROM incident_members
            WHERE incident_id = :id ORDER BY client_uuid, joined_at)
        SELECT i.kind, i.key, i.group_size, min(m.failed_at) AS first_at, max(m.failed_at) AS last_at,
            count(*) FILTER (WHERE m.symptom = 'silent') AS silent,
            count(*) FILTER (WHERE m.symptom = 'crashed') AS crashed,
            count(*) FILTER (WHERE m.symptom = 'service_failed') AS service_failed,
            count(*) FILTER (WHERE m.symptom = 'disconnected') AS disconnected,
            count(DISTINCT c.site) AS sites,
            CASE WHEN count(DISTINCT m.unit) = 1 THEN min(m.unit) END AS unit
        FROM incidents AS i JOIN member AS m ON true JOIN clients AS c ON c.uuid = m.client_uuid
        WHERE i.id = :id GROUP BY i.id
        """
    )
    row = connection.execute(statement, {"id": incident_id}).one()
    counts = (row.silent, row.crashed, row.service_failed, row.disconnected)
    symptoms = {symptom: count for symptom, count in zip(Symptom, counts, strict=True) if count}
    kind = IncidentKind(row.kind)
    return Facts(kind, row.key, row.group_size, symptoms, row.first_at, row.last_at, row.sites, row.unit)


def describe(connection: Connection, incident_id: int, words: str, began_at: datetime) -> None:
    """Write the cause in words, and when the first display failed."""
    mine = incidents.c.id == incident_id
    connection.execute(sa.update(incidents).where(mine).values(cause=words, began_at=began_at))


def set_size(connection: Connection, incident_id: int, size: int) -> None:
    """Keep how large the incident's place is; never smaller than it was."""
    larger = sa.func.greatest(sa.func.coalesce(incidents.c.group_size, 0), size)
    connection.execute(sa.update(incidents).where(incidents.c.id == incident_id).values(group_size=larger))


def record(
    connection: Connection, now: datetime, incident_ids: Collection[int], kind: IncidentEventKind, words: str
) -> None:
    """Write into the timelines of these incidents."""
    if rows := [{"incident_id": i, "at": now, "kind": kind.value, "words": words} for i in incident_ids]:
        connection.execute(sa.insert(incident_events).values(rows))


def open_of(connection: Connection, uuids: Collection[str]) -> list[tuple[str, int, str]]:
    """(uuid, incident id, cause) of those of these clients that are in an open incident and unwell still."""
    present = incident_members.c.left_at.is_(None)
    query = (
        sa.select(incident_members.c.client_uuid, incidents.c.id, incidents.c.cause)
        .join_from(incident_members, incidents, incidents.c.id == incident_members.c.incident_id)
        .where(present, incident_members.c.client_uuid == sa.any_(sa.literal(list(uuids), sa.ARRAY(sa.Text))))
    )
    return [(uuid, number, cause) for uuid, number, cause in connection.execute(query)]


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget incidents closed before then, with members and events; how many."""
    return connection.execute(sa.delete(incidents).where(incidents.c.closed_at < before)).rowcount
