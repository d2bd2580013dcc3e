"""One tick over a large fleet, with all its steps, on Postgres as shipped and a real broker."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts.probes import free_port
from functions.scheduler_tick import steps
from functions.scheduler_tick.frame import ENQUEUE_BUDGET, Moment, World
from functions.scheduler_tick.steps import STEPS
from shared import config
from shared.commands import operations as commands
from shared.conversions.rules import timeouts
from shared.outside.mqtt import Publisher
from shared.outside.task_queue import TaskQueue
from shared.postgres.door import database_now
from shared.recovery import rules as recovery_rules
from tests.lab.bench.report import Row, median
from tests.lab.campaigns.machine import Machine, machine

LIMIT_MS = 500  # with FEW restarts, as recovery's cap was when this limit was set
FEW = 10
EACH_MS = 2  # a restart of CRASHED at once: all of them in a thirtieth of a tick's period
CLIENTS = 100_000
FEWER = 10_000
CRASHED = 1_000
OPEN_COMMANDS = 10_000
LOG_ROWS = 10_000_000 if os.environ.get("BENCH_FULL") == "1" else 200_000
OVER = 0.001  # of the clients pass the limit of their disk
TIMES = 5

FILL = (
    """
    INSERT INTO clients (uuid, name, site, registered_by, process_status, process_status_since, status, app_version, ip,
        hostname, mqtt_reconnect_count, mqtt_last_disconnect_at, presence, presence_at)
    SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'Display ' || n, 'Site ' || mod(n, 2000), 'enrolment',
        CAST(CASE WHEN n <= :crashed THEN 'crashed' ELSE 'running' END AS process_status), now() - interval '1 hour',
        CASE WHEN n <= :crashed THEN 'crashed' ELSE 'running' END, '1.4.' || mod(n, 5),
        '10.' || mod(n, 200) || '.' || mod(n, 250) || '.7', 'host-' || n, mod(n, 9),
        now() - n * interval '1 minute', 'online', now() - interval '1 hour'
    FROM generate_series(1, :clients) AS n
    """,
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at, boot_id, app_instance)
    SELECT uuid, now(), 'boot', 'start' FROM clients
    """,
    """
    INSERT INTO client_health (client_uuid, received_at, body, cpu_percent, memory_percent, disk_percent,
        temperature_celsius)
    SELECT uuid, now(), '{"service_failed": null}', 100 * random(), 90 * random(),
        CASE WHEN random() < :over THEN 95 ELSE 85 * random() END, 40 + 30 * random()
    FROM clients
    """,
    """
    INSERT INTO client_commands (id, client_uuid, action, state, source, requested_by, if_boot_id, if_app_instance,
        created_at, expires_at, publish_attempted_at, publish_answer, sent_at, next_publish_at, publish_attempts)
    SELECT gen_random_uuid()::text, uuid, 'restart_app', 'sent', 'operator', 'bench', 'boot', 'start',
        now(), now() + interval '1 day', now(), 0, now(), now() + interval '1 hour', 1
    FROM clients ORDER BY uuid DESC LIMIT :commands
    """,
    """
    INSERT INTO client_commands (id, client_uuid, action, state, source, requested_by, created_at, expires_at,
        publish_attempted_at, publish_answer, sent_at, received_at, finished_at)
    SELECT gen_random_uuid()::text, uuid, 'restart_app', 'succeeded', 'operator', 'bench', at,
        at + interval '1 minute', at, 0, at, at, at
    FROM clients, LATERAL (SELECT now() - n * interval '9 days' AS at FROM generate_series(1, 2) AS n) AS past
    """,
    """
    INSERT INTO client_logs (client_uuid, level, message, logger, received_at)
    SELECT '00000000-0000-4000-8000-' || lpad((1 + mod(n, :clients))::text, 12, '0'),
        CAST((ARRAY['info', 'info', 'info', 'warning', 'error'])[1 + mod(n, 5)] AS log_level),
        'playlist advanced to item ' || n, 'player', now() - n * interval '10 milliseconds'
    FROM generate_series(1, :rows) AS n
    """,
)
HEARD = (
    "UPDATE client_heartbeats SET last_heartbeat_at = now()",
    "UPDATE bridge_status SET connected_since = now() - interval '9 days', canary_at = now()",
    "UPDATE scheduler_status SET last_tick_at = now() - interval '60 seconds'",  # one turn's health is sampled
    "UPDATE client_health SET received_at = now() WHERE received_at < now() - interval '4 minutes'",
    "DELETE FROM client_health_history WHERE at > now() - interval '6 minutes'",
)
HALF_SILENT = """
    UPDATE client_heartbeats SET last_heartbeat_at = now() - interval '4 minutes' WHERE right(client_uuid, 1) < '5'
"""


