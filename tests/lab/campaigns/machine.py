"""A small service for faults: Postgres, broker and bridge, each of which can be killed."""

import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts import guardian
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import Probe, free_port, wait_until
from shared.postgres.door import engine_for
from tests import migrated

BACK_SECONDS: Final = 240.0  # the longest wait for a component, on a machine of any speed
SETTLE_SECONDS: Final = 0.1
TICKS_PER_SECOND: Final = os.sysconf("SC_CLK_TCK")


@dataclass
class Component:
    """A program that can be started, killed with its children, and started again on its data."""

    name: str
    command: Sequence[str]
    ready: Probe
    log: Path
    stop_signal: signal.Signals = signal.SIGTERM
    user: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None
    exits: int = 0  # how often it ended by itself
    folder: Path = REPOSITORY  # the code that it runs

    def start(self) -> None:
        """Start it without waiting. It gets its own session, because the scheduler shares time by sessions."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                guardian.launch(self.command, self.stop_signal, self.user),
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def pids(self) -> set[int]:
        """Its process and all processes below it."""
        return set() if self.process is None else {self.process.pid} | guardian.descendants(self.process.pid)

    def look(self) -> None:
        """If it ended by itself, count that, and restart it as its supervisor would."""
        if self.process is not None and self.process.poll() is not None:
            self.exits += 1
            self.start()

    def signal(self, number: signal.Signals) -> None:
        for pid in self.pids:
            guardian.send(pid, number)

    def kill(self) -> None:
        """Kill -9 its process and all processes below it, and wait for their end."""
        below = self.pids
        for pid in below:
            guardian.send(pid, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
            guardian.send_group(self.process.pid, signal.SIGKILL)
        self.process = None
        wait_until(lambda: not below & set(guardian.parents()) or _only_dead(below), 60)

    def wait_until_ready(self) -> float:
        """Wait until it answers. Returns the seconds."""
        began = time.monotonic()
        wait_until(self.ready, BACK_SECONDS)
        return time.monotonic() - began

    def stop(self) -> None:
        """Stop it in order, or by force after a timeout."""
        if self.process is None:
            return
        self.signal(signal.SIGCONT)
        guardian.send(self.process.pid, self.stop_signal)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()


def _only_dead(pids: set[int]) -> bool:
    """Whether all of these have ended; another process's zombie counts as ended."""
    return all(_state(pid) in {"Z", "X", ""} for pid in pids)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def processor_seconds(pid: int) -> float:
    """The processor seconds of a process with its threads, and of its ended children."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended, and its parent counts it
        return 0.0
    return sum(int(field) for field in fields[11:15]) / TICKS_PER_SECOND


@dataclass
class Machine:
    """The running components."""

    folder: Path
    database: Component
    broker: Component
    bridge: Component
    place: mosquitto.Broker
    passwords: dict[str, str]
    database_url: str
    health_port: int
    cluster: postgres.Cluster

    @property
    def components(self) -> dict[str, Component]:
        return {one.name: one for one in (self.database, self.broker, self.bridge)}

    def engine(self) -> Engine:
        """A new engine on its database, disposed of at the end of the block."""
        return engine_for(self.database_url, "faults")

    def batches(self) -> int:
        """How many batches the bridge has committed since it leads; 0 if it does not listen."""
        return batches(self.health_port)

    def counted(self, name: str) -> int:
        """One of the bridge's counters; 0 if it does not listen."""
        return counters(self.health_port).get(name, 0)

    def faults(self) -> list[str]:
        """The faults that the bridge reports."""
        return list(health(self.health_port).get("faults", []))

    def set_displays(self, logins: dict[str, str]) -> None:
        """Replace the displays' logins by these."""
        process = self.broker.process
        assert process is not None
        mosquitto.RunningBroker(self.place, self.passwords, process.pid).set_displays(logins)

    @property
    def exits(self) -> int:
        """How often components ended by themselves."""
        return sum(component.exits for component in self.components.values())

    def looked_after(self) -> None:
        """Restart components that ended by themselves, as the supervisor does, and count it."""
        for component in self.components.values():
            component.look()


def batches(port: int) -> int:
    """How many batches the bridge at this health port has committed since it leads; 0 if it does not listen."""
    return counters(port).get("batches", 0)


def counters(port: int) -> dict[str, int]:
    """The counters of the bridge at this health port since it leads; empty if it does not listen.

    It does not use /readyz: with a backlog of more than ten seconds the canary expires in the broker's queue, and the
    bridge is not ready.
    """
    said = health(port)
    return dict(said["counters"]) if said.get("connected") else {}


def health(port: int) -> dict[str, Any]:
    """The answer of the bridge at this health port to /healthz; empty without an answer."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request("GET", "/healthz")
        return dict(json.loads(connection.getresponse().read()))
    except (OSError, http.client.HTTPException, ValueError):
        return {}
    finally:
        connection.close()


def rows(engine: Engine, statement: str, **parameters: object) -> list[Any]:
    """Run a query in its own transaction. Returns the rows."""
    with engine.connect() as connection:
        return list(connection.execute(sa.text(statement), parameters))


@contextmanager
def machine(
    folder: Path,
    *,
    bridge: bool = True,
    extend: Callable[[str], str] = lambda text: text,
    postgres_settings: Sequence[str] = (),
    durable: bool = True,
    before_database: Callable[[Component], None] = lambda _: None,
) -> Iterator[Machine]:
    """Postgres, broker and bridge as shipped, on free ports, in `folder`; `extend` may change mosquitto.conf."""
    made = _made(folder, extend, postgres_settings, durable)
    before_database(made.database)
    try:
        for component in (made.database, made.broker):
            component.start()
            component.wait_until_ready()
        if bridge:
            made.bridge.start()
            made.bridge.wait_until_ready()
        yield made
    finally:
        for component in (made.bridge, made.broker, made.database):
            component.stop()


def _made(folder: Path, extend: Callable[[str], str], settings: Sequence[str], durable: bool) -> Machine:
    cluster = migrated.copied(folder)
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port())
    passwords = {user: secrets.token_urlsafe(24) for user in mosquitto.SERVICES}
    mosquitto.prepare(place, passwords)
    place.configuration.write_text(extend(mosquitto.configuration(place)), encoding="utf-8")
    options = [part for setting in settings for part in ("-c", setting)]
    database = Component(
        "postgres",
        (*postgres.command(cluster, durable=durable), *options),
        postgres.answers(cluster),
        folder / "postgres.log",
        postgres.STOP_SIGNAL,
        postgres.system_user(),
    )
    broker = Component(
        "broker",
        mosquitto.command(place),
        mosquitto.answers(place),
        folder / "broker.log",
        mosquitto.STOP_SIGNAL,
        mosquitto.system_user(),
    )
    url = migrated.url_of(cluster)
    port = free_port()
    command = (sys.executable, "-m", "bridge.main")
    environment = {
        "DATABASE_URL": url,
        "MQTT_URL": place.services_url,
        "MQTT_USERNAME": "bridge",
        "MQTT_PASSWORD": passwords["bridge"],
        "BRIDGE_HEALTH_PORT": str(port),
    }
    bridge = Component("bridge", command, lambda: batches(port) > 0, folder / "bridge.log", environment=environment)
    return Machine(folder, database, broker, bridge, place, passwords, url, port, cluster)
