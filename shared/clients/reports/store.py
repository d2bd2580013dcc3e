"""SQL that writes what displays report, a whole batch at a time: one JSON parameter, one statement.

`now` is the transaction's time and `clock` the bridge's monotonic clock at the same moment, so that
`now - (clock - heard)` is when a report arrived. Rows of `clients` are touched only where something that
people see changes, and locked in the order of their uuids.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, Row

from shared.clients.reports import rules
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceChange
from shared.vocabulary import ClientStatus, ProcessStatus


@dataclass(slots=True)
class ProcessChange:
    """What a fresh heartbeat changes on its client; a null status leaves the shown state to the sweep."""

    uuid: str
    process_status: ProcessStatus
    status: ClientStatus | None
    cause: str


def strangers(connection: Connection, uuids: Sequence[str]) -> Sequence[Row[tuple[str, bool]]]:
    """Those of `uuids` that are no clients, each with whether it is the tombstone of a deleted one."""
    statement = sa.text(
        """
        SELECT said.uuid, c.uuid IS NOT NULL AS deleted
        FROM jsonb_array_elements_text(CAST(:uuids AS jsonb)) AS said(uuid)
        LEFT JOIN clients AS c ON c.uuid = said.uuid
        WHERE c.uuid IS NULL OR c.deleted_at IS NOT NULL
        """
    )
    return connection.execute(statement, {"uuids": _json(uuids)}).all()


def register(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
    """New clients, registered by their first message; existing ones stay as they are."""
    statement = sa.text(
        """
        INSERT INTO clients (uuid, created_at, status_since, registered_by)
        SELECT uuid, CAST(:now AS timestamptz), CAST(:now AS timestamptz), 'first_message'
        FROM jsonb_array_elements_text(CAST(:uuids AS jsonb)) AS said(uuid)
        ORDER BY uuid ON CONFLICT DO NOTHING
        """
    )
    connection.execute(statement, {"now": now, "uuids": _json(uuids)})


def newer(at: str, lasts: timedelta, other_boot: str = "false") -> str:
    """SQL: is the row that was to be inserted newer than the one that stands, `h`? As `rules.newest`.

    `at` is the column of the arrival; after `lasts` nothing older can be on its way, so a lower number is of a
    counter that went back, or of an installation that returned. `other_boot`: both tell of different boots.
    """
    return f"""
    CASE WHEN (EXCLUDED.install_id, EXCLUDED.boot_seq, EXCLUDED.seq) = (h.install_id, h.boot_seq, h.seq)
            THEN {other_boot}
         WHEN EXCLUDED.{at} - h.{at} > interval '{lasts.total_seconds()} seconds' THEN true
         WHEN EXCLUDED.install_id IS NULL OR h.install_id IS NULL THEN true
         WHEN EXCLUDED.install_id = h.install_id THEN (EXCLUDED.boot_seq, EXCLUDED.seq) > (h.boot_seq, h.seq)
            OR EXCLUDED.boot_seq = h.boot_seq AND {other_boot}
         ELSE coalesce((SELECT i.ordinal FROM client_installs AS i
                WHERE i.client_uuid = h.client_uuid AND i.install_id = EXCLUDED.install_id), 0)
            > coalesce((SELECT i.ordinal FROM client_installs AS i
                WHERE i.client_uuid = h.client_uuid AND i.install_id = h.install_id), 0) END
