"""The shown states that change by the mere passage of time."""

from datetime import timedelta

from sqlalchemy import Connection

from shared.clients.statuses import operations as statuses
from shared.db import database_now
from shared.listening import rules as listening
from shared.listening import store as listening_store
from shared.structured_log import event


def sweep(database: Connection, stale_seconds: int, canary_max_age: timedelta) -> None:
    """Bring what is stored up to now; silence counts only while the canary was no older than `canary_max_age`."""
    now = database_now(database)
    heard = listening.listening(listening_store.bridge_status(database), now, canary_max_age)
    if changed := statuses.sweep(database, now, stale_seconds, heard):
        event("statuses_swept", "shown states changed with time", changed=changed)
