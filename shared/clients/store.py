"""SQL on clients as people see them. What displays report about themselves is written by `clients/reports`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from shared.clients.losses_store import UNSTEADY_LOSSES
from shared.clients.signs_store import REFUSED_LATELY
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import END_OF_TIME, is_open, may_be_on
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import (
    ClientStatus,
    CommandAction,
    CommandSource,
    CommandState,
    DeadLetterReason,
    Presence,
    ProcessStatus,
    RegisteredBy,
    ScreenHealthStatus,
)


@dataclass(frozen=True)
class ShownClient:
    """What every view of a client shows: the client, its last heartbeat and its open command."""

    uuid: str
    name: str
    site: str | None
    tags: list[str]
    process_status: ProcessStatus
    process_status_since: datetime | None
    status: ClientStatus
    status_since: datetime
    last_heartbeat_at: datetime | None
    interval_seconds: int | None
    sign_at: datetime | None
    screen_health: ScreenHealthStatus
    service_failed_at: datetime | None
    service_failed_unit: str | None
    mqtt_reconnect_count: int | None
    mqtt_last_disconnect_at: datetime | None
    shared_login_seen_at: datetime | None
    presence: Presence
    app_version: str | None
    ip: str | None
    hostname: str | None
    lockout_until: datetime | None
    command_id: str | None
    command_action: CommandAction | None
    command_state: CommandState | None
    command_source: CommandSource | None
    command_created_at: datetime | None
    command_expires_at: datetime | None


@dataclass(frozen=True)
class ClientState:
    """What says whether a client is unwell."""

    uuid: str
    status: ClientStatus
    process_status: ProcessStatus
    service_failed_at: datetime | None


@dataclass(frozen=True)
class RefusedRow:
    """What a client sent within a day that was put aside: how often, of which kind and why."""

    kind: str
    reason: DeadLetterReason
    count: int
    last_at: datetime


@dataclass(frozen=True)
class WholeClient(ShownClient):
    """What the page of one client shows."""

    incident_id: int | None
    incident_cause: str | None
    windows_begun: bool
    """Whether any maintenance window may be on."""
    unsteady_losses: int | None
    code_until: datetime | None
    notes: str
    registered_by: str
    created_at: datetime
    os: str | None
    log_level: str | None
    capabilities: list[str] | None
    presence_at: datetime | None
    counter_went_back_at: datetime | None
    service_failed_cleared_at: datetime | None
    service_failed_cleared_by: str | None
    service_failed_cleared_unit: str | None
    boot_id: str | None
    app_instance: str | None
    health_received_at: datetime | None
    cpu_percent: float | None
    memory_percent: float | None
    disk_percent: float | None
    temperature_celsius: float | None
    refused: list[RefusedRow] | None


@dataclass(frozen=True)
class ShownFailure:
    """The service failure of a client as it stands; None: there is none."""

    service_failed_at: datetime | None
    service_failed_unit: str | None


@dataclass(frozen=True)
class PastFailure:
    """A service failure that somebody acknowledged."""

    uuid: str
    name: str
    site: str | None
    unit: str | None
    acknowledged_at: datetime
    acknowledged_by: str


OF_HEARTBEATS: Final = frozenset({"last_heartbeat_at", "interval_seconds", "sign_at", "boot_id", "app_instance"})


def _source_of(column: str) -> str:
    """SQL: where a column of ShownClient stands, by the aliases of SHOWN_FROM."""
    if column.startswith("command_"):
        return f"k.{column.removeprefix('command_')}"
    return f"{'h' if column in OF_HEARTBEATS else 'c'}.{column}"


SHOWN: Final[Mapping[str, str]] = {field.name: _source_of(field.name) for field in fields(ShownClient)}
"""The columns of a ShownClient, and the SQL of each."""
SHOWN_FROM: Final = f"""
    clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND {is_open("k")}"""
_COLUMNS: Final = ", ".join(f"{source} AS {name}" for name, source in SHOWN.items())
GET = Query(
    f"""
    SELECT {_COLUMNS},
        (SELECT m.incident_id FROM incident_members AS m WHERE m.client_uuid = c.uuid AND m.left_at IS NULL)
            AS incident_id,
        (SELECT i.cause FROM incident_members AS m JOIN incidents AS i ON i.id = m.incident_id
            WHERE m.client_uuid = c.uuid AND m.left_at IS NULL) AS incident_cause,
        EXISTS (SELECT FROM maintenance_windows AS w WHERE {may_be_on("w", "now()")}) AS windows_begun,
        {UNSTEADY_LOSSES} AS unsteady_losses,
        (SELECT max(e.expires_at) FROM enrolment_codes AS e WHERE e.client_uuid = c.uuid AND e.used_at IS NULL)
            AS code_until,
        c.notes, c.registered_by, c.created_at, c.os, c.log_level, c.capabilities, c.presence_at,
        c.counter_went_back_at, c.service_failed_cleared_at, c.service_failed_cleared_by,
        c.service_failed_cleared_unit, h.boot_id, h.app_instance, g.received_at AS health_received_at,
        g.cpu_percent, g.memory_percent, g.disk_percent, g.temperature_celsius, {REFUSED_LATELY} AS refused
    FROM {SHOWN_FROM} LEFT JOIN client_health AS g ON g.client_uuid = c.uuid
    WHERE c.uuid = :uuid AND c.deleted_at IS NULL
    """,  # noqa: S608 - made of constants
    WholeClient,
)


def get(connection: Connection, uuid: str) -> WholeClient | None:
    """One client with its details, or None when there is none or it is deleted."""
    return GET.one_or_none(connection, uuid=uuid)


IS_KNOWN = Query("SELECT EXISTS (SELECT FROM clients WHERE uuid = :uuid AND deleted_at IS NULL)", bool)


def is_known(connection: Connection, uuid: str) -> bool:
    """Whether there is a client with this uuid that is not deleted."""
    return IS_KNOWN.one(connection, uuid=uuid)


@dataclass(frozen=True)
class ClientFilter:
    """Which clients a list holds. Every field narrows it; None leaves it open."""

    status: ClientStatus | None = None
    site: str | None = None
    tag: str | None = None
    version: str | None = None
    text: str | None = None  # part of name, uuid, site, hostname or ip, whatever the case
    stale: bool | None = None
    service_failed: bool | None = None


_SEARCHED: Final = " OR ".join(f"c.{name} ILIKE :text" for name in ("name", "uuid", "site", "hostname", "ip"))
_WANTED: Final = f"""
    c.deleted_at IS NULL
    AND (CAST(:status AS text) IS NULL OR c.status = :status)
    AND (CAST(:site AS text) IS NULL OR c.site = :site)
    AND (CAST(:tag AS text) IS NULL OR c.tags @> ARRAY[CAST(:tag AS text)])
    AND (CAST(:version AS text) IS NULL OR c.app_version = :version)
    AND (CAST(:text AS text) IS NULL OR {_SEARCHED})
    AND (CAST(:stale AS boolean) IS NULL OR (c.status = 'stale') = :stale)
    AND (CAST(:service_failed AS boolean) IS NULL OR (c.service_failed_at IS NOT NULL) = :service_failed)"""
"""SQL: the client is one that a ClientFilter wants."""


def _values(wanted: ClientFilter) -> dict[str, Any]:
    text = (wanted.text or "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return {**vars(wanted), "text": f"%{text}%" if text else None}


PAGE = Query(
    f"""
    SELECT {_COLUMNS} FROM {SHOWN_FROM}
    WHERE {_WANTED} AND (CAST(:name AS text) IS NULL OR (c.name, c.uuid) > (:name, :uuid))
    ORDER BY c.name, c.uuid LIMIT :limit {FOR_ITS_VALUES}
    """,  # noqa: S608 - made of constants
    ShownClient,
)


def page(connection: Connection, wanted: ClientFilter, limit: int, after: tuple[str, str] | None) -> list[ShownClient]:
    """Up to `limit` clients by name, then uuid, that come after the pair `after`."""
    name, uuid = after or (None, None)
    return PAGE.all(connection, **_values(wanted), name=name, uuid=uuid, limit=limit)


MATCHING = Query(
    f"""
    SELECT c.uuid FROM clients AS c WHERE {_WANTED} ORDER BY c.name, c.uuid LIMIT :limit {FOR_ITS_VALUES}
    """,  # noqa: S608 - made of constants
    str,
)


def matching(connection: Connection, wanted: ClientFilter, limit: int) -> list[str]:
    """The uuids of up to `limit` clients that fit, by name, then uuid."""
    return MATCHING.all(connection, **_values(wanted), limit=limit)


REGISTER = Query(
    """
    INSERT INTO clients (uuid, created_at, status_since, registered_by) VALUES (:uuid, :now, :now, :by)
    ON CONFLICT DO NOTHING
    """,
    NO_ROW,
)


def register(connection: Connection, now: datetime, uuid: str, registered_by: RegisteredBy) -> bool:
    """A new client with this uuid; False when one exists, deleted or not."""
    return REGISTER.run(connection, now=now, uuid=uuid, by=registered_by) == 1


UPDATE_FACTS = Query(
    """
    UPDATE clients SET name = CASE WHEN 'name' = ANY(CAST(:given AS text[])) THEN :name ELSE name END,
        site = CASE WHEN 'site' = ANY(CAST(:given AS text[])) THEN :site ELSE site END,
        tags = CASE WHEN 'tags' = ANY(CAST(:given AS text[])) THEN :tags ELSE tags END,
        notes = CASE WHEN 'notes' = ANY(CAST(:given AS text[])) THEN :notes ELSE notes END
    WHERE uuid = :uuid AND deleted_at IS NULL
    """,
    NO_ROW,
)
FACTS: Final = ("name", "site", "tags", "notes")


def update_facts(connection: Connection, uuid: str, facts: Mapping[str, Any]) -> bool:
    """Write what people say of a client (FACTS), as far as it is given; False when there is none."""
    values = {name: facts.get(name) for name in FACTS}
    return UPDATE_FACTS.run(connection, uuid=uuid, given=list(facts), **values) == 1


TOMBSTONE = Query("UPDATE clients SET deleted_at = :now WHERE uuid = :uuid AND deleted_at IS NULL", NO_ROW)


def tombstone(connection: Connection, now: datetime, uuid: str) -> bool:
    """Mark a client deleted; its history stays. False when there is none or it is deleted already."""
    return TOMBSTONE.run(connection, now=now, uuid=uuid) == 1


LOCK_FAILURE = Query(
    """
    SELECT service_failed_at, service_failed_unit FROM clients WHERE uuid = :uuid AND deleted_at IS NULL FOR UPDATE
    """,
    ShownFailure,
)


def lock_failure(connection: Connection, uuid: str) -> ShownFailure | None:
    """The client's failure as it stands, its row locked until the transaction ends; None for no such client."""
    return LOCK_FAILURE.one_or_none(connection, uuid=uuid)


