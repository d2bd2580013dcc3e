"""The function `api`: every `/api/` endpoint, answered by our own Flask app inside functions-framework."""

import gc

gc.disable()  # imported modules are never garbage: collecting among them would be an eighth of a cold start

import os

import functions_framework
from flask import Request, Response

from functions.startup import bound_request_lines, check_deployment
from shared import config, structured_log
from shared.version import version

REQUIRED = ("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD", "TASKS_SERVICE_ACCOUNT")

structured_log.configure("api", version=version())
configuration = config.load(required=REQUIRED)
check_deployment(configuration, "api", os.environ)

# These imports take most of the start. They come last, so that a wrong configuration shows at once.
from functions.api.app import create_app
from functions.api.handover import hand_over, put_limits_in_front
from functions.api.services import Services

bound_request_lines()
inner = create_app(Services(configuration))
put_limits_in_front(inner)
gc.freeze()
gc.enable()


@functions_framework.http
def api(request: Request) -> Response:
    """Answer one request."""
    return hand_over(inner, request)
