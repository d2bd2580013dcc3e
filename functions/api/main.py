"""The function `api`: every `/api/` endpoint, answered by our own Flask app inside functions-framework.

The framework loads this file while its own Flask app is current; that is where the limits are put in
front. A blueprint on the framework's app would lose 405 answers and error handlers, and
`Response.from_app` would gather a streamed answer in memory, so the request's environ is handed over.
"""

import io
import os

import functions_framework
from flask import Request, Response, current_app

from functions.api.app import body_limit_of, create_app
from functions.api.limits import Limits
from functions.api.services import Services
from functions.startup import check_deployment
from shared import config, structured_log

structured_log.configure("api")
configuration = config.load(
    required=("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD", "TASKS_SERVICE_ACCOUNT"),
)
check_deployment(configuration, os.environ)
inner = create_app(Services(configuration))
current_app.wsgi_app = Limits(current_app.wsgi_app, body_limit_of(inner))  # type: ignore[method-assign]  # how Flask wants it


@functions_framework.http
def api(request: Request) -> Response:
    """Answer one request. Nothing of an exception's text can leave: our own handlers come first."""
    environ = request.environ
    environ["wsgi.input"] = request.stream
    try:
        with inner.request_context(environ):
            try:
                return inner.full_dispatch_request()
            except Exception as error:  # noqa: BLE001 - the handler of last resort logs it and answers 500
                return inner.make_response(inner.handle_exception(error))
    finally:
        # The framework reads what is left of a body before it answers; what we refused stays unread.
        request.stream = io.BytesIO()
