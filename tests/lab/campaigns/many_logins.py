"""Tens of thousands of logins change all the time, and the broker still answers other clients."""

import json
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from paho.mqtt.client import Client
from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from deploy.parts.probes import connect_code, wait_until
from deploy.parts.short_lived import running
from shared.access.rules import mosquitto_hash
from shared.postgres.door import engine_for, transaction
from tests import migrated
from tests.lab.campaigns.ledger import Ledger, tell
from tests.local.mqtt_clients import NO_SUBSCRIBERS, Seen, connected, publish

LONGEST_ANSWER_SECONDS: Final = 1.0
WITHIN_SECONDS: Final = 2.0  # until an enrolled display can connect and a revoked one is disconnected
TIMES: Final = 4  # how often the file is written while logins change
FLEET: Final = (
    "WITH made AS (INSERT INTO clients (uuid, registered_by)"
    " SELECT gen_random_uuid()::text, 'enrolment' FROM generate_series(1, :many) RETURNING uuid)"
    " INSERT INTO display_logins (client_uuid, password_hash, created_at) SELECT uuid, :hash, now() FROM made"
)
ENROL: Final = (
    "WITH made AS (INSERT INTO clients (uuid, registered_by) VALUES (:name, 'enrolment') RETURNING uuid)"
    " INSERT INTO display_logins (client_uuid, password_hash, created_at) SELECT uuid, :hash, now() FROM made"
)
ONE_OF_THEM: Final = "SELECT min(client_uuid) FROM display_logins"
REVOKE: Final = "UPDATE display_logins SET revoked_at = now() WHERE client_uuid = :name"
PASSWORD: Final = "one of many"
HASH: Final = mosquitto_hash(PASSWORD, b"twelve bytes")


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    logins: int = 10_000
    seed: int = 1


@dataclass(frozen=True)
class Place:
    """A migrated database, a broker, and the log of the program that updates the broker's logins."""

    engine: Engine
    broker: mosquitto.RunningBroker
    log: Path

    def do(self, statement: str, **parameters: Any) -> None:
        with transaction(self.engine) as connection:
            connection.execute(sa.text(statement), parameters)

    def may_connect(self, name: str) -> bool:
        return connect_code(self.broker.broker.displays_port, name, PASSWORD) == 0

    def enrolled(self) -> str:
        """Enrol a new display. Returns its uuid."""
        name = str(uuid.uuid4())
        self.do(ENROL, name=name, hash=HASH)
        return name

    def said(self, event: str) -> list[dict[str, Any]]:
        """The log lines of this event, such as `accounts_written`."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") == event]


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("many_logins", plan.seed, {"logins": plan.logins})
    began = time.monotonic()
    with migrated.running() as cluster, mosquitto.throw_away() as broker:
        url = migrated.url_of(cluster)
        engine = engine_for(url, "many_logins", pool_size=4)
        change_all_the_time(plan, url, Place(engine, broker, folder / "accounts.log"), ledger, say)
        engine.dispose()
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def change_all_the_time(plan: Plan, url: str, place: Place, ledger: Ledger, say: Callable[[str], None]) -> None:
    """One display talks, one is idle, one is revoked, and new displays are enrolled all the time."""
    place.do(FLEET, many=plan.logins, hash=HASH)
    with transaction(place.engine) as connection:
        member = str(connection.execute(sa.text(ONE_OF_THEM)).scalar_one())
    one, gone = place.enrolled(), place.enrolled()
    port = place.broker.broker.displays_port
    with (
        _accounts(url, place, (one, gone, member)),
        connected(port, one, PASSWORD) as (client, seen),
        connected(port, gone, PASSWORD) as (_, cut),
        connected(port, member, PASSWORD) as (_, kept),
        _asking(client, seen, f"signage/{one}/heartbeat") as took,
    ):
        before = len(place.said("accounts_written"))
        while len(place.said("accounts_written")) < before + TIMES:
            newest = place.enrolled()
        heard_after = _seconds_until(lambda: place.may_connect(newest))
        place.do(REVOKE, name=gone)
        cut_after = _seconds_until(cut.disconnected.is_set)
        others = [seen.disconnected.is_set(), kept.disconnected.is_set()]
    written = place.said("accounts_written")
    say(f"{len(took)} answers, the slowest after {max(took) * 1000:.0f} ms; written {len(written)} times")
    ledger.counted |= {
        "answers": len(took),
        "slowest_answer_milliseconds": round(max(took) * 1000, 1),
        "may_connect_after_seconds": round(heard_after, 2),
        "cut_after_seconds": round(cut_after, 2),
        "written": len(written),
    }
    ledger.conditions["nobody else loses the connection"] = others == [False, False]
    ledger.conditions["every login is written"] = written[-1]["logins"] >= plan.logins
    ledger.limits["the broker answers within 1 s"] = max(took) < LONGEST_ANSWER_SECONDS
    ledger.limits["an enrolled display may connect within 2 s"] = heard_after < WITHIN_SECONDS
    ledger.limits["a revoked display is cut within 2 s"] = cut_after < WITHIN_SECONDS


@contextmanager
def _accounts(url: str, place: Place, names: Sequence[str]) -> Iterator[None]:
    """Run `broker_accounts`; the block starts when these displays can connect."""
    files = place.broker.broker
    environment = {
        "DATABASE_URL": url,
        "DISPLAYS_PASSWORD_FILE": str(files.displays_password_file),
        "BROKER_CRASHES_FILE": str(files.crashes_file),
    }
    command = [sys.executable, "-m", "deploy.parts.broker_accounts"]
    with running(command, lambda: all(map(place.may_connect, names)), place.log, environment=environment):
        yield


@contextmanager
def _asking(client: Client, seen: Seen, topic: str) -> Iterator[list[float]]:
    """Publish repeatedly during the block; the list gets the time that each answer took."""
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
        thread.join()


def _seconds_until(true: Callable[[], bool]) -> float:
    began = time.monotonic()
    wait_until(true, 60)
    return time.monotonic() - began
