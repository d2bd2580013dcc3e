"""The bridge as a real process, with a real broker and a real Postgres."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from deploy.parts.broker_rights import DOWNWARD
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import free_port
from shared.client_logs.rules import Budget
from tests import migrated
from tests.bridge.preloaded import Forked
from tests.constants import Constants

PASSWORD = "display-password"
SECONDS = 60.0
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.01, 0.1  # between two questions of `eventually`
SESSIONS = 2  # sessions of a bridge at the broker: bridge/lanes.py


@dataclass
class BridgeProcess:
    """A running bridge."""

    process: "subprocess.Popen[bytes] | Forked"
    health_port: int
    log: Path

    def ready(self) -> bool:
        return self.ask("/readyz")[0] == 200

    def ask(self, path: str, patience_seconds: float = SECONDS) -> tuple[int, dict[str, Any]]:
        """GET a path of the health port. Returns status and body; status 0 without an answer."""
        try:
            url = f"http://{LOOPBACK}:{self.health_port}{path}"
            with urllib.request.urlopen(url, timeout=patience_seconds) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)
        except OSError:
            return 0, {}

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def events(self) -> list[str]:
        """The names of its logged events, in order."""
        return [line["event"] for line in self.lines() if "event" in line]

    def lines(self) -> list[dict[str, Any]]:
        """What it logged, in order."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]


StartBridge = Callable[..., BridgeProcess]


@pytest.fixture
def start_bridge(database_url: str, broker: mosquitto.RunningBroker, tmp_path: Path) -> Iterator[StartBridge]:
    """Starts a bridge on the module's database and the session's broker, and by default waits until it listens."""
    with bridges(database_url, broker, tmp_path, preloaded=True) as start:
        yield start


@contextmanager
def bridges(
    database_url: str, broker: mosquitto.RunningBroker, folder: Path, *, preloaded: bool = False
) -> Iterator[StartBridge]:
    """Like the fixture `start_bridge`, for any database and broker. Ends every bridge that it started.

    `preloaded`: a bridge without a `program` of its own is imported before it starts, once for all tests. It cannot
    begin in another network namespace then.
    `constants` of a bridge replace those of the product: tests shorten times of waiting with them.
    """
    started: list[BridgeProcess] = []

    def start(
        *,
        wait: bool = True,
        program: Sequence[str] | None = None,
        constants: Constants | None = None,
        **environment: str,
    ) -> BridgeProcess:
        log = folder / f"bridge-{len(started)}.log"
        port = free_port()
        told = {**os.environ, **settings(database_url, broker), "BRIDGE_HEALTH_PORT": str(port), **environment}
        log.touch()
        if preloaded and program is None:
            process: subprocess.Popen[bytes] | Forked = Forked(told, log, constants)
        else:
            process = from_scratch(program or with_constants(constants or {}), told, log)
        bridge = BridgeProcess(process, port, log)
        started.append(bridge)
        if wait:
            eventually(bridge.ready)
        return bridge

    try:
        yield start
    finally:
        for bridge in started:
            bridge.process.send_signal(signal.SIGCONT)
            bridge.kill()
            print(bridge.log.read_text()[-4000:])
        forget_session(broker)


def budget(per_second: float, burst: float) -> Constants:
    """The constants of a bridge with this budget for the log lines of a display."""
    return {"bridge.loop.LOG_BUDGET": Budget(per_second, burst)}


def with_constants(constants: Constants) -> tuple[str, str]:
    """The program of a bridge with these constants."""
    return "-c", f"from tests.bridge.preloaded import run; run({dict(constants)!r})"


def from_scratch(program: Sequence[str], environment: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("wb") as output:
        command = [sys.executable, *program]
        return subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=output, stderr=output)


def settings(database_url: str, broker: mosquitto.RunningBroker) -> dict[str, str]:
    """The environment of the bridge."""
    return {
        "DATABASE_URL": migrated.address_for("bridge", database_url),
        "MQTT_URL": broker.broker.services_url,
        "MQTT_USERNAME": "bridge",
        "MQTT_PASSWORD": broker.passwords["bridge"],
        "MQTT_TOPIC_ROOT": broker.broker.topic_root,
    }


def forget_session(broker: mosquitto.RunningBroker) -> None:
    """Delete the bridge's sessions and their messages from the broker, for the next test."""
    for user in ("bridge", mosquitto.URGENT):
        client = Client(CallbackAPIVersion.VERSION2, client_id=user, protocol=MQTTProtocolVersion.MQTTv5)
        client.username_pw_set(user, broker.passwords["bridge"])
        client.connect(LOOPBACK, broker.broker.services_port, clean_start=True)
        client.loop_start()
        try:
            eventually(client.is_connected)
        finally:  # otherwise it would reconnect and end the session of the next test's bridge
            client.disconnect()
            client.loop_stop()


