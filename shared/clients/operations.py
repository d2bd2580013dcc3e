"""What people do with a client: look it up, write its facts, acknowledge its failure, delete it."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection

from shared.clients import rules, store
from shared.clients.store import WholeClient
from shared.errors import BrokerUnavailable, ClientNotFound, ClientNotListening
from shared.vocabulary import LogLevel, PublishAnswer

if TYPE_CHECKING:
    from shared.outside.mqtt import Publisher

LOG_LEVEL_EXPIRY_SECONDS: Final = 300  # 20-mqtt: a display that connects later than that is not told


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
    """Write name, site, tags or notes and answer the client as it is then.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    if facts and not store.update_facts(connection, uuid, facts):
        raise ClientNotFound
    return find(connection, uuid)


def delete(connection: Connection, now: datetime, uuid: str) -> None:
    """Delete a client softly: its history stays, its late messages are put aside.

    Raises:
        ClientNotFound: there is none with this uuid.
    """
    if not store.tombstone(connection, now, uuid):
        raise ClientNotFound


def clear_service_failed(
    connection: Connection, now: datetime, uuid: str, by: str, expected: datetime | None
) -> tuple[WholeClient, bool]:
    """Acknowledge the failure: the client, and whether there was one to clear (a clean client is left as it is).

    `expected` is the time of the failure that the caller saw; the row stays locked between the look and
    the write, so that a failure that arrives in between is not acknowledged unseen.

    Raises:
        ClientNotFound: there is none with this uuid.
        FailureChanged: it failed again since.
    """
    failure = store.lock_failure(connection, uuid)
    if failure is None:
        raise ClientNotFound
    rules.check_still_that_failure(failure.service_failed_at, expected)
    cleared = store.clear_service_failed(connection, now, uuid, by)
    return find(connection, uuid), cleared


def order_log_level(publisher: "Publisher", uuid: str, level: LogLevel, length: timedelta, deadline: float) -> None:
    """Tell a display to log from `level` on for the next `length`; `deadline` as in `Publisher.publish`.

    Raises:
        ClientNotListening: the broker proved that nobody got it.
        BrokerUnavailable: the broker is away, did not answer, or does not let us publish this.
    """
    order = {"level": level.value, "until": int(length.total_seconds())}
    topic = publisher.topics.log_level(uuid)
    answer = publisher.publish(topic, json.dumps(order).encode(), LOG_LEVEL_EXPIRY_SECONDS, deadline)
    if answer == PublishAnswer.NO_SUBSCRIBER:
        raise ClientNotListening
    if answer != PublishAnswer.SUCCESS:
        raise BrokerUnavailable(f"The MQTT broker refused the message (reason code 0x{answer:02x}).")
