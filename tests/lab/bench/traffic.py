"""The messages for measuring listeners: 60 % heartbeats, 30 % health, 10 % logs of 5,000 clients, QoS 1.

Before you change the statements of a batch, run `EXPLAIN (ANALYZE, BUFFERS, WAL)` with a batch of these.
"""

import json
import random
import selectors
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from deploy.parts import broker as mosquitto
from tests.lab.campaigns.machine import Machine, machine
from tests.lab.campaigns.wire import Wire

CLIENTS: Final = 5_000
USER, PASSWORD = "bench", "bench-password"
WINDOW: Final = 2_000
BOOT: Final = str(uuid.UUID(int=42))


@dataclass
class Traffic:
    """Makes messages by seed, with continuous numbers like a display's."""

    seed: int = 1
    clients: int = CLIENTS
    logs: int = 0  # how many messages were made
    _seqs: dict[tuple[int, str], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = random.Random(self.seed)
        self.uuids = [str(uuid.UUID(int=chance.getrandbits(128), version=4)) for _ in range(self.clients)]
        self._chance = chance

    def greetings(self) -> list[tuple[bytes, bytes]]:
        """One heartbeat of each client, which registers it."""
        return [self.message(number, "heartbeat") for number in range(self.clients)]

    def introductions(self) -> list[tuple[bytes, bytes]]:
        """Two reports of each kind from each client, as sent in the first minute: then the bridge remembers them."""
        kinds = ("heartbeat", "health", "logs") * 2
        return [self.message(number, kind) for kind in kinds for number in range(self.clients)]

    def messages(self, count: int) -> list[tuple[bytes, bytes]]:
        """Topic and payload of `count` messages."""
        kinds = self._chance.choices(("heartbeat", "health", "logs"), (60, 30, 10), k=count)
        return [self.message(self._chance.randrange(self.clients), kind) for kind in kinds]

    def message(self, number: int, kind: str) -> tuple[bytes, bytes]:
        """The next heartbeat, health report or log line of this client."""
        seq = self._seqs[number, kind] = self._seqs.get((number, kind), 0) + 1
        stamp = {"install_id": f"installation-{number}", "boot_seq": 1, "seq": seq, "ts": "2026-01-02T03:04:05Z"}
        body: dict[str, Any] = {**_BODIES[kind], **stamp}
        self.logs += kind == "logs"
        last = "logs/info" if kind == "logs" else kind
        return f"signage/{self.uuids[number]}/{last}".encode(), json.dumps(body).encode()


_BODIES: Final[dict[str, dict[str, Any]]] = {
    "heartbeat": {"boot_id": BOOT, "app_instance": "a", "process_status": "running", "interval_seconds": 30},
    "health": {
        "screen_health": "ok",
        "cpu_percent": 12.5,
        "memory_percent": 40.1,
        "disk_percent": 55.0,
        "temperature_celsius": 51.5,
        "app_version": "1.4.2",
        "os": "Debian 12",
        "ip": "10.0.0.7",
        "hostname": "lobby",
        "service_failed": None,
        "recent_acks": [],
        "broker_connection": {"reconnect_count": 2, "last_disconnect_at": "2026-01-01T00:00:00Z"},
    },
    "logs": {"message": "playlist advanced to the next item", "logger": "player", "context": {"item": 5}},
}


@contextmanager
def bench_machine(
    folder: Path,
    *,
    bridge: bool,
    postgres_settings: tuple[str, ...] = (),
    extend: Callable[[str], str] = lambda text: text,
) -> Iterator[tuple[Machine, int]]:
    """A machine, and the port of a listener whose one user has all rights.

    `extend` may change the shipped mosquitto.conf.
    """

    def with_user(text: str) -> str:
        run = folder / "run"
        with (run / "services.passwords").open("a") as passwords, (run / "all.acl").open("a") as rights:
            passwords.write(mosquitto.password_lines({USER: PASSWORD}))
            rights.write(f"\nuser {USER}\ntopic readwrite signage/#\n")
        return extend(text).replace("plugin_opt_services ", f"plugin_opt_services {USER},")

    with machine(folder, bridge=bridge, extend=with_user, postgres_settings=postgres_settings) as service:
        yield service, service.place.services_port


def publish(port: int, messages: list[tuple[bytes, bytes]], per_second: float | None = None) -> float:
    """Publish all messages and wait for the broker's answers. Returns the seconds."""
    return publish_made(port, len(messages), lambda number: messages[number], per_second)


def publish_made(
    port: int, count: int, made: Callable[[int], tuple[bytes, bytes]], per_second: float | None = None
) -> float:
    """Like `publish`, with messages that are made just before they are sent; evenly paced with `per_second`."""
    wire = Wire.connect(port, USER, PASSWORD)
    began = time.monotonic()
    sent = 0
    with selectors.DefaultSelector() as selector:
        selector.register(wire, selectors.EVENT_READ)
        while sent < count or wire.unanswered:
            allowed = count if per_second is None else min(count, int((time.monotonic() - began) * per_second))
            while sent < allowed and len(wire.unanswered) < WINDOW:
                wire.publish(*made(sent))
                sent += 1
            wire.flush()
            if selector.select(0.0005 if per_second is not None or wire.outgoing else 0.05):
                wire.take()
    wire.close()
    return time.monotonic() - began
