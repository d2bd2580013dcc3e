"""SQL of clients, for people. `clients/reports` writes the reports of displays."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection

from shared.clients.limits_rules import Reading
from shared.clients.limits_store import MEASURED, PASSED, PassedLimit
from shared.clients.losses_store import UNSTEADY_LOSSES
from shared.clients.screens_rules import SeenPage
from shared.clients.signs_store import REFUSED_LATELY
from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.fragments import may_be_quiet, occupies, screen_failed_since, screen_fails
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import (
    ClientStatus,
    CommandState,
    Presence,
    ProcessStatus,
    RegisteredBy,
    ScreenHealthStatus,
    ScreenOffBy,
)
from shared.words.sentences import Sentence


class ClientState(Struct, frozen=True):
    """The fields that decide whether a client is unwell."""

    uuid: str
    status: ClientStatus
    process_status: ProcessStatus
    service_failed_at: datetime | None
    service_mended_at: datetime | None
    screen_failed_since: datetime | None


class ListedClient(ClientState, frozen=True):
    """The fields of a client that every list of clients shows."""

    name: str
    site: str | None
    tags: list[str]
    status_since: datetime
    last_heartbeat_at: datetime | None
    screen_health: ScreenHealthStatus
    limits: list[PassedLimit]
    service_failed_unit: str | None
    mqtt_reconnect_count: int | None
    mqtt_last_disconnect_at: datetime | None
    shared_login_seen_at: datetime | None
    presence: Presence
    app_version: str | None
    ip: str | None
    hostname: str | None
    lockout_until: datetime | None


class ShownClient(ListedClient, frozen=True):
    """The fields of every view of a client: the client, its last heartbeat and its open command."""

    process_status_since: datetime | None
    interval_seconds: int | None
    sign_at: datetime | None
    command_id: str | None
    command_action: str | None
    command_state: CommandState | None
    command_source: str | None
    command_created_at: datetime | None
    command_expires_at: datetime | None


class RefusedRow(Struct, frozen=True):
    """Refused messages of a client within a day: how many, of which kind and why."""

    kind: str
    reason: str
    count: int
    last_at: datetime


class WholeClient(ShownClient, frozen=True):
    """The fields of the page of one client."""

    incident_id: int | None
    incident_cause: Sentence | None
    may_be_quiet: bool
    """Whether any quiet time may apply."""
    unsteady_losses: int | None
    code_until: datetime | None
    notes: str
    registered_by: str
    created_at: datetime
    os: str | None
    log_level: str | None
    screen_off_by: ScreenOffBy | None
    hours_version: str | None
    hours_wanted: str | None
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
    measured: Reading | None
    """The values that have limits; None: no report has come."""
    orders_refused: str | None
    """As `hours:unknown_zone,…`"""
    page: SeenPage | None
    refused: list[RefusedRow] | None


OF_HEARTBEATS: Final = frozenset({"last_heartbeat_at", "interval_seconds", "sign_at", "boot_id", "app_instance"})


def _source_of(column: str) -> str:
    """SQL: the source of a column of ShownClient, by the aliases of SHOWN_FROM."""
    if column.startswith("command_"):
        return f"k.{column.removeprefix('command_')}"
    if column == "screen_failed_since":
        return screen_failed_since("c")
    if column == "limits":
        return PASSED
    return f"{'h' if column in OF_HEARTBEATS else 'c'}.{column}"


SHOWN: Final[Mapping[str, str]] = {name: _source_of(name) for name in ShownClient.__struct_fields__}
"""The columns of a ShownClient, and the SQL of each."""
SHOWN_FROM: Final = f"""
    clients AS c LEFT JOIN client_heartbeats AS h ON h.client_uuid = c.uuid
    LEFT JOIN client_commands AS k ON k.client_uuid = c.uuid AND {occupies("k")}"""
_COLUMNS: Final = ", ".join(f"{source} AS {name}" for name, source in SHOWN.items())


@query.one_or_none(
    f"""
    SELECT {_COLUMNS},
        (SELECT m.incident_id FROM incident_members AS m WHERE m.client_uuid = c.uuid AND m.left_at IS NULL)
            AS incident_id,
        (SELECT i.cause FROM incident_members AS m JOIN incidents AS i ON i.id = m.incident_id
            WHERE m.client_uuid = c.uuid AND m.left_at IS NULL) AS incident_cause,
        EXISTS (SELECT FROM quiet_times AS q WHERE {may_be_quiet("q", "now()")}) AS may_be_quiet,
        {UNSTEADY_LOSSES} AS unsteady_losses,
        (SELECT max(e.expires_at) FROM enrolment_codes AS e WHERE e.client_uuid = c.uuid AND e.used_at IS NULL)
            AS code_until,
        c.notes, c.registered_by, c.created_at, c.os, c.log_level, c.screen_off_by, c.hours_version,
        c.hours_wanted, c.capabilities, c.presence_at,
        c.counter_went_back_at, c.service_failed_cleared_at, c.service_failed_cleared_by,
        c.service_failed_cleared_unit, h.boot_id, h.app_instance, g.received_at AS health_received_at,
        g.cpu_percent, g.memory_percent, g.disk_percent, g.temperature_celsius, {MEASURED} AS measured,
        g.refused AS orders_refused, g.page,
        {REFUSED_LATELY} AS refused
    FROM {SHOWN_FROM} LEFT JOIN client_health AS g ON g.client_uuid = c.uuid
    WHERE c.uuid = :uuid AND c.deleted_at IS NULL
    """
)
def get(connection: Connection, uuid: str) -> WholeClient | None:
    """One client with its details, or None when there is none or it is deleted."""


@query.one("SELECT EXISTS (SELECT FROM clients WHERE uuid = :uuid AND deleted_at IS NULL)")
def is_known(connection: Connection, uuid: str) -> bool:
    """Whether there is a client with this uuid that is not deleted."""


class ClientFilter(Struct, frozen=True):
    """Which clients a list holds. Every field narrows it; None leaves it open."""

    status: ClientStatus | None = None
    site: str | None = None
    tag: str | None = None
    version: str | None = None
    text: str | None = None  # part of name, uuid, site, hostname or ip, in any case
    stale: bool | None = None
    service_failed: bool | None = None
    screen_failed: bool | None = None


_SEARCHED: Final = ("name", "uuid", "site", "hostname", "ip")


def matches(given: str) -> str:
    """SQL: whether the client `c` matches a ClientFilter.

    `given` precedes the names of its fields: `:` for parameters, `w.` for the columns of a table w. The text is a
    pattern of LIKE.
    """
    searched = " OR ".join(f"c.{name} ILIKE {given}text" for name in _SEARCHED)
    return f"""
    c.deleted_at IS NULL
    AND (CAST({given}status AS text) IS NULL OR c.status = {given}status)
    AND (CAST({given}site AS text) IS NULL OR c.site = {given}site)
    AND (CAST({given}tag AS text) IS NULL OR c.tags @> ARRAY[CAST({given}tag AS text)])
    AND (CAST({given}version AS text) IS NULL OR c.app_version = {given}version)
    AND (CAST({given}text AS text) IS NULL OR {searched})
    AND (CAST({given}stale AS boolean) IS NULL OR (c.status = 'stale') = {given}stale)
    AND (CAST({given}service_failed AS boolean) IS NULL
        OR (c.service_failed_at IS NOT NULL) = {given}service_failed)
    AND (CAST({given}screen_failed AS boolean) IS NULL OR {screen_fails("c")} = {given}screen_failed)"""


_WANTED: Final = matches(":")


def values_of(wanted: ClientFilter) -> dict[str, Any]:
    """The values of the parameters that `matches(":")` names."""
    text = (wanted.text or "").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return {**asdict(wanted), "text": f"%{text}%" if text else None}


PAGE = Query(
    f"""
    SELECT {_COLUMNS} FROM {SHOWN_FROM}
    WHERE {_WANTED} AND (CAST(:name AS text) IS NULL OR (c.name, c.uuid) > (:name, :uuid))
    ORDER BY c.name, c.uuid LIMIT :limit {FOR_ITS_VALUES}
    """,
    ShownClient,
)


def page(connection: Connection, wanted: ClientFilter, limit: int, after: tuple[str, str] | None) -> list[ShownClient]:
    """Up to `limit` clients in the order of (name, uuid), after the pair `after`."""
    name, uuid = after or (None, None)
    return PAGE.all(connection, **values_of(wanted), name=name, uuid=uuid, limit=limit)


MATCHING = Query(
    f"""
    SELECT c.uuid FROM clients AS c WHERE {_WANTED} ORDER BY c.name, c.uuid LIMIT :limit {FOR_ITS_VALUES}
    """,
    str,
)


def matching(connection: Connection, wanted: ClientFilter, limit: int) -> list[str]:
    """The uuids of up to `limit` matching clients in the order of (name, uuid)."""
    return MATCHING.all(connection, **values_of(wanted), limit=limit)


@query.one(
    """
    SELECT NOT EXISTS (
        SELECT FROM unnest(CAST(:uuids AS text[])) AS asked (uuid)
        WHERE NOT EXISTS (SELECT FROM clients AS c WHERE c.uuid = asked.uuid AND c.deleted_at IS NULL))
    """
)
def are_known(connection: Connection, uuids: Collection[str]) -> bool:
    """Whether all of these clients exist."""


@query.run(
    """
    INSERT INTO clients (uuid, created_at, status_since, registered_by) VALUES (:uuid, :now, :now, :registered_by)
    ON CONFLICT DO NOTHING
    """
)
def register(connection: Connection, now: datetime, uuid: str, registered_by: RegisteredBy) -> bool:
    """Add a client with this uuid. False when it exists already, deleted or not."""


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
    """Write the given facts of a client (FACTS). False when there is no such client."""
    values = {name: facts.get(name) for name in FACTS}
    return UPDATE_FACTS.run(connection, uuid=uuid, given=list(facts), **values) == 1


class ManyFactsChange(Struct, frozen=True):
    """What to write for many clients."""

    moves: bool
    """Whether to write `site`; None: no site."""
    site: str | None
    add_tags: Sequence[str]
    remove_tags: Sequence[str]
    most_tags: int
    """A client that would have more tags is left as it is."""


UPDATE_MANY = Query(
    """
    WITH known AS (
        SELECT uuid, ARRAY(
            SELECT tag FROM unnest(tags || CAST(:add AS text[])) WITH ORDINALITY AS all_tags(tag, place)
            WHERE tag <> ALL(CAST(:remove AS text[])) GROUP BY tag ORDER BY min(place)) AS tags
        FROM clients WHERE uuid = ANY(:uuids) AND deleted_at IS NULL ORDER BY uuid FOR NO KEY UPDATE)
    UPDATE clients AS c SET tags = known.tags, site = CASE WHEN CAST(:moves AS boolean) THEN :site ELSE c.site END
    FROM known WHERE c.uuid = known.uuid AND cardinality(known.tags) <= CAST(:most AS int) RETURNING c.uuid
    """,
    str,
)


def update_many(connection: Connection, uuids: Collection[str], change: ManyFactsChange) -> list[str]:
    """Move and tag these clients. Returns the uuids of the clients that were written."""
    tags = {"add": list(change.add_tags), "remove": list(change.remove_tags), "most": change.most_tags}
    return UPDATE_MANY.all(connection, uuids=list(uuids), moves=change.moves, site=change.site, **tags)


@query.run(
    """
    UPDATE clients SET login_since = :now, shared_login_seen_at = NULL, shared_login_since = NULL WHERE uuid = :uuid
    """
)
def begin_login(connection: Connection, now: datetime, uuid: str) -> None:
    """Note that the client's login was replaced or ended: from now on only new signs show that devices share one."""


@query.run("UPDATE clients SET deleted_at = :now WHERE uuid = :uuid AND deleted_at IS NULL")
def tombstone(connection: Connection, now: datetime, uuid: str) -> bool:
    """Mark a client deleted; its history stays. False when there is none or it is deleted already."""