"""  # noqa: S608 - made of constants


def _one_each(fields: str) -> str:
    """SQL: the rows of the parameter, one of each client: of its newest installation."""
    return f"""
        SELECT DISTINCT ON (s.uuid) s.*,
            CAST(:now AS timestamptz) - (CAST(:clock AS float8) - s.heard) * interval '1 second' AS at
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS s(
            uuid text, heard float8, install_id text, boot_seq bigint, seq bigint, {fields})
        ORDER BY s.uuid, CASE WHEN count(*) OVER (PARTITION BY s.uuid) > 1 THEN (SELECT i.ordinal
            FROM client_installs AS i WHERE i.client_uuid = s.uuid AND i.install_id = s.install_id) END DESC NULLS LAST
    """  # noqa: S608 - made of constants


HEARTBEAT_FIELDS: Final = "process_status text, interval_seconds int, boot_id text, app_instance text"
HEARTBEAT_COLUMNS: Final = "last_heartbeat_at, interval_seconds, boot_id, app_instance, install_id, boot_seq, seq"
PUT_HEARTBEATS: Final = f"""
    WITH said AS MATERIALIZED ({_one_each(HEARTBEAT_FIELDS)}),
    old AS MATERIALIZED (
        SELECT h.client_uuid, h.boot_id, h.app_instance, h.install_id, h.boot_seq, h.seq, h.last_heartbeat_at
        FROM client_heartbeats AS h JOIN said ON said.uuid = h.client_uuid),
    put AS (
        INSERT INTO client_heartbeats AS h (client_uuid, {HEARTBEAT_COLUMNS})
        SELECT uuid, at, coalesce(interval_seconds, 30), boot_id, app_instance, install_id, boot_seq, seq FROM said
        ON CONFLICT (client_uuid) DO UPDATE SET
            {", ".join(f"{column} = EXCLUDED.{column}" for column in HEARTBEAT_COLUMNS.split(", "))}
        WHERE {newer("last_heartbeat_at", rules.HEARTBEATS_LAST, "coalesce(EXCLUDED.boot_id <> h.boot_id, false)")}
        RETURNING client_uuid)
    SELECT * FROM (
        SELECT said.uuid, said.boot_id, said.app_instance, said.at, said.heard, said.install_id, said.boot_seq,
            said.seq, old.install_id AS old_install_id, old.boot_seq AS old_boot_seq, old.seq AS old_seq,
            old.boot_id AS old_boot_id, old.app_instance AS old_app_instance, old.last_heartbeat_at AS old_at,
            coalesce(said.process_status, c.process_status::text) AS process_status,
            c.process_status::text <> said.process_status
                OR c.status <> coalesce(said.process_status, c.process_status::text) AS differs,
            old.boot_id <> said.boot_id OR old.app_instance <> said.app_instance AS began_anew,
            old.install_id <> said.install_id OR (said.boot_seq, said.seq) <= (old.boot_seq, old.seq) AS is_odd,
            put.client_uuid IS NULL AS is_old
        FROM said
        JOIN clients AS c ON c.uuid = said.uuid
        LEFT JOIN put ON put.client_uuid = said.uuid
        LEFT JOIN old ON old.client_uuid = said.uuid) AS kept
    WHERE differs OR began_anew OR is_odd OR is_old ORDER BY uuid
"""  # noqa: S608 - made of constants


def put_heartbeats(
    connection: Connection, now: datetime, clock: float, said: Sequence[Heartbeat]
) -> Sequence[Row[Any]]:
    """Keep each client's newest heartbeat; answer only those that are not, or that change something else.

    Rows: uuid, process_status, boot_id, app_instance, at, heard, is_old (not the newest: not kept), differs (the
    client's process_status or shown state is another one), began_anew (its boot_id or app_instance was another one
    before; null: not known); its stamp and that of the heartbeat before, with its boot_id and arrival (`old_...`).
    """
    parameters = {"now": now, "clock": clock, "rows": _json(said)}
    return connection.execute(sa.text(PUT_HEARTBEATS), parameters).all()


def forget_the_future(connection: Connection, now: datetime) -> int:
    """Let heartbeats and other signs of a time that has not come yet count as heard now; how many there were."""
    statement = sa.text(
        """
        UPDATE client_heartbeats SET last_heartbeat_at = least(last_heartbeat_at, CAST(:now AS timestamptz)),
            sign_at = CASE WHEN sign_at IS NOT NULL THEN least(sign_at, CAST(:now AS timestamptz)) END
        WHERE last_heartbeat_at > CAST(:now AS timestamptz) OR sign_at > CAST(:now AS timestamptz)
        """
    )
    return connection.execute(statement, {"now": now}).rowcount


def change_process_status(connection: Connection, now: datetime, changes: Sequence[ProcessChange]) -> None:
    """Write process_status and the shown state with their times, and one change row for a new shown state."""
    statement = sa.text(
        """
        WITH said AS MATERIALIZED (SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb))
            AS s(uuid text, process_status text, status text, cause text)),
        old AS MATERIALIZED (
            SELECT c.uuid, c.process_status::text, c.status FROM clients AS c JOIN said USING (uuid)
            ORDER BY c.uuid FOR NO KEY UPDATE OF c),
        changed AS (
            UPDATE clients AS c SET
                process_status = CAST(said.process_status AS process_status),
                process_status_since = CASE WHEN old.process_status <> said.process_status
                    OR c.process_status_since IS NULL THEN CAST(:now AS timestamptz) ELSE c.process_status_since END,
                status = coalesce(said.status, c.status),
                status_since = CASE WHEN old.status <> said.status THEN :now ELSE c.status_since END
            FROM said JOIN old USING (uuid) WHERE c.uuid = said.uuid
            RETURNING c.uuid, old.status AS from_status, c.status AS to_status, said.cause)
        INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause)
        SELECT uuid, CAST(:now AS timestamptz), from_status, to_status, cause FROM changed
        WHERE from_status <> to_status ORDER BY uuid
        """
    )
    connection.execute(statement, {"now": now, "rows": _json(changes)})


SEEN_IN_HEALTH: Final = {  # column of clients: what it becomes
    "screen_health": "coalesce(CAST(said.screen_health AS screen_health_status), c.screen_health)",
    "app_version": "coalesce(said.app_version, c.app_version)",
    "ip": "coalesce(said.ip, c.ip)",
    "hostname": "coalesce(said.hostname, c.hostname)",
    "os": "coalesce(said.os, c.os)",
    "log_level": "coalesce(said.log_level, c.log_level)",
    "capabilities": "said.capabilities",
    "mqtt_reconnect_count": "coalesce(said.reconnect_count, c.mqtt_reconnect_count)",
    "mqtt_last_disconnect_at": "CASE WHEN said.tells_disconnect THEN to_timestamp(said.last_disconnect_at)"
    " ELSE c.mqtt_last_disconnect_at END",
}
BAD_SCREENS: Final = "('black', 'frozen', 'disconnected')"
SCREEN_SINCE: Final = f"""
    CASE WHEN coalesce(said.screen_health, c.screen_health::text) NOT IN {BAD_SCREENS} THEN NULL
        WHEN c.screen_health::text IN {BAD_SCREENS} THEN coalesce(c.screen_health_since, said.at)
        ELSE said.at END
