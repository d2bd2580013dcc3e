"""SQL of sign-ins: failed tries, and the addresses of successful ones."""

from datetime import datetime

from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query

LOCK_BUCKET = Query("SELECT pg_advisory_xact_lock(hashtextextended(:bucket, 0))", NO_ROW)


def lock_bucket(connection: Connection, bucket: str) -> None:
    """Lock this bucket's counter until the transaction ends."""
    LOCK_BUCKET.run(connection, bucket=bucket)


FAILURES_SINCE = Query("SELECT at FROM login_failures WHERE bucket = :bucket AND at > :since ORDER BY at", datetime)


def failures_since(connection: Connection, bucket: str, since: datetime) -> list[datetime]:
    """The times of failed tries in this bucket after `since`, oldest first."""
    return FAILURES_SINCE.all(connection, bucket=bucket, since=since)


INSERT_FAILURE = Query("INSERT INTO login_failures (bucket, at) VALUES (:bucket, :at)", NO_ROW)


def insert_failure(connection: Connection, bucket: str, at: datetime) -> None:
    """Count a failed try."""
    INSERT_FAILURE.run(connection, bucket=bucket, at=at)


DELETE_FAILURES_BEFORE = Query("DELETE FROM login_failures WHERE at < :moment", NO_ROW)


def delete_failures_before(connection: Connection, moment: datetime) -> int:
    """Delete failed tries before `moment`. Returns how many."""
    return DELETE_FAILURES_BEFORE.run(connection, moment=moment)


IS_KNOWN_ADDRESS = Query(
    """
    SELECT EXISTS (
        SELECT FROM sign_in_addresses AS a JOIN users AS u ON u.id = a.user_id
        WHERE u.username = :username AND a.address = :address AND a.last_at > :since)
    """,
    bool,
)


def is_known_address(connection: Connection, username: str, address: str, since: datetime) -> bool:
    """Whether the user of this name signed in from this address after `since`."""
    return IS_KNOWN_ADDRESS.one(connection, username=username, address=address, since=since)


NOTE_ADDRESS = Query(
    """
    INSERT INTO sign_in_addresses (user_id, address, last_at) VALUES (:user_id, :address, :now)
    ON CONFLICT (user_id, address) DO UPDATE SET last_at = EXCLUDED.last_at
    """,
    NO_ROW,
)


def note_address(connection: Connection, user_id: int, address: str, now: datetime) -> None:
    """Store the address of a user's sign-in."""
    NOTE_ADDRESS.run(connection, user_id=user_id, address=address, now=now)


DELETE_ADDRESSES_BEFORE = Query("DELETE FROM sign_in_addresses WHERE last_at < :moment", NO_ROW)


def delete_addresses_before(connection: Connection, moment: datetime) -> int:
    """Delete addresses without a sign-in since `moment`. Returns how many."""
    return DELETE_ADDRESSES_BEFORE.run(connection, moment=moment)
