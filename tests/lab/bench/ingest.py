"""Durable ingest: a backlog in the broker is stored and then acknowledged, compared with two other listeners.

The fleet is registered, because a client's first reports cost more. The bridge starts again each time, without memory.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import wait_until
from tests.lab.bench.report import Row, median
from tests.lab.bench.traffic import Traffic, bench_machine, publish
from tests.lab.campaigns.machine import Machine, rows

MESSAGES = 160_000  # ten of the bridge's windows
EACH = 3_000  # for the listener that commits each message, which is much slower
TIMES = 3
SECONDS = 300.0
RECEIVED = "SELECT coalesce((counters ->> 'received')::bigint, 0) FROM bridge_status WHERE connected_since IS NOT NULL"
"""SQL: how many messages the bridge has committed since its start."""


def measure(folder: Path) -> list[Row]:
    """Measure the rates of the three, in turns."""
    ours, bare, each = [], [], []
    with bench_machine(folder, bridge=True) as (service, port):
        traffic = Traffic()
        publish(port, traffic.introductions())
        wait_until(lambda: count(service, "SELECT count(*) FROM client_logs") == traffic.logs, SECONDS)
        leave(service)
        kept = 0
        for _ in range(TIMES):
            publish(port, traffic.messages(MESSAGES))
            ours.append(drain(service, MESSAGES))
            leave(service)
            kept = traffic.logs
            publish(port, Traffic(seed=2).messages(MESSAGES))
            bare.append(MESSAGES / peer(service, "bare", MESSAGES))
            publish(port, Traffic(seed=3).messages(EACH))
            each.append(EACH / peer(service, "each", EACH))
        lost = kept - count(service, "SELECT count(*) FROM client_logs")
    rate = median(ours)
    return [
        Row("ingest, durable", rate, "msg/s", 0.6, peer="bare paho", theirs=median(bare)),
        Row("ingest, durable", rate, "msg/s", 15, peer="commit each", theirs=median(each)),
        Row("ingest: lost", lost, "lines", 0, at_most=True),
    ]


def drain(service: Machine, messages: int) -> float:
    """Start the bridge with a backlog. Returns its messages a second from the first commit to the last."""
    service.bridge.start()
    engine = service.engine()
    seen: list[tuple[float, int]] = []

    def all_received() -> bool:
        found = rows(engine, RECEIVED)
        received = int(found[0][0]) if found else 0
        if received and (not seen or received != seen[-1][1]):
            seen.append((time.monotonic(), received))
        return received >= messages

    try:
        wait_until(all_received, SECONDS)
    finally:
        engine.dispose()
    (began, first), (ended, last) = seen[0], seen[-1]
    return (last - first) / (ended - began)


def leave(service: Machine) -> None:
    """Stop the bridge in order; its session stays."""
    process = service.bridge.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    service.bridge.process = None


def peer(service: Machine, kind: str, messages: int) -> float:
    """Run this peer on the backlog. Returns the seconds."""
    password = service.passwords["bridge"]
    command = [sys.executable, "-m", "tests.lab.bench.peers", kind, str(service.place.services_port), password]
    command += [str(messages), service.database_url]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True, timeout=SECONDS)
    return float(done.stdout)


def count(service: Machine, question: str) -> int:
    """The result of a query for a number."""
    engine = service.engine()
    try:
        return int(rows(engine, question)[0][0])
    finally:
        engine.dispose()
