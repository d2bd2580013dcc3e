"""A function that finds out who asks and answers nothing: what a read costs before it has read anything."""

import os

import flask
import functions_framework

from shared.access.operations import principal_of_token
from shared.postgres.door import engine_for, reading

ENGINE = engine_for(os.environ["DATABASE_URL"], "floor")


@functions_framework.http
def api(request: flask.Request) -> flask.Response:
    """An empty object, for whoever has a token."""
    with reading(ENGINE) as connection:
        principal_of_token(connection, request.headers["Authorization"].removeprefix("Bearer "))
    return flask.Response("{}", mimetype="application/json")
