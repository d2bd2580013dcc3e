"""A function that only identifies its caller: the cost of a read before it reads anything."""

import os

import flask
import functions_framework

from shared.access.operations import principal_of_token
from shared.postgres.door import engine_for, reading

ENGINE = engine_for(os.environ["DATABASE_URL"], "floor")


@functions_framework.http
def api(request: flask.Request) -> flask.Response:
    """Answer an empty object to callers with a token."""
    with reading(ENGINE) as connection:
        principal_of_token(connection, request.headers["Authorization"].removeprefix("Bearer "))
    return flask.Response("{}", mimetype="application/json")
