"""`python -m deploy.parts.task_queue`: the local task queue until SIGTERM.

Environment: DATABASE_URL, QUEUE_URL (its location holds the queues `conversions` and `notifications`),
TASK_QUEUE_PORT (8123, gRPC), TASK_QUEUE_KEYS_PORT (8124, HTTP), LOCAL_STATE_DIR (`.local`, the signing key is in
its `secrets/`), OIDC_ISSUER (the address of the keys), TASKS_SERVICE_ACCOUNT (the only identity that a task may ask
for), QUEUE_SECRET (authenticates callers), TASK_QUEUE_TARGETS (the allowed addresses of tasks, separated by commas;
default CONVERT_WORKER_URL and SCHEDULER_TICK_URL; `*`: all), TASK_QUEUE_MAX_CONCURRENT (2, parallel conversions).
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import grpc
from google.cloud.tasks_v2.types import Queue, RateLimits, RetryConfig
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from deploy.parts import identity, layout
from deploy.parts.task_queue import messages, schema
from deploy.parts.task_queue.delivery import Identity
from deploy.parts.task_queue.dispatcher import Dispatcher
from deploy.parts.task_queue.keys_server import KeysServer
from deploy.parts.task_queue.service import CloudTasks, GenericHandler
from deploy.parts.task_queue.validation import Permitted
from shared import config, structured_log
from shared.errors import ConfigurationError
from shared.outside.task_queue import NOTIFICATIONS_QUEUE_ID, QUEUE_ID, parse_queue_url
from shared.postgres import door

CALL_THREADS = 16
NOTIFICATIONS_AT_ONCE = 4
DATABASE_WAIT_SECONDS = 30.0
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
STOP_GRACE = timedelta(seconds=3)


@dataclass(frozen=True)
class Settings:
    """The settings from the environment."""

    database_url: str
    location: str
    port: int
    keys_port: int
    key_path: Path
    issuer: str
    service_account: str
    secret: str
    targets: frozenset[str] | None
    max_concurrent: int

    @classmethod
    def read(cls) -> "Settings":
        """Read the environment. Raises ConfigurationError, BadSetting or ValueError."""
        product = config.load(required=("DATABASE_URL", "TASKS_SERVICE_ACCOUNT"))
        if not product["QUEUE_SECRET"]:
            raise ConfigurationError("QUEUE_SECRET is not set.")
        ports = layout.ports_from(os.environ)
        functions = f"{product['CONVERT_WORKER_URL']},{product['SCHEDULER_TICK_URL']}"
        targets = os.environ.get("TASK_QUEUE_TARGETS") or functions
        return cls(
            database_url=product["DATABASE_URL"],
            location=parse_queue_url(product["QUEUE_URL"])[1],
            port=ports["TASK_QUEUE_PORT"],
            keys_port=ports["TASK_QUEUE_KEYS_PORT"],
            key_path=identity.key_path(os.environ),
            issuer=identity.issuer(os.environ),
            service_account=product["TASKS_SERVICE_ACCOUNT"],
            secret=product["QUEUE_SECRET"],
            targets=None if targets == "*" else frozenset(targets.split(",")),
            max_concurrent=int(os.environ.get("TASK_QUEUE_MAX_CONCURRENT", "2")),
        )


def queues(max_concurrent: int) -> dict[str, Queue]:
    """The settings of each queue, by id. A queue never gives up a task: the job's own row limits the attempts.

    `max_concurrent` limits conversions; notifications mostly wait for receivers.
    """
    return {QUEUE_ID: _queue(max_concurrent), NOTIFICATIONS_QUEUE_ID: _queue(NOTIFICATIONS_AT_ONCE)}


def _queue(max_concurrent: int) -> Queue:
    return Queue(
        rate_limits=RateLimits(max_dispatches_per_second=20, max_concurrent_dispatches=max_concurrent),
        retry_config=RetryConfig(
            max_attempts=-1,
            min_backoff=timedelta(seconds=1),
            max_backoff=timedelta(seconds=60),
            max_doublings=6,
        ),
    )


def main(make_queues: Callable[[int], Mapping[str, Queue]] = queues) -> int:
    """Run until SIGTERM or SIGINT. Returns 0, or 1 when it cannot start."""
    structured_log.configure("task_emulator")
    # The signals are blocked here, and so in every later thread; sigwait takes them. A handler that sets an event
    # could interrupt the thread that holds the event's lock.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        settings = Settings.read()
        engine = door.engine_for(settings.database_url, "task_emulator", pool_size=CALL_THREADS)
        prepare(engine)
        serve(engine, settings, make_queues(settings.max_concurrent))
    except (ConfigurationError, layout.BadSetting, ValueError, OSError, RuntimeError, SQLAlchemyError):
        structured_log.failure("task_emulator_failed", "the task queue cannot run")
        return 1
    return 0


def prepare(engine: Engine) -> None:
    """Make the table. Waits up to DATABASE_WAIT_SECONDS for the database."""
    until = time.monotonic() + DATABASE_WAIT_SECONDS
    while True:
        try:
            with door.transaction(engine) as connection:
                schema.create(connection)
        except (SQLAlchemyError, OSError):  # pg8000 raises OSError for a refused connection
            if time.monotonic() >= until or signal.sigtimedwait(STOP_SIGNALS, 0.5):
                raise
        else:
            return


def serve(engine: Engine, settings: Settings, queues_by_id: Mapping[str, Queue]) -> None:
    """Answer calls, deliver tasks and publish the keys until a stop signal. Raises when a port is taken."""
    named = messages.named(settings.location, queues_by_id)
    key = identity.load_or_create_key(settings.key_path)
    dispatcher = Dispatcher(engine, Identity(key, settings.issuer), named)
    permitted = Permitted(frozenset({settings.service_account}), settings.targets)
    api = CloudTasks(engine, named, permitted, dispatcher.wake)
    # Without so_reuseport=0 a second emulator could share the port unnoticed, and get half of the calls.
    server = grpc.server(ThreadPoolExecutor(CALL_THREADS), options=(("grpc.so_reuseport", 0),))
    server.add_generic_rpc_handlers((GenericHandler(api, settings.secret),))
    server.add_insecure_port(f"127.0.0.1:{settings.port}")
    keys = KeysServer(settings.keys_port, identity.key_set(key), dispatcher.is_healthy)
    keys.start()
    server.start()
    threading.Thread(target=dispatcher.run, name="dispatcher", daemon=True).start()
    structured_log.event("task_emulator_serving", "task queue ready", port=settings.port)
    signal.sigwait(STOP_SIGNALS)
    server.stop(grace=1).wait()
    dispatcher.stop(STOP_GRACE)
    keys.shutdown()


if __name__ == "__main__":
    sys.exit(main())
