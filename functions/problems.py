"""Turn errors into RFC 9457 problem documents. Only this module gives an error its HTTP status and document.

A function raises a domain error of `shared/errors.py` or an error below. A table gives the status and the title of its
class, or of the nearest class above it. The text of a foreign exception never leaves the process: it goes to the log,
and the caller gets the request id to quote.
"""

import secrets
from typing import Any, ClassVar, Final, Self

import msgspec
from flask import Response

from shared import errors
from shared.sentences import Phrased, in_code

PROBLEM_JSON: Final = "application/problem+json"
RETRY_SECONDS: Final = 5  # the default of Retry-After


class BadRequest(errors.ServiceError):
    """The request cannot be understood."""

    code = "bad_request"
    says: ClassVar = {
        "upload_cut_off": "The upload ended before it was complete, or is not well-formed; nothing was stored.",
        "upload_without_name": "The upload's file has no name.",
        "one_file_at_a_time": "One file at a time: the form has a second one; nothing was stored.",
        "file_field_missing": "The upload's file must be the form field named `file`.",
        "content_length_odd": "Content-Length is not a number.",
        "upload_filename_odd": "Upload-Metadata: the filename is not UTF-8 in Base64.",
        "upload_filename_missing": "Upload-Metadata must hold the filename.",
    }


class MalformedJson(BadRequest):
    """The body is not valid JSON."""

    code = "malformed_json"
    says: ClassVar = {
        "body_must_be_object": "The body must be a JSON object.",
    }


class BadJob(errors.ForOperators, BadRequest):
    """This is no job of this function."""

    code = "bad_job"


class InvalidField(BadRequest):
    """A field or parameter is not as expected; `errors` names it and says what was expected."""

    code = "invalid_field"
    says: ClassVar = {
        "field_unknown": "{field}: no such field.",
        "field_missing": "{field}: this field is required.",
        "field_once": "{field}: expected one value.",
        "field_in_calendar": "{field}: expected a time between the years 1 and 9999 in UTC.",
        "field_before_until": "{field}: expected a time before until.",
        "field_page_cursor": "{field}: expected the next_cursor of a page of this list.",
        "field_earlier_cursor": "{field}: expected the cursor of an earlier answer.",
        "field_etag_of_failure": "{field}: expected the failure's service_failed_at in double quotes.",
        "field_characters": "{field}: expected {least} to {most} characters.",
        "field_reason_of_override": "{field}: expected a text: an override of the lockout needs a reason.",
        "field_clients_or_filter": "{field}: expected a list of clients, or a filter with at least one field.",
        "field_file_size": "{field}: expected 1 or more: a file must not be empty.",
        "field_nothing_unless": "{field}: expected nothing unless scope is {scope}.",
        "field_with_scope": "{field}: expected a value where scope is {scope}.",
    }

    @classmethod
    def at(cls, field: str, said: str | Phrased, **facts: Any) -> Self:
        """The error of this field; `said` is the code of a sentence about a field, or that sentence."""
        if not isinstance(said, Phrased):
            said = errors.REFUSALS.said(said, {"field": field or "body", **facts})
        expected = said.english.removeprefix(f"{field or 'body'}: ").removeprefix("expected ").removesuffix(".")
        return cls(said, errors=[{"field": field, "expected": expected}])


class PathUnknown(errors.ServiceError):
    """There is nothing at this address."""

    code = "not_found"


class MethodUnknown(errors.ServiceError):
    """This address does not answer this method; the Allow header lists those it does."""

    code = "method_not_allowed"


class PostOnly(errors.ForOperators, MethodUnknown):
    """Jobs and ticks are sent with POST."""


class NotAcceptable(errors.ServiceError):
    """The answer cannot be given in any of the types asked for."""

    code = "not_acceptable"


class RangeNotSatisfiable(errors.ServiceError):
    """The range asked for lies outside the file."""

    code = "range_not_satisfiable"


class PreconditionFailed(errors.ServiceError):
    """The thing has changed since; look at it again first."""

    code = "precondition_failed"


class ProtocolUnknown(PreconditionFailed):
    """Uploads in parts speak version 1.0.0 of the tus protocol: the header Tus-Resumable must say so."""

    code = "protocol_unknown"


