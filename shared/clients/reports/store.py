"""SQL of reports: one statement writes a whole batch.

It changes rows of `clients` only when people see a change, and locks them in the order of their uuids.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients import logins_rules
from shared.clients.logins_rules import SharedLogin
from shared.clients.reports import rules
from shared.clients.reports.rules import USUAL_SECONDS, HealthReport, Heartbeat, PresenceChange
from shared.postgres import query
from shared.postgres.fragments import arrived_at
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import ClientStatus, ProcessStatus
from shared.words.sentences import Sentence


class ProcessChange(Struct):
    """A change of a client by a fresh heartbeat; status None: the sweep decides the shown state."""

    uuid: str
    process_status: ProcessStatus
    status: ClientStatus | None
    cause: Sentence


class Stranger(Struct, frozen=True):
    """A sender that is no client; `deleted`: it was a client."""

    uuid: str
    deleted: bool


@query.rows(
    """
    SELECT said.uuid, c.uuid IS NOT NULL AS deleted
    FROM unnest(CAST(:uuids AS text[])) AS said(uuid) LEFT JOIN clients AS c ON c.uuid = said.uuid
    WHERE c.uuid IS NULL OR c.deleted_at IS NOT NULL
    """
)
def strangers(connection: Connection, uuids: Collection[str]) -> list[Stranger]:
    """The senders in `uuids` that are no clients."""


@query.run(
    """
    INSERT INTO clients (uuid, created_at, status_since, registered_by)
    SELECT uuid, CAST(:now AS timestamptz), CAST(:now AS timestamptz), 'first_message'
    FROM unnest(CAST(:uuids AS text[])) AS said(uuid) ORDER BY uuid ON CONFLICT DO NOTHING
    """
)
def register(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
    """Add clients registered by their first message; existing ones do not change."""


def newer(at: str, lasts: timedelta, other_boot: str = "false") -> str:
    """SQL: whether the row to insert is newer than the stored row `h`, as in `rules.newest`.

    `at`: the column of the arrival. After `lasts` no older report can still arrive: then a lower number means that the
    counter went back, or that an installation returned. `other_boot`: SQL that the boots differ.
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
"""


HEARTBEATS: Final = ManyRows("s", Heartbeat)


def one_each(reports: ManyRows[Heartbeat] | ManyRows[HealthReport]) -> str:
    """SQL: one report of each client, that of its newest installation."""
    return f"""
        SELECT DISTINCT ON (s.uuid) s.*, {arrived_at("s")} AS at
        FROM {reports}
        ORDER BY s.uuid, CASE WHEN count(*) OVER (PARTITION BY s.uuid) > 1 THEN (SELECT i.ordinal
            FROM client_installs AS i WHERE i.client_uuid = s.uuid AND i.install_id = s.install_id) END DESC NULLS LAST
    """


class NotableHeartbeat(Struct, frozen=True):
    """A heartbeat that is not its client's newest, or that changes more than its time. `old_...`: the one before."""

    uuid: str
    process_status: ProcessStatus
    boot_id: str | None
    app_instance: str | None
    at: datetime
    heard: float
    install_id: str | None
    boot_seq: int | None
    seq: int | None
    old_install_id: str | None
    old_boot_seq: int | None
    old_seq: int | None
    old_boot_id: str | None
    old_app_instance: str | None
    old_at: datetime | None
    differs: bool
    """The client's process_status or shown state differs."""
    began_anew: bool | None
    """Its boot_id or app_instance differs from the one before; None: unknown."""
    is_odd: bool | None
    """Another installation, or the number did not increase; None: unknown."""
    is_old: bool
    """It is not the newest and was not stored."""


HEARTBEAT_COLUMNS: Final = "last_heartbeat_at, interval_seconds, boot_id, app_instance, install_id, boot_seq, seq"


@query.rows(
    f"""
    WITH said AS MATERIALIZED ({one_each(HEARTBEATS)}),
    old AS MATERIALIZED (
        SELECT h.client_uuid, h.boot_id, h.app_instance, h.install_id, h.boot_seq, h.seq, h.last_heartbeat_at
        FROM client_heartbeats AS h JOIN said ON said.uuid = h.client_uuid),
    put AS (
        INSERT INTO client_heartbeats AS h (client_uuid, {HEARTBEAT_COLUMNS})
        SELECT uuid, at, coalesce(interval_seconds, {USUAL_SECONDS}), boot_id, app_instance, install_id, boot_seq, seq
        FROM said
        ON CONFLICT (client_uuid) DO UPDATE SET
            {", ".join(f"{column} = EXCLUDED.{column}" for column in HEARTBEAT_COLUMNS.split(", "))}
        WHERE {newer("last_heartbeat_at", rules.HEARTBEATS_LAST, "coalesce(EXCLUDED.boot_id <> h.boot_id, false)")}
        RETURNING client_uuid)
    SELECT * FROM (
        SELECT said.uuid, said.boot_id, said.app_instance, said.at, said.heard, said.install_id, said.boot_seq,
            said.seq, old.install_id AS old_install_id, old.boot_seq AS old_boot_seq, old.seq AS old_seq,
            old.boot_id AS old_boot_id, old.app_instance AS old_app_instance, old.last_heartbeat_at AS old_at,
            coalesce(said.process_status, c.process_status::text) AS process_status,
            coalesce(c.process_status::text <> said.process_status, false)
                OR c.status <> coalesce(said.process_status, c.process_status::text) AS differs,
            old.boot_id <> said.boot_id OR old.app_instance <> said.app_instance AS began_anew,
            old.install_id <> said.install_id OR (said.boot_seq, said.seq) <= (old.boot_seq, old.seq) AS is_odd,
            put.client_uuid IS NULL AS is_old
        FROM said
        JOIN clients AS c ON c.uuid = said.uuid
        LEFT JOIN put ON put.client_uuid = said.uuid
        LEFT JOIN old ON old.client_uuid = said.uuid) AS kept
    WHERE differs OR began_anew OR is_odd OR is_old ORDER BY uuid
    """,
    HEARTBEATS,
)
def put_heartbeats(
    connection: Connection, now: datetime, clock: float, said: Sequence[Heartbeat]
) -> list[NotableHeartbeat]:
    """Store each client's newest heartbeat. Returns only notable ones: not the newest, or with other changes."""


