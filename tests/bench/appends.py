"""mq-bridge (Rust, from PyPI) as a peer: it appends every payload to a table and acknowledges after the commit."""

import importlib
import importlib.util
import time
from typing import Any

from deploy.local.layout import LOOPBACK
from deploy.local.probes import wait_until
from tests.bench.traffic import PASSWORD, USER, publish
from tests.faults.machine import Machine, rows

BATCH, WINDOW, SECONDS = 1_000, 4_000, 300.0
HAS_SUBSCRIBED = "signage/probe/heartbeat"


def is_installed() -> bool:
    """It is no requirement of ours."""
    return importlib.util.find_spec("mq_bridge") is not None


def subscribe(service: Machine, port: int) -> None:
    """Let it make its session, prove that messages come through, and leave."""
    route = _route(service, port)
    route.start()
    try:
        wait_until(lambda: _probed(service, port), SECONDS)
    finally:
        route.stop()
        route.join()


def _probed(service: Machine, port: int) -> bool:
    publish(port, [(HAS_SUBSCRIBED.encode(), b"{}")])
    return stored(service) > 0


def drain(service: Machine, port: int, messages: int) -> float:
    """Messages a second from its first commit to its last."""
    before = stored(service)
    seen: list[tuple[float, int]] = []

    def all_stored() -> bool:
        found = stored(service) - before
        if found and (not seen or found != seen[-1][1]):
            seen.append((time.monotonic(), found))
        return found >= messages

    route = _route(service, port)
    route.start()
    try:
        wait_until(all_stored, SECONDS)
    finally:
        route.stop()
        route.join()
    (began, first), (ended, last) = seen[0], seen[-1]
    return (last - first) / (ended - began)


def stored(service: Machine) -> int:
    """Rows that it has committed."""
    engine = service.engine()
    try:
        if not rows(engine, "SELECT 1 WHERE to_regclass('bench_appends') IS NOT NULL"):
            return 0
        return int(rows(engine, "SELECT count(*) FROM bench_appends")[0][0])
    finally:
        engine.dispose()


def _route(service: Machine, port: int) -> Any:
    source = {
        "url": f"tcp://{LOOPBACK}:{port}",
        "topic": "signage/#",
        "username": USER,
        "password": PASSWORD,
        "client_id": "mq-bridge",
        "qos": 1,
        "max_inflight": WINDOW,
        "queue_capacity": WINDOW,
        "session_expiry_interval": 86_400,
    }
    table = {"url": service.database_url, "table": "bench_appends", "auto_create_table": True}
    route = importlib.import_module("mq_bridge").Route
    return route.from_config({"input": {"mqtt": source}, "output": {"sqlx": table}, "batch_size": BATCH})
