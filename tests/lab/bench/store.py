"""Store only: the same batches without MQTT, decoding included, beside psql copying topic and payload.

And beside the same statements alone, as bytes, on a database that stood alike: no program that keeps what these
tables promise can be quicker than those, so they tell how much of the rest is Postgres'.
"""

import subprocess
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from bridge.batches import Bulk, LogBudgets, Pace
from bridge.inbox import Arrival, Inbox
from bridge.main import rarely_collect
from bridge.status import Counters
from bridge.storing import LeaderMemory
from bridge.writes import Writer
from deploy.local import postgres
from deploy.parts.probes import wait_until
from shared.client_logs.rules import Budget
from shared.commands.operations import timings
from shared.config import load
from shared.leadership import operations as leadership
from shared.postgres.door import engine_for
from tests.lab.bench.replay import overhear, say_again
from tests.lab.bench.report import Row, alternating
from tests.lab.bench.traffic import Traffic
from tests.lab.campaigns.machine import Machine, machine

MESSAGES = 240_000  # twenty of the largest batches: the first and the last one have nothing beside them
TIMES = 3
VACUUMING = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"
TWIN = "twin"  # a database that stands as ours did before the first message


def measure(folder: Path) -> list[Row]:
    """Rows a second of all, in turns; the bridge knows its clients, as it does after their first two reports."""
    with machine(folder, bridge=False) as service:
        with postgres.superuser(service.cluster) as superuser:
            superuser.run(f"CREATE DATABASE {TWIN} TEMPLATE {postgres.DATABASE} OWNER {postgres.OWNER}")
        twin = engine_for(service.cluster.url(TWIN, postgres.OWNER, "owner"), "bench")
        engine = service.engine()
        traffic = Traffic()
        rarely_collect()
        with engine.connect() as connection, twin.connect() as other:
            said = overhear(connection)
            written = writing(connection)
            for _ in range(2):
                written(traffic.greetings())
                written(traffic.messages(MESSAGES))
            say_again(other, said())
            copy = copying(service, Traffic(seed=2))
            turns = (
                lambda: written(traffic.messages(MESSAGES)),
                copy,
                lambda: MESSAGES / say_again(other, said()),
            )
            ours, theirs, alone = alternating(TIMES, *turns)
            with postgres.superuser(service.cluster) as superuser:
                rested, theirs_rested = alternating(TIMES, *(from_rest(superuser, one) for one in turns[:2]))
        for one in (engine, twin):
            one.dispose()
    return [
        Row("store only, decoded", ours, "msg/s", 0.25, peer="psql \\copy", theirs=theirs),
        Row("store only, decoded", ours, "msg/s", 0.6, peer="its statements alone", theirs=alone),
        Row("store only: its statements alone (a floor)", alone, "msg/s", 0, peer="psql \\copy", theirs=theirs),
        Row("store only, each after a checkpoint", rested, "msg/s", 0, peer="psql \\copy", theirs=theirs_rested),
    ]


def from_rest(superuser: Any, work: Callable[[], float]) -> Callable[[], float]:
    """The work, begun when nothing is left of the one before: its WAL is there to be used again, nobody vacuums."""

    def rested() -> float:
        superuser.run("CHECKPOINT")
        wait_until(lambda: not superuser.run(VACUUMING), 60)
        return work()

    return rested


def copying(service: Machine, traffic: Traffic) -> Callable[[], float]:
    """Copies topic and payload of as many messages: answers how many a second."""
    file = service.folder / "messages.tsv"
    lines = (b"\t".join((topic, payload.replace(b"\\", b"\\\\"))) for topic, payload in traffic.messages(MESSAGES))
    file.write_bytes(b"\n".join(lines) + b"\n")
    psql = ["psql", service.database_url, "-q", "-c"]
    subprocess.run([*psql, "CREATE TABLE bench_copy (topic text, payload text)"], check=True)

    def copy() -> float:
        began = time.monotonic()
        subprocess.run([*psql, f"\\copy bench_copy FROM '{file}'"], check=True)
        return MESSAGES / (time.monotonic() - began)

    return copy


def writing(connection: Connection) -> Callable[[list[tuple[bytes, bytes]]], float]:
    """A bridge's own reading and writing, without a broker: answers how many messages a second it stored.

    Messages arrive within its window and while Postgres works, as those of a broker do.
    """
    config = load({"DATABASE_URL": "postgresql://nobody@nowhere/none"})
    inbox = Inbox("signage", "signage/service/canary")
    with connection.begin():
        epoch = leadership.lead(connection, "bench")
    assert epoch is not None
    writer = Writer(
        epoch=epoch,
        instance="bench",
        auto_register=True,
        timings=timings(config),
        listening_gap=timedelta(seconds=45),
        memory=LeaderMemory(),
    )

    pace = Pace()

    def written(messages: list[tuple[bytes, bytes]]) -> float:
        bulk = Bulk(inbox, LogBudgets(Budget(per_second=1e9, burst=1e9)))
        arrivals: deque[Arrival] = deque()
        heard = time.monotonic()
        come = iter([Arrival(topic.decode(), payload, 1, heard) for topic, payload in messages])
        began = time.monotonic()

        def arrive(count: int) -> bool:
            before = len(arrivals)
            arrivals.extend(islice(come, count))
            return len(arrivals) > before

        while arrivals or arrive(pace.most):
            arrive(max(0, pace.most - len(arrivals)))  # as the bridge reads on before it rests
            writes = time.monotonic()
            batch = bulk.take(arrivals, pace.most)
            outcome = writer.write(connection, batch, Counters(), len(batch))
            assert not outcome.refused
            pace.wrote(writes, time.monotonic(), len(batch))
            for _ in batch:
                arrivals.popleft()
            bulk.committed()
        return len(messages) / (time.monotonic() - began)

    return written
