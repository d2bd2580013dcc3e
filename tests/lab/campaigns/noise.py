"""Displays that log more than the service can read do not harm their neighbours, and ACKs overtake the logs.

1. One display logs 5,000 messages a second: only its lines are dropped. 2. Several displays log as fast as the broker
accepts. The bridge is stopped until there is a backlog, because it would keep up. Then each step of a real command is
acknowledged behind that backlog, and the time until the commit is measured.
"""

import itertools
import json
import signal
import statistics
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine

from deploy.parts.probes import wait_until
from shared.commands import operations as commands
from shared.commands.rules import CommandRequest
from shared.config import load
from shared.postgres.door import database_now, transaction
from shared.vocabulary import CommandAction
from tests.lab.campaigns.fleet import PASSWORD, Fleet
from tests.lab.campaigns.ledger import Ledger, tell, wait_while_it_moves
from tests.lab.campaigns.machine import Machine, machine, rows
from tests.lab.campaigns.verdict import REST_SECONDS, come_to_rest, judge, until_connected
from tests.lab.campaigns.wire import Puback, Wire

LONG = timedelta(hours=1)
PER_SECOND = 3_000  # the broker takes some 3,400 of these a second from a display, after 27,000 at once
MOST_WAITING = 500_000  # half of the broker's queue for the bridge; beyond it the broker would drop messages
WINDOW = 1_000
REFUSED, PAUSE_SECONDS = 0x80, 0.2
NOISE = b'{"message": "noise"}'
ACK_STATES = ("received", "running", "succeeded")
POLL_SECONDS = 0.002
SLOWEST_ACK_SECONDS = 2.0


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 50  # neighbours
    lines: int = 200  # lines of each neighbour
    seconds: float = 20.0  # lines of the noisy display
    commands: int = 30  # commands with three ACKs each, sent behind the backlog
    flooders: int = 10
    backlog: int = 200_000  # messages that wait before each ACK is sent
    seed: int = 1


@dataclass
class Flood:
    """A display that logs `per_second` plain messages; None: as many as the broker accepts.

    What the broker refuses, because it is too much for one display, does not count as sent.
    """

    port: int
    per_second: int | None = None
    uuid: str = field(default_factory=lambda: str(uuid.uuid4()))
    sent: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    quiet: threading.Event = field(default_factory=threading.Event)  # enough messages wait

    def run(self) -> None:
        """Log until stopped, then wait until the broker has answered everything."""
        wire = Wire.connect(self.port, self.uuid, PASSWORD)
        topic = f"signage/{self.uuid}/logs/info".encode()
        began = time.monotonic()
        while not self.stop.is_set() or wire.unanswered:
            due = WINDOW if self.per_second is None else int((time.monotonic() - began) * self.per_second) - self.sent
            is_silent = self.stop.is_set() or self.quiet.is_set()
            for _ in range(0 if is_silent else min(due, WINDOW - len(wire.unanswered))):
                wire.publish(topic, NOISE)
                self.sent += 1
            wire.flush()
            refused = sum(isinstance(event, Puback) and event.code >= REFUSED for event in wire.take())
            self.sent -= refused
            time.sleep(PAUSE_SECONDS if refused else 0.001)
        wire.close()


