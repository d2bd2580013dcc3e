"""The api function's own Flask app: one view answers every endpoint, in the same five steps.

functions-framework breaks Flask's 404, 405, error handlers, HEAD and streaming. So `main.py` hands each request to this
app instead.
"""

import logging
import re
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, Request, Response, g, request
from flask.ctx import RequestContext
from flask.globals import app_ctx, request_ctx
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestedRangeNotSatisfiable
from werkzeug.routing import BaseConverter, RequestRedirect

from functions import problems
from functions.api import auth, bodies, limits, tus
from functions.api.routes import ALL
from functions.api.routing import JSON, Call, Endpoint, Reply, Routes
from functions.api.services import Services
from functions.reader import to_json
from shared import trace
from shared.access.operations import record_often
from shared.access.rules import AuditLine, network_of
from shared.errors import Forbidden, InvalidIdentity, ServiceError, UnsupportedMediaType
from shared.postgres import door
from shared.structured_log import event, failure

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{8,64}")
_ONE_RANGE: Final = re.compile(r"bytes=(\d{1,18}-\d{0,18}|-\d{1,18})")
LONGEST_TARGET: Final = 200  # characters of a path in the audit log
# Errors that replace those of werkzeug, by status.
OF_STATUS: Final[dict[int, type[ServiceError]]] = {
    400: problems.BadRequest,
    404: problems.PathUnknown,
    405: problems.MethodUnknown,
    406: problems.NotAcceptable,
    412: problems.PreconditionFailed,
    413: problems.BodyTooLarge,
    414: problems.UriTooLong,
    415: UnsupportedMediaType,
    416: problems.RangeNotSatisfiable,
}
_QUIET: Final = {"/api/health/live", "/api/health/ready"}  # probed every few seconds; not logged
HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Vary": "Accept-Language",  # answers hold sentences
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


class _UuidConverter(BaseConverter):
    """A client's or command's uuid, in lower case. Anything else is answered 404."""

    regex = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

    def to_python(self, value: str) -> str:
        return value.lower()


def _numbers_up_to(most: str) -> str:
    """A pattern of the numbers from 1 to `most`, without leading zeros."""
    shorter = [f"[1-9][0-9]{{0,{len(most) - 2}}}"]
    smaller = [
        f"{most[:place]}[{0 if place else 1}-{int(digit) - 1}][0-9]{{{len(most) - place - 1}}}"
        for place, digit in enumerate(most)
        if int(digit) > (0 if place else 1)
    ]
    return f"(?:{'|'.join([*smaller, most, *shorter])})"


class _IdConverter(BaseConverter):
    """The id of a row: 1 to the largest bigint.

    The pattern holds the whole range. If `to_python` refused a number, werkzeug would answer 405 instead of 404 on a
    path that has another method.
    """

    regex = _numbers_up_to(str(2**63 - 1))

    def to_python(self, value: str) -> int:
        return int(value)