def fill(engine: Engine, clients: int, log_rows: int) -> None:
    """Fill and analyse a fleet of this size, with a fixed number of crashed clients and open commands."""
    numbers: dict[str, float] = {
        "clients": clients,
        "crashed": CRASHED,
        "commands": min(OPEN_COMMANDS, clients // 2),
        "rows": log_rows,
        "over": OVER,
    }
    with sa.create_engine(engine.url, isolation_level="AUTOCOMMIT").connect() as connection:
        for statement in FILL:
            used = {name: number for name, number in numbers.items() if f":{name}" in statement}
            connection.execute(sa.text(statement), used)
        connection.execute(sa.text("VACUUM ANALYZE"))
        connection.engine.dispose()


@contextmanager
def ticking(service: Machine, most: int | None = None) -> Iterator[World]:
    """The services of a tick, with recovery on. `most`: its cap on open commands; None: by the fleet's size."""
    settings = config.load(
        {
            "CRASH_RECOVERY_ENABLED": "true",
            "MQTT_URL": service.place.services_url,
            "MQTT_USERNAME": "scheduler",
            "MQTT_PASSWORD": service.passwords["scheduler"],
        }
    )
    nowhere = f"grpc://127.0.0.1:{free_port()}/projects/p/locations/l"
    queue = TaskQueue(nowhere, "http://x", "x@y.test", timeouts(ENQUEUE_BUDGET).dispatch)
    engine = service.engine()
    publisher = Publisher.from_config(settings)
    cap = recovery_rules.cap if most is None else lambda _seen: most
    try:
        with patch.object(recovery_rules, "cap", cap):
            yield World(settings, engine, publisher, queue, commands.timings(settings))
    finally:
        publisher.close()
        engine.dispose()


def hear(engine: Engine, *more: str) -> None:
    """Let all clients be heard now, in an hour that has had its first tick, and vacuum as autovacuum does."""
    with engine.begin() as connection:
        for statement in (*HEARD, *more):
            connection.execute(sa.text(statement))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("VACUUM client_heartbeats, clients, client_commands, client_health"))


def timed(world: World) -> dict[str, Any]:
    """Run one tick. Returns its report with the milliseconds of each step."""
    took: dict[str, float] = {}
    now = _now(world.engine)
    moment = Moment(now, now - timedelta(minutes=1))
    for name, step in STEPS.items():
        began = time.monotonic()
        did = step(world, moment)
        took[name] = (time.monotonic() - began) * 1000
        if name == "recover":
            took["acted"] = float(did["restarts"] + did["reboots"])
    return took


def _now(engine: Engine) -> Any:
    with engine.begin() as connection:
        return database_now(connection)


def measured(world: World, times: int) -> dict[str, float]:
    """The median of each step and of the whole tick, over several ticks without the first, cold one."""
    whole: list[float] = []
    parts: list[Mapping[str, float]] = []
    hear(world.engine)
    first = steps.run(world)
    assert first["failed"] == [], first
    for _ in range(times):
        hear(world.engine)
        report = steps.run(world)
        assert report["failed"] == [], report
        whole.append(report["duration_ms"])
        hear(world.engine)
        parts.append(timed(world))
    return {"whole": median(whole), **{name: median(part[name] for part in parts) for name in parts[0]}}


def measure(folder: Path) -> list[Row]:
    """Measure a fleet of 100,000 with few restarts and with many; and one of a tenth with few."""
    (folder / "small").mkdir()
    (folder / "large").mkdir()
    with machine(folder / "small", bridge=False, durable=False) as service, ticking(service, FEW) as world:
        fill(world.engine, FEWER, 10)
        small = measured(world, TIMES)
    with machine(folder / "large", bridge=False, durable=False) as service:
        with ticking(service, FEW) as world:
            fill(world.engine, CLIENTS, LOG_ROWS)
            large = measured(world, TIMES)
        with ticking(service) as world:
            many = measured(world, TIMES)
    for name, found in (("small", small), ("large", large), ("many restarts", many)):
        print(f"  tick, {name}: " + ", ".join(f"{step} {ms:.0f}" for step, ms in found.items()), file=sys.stderr)
    note = f"{CLIENTS:,} clients, {CRASHED:,} crashed, {OPEN_COMMANDS:,} open commands, {LOG_ROWS:,} log rows"
    more = many["acted"] - large["acted"]
    return [
        Row(f"tick: 100,000 clients, {FEW} restarts", large["whole"], "ms", LIMIT_MS, at_most=True, note=note),
        Row(
            "tick: beside a tenth of the fleet, same to do",
            large["whole"],
            "ms",
            10,
            at_most=True,
            peer="10,000 clients",
            theirs=small["whole"],
            note="grows with what is due: far less than tenfold",
        ),
        Row(
            f"tick: each restart more, of {many['acted']:.0f} at once",
            (many["whole"] - large["whole"]) / more,
            "ms",
            EACH_MS,
            at_most=True,
            note="decided, stored, published, answered",
        ),
    ]
