"""How a request gets from functions-framework to our own Flask app, and how little of it is read on the way.

A blueprint on the framework's app would lose 405 answers and error handlers, and `Response.from_app` would
gather a streamed answer in memory: so the request's environ is handed over as it is.
"""

from typing import Any

from flask import Flask, Request, Response, current_app
from flask.globals import request_ctx
from werkzeug.exceptions import HTTPException

from functions.api.app import body_limit_of
from functions.api.limits import Limits
from functions.api.tus import method_of
from functions.jobs import leave_unread


def put_limits_in_front(inner: Flask) -> None:
    """Wrap the framework's app, which is current while it loads the function's file, in our limits."""
    outer: Any = current_app  # what is set on the proxy is set on the app
    outer.ensure_sync = lambda view: view  # nothing there is a coroutine; Flask finds that out with every request
    outer.wsgi_app = Limits(outer.wsgi_app, body_limit_of(inner), method_of)
    # What the framework refuses by itself is ours to answer: a path with a line break, favicon.ico, unusual methods.
    outer.register_error_handler(HTTPException, lambda _error: hand_over(inner, request_ctx.request))


def hand_over(inner: Flask, request: Request) -> Response:
    """The inner app's answer. Nothing of an exception's text can leave: our own handlers come first."""
    environ = request.environ
    environ["wsgi.input"] = request.stream
    try:
        with inner.request_context(environ):
            try:
                return inner.full_dispatch_request()
            except Exception as error:  # noqa: BLE001 - the handler of last resort logs it and answers 500
                return inner.make_response(inner.handle_exception(error))
    finally:
        leave_unread(request)
