"""SQL of the bridge's record, and of the broker's files, crashes and certificates."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec
from msgspec import Struct
from sqlalchemy import Connection

from shared.leadership.rules import CANARY_MAX_AGE, BridgeStatus
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query, columns
from shared.vocabulary import Door

LEADER_LOCK: Final = 7_305_002  # advisory lock of the leading bridge; nothing else uses this number
CRASHES_KEPT: Final = timedelta(days=90)


class LeaderRow(NamedTuple):
    """The leader. The epoch alone is not unique, because a restored database counts again."""

    epoch: int
    instance: str | None


class SeenCertificate(Struct, frozen=True):
    """A door's certificate, as seen at the last check."""

    door: Door
    begins_at: datetime
    ends_at: datetime


@query.one(f"SELECT {columns(BridgeStatus, 'b')} FROM bridge_status AS b")
def bridge_status(connection: Connection) -> BridgeStatus:
    """The record of the leading bridge."""


@query.one(f"SELECT pg_try_advisory_lock({LEADER_LOCK})")
def try_lead(connection: Connection) -> bool:
    """Whether this session now holds the leader's lock (until it ends)."""


@query.one(
    """
    UPDATE bridge_status SET epoch = epoch + 1, instance = :instance, connected_since = NULL, counters = '{}'
    RETURNING epoch
    """
)
def next_epoch(connection: Connection, instance: str) -> int:
    """Begin a new epoch, so that the earlier leader can commit no more batches. Returns it."""


@query.one("SELECT epoch, instance FROM bridge_status")
def leader(connection: Connection) -> LeaderRow:
    """The epoch and the process of the present leader."""


LIFE: Final = "left(md5(pg_postmaster_start_time()::text || d.oid::text), 12)"
"""SQL, with `pg_database AS d`: a text that differs after each start of Postgres, and on another server.

A database in another life may have lost the last commits.
"""


@query.one(f"SELECT {LIFE} FROM pg_database AS d WHERE d.datname = current_database()")
def life(connection: Connection) -> str:
    """The life of the database; see LIFE."""


LISTEN_SINCE = Query("UPDATE bridge_status SET connected_since = :since WHERE epoch = :epoch", NO_ROW)


def connected(connection: Connection, now: datetime, leader_epoch: int) -> bool:
    """Begin the listening time. Returns False if another bridge leads."""
    return LISTEN_SINCE.run(connection, since=now, epoch=leader_epoch) == 1


def disconnected(connection: Connection, leader_epoch: int) -> bool:
    """End the listening time. Returns False if another bridge leads."""
    return LISTEN_SINCE.run(connection, since=None, epoch=leader_epoch) == 1


@query.run("UPDATE bridge_status SET canary_at = :at WHERE epoch = :leader_epoch")
def record_canary(connection: Connection, leader_epoch: int, at: datetime) -> bool:
    """Record a canary that returned at `at`. Returns False if another bridge leads."""


MARK_COMMIT = Query(
    """
    UPDATE bridge_status SET last_commit_at = CAST(:now AS timestamptz), counters = CAST(:counters AS jsonb),
        connected_since = CASE
            WHEN connected_since > CAST(:now AS timestamptz)
                OR (connected_since IS NOT NULL AND last_commit_at NOT BETWEEN CAST(:gap_before AS timestamptz)
                    AND CAST(:gap_after AS timestamptz))
            THEN CAST(:now AS timestamptz) ELSE connected_since END
    WHERE epoch = CAST(:epoch AS bigint)
""",
    NO_ROW,
)


def mark_commit(connection: Connection, now: datetime, leader_epoch: int, counters: Mapping[str, int]) -> bool:
    """Record that a batch is being committed. Returns False if another bridge leads.

    After more than CANARY_MAX_AGE without a commit (database away, process stopped) the listening time begins anew,
    because nothing was heard meanwhile. It also begins anew if it or the last commit lies in the future: then the clock
    was set back, and the age of that commit is unknown.
    """
    counted = msgspec.json.encode(counters).decode()
    gap = {"gap_before": now - CANARY_MAX_AGE, "gap_after": now + CANARY_MAX_AGE}
    return MARK_COMMIT.run(connection, now=now, counters=counted, **gap, epoch=leader_epoch) == 1


@query.run(
    """
    INSERT INTO broker_files_seen (one, at, opened, most, memory_bytes)
    VALUES (true, now(), :opened, :most, :memory_bytes)
    ON CONFLICT (one) DO UPDATE
    SET at = EXCLUDED.at, opened = EXCLUDED.opened, most = EXCLUDED.most, memory_bytes = EXCLUDED.memory_bytes
    """
)
def note_broker_files(connection: Connection, opened: int, most: int, memory_bytes: int) -> None:
    """Record how many files the broker has open and may open, and how much memory it takes."""


DROP_CRASHES = Query("DELETE FROM broker_crashes WHERE noticed_at < now() - CAST(:kept AS interval)", NO_ROW)
NOTE_CRASHES = Query(
    """
    INSERT INTO broker_crashes (noticed_at)
    SELECT at FROM unnest(CAST(:noticed_at AS timestamptz[])) AS said(at)
    WHERE at >= now() - CAST(:kept AS interval) ON CONFLICT DO NOTHING
    """,
    NO_ROW,
)


def note_broker_crashes(connection: Connection, noticed_at: Collection[datetime]) -> int:
    """Record the times of noticed crashes of the broker, without repeats. Returns how many are new.

    Times before CRASHES_KEPT are ignored and deleted.
    """
    DROP_CRASHES.run(connection, kept=CRASHES_KEPT)
    return NOTE_CRASHES.run(connection, noticed_at=list(noticed_at), kept=CRASHES_KEPT)


SEEN_CERTIFICATES: Final = ManyRows("seen", SeenCertificate)
DROP_CERTIFICATES = Query("DELETE FROM door_certificates WHERE door <> ALL(CAST(:doors AS text[]))", NO_ROW)
NOTE_CERTIFICATES = Query(
    f"""
    INSERT INTO door_certificates (door, begins_at, ends_at, seen_at)
    SELECT door, begins_at, ends_at, now() FROM {SEEN_CERTIFICATES}
    ON CONFLICT (door) DO UPDATE SET
        begins_at = EXCLUDED.begins_at, ends_at = EXCLUDED.ends_at, seen_at = EXCLUDED.seen_at
    """,
    NO_ROW,
)


def note_certificates(connection: Connection, seen: Collection[SeenCertificate], doors: Collection[Door]) -> None:
    """Record the doors' certificates, and delete doors that are not in `doors`."""
    DROP_CERTIFICATES.run(connection, doors=list(doors))
    NOTE_CERTIFICATES.run(connection, **SEEN_CERTIFICATES.of(seen))
