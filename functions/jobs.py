"""What the task queue delivers: a small JSON object that names its job."""

import io
import json
from typing import Any, Final, TypeGuard

from flask import Request

from functions.problems import BadJob, PostOnly

LARGEST_BODY_BYTES: Final = 4096


def read_job(request: Request, name: str) -> dict[str, Any]:
    """The job's fields, unchecked but for `job`, which must be `name`. Raises BadJob."""
    if (request.content_length or 0) > LARGEST_BODY_BYTES:
        raise BadJob("The body is too large for a job.")
    try:
        body: Any = json.loads(request.stream.read(LARGEST_BODY_BYTES))
    except (ValueError, RecursionError):
        raise BadJob("The body is no JSON.") from None
    if not isinstance(body, dict) or body.get("job") != name:
        raise BadJob(f"The only job known here is {name}.")
    return body


def check_post(request: Request) -> None:
    """Raises PostOnly for any other method."""
    if request.method != "POST":
        raise PostOnly


def leave_unread(request: Request) -> None:
    """Say that there is no more of a body: before it answers the framework gathers in memory what is left of it."""
    request.stream = io.BytesIO()


def is_number(value: object, below: int) -> TypeGuard[int]:
    """Whether a field is the number of something that is stored."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < below