class _App(Flask):
    """Flask with the method override that tus needs (X-HTTP-Method-Override)."""

    def request_context(self, environ: "WSGIEnvironment") -> RequestContext:
        """Make Flask's request context, for the overriding method."""
        environ["REQUEST_METHOD"] = tus.method_of(environ)
        return super().request_context(environ)

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function itself: none is a coroutine, which Flask would check again with every request."""
        return func


def create_app(services: Services, blueprints: Sequence[Routes] = ALL) -> Flask:
    """The app, with every blueprint registered. Only tests give other `blueprints`."""
    app = _App("signage_api", static_folder=None)
    app.url_map.converters.update({"uuid": _UuidConverter, "id": _IdConverter})
    app.url_map.merge_slashes = False
    app.config["MAX_FORM_MEMORY_SIZE"] = 64 * 1024
    app.config["MAX_FORM_PARTS"] = 16
    app.extensions["signage"] = services
    app.extensions["signage_routes"] = tuple(blueprints)
    for routes in blueprints:
        app.register_blueprint(routes.blueprint(partial(_view, services)))
    app.before_request(_begin)
    app.after_request(_end)
    app.register_error_handler(Exception, _handle)
    app.register_error_handler(HTTPException, _handle)
    return app


def body_limit_of(app: Flask) -> Callable[[str, str], int]:
    """A function of method and path that gives the limit of the body in bytes."""
    services: Services = app.extensions["signage"]
    upload_limit: int = services.config["UPLOAD_LIMIT_BYTES"] + limits.UPLOAD_ENVELOPE
    blueprints: tuple[Routes, ...] = app.extensions["signage_routes"]
    own_limits: dict[str, list[tuple[re.Pattern[str], int]]] = {}
    for endpoint in (one for routes in blueprints for one in routes.endpoints):
        limit = upload_limit if endpoint.upload else limits.PUBLIC_BODY_LIMIT
        if endpoint.upload or (endpoint.role is None and endpoint.takes is None):
            shape = re.compile(re.sub(r"<[^>]+>", "[^/]+", endpoint.path))
            own_limits.setdefault(endpoint.method, []).append((shape, limit))

    def body_limit(method: str, path: str) -> int:
        matching = (limit for shape, limit in own_limits.get(method, ()) if shape.fullmatch(path))
        return next(matching, limits.BODY_LIMIT)

    return body_limit


def _view(services: Services, endpoint: Endpoint) -> Callable[..., Response]:
    def view(**path: Any) -> Response:
        """1. Authenticate the caller. 2. Authorize. 3. Take a turn. 4. Parse. 5. Answer. 6. Shape the answer."""
        asked, state = request_ctx.request, app_ctx.g  # Flask's proxies look these up at every access
        call = Call(
            services=services,
            request=asked,
            request_id=state.request_id,
            traceparent=state.traceparent,
            address=_address(services, asked),
        )
        try:
            auth.admit(call, endpoint)
            if endpoint.body is not None:
                asked.get_data()  # before the turn begins: a slow sender keeps none from others
            with endpoint.turns.turn(_who(call)) if endpoint.turns else nullcontext():
                shapes = _parse(asked, endpoint)
                return _respond(endpoint, endpoint.handler(call, **bodies.scrubbed(path), **shapes))
        except (Forbidden, InvalidIdentity) as refusal:
            if call.caller is not None and isinstance(refusal, Forbidden):
                refusal.of(call.caller.actor)
            state.actor = refusal.actor
            _note_refusal(call, endpoint, refusal)
            raise
        finally:
            state.actor = call.caller.actor if call.caller else state.get("actor")
            call.end()

    return view


def _who(call: Call) -> str:
    """Whose turns a request takes: its caller's, or those of a stranger's network."""
    return call.caller.actor if call.caller else network_of(call.address)


def _note_refusal(call: Call, endpoint: Endpoint, refusal: Forbidden | InvalidIdentity) -> None:
    """Write into the audit log that a known caller was refused a change."""
    if refusal.actor is None or endpoint.method in auth.SAFE_METHODS:
        return
    action = f"{endpoint.method} {endpoint.path}"
    details = {"code": refusal.code, "address": call.address}
    with door.transaction(call.services.engine) as connection:
        now = door.database_now(connection)
        target = bodies.scrubbed({"path": call.request.path})["path"][:LONGEST_TARGET]
        line = AuditLine(refusal.actor, action, target, "refused", call.request_id, details)
        record_often(connection, now, line)


def _parse(asked: Request, endpoint: Endpoint) -> dict[str, Any]:
    shapes: dict[str, Any] = {}
    if endpoint.query is None:
        bodies.parse_query(asked, bodies.QueryParameters)  # refuses every parameter, by name
    else:
        shapes["query"] = bodies.parse_query(asked, endpoint.query)
    if endpoint.body is not None:
        shapes["body"] = bodies.parse_body(asked, endpoint.body)
    return shapes


def _respond(endpoint: Endpoint, answer: Any) -> Response:
    """The response of a handler that returned a Struct, a Reply with status and headers, None, or a Response."""
    if isinstance(answer, Response):
        return answer
    reply = answer if isinstance(answer, Reply) else Reply(answer, endpoint.first_status)
    response = Response(status=reply.status) if reply.value is None else _json(reply)
    if reply.value is None:
        del response.headers["Content-Type"]
    if reply.headers:
        response.headers.extend(dict(reply.headers))
    return response


def _json(reply: Reply[Any]) -> Response:
    return Response(to_json(reply.value), status=reply.status, content_type=JSON)


def _address(services: Services, asked: Request) -> str:
    peer = asked.remote_addr or "unknown"
    hops: int = services.config["TRUSTED_PROXY_HOPS"]
    forwarded = asked.environ.get("HTTP_X_FORWARDED_FOR")  # WSGI joins several headers of this name
    return auth.client_address([forwarded], peer, hops) if hops and forwarded else peer


def _translate(error: Exception) -> ServiceError:
    """Turn any exception into an error of the product; an unexpected one becomes InternalError."""
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, HTTPException):
        return OF_STATUS.get(error.code or 500, problems.InternalError)()
    if door.is_away(error):
        event("database_unavailable", "a request found no database", logging.ERROR, reason=type(error).__name__)
        return problems.DatabaseUnavailable()
    return problems.InternalError()


def _handle(error: Exception) -> Any:
    """Flask's handler for every exception: a problem document, and the log line of an unexpected one."""
    if isinstance(error, RequestRedirect):
        return error
    problem = _translate(error)
    if problems.status_of(type(problem)) == 500:
        traced = trace.trace_id(g.get("traceparent"))
        failure(
            "request_failed",
            "a request ended in an unexpected error",
            request_id=g.get("request_id", ""),
            trace_id=traced,
        )
    answer = problems.response_of(problem, g.get("request_id", ""))
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        answer.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    if isinstance(error, RequestedRangeNotSatisfiable) and error.length is not None:
        answer.headers["Content-Range"] = f"bytes */{error.length}"
    return answer


def _begin() -> None:
    environ, state = request.environ, app_ctx.g
    given = environ.get("HTTP_X_REQUEST_ID", "")
    state.request_id = given if _REQUEST_ID.fullmatch(given) else problems.new_request_id()
    state.traceparent = trace.read(environ.get("HTTP_TRACEPARENT")) or trace.begin()
    state.began = time.perf_counter()
    if not _ONE_RANGE.fullmatch(environ.get("HTTP_RANGE", "")):
        environ.pop("HTTP_RANGE", None)  # RFC 9110 says to ignore such a range; werkzeug refuses it


def _end(response: Response) -> Response:
    asked, state, headers = request_ctx.request, app_ctx.g, response.headers
    present = {name.lower() for name, _ in headers}
    headers["X-Request-Id"] = state.request_id
    for name, value in HEADERS.items():
        if name.lower() not in present:
            headers.add(name, value)
    tus.mark(response, asked.path)
    if asked.path not in _QUIET:
        event(
            "request",
            "request answered",
            logging.INFO,
            method=asked.method,
            route=asked.url_rule.rule if asked.url_rule else None,
            status=response.status_code,
            duration_ms=round((time.perf_counter() - state.began) * 1000, 1),
            actor=state.get("actor"),
            request_id=state.request_id,
            trace_id=trace.trace_id(state.traceparent),
        )
    return response
