"""A display that logs thousands of messages a second does not harm its neighbours, and its own losses are reported."""

import json
import select
import signal
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from shared.vocabulary import CommandAction
from tests.bridge.conftest import PASSWORD, SECONDS, Database, Display, StartBridge, budget, displays, eventually, stamp
from tests.bridge.test_messages_reach_their_tables import heartbeat, issue, state
from tests.lab.campaigns.wire import Wire

PER_SECOND = 5_000
WINDOW = 500  # the most unanswered publishes
OVER_BUDGET = "SELECT coalesce(sum((context->>'dropped')::int), 0) FROM client_logs WHERE client_uuid = :u"


@dataclass
class Flood:
    """A display that publishes PER_SECOND plain log messages a second, if the broker takes them."""

    name: str
    port: int
    sent: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Log until stopped, then wait until the broker has answered everything."""
        wire = Wire.connect(self.port, self.name, PASSWORD)
        topic = f"signage/{self.name}/logs/info".encode()
        began = time.monotonic()
        while not self.stop.is_set() or wire.unanswered:
            due = 0 if self.stop.is_set() else int((time.monotonic() - began) * PER_SECOND) - self.sent
            for _ in range(min(due, WINDOW - len(wire.unanswered))):
                wire.publish(topic, b'{"message": "noise"}')
                self.sent += 1
            wire.flush()
            select.select([wire], [], [], 0.005)
            wire.take()
        wire.close()


@contextmanager
def flooding(broker: mosquitto.RunningBroker, name: str) -> Iterator[Flood]:
    """A flood that has started; it ends with the block."""
    flood = Flood(name, broker.broker.displays_port)
    thread = threading.Thread(target=flood.run, name="flood")
    thread.start()
    try:
        eventually(lambda: flood.sent > 5_000)
        yield flood
    finally:
        flood.stop.set()
        thread.join()


def stored(database: Database, name: str, message: str) -> int:
    question = "SELECT count(*) FROM client_logs WHERE client_uuid = :u AND message LIKE :m"
    return int(database.value(question, u=name, m=message))


def dropped(database: Database, name: str) -> int:
    return int(database.value(OVER_BUDGET, u=name))


def test_neighbours_of_a_flood_lose_nothing_and_their_acks_are_recorded_at_once(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, database: Database, engine: Engine
) -> None:
    bridge = start_bridge()
    names = [str(uuid.uuid4()) for _ in range(4)]
    with displays(broker, [*names]) as (noisy, *neighbours):
        for one in neighbours:
            one.publish("heartbeat", heartbeat())
        eventually(lambda: all(database.client(one.uuid) for one in neighbours))
        command = issue(engine, neighbours[0].uuid, CommandAction.RESTART_APP)
        eventually(lambda: state(database, command) == "sent")
        noisy.close()

        with flooding(broker, noisy.uuid) as flood:
            began = flood.sent
            for number in range(1, 51):
                for one in neighbours:
                    one.publish_soon("logs/info", {"message": f"line {number}", **stamp(number)})
            neighbours[0].publish("acks", {"id": command, "state": "received"})
            neighbours[1].publish("service_failed", {"unit": "player", **stamp(1)})
            eventually(lambda: state(database, command) == "received")
            eventually(lambda: database.client(neighbours[1].uuid)["service_failed_unit"] == "player")
            eventually(lambda: all(stored(database, one.uuid, "line %") == 50 for one in neighbours))
            eventually(lambda: flood.sent > began)  # it continued all the time
            eventually(lambda: dropped(database, noisy.uuid) > stored(database, noisy.uuid, "noise"))

        eventually(lambda: stored(database, noisy.uuid, "noise") + dropped(database, noisy.uuid) >= flood.sent)
        kept, lost = stored(database, noisy.uuid, "noise"), dropped(database, noisy.uuid)
        assert kept + lost == flood.sent  # reported exactly
        assert kept >= 500
        assert lost > kept
        eventually(lambda: bridge.ask("/readyz")[1]["counters"]["dropped_logs"] == lost)
        rows = database.rows("SELECT * FROM client_logs WHERE client_uuid = :u AND logger = 'bridge'", u=noisy.uuid)
        minutes = (rows[-1]["received_at"] - rows[0]["received_at"]).total_seconds() / 60
        assert len(rows) <= minutes + 3  # one a minute, not one for each batch
        assert {row["level"] for row in rows} == {"warning"}
        assert rows[-1]["message"].startswith(f"{rows[-1]['context']['dropped']} log messages dropped")
        assert all(dropped(database, one.uuid) == 0 for one in neighbours)
        hours = "SELECT sum(info + warning) FROM client_log_hours WHERE client_uuid = :u"
        assert database.value(hours, u=noisy.uuid) == kept + len(rows)


def test_a_display_that_spools_and_floods_loses_nothing_in_the_end(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    """It does not pace itself: it repeats all uncommitted lines, at once and again after half a second."""
    bridge = start_bridge(constants=budget(per_second=40, burst=40))
    count = 300
    bridge.send(signal.SIGSTOP)  # so that the first three rounds come as one flood, however slow this machine is
    for _ in range(3):
        flood(display, 1, count)
    bridge.send(signal.SIGCONT)
    deadline = time.monotonic() + 10 * SECONDS
    while (mark := committed(display)) < count and time.monotonic() < deadline:
        flood(display, mark + 1, count)
        with suppress(TimeoutError):
            eventually(lambda: committed(display) == count, 0.5)

    assert committed(display) == count
    found = database.rows("SELECT message FROM client_logs WHERE client_uuid = :u", u=display.uuid)
    expected = [f"line {n}" for n in range(1, count + 1)]  # in any order: a slow repeat is awaited for a second only
    assert sorted(row["message"] for row in found) == sorted(expected)
    counters = bridge.ask("/readyz")[1]["counters"]
    assert counters["deferred_logs"] > count
    assert counters["dropped_logs"] == 0


def flood(display: Display, first: int, last: int) -> None:
    """Publish these lines at once, and wait until the broker has them."""
    numbers = [display.publish_soon("logs/info", {"message": f"line {n}", **stamp(n)}) for n in range(first, last + 1)]
    eventually(lambda: all(number in display.answers for number in numbers))


def committed(display: Display) -> int:
    return max((int(body["seq"]) for topic, body in display.told if topic == "logs_committed"), default=0)


A_MINUTE_AGO = "now() - interval '1 minute'"
THREE_HOURS_AGO = "now() - interval '3 hours'"


def test_what_gathered_while_the_bridge_was_away_is_no_flood_nor_known_of_that_time(
    start_bridge: StartBridge, display: Display, database: Database
) -> None:
    first = start_bridge(constants=budget(per_second=50, burst=1))
    display.publish("heartbeat", heartbeat())
    eventually(lambda: bool(database.client(display.uuid)))
    first.kill()
    database.do(f"UPDATE bridge_status SET last_commit_at = {A_MINUTE_AGO}, canary_at = {THREE_HOURS_AGO}")
    database.do(f"UPDATE clients SET status_since = {THREE_HOURS_AGO}")
    database.do(f"UPDATE client_heartbeats SET last_heartbeat_at = {THREE_HOURS_AGO}")
    display.publish("heartbeat", heartbeat())
    numbers = [display.publish_soon("logs/info", json.dumps({"message": f"line {n}"}).encode()) for n in range(2000)]
    eventually(lambda: all(number in display.answers for number in numbers))

    start_bridge(constants=budget(per_second=50, burst=1))

    eventually(lambda: stored(database, display.uuid, "line %") == 2000)
    assert dropped(database, display.uuid) == 0
    changes = database.rows(
        "SELECT to_status, extract(epoch FROM now() - at) AS age FROM client_state_changes"
        " WHERE client_uuid = :u ORDER BY at DESC, id DESC LIMIT 2",
        u=display.uuid,
    )
    assert [change["to_status"] for change in changes] == ["running", "unknown"]
    assert changes[1]["age"] > 3600  # not only since the bridge is back
