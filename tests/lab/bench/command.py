"""The time from POST to the display's callback, with a warm function."""

import json
import selectors
import threading
import time
import urllib.request
import uuid
from pathlib import Path
from typing import Self

import sqlalchemy as sa

from shared.vocabulary import Role
from tests.api.function_process import ENVIRONMENT, function_process
from tests.api.people import issue_token
from tests.lab.bench.report import Row, median
from tests.lab.bench.traffic import PASSWORD, USER, bench_machine
from tests.lab.campaigns.wire import Received, Wire

WARM_UP, MEASURED = 10, 60


def measure(folder: Path) -> list[Row]:
    """Measure the median over commands, each to another client."""
    names = [str(uuid.UUID(int=number + 1, version=4)) for number in range(WARM_UP + MEASURED)]
    with bench_machine(folder, bridge=True) as (service, port):
        engine = service.engine()
        with engine.begin() as connection:
            connection.execute(
                sa.text("INSERT INTO clients (uuid, registered_by) SELECT unnest(CAST(:names AS text[])), 'enrolment'"),
                {"names": names},
            )
        environment = {
            **ENVIRONMENT,
            "DATABASE_URL": service.database_url,
            "MEDIA_ROOT": str(folder),
            "MQTT_URL": service.place.services_url,
            "MQTT_PASSWORD": service.passwords["api"],
        }
        token = issue_token(engine, Role.ADMIN)
        with function_process("functions/api/main.py", environment, folder) as api, Listening(port) as came:
            took = [_one(api.url, token, name, came) for name in names][WARM_UP:]
        engine.dispose()
    return [Row("command: POST -> display", median(took), "ms", 25, at_most=True)]


def _one(url: str, token: str, name: str, came: "Listening") -> float:
    """Send a command. Returns the milliseconds from before the POST until the display has it."""
    request = urllib.request.Request(
        f"{url}/api/clients/{name}/commands",
        json.dumps({"action": "restart_app", "reason": "bench"}).encode(),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    began = time.monotonic()
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 202
    return 1000 * (came.at(name) - began)


class Listening:
    """Receives the commands of all displays over one connection, and notes their times."""

    def __init__(self, port: int) -> None:
        self._wire = Wire.connect(port, USER, PASSWORD)
        self._wire.subscribe("signage/+/commands")
        self._came: dict[str, float] = {}
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()
        self._wire.close()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wire, selectors.EVENT_READ)
            while not self._stop.is_set():
                if not selector.select(0.2):
                    continue
                at = time.monotonic()
                for event in self._wire.take():
                    if isinstance(event, Received):
                        with self._changed:
                            self._came.setdefault(event.topic.split("/")[1], at)
                            self._changed.notify_all()
                self._wire.flush()

    def at(self, name: str) -> float:
        """When this client's command came, in monotonic seconds."""
        with self._changed:
            assert self._changed.wait_for(lambda: name in self._came, 30), f"no command came for {name}"
            return self._came[name]
