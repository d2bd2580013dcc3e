"""`python -m deploy.parts.broker_logins`: answers a broker that is not ours who may sign in, and what each user may do.

It runs beside such a broker in place of `broker_accounts`. The broker asks over HTTP, as RabbitMQ's
`rabbitmq_auth_backend_http` does (`questions.py`). It reads the logins that are not revoked and whose client is not
deleted, at the latest a second after they changed, and ends the connection of a display whose login ended
(`cutting.py`).
"""

import asyncio
import contextlib
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Final

from deploy.parts.broker_logins.cutting import CuttingOff
from deploy.parts.broker_logins.known import KnownLogins, service_logins
from deploy.parts.broker_logins.server import MOST_CONNECTIONS, LoginServer
from shared.config import Config, load
from shared.errors import ConfigurationError
from shared.postgres.door import is_away, make_engine, said_by_postgres
from shared.stopping import stop_event
from shared.structured_log import Outage, configure, event, failure
from shared.version import version

LOOK_SECONDS: Final = 0.25  # the shortest pause between two looks at the database
LONGEST_LOOK_SECONDS: Final = 1.0  # the longest pause, when nobody asks


def main() -> int:
    """Run the program. Returns the exit code: 0 after SIGTERM or SIGINT, 2 after a configuration error."""
    configure("broker_logins", version=version())
    try:
        config = load(required=("DATABASE_URL",))
        file = config["SERVICES_PASSWORD_FILE"]
        services = service_logins(Path(file) if file else None)
    except ConfigurationError as error:
        event("configuration_error", error.detail)
        return 2
    _may_open(MOST_CONNECTIONS)
    stop = stop_event()
    engine = make_engine(config, "broker_logins")
    try:
        asyncio.run(_run(config, KnownLogins(engine, config["MQTT_TOPIC_ROOT"], services), stop))
    finally:
        engine.dispose()
    return 0


def _may_open(files: int) -> None:
    """Raise the limit of open files as far as this process may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * files if hard == resource.RLIM_INFINITY else min(2 * files, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _run(config: Config, known: KnownLogins, stop: threading.Event) -> None:
    cutting = CuttingOff(config["MQTT_URL"])
    looks = _Looks(known, cutting)
    server = await LoginServer(known, cutting, looks.next_one).serve(config["BROKER_LOGINS_PORT"])
    stopping = asyncio.create_task(asyncio.to_thread(stop.wait))
    looking = asyncio.create_task(looks.go_on(stop))
    await stopping
    server.close()
    await looking


class _Looks:
    """Look at the database again and again; sooner when somebody waits for it."""

    def __init__(self, known: KnownLogins, cutting: CuttingOff) -> None:
        self._known = known
        self._cutting = cutting
        self._waiting: list[asyncio.Future[None]] = []
        self._asked = asyncio.Event()
        self._outage = Outage("database")
        self._is_faulty = False

    def next_one(self) -> "asyncio.Future[None]":
        """A future that is done when a look that begins from now on has ended."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._asked.set()
        return future

    async def go_on(self, stop: threading.Event) -> None:
        """Look until `stop` is set. While the database is away, retry."""
        while not stop.is_set():
            began = time.monotonic()
            self._asked.clear()
            waiting, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._look)
            finally:
                for future in waiting:
                    if not future.done():
                        future.set_result(None)
            await asyncio.sleep(max(LOOK_SECONDS, time.monotonic() - began))  # half of the time at most
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), LONGEST_LOOK_SECONDS - LOOK_SECONDS)

    def _look(self) -> None:
        """Read the logins, then end the connections that must end, before anybody who waits is let in."""
        try:
            self._cutting.owe(self._known.look())
            self._outage.over()
            self._cutting.cut()
            self._is_faulty = False
        except Exception as error:  # noqa: BLE001 - after any fault the next look tries again
            if is_away(error):
                self._outage.began(error, **said_by_postgres(error))
            elif not self._is_faulty:
                self._is_faulty = True
                failure("logins_stuck", "the displays' logins cannot be read, or their connections not ended")


if __name__ == "__main__":
    sys.exit(main())
