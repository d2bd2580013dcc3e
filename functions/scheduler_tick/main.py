"""The function `scheduler_tick`: one tick, called by the scheduler, or one delivery of a notification.

    POST / with the scheduler's identity token -> 200 {did, failed, late, duration_ms} or {skipped}
    POST /deliveries with the task queue's identity token -> 200 {outcome}: a job of an extension

A step that fails is named in `failed`. The tick succeeds all the same: the next tick repeats the step.
"""

import gc

gc.disable()  # imported modules are never garbage: collecting among them would be an eighth of a cold start

import json
import os
from typing import Final

import functions_framework
from flask import Request, Response
from sqlalchemy.exc import SQLAlchemyError

from functions.jobs import check_post, leave_unread
from functions.problems import (
    BadJob,
    DatabaseUnavailable,
    InternalError,
    PostOnly,
    TryAgain,
    new_request_id,
    response_of,
)
from functions.scheduler_tick import steps
from functions.scheduler_tick.frame import Job, World
from functions.startup import bound_request_lines, check_deployment
from shared import config, structured_log
from shared.commands import operations as commands
from shared.conversions import operations as conversions
from shared.errors import InvalidIdentity
from shared.outside.mqtt import Publisher
from shared.outside.oidc import KeySet, ServiceCaller, keys_url
from shared.postgres.door import engine_for, is_away, said_by_postgres
from shared.structured_log import Outage, event, failure
from shared.version import version

REQUIRED: Final = (
    "DATABASE_URL",
    "MQTT_USERNAME",
    "MQTT_PASSWORD",
    "SCHEDULER_SERVICE_ACCOUNT",
    "TASKS_SERVICE_ACCOUNT",
)
FEWEST_CONNECTIONS: Final = 2  # one holds the tick's lock, the steps use the other

structured_log.configure("scheduler_tick", version=version())
CONFIG: Final = config.load(required=REQUIRED)
check_deployment(CONFIG, "scheduler_tick", os.environ)
bound_request_lines()
WORLD: Final = World(
    config=CONFIG,
    engine=engine_for(CONFIG["DATABASE_URL"], "scheduler_tick", max(FEWEST_CONNECTIONS, CONFIG["DATABASE_POOL_SIZE"])),
    publisher=Publisher.from_config(CONFIG),
    queue=conversions.queue_of(CONFIG),
    timings=commands.timings(CONFIG),
)
JOBS: Final = {path: job for part in steps.PARTS if part.jobs for path, job in part.jobs(WORLD).items()}
KEYS: Final = KeySet(keys_url(CONFIG["OIDC_ISSUER"]))
SCHEDULER, QUEUE = (
    ServiceCaller(CONFIG["SCHEDULER_TICK_URL"], CONFIG["OIDC_ISSUER"], CONFIG[account], KEYS)
    for account in ("SCHEDULER_SERVICE_ACCOUNT", "TASKS_SERVICE_ACCOUNT")
)
gc.freeze()
gc.enable()

DATABASE: Final = Outage("database")


@functions_framework.http
def scheduler_tick(request: Request) -> Response:
    """Carry out one tick or one job. The answer is always JSON, without the text of an exception."""
    request_id = new_request_id()
    try:
        check_post(request)
        return _tick(request) if request.path == "/" else _do_job(JOBS.get(request.path, _of_nobody), request)
    except (InvalidIdentity, PostOnly, BadJob, TryAgain) as refusal:
        return response_of(refusal, request_id)
    except SQLAlchemyError as error:
        if is_away(error):
            DATABASE.began(error, **said_by_postgres(error))
        else:
            _note_failure(request_id)
        return response_of(DatabaseUnavailable(), request_id)
    except Exception:  # noqa: BLE001 - the framework's own handler would answer with the exception's text
        _note_failure(request_id)
        return response_of(InternalError(), request_id)
    finally:
        leave_unread(request)


def _note_failure(request_id: str) -> None:
    failure("scheduler_tick_failed", "a tick or a job could not be carried out", request_id=request_id)


def _tick(request: Request) -> Response:
    SCHEDULER.authenticate(dict(request.headers))
    report = steps.run(WORLD)
    DATABASE.over()
    event("tick", "ticked", **report)
    return Response(json.dumps(report), 200, content_type="application/json")


def _of_nobody(_request: Request) -> str:
    """The job of an extension that was deleted while its tasks waited."""
    return "nothing_to_do"


def _do_job(job: Job, request: Request) -> Response:
    QUEUE.authenticate(dict(request.headers))
    outcome = job(request)
    if outcome is None:
        raise TryAgain("Another request is doing this.", retry_after_seconds=30)
    return Response(json.dumps({"outcome": outcome}), 200, content_type="application/json")
