"""Logins by the ten thousand, and logins that change all the time: the broker goes on answering everybody else."""

import json
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from paho.mqtt.client import Client

from bridge.broker_accounts import SIGNAL_SECONDS
from deploy.local import broker as mosquitto
from shared.access.rules import mosquitto_hash
from tests.bridge.conftest import Database, eventually
from tests.bridge.test_broker_accounts import WITHIN_SECONDS, enrol, may_connect, running
from tests.local.mqtt_clients import NO_SUBSCRIBERS, Seen, connected, publish

LOGINS: Final = 10_000
CHURN_SECONDS: Final = 2.5
LONGEST_ANSWER_SECONDS: Final = 1.0
FLEET = (
    "WITH made AS (INSERT INTO clients (uuid, registered_by)"
    " SELECT gen_random_uuid()::text, 'enrolment' FROM generate_series(1, :many) RETURNING uuid)"
    " INSERT INTO display_logins (client_uuid, password_hash, created_at) SELECT uuid, :hash, now() FROM made"
)


@pytest.fixture
def fleet(database: Database) -> Iterator[str]:
    """The password of ten thousand displays; afterwards they are gone."""
    database.do(FLEET, many=LOGINS, hash=mosquitto_hash("one of many", b"twelve bytes"))
    yield "one of many"
    database.do("DELETE FROM display_logins")


def a_member(database: Database) -> str:
    """One of them."""
    return str(database.value("SELECT min(client_uuid) FROM display_logins"))


def said(log: Path, event: str) -> list[dict[str, Any]]:
    """Each time that broker_accounts wrote the file (`accounts_written`), or told the broker (`accounts_told`)."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line.get("event") == event]


@contextmanager
def asking(client: Client, seen: Seen, topic: str) -> Iterator[list[float]]:
    """How long each of many publishes waited for its answer, for as long as the block lasts."""
    took: list[float] = []
    over = threading.Event()

    def ask() -> None:
        while not over.wait(0.01):
            began = time.monotonic()
            assert publish(client, seen, topic) in (0, NO_SUBSCRIBERS)
            took.append(time.monotonic() - began)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield took
    finally:
        over.set()
        thread.join(10)


def test_ten_thousand_logins_that_change_all_the_time_keep_nobody_waiting(
    database_url: str, broker: mosquitto.RunningBroker, database: Database, fleet: str, tmp_path: Path
) -> None:
    member, one, gone = a_member(database), str(uuid.uuid4()), str(uuid.uuid4())
    for name in (one, gone):
        enrol(database, name, "one")
    member = database.value(
        "SELECT client_uuid FROM display_logins WHERE client_uuid NOT IN (:a, :b) LIMIT 1", a=one, b=gone
    )
    port = broker.broker.displays_port
    with running(database_url, broker, tmp_path / "accounts.log") as log:
        eventually(lambda: may_connect(broker, member, fleet))
        assert said(log, "accounts_written")[-1]["logins"] == LOGINS + 2
        with (
            connected(port, one, "one") as (client, seen),
            connected(port, gone, "one") as (_, cut),
            connected(port, member, fleet) as (_, kept),
            asking(client, seen, f"signage/{one}/heartbeat") as took,
        ):
            until = time.monotonic() + CHURN_SECONDS
            while time.monotonic() < until:
                enrol(database, str(uuid.uuid4()), "new")
            database.do("UPDATE display_logins SET revoked_at = now() WHERE client_uuid = :u", u=gone)

            assert cut.disconnected.wait(WITHIN_SECONDS)
            assert [others.disconnected.is_set() for others in (seen, kept)] == [False, False]

    times = [datetime.fromisoformat(line["time"]) for line in said(log, "accounts_told")]
    print(f"{len(took)} answers, the slowest after {max(took) * 1000:.0f} ms; told {len(times)} times")
    assert max(took) < LONGEST_ANSWER_SECONDS
    assert len(times) >= 3
    assert min((later - earlier).total_seconds() for earlier, later in pairwise(times)) > 0.99 * SIGNAL_SECONDS
