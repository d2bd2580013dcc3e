"""Snoozes: until a given time no messages are sent about the fleet, a site or a client."""

from datetime import datetime

from sqlalchemy import Connection

from shared.clients import operations as clients
from shared.errors import SnoozeNotFound
from shared.notifications import snoozes_rules, snoozes_store
from shared.notifications.snoozes_rules import KeptSnooze, Snoozed
from shared.vocabulary import SnoozeScope


def begin(
    connection: Connection, now: datetime, scope: SnoozeScope, whom: str | None, until: datetime, reason: str, by: str
) -> KeptSnooze:
    """Begin a snooze of the fleet, or of the site or client `whom`. Returns its row.

    Raises SnoozeRefused or ClientNotFound.
    """
    snoozes_rules.check(now, until)
    if scope is SnoozeScope.CLIENT:
        clients.find(connection, whom or "")
    return find(connection, snoozes_store.insert(connection, now, scope, whom, until, reason, by))


def find(connection: Connection, snooze_id: int) -> KeptSnooze:
    """One snooze. Raises SnoozeNotFound."""
    row = snoozes_store.get(connection, snooze_id)
    if row is None:
        raise SnoozeNotFound
    return row


def end(connection: Connection, now: datetime, snooze_id: int, by: str) -> bool:
    """End a snooze; False when it had ended already. Raises SnoozeNotFound."""
    if snoozes_store.end(connection, now, snooze_id, by):
        return True
    find(connection, snooze_id)
    return False


def snoozed(connection: Connection, now: datetime) -> Snoozed:
    """The fleet, sites and clients that are snoozed now."""
    on = snoozes_store.on(connection, now)
    return Snoozed(
        fleet=any(row.scope == SnoozeScope.FLEET for row in on),
        sites=frozenset(row.site for row in on if row.site is not None),
        clients=frozenset(row.client_uuid for row in on if row.client_uuid is not None),
    )