CLEAR_SERVICE_FAILED = Query(
    """
    WITH cleared AS (
        UPDATE clients SET service_failed_at = NULL, service_failed_unit = NULL, service_failed_stamp = NULL,
            service_failed_cleared_at = :now, service_failed_cleared_by = :by,
            service_failed_cleared_unit = service_failed_unit, service_failed_cleared_stamp = service_failed_stamp
        WHERE uuid = :uuid AND service_failed_at IS NOT NULL
        RETURNING uuid, service_failed_cleared_at, service_failed_cleared_unit, service_failed_cleared_by)
    INSERT INTO service_failure_events (client_uuid, at, event, unit, by)
    SELECT uuid, service_failed_cleared_at, 'cleared', service_failed_cleared_unit, service_failed_cleared_by
    FROM cleared
    """,
    NO_ROW,
)


def clear_service_failed(connection: Connection, now: datetime, uuid: str, by: str) -> bool:
    """Take the failure off the client, remember which one it was, and keep it in its history; False without one."""
    return CLEAR_SERVICE_FAILED.run(connection, now=now, uuid=uuid, by=by) == 1


RECENTLY_CLEARED = Query(
    """
    SELECT uuid, name, site, service_failed_cleared_unit AS unit, service_failed_cleared_at AS acknowledged_at,
        service_failed_cleared_by AS acknowledged_by
    FROM clients
    WHERE service_failed_cleared_at > :since AND deleted_at IS NULL AND service_failed_cleared_at <= :at
        AND (service_failed_cleared_at < :at OR uuid > :uuid)
    ORDER BY service_failed_cleared_at DESC, uuid LIMIT :limit
    """,
    PastFailure,
)


def recently_cleared(
    connection: Connection, since: datetime, limit: int, after: tuple[datetime, str] | None = None
) -> list[PastFailure]:
    """Failures acknowledged after `since`, the newest first, with who did it.

    `after`: time of the acknowledgement and uuid of the last one of the page before.
    """
    at, uuid = after or (END_OF_TIME, "")
    return RECENTLY_CLEARED.all(connection, since=since, limit=limit, at=at, uuid=uuid)