"""
"""Since when a screen is bad, in whatever way; null while it is not."""
LOSSES_AN_HOUR: Final = 240  # kept of one client; a drop every 20 s is fewer, and more say nothing more
HEALTH_FIELDS: Final = (
    "body jsonb, screen_health text, log_level text, app_version text, os text, ip text, hostname text,"
    " cpu_percent float8, memory_percent float8, disk_percent float8, temperature_celsius float8, capabilities text[],"
    " reconnect_count int, tells_disconnect boolean, last_disconnect_at float8"
)
HEALTH_COLUMNS: Final = (
    "install_id, boot_seq, seq, cpu_percent, memory_percent, disk_percent, temperature_celsius, body"
)
PUT_HEALTH: Final = f"""
    WITH said AS MATERIALIZED ({_one_each(HEALTH_FIELDS)}),
    put AS (
        INSERT INTO client_health AS h (client_uuid, received_at, {HEALTH_COLUMNS})
        SELECT uuid, at, {HEALTH_COLUMNS} FROM said
        ON CONFLICT (client_uuid) DO UPDATE SET received_at = EXCLUDED.received_at,
            {", ".join(f"{column} = EXCLUDED.{column}" for column in HEALTH_COLUMNS.split(", "))}
        WHERE {newer("received_at", rules.HEALTH_LASTS)}
        RETURNING client_uuid),
    different AS MATERIALIZED (
        SELECT c.uuid, said.at, said.reconnect_count - c.mqtt_reconnect_count AS losses
        FROM clients AS c JOIN said USING (uuid) JOIN put ON put.client_uuid = c.uuid
        WHERE ({", ".join("c." + column for column in SEEN_IN_HEALTH)})
            IS DISTINCT FROM ({", ".join(SEEN_IN_HEALTH.values())})
        ORDER BY c.uuid FOR NO KEY UPDATE OF c),
    changed AS (
        UPDATE clients AS c SET {", ".join(f"{column} = {value}" for column, value in SEEN_IN_HEALTH.items())},
            screen_health_since = {SCREEN_SINCE}
        FROM said JOIN different USING (uuid) WHERE c.uuid = said.uuid),
    lost AS (
        INSERT INTO client_losses (client_uuid, at, since, losses)
        SELECT different.uuid, different.at, before.received_at, losses
        FROM different JOIN client_health AS before ON before.client_uuid = different.uuid
        WHERE losses > 0 AND {LOSSES_AN_HOUR} > (SELECT count(*) FROM client_losses AS l
            WHERE l.client_uuid = different.uuid AND l.at > different.at - interval '1 hour')
        ON CONFLICT DO NOTHING)
    SELECT said.uuid, put.client_uuid IS NULL AS is_old
    FROM said LEFT JOIN put ON put.client_uuid = said.uuid
    WHERE put.client_uuid IS NULL OR said.uuid IN (SELECT jsonb_array_elements_text(CAST(:asked AS jsonb)))
