"""The reads of the dashboard and of scripts, with a large fleet in the database."""

import gzip
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from shared.vocabulary import Role
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.people import issue_token
from tests.lab.bench.fleet import CLIENTS as CLIENTS_OF_A_FLEET
from tests.lab.bench.fleet import FAILURES, HEARTBEATS, uuid_of
from tests.lab.bench.http import Caller, milliseconds, request_rate
from tests.lab.bench.report import Row, alternating, median
from tests.lab.campaigns.machine import machine
from tests.unpacked import unpacked

CLIENTS = 10_000
PLAIN, JUDGED = 0.2, 0.1  # least rate, as a share of the empty function's; with recovery's view of each display
LOG_ROWS = 10_000_000 if os.environ.get("BENCH_FULL") == "1" else 200_000
CHANGES = 80
GZIP_LEVEL = 5  # the gateway's
TIMES = 21
POLLS = 200  # each takes a few ms; meanwhile autovacuum works on the changes
LOGS = f"""
    INSERT INTO client_logs (client_uuid, level, message, logger, received_at)
    SELECT {uuid_of("(1 + mod(n, CAST(:clients AS int)))")},
        CAST((ARRAY['info', 'info', 'info', 'warning', 'error'])[1 + mod(n, 5)] AS log_level),
        'playlist advanced to item ' || n, 'player', now() - n * interval '10 milliseconds'
    FROM generate_series(1, CAST(:rows AS int)) AS n
"""
HOURS = """
    INSERT INTO client_log_hours SELECT uuid, hour, 0, 40, 2, 1, 0, hour + interval '30 minutes'
    FROM clients, generate_series(date_trunc('hour', now()) - interval '23 hours', now(), interval '1 hour') AS hour
"""
"""A real day: each display logs in every hour, at three levels."""
FILL = (CLIENTS_OF_A_FLEET, HEARTBEATS, FAILURES, LOGS, HOURS)
HEARD = "UPDATE client_heartbeats SET last_heartbeat_at = now() - random() * interval '30 seconds'"
"""Filling takes minutes without heartbeats, so that thousands of displays would be silent, unlike in a real fleet."""
CHANGE = (
    f"UPDATE clients SET screen_health = 'black' WHERE uuid IN (SELECT uuid FROM clients LIMIT {CHANGES})",
    "UPDATE client_heartbeats SET last_heartbeat_at = now()",
)


PATHS: Final = {
    "crashed": "/api/clients/crashed",
    "service_failed": "/api/clients/service_failed",
    "logs of one client": "/api/client-logs/{one}/logs",
    "recent errors": "/api/client-logs/recent-errors",
    "summary of one client": "/api/client-logs/summary?client={one}",
    "summary": "/api/client-logs/summary",
}


@dataclass(frozen=True)
class Filled:
    """The api function on a large fleet, an empty function, and one that only identifies its caller."""

    api: FunctionProcess
    empty: FunctionProcess
    one_statement: FunctionProcess
    token: str
    engine: sa.Engine
    one: str  # the uuid of a client


@contextmanager
def filled(folder: Path, log_rows: int) -> Iterator[Filled]:
    """The functions, on a filled and analysed database."""
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
            function_process("tests/lab/bench/empty_function.py", environment, folder) as empty,
            function_process("tests/lab/bench/one_statement_function.py", environment, folder) as one_statement,
        ):
            with engine.connect() as connection:
                one = connection.execute(sa.text(f"SELECT {uuid_of('7')}")).scalar_one()
            yield Filled(api, empty, one_statement, issue_token(engine, Role.ADMIN), engine, one)
        engine.dispose()


def overview(folder: Path) -> list[Row]:
    """Time and size of the packed overview, of the whole fleet and of changes; the whole fleet also beside objects."""
    with filled(folder, 10) as fleet:
        ask, by_object = (
            Caller(fleet.api.port, f"/api/monitoring/overview?format={form}", fleet.token)
            for form in ("packed", "objects")
        )
        whole, objects = ask.ask(), by_object.ask()
        assert clients_in(whole) == CLIENTS
        took, took_by_object = alternating(TIMES, partial(once, ask), partial(once, by_object))
        delta = f"{ask.path}&since={json.loads(whole)['cursor']}"
        with fleet.engine.begin() as connection:
            for statement in CHANGE:
                connection.execute(sa.text(statement))
        part = ask.ask(delta)
        assert clients_in(part) == CHANGES
        took_part = median(milliseconds(ask, delta, POLLS))
        ask.close()
        by_object.close()
    name, size, size_by_object = "overview of 10,000", compressed_kb(whole), compressed_kb(objects)
    return [
        Row(f"{name}: whole", took, "ms", 45, at_most=True),
        Row(f"{name}: whole, gzip", size, "KB", 330, at_most=True),
        Row(f"{name}: whole, beside objects", took, "ms", 1, True, "as objects", took_by_object),
        Row(f"{name}: whole, gzip, beside objects", size, "KB", 0.7, True, "as objects", size_by_object),
        Row(f"{name}: {CHANGES} changes", took_part, "ms", 5, at_most=True),
        Row(f"{name}: {CHANGES} changes, gzip", compressed_kb(part), "KB", 5, at_most=True),
    ]


def once(caller: Caller) -> float:
    """Milliseconds of one request."""
    return milliseconds(caller, caller.path, 1)[0]


def clients_in(answer: bytes) -> int:
    """How many clients a packed answer has."""
    told = json.loads(answer)
    return len(unpacked(told["packed"], told["server_time"]))


def compressed_kb(answer: bytes) -> float:
    """KB of 1,000 bytes, compressed as the gateway does it."""
    return len(gzip.compress(answer, GZIP_LEVEL)) / 1000


def measure(folder: Path) -> list[Row]:
    """Measure request rates in turns with the empty function's."""
    with filled(folder, LOG_ROWS) as fleet:
        with fleet.engine.begin() as connection:
            connection.execute(sa.text(HEARD))
        took = median(milliseconds(Caller(fleet.api.port, "/", fleet.token), PATHS["summary"], TIMES))
        with fleet.engine.connect() as connection:
            size = connection.execute(sa.text("SELECT pg_total_relation_size('client_log_hours')")).scalar_one()
        empty, floor, *ours = alternating(
            3,
            lambda: request_rate(fleet.empty.port, "/"),
            lambda: request_rate(fleet.one_statement.port, "/", fleet.token),
            *(
                partial(request_rate, fleet.api.port, path.format(one=fleet.one), fleet.token)
                for path in PATHS.values()
            ),
        )
    note = f"{CLIENTS:,} clients, {LOG_ROWS:,} log rows"
    notes = {"summary": f"{note}; everyone has logged: 1 MB"}
    return [
        Row("log summary of everybody, a real day", took, "ms", 90, at_most=True, note=note),
        Row("hourly counts of 10,000 displays, a day", size / 1e6, "MB", 40, at_most=True, note=note),
        Row("read: who asks, and no more (a floor)", floor, "req/s", 0, peer="empty function", theirs=empty),
        *(
            Row(
                f"read: {name}",
                rate,
                "req/s",
                JUDGED if name in {"crashed", "service_failed"} else PLAIN,
                peer="empty function",
                theirs=empty,
                note=notes.get(name, note),
            )
            for name, rate in zip(PATHS, ours, strict=True)
        ),
    ]
