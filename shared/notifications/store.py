"""SQL of the decision as a whole."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

NOTIFICATIONS_LOCK: Final = 7_305_007  # advisory lock of the transaction that decides


def lock_notifications(connection: Connection) -> None:
    """Wait until no other transaction decides what to tell."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(NOTIFICATIONS_LOCK)))