"""  # noqa: S608 - made of constants


def put_health(
    connection: Connection, now: datetime, clock: float, said: Sequence[HealthReport], asked: Sequence[str]
) -> Sequence[Row[tuple[str, bool]]]:
    """Keep each client's newest health report and what it shows; answer those that are not the newest, and `asked`.

    Where it raises the client's count of lost connections, the moments of its arrival and of the report before are
    kept: the loss lies between. A count that is first told, or falls, says nothing of when a connection was lost.

    Rows: uuid, is_old (not the newest: not kept).
    """
    parameters = {"now": now, "clock": clock, "rows": _json(said), "asked": _json(asked)}
    return connection.execute(sa.text(PUT_HEALTH), parameters).all()


def forget_stamps(connection: Connection, went_back: Sequence[str], others: Sequence[tuple[str, str]]) -> None:
    """Let whatever health comes next be the newest of those that `went_back`.

    And of `others`, (uuid, install_id), where the health of a later installation than theirs is stored.
    """
    statement = sa.text(
        """
        UPDATE client_health AS h SET install_id = NULL, boot_seq = NULL, seq = NULL
        FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS said(uuid text, install_id text)
        WHERE h.client_uuid = said.uuid AND (said.install_id IS NULL OR EXISTS (
            SELECT FROM client_installs AS i JOIN client_installs AS o USING (client_uuid)
            WHERE i.client_uuid = h.client_uuid AND i.install_id = h.install_id AND o.install_id = said.install_id
                AND i.ordinal > o.ordinal))
        """
    )
    rows = [{"uuid": uuid, "install_id": None} for uuid in went_back]
    rows += [{"uuid": uuid, "install_id": install_id} for uuid, install_id in others]
    connection.execute(statement, {"rows": _json(rows)})


def note_went_back(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
    """The counters of these went back: say so, and believe no stamp of their failures.

    The same numbers come again for other failures.
    """
    statement = sa.text(
        """
        WITH which AS MATERIALIZED (
            SELECT uuid FROM clients WHERE uuid = ANY(:uuids) ORDER BY uuid FOR NO KEY UPDATE)
        UPDATE clients AS c SET counter_went_back_at = CAST(:now AS timestamptz), service_failed_stamp = NULL,
            service_failed_cleared_stamp = NULL
        FROM which WHERE c.uuid = which.uuid
        """
    )
    if uuids:
        connection.execute(statement, {"now": now, "uuids": list(uuids)})


def note_shared_login(connection: Connection, now: datetime, uuids: Sequence[str]) -> set[str]:
    """Two devices use the login of each of these: write it down, at most once in half a minute; of whom it was."""
    statement = sa.text(
        """
        WITH which AS MATERIALIZED (
            SELECT uuid FROM clients WHERE uuid = ANY(:uuids) AND (shared_login_seen_at IS NULL
                OR shared_login_seen_at < CAST(:now AS timestamptz) - interval '30 seconds')
            ORDER BY uuid FOR NO KEY UPDATE)
        UPDATE clients AS c SET shared_login_seen_at = CAST(:now AS timestamptz)
        FROM which WHERE c.uuid = which.uuid
        RETURNING c.uuid
        """
    )
    return set(connection.execute(statement, {"now": now, "uuids": list(uuids)}).scalars())


def put_presence(connection: Connection, now: datetime, changes: Sequence[PresenceChange]) -> set[str]:
    """Write presence where it changes; answer the uuids that came online."""
    statement = sa.text(
        """
        WITH said AS MATERIALIZED (SELECT * FROM jsonb_to_recordset(CAST(:rows AS jsonb))
            AS s(uuid text, state text, session text, only_if jsonb)),
        different AS MATERIALIZED (
            SELECT c.uuid FROM clients AS c JOIN said USING (uuid)
            WHERE said.only_if IS NULL
                    AND (c.presence, c.presence_session) IS DISTINCT FROM (said.state, said.session)
                OR c.presence <> said.state AND (c.presence = 'unknown' OR EXISTS (
                    SELECT FROM jsonb_array_elements_text(nullif(said.only_if, 'null')) AS session(nonce)
                    WHERE session.nonce IS NOT DISTINCT FROM c.presence_session))
            ORDER BY c.uuid FOR NO KEY UPDATE OF c)
        UPDATE clients AS c SET presence = said.state, presence_at = CAST(:now AS timestamptz),
            presence_session = CASE WHEN said.only_if IS NULL OR c.presence = 'unknown' THEN said.session
                ELSE c.presence_session END
        FROM said JOIN different USING (uuid) WHERE c.uuid = said.uuid
        RETURNING c.uuid, c.presence
        """
    )
    changed = connection.execute(statement, {"now": now, "rows": _json(changes)})
    return {row.uuid for row in changed if row.presence == "online"}


def _json(rows: Any) -> str:
    return msgspec.json.encode(rows).decode()
