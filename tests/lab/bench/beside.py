"""The bridge and a program that only appends messages: how long each takes for the same backlog.

The time is from the listener's connection, when the broker begins to send, to its last commit. Measured from the first
commit, the messages that a listener has read by then would not count, which may be most of the backlog.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from deploy.parts.probes import wait_until
from tests.lab.bench import node_red
from tests.lab.bench.appends import Appender
from tests.lab.bench.ingest import RECEIVED, SECONDS, TIMES, count, leave
from tests.lab.bench.report import Row, median
from tests.lab.bench.traffic import Traffic, bench_machine, publish
from tests.lab.campaigns.machine import Machine, rows

MESSAGES: Final = 80_000
LOOK_SECONDS: Final = 0.002
ESTABLISHED: Final = "01"  # state of a connection in /proc/net/tcp


def beside_node_red(folder: Path) -> list[Row]:
    """The row; none if Node-RED is not installed."""
    if node_red.home() is not None:
        return _beside(node_red.APPENDER, folder)
    print("NODE_RED names no folder with Node-RED (npm install node-red@4 pg): no row for it")
    return []


def _beside(peer: Appender, folder: Path) -> list[Row]:
    (folder / "ours").mkdir()
    (folder / "theirs").mkdir()
    ours, theirs = [], []
    with (
        bench_machine(folder / "ours", bridge=True) as (service, port),
        bench_machine(folder / "theirs", bridge=False) as (other, its_port),
    ):
        traffic, same = Traffic(), Traffic()
        publish(port, traffic.introductions())
        wait_until(lambda: count(service, "SELECT count(*) FROM client_logs") == traffic.logs, SECONDS)
        leave(service)
        peer.subscribe(other, its_port)
        for _ in range(TIMES):
            publish(port, traffic.messages(MESSAGES))
            ours.append(_rate(service, service.place.services_port, _bridge(service), RECEIVED))
            publish(its_port, same.messages(MESSAGES))
            theirs.append(_rate(other, its_port, peer.running(other, its_port), peer.stored))
    return [Row("ingest, durable", median(ours), "msg/s", 0.8, peer=peer.name, theirs=median(theirs))]


@contextmanager
def _bridge(service: Machine) -> Iterator[None]:
    service.bridge.start()
    try:
        yield
    finally:
        leave(service)


def _rate(service: Machine, port: int, running: AbstractContextManager[None], stored: str) -> float:
    """Messages a second for `MESSAGES` that wait at `port`; `stored` is a query for the number of committed ones."""
    engine = service.engine()
    try:
        before = _number(engine, stored)
        with _first_connection(port) as connected, running:
            wait_until(lambda: _number(engine, stored) >= before + MESSAGES, SECONDS)
            ended = time.monotonic()
        return MESSAGES / (ended - connected[0])
    finally:
        engine.dispose()


def _number(engine: Engine, question: str) -> int:
    found = rows(engine, question)
    return int(found[0][0]) if found else 0


@contextmanager
def _first_connection(port: int) -> Iterator[list[float]]:
    """During the block, the list gets the time of the first connection to `port`."""
    found: list[float] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(LOOK_SECONDS) and not found:
            if _is_connected(port):
                found.append(time.monotonic())

    watcher = threading.Thread(target=look, name="connections", daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()


def _is_connected(port: int) -> bool:
    local = f":{port:04X}"
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return any(line.split()[1].endswith(local) and line.split()[3] == ESTABLISHED for line in lines)
