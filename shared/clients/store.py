"""SQL on clients as people see them. What displays report about themselves is written by `clients/reports`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypedDict

import sqlalchemy as sa
from sqlalchemy import Connection, RowMapping
from sqlalchemy.dialects.postgresql import insert

from shared.clients.losses_store import UNSTEADY_LOSSES
from shared.clients.signs_store import REFUSED_LATELY
from shared.postgres.driver import FOR_ITS_VALUES
from shared.tables import (
    client_commands,
    client_health,
    client_heartbeats,
    clients,
    enrolment_codes,
    incident_members,
    incidents,
    maintenance_windows,
    service_failure_events,
)
from shared.vocabulary import TERMINAL_RANK, ClientStatus, FailureEvent, RegisteredBy

SHOWN = (
    clients.c.uuid,
    clients.c.name,
    clients.c.site,
    clients.c.tags,
    clients.c.process_status,
    clients.c.process_status_since,
    clients.c.status,
    clients.c.status_since,
    client_heartbeats.c.last_heartbeat_at,
    client_heartbeats.c.interval_seconds,
    client_heartbeats.c.sign_at,
    clients.c.screen_health,
    clients.c.service_failed_at,
    clients.c.service_failed_unit,
    clients.c.mqtt_reconnect_count,
    clients.c.mqtt_last_disconnect_at,
    clients.c.shared_login_seen_at,
    clients.c.presence,
    clients.c.app_version,
    clients.c.ip,
    clients.c.hostname,
    clients.c.lockout_until,
    client_commands.c.id.label("command_id"),
    client_commands.c.action.label("command_action"),
    client_commands.c.state.label("command_state"),
    client_commands.c.source.label("command_source"),
    client_commands.c.created_at.label("command_created_at"),
    client_commands.c.expires_at.label("command_expires_at"),
)
"""What every view of a client shows: the client, its last heartbeat and its open command."""


class ShownRow(TypedDict):
    """A row of SHOWN that Postgres wrote as JSON."""

    uuid: str
    name: str
    site: str | None
    tags: list[str]
    process_status: str
    process_status_since: datetime | None
    status: str
    status_since: datetime
    last_heartbeat_at: datetime | None
    interval_seconds: int | None
    sign_at: datetime | None
    screen_health: str
    service_failed_at: datetime | None
    service_failed_unit: str | None
    mqtt_reconnect_count: int | None
    mqtt_last_disconnect_at: datetime | None
    shared_login_seen_at: datetime | None
    presence: str
    app_version: str | None
    ip: str | None
    hostname: str | None
    lockout_until: datetime | None
    command_id: str | None
    command_action: str | None
    command_state: str | None
    command_source: str | None
    command_created_at: datetime | None
    command_expires_at: datetime | None


OPEN: Final = sa.literal_column(f"client_commands.rank < {TERMINAL_RANK}", sa.Boolean)
"""The command is open; spelt out, because a partial index serves it."""

_stay = sa.and_(incident_members.c.client_uuid == clients.c.uuid, incident_members.c.left_at.is_(None))
_incident = sa.select(incidents.c.cause).join_from(incident_members, incidents).where(_stay)
_begun = sa.and_(maintenance_windows.c.starts_at <= sa.func.now(), maintenance_windows.c.ended_at.is_(None))
_last_end = maintenance_windows.c.last_ends_at
DETAILS = (
    sa.select(incident_members.c.incident_id).where(_stay).scalar_subquery().label("incident_id"),
    _incident.scalar_subquery().label("incident_cause"),
    sa.exists().where(_begun, sa.or_(_last_end.is_(None), _last_end > sa.func.now())).label("windows_begun"),
    sa.literal_column(UNSTEADY_LOSSES, sa.BigInteger).label("unsteady_losses"),
    sa.select(sa.func.max(enrolment_codes.c.expires_at))
    .where(enrolment_codes.c.client_uuid == clients.c.uuid, enrolment_codes.c.used_at.is_(None))
    .scalar_subquery()
    .label("code_until"),
    clients.c.notes,
    clients.c.registered_by,
    clients.c.created_at,
    clients.c.os,
    clients.c.log_level,
    clients.c.capabilities,
    clients.c.presence_at,
    clients.c.counter_went_back_at,
    clients.c.service_failed_cleared_at,
    clients.c.service_failed_cleared_by,
    clients.c.service_failed_cleared_unit,
    client_heartbeats.c.boot_id,
    client_heartbeats.c.app_instance,
    client_health.c.received_at.label("health_received_at"),
    client_health.c.cpu_percent,
    client_health.c.memory_percent,
    client_health.c.disk_percent,
    client_health.c.temperature_celsius,
    sa.literal_column(REFUSED_LATELY, sa.JSON).label("refused"),
)
"""What the page of one client shows besides."""


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


def shown(*more: Any) -> sa.Select[Any]:
    """The SELECT of every client that is not deleted, with its heartbeat and its open command."""
    open_command = sa.and_(client_commands.c.client_uuid == clients.c.uuid, OPEN)
    source = clients.outerjoin(client_heartbeats, client_heartbeats.c.client_uuid == clients.c.uuid).outerjoin(
        client_commands, open_command
    )
    if more:
        source = source.outerjoin(client_health, client_health.c.client_uuid == clients.c.uuid)
    return sa.select(*SHOWN, *more).select_from(source).where(clients.c.deleted_at.is_(None))


def get(connection: Connection, uuid: str) -> RowMapping | None:
    """One client with its details, or None when there is none or it is deleted."""
    return connection.execute(shown(*DETAILS).where(clients.c.uuid == uuid)).mappings().one_or_none()


_KNOWN: Final = sa.select(sa.exists().where(clients.c.uuid == sa.bindparam("uuid"), clients.c.deleted_at.is_(None)))


def is_known(connection: Connection, uuid: str) -> bool:
    """Whether there is a client with this uuid that is not deleted."""
    return bool(connection.execute(_KNOWN, {"uuid": uuid}).scalar_one())


def page(
    connection: Connection, wanted: ClientFilter, limit: int, after: tuple[str, str] | None
) -> Sequence[RowMapping]:
    """Up to `limit` clients by name, then uuid, that come after the pair `after`."""
    query = shown().where(*_conditions(wanted)).order_by(clients.c.name, clients.c.uuid).limit(limit)
    if after is not None:
        query = query.where(
            sa.tuple_(clients.c.name, clients.c.uuid) > sa.tuple_(*(sa.cast(v, sa.Text) for v in after))
        )
    return connection.execute(query.suffix_with(FOR_ITS_VALUES)).mappings().all()


def matching(connection: Connection, wanted: ClientFilter, limit: int) -> list[str]:
    """The uuids of up to `limit` clients that fit, by name, then uuid."""
    live = clients.c.deleted_at.is_(None)
    query = sa.select(clients.c.uuid).where(live, *_conditions(wanted)).order_by(clients.c.name, clients.c.uuid)
    return list(connection.execute(query.limit(limit).suffix_with(FOR_ITS_VALUES)).scalars())


def _conditions(wanted: ClientFilter) -> list[sa.ColumnElement[bool]]:
    conditions: list[sa.ColumnElement[bool]] = []
    for column, value in ((clients.c.status, wanted.status), (clients.c.site, wanted.site)):
        if value is not None:
            conditions.append(column == value)
    if wanted.version is not None:
        conditions.append(clients.c.app_version == wanted.version)
    if wanted.tag is not None:
        conditions.append(clients.c.tags.contains([wanted.tag]))
    if wanted.stale is not None:
        conditions.append((clients.c.status == ClientStatus.STALE) == wanted.stale)
    if wanted.service_failed is not None:
        conditions.append(clients.c.service_failed_at.is_not(None) == wanted.service_failed)
    if wanted.text:
        searched = (clients.c.name, clients.c.uuid, clients.c.site, clients.c.hostname, clients.c.ip)
        conditions.append(sa.or_(*(column.icontains(wanted.text, autoescape=True) for column in searched)))
    return conditions


def register(connection: Connection, now: datetime, uuid: str, registered_by: RegisteredBy) -> bool:
    """A new client with this uuid; False when one exists, deleted or not."""
    statement = insert(clients).values(uuid=uuid, created_at=now, status_since=now, registered_by=registered_by)
    return connection.execute(statement.on_conflict_do_nothing().returning(clients.c.uuid)).first() is not None


def update_facts(connection: Connection, uuid: str, facts: Mapping[str, Any]) -> bool:
    """Write what people say of a client (name, site, tags, notes); False when there is none."""
    live = (clients.c.uuid == uuid, clients.c.deleted_at.is_(None))
    return connection.execute(sa.update(clients).where(*live).values(**facts)).rowcount == 1


def tombstone(connection: Connection, now: datetime, uuid: str) -> bool:
    """Mark a client deleted; its history stays. False when there is none or it is deleted already."""
    live = (clients.c.uuid == uuid, clients.c.deleted_at.is_(None))
    return connection.execute(sa.update(clients).where(*live).values(deleted_at=now)).rowcount == 1


def lock_failure(connection: Connection, uuid: str) -> RowMapping | None:
    """The client's failure as it stands, its row locked until the transaction ends; None for no such client."""
    query = sa.select(clients.c.service_failed_at, clients.c.service_failed_unit).where(
        clients.c.uuid == uuid, clients.c.deleted_at.is_(None)
    )
    return connection.execute(query.with_for_update()).mappings().one_or_none()


