"""Use cases of people on a client: find it, write its facts, acknowledge its failure, delete it."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from shared.clients import failures_store, rules, store
from shared.clients.store import WholeClient
from shared.errors import BrokerUnavailable, ClientNotFound, ClientNotListening
from shared.vocabulary import LogLevel, PublishAnswer

if TYPE_CHECKING:
    from shared.outside.mqtt import Publisher

LOG_LEVEL_EXPIRY_SECONDS: Final = 300  # a display that connects later does not get the order


def find(connection: Connection, uuid: str) -> WholeClient:
    """The client with its details.

    Raises:
        ClientNotFound: there is none with this uuid, or it was deleted.
    """
    row = store.get(connection, uuid)
    if row is None:
        raise ClientNotFound
    return row


def check_known(connection: Connection, uuid: str) -> None:
    """Raises ClientNotFound when there is no client with this uuid, or it was deleted."""
    if not store.is_known(connection, uuid):
        raise ClientNotFound


def write_facts(connection: Connection, uuid: str, facts: Mapping[str, Any]) -> WholeClient:
    """Write name, site, tags or notes. Returns the client after it.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    if facts and not store.update_facts(connection, uuid, facts):
        raise ClientNotFound
    return find(connection, uuid)


def delete(connection: Connection, now: datetime, uuid: str) -> None:
    """Delete a client softly: its history stays; its later messages become dead letters.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    if not store.tombstone(connection, now, uuid):
        raise ClientNotFound


def clear_service_failed(
    connection: Connection, now: datetime, uuid: str, by: str, expected: datetime | None
) -> tuple[WholeClient, bool]:
    """Acknowledge the open failure. Returns the client, and whether it had a failure.

    `expected`: the time of the failure that the caller saw. The row stays locked between check and write, so that
    nobody acknowledges an unseen failure.

    Raises:
        ClientNotFound: there is none with this uuid.
        FailureChanged: it failed again since.
    """
    failure = failures_store.lock_failure(connection, uuid)
    if failure is None:
        raise ClientNotFound
    rules.check_still_that_failure(failure.service_failed_at, expected)
    cleared = failures_store.clear_service_failed(connection, now, uuid, by)
    return find(connection, uuid), cleared


def order_log_level(publisher: "Publisher", uuid: str, level: LogLevel, length: timedelta, deadline: float) -> None:
    """Order a display to send logs from `level` on for `length`. `deadline`: see `Publisher.publish`.

    Raises:
        ClientNotListening: the broker said that the display is not connected.
        BrokerUnavailable: the broker is away, did not answer, or forbids this topic.
    """
    order = {"level": level.value, "until": int(length.total_seconds())}
    topic = publisher.topics.log_level(uuid)
    answer = publisher.publish(topic, json.dumps(order).encode(), LOG_LEVEL_EXPIRY_SECONDS, deadline)
    if answer == PublishAnswer.NO_SUBSCRIBER:
        raise ClientNotListening
    if answer != PublishAnswer.SUCCESS:
        raise BrokerUnavailable("broker_refused_message", facts={"reason": f"0x{answer:02x}"})
