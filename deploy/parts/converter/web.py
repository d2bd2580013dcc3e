"""The converter's HTTP server: Gotenberg's answers for one route. It streams bodies to disk and refuses early."""

import contextlib
import json
import logging
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import ClientDisconnected, HTTPException, RequestEntityTooLarge
from werkzeug.formparser import FormDataParser
from werkzeug.wrappers import Request, Response
from werkzeug.wsgi import get_input_stream, wrap_file

from deploy.parts.converter.engine import STARTING, Engine, Job, QueueFull, Unavailable
from deploy.parts.converter.office import ConversionFailed, ConversionTimedOut
from deploy.parts.converter.settings import Settings
from shared.structured_log import event, failure

CONVERT = "/forms/libreoffice/convert"
VERSION = "signage-local-converter/1"
SUFFIXES = (".ppt", ".pptx", ".odp")
LARGEST_FIELD_BYTES = 512 * 1024  # also the parser's buffer; below 128 KiB the parser refuses files too
MOST_PARTS = 8
TRACE = re.compile(r"[A-Za-z0-9._:-]{1,128}")
RETRY_AFTER_SECONDS = 5
# The worker recognises these texts by their beginnings (shared/conversions/rules.py).
TOOK_TOO_LONG = "Service Unavailable: the document was not finished in time"
TOO_MUCH_WORK = f"{TOOK_TOO_LONG}, busy to the end"
UNREADABLE = "LibreOffice could not load this document"

Environ = dict[str, Any]
StartResponse = Callable[..., Callable[[bytes], object]]


class Refusal(Exception):
    """A request that is refused with a status and a text."""

    def __init__(self, status: int, text: str) -> None:
        """`text` is the body of the answer."""
        super().__init__(text)
        self.status = status
        self.text = text


class UnderWay:
    """How many requests are being answered: from their arrival until their last byte is written."""

    def __init__(self) -> None:
        self._count = 0
        self._changed = threading.Condition()

    def add(self, change: int) -> None:
        """Add `change` (1 or -1) to the count."""
        with self._changed:
            self._count += change
            self._changed.notify_all()

    def wait_for_none(self, seconds: float) -> bool:
        """Wait until no request is left. False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: self._count == 0, seconds)


@dataclass(frozen=True)
class Application:
    """The WSGI application."""

    settings: Settings
    engine: Engine
    under_way: UnderWay = field(default_factory=UnderWay)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request; every answer has the trace."""
        self.under_way.add(1)
        request = Request(environ)
        asked = request.headers.get("Gotenberg-Trace", "")
        trace = asked if TRACE.fullmatch(asked) else uuid.uuid4().hex
        response = self._answer(request, trace)
        response.headers["Gotenberg-Trace"] = trace
        response.call_on_close(lambda: self.under_way.add(-1))
        return response(environ, start_response)

    def _answer(self, request: Request, trace: str) -> Response:
        try:
            return self._route(request, trace)
        except Refusal as refusal:
            event("converter_refused", refusal.text, logging.WARNING, status=refusal.status, trace_id=trace)
            response = Response(refusal.text, refusal.status, mimetype="text/plain")
            if refusal.status in {429, 503}:
                response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
            return response
        except Exception:  # noqa: BLE001 - the answer must not have the exception's text
            failure("converter_failed", "a request failed", trace_id=trace)
            return Response("Internal Server Error", 500, mimetype="text/plain")

    def _route(self, request: Request, trace: str) -> Response:
        routes = {CONVERT: ("POST", None), "/health": ("GET", self._health), "/version": ("GET", _version)}
        if request.path not in routes:
            raise Refusal(404, "Not Found")
        method, answer = routes[request.path]
        if request.method not in {method, "HEAD" if method == "GET" else method}:
            raise Refusal(405, "Method Not Allowed")
        return answer() if answer else self._convert(request, trace)

    def _health(self) -> Response:
        reason = self.engine.reason
        status = "up" if reason is None else "down"
        body = {
            "status": status,
            "starting": reason == STARTING,  # false while down: it will not come up
            "details": {"libreoffice": {"status": status}},
            "isolation": "bubblewrap" if self.engine.isolated else "none",
            "requests": self.engine.requests,  # documents to convert since the start
            "reason": reason or (None if self.engine.isolated else self.engine.not_isolated),
        }
        return Response(json.dumps(body), 200 if reason is None else 503, mimetype="application/json")

    def _convert(self, request: Request, trace: str) -> Response:
        _check_head(request, self.settings.body_limit_bytes)
        started = time.monotonic()
        with contextlib.ExitStack() as place:
            folder = place.enter_context(self._admitted())
            response = _pdf_response(request, self._convert_in(folder, request))
            response.call_on_close(place.pop_all().close)  # release the place after the last byte
        took = round((time.monotonic() - started) * 1000)
        event("converter_done", "a document was converted", trace_id=trace, duration_ms=took)
        return response

    @contextlib.contextmanager
    def _admitted(self) -> Iterator[Path]:
        with contextlib.ExitStack() as place:
            try:
                folder = place.enter_context(self.engine.admitted())
            except QueueFull:
                raise Refusal(429, "Too Many Requests: the conversion queue is full") from None
            except Unavailable as error:
                raise Refusal(503, f"Service Unavailable: {error}") from None
            yield folder

    def _convert_in(self, folder: Path, request: Request) -> Path:
        """Receive and convert the document. Returns the path of the PDF. Raises Refusal."""
        source, suffix = _receive(request, folder, self.settings.body_limit_bytes)
        job = Job(source, suffix, folder / "result.pdf", self.settings.deadline_seconds)
        try:
            self.engine.convert(job)
        except ConversionFailed as error:
            event("conversion_failed", "LibreOffice wrote no PDF", logging.WARNING, said=str(error))
            if error.is_unreadable:
                raise Refusal(400, UNREADABLE) from None
            raise Refusal(500, "Internal Server Error: LibreOffice could not convert this document") from None
        except ConversionTimedOut as error:
            raise Refusal(503, TOO_MUCH_WORK if error.was_busy else TOOK_TOO_LONG) from None
        except QueueFull:
            raise Refusal(429, "Too Many Requests: LibreOffice is busy with other documents") from None
        except Unavailable as error:
            raise Refusal(503, f"Service Unavailable: {error}") from None
        except OSError:
            failure("converter_io_failed", "the converter's folder cannot be used")
            raise Refusal(503, "Service Unavailable: the converter's folder cannot be used") from None
        return job.result


