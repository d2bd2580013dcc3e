"""Channels, and queries for their messages, for the tests of notifications."""

from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection

from extensions.notifications import operations
from extensions.notifications.channels import operations as channels
from extensions.notifications.channels.operations import NewChannel
from extensions.notifications.channels.rules import DEFAULT_EVENTS
from extensions.notifications.operations import Decided
from shared import config
from shared.tables import notification_deliveries as deliveries
from shared.vocabulary import ChannelKind
from tests.stores.commands_world import add_client

SETTINGS: Final = config.load({"PUBLIC_URL": "https://signage.test", "CRASH_RECOVERY_ENABLED": "true"})
MINUTE: Final = timedelta(minutes=1)
SECRET_URL: Final = "https://hooks.example.org/T0P-SECRET-path?key=s3cr3t"


def channel(connection: Connection, at: datetime, name: str = "On call", **facts: Any) -> int:
    """Add a channel that reports what begins after `at`. Returns its id."""
    wanted = {
        "name": name,
        "kind": ChannelKind.WEBHOOK,
        "url": SECRET_URL,
        "signing_secret": None,
        "events": DEFAULT_EVENTS,
        "delay": 2 * MINUTE,
        "sites": None,
        "hours": None,
        "critical_passes": True,
        "enabled": True,
    }
    return channels.add(connection, at, NewChannel(**{**wanted, **facts}), "user:anna").id


def display(connection: Connection, now: datetime, name: str = "Lobby", site: str = "Rome") -> str:
    """Add a running display that was just heard. Returns its uuid."""
    return add_client(connection, now, site=site, status="running", name=name)


def decide(connection: Connection, at: datetime) -> Decided:
    return operations.decide(connection, at, SETTINGS)


def told(connection: Connection, channel_id: int | None = None) -> list[tuple[str, str]]:
    """(phase, title) of every message in the outbox that was not folded into another, the oldest first."""
    query = sa.select(deliveries.c.phase, deliveries.c.message["title"].astext.label("title")).where(
        deliveries.c.folded_into.is_(None)
    )
    if channel_id is not None:
        query = query.where(deliveries.c.channel_id == channel_id)
    return [(phase, title) for phase, title in connection.execute(query.order_by(deliveries.c.id))]


def messages(connection: Connection) -> list[Any]:
    """Every message, the oldest first."""
    return list(connection.execute(sa.select(deliveries.c.message).order_by(deliveries.c.id)).scalars())


def deliver_all(connection: Connection, at: datetime) -> None:
    """Mark all waiting messages as delivered."""
    waits = deliveries.c.state == "pending"
    connection.execute(sa.update(deliveries).where(waits).values(state="delivered", finished_at=at))


def states(connection: Connection) -> list[tuple[str, str]]:
    """(phase, state) of every message, the oldest first."""
    query = sa.select(deliveries.c.phase, deliveries.c.state).order_by(deliveries.c.id)
    return [(phase, state) for phase, state in connection.execute(query)]


def settle(connection: Connection, *moments: datetime) -> None:
    """At each of these moments decide what is told, and deliver it."""
    for at in moments:
        decide(connection, at)
        deliver_all(connection, at)
