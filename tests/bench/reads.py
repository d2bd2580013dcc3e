"""What the dashboard and scripts read, with a large fleet in the database."""

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from shared.vocabulary import Role
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.people import issue_token
from tests.bench.http import Caller, milliseconds, request_rate
from tests.bench.report import Row, alternating, median
from tests.faults.machine import machine

CLIENTS = 10_000
LOG_ROWS = 10_000_000 if os.environ.get("BENCH_FULL") == "1" else 200_000
CHANGES = 80
GZIP_LEVEL = 5  # the gateway's
TIMES = 21
ONE = "00000000-0000-4000-8000-000000000007"

FILL = (
    """
    INSERT INTO clients (uuid, name, site, registered_by, process_status, status, app_version, ip, hostname,
        mqtt_reconnect_count, mqtt_last_disconnect_at, presence)
    SELECT '00000000-0000-4000-8000-' || lpad(n::text, 12, '0'), 'Display ' || n, 'Site ' || mod(n, 200), 'enrolment',
        CAST(CASE WHEN mod(n, 200) = 0 THEN 'crashed' ELSE 'running' END AS process_status),
        CASE WHEN mod(n, 200) = 0 THEN 'crashed' ELSE 'running' END,
        '1.4.' || mod(n, 5), '10.' || mod(n, 50) || '.' || mod(n, 250) || '.7', 'host-' || n, mod(n, 9),
        now() - n * interval '1 second', 'online'
    FROM generate_series(1, :clients) AS n
    """,
    """
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at) SELECT uuid, now() FROM clients
    """,
    """
    UPDATE clients SET service_failed_at = now(), service_failed_unit = 'player.service'
    WHERE right(uuid, 3) = '500'
    """,
    """
    INSERT INTO client_logs (client_uuid, level, message, logger, received_at)
    SELECT '00000000-0000-4000-8000-' || lpad((1 + mod(n, :clients))::text, 12, '0'),
        CAST((ARRAY['info', 'info', 'info', 'warning', 'error'])[1 + mod(n, 5)] AS log_level),
        'playlist advanced to item ' || n, 'player', now() - n * interval '10 milliseconds'
    FROM generate_series(1, :rows) AS n
    """,
)


@dataclass(frozen=True)
class Filled:
    """The api function on a large fleet, and the empty one on the same server."""

    api: FunctionProcess
    empty: FunctionProcess
    token: str
    engine: sa.Engine


@contextmanager
def filled(folder: Path, log_rows: int) -> Iterator[Filled]:
    """Both functions; the database is filled and analysed."""
    with machine(folder, bridge=False, durable=False) as service:
        engine = service.engine()
        admin = sa.create_engine(engine.url, isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            for statement in FILL:
                numbers = {"clients": CLIENTS, "rows": log_rows}
                used = {name: number for name, number in numbers.items() if f":{name}" in statement}
                connection.execute(sa.text(statement), used)
            connection.execute(sa.text("VACUUM ANALYZE"))
        admin.dispose()
        environment = {**ENVIRONMENT, "DATABASE_URL": service.database_url, "MEDIA_ROOT": str(folder)}
        with (
            function_process("functions/api/main.py", environment, folder) as api,
            function_process("tests/bench/empty_function.py", environment, folder) as empty,
        ):
            yield Filled(api, empty, issue_token(engine, Role.ADMIN), engine)
        engine.dispose()


def overview(folder: Path) -> list[Row]:
    """The whole fleet, and what changed: time and size."""
    with filled(folder, 10) as fleet:
        caller = Caller(fleet.api.port, "/api/monitoring/overview?format=columns", fleet.token)
        whole = caller.ask()
        assert len(json.loads(whole)["rows"]) == CLIENTS
        took_whole = median(milliseconds(caller, caller.path, TIMES))
        delta = f"{caller.path}&since={json.loads(whole)['cursor']}"
        with fleet.engine.begin() as connection:
            change = "UPDATE clients SET screen_health = 'black' WHERE uuid IN (SELECT uuid FROM clients LIMIT :n)"
            connection.execute(sa.text(change), {"n": CHANGES})
            connection.execute(sa.text("UPDATE client_heartbeats SET last_heartbeat_at = now()"))
        part = caller.ask(delta)
        assert len(json.loads(part)["rows"]) == CHANGES
        took_part = median(milliseconds(caller, delta, TIMES))
        caller.close()
    return [
        Row("overview of 10,000: whole", took_whole, "ms", 60, at_most=True),
        Row("overview of 10,000: whole, gzip", len(gzip.compress(whole, GZIP_LEVEL)) / 1000, "KB", 330, at_most=True),
        Row("overview: 80 changes", took_part, "ms", 5, at_most=True),
        Row("overview: 80 changes, gzip", len(gzip.compress(part, GZIP_LEVEL)) / 1000, "KB", 5, at_most=True),
    ]


def measure(folder: Path) -> list[Row]:
    """Request rates beside the empty function's, in turns."""
    paths = {
        "crashed": "/api/clients/crashed",
        "service_failed": "/api/clients/service_failed",
        "logs of one client": f"/api/client-logs/{ONE}/logs",
        "recent errors": "/api/client-logs/recent-errors",
    }
    with filled(folder, LOG_ROWS) as fleet:
        empty, *ours = alternating(
            3,
            lambda: request_rate(fleet.empty.port, "/"),
            *(partial(request_rate, fleet.api.port, path, fleet.token) for path in paths.values()),
        )
    note = f"{CLIENTS:,} clients, {LOG_ROWS:,} log rows"
    return [
        Row(f"read: {name}", rate, "req/s", 0.3, peer="empty function", theirs=empty, note=note)
        for name, rate in zip(paths, ours, strict=True)
    ]
