"""Turn errors into RFC 9457 problem documents. Only this module gives an error its HTTP status and document.

A function raises a domain error of `shared/errors.py` or an error below. A table gives the status and the title of its
class, or of the nearest class above it. The text of a foreign exception never leaves the process: it goes to the log,
and the caller gets the request id to quote.
"""

import secrets
from typing import Any, ClassVar, Final, Self

from flask import Response

from functions.reader import to_json, words
from shared import errors
from shared.vocabulary import QuietScope
from shared.words.reader import Catalogue
from shared.words.sentences import Sentence, declare, sentence

PROBLEM_JSON: Final = "application/problem+json"
RETRY_SECONDS: Final = 5  # the default of Retry-After


class BadRequest(errors.ServiceError):
    code = "bad_request"
    says: ClassVar = {
        "upload_cut_off": {},
        "upload_without_name": {},
        "one_file_at_a_time": {},
        "file_field_missing": {},
        "content_length_odd": {},
        "upload_filename_odd": {},
        "upload_filename_missing": {},
    }


class MalformedJson(BadRequest):
    code = "malformed_json"
    says: ClassVar = {"body_must_be_object": {}}


class BadJob(errors.ForOperators, BadRequest):
    """This is no job of this function."""

    code = "bad_job"


class InvalidField(BadRequest):
    code = "invalid_field"
    says: ClassVar = {
        "field_unknown": {},
        "field_missing": {},
        "field_once": {},
        "field_in_calendar": {},
        "field_before_until": {},
        "field_page_cursor": {},
        "field_earlier_cursor": {},
        "field_etag_of_failure": {},
        "field_reason_of_override": {},
        "field_clients_or_filter": {},
        "field_file_size": {},
        "field_nothing_unless": {"scope": QuietScope},
        "field_with_scope": {"scope": QuietScope},
    }

    @classmethod
    def at(cls, field: str, why: str | Sentence, **facts: Any) -> Self:
        """The error of this field; `why` is the code of a sentence about a field, or that sentence."""
        told = why if isinstance(why, Sentence) else Sentence(why, facts)
        return cls(of_field(field=field or "body", why=told), errors=[{"field": field, "why": told}])


@sentence
def of_field(*, field: str, why: Sentence) -> Sentence: ...


class PathUnknown(errors.ServiceError):
    code = "not_found"


class MethodUnknown(errors.ServiceError):
    code = "method_not_allowed"


class PostOnly(errors.ForOperators, MethodUnknown):
    """Jobs and ticks are sent with POST."""


class NotAcceptable(errors.ServiceError):
    code = "not_acceptable"


class RangeNotSatisfiable(errors.ServiceError):
    code = "range_not_satisfiable"


class PreconditionFailed(errors.ServiceError):
    code = "precondition_failed"


class ProtocolUnknown(PreconditionFailed):
    code = "protocol_unknown"


class BodyTooLarge(errors.ServiceError):
    code = "too_large"
    says: ClassVar = {
        "form_too_large": {},
        "body_over_limit": {"limit_bytes": int},
        "body_longer_than_file": {},
    }


class UriTooLong(errors.ServiceError):
    code = "uri_too_long"


class DatabaseUnavailable(errors.ServiceError):
    code = "database_unavailable"


class TryAgain(errors.ForOperators):
    """This cannot be done right now; try again shortly."""

    code = "try_again"


class InternalError(errors.ServiceError):
    code = "internal_error"


# Error class -> status. A class without a line of its own takes that of the nearest class above.
STATUSES: Final[dict[type[errors.ServiceError], int]] = {
    BadRequest: 400,
    errors.InvalidIdentity: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    PathUnknown: 404,
    MethodUnknown: 405,
    NotAcceptable: 406,
    errors.StateConflict: 409,
    PreconditionFailed: 412,
    errors.FailureChanged: 412,
    BodyTooLarge: 413,
    errors.UploadTooLarge: 413,
    UriTooLong: 414,
    errors.UnsupportedMediaType: 415,
    RangeNotSatisfiable: 416,
    errors.UploadLocked: 423,
    errors.Refused: 422,
    errors.TooManyAttempts: 429,
    errors.TooManyRequests: 429,
    errors.TooManyUploads: 429,
    errors.Busy: 503,
    errors.TaskQueueUnavailable: 503,
    errors.BrokerUnavailable: 503,
    errors.ProviderUnavailable: 503,
    DatabaseUnavailable: 503,
    TryAgain: 503,
    errors.VolumeFull: 507,
    errors.ServiceError: 500,
}


for _status in set(STATUSES.values()):
    declare(f"status_{_status}", {})


def status_of(error: type[errors.ServiceError]) -> int:
    """The HTTP status of an error class."""
    return next(STATUSES[ancestor] for ancestor in error.__mro__ if ancestor in STATUSES)


def document(error: errors.ServiceError, request_id: str, reader: Catalogue) -> dict[str, Any]:
    """The problem document of an error: fixed members first, then the error's own typed extras."""
    status = status_of(type(error))
    return {
        "type": f"urn:signage:problem:{error.code}",
        "title": reader.say(Sentence(f"status_{status}", {})),
        "status": status,
        "detail": reader.say(error.sentence),
        "detail_code": error.sentence.code,
        "code": error.code,
        "request_id": request_id,
        **error.extras,
    }


def response_of(error: errors.ServiceError, request_id: str) -> Response:
    """An error as an answer, with the headers that its status needs."""
    body = document(error, request_id, words())
    answer = Response(to_json(body), status=body["status"], content_type=PROBLEM_JSON)
    answer.headers["X-Request-Id"] = request_id
    answer.headers.extend(_headers_of(error, body["status"]))
    return answer


def new_request_id() -> str:
    """A new id, which names a request in its answer and in the log."""
    return secrets.token_hex(16)


def _headers_of(error: errors.ServiceError, status: int) -> list[tuple[str, str]]:
    if isinstance(error, PostOnly):
        return [("Allow", "POST")]
    if status == 401:
        return [("WWW-Authenticate", 'Bearer realm="signage"')]
    if status in {423, 429, 503}:
        return [("Retry-After", str(error.extras.get("retry_after_seconds", RETRY_SECONDS)))]
    return []
