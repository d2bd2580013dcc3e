"""Storing alone: the same batches without MQTT, with decoding, compared with their statements alone.

The statements are replayed on an equal database: no program that fills these tables can be faster, so this shows how
much of the time is spent in Postgres.
"""

import time
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection

from bridge.batches import Bulk, LogBudgets, Pace
from bridge.inbox import Arrival, Inbox
from bridge.main import rarely_collect
from bridge.status import Counters
from bridge.storing import LeaderMemory
from bridge.writes import Writer
from deploy.local import postgres
from shared.client_logs.rules import Budget
from shared.commands.operations import timings
from shared.config import load
from shared.leadership import operations as leadership
from shared.postgres.door import engine_for
from tests.lab.bench.replay import overhear, say_again
from tests.lab.bench.report import Row, alternating
from tests.lab.bench.traffic import Traffic
from tests.lab.campaigns.machine import machine

MESSAGES = 240_000  # twenty of the largest batches: the first and the last one overlap with nothing
TIMES = 3
TWIN = "twin"  # an equal database, as before the first message


def measure(folder: Path) -> list[Row]:
    """Measure the rows a second of all, in turns; the bridge remembers its clients, as after their first reports."""
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
            turns = (lambda: written(traffic.messages(MESSAGES)), lambda: MESSAGES / say_again(other, said()))
            ours, alone = alternating(TIMES, *turns)
        for one in (engine, twin):
            one.dispose()
    return [Row("store only, decoded", ours, "msg/s", 0.6, peer="its statements alone", theirs=alone)]


def writing(connection: Connection) -> Callable[[list[tuple[bytes, bytes]]], float]:
    """A function that runs the bridge's reading and writing without a broker. It returns messages a second.

    Messages arrive within its window and while Postgres works, as from a broker.
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
            arrive(max(0, pace.most - len(arrivals)))  # as the bridge reads before a pause
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
