"""The lock of the decision on messages."""

from typing import Final

from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query

NOTIFICATIONS_LOCK: Final = 7_305_007  # advisory lock of the transaction that decides which messages to send
LOCK = Query("SELECT pg_advisory_xact_lock(:lock)", NO_ROW)


def lock_notifications(connection: Connection) -> None:
    """Wait until no other transaction decides which messages to send."""
    LOCK.run(connection, lock=NOTIFICATIONS_LOCK)
