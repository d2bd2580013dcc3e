"""A real functions-framework process, started as in production, and raw requests to it."""

import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running

FRAMEWORK = Path(sys.executable).with_name("functions-framework")


UPLOAD_LIMIT = 3_000_000
ENVIRONMENT = {
    "DATABASE_URL": "postgresql://nobody:nothing@127.0.0.1:9/none",
    "MQTT_USERNAME": "api",
    "MQTT_PASSWORD": "no-broker-in-this-test",
    "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
    "UPLOAD_LIMIT_BYTES": str(UPLOAD_LIMIT),
}


@dataclass(frozen=True)
class FunctionProcess:
    """A function that listens on a port of its own."""

    port: int
    pid: int
    log: Path

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def raw(self, request: bytes, timeout: float = 60.0) -> bytes:
        """Send exactly these bytes. Returns all that comes back until the connection is closed."""
        with socket.create_connection((LOOPBACK, self.port), timeout) as connection:
            connection.sendall(request)
            return b"".join(iter(lambda: connection.recv(65_536), b""))


@contextmanager
def function_process(source: str, environment: Mapping[str, str], folder: Path) -> Iterator[FunctionProcess]:
    """Run the function `api` of a file of the repository, with 16 threads."""
    port = free_port()
    log = folder / f"function-{port}.log"
    settings = {
        "FUNCTION_SOURCE": str(REPOSITORY / source),
        "FUNCTION_TARGET": "api",
        "HOST": LOOPBACK,
        "PORT": str(port),
        "THREADS": "16",
        "PYTHONPATH": str(REPOSITORY),
        **environment,
    }
    with running([str(FRAMEWORK)], accepts(port), log, environment=settings) as process:
        yield FunctionProcess(port, process.pid, log)


def ask(process: FunctionProcess, method: str, path: str, **options: Any) -> requests.Response:
    return requests.request(method, process.url + path, timeout=60, **options)


def problem(answer: requests.Response) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]
