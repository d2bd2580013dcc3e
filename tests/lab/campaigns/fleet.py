"""Simulated displays with a spool: light enough for hundreds in one thread, with a ledger of their messages.

Each numbers its log lines and keeps them until `logs_committed`, as docs/protocol.md demands: after a reconnect, or a
pause without progress, it sends the rest again in order. Health reports repeat failures. The ledger is in this process,
which is never killed.
"""

import json
import math
import random
import selectors
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tests.lab.campaigns.machine import Machine
from tests.lab.campaigns.wire import Puback, Received, Wire, WireBroken

PASSWORD: Final = "display-password"
WINDOW: Final = 100  # the most unanswered publishes
RECONNECT_SECONDS: Final = 0.5
ANSWER_SECONDS: Final = 10.0  # for CONNACK and SUBACK, as the agent: one display that waits holds up all others here
PATIENCE_SECONDS: Final = 5.0  # a pause without progress, after which uncommitted lines are sent again; usually 30
LONGEST_PATIENCE_SECONDS: Final = 40.0
OF_ONE_ADDRESS: Final = 10_000  # connections: from half of its 28,000 ports on Linux searches long for a free one
REPORT_SECONDS: Final = 2.0  # between two heartbeats, and two health reports; 30 and 60 in production
HEARTBEAT_EXPIRY, HEALTH_EXPIRY = 30, 300


@dataclass
class Display:
    """One display: its messages, and how far the service has committed them."""

    uuid: str
    install_id: str
    source: str | None = None  # the address that it connects from
    wire: Wire | None = None
    lines: int = 0  # how many lines were made; line n has the text "line n"
    sent: int = 0  # how many were sent on this connection
    taken: int = 0  # how many the broker has answered at least once
    committed: int = 0
    failures: int = 0  # number of the last service failure; 0: none
    tells_failure: bool = False  # whether it must still be sent on its topic
    seq: int = 0  # the last numbers of heartbeats and health reports
    repeats: int = 0
    flood: int = 0  # heartbeats to send as fast as the broker accepts them
    connect_at: float = 0.0
    progress_at: float = 0.0
    patience: float = PATIENCE_SECONDS
    heartbeat_at: float = 0.0
    health_at: float = 0.0
    waiting: dict[int, int] = field(default_factory=dict)  # publish -> line

    def stamp(self, seq: int) -> dict[str, Any]:
        return {"install_id": self.install_id, "boot_seq": 1, "seq": seq}

    def topic(self, last: str) -> bytes:
        return f"signage/{self.uuid}/{last}".encode()

    @property
    def standing_failure(self) -> dict[str, Any] | None:
        return {"unit": f"unit-{self.failures}", **self.stamp(self.failures)} if self.failures else None


