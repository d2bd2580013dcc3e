"""A function with the probe routes for a real functions-framework, which calls the app as `main.py` does."""

import functions_framework
from flask import Request, Response

from functions.api.app import create_app
from functions.api.handover import hand_over, put_limits_in_front
from functions.api.services import Services
from shared import config, structured_log
from tests.api import probe_routes

structured_log.configure("probe")
inner = create_app(Services(config.load()), (probe_routes.routes,))
put_limits_in_front(inner)


@functions_framework.http
def api(request: Request) -> Response:
    """Answer one request."""
    return hand_over(inner, request)