def clear_service_failed(connection: Connection, now: datetime, uuid: str, by: str) -> bool:
    """Take the failure off the client, remember which one it was, and keep it in its history; False without one."""
    failed = (clients.c.uuid == uuid, clients.c.service_failed_at.is_not(None))
    values = {
        "service_failed_at": None,
        "service_failed_unit": None,
        "service_failed_stamp": None,
        "service_failed_cleared_at": now,
        "service_failed_cleared_by": by,
        "service_failed_cleared_unit": clients.c.service_failed_unit,
        "service_failed_cleared_stamp": clients.c.service_failed_stamp,
    }
    returned = (clients.c.uuid, clients.c.service_failed_cleared_unit.label("unit"))
    cleared = sa.update(clients).where(*failed).values(**values).returning(*returned).cte("cleared")
    row = sa.select(
        cleared.c.uuid, sa.literal(now), sa.literal(FailureEvent.CLEARED.value), cleared.c.unit, sa.literal(by)
    )
    history = sa.insert(service_failure_events).from_select(["client_uuid", "at", "event", "unit", "by"], row)
    return connection.execute(history).rowcount == 1


def recently_cleared(
    connection: Connection, since: datetime, limit: int, after: tuple[datetime, str] | None = None
) -> Sequence[RowMapping]:
    """Failures acknowledged after `since`, the newest first, with who did it.

    `after`: time of the acknowledgement and uuid of the last one of the page before.
    """
    cleared_at, uuid = clients.c.service_failed_cleared_at, clients.c.uuid
    query = (
        sa.select(
            clients.c.uuid,
            clients.c.name,
            clients.c.site,
            clients.c.service_failed_cleared_unit.label("unit"),
            clients.c.service_failed_cleared_at.label("acknowledged_at"),
            clients.c.service_failed_cleared_by.label("acknowledged_by"),
        )
        .where(cleared_at > since, clients.c.deleted_at.is_(None))
        .order_by(cleared_at.desc(), uuid)
        .limit(limit)
    )
    if after is not None:
        query = query.where((cleared_at < after[0]) | (cleared_at == after[0]) & (uuid > after[1]))
    return connection.execute(query).mappings().all()
