"""Spoiled payloads among good ones: the bridge survives, stores every good one, and counts each bad one once."""

import json
import random
import selectors
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import PASSWORD, Fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Machine, machine, rows
from tests.lab.campaigns.mutations import mutated
from tests.lab.campaigns.oracle import is_dead
from tests.lab.campaigns.verdict import REST_SECONDS, come_to_rest, judge
from tests.lab.campaigns.wire import Puback, Wire

SPOILERS = 4  # displays that send spoiled payloads
LAST = "the last of this spoiler"
AT_ONCE = 200
WAITING = 50_000  # the most spoiled payloads in the broker, which saves all waiting messages each second
LOOK_STEPS = 25
REFUSED = 0x80  # the first reason code of a PUBACK that refuses
PAUSE_SECONDS = 0.5  # before refused payloads are sent again
PROGRESS_SECONDS = 60.0
STALL_SECONDS = REST_SECONDS  # without progress for this long the bridge counts as stuck


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    spoiled: int = 1_000_000
    good: int = 10_000
    displays: int = 20  # displays that send good payloads
    seed: int = 1


class Spoiler:
    """A display that sends randomly spoiled payloads, and counts the expected results.

    The broker takes 2 MB a second from a display and refuses more; refused payloads are sent again.
    """

    def __init__(self, port: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.uuid = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
        self.port = port
        self.sent = 0
        self.dead = 0
        self.wire: Wire | None = None
        self._sent: dict[int, tuple[str, bytes]] = {}
        self._refused: list[tuple[str, bytes]] = []
        self._again_at = 0.0

    def connect(self) -> None:
        """Connect, and first send a good report: presence and ACKs of an unknown client would become dead letters."""
        self.wire = Wire.connect(self.port, self.uuid, PASSWORD)
        self.say("heartbeat", b'{"process_status": "running"}')

    def say(self, topic: str, payload: bytes) -> None:
        assert self.wire is not None
        self._sent[self.wire.publish(f"signage/{self.uuid}/{topic}".encode(), payload)] = (topic, payload)

    def spoil(self, count: int) -> None:
        """Queue `count` more spoiled payloads."""
        for _ in range(count):
            topic, payload = mutated(self.chance)
            self.sent += 1
            self.dead += is_dead(topic, payload)
            self.say(topic, payload)

    def pump(self, room: int) -> bool:
        """Send, and read answers. Returns whether at most `room` publishes are unanswered."""
        assert self.wire is not None
        self.wire.flush()
        for answer in self.wire.take():
            if isinstance(answer, Puback):
                message = self._sent.pop(answer.mid)
                self._refused += [message] if answer.code >= REFUSED else []
        if self._refused and time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + PAUSE_SECONDS
            again, self._refused = self._refused, []
            for topic, payload in again:
                self.say(topic, payload)
        return not self.wire.outgoing and not self._refused and len(self.wire.unanswered) <= room


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("fuzz", plan.seed, {"spoiled": plan.spoiled, "good": plan.good, "displays": plan.displays})
    began = time.monotonic()
    with machine(folder, durable=False) as service:
        displays = Fleet(service.place.displays_port, plan.displays, plan.seed)
        spoilers = [Spoiler(service.place.displays_port, plan.seed * 1000 + number) for number in range(SPOILERS)]
        service.set_displays({**displays.logins, **{one.uuid: PASSWORD for one in spoilers}})
        engine = service.engine()
        displays.start()
        try:
            _spoil(plan, service, engine, displays, spoilers, say)
            come_to_rest(service, displays)
            judge(ledger, service, displays)
            _judge_letters(ledger, engine, spoilers)
        finally:
            displays.stop()
            engine.dispose()
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _spoil(
    plan: Plan,
    service: Machine,
    engine: Engine,
    displays: Fleet,
    spoilers: list[Spoiler],
    say: Callable[[str], None],
) -> None:
    for one in spoilers:
        one.connect()
        wait_until(lambda one=one: one.pump(0), 60)  # type: ignore[misc]  # mypy cannot infer defaults
    wait_until(lambda: _known(engine, spoilers) == SPOILERS, 60)
    watch = Watch(service, spoilers, plan.spoiled, say)
    steps = max(1, plan.spoiled // (AT_ONCE * SPOILERS))
    for step in range(steps):
        lines = plan.good // plan.displays
        displays.log(lines * (step + 1) // steps - lines * step // steps)
        for one in spoilers:
            one.spoil(AT_ONCE)
        _send(spoilers, AT_ONCE)
        service.looked_after()
        if step % LOOK_STEPS == LOOK_STEPS - 1:
            watch.wait_until_read(WAITING)
    _say_last(engine, spoilers)


def _say_last(engine: Engine, spoilers: list[Spoiler]) -> None:
    """Send a last message to each queue at the broker, and wait until the bridge has processed all before it.

    One queue after the other: a failure in its own queue overtakes waiting reports, and one of these that repeats
    another failure would replace it for good.
    """
    for topic, payload, column in (
        ("health", json.dumps({"hostname": LAST}), "hostname"),
        ("service_failed", LAST, "service_failed_unit"),
    ):
        for one in spoilers:
            one.say(topic, payload.encode())
        _send(spoilers, 0)
        question = f"SELECT count(*) FROM clients WHERE {column} = :last"
        wait_until(lambda question=question: _count(engine, question, last=LAST) == SPOILERS, REST_SECONDS)  # type: ignore[misc]  # mypy cannot infer defaults


class Watch:
    """Prints the progress each minute, and ends the campaign if the bridge is stuck."""

    def __init__(self, service: Machine, spoilers: list[Spoiler], whole: int, say: Callable[[str], None]) -> None:
        """`whole`: how many spoiled payloads there will be."""
        self._service = service
        self._spoilers = spoilers
        self._whole = whole
        self._say = say
        self._began = self._said_at = time.monotonic()

    def wait_until_read(self, waiting: int) -> None:
        """Wait until at most `waiting` spoiled payloads wait for the bridge.

        Raises:
            AssertionError: it has read nothing for STALL_SECONDS.
        """
        read, moved_at = -1, time.monotonic()
        while sum(one.sent for one in self._spoilers) - (now_read := self._service.counted("received")) >= waiting:
            if now_read != read:
                read, moved_at = now_read, time.monotonic()
            assert time.monotonic() - moved_at < STALL_SECONDS, f"nothing read beyond {read}: {self._service.faults()}"
            self._tell(now_read)
            time.sleep(0.1)
        self._tell(now_read)

    def _tell(self, read: int) -> None:
        if (now := time.monotonic()) - self._said_at >= PROGRESS_SECONDS:
            self._said_at = now
            sent = sum(one.sent for one in self._spoilers)
            self._say(f"{now - self._began:.0f} s: {sent:,} of {self._whole:,} sent, {read:,} messages read")


def _send(spoilers: list[Spoiler], room: int) -> None:
    """Send until at most `room` publishes of each display are unanswered."""
    with selectors.DefaultSelector() as selector:
        for one in spoilers:
            assert one.wire is not None
            selector.register(one.wire, selectors.EVENT_READ)
        deadline = time.monotonic() + REST_SECONDS
        while sum(one.pump(room) for one in spoilers) < len(spoilers):
            assert time.monotonic() < deadline, "the broker does not take the spoiled payloads"
            selector.select(0.01)


def _known(engine: Engine, spoilers: list[Spoiler]) -> int:
    return _count(engine, "SELECT count(*) FROM clients WHERE uuid = ANY(:uuids)", uuids=[one.uuid for one in spoilers])


def _count(engine: Engine, question: str, **parameters: object) -> int:
    return int(rows(engine, question, **parameters)[0][0])


def _judge_letters(ledger: Ledger, engine: Engine, spoilers: list[Spoiler]) -> None:
    """Compare each spoiler's dead letters with the expected ones."""
    differing = 0
    total = 0
    for one in spoilers:
        question = "SELECT coalesce(sum(count), 0) FROM dead_letters WHERE topic LIKE :t"
        found = _count(engine, question, t=f"signage/{one.uuid}/%")
        total += found
        differing += abs(found - one.dead)
        if one.wire is not None:
            one.wire.close()
    expected = sum(one.dead for one in spoilers)
    ledger.counted |= {"spoiled": sum(one.sent for one in spoilers), "dead_letters": total, "dead_expected": expected}
    ledger.conditions["the dead letters are exactly the bad ones"] = differing == 0
    ledger.conditions["there were good and bad ones among the spoiled"] = 0 < expected < ledger.counted["spoiled"]