CHANGES: Final = ManyRows("s", ProcessChange)


@query.run(
    f"""
    WITH said AS MATERIALIZED (SELECT * FROM {CHANGES}),
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
    """,
    CHANGES,
)
def change_process_status(connection: Connection, now: datetime, changes: Sequence[ProcessChange]) -> None:
    """Write process_status and the shown state with their times, and one change row for a new shown state."""


NOTE_WENT_BACK = Query(
    """
    WITH which AS MATERIALIZED (
        SELECT uuid FROM clients WHERE uuid = ANY(:uuids) ORDER BY uuid FOR NO KEY UPDATE)
    UPDATE clients AS c SET counter_went_back_at = :now, service_failed_stamp = NULL,
        service_failed_cleared_stamp = NULL
    FROM which WHERE c.uuid = which.uuid
    """,
    NO_ROW,
)


def note_went_back(connection: Connection, now: datetime, uuids: Sequence[str]) -> None:
    """Note that these clients' counters went back, and remove the stamps of their failures.

    The same numbers will come again for other failures.
    """
    if uuids:
        NOTE_WENT_BACK.run(connection, now=now, uuids=list(uuids))


SHARED_LOGINS: Final = ManyRows("s", SharedLogin)


@query.rows(
    f"""
    WITH which AS MATERIALIZED (
        SELECT c.uuid FROM clients AS c JOIN {SHARED_LOGINS} ON s.uuid = c.uuid
        WHERE (c.shared_login_seen_at IS NULL OR c.shared_login_seen_at
                < CAST(:now AS timestamptz) - interval '{logins_rules.SEEN_APART.total_seconds()} seconds')
            AND (c.login_since IS NULL
                OR s.other_at > c.login_since + interval '{logins_rules.LOGIN_TAKES.total_seconds()} seconds')
        ORDER BY c.uuid FOR NO KEY UPDATE OF c)
    UPDATE clients AS c SET shared_login_seen_at = :now, shared_login_since = CASE
        WHEN c.shared_login_seen_at
            > CAST(:now AS timestamptz) - interval '{logins_rules.SHARED_FOR.total_seconds()} seconds'
            THEN coalesce(c.shared_login_since, :now) ELSE :now END
    FROM which WHERE c.uuid = which.uuid RETURNING c.uuid
    """,
    SHARED_LOGINS,
)
def note_shared_login(connection: Connection, now: datetime, shared: Sequence[SharedLogin]) -> set[str]:
    """Note, at most once in SEEN_APART, that two devices share these logins. Returns the clients noted now.

    Devices that were heard before the client's present login do not count: one of them may have the login of before.
    """


PRESENCES: Final = ManyRows("s", PresenceChange)


@query.rows(
    f"""
    WITH said AS MATERIALIZED (SELECT * FROM {PRESENCES}),
    different AS MATERIALIZED (
        SELECT c.uuid FROM clients AS c JOIN said USING (uuid)
        WHERE said.only_if IS NULL
                AND (c.presence, c.presence_session) IS DISTINCT FROM (said.state, said.session)
            OR c.presence <> said.state AND (c.presence = 'unknown' OR EXISTS (
                SELECT FROM jsonb_array_elements_text(said.only_if) AS session(nonce)
                WHERE session.nonce IS NOT DISTINCT FROM c.presence_session))
        ORDER BY c.uuid FOR NO KEY UPDATE OF c),
    changed AS (
        UPDATE clients AS c SET presence = said.state, presence_at = :now,
            presence_session = CASE WHEN said.only_if IS NULL OR c.presence = 'unknown' THEN said.session
                ELSE c.presence_session END
        FROM said JOIN different USING (uuid) WHERE c.uuid = said.uuid
        RETURNING c.uuid, c.presence)
    SELECT uuid FROM changed WHERE presence = 'online'
    """,
    PRESENCES,
)
def put_presence(connection: Connection, now: datetime, changes: Sequence[PresenceChange]) -> set[str]:
    """Write changed presence. Returns the clients that came online."""
