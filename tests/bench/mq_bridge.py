"""mq-bridge (Rust, from PyPI) as a peer: it appends every payload to a table and acknowledges after the commit."""

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from deploy.local.layout import LOOPBACK
from tests.bench.appends import Appender
from tests.bench.traffic import PASSWORD, USER
from tests.faults.machine import Machine

BATCH, WINDOW = 1_000, 4_000
TABLE: Final = "bench_appends"


def is_installed() -> bool:
    """It is no requirement of ours."""
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
    route = made.from_config({"input": {"mqtt": source}, "output": {"sqlx": table}, "batch_size": BATCH})
    route.start()
    try:
        yield
    finally:
        route.stop()
        route.join()


APPENDER: Final = Appender("mq-bridge, plain appends", TABLE, _running)
