"""The function `scheduler_tick`: one tick, called by the scheduler; and what a tick decided to tell people.

    POST / with the scheduler's identity token -> 200 {did, failed, late, duration_ms} or {skipped}
    POST /deliveries with the task queue's identity token -> 200 {outcome}; see `deliveries`

A step that fails is named in `failed` and does not make the tick fail: the next one repeats it anyway.
"""

import gc

gc.disable()  # imported modules stay: searching them for garbage again and again is an eighth of a cold start

import json
import os
import uuid
from datetime import timedelta
from typing import Final

import functions_framework
from flask import Request, Response
from sqlalchemy.exc import SQLAlchemyError

from functions.jobs import BadJob, leave_unread
from functions.scheduler_tick import deliveries, steps
from functions.scheduler_tick.deliveries import PostOffice
from functions.scheduler_tick.steps import World
from functions.startup import bound_request_lines, check_deployment
from shared import config, structured_log
from shared.commands import operations as commands
from shared.conversions.rules import timeouts
from shared.errors import InvalidIdentity
from shared.outside import couriers
from shared.outside.mqtt import Publisher
from shared.outside.oidc import KeySet, ServiceCaller
from shared.outside.task_queue import TaskQueue
from shared.postgres.door import engine_for, is_away, said_by_postgres
from shared.structured_log import Outage, event, failure

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
bound_request_lines()
WORLD: Final = World(
    config=CONFIG,
    engine=engine_for(CONFIG["DATABASE_URL"], "scheduler_tick", max(FEWEST_CONNECTIONS, CONFIG["DATABASE_POOL_SIZE"])),
    publisher=Publisher.from_config(CONFIG),
    queue=TaskQueue(
        CONFIG["QUEUE_URL"],
        CONFIG["CONVERT_WORKER_URL"],
        CONFIG["TASKS_SERVICE_ACCOUNT"],
        timeouts(timedelta(seconds=CONFIG["CONVERSION_DEADLINE_SECONDS"])).dispatch,
        secret=CONFIG["QUEUE_SECRET"],
    ),
    timings=commands.timings(CONFIG),
)
OFFICE: Final = PostOffice(WORLD.engine, deliveries.queue_of(CONFIG), couriers.reach_of(CONFIG))
KEYS: Final = KeySet(CONFIG["OIDC_KEYS_URL"])
SCHEDULER, QUEUE = (
    ServiceCaller(CONFIG["SCHEDULER_TICK_URL"], CONFIG["OIDC_ISSUER"], CONFIG[account], KEYS)
    for account in ("SCHEDULER_SERVICE_ACCOUNT", "TASKS_SERVICE_ACCOUNT")
)
gc.freeze()
gc.enable()

DATABASE: Final = Outage("database")


@functions_framework.http
def scheduler_tick(request: Request) -> Response:
    """Carry out one tick, or one delivery. Whatever happens, the answer is JSON and holds no exception's text."""
    try:
        if request.method != "POST":
            return _problem(405, "method_not_allowed", "Ticks are sent with POST.", Allow="POST")
        return _deliver(request) if request.path == deliveries.PATH else _tick(request)
    except InvalidIdentity as error:
        return _problem(401, error.code, error.detail, **{"WWW-Authenticate": "Bearer"})
    except SQLAlchemyError as error:
        if is_away(error):
            DATABASE.began(error, **said_by_postgres(error))
            return _problem(503, "database_unavailable", "The database is not available.")
        return _failed(503, "database_unavailable", "The database is not available.")
    except Exception:  # noqa: BLE001 - the framework's own handler would answer with the exception's text
        return _failed(500, "internal_error", "The tick failed unexpectedly.")
    finally:
        leave_unread(request)


def _tick(request: Request) -> Response:
    SCHEDULER.authenticate(dict(request.headers))
    report = steps.run(WORLD)
    DATABASE.over()
    event("tick", "ticked", **report)
    return Response(json.dumps(report), 200, content_type="application/json")


def _deliver(request: Request) -> Response:
    QUEUE.authenticate(dict(request.headers))
    try:
        job = deliveries.read_delivery(request)
    except BadJob as error:
        return _problem(400, "bad_job", str(error))
    outcome = deliveries.deliver(OFFICE, *job)
    if outcome is None:
        return _problem(503, "try_again", "Somebody else is sending this.", **{"Retry-After": "30"})
    return Response(json.dumps({"outcome": outcome}), 200, content_type="application/json")


def _failed(status: int, code: str, detail: str) -> Response:
    """Answer for the exception at hand; its own words go to the log only."""
    failure("scheduler_tick_failed", "a tick or a delivery could not be carried out")
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
    400: "Bad request",
    401: "Not authenticated",
    405: "Method not allowed",
    500: "Internal error",
    503: "Temporarily unavailable",
}
