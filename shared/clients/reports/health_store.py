"""SQL that writes the health reports of displays."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.clients import limits_store, screens_store
from shared.clients.reports import rules
from shared.clients.reports.rules import HealthReport
from shared.clients.reports.store import newer, one_each
from shared.postgres.fragments import is_bad, screen_fails
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query

HEALTH: Final = ManyRows("s", HealthReport)
SEEN_IN_HEALTH: Final = {  # column of clients: what it becomes
    "screen_health": "coalesce(CAST(said.screen_health AS screen_health_status), c.screen_health)",
    "app_version": "coalesce(said.app_version, c.app_version)",
    "ip": "coalesce(said.ip, c.ip)",
    "hostname": "coalesce(said.hostname, c.hostname)",
    "os": "coalesce(said.os, c.os)",
    "log_level": "coalesce(said.log_level, c.log_level)",
    "capabilities": "CASE WHEN said.capabilities IS NOT NULL"
    " THEN ARRAY(SELECT jsonb_array_elements_text(said.capabilities)) END",
    "mqtt_reconnect_count": "coalesce(said.reconnect_count, c.mqtt_reconnect_count)",
    "mqtt_last_disconnect_at": "CASE WHEN said.tells_disconnect THEN to_timestamp(said.last_disconnect_at)"
    " ELSE c.mqtt_last_disconnect_at END",
    "screen_off_by": "said.screen_off_by",
    "hours_version": "said.hours_version",
    "screen_health_since": screens_store.SINCE,
    "screen_failed_at": screens_store.FAILED_AT,
}
LOSSES_AN_HOUR: Final = 240  # losses stored for one client; one every 20 s is fewer
HEALTH_COLUMNS: Final = {  # column of client_health: its value in a report
    **{name: name for name in ("install_id", "boot_seq", "seq")},
    **{name: name for name in ("cpu_percent", "memory_percent", "disk_percent", "temperature_celsius")},
    **limits_store.told("said.at"),
    "page": "CAST(page AS jsonb)",
    "body": "body",
}


def page_after(told: str, before: str) -> str:
    """SQL: the page of a report, with address and title of the page before if it is the same: they come seldom."""
    return f"CASE WHEN {told} ->> 'name' = {before} ->> 'name' THEN {before} || {told} ELSE {told} END"


PUT_HEALTH = Query(
    f"""
    WITH said AS MATERIALIZED ({one_each(HEALTH)}),
    put AS (
        INSERT INTO client_health AS h (client_uuid, received_at, {", ".join(HEALTH_COLUMNS)})
        SELECT uuid, at, {", ".join(HEALTH_COLUMNS.values())} FROM said
        ON CONFLICT (client_uuid) DO UPDATE SET received_at = EXCLUDED.received_at, previous_at = h.received_at,
            {", ".join(f"{column} = EXCLUDED.{column}" for column in HEALTH_COLUMNS if column != "page")},
            page = {page_after("EXCLUDED.page", "h.page")}
        WHERE {newer("received_at", rules.HEALTH_LASTS)}
        RETURNING client_uuid),
    different AS MATERIALIZED (
        SELECT c.uuid, said.at, said.reconnect_count - c.mqtt_reconnect_count AS losses,
            c.screen_health AS screen, {screen_fails("c")} AS fails
        FROM clients AS c JOIN said USING (uuid) JOIN put ON put.client_uuid = c.uuid
        WHERE ({", ".join("c." + column for column in SEEN_IN_HEALTH)})
            IS DISTINCT FROM ({", ".join(SEEN_IN_HEALTH.values())})
        ORDER BY c.uuid FOR NO KEY UPDATE OF c),
    changed AS (
        UPDATE clients AS c SET {", ".join(f"{column} = {value}" for column, value in SEEN_IN_HEALTH.items())}
        FROM said JOIN different USING (uuid) WHERE c.uuid = said.uuid
        RETURNING c.uuid, c.screen_health AS screen, c.screen_health_since AS since, {screen_fails("c")} AS fails),
    of_screens AS (
        INSERT INTO client_screen_changes (client_uuid, at, screen, fails)
        SELECT uuid, CASE WHEN now.fails AND NOT was.fails THEN now.since ELSE was.at END, now.screen, now.fails
        FROM changed AS now JOIN different AS was USING (uuid)
        WHERE CASE WHEN now.fails THEN NOT was.fails OR now.screen <> was.screen
            ELSE was.fails AND NOT {is_bad("now.screen::text")} END),
    lost AS (
        INSERT INTO client_losses (client_uuid, at, since, losses)
        SELECT different.uuid, different.at, before.received_at, losses
        FROM different JOIN client_health AS before ON before.client_uuid = different.uuid
        WHERE losses > 0
            AND losses <= greatest({LOSSES_AN_HOUR}, extract(epoch FROM different.at - before.received_at))
            AND {LOSSES_AN_HOUR} > (SELECT count(*) FROM client_losses AS l
            WHERE l.client_uuid = different.uuid AND l.at > different.at - interval '1 hour')
        ON CONFLICT DO NOTHING)
    SELECT said.uuid FROM said LEFT JOIN put ON put.client_uuid = said.uuid WHERE put.client_uuid IS NULL
    """,
    str,
)


def put_health(connection: Connection, now: datetime, clock: float, said: Sequence[HealthReport]) -> set[str]:
    """Store each client's newest health report and its facts. Returns the clients whose stored report is newer.

    A screen that begins to fail, fails in another way, or fails no more is noted for the history.

    If the report raises the client's count of lost connections, its time of arrival and that of the report before are
    stored: the loss lies between them. No loss is stored for a first count, for a lower count, or for a rise of more
    than one a second (another device, or a broken counter).
    """
    return set(PUT_HEALTH.all(connection, now=now, clock=clock, **HEALTH.of(said)))


class OfInstallation(NamedTuple):
    """Reports of a client: of one installation, or of all (None)."""

    uuid: str
    install_id: str | None


FORGOTTEN: Final = ManyRows("said", OfInstallation)
FORGET_STAMPS = Query(
    f"""
    UPDATE client_health AS h SET install_id = NULL, boot_seq = NULL, seq = NULL FROM {FORGOTTEN}
    WHERE h.client_uuid = said.uuid AND (said.install_id IS NULL OR EXISTS (
        SELECT FROM client_installs AS i JOIN client_installs AS o USING (client_uuid)
        WHERE i.client_uuid = h.client_uuid AND i.install_id = h.install_id AND o.install_id = said.install_id
            AND i.ordinal > o.ordinal))
    """,
    NO_ROW,
)


def forget_stamps(connection: Connection, went_back: Sequence[str], others: Sequence[tuple[str, str]]) -> None:
    """Make the next health report the newest, whatever its number, for clients that `went_back`.

    Do the same for `others` (uuid, install_id) if the stored report is of a later installation.
    """
    rows = [OfInstallation(uuid, None) for uuid in went_back] + [OfInstallation(*other) for other in others]
    FORGET_STAMPS.run(connection, **FORGOTTEN.of(rows))
