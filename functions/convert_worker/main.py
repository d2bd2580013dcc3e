"""The function `convert_worker`: one conversion job, delivered by the task queue.

    POST / {"job": "convert_event_media_to_pdf", "conversion_id": 42}, with the queue's identity token

Each conversion that waits has a task, and each task converts the one whose turn it is: uploaders take turns. The queue
deletes a task after an answer of 2xx and delivers it again after every other answer. 200: nothing is left to do, also
when the conversion failed for good. 503: deliver again.
"""

import gc

gc.disable()  # imported modules are never garbage: collecting among them would be an eighth of a cold start

import json
import logging
import os
import re
import time
from datetime import timedelta
from typing import Any, Final

import functions_framework
from flask import Request, Response
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from functions.convert_worker.converter import ConversionFault
from functions.convert_worker.identity import OwnIdentity
from functions.convert_worker.job import Workshop, make_pdf
from functions.jobs import check_post, is_number, leave_unread, read_job
from functions.problems import (
    BadJob,
    DatabaseUnavailable,
    InternalError,
    PostOnly,
    TryAgain,
    new_request_id,
    response_of,
)
from functions.startup import bound_request_lines, check_deployment
from shared import config, structured_log
from shared.conversions import operations, rules, store
from shared.conversions.operations import Job
from shared.conversions.rules import ConversionMove
from shared.errors import InvalidIdentity
from shared.outside.media_volume import MediaVolume
from shared.outside.oidc import KeySet, ServiceCaller, keys_url
from shared.outside.task_queue import CONVERSION_JOB
from shared.postgres.door import database_now, make_engine, transaction
from shared.structured_log import event, failure
from shared.version import version
from shared.vocabulary import ConversionStatus

RETRY_AFTER_SECONDS: Final = 10
TAKEN_OVER: Final = "Another worker has taken this conversion over."
TASK_NAME: Final = re.compile(r"conversion-(\d{1,18})-(\d{1,9})")
REQUIRED: Final = ("DATABASE_URL", "TASKS_SERVICE_ACCOUNT")

structured_log.configure("convert_worker", version=version())
CONFIG: Final = config.load(required=REQUIRED)
check_deployment(CONFIG, "convert_worker", os.environ)
bound_request_lines()
TIMEOUTS: Final = rules.timeouts(timedelta(seconds=CONFIG["CONVERSION_DEADLINE_SECONDS"]))
ENGINE: Final[Engine] = make_engine(CONFIG, "convert_worker")
WORKSHOP: Final = Workshop(
    MediaVolume(CONFIG["MEDIA_ROOT"]),
    CONFIG["CONVERTER_URL"],
    TIMEOUTS,
    OwnIdentity(CONFIG["CONVERTER_URL"]) if CONFIG["DEPLOYMENT_MODE"] == "cloud" else None,
)
QUEUE: Final = ServiceCaller(
    CONFIG["CONVERT_WORKER_URL"],
    CONFIG["OIDC_ISSUER"],
    CONFIG["TASKS_SERVICE_ACCOUNT"],
    KeySet(keys_url(CONFIG["OIDC_ISSUER"])),
)


gc.freeze()
gc.enable()


@functions_framework.http
def convert_worker(request: Request) -> Response:
    """Handle one delivery of a conversion job."""
    request_id = new_request_id()
    try:
        return _answer(request)
    except (InvalidIdentity, PostOnly, BadJob, TryAgain) as refusal:
        return response_of(refusal, request_id)
    except SQLAlchemyError:
        failure("database_unavailable", "the database cannot be used", request_id=request_id)
        return response_of(DatabaseUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS), request_id)
    except Exception:  # noqa: BLE001 - the framework's own handler would answer with the exception's text
        failure("convert_worker_failed", "a conversion job failed unexpectedly", request_id=request_id)
        return response_of(InternalError(), request_id)
    finally:
        leave_unread(request)


def _answer(request: Request) -> Response:
    check_post(request)
    QUEUE.authenticate(dict(request.headers))
    conversion_id = _read_conversion(request)
    return _deliver(conversion_id, request.headers.get("X-CloudTasks-TaskName", ""))


def _read_conversion(request: Request) -> int:
    """The conversion's id. Raises BadJob."""
    conversion_id = read_job(request, CONVERSION_JOB).get("conversion_id")
    if not is_number(conversion_id, 2**63):
        raise BadJob("conversion_id must be the number of a conversion.")
    return conversion_id


def _deliver(conversion_id: int, task_name: str) -> Response:
    """Claim the next conversion, make its PDF and record the result: three steps, two transactions."""
    with transaction(ENGINE) as connection:
        if _is_superseded(connection, conversion_id, task_name):
            return _done("superseded")
        now = database_now(connection)
        job = operations.claim(connection, now, TIMEOUTS.lease)
        if job is None:
            return _not_claimed(connection, conversion_id)
    known: dict[str, Any] = {"conversion_id": job.conversion_id, "trace_id": job.trace_id}
    event("conversion_claimed", "conversion claimed", attempt=job.attempts, **known)
    started = time.monotonic()
    try:
        path, found = make_pdf(WORKSHOP, job)
    except ConversionFault as fault:
        return _record_fault(job, fault)
    with transaction(ENGINE) as connection:
        kept = operations.finish(connection, database_now(connection), WORKSHOP.volume, job, path, found)
    took = round((time.monotonic() - started) * 1000)
    event("conversion_ready", "conversion ready", duration_ms=took, kept=kept, **known)
    if not kept:
        raise _again(TAKEN_OVER)
    return _done("ready")


def _is_superseded(connection: Connection, conversion_id: int, task_name: str) -> bool:
    """Whether the sweep has enqueued a newer task: then this one ends, so that tasks cannot pile up.

    The task's name is trusted: it comes with the queue's identity token.
    """
    named = TASK_NAME.fullmatch(task_name)
    row = store.get(connection, conversion_id) if named else None
    return bool(named and row and int(named[1]) == conversion_id and int(named[2]) < row.generation)


def _not_claimed(connection: Connection, conversion_id: int) -> Response:
    """The answer when none waits: this one is done already, deleted, or leased by another worker (TryAgain)."""
    row = store.get(connection, conversion_id)
    if row is None:
        event("conversion_gone", "the medium was deleted before its job began", conversion_id=conversion_id)
        return _done("gone")
    if row.status in {ConversionStatus.READY, ConversionStatus.FAILED}:
        return _done(row.status)
    raise _again("Another worker has this conversion.")


def _record_fault(job: Job, fault: ConversionFault) -> Response:
    event(
        "conversion_fault",
        "a conversion met a fault",
        logging.WARNING,
        conversion_id=job.conversion_id,
        trace_id=job.trace_id,
        fault=fault.fault,
        reason=str(fault),
        attempt=job.attempts,
    )
    with transaction(ENGINE) as connection:
        now = database_now(connection)
        move = operations.fail_or_release(connection, now, job, fault.fault, TIMEOUTS.converter, is_last=fault.is_last)
    if move is ConversionMove.FAIL:
        return _done("failed")
    raise _again(rules.message(fault.fault, TIMEOUTS.converter) if move else TAKEN_OVER)


def _done(outcome: str) -> Response:
    return Response(json.dumps({"outcome": outcome}), 200, mimetype="application/json")


def _again(detail: str) -> TryAgain:
    return TryAgain(detail, retry_after_seconds=RETRY_AFTER_SECONDS)
