"""SQL of sign-ins: failed tries, and the addresses of successful ones."""

from datetime import datetime

from sqlalchemy import Connection

from shared.postgres import query


@query.run("SELECT pg_advisory_xact_lock(hashtextextended(:bucket, 0))")
def lock_bucket(connection: Connection, bucket: str) -> None:
    """Lock this bucket's counter until the transaction ends."""


@query.rows("SELECT at FROM login_failures WHERE bucket = :bucket AND at > :since ORDER BY at")
def failures_since(connection: Connection, bucket: str, since: datetime) -> list[datetime]:
    """The times of failed tries in this bucket after `since`, oldest first."""


@query.run("INSERT INTO login_failures (bucket, at) VALUES (:bucket, :at)")
def insert_failure(connection: Connection, bucket: str, at: datetime) -> None:
    """Count a failed try."""


@query.run("DELETE FROM login_failures WHERE at < :moment")
def delete_failures_before(connection: Connection, moment: datetime) -> int:
    """Delete failed tries before `moment`. Returns how many."""


@query.one(
    """
    SELECT EXISTS (
        SELECT FROM sign_in_addresses AS a JOIN users AS u ON u.id = a.user_id
        WHERE u.username = :username AND a.address = :address AND a.last_at > :since)
    """
)
def is_known_address(connection: Connection, username: str, address: str, since: datetime) -> bool:
    """Whether the user of this name signed in from this address after `since`."""


@query.run(
    """
    INSERT INTO sign_in_addresses (user_id, address, last_at) VALUES (:user_id, :address, :now)
    ON CONFLICT (user_id, address) DO UPDATE SET last_at = EXCLUDED.last_at
    """
)
def note_address(connection: Connection, user_id: int, address: str, now: datetime) -> None:
    """Store the address of a user's sign-in."""


@query.run("DELETE FROM sign_in_addresses WHERE last_at < :moment")
def delete_addresses_before(connection: Connection, moment: datetime) -> int:
    """Delete addresses without a sign-in since `moment`. Returns how many."""
