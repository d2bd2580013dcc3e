"""Start and first answer of each function in its real server, compared with an empty function."""

import http.client
import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from subprocess import PIPE, STDOUT

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import free_port
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
LOOK_SECONDS = 0.002


def measure(folder: Path) -> list[Row]:
    """Measure a row for each function."""
    environment = {**os.environ, **ENVIRONMENT, "MEDIA_ROOT": str(folder), "PYTHONPYCACHEPREFIX": str(folder)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def start(source: str, target: str, path: str) -> float:
        port = free_port()
        command = [sys.executable, "-m", "functions_framework", f"--target={target}", f"--source={REPOSITORY / source}"]
        told = environment | {"PORT": str(port), "XDG_RUNTIME_DIR": str(folder)}
        began = time.monotonic()
        with subprocess.Popen(command, cwd=REPOSITORY, env=told, stdout=PIPE, stderr=STDOUT) as server:
            while not answers(port, path):
                assert server.poll() is None, server.stdout and server.stdout.read()
                time.sleep(LOOK_SECONDS)
            took = time.monotonic() - began
            server.terminate()
        return 1000 * took

    starts = [partial(start, *one) for one in (*FUNCTIONS.values(), EMPTY)]
    for one in starts:
        one()  # compiled files
    *ours, empty = alternating(TIMES, *starts)
    return [
        Row(f"cold start of {name}", took, "ms", LIMIT, at_most=True, peer="empty function", theirs=empty)
        for name, took in zip(FUNCTIONS, ours, strict=True)
    ]


def answers(port: int, path: str) -> bool:
    """Whether the server answers, whatever it says."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().status in {200, 405}
    except ConnectionError:
        return False
    finally:
        connection.close()
