"""Import and first request of each function in a new process, compared with an empty function."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests.lab.bench.report import Row, alternating

TIMES = 7
LIMIT = 1.5
FUNCTIONS = {
    "api": ("functions/api/main.py", "api", "/api/health/live"),
    "convert_worker": ("functions/convert_worker/main.py", "convert_worker", "/"),
    "scheduler_tick": ("functions/scheduler_tick/main.py", "scheduler_tick", "/"),
}
EMPTY = ("tests/lab/bench/empty_function.py", "api", "/")
ENVIRONMENT = {
    "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/none",
    "MQTT_USERNAME": "bench",
    "MQTT_PASSWORD": "nothing-listens-there",
    "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
    "SCHEDULER_SERVICE_ACCOUNT": "scheduler@signage.test",
    "CONVERT_WORKER_URL": f"http://{LOOPBACK}:9",
    "SCHEDULER_TICK_URL": f"http://{LOOPBACK}:9",
    "OIDC_ISSUER": f"http://{LOOPBACK}:9",
    "HOST": LOOPBACK,
    "PYTHONPATH": str(REPOSITORY),
}
FIRST_REQUEST = """
import sys
from functions_framework import create_app
source, target, path = sys.argv[1:]
answer = create_app(target, source).test_client().get(path)
assert answer.status_code in (200, 405), answer.get_data(as_text=True)
"""


def measure(folder: Path) -> list[Row]:
    """Measure a row for each function."""
    environment = {**os.environ, **ENVIRONMENT, "MEDIA_ROOT": str(folder), "PYTHONPYCACHEPREFIX": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def start(source: str, target: str, path: str) -> float:
        command = [sys.executable, "-c", FIRST_REQUEST, str(REPOSITORY / source), target, path]
        began = time.monotonic()
        subprocess.run(command, cwd=REPOSITORY, env=environment, check=True, capture_output=True)
        return 1000 * (time.monotonic() - began)

    starts = [partial(start, *one) for one in (*FUNCTIONS.values(), EMPTY)]
    for one in starts:
        one()  # compiled files
    *ours, empty = alternating(TIMES, *starts)
    return [
        Row(f"cold start of {name}", took, "ms", LIMIT, at_most=True, peer="empty function", theirs=empty)
        for name, took in zip(FUNCTIONS, ours, strict=True)
    ]