class Fleet:
    """All displays, run by one thread between `start` and `stop`."""

    def __init__(
        self,
        port: int,
        count: int,
        seed: int,
        report_seconds: float = REPORT_SECONDS,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """`port`: the displays' listener; `seed` decides the displays.

        `report_seconds`: between two reports. `patience_seconds`: a pause without progress, before a first resend.
        """
        chance = random.Random(seed)
        self.displays = [
            Display(
                str(uuid.UUID(int=chance.getrandbits(128), version=4)),
                f"installation-{number}",
                f"127.0.0.{1 + number // OF_ONE_ADDRESS}" if count > OF_ONE_ADDRESS else None,
            )
            for number in range(count)
        ]
        self.logins = {one.uuid: PASSWORD for one in self.displays}
        self.heartbeats = 0
        self.most_waiting = 0  # the most lines that the broker had accepted and that were not committed
        self._port = port
        self._report_seconds = report_seconds
        self._patience_seconds = patience_seconds
        self._chance = chance
        self._selector = selectors.DefaultSelector()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fleet")
        self._broken: BaseException | None = None

    @property
    def lines(self) -> int:
        return sum(one.lines for one in self.displays)

    @property
    def connected(self) -> int:
        """How many displays are connected. Raises the error of the thread, if it ended early."""
        if self._broken is not None:
            raise self._broken
        return sum(one.wire is not None for one in self.displays)

    @property
    def is_connected(self) -> bool:
        """Whether every display is connected."""
        return self.connected == len(self.displays)

    @property
    def any_connected(self) -> bool:
        return any(one.wire is not None for one in self.displays)

    @property
    def uncommitted(self) -> int:
        return sum(one.lines - one.committed for one in self.displays)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread. Raises its error, if it ended early."""
        self._stop.set()
        self._thread.join()
        for one in self.displays:
            if one.wire is not None:
                one.wire.close()
        if self._broken is not None:
            raise self._broken

    def log(self, each: int) -> None:
        """Let every display log `each` more lines."""
        for one in self.displays:
            one.lines += each

    def fail_services(self, share: float) -> None:
        """Let a service fail on about this share of the displays; only the fleet's thread uses their wires."""
        for one in self.displays:
            if self._chance.random() < share:
                one.failures += 1
                one.health_at, one.tells_failure = 0.0, True

    def flood(self, each: int) -> None:
        """Let every display send `each` more heartbeats, as fast as the broker accepts them."""
        for one in self.displays:
            one.flood += each

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                for key, _ in self._selector.select(0.01):
                    self._hear(key.data)
                now = time.monotonic()
                for one in self.displays:
                    self._say(one, now)
                waiting = sum(one.taken - one.committed for one in self.displays if one.taken > one.committed)
                self.most_waiting = max(self.most_waiting, waiting)
        except BaseException as error:  # noqa: BLE001 - shown by `stop`
            self._broken = error

    def _say(self, one: Display, now: float) -> None:
        try:
            if one.wire is None:
                self._connect(one, now)
            else:
                self._speak(one, one.wire, now)
                one.wire.flush()
        except WireBroken:
            self._cut(one, now)

    def _connect(self, one: Display, now: float) -> None:
        if now < one.connect_at:
            return
        one.connect_at = math.inf  # a refusal sets it again
        wire = Wire.connect(
            self._port,
            one.uuid,
            self.logins[one.uuid],
            clean_start=False,
            expiry_seconds=30,
            source=one.source,
            answer_seconds=ANSWER_SECONDS,
        )
        wire.subscribe(f"signage/{one.uuid}/logs_committed")
        self._selector.register(wire, selectors.EVENT_READ, one)
        one.wire = wire
        one.sent, one.progress_at, one.patience = one.committed, now, self._patience_seconds

    def _cut(self, one: Display, now: float) -> None:
        if one.wire is not None:
            self._selector.unregister(one.wire)
            one.wire.close()
        one.wire = None
        one.waiting.clear()
        one.connect_at = now + RECONNECT_SECONDS * self._chance.uniform(0.5, 1.5)

    def _speak(self, one: Display, wire: Wire, now: float) -> None:
        if one.committed < one.sent and now - one.progress_at > one.patience:
            one.sent, one.progress_at = one.committed, now
            one.patience = min(one.patience * 2, LONGEST_PATIENCE_SECONDS)
            one.repeats += 1
        if one.tells_failure:
            one.tells_failure = False
            wire.publish(one.topic("service_failed"), json.dumps(one.standing_failure).encode())
        while one.sent < one.lines and len(wire.unanswered) < WINDOW:
            one.sent += 1
            body = {"message": f"line {one.sent}", **one.stamp(one.sent)}
            one.waiting[wire.publish(one.topic("logs/info"), json.dumps(body).encode())] = one.sent
        if (one.flood and len(wire.unanswered) < WINDOW // 2) or now >= one.heartbeat_at:
            self._beat(one, wire, now)
        if now >= one.health_at:
            self._report(one, wire, now)

    def _beat(self, one: Display, wire: Wire, now: float) -> None:
        one.heartbeat_at = now + self._report_seconds
        room = min(one.flood, (WINDOW - len(wire.unanswered)) // 2)
        one.flood -= room
        for _ in range(room or 1):
            one.seq += 1
            self.heartbeats += 1
            body = {"process_status": "running", "interval_seconds": 5, "app_instance": "a", **one.stamp(one.seq)}
            wire.publish(one.topic("heartbeat"), json.dumps(body).encode(), HEARTBEAT_EXPIRY)

    def _report(self, one: Display, wire: Wire, now: float) -> None:
        one.health_at = now + self._report_seconds
        one.seq += 1
        body = {"screen_health": "ok", "service_failed": one.standing_failure, **one.stamp(one.seq)}
        wire.publish(one.topic("health"), json.dumps(body).encode(), HEALTH_EXPIRY)

    def _hear(self, one: Display) -> None:
        if one.wire is None:
            return
        try:
            for event in one.wire.take():
                if isinstance(event, Puback):
                    one.taken = max(one.taken, one.waiting.pop(event.mid, 0))
                else:
                    self._committed(one, event)
        except WireBroken:
            self._cut(one, time.monotonic())

    def _committed(self, one: Display, event: Received) -> None:
        mark = json.loads(event.payload)
        if mark["install_id"] == one.install_id and mark["seq"] > one.committed:
            one.committed, one.progress_at, one.patience = mark["seq"], time.monotonic(), self._patience_seconds
            one.sent = max(one.sent, one.committed)


@contextmanager
def fleet(
    service: Machine,
    count: int,
    seed: int,
    report_seconds: float = REPORT_SECONDS,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Iterator[Fleet]:
    """Displays that connect to this machine's broker and talk during the block."""
    made = Fleet(service.place.displays_port, count, seed, report_seconds, patience_seconds)
    service.set_displays(made.logins)
    with talking(made):
        yield made


@contextmanager
def talking(made: Fleet) -> Iterator[None]:
    """Let these displays connect and talk during the block."""
    made.start()
    try:
        yield
    finally:
        made.stop()
