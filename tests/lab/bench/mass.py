"""A mass failure beside a calm day: reads and duties with half of a large fleet in one incident."""

import json
import time
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Engine

from functions.scheduler_tick import steps
from functions.scheduler_tick.frame import World
from shared.clients import statuses_operations
from shared.clients.statuses_store import MOST_AT_ONCE
from shared.leadership import store as leadership_store
from shared.leadership.rules import listening
from shared.postgres.door import database_now, transaction
from shared.vocabulary import Role
from tests.api.function_process import ENVIRONMENT, function_process
from tests.api.people import issue_token
from tests.lab.bench.http import Caller, milliseconds
from tests.lab.bench.report import Row, median
from tests.lab.bench.tick import CLIENTS, FEW, HALF_SILENT, LIMIT_MS, fill, hear, ticking
from tests.lab.campaigns.machine import machine

TIMES: Final = 5
SWEEP_MS: Final = 15
DEARER: Final = 3  # times as dear as on a calm day
READS: Final = {
    "a page opens": "/api/monitoring/overview?format=packed",
    "a page polls": "/api/monitoring/overview?format=packed&since={cursor}",
    "incidents": "/api/incidents",
    "crashed": "/api/clients/crashed",
    "service_failed": "/api/clients/service_failed",
    "displays, a page": "/api/clients",
    "log summary": "/api/client-logs/summary",
}


def measure(folder: Path) -> list[Row]:
    """Measure each read and duty on a calm day, in the mass failure, and the ticks in which it begins and ends."""
    with machine(folder, bridge=False, durable=False) as service, ticking(service, FEW) as world:
        fill(world.engine, CLIENTS, 10)
        environment = {**ENVIRONMENT, "DATABASE_URL": service.database_url, "MEDIA_ROOT": str(folder)}
        with function_process("functions/api/main.py", environment, folder) as api:
            caller = Caller(api.port, "/", issue_token(world.engine, Role.ADMIN))
            hear(world.engine)
            tick(world)  # the first crashes are grouped
            usual = median(heard_tick(world) for _ in range(TIMES))
            calm = costs(world.engine, caller)
            first = heard_tick(world, HALF_SILENT)
            assert in_incidents(world.engine) > CLIENTS / 3
            mass = costs(world.engine, caller)
            later = median(heard_tick(world, HALF_SILENT) for _ in range(TIMES))
            back = heard_tick(world)
            caller.close()
    ticks = {"the first with half silent": first, "half silent": later, "the first after all are back": back}
    return [
        Row("the bridge looks for odd displays", calm["the bridge's sweep"], "ms", SWEEP_MS, at_most=True),
        Row("tick: 100,000 clients, half of them silent", later, "ms", 2 * LIMIT_MS, at_most=True),
        *(Row(f"tick, {which}", ms, "ms", DEARER, True, "a usual tick", usual) for which, ms in ticks.items()),
        *(Row(f"{what}, half failed", mass[what], "ms", DEARER, True, "calm", calm[what]) for what in calm),
    ]


def tick(world: World) -> float:
    """Milliseconds of one tick."""
    report = steps.run(world)
    assert report["failed"] == [], report
    return float(report["duration_ms"])


def heard_tick(world: World, *more: str) -> float:
    """Milliseconds of one tick, after all displays but those of `more` were heard."""
    hear(world.engine, *more)
    return tick(world)


def costs(engine: Engine, caller: Caller) -> dict[str, float]:
    """Milliseconds of each read, and of the look at the fleet with which each of the bridge's sweeps begins."""
    cursor = json.loads(caller.ask(READS["a page opens"]))["cursor"]
    asked = {what: milliseconds(caller, path.format(cursor=cursor), TIMES + 1)[1:] for what, path in READS.items()}
    return {what: median(took) for what, took in asked.items()} | {"the bridge's sweep": sweep(engine)}


def sweep(engine: Engine) -> float:
    """Milliseconds of a sweep that finds nothing to change."""
    took = []
    for _ in range(TIMES):
        with transaction(engine) as connection:
            now = database_now(connection)
            how = (connection, now, 180, listening(leadership_store.bridge_status(connection), now))
            began = time.monotonic()
            changed = statuses_operations.sweep(*how, statuses_operations.candidates(*how)[:MOST_AT_ONCE])
            took.append(1000 * (time.monotonic() - began))
        assert changed == 0
    return median(took)


def in_incidents(engine: Engine) -> int:
    """How many displays are in an open incident."""
    with engine.connect() as connection:
        members = sa.text("SELECT count(*) FROM incident_members WHERE left_at IS NULL")
        return int(connection.execute(members).scalar_one())
