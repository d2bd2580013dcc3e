"""SQL that keeps incidents: what failed lately, what is open, and each step of an incident's life.

Every statement costs what failed lately or is open, not what the fleet is: recent changes of state have an
index of their own, and so have site, subnet and the last loss of the broker.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, Row

from shared.clients.signs_store import LAST_SIGN
from shared.incidents.causes_rules import Facts, Place
from shared.incidents.rules import FailedDisplay, JoinableIncident
from shared.tables import client_heartbeats, clients, incident_events, incident_members, incidents, scheduler_status
from shared.vocabulary import IncidentEventKind, IncidentKind, Symptom

_LAST_SIGN: Final = sa.func.greatest(client_heartbeats.c.last_heartbeat_at, client_heartbeats.c.sign_at)
INCIDENTS_LOCK: Final = 7_305_006  # advisory lock of the transaction that groups
STEADY_AFTER: Final = timedelta(minutes=2)  # a connection kept for so long: the display is back
SURE_WITHIN: Final = timedelta(minutes=5)  # a loss counts where we know when it was as well as that


@dataclass(frozen=True)
class Since:
    """From when on something counts as lately."""

    noticed: datetime  # failures noticed after
    happened: datetime  # and that happened after


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
        SELECT DISTINCT ON (client_uuid) client_uuid, coalesce(noticed_at, at) AS at, to_status
        FROM client_state_changes
        WHERE coalesce(noticed_at, at) > CAST(:noticed AS timestamptz) AND to_status IN ('stale', 'crashed')
        ORDER BY client_uuid, id DESC),
    lost AS (
        SELECT client_uuid, max(at) AS at, (array_agg(since ORDER BY at DESC))[1] AS since
        FROM client_losses WHERE at > CAST(:lost AS timestamptz) AND at <= CAST(:now AS timestamptz)
        GROUP BY client_uuid),
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
        SELECT c.uuid, l.at, NULL, 'disconnected', l.at
        FROM lost AS l JOIN clients AS c ON c.uuid = l.client_uuid AND c.status IN ('running', 'starting', 'stopped')
        WHERE l.at <= CAST(:steady AS timestamptz) AND l.at - l.since <= CAST(:sure AS interval)
            AND l.client_uuid <> ALL(CAST(:unsteady AS text[])))
    SELECT f.uuid, c.site, subnet_of(c.ip) AS subnet, f.symptom, f.at, f.unit, f.noticed_at,
        (SELECT m.incident_id FROM incident_members AS m JOIN incidents AS i ON i.id = m.incident_id
            WHERE m.client_uuid = f.uuid AND i.closed_at IS NULL ORDER BY m.joined_at DESC LIMIT 1) AS was_in
    FROM failed AS f JOIN clients AS c ON c.uuid = f.uuid AND c.deleted_at IS NULL
    WHERE f.at > CAST(:happened AS timestamptz) AND NOT EXISTS (
        SELECT FROM incident_members AS m WHERE m.client_uuid = f.uuid
            AND (m.left_at IS NULL OR m.left_at >= f.noticed_at))
    ORDER BY f.uuid
    """  # noqa: S608 - made of constants
)


def failed(connection: Connection, now: datetime, since: Since, unsteady: Collection[str]) -> list[FailedDisplay]:
    """Failures of displays that are in no open incident, but for what an incident they left has told of already.

    A lost connection counts once the display has kept the next one for a while, where we know when it was lost, and
    of none of these `unsteady` displays, which lose it all the time.
    """
    times = {"now": now, "noticed": since.noticed, "happened": since.happened, "steady": now - STEADY_AFTER}
    values = {**times, "lost": since.noticed - STEADY_AFTER, "sure": SURE_WITHIN, "unsteady": list(unsteady)}
    return [
        FailedDisplay(
            row.uuid, row.site, row.subnet, Symptom(row.symptom), row.at, row.unit, row.was_in, row.noticed_at
        )
        for row in connection.execute(_FAILED, values)
    ]


_MEMBERS_AT: Final = sa.text(
    """
    SELECT m.client_uuid, m.incident_id, m.symptom, m.unit, m.failed_at, c.site, subnet_of(c.ip) AS subnet
    FROM incident_members AS m
    JOIN incidents AS i ON i.id = m.incident_id AND i.closed_at IS NULL AND i.kind = 'cluster'
    JOIN clients AS c ON c.uuid = m.client_uuid
    WHERE m.left_at IS NULL
        AND (c.site = ANY(CAST(:sites AS text[])) OR subnet_of(c.ip) = ANY(CAST(:subnets AS text[])))
    ORDER BY m.client_uuid
    """
)