@dataclass
class Display:
    """A display's connection to the broker: publishes, and keeps received messages."""

    uuid: str
    client: Client
    root: str = "signage"
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answers: dict[int, int] = field(default_factory=dict)  # message id -> reason code of the PUBACK

    def publish(self, topic: str, body: Mapping[str, Any] | bytes, *, retain: bool = False) -> None:
        """Publish below the display's own topic and wait for the broker's answer."""
        mid = self.publish_soon(topic, body, retain=retain)
        eventually(lambda: mid in self.answers)
        assert self.answers[mid] < 0x80

    def publish_soon(self, topic: str, body: Mapping[str, Any] | bytes, *, retain: bool = False) -> int:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.publish(f"{self.root}/{self.uuid}/{topic}", payload, qos=1, retain=retain).mid

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()
        # In a reference cycle its sockets would be collected before paho closes them.
        self.client.on_message = self.client.on_publish = self.client.on_subscribe = None


ConnectDisplay = Callable[..., Display]


@pytest.fixture
def display(broker: mosquitto.RunningBroker) -> Iterator[Display]:
    """One display with a login."""
    with displays(broker, [str(uuid.uuid4())]) as made:
        yield made[0]


@contextmanager
def displays(broker: mosquitto.RunningBroker, names: list[str]) -> Iterator[list[Display]]:
    """Displays with these user names, connected and subscribed to their downward topics."""
    broker.add_displays(dict.fromkeys(names, PASSWORD))
    made = [connected(broker, name) for name in names]
    try:
        yield made
    finally:
        for one in made:
            one.close()


def connected(broker: mosquitto.RunningBroker, name: str, *, downward: bool = True, root: str = "signage") -> Display:
    """A display that logs in as `name` and uses topics below `root`."""
    client = Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=MQTTProtocolVersion.MQTTv5)
    client.username_pw_set(name, PASSWORD)
    client.max_inflight_messages_set(1000)
    display = Display(name, client, root)

    def told(_client: Client, _data: Any, message: MQTTMessage) -> None:
        display.told.append((message.topic.rpartition("/")[2], json.loads(message.payload)))

    def answered(_client: Client, _data: Any, mid: int, code: ReasonCode, _properties: Any) -> None:
        display.answers[mid] = code.value

    subscribed: list[int] = []
    client.on_message = told
    client.on_publish = answered
    client.on_subscribe = lambda _client, _data, mid, _codes, _properties: subscribed.append(mid)
    client.reconnect_delay_set(1, 1)
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho leaves it without types
    properties.SessionExpiryInterval = 30
    client.connect(LOOPBACK, broker.broker.displays_port, clean_start=False, properties=properties)
    client.loop_start()
    eventually(client.is_connected)
    if downward:
        client.subscribe([(f"{root}/{name}/{topic}", 1) for topic in DOWNWARD])
        eventually(lambda: bool(subscribed))
    return display


@dataclass
class Database:
    """Queries, each in its own transaction."""

    engine: Engine

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [dict(row) for row in connection.execute(sa.text(statement), parameters).mappings()]

    def one(self, statement: str, **parameters: Any) -> dict[str, Any]:
        (row,) = self.rows(statement, **parameters)
        return row

    def value(self, statement: str, **parameters: Any) -> Any:
        (value,) = self.one(statement, **parameters).values()
        return value

    def do(self, statement: str, **parameters: Any) -> None:
        with self.engine.begin() as connection:
            connection.execute(sa.text(statement), parameters)

    def client(self, name: str) -> dict[str, Any]:
        """The client's row, or an empty dict."""
        found = self.rows("SELECT * FROM clients WHERE uuid = :uuid", uuid=name)
        return found[0] if found else {}


@pytest.fixture
def database(engine: Engine) -> Database:
    return Database(engine)


def eventually(question: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until the answer is True. A question that stays open is asked less often: each one costs the bridge time."""
    deadline, pause = time.monotonic() + seconds, SHORTEST_PAUSE_SECONDS
    while not question():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {seconds} s")
        time.sleep(pause)
        pause = min(1.2 * pause, LONGEST_PAUSE_SECONDS)


def stays(question: Callable[[], bool], seconds: float) -> None:
    """Check that the answer stays True for `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert question()
        time.sleep(0.05)


def stamp(seq: int, boot_seq: int = 1, install_id: str = "installation-a") -> dict[str, Any]:
    return {"install_id": install_id, "boot_seq": boot_seq, "seq": seq}