class BodyTooLarge(errors.ServiceError):
    """The request's body is larger than this address accepts."""

    code = "too_large"
    says: ClassVar = {
        "form_too_large": "The form around the file is too large.",
        "body_over_limit": "The body may have {limit_bytes:,} bytes at most here.",
        "body_longer_than_file": "The body is longer than the rest of the file.",
    }


class UriTooLong(errors.ServiceError):
    """The address of the request is too long."""

    code = "uri_too_long"


class DatabaseUnavailable(errors.ServiceError):
    """The database does not answer at the moment; try again shortly."""

    code = "database_unavailable"


class TryAgain(errors.ForOperators):
    """This cannot be done right now; try again shortly."""

    code = "try_again"


class InternalError(errors.ServiceError):
    """Something went wrong on our side; quote the request id when you report it."""

    code = "internal_error"


# Error class -> (status, title). A class without a line of its own takes that of the nearest class above.
STATUSES: Final[dict[type[errors.ServiceError], tuple[int, str]]] = {
    BadRequest: (400, "Bad request"),
    errors.InvalidIdentity: (401, "Not authenticated"),
    errors.Forbidden: (403, "Not allowed"),
    errors.NotFound: (404, "Not found"),
    PathUnknown: (404, "Not found"),
    MethodUnknown: (405, "Method not allowed"),
    NotAcceptable: (406, "Not acceptable"),
    errors.StateConflict: (409, "Conflict with the present state"),
    PreconditionFailed: (412, "Precondition failed"),
    errors.FailureChanged: (412, "Precondition failed"),
    BodyTooLarge: (413, "Too large"),
    errors.UploadTooLarge: (413, "Too large"),
    UriTooLong: (414, "Address too long"),
    errors.UnsupportedMediaType: (415, "Unsupported media type"),
    RangeNotSatisfiable: (416, "Range not satisfiable"),
    errors.UploadLocked: (423, "Locked"),
    errors.Refused: (422, "Refused by a rule"),
    errors.TooManyAttempts: (429, "Too many attempts"),
    errors.TooManyRequests: (429, "Too many requests"),
    errors.TooManyUploads: (429, "Too many uploads"),
    errors.Busy: (503, "Temporarily unavailable"),
    errors.TaskQueueUnavailable: (503, "Temporarily unavailable"),
    errors.BrokerUnavailable: (503, "Temporarily unavailable"),
    errors.ProviderUnavailable: (503, "Temporarily unavailable"),
    DatabaseUnavailable: (503, "Temporarily unavailable"),
    TryAgain: (503, "Temporarily unavailable"),
    errors.VolumeFull: (507, "Media volume unavailable"),
    errors.ServiceError: (500, "Internal error"),
}


def status_of(error: type[errors.ServiceError]) -> int:
    """The HTTP status of an error class."""
    return _status_and_title(error)[0]


def document(error: errors.ServiceError, request_id: str) -> dict[str, Any]:
    """The problem document of an error: fixed members first, then the error's own typed extras."""
    status, title = _status_and_title(type(error))
    return {
        "type": f"urn:signage:problem:{error.code}",
        "title": title,
        "status": status,
        "detail": error.detail,
        "detail_sentences": in_code(error.sentence),
        "code": error.code,
        "request_id": request_id,
        **error.extras,
    }


def response_of(error: errors.ServiceError, request_id: str) -> Response:
    """An error as an answer, with the headers that its status needs."""
    body = document(error, request_id)
    answer = Response(msgspec.json.encode(body), status=body["status"], content_type=PROBLEM_JSON)
    answer.headers["X-Request-Id"] = request_id
    answer.headers.extend(_headers_of(error, body["status"]))
    return answer


def new_request_id() -> str:
    """A new id, which names a request in its answer and in the log."""
    return secrets.token_hex(16)


def _status_and_title(error: type[errors.ServiceError]) -> tuple[int, str]:
    for ancestor in error.__mro__:
        if ancestor in STATUSES:
            return STATUSES[ancestor]
    return STATUSES[errors.ServiceError]


def _headers_of(error: errors.ServiceError, status: int) -> list[tuple[str, str]]:
    if isinstance(error, PostOnly):
        return [("Allow", "POST")]
    if status == 401:
        return [("WWW-Authenticate", 'Bearer realm="signage"')]
    if status in {423, 429, 503}:
        return [("Retry-After", str(error.extras.get("retry_after_seconds", RETRY_SECONDS)))]
    return []