def members_at(connection: Connection, sites: Collection[str], subnets: Collection[str]) -> list[FailedDisplay]:
    """The displays at these places that are unwell and part of an open cluster."""
    found = connection.execute(_MEMBERS_AT, {"sites": list(sites), "subnets": list(subnets)})
    return [
        FailedDisplay(
            row.client_uuid, row.site, row.subnet, Symptom(row.symptom), row.failed_at, row.unit, is_in=row.incident_id
        )
        for row in found
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


_OPEN: Final = sa.text(
    """
    WITH member AS (
        SELECT m.incident_id, m.client_uuid, m.failed_at, m.symptom, c.site, i.kind
        FROM incidents AS i JOIN incident_members AS m ON m.incident_id = i.id
        JOIN clients AS c ON c.uuid = m.client_uuid
        WHERE i.closed_at IS NULL AND i.kind <> 'listening'),
    crowd AS (
        SELECT incident_id, count(*) AS crowds FROM (
            SELECT incident_id, site, count(DISTINCT client_uuid) AS members FROM member
            WHERE kind = 'cluster' AND site IS NOT NULL GROUP BY incident_id, site
            HAVING count(DISTINCT client_uuid) >= CAST(:least AS integer)) AS at
        WHERE 100 * members >= CAST(:percent AS integer)
            * (SELECT count(*) FROM clients AS c WHERE c.site = at.site AND c.deleted_at IS NULL)
        GROUP BY incident_id)
    SELECT i.id, i.kind, i.key, percentile_disc(0.5) WITHIN GROUP (ORDER BY m.failed_at) AS moment,
        min(m.failed_at) AS first_failed_at, max(m.failed_at) AS last_failed_at,
        array_agg(DISTINCT m.site) AS sites, array_agg(DISTINCT m.symptom) AS symptoms,
        coalesce((SELECT crowds FROM crowd WHERE crowd.incident_id = i.id), 0) AS crowds
    FROM incidents AS i JOIN member AS m ON m.incident_id = i.id GROUP BY i.id ORDER BY i.id
    """
)


def open_incidents(connection: Connection, least: int, percent: int) -> list[JoinableIncident]:
    """Every open incident of displays, the oldest first; a site with so many members of a cluster is crowded."""
    return [_open(row) for row in connection.execute(_OPEN, {"least": least, "percent": percent})]


def _open(row: Row[Any]) -> JoinableIncident:
    sites, symptoms = frozenset(row.sites), frozenset(map(Symptom, row.symptoms))
    times = (row.moment, row.first_failed_at, row.last_failed_at)
    return JoinableIncident(row.id, IncidentKind(row.kind), row.key, *times, sites, symptoms, row.crowds)


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


def add_members(connection: Connection, now: datetime, incident_id: int, failures: Iterable[FailedDisplay]) -> int:
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


def claim(connection: Connection, into: int, uuids: Collection[str], since: datetime) -> Sequence[int]:
    """Move displays, as they failed since then, from open clusters into this incident; which clusters lost some."""
    statement = sa.text(
        """
        WITH moved AS (
            SELECT m.incident_id, m.client_uuid, m.joined_at FROM incident_members AS m
            JOIN incidents AS i ON i.id = m.incident_id AND i.closed_at IS NULL AND i.kind = 'cluster'
            WHERE m.client_uuid = ANY(CAST(:uuids AS text[])) AND i.id <> CAST(:into AS bigint)
                AND m.failed_at >= CAST(:since AS timestamptz)),
        done AS (
            UPDATE incident_members AS m SET incident_id = CAST(:into AS bigint) FROM moved
            WHERE (m.incident_id, m.client_uuid, m.joined_at)
                = (moved.incident_id, moved.client_uuid, moved.joined_at))
        SELECT DISTINCT incident_id FROM moved ORDER BY incident_id
        """
    )
    return connection.execute(statement, {"into": into, "uuids": list(uuids), "since": since}).scalars().all()


def dissolve(connection: Connection, now: datetime, into: int, waned: Collection[int], least: int) -> Sequence[int]:
    """Close those of these clusters that have fewer members left than this, and forget those; which ones.

    They failed by themselves: what made them a group was the place that `into` is about.
    """
    statement = sa.text(
        """
        WITH small AS (
            SELECT i.id FROM incidents AS i LEFT JOIN incident_members AS m ON m.incident_id = i.id
            WHERE i.id = ANY(CAST(:waned AS bigint[])) GROUP BY i.id
            HAVING count(DISTINCT m.client_uuid) < CAST(:least AS integer)),
        forgotten AS (DELETE FROM incident_members WHERE incident_id IN (SELECT id FROM small))
        UPDATE incidents SET closed_at = CAST(:now AS timestamptz), merged_into = CAST(:into AS bigint)
        WHERE id IN (SELECT id FROM small) RETURNING id
        """
    )
    values = {"now": now, "into": into, "waned": list(waned), "least": least}
    return connection.execute(statement, values).scalars().all()


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


_FACTS: Final = sa.text(
    """
    WITH member AS (
        SELECT DISTINCT ON (m.client_uuid)
            m.client_uuid, m.symptom, m.unit, m.failed_at, c.site, subnet_of(c.ip) AS subnet
        FROM incident_members AS m JOIN clients AS c ON c.uuid = m.client_uuid
        WHERE m.incident_id = :id ORDER BY m.client_uuid, m.joined_at),
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
        count(DISTINCT m.site) AS sites,
        CASE WHEN count(DISTINCT m.unit) = 1 THEN min(m.unit) END AS unit,
        p.kind AS place_kind, p.key AS place_key, p.members AS place_members
    FROM incidents AS i JOIN member AS m ON true LEFT JOIN place AS p ON i.kind = 'cluster'
    WHERE i.id = :id GROUP BY i.id, p.kind, p.key, p.members
    """
)


def facts(connection: Connection, incident_id: int, heard_since: datetime) -> Facts:
    """What is known of the members of an incident that has some, for its cause in words.

    A place is as large as its displays that were heard since then.
    """
    row = connection.execute(_FACTS, {"id": incident_id}).one()
    counts = (row.silent, row.crashed, row.service_failed, row.disconnected)
    symptoms = {symptom: count for symptom, count in zip(Symptom, counts, strict=True) if count}
    kind, place = IncidentKind(row.kind), None
    if row.place_members is not None and 2 * row.place_members >= sum(counts):
        sizes = (sites if row.place_kind == "site" else subnets)(connection, [row.place_key], heard_since)
        place = Place(IncidentKind(row.place_kind), row.place_key, row.place_members, sizes.get(row.place_key, 0))
    times = (row.first_at, row.last_at)
    return Facts(kind, row.key, row.group_size, symptoms, *times, row.sites, row.unit, place)


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