def _version() -> Response:
    return Response(VERSION, mimetype="text/plain")


def _check_head(request: Request, limit_bytes: int) -> None:
    """Check the headers before the body is read. Raises Refusal."""
    if request.mimetype != "multipart/form-data":
        raise Refusal(415, "Invalid 'Content-Type' header value: want 'multipart/form-data'")
    if not request.mimetype_params.get("boundary"):
        raise Refusal(415, "Invalid 'Content-Type' header value: no boundary")
    if request.content_length is not None and request.content_length > limit_bytes:
        raise Refusal(413, f"Request Entity Too Large: the limit is {limit_bytes} bytes")


def _receive(request: Request, folder: Path, limit_bytes: int) -> tuple[Path, str]:
    """Stream the form to disk. Returns the document's path and its suffix. Raises Refusal."""
    path = folder / "upload"
    files = _parse(request, path, limit_bytes)
    if len(files) != 1:
        raise Refusal(400, "Invalid form data: exactly one form file 'files' is required")
    file = files[0]
    file.close()
    suffix = Path(file.filename or "").suffix.lower()
    if suffix not in SUFFIXES:
        raise Refusal(400, f"Invalid form data: no form file found for extensions: {', '.join(SUFFIXES)}")
    if path.stat().st_size == 0:
        raise Refusal(400, "Invalid form data: the form file is empty")
    return path, suffix


def _parse(request: Request, path: Path, limit_bytes: int) -> list[FileStorage]:
    """Parse the form; its one file is written to `path`. Raises Refusal, also for a second file."""

    def open_part(*_args: Any, **_keywords: Any) -> IO[bytes]:
        try:
            return path.open("xb")
        except FileExistsError:
            raise Refusal(400, "Invalid form data: one form file at a time") from None

    parser = FormDataParser(
        stream_factory=open_part,
        max_form_memory_size=LARGEST_FIELD_BYTES,
        max_form_parts=MOST_PARTS,
        silent=False,
    )
    try:
        body = get_input_stream(request.environ, max_content_length=limit_bytes)
        _, fields, files = parser.parse(body, "multipart/form-data", None, request.mimetype_params)
    except RequestEntityTooLarge:
        raise Refusal(413, "Request Entity Too Large") from None
    except (ClientDisconnected, HTTPException, ValueError, TimeoutError, ConnectionError):
        raise Refusal(400, "Malformed body: it does not match the 'Content-Type' header boundaries") from None
    _check_names(list(fields), list(files))
    return files.getlist("files")


def _check_names(fields: list[str], files: list[str]) -> None:
    """Refuse form fields that this converter does not know, instead of ignoring them. Raises Refusal."""
    unknown = sorted({*fields, *files} - {"files"})
    if unknown or "files" in fields:
        names = ", ".join(name[:40] for name in unknown) or "files"
        raise Refusal(400, f"Invalid form data: this converter does not know the form field(s) {names}")


def _pdf_response(request: Request, path: Path) -> Response:
    file = path.open("rb")
    response = Response(wrap_file(request.environ, file), mimetype="application/pdf", direct_passthrough=True)
    response.content_length = path.stat().st_size
    name = request.headers.get("Gotenberg-Output-Filename") or "document"
    response.headers.set("Content-Disposition", "attachment", filename=f"{name[:200]}.pdf")
    return response
