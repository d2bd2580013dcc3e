"""The tick as a real functions-framework process, called like by the scheduler."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import Engine

from deploy.parts import identity
from deploy.parts.broker import RunningBroker
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port, http_answers
from deploy.parts.short_lived import running
from tests import migrated
from tests.conftest import patient_engine
from tests.rules.oidc_harness import EMAIL, OURS, Issuer, issuing


@dataclass(frozen=True)
class TickFunction:
    """A running `scheduler_tick`."""

    url: str
    log: Path
    issuer: str

    def call(self, method: str = "POST", token: str | None = None) -> requests.Response:
        """One call, with the scheduler's token unless another is given."""
        bearer = self.token() if token is None else token
        return requests.request(method, self.url, headers={"Authorization": f"Bearer {bearer}"}, timeout=60)

    def token(self) -> str:
        return identity.mint(OURS, self.url, EMAIL, self.issuer)

    def tick(self) -> dict[str, Any]:
        """Run one successful tick. Returns its report."""
        reply = self.call()
        assert (reply.status_code, reply.headers["Content-Type"]) == (200, "application/json"), reply.text
        report: dict[str, Any] = reply.json()
        return report


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as server:
        yield server


@pytest.fixture(scope="module")
def tick_engine(database_url: str) -> Iterator[Engine]:
    """The module's database, with the tick's production role."""
    with patient_engine(migrated.address_for("scheduler_tick", database_url)) as made:
        yield made


Start = Callable[..., AbstractContextManager[TickFunction]]


@pytest.fixture(scope="module")
def start(database_url: str, broker: RunningBroker, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Start:
    """Starts the function on a free port, with more environment variables by name."""

    @contextmanager
    def started(**environment: str) -> Iterator[TickFunction]:
        port = free_port()
        folder = tmp_path_factory.mktemp("tick")
        url = f"http://127.0.0.1:{port}"
        settings = {
            "PYTHONPATH": str(REPOSITORY),
            "HOST": "127.0.0.1",
            "PORT": str(port),
            "THREADS": "8",
            "XDG_RUNTIME_DIR": str(folder),
            "DATABASE_URL": migrated.address_for("scheduler_tick", database_url),
            "MQTT_URL": broker.broker.services_url,
            "MQTT_USERNAME": "scheduler",
            "MQTT_PASSWORD": broker.passwords["scheduler"],
            "QUEUE_URL": f"grpc://127.0.0.1:{free_port()}/projects/local/locations/local",
            "TASKS_SERVICE_ACCOUNT": EMAIL,
            "SCHEDULER_SERVICE_ACCOUNT": EMAIL,
            "SCHEDULER_TICK_URL": url,
            "OIDC_ISSUER": issuer.issuer,
            **environment,
        }
        source = REPOSITORY / "functions" / "scheduler_tick" / "main.py"
        command = [sys.executable, "-m", "functions_framework", "--target=scheduler_tick", f"--source={source}"]
        log = folder / "log"
        with running(command, http_answers(port, "/", 405), log, environment=settings):
            yield TickFunction(url, log, settings["OIDC_ISSUER"])

    return started


@pytest.fixture(scope="module")
def recovering(start: Start) -> Iterator[TickFunction]:
    """The function with recovery on."""
    with start(CRASH_RECOVERY_ENABLED="true") as function:
        yield function


@pytest.fixture(scope="module")
def expiring(start: Start) -> Iterator[TickFunction]:
    """The function with recovery off, the default."""
    with start() as function:
        yield function
