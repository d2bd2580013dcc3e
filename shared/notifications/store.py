"""SQL of the decision as a whole."""

from typing import Final

from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query

NOTIFICATIONS_LOCK: Final = 7_305_007  # advisory lock of the transaction that decides
LOCK = Query("SELECT pg_advisory_xact_lock(:lock)", NO_ROW)


def lock_notifications(connection: Connection) -> None:
    """Wait until no other transaction decides what to tell."""
    LOCK.run(connection, lock=NOTIFICATIONS_LOCK)