@contextmanager
def flooding(floods: list[Flood]) -> Iterator[None]:
    """Run all floods at once, during the block."""
    threads = [threading.Thread(target=one.run, name="flood") for one in floods]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for one in floods:
            one.stop.set()
        for thread in threads:
            thread.join()


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("noise", plan.seed, {"displays": plan.displays, "commands": plan.commands})
    began = time.monotonic()
    with machine(folder) as service:
        port = service.place.displays_port
        displays = Fleet(port, plan.displays, plan.seed)
        noisy, many = Flood(port, PER_SECOND), [Flood(port) for _ in range(plan.flooders)]
        commanded = [str(uuid.uuid4()) for _ in range(plan.commands)]
        others = [*commanded, *(one.uuid for one in (noisy, *many))]
        service.set_displays({**displays.logins, **dict.fromkeys(others, PASSWORD)})
        displays.start()
        try:
            until_connected(displays)
            with flooding([noisy]):
                _talk(plan, displays)
            say(f"one display logged {noisy.sent:,} messages")
            _time_acks(plan, service, many, commanded, ledger)
            come_to_rest(service, displays)
        finally:
            displays.stop()
        judge(ledger, service, displays)
        _judge_noise(ledger, service, [noisy, *many])
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _talk(plan: Plan, displays: Fleet) -> None:
    steps = 10
    for step in range(steps):
        displays.log(plan.lines * (step + 1) // steps - plan.lines * step // steps)
        time.sleep(plan.seconds / steps)


def _time_acks(plan: Plan, service: Machine, many: list[Flood], commanded: list[str], ledger: Ledger) -> None:
    """Measure the seconds from the publish of each ACK until its commit, behind a backlog of logs."""
    engine = service.engine()
    wires = {name: Wire.connect(service.place.displays_port, name, PASSWORD) for name in commanded}
    try:
        issued = {name: _sent_command(engine, name, wire) for name, wire in wires.items()}
        before = service.counted("received")
        took, waiting = list[float](), list[int]()
        with flooding(many):
            for (name, command), state in itertools.product(issued.items(), ACK_STATES):
                _let_gather(plan.backlog, service, many, before)
                took.append(_acknowledged(engine, wires[name], name, command, state))
                waiting.append(_backlog(service, many, before))
                for one in many:
                    (one.quiet.set if waiting[-1] > MOST_WAITING else one.quiet.clear)()
    finally:
        for wire in wires.values():
            wire.close()
        engine.dispose()
    ledger.counted |= {
        "least_waiting": min(waiting),
        "ack_p50_seconds": round(statistics.median(took), 3),
        "ack_slowest_seconds": round(max(took), 3),
    }
    ledger.experiments["messages waited all the time"] = min(waiting) > plan.backlog // 2
    ledger.limits[f"every ACK is committed within {SLOWEST_ACK_SECONDS:.0f} s"] = max(took) < SLOWEST_ACK_SECONDS


def _let_gather(enough: int, service: Machine, many: list[Flood], before: int) -> None:
    """Stop the bridge until `enough` messages wait for it, and continue it."""
    received = service.counted("received") - before
    service.bridge.signal(signal.SIGSTOP)
    try:
        wait_while_it_moves(
            lambda: sum(one.sent for one in many) - received, lambda waiting: waiting >= enough, REST_SECONDS
        )
    finally:
        service.bridge.signal(signal.SIGCONT)


def _backlog(service: Machine, many: list[Flood], before: int) -> int:
    return sum(one.sent for one in many) - (service.counted("received") - before)


def _sent_command(engine: Engine, name: str, wire: Wire) -> str:
    """Issue a restart as the API does, and wait until the bridge has published it."""
    wire.subscribe(f"signage/{name}/commands")
    wire.publish(f"signage/{name}/heartbeat".encode(), b'{"process_status": "running"}')
    wire.flush()
    wait_until(lambda: bool(rows(engine, "SELECT 1 FROM clients WHERE uuid = :u", u=name)), REST_SECONDS)
    with transaction(engine) as connection:
        request = CommandRequest(name, CommandAction.RESTART_APP, "campaign", "to be acknowledged", ttl=LONG)
        command = str(commands.issue(connection, database_now(connection), request, commands.timings(load({}))).id)
    wait_until(lambda: _state(engine, command) == "sent", REST_SECONDS)
    return command


def _acknowledged(engine: Engine, wire: Wire, name: str, command: str, state: str) -> float:
    began = time.monotonic()
    wire.publish(f"signage/{name}/acks".encode(), json.dumps({"id": command, "state": state}).encode())
    wire.flush()
    while _state(engine, command) != state:
        assert time.monotonic() - began < REST_SECONDS, f"{state} of {command} is not committed"
        time.sleep(POLL_SECONDS)
    wire.take()
    return time.monotonic() - began


def _state(engine: Engine, command: str) -> str:
    return str(rows(engine, "SELECT state FROM client_commands WHERE id = :id", id=command)[0][0])


def _judge_noise(ledger: Ledger, service: Machine, floods: list[Flood]) -> None:
    """Check that every noisy message is stored or counted in its own client's log, and no other client lost any."""
    engine = service.engine()
    lost = "SELECT coalesce(sum((context->>'dropped')::bigint), 0) FROM client_logs WHERE client_uuid = ANY(:u)"
    kept = "SELECT count(*) FROM client_logs WHERE client_uuid = ANY(:u) AND message = 'noise'"
    names = [one.uuid for one in floods]
    sent = sum(one.sent for one in floods)

    def told() -> int:
        return int(rows(engine, lost, u=names)[0][0]) + int(rows(engine, kept, u=names)[0][0])

    try:
        wait_while_it_moves(told, lambda found: found >= sent, REST_SECONDS)
        others = "SELECT count(*) FROM client_logs WHERE context ? 'dropped' AND NOT client_uuid = ANY(:u)"
        neighbours = int(rows(engine, others, u=names)[0][0])
        ledger.counted |= {"noise": sent, "told": told()}
    finally:
        engine.dispose()
    ledger.conditions["the noise is stored or counted, to the message"] = ledger.counted["told"] == sent
    ledger.conditions["no neighbour was cut"] = neighbours == 0
