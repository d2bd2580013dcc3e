"""mq-bridge (Rust, from PyPI) as a peer: it appends every payload to a table, and acknowledges after the commit."""

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from deploy.parts.layout import LOOPBACK
from tests.lab.bench.appends import Appender
from tests.lab.bench.traffic import PASSWORD, USER
from tests.lab.campaigns.machine import Machine

BATCH = 1_000
WINDOW = 60_000  # above the broker's, which would fill it before it answers the subscription; the fastest
TABLE: Final = "bench_appends"
LAST_ID: Final = f"SELECT coalesce(max(id), 0) FROM {TABLE}"  # its rows are numbered, which is faster than counting
STARTUP_MS: Final = 60_000  # it is ready when the broker answers its subscription, which comes after the backlog


def is_installed() -> bool:
    """Whether it is installed: the project does not require it."""
    return importlib.util.find_spec("mq_bridge") is not None


@contextmanager
def _running(service: Machine, port: int) -> Iterator[None]:
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
    table = {"url": service.database_url, "table": TABLE, "auto_create_table": True}
    made = importlib.import_module("mq_bridge").Route
    options = {"batch_size": BATCH, "startup_timeout_ms": STARTUP_MS}
    route = made.from_config({"input": {"mqtt": source}, "output": {"sqlx": table}, **options})
    route.start()
    try:
        yield
    finally:
        route.stop()
        route.join()


APPENDER: Final = Appender("mq-bridge, plain appends", TABLE, LAST_ID, _running)
