"""The shown states that change by the mere passage of time."""

from datetime import timedelta

from sqlalchemy import Connection

from shared.clients import statuses_operations
from shared.leadership import rules as leadership
from shared.leadership import store as leadership_store
from shared.postgres.door import database_now
from shared.structured_log import event


def sweep(database: Connection, stale_seconds: int, canary_max_age: timedelta) -> None:
    """Bring what is stored up to now; silence counts only while the canary was no older than `canary_max_age`."""
    now = database_now(database)
    heard = leadership.listening(leadership_store.bridge_status(database), now, canary_max_age)
    if changed := statuses_operations.sweep(database, now, stale_seconds, heard):
        event("statuses_swept", "shown states changed with time", changed=changed)
