"""The outermost WSGI layer: limits the length of the address and of the body.

Without it functions-framework reads a body of any size, even for a request that it then refuses. If the declared length
is too large, the request is refused before its body is read, and the connection is closed. A body of unknown length
(chunked) is refused at the first byte above the limit.
"""

import io
import secrets
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from werkzeug.http import HTTP_STATUS_CODES
from werkzeug.wrappers import Request

from functions import problems
from functions.reader import to_json, words_for
from shared.errors import ServiceError

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

URI_LIMIT: Final = 8192  # bytes of path and query
BODY_LIMIT: Final = 1024 * 1024  # bytes of a body that is not an upload
PUBLIC_BODY_LIMIT: Final = 16 * 1024  # bytes that a stranger may send: the longest password, all escaped, has 12 KB
UPLOAD_ENVELOPE: Final = 1024 * 1024  # bytes that the form around a file may add to UPLOAD_LIMIT_BYTES


class Limits:
    """WSGI middleware that refuses a request whose address or body is too large."""

    def __init__(
        self,
        app: "WSGIApplication",
        body_limit: Callable[[str, str], int],
        method_of: "Callable[[WSGIEnvironment], str]" = lambda environ: str(environ["REQUEST_METHOD"]),
    ) -> None:
        """`body_limit` gives the limit in bytes for a method and path; `method_of` the request's method."""
        self._app = app
        self._body_limit = body_limit
        self._method_of = method_of

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Refuse the request, or hand it on with a body that cannot be read beyond its limit."""
        limit = self._body_limit(self._method_of(environ), environ.get("PATH_INFO", ""))
        refusal = _refusal(environ, limit)
        if refusal is not None:
            return _refuse(refusal, environ, start_response)
        environ["wsgi.input"] = BoundedBody(environ["wsgi.input"], limit)
        # functions-framework would make this id letter by letter, which takes as long as the rest of its work.
        environ.setdefault("HTTP_FUNCTION_EXECUTION_ID", secrets.token_hex(6))
        return self._app(environ, start_response)


class BoundedBody(io.RawIOBase):
    """A request's body that raises BodyTooLarge at the first byte beyond `limit`."""

    def __init__(self, stream: Any, limit: int) -> None:
        """`stream` is the server's wsgi.input."""
        super().__init__()
        self._stream = stream
        self._left = self._limit = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read up to `size` bytes, or the rest when negative. Raises BodyTooLarge."""
        most = self._left + 1
        wanted = most if size is None or size < 0 else min(size, most)
        return self._counted(self._stream.read(wanted))

    def readline(self, size: int | None = -1) -> bytes:
        """Read the next line. Raises BodyTooLarge."""
        most = self._left + 1
        wanted = most if size is None or size < 0 else min(size, most)
        return self._counted(self._stream.readline(wanted))

    def readinto(self, buffer: Any) -> int:
        """Read into `buffer`. Raises BodyTooLarge."""
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def _counted(self, block: bytes) -> bytes:
        self._left -= len(block)
        if self._left < 0:
            raise too_large(self._limit)
        return block


def too_large(limit: int) -> problems.BodyTooLarge:
    """The error of a body above `limit` bytes, which names the limit."""
    return problems.BodyTooLarge("body_over_limit", limit_bytes=limit)


def _refusal(environ: "WSGIEnvironment", limit: int) -> ServiceError | None:
    if _uri_length(environ) > URI_LIMIT:
        return problems.UriTooLong()
    if "\n" in environ.get("PATH_INFO", ""):  # the framework's route passes it over and answers with a page
        return problems.PathUnknown()
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        return problems.BadRequest("content_length_odd")
    if len(length) > 18 or int(length) > limit:
        return too_large(limit)
    return None


def _uri_length(environ: "WSGIEnvironment") -> int:
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    return len(raw) if raw else len(environ.get("PATH_INFO", "")) + len(environ.get("QUERY_STRING", "")) + 1


def _refuse(error: ServiceError, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Answer at once and close the connection, without reading the body."""
    request_id = problems.new_request_id()
    document = problems.document(error, request_id, words_for(Request(environ)))
    body = to_json(document)
    _close_connection(start_response)
    headers = [
        ("Content-Type", problems.PROBLEM_JSON),
        ("Content-Length", str(len(body))),
        ("X-Request-Id", request_id),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
        ("Connection", "close"),
    ]
    start_response(f"{document['status']} {HTTP_STATUS_CODES[document['status']]}", headers)
    return [body]


def _close_connection(start_response: "StartResponse") -> None:
    """Close through gunicorn's response object: gunicorn ignores an application's Connection header."""
    force_close = getattr(getattr(start_response, "__self__", None), "force_close", None)
    if force_close is not None:
        force_close()
