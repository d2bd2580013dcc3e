"""The outermost WSGI layer: caps on the address and the body, before a byte of the body is read.

Without it functions-framework reads a body of any size, even for a request that it then refuses. A body
whose declared length is too large is refused at once and the connection closed; one of unknown length
(chunked) ends with the same refusal at the byte that is too many.
"""

import io
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from functions import problems
from functions.api import bodies
from shared.errors import ServiceError, TooManyUploads

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

URI_LIMIT: Final = 8192  # bytes of path and query
BODY_LIMIT: Final = 1024 * 1024  # bytes of every body that is no upload
UPLOAD_ENVELOPE: Final = 1024 * 1024  # bytes that multipart adds to a file at most


class Limits:
    """WSGI middleware that refuses what is too large."""

    def __init__(
        self,
        app: "WSGIApplication",
        body_limit: Callable[[str, str], int],
        method_of: "Callable[[WSGIEnvironment], str]" = lambda environ: str(environ["REQUEST_METHOD"]),
    ) -> None:
        """`body_limit` answers the most bytes that a method on a path may be sent; `method_of` which one is meant."""
        self._app = app
        self._body_limit = body_limit
        self._method_of = method_of

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Refuse, or hand on with a body that cannot be read beyond its limit."""
        limit = self._body_limit(self._method_of(environ), environ.get("PATH_INFO", ""))
        refusal = _refusal(environ, limit)
        if refusal is not None:
            return _refuse(refusal, start_response)
        environ["wsgi.input"] = BoundedBody(environ["wsgi.input"], limit)
        # The framework would draw one letter by letter, which takes as long as the rest of its part.
        environ.setdefault("HTTP_FUNCTION_EXECUTION_ID", secrets.token_hex(6))
        return self._app(environ, start_response)


class Turns:
    """How much of something callers may have under way at once in this process."""

    def __init__(self, most_of_one: int, most: int) -> None:
        """`most_of_one` at once for each caller, `most` for all together."""
        self._most_of_one, self._most = most_of_one, most
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()

    @contextmanager
    def turn(self, caller: str) -> Iterator[None]:
        """One more for as long as the block lasts. Raises TooManyUploads when there are as many as may be."""
        with self._lock:
            if self._under_way[caller] >= self._most_of_one or self._under_way.total() >= self._most:
                raise TooManyUploads
            self._under_way[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way[caller] -= 1
                self._under_way += Counter()  # forgets who has none


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
        """Up to `size` bytes; all that is left when negative, and then one byte too many is enough to refuse."""
        most = self._left + 1
        wanted = most if size is None or size < 0 else min(size, most)
        return self._counted(self._stream.read(wanted))

    def readline(self, size: int | None = -1) -> bytes:
        """The next line, under the same limit."""
        most = self._left + 1
        wanted = most if size is None or size < 0 else min(size, most)
        return self._counted(self._stream.readline(wanted))

    def readinto(self, buffer: Any) -> int:
        """As io.RawIOBase.readinto."""
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def _counted(self, block: bytes) -> bytes:
        self._left -= len(block)
        if self._left < 0:
            raise too_large(self._limit)
        return block


def too_large(limit: int) -> problems.BodyTooLarge:
    """The refusal that says how much would have been accepted."""
    return problems.BodyTooLarge(f"The body may have {limit:,} bytes at most here.", limit_bytes=limit)


def _refusal(environ: "WSGIEnvironment", limit: int) -> ServiceError | None:
    if _uri_length(environ) > URI_LIMIT:
        return problems.UriTooLong()
    if "\n" in environ.get("PATH_INFO", ""):  # the framework's route passes it over and answers with a page
        return problems.PathUnknown()
    length = environ.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        return problems.BadRequest("Content-Length is no number.")
    if len(length) > 18 or int(length) > limit:
        return too_large(limit)
    return None


def _uri_length(environ: "WSGIEnvironment") -> int:
    raw = environ.get("RAW_URI") or environ.get("REQUEST_URI")
    return len(raw) if raw else len(environ.get("PATH_INFO", "")) + len(environ.get("QUERY_STRING", "")) + 1


def _refuse(error: ServiceError, start_response: "StartResponse") -> Iterable[bytes]:
    """Answer at once and close the connection: what is still on its way is not read."""
    request_id = problems.new_request_id()
    document = problems.document(error, request_id)
    body = bodies.to_json(document)
    _close_connection(start_response)
    headers = [
        ("Content-Type", problems.PROBLEM_JSON),
        ("Content-Length", str(len(body))),
        ("X-Request-Id", request_id),
        ("X-Content-Type-Options", "nosniff"),
        ("Cache-Control", "no-store"),
        ("Connection", "close"),
    ]
    start_response(f"{document['status']} {document['title']}", headers)
    return [body]


def _close_connection(start_response: "StartResponse") -> None:
    """Gunicorn ignores an application's Connection header; its own response object can be told."""
    force_close = getattr(getattr(start_response, "__self__", None), "force_close", None)
    if force_close is not None:
        force_close()
