"""The function `scheduler_tick`: one tick, called by the scheduler.

    POST / with the scheduler's identity token -> 200 {did, failed, late, duration_ms} or {skipped}

A step that fails is named in `failed` and does not make the tick fail: the next one repeats it anyway.
"""

import gc

gc.disable()  # what is imported stays: looking through it again and again is an eighth of a cold start

import json
import os
import uuid
from datetime import timedelta
from typing import Final

import functions_framework
from flask import Request, Response
from sqlalchemy.exc import SQLAlchemyError

from functions.scheduler_tick import steps
from functions.scheduler_tick.steps import World
from functions.startup import check_deployment
from shared import config, structured_log
from shared.commands import operations as commands
from shared.conversions.rules import timeouts
from shared.db import engine_for, is_away
from shared.errors import InvalidIdentity
from shared.mqtt import Publisher
from shared.oidc import Caller, KeySet
from shared.structured_log import Outage, event, failure
from shared.task_queue import TaskQueue

REQUIRED: Final = (
    "DATABASE_URL",
    "MQTT_USERNAME",
    "MQTT_PASSWORD",
    "SCHEDULER_SERVICE_ACCOUNT",
    "TASKS_SERVICE_ACCOUNT",
)
FEWEST_CONNECTIONS: Final = 2  # one holds the tick's lock while the steps use another

structured_log.configure("scheduler_tick")
CONFIG: Final = config.load(required=REQUIRED)
check_deployment(CONFIG, "scheduler_tick", os.environ)
WORLD: Final = World(
    config=CONFIG,
    engine=engine_for(CONFIG["DATABASE_URL"], "scheduler_tick", max(FEWEST_CONNECTIONS, CONFIG["DATABASE_POOL_SIZE"])),
    publisher=Publisher.from_config(CONFIG),
    queue=TaskQueue(
        CONFIG["QUEUE_URL"],
        CONFIG["CONVERT_WORKER_URL"],
        CONFIG["TASKS_SERVICE_ACCOUNT"],
        timeouts(timedelta(seconds=CONFIG["CONVERSION_DEADLINE_SECONDS"])).dispatch,
    ),
    timings=commands.timings(CONFIG),
)
SCHEDULER: Final = Caller(
    CONFIG["SCHEDULER_TICK_URL"],
    CONFIG["OIDC_ISSUER"],
    CONFIG["SCHEDULER_SERVICE_ACCOUNT"],
    KeySet(CONFIG["OIDC_KEYS_URL"]),
)
gc.freeze()
gc.enable()

DATABASE: Final = Outage("database")


@functions_framework.http
def scheduler_tick(request: Request) -> Response:
    """Carry out one tick. Whatever happens, the answer is JSON and holds no exception's text."""
    if request.method != "POST":
        return _problem(405, "method_not_allowed", "Ticks are sent with POST.", Allow="POST")
    try:
        SCHEDULER.authenticate(dict(request.headers))
        return _tick()
    except InvalidIdentity as error:
        return _problem(401, error.code, error.detail, **{"WWW-Authenticate": "Bearer"})
    except SQLAlchemyError as error:
        if is_away(error):
            DATABASE.began(error)
            return _problem(503, "database_unavailable", "The database is not available.")
        return _failed(503, "database_unavailable", "The database is not available.")
    except Exception:  # noqa: BLE001 - the framework's own handler would answer with the exception's text
        return _failed(500, "internal_error", "The tick failed unexpectedly.")


def _tick() -> Response:
    report = steps.run(WORLD)
    DATABASE.over()
    event("tick", "ticked", **report)
    return Response(json.dumps(report), 200, content_type="application/json")


def _failed(status: int, code: str, detail: str) -> Response:
    """Answer for the exception at hand; its own words go to the log only."""
    failure("tick_failed", "a tick could not be carried out")
    return _problem(status, code, detail)


def _problem(status: int, code: str, detail: str, **headers: str) -> Response:
    """An RFC 9457 document."""
    document = {
        "type": f"urn:signage:problem:{code}",
        "title": TITLES[status],
        "status": status,
        "detail": detail,
        "code": code,
        "request_id": str(uuid.uuid4()),
    }
    return Response(json.dumps(document), status, content_type="application/problem+json", headers=headers)


TITLES: Final = {
    401: "Not authenticated",
    405: "Method not allowed",
    500: "Internal error",
    503: "Temporarily unavailable",
}
