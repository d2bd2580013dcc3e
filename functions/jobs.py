"""Read a job of the task queue: a small JSON object that names the job."""

import io
import json
from typing import Any, Final, TypeGuard

from flask import Request

from functions.problems import BadJob, PostOnly

LARGEST_BODY_BYTES: Final = 4096


def read_job(request: Request, name: str) -> dict[str, Any]:
    """The job's fields. Only `job` is checked: it must be `name`. Raises BadJob."""
    if (request.content_length or 0) > LARGEST_BODY_BYTES:
        raise BadJob("The body is too large for a job.")
    try:
        body: Any = json.loads(request.stream.read(LARGEST_BODY_BYTES))
    except (ValueError, RecursionError):
        raise BadJob("The body is not valid JSON.") from None
    if not isinstance(body, dict) or body.get("job") != name:
        raise BadJob(f"The only job known here is {name}.")
    return body


def check_post(request: Request) -> None:
    """Raises PostOnly for every method but POST."""
    if request.method != "POST":
        raise PostOnly


def leave_unread(request: Request) -> None:
    """Drop the rest of the body: functions-framework would read it into memory before it answers."""
    request.stream = io.BytesIO()


def is_number(value: object, below: int) -> TypeGuard[int]:
    """Whether a field is an id: a whole number from 1, below `below`."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < below
