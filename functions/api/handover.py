"""Hand a request from functions-framework to our own Flask app.

The request's environ is handed over as it is. A blueprint on the framework's app would lose 405 answers and error
handlers; `Response.from_app` would collect a streamed answer in memory.
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
    """Wrap the framework's app in our limits. It is Flask's current app while the function's file is loaded."""
    outer: Any = current_app  # setting an attribute of the proxy sets it on the app
    outer.ensure_sync = lambda view: view  # no view is a coroutine, which Flask would check with every request
    outer.wsgi_app = Limits(outer.wsgi_app, body_limit_of(inner), method_of)
    # Our app also answers what the framework refuses: a path with a line break, favicon.ico, unusual methods.
    outer.register_error_handler(HTTPException, lambda _error: hand_over(inner, request_ctx.request))


def hand_over(inner: Flask, request: Request) -> Response:
    """The inner app's answer. Our own error handlers answer first, so no exception's text can leave."""
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
