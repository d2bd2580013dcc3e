"""One bridge and a fleet of 100,000 clients: heartbeats every 30 s and health every 60 s, 5,000 messages a second."""

import time
from pathlib import Path

from deploy.parts.probes import wait_until
from tests.lab.bench.ingest import count
from tests.lab.bench.report import Row
from tests.lab.bench.traffic import Traffic, bench_machine, publish, publish_made
from tests.lab.campaigns.machine import Machine

CLIENTS = 100_000
PER_SECOND, SECONDS = 5_000, 30
AFTERWARDS = 1.0  # seconds after the last message for messages in transit
PATIENCE = 600.0
RECEIVED = "SELECT coalesce((counters ->> 'received')::bigint, 0) FROM bridge_status"


def measure(folder: Path) -> list[Row]:
    """Measure the bridge's share of a core, its memory, and the backlog at the end.

    It uses the bench's own listener and user, because the displays' listener allows one uuid for each login.
    """
    with bench_machine(folder, bridge=True) as (service, port):
        traffic = Traffic(clients=CLIENTS)
        for kind in ("heartbeat", "health"):  # first, each display reports once
            publish_made(port, CLIENTS, lambda number, kind=kind: traffic.message(number, kind))  # type: ignore[misc]
            table = {"heartbeat": "client_heartbeats", "health": "client_health"}[kind]
            wait_until(lambda table=table: count(service, f"SELECT count(*) FROM {table}") == CLIENTS, PATIENCE)  # type: ignore[misc]
        publish(port, [traffic.message(*whose(number)) for number in range(PER_SECOND)], PER_SECOND)
        before, began = processor_seconds(service), count(service, RECEIVED)
        seconds = publish_made(port, PER_SECOND * SECONDS, lambda number: traffic.message(*whose(number)), PER_SECOND)
        cores = (processor_seconds(service) - before) / seconds
        deadline = time.monotonic() + AFTERWARDS
        while (waiting := PER_SECOND * SECONDS - (count(service, RECEIVED) - began)) > 0:
            if time.monotonic() > deadline:
                break
        resident = resident_mb(service)
    what = f"scale, {CLIENTS:,} clients, {PER_SECOND:,} msg/s:"
    return [
        Row(f"{what} processor", cores, "cores", 0.5, at_most=True, note=f"published in {seconds:.1f} s"),
        Row(f"{what} backlog", max(0, waiting), "msg", 0, at_most=True),
        Row(f"{what} memory", resident, "MB", 200, at_most=True),
    ]


def whose(number: int) -> tuple[int, str]:
    """Client and kind of a message: two heartbeats for one health report, client by client."""
    turn, place = divmod(number, 3)
    return (turn % CLIENTS, "health") if place == 2 else ((2 * turn + place) % CLIENTS, "heartbeat")


def processor_seconds(service: Machine) -> float:
    """The bridge's processor time in seconds."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in service.bridge.pids) / 1e9


def resident_mb(service: Machine) -> float:
    """The bridge's resident memory in megabytes."""
    lines = [line for pid in service.bridge.pids for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
