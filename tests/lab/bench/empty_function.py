"""A function that does nothing, with the imports that every function needs."""

import flask
import functions_framework
import pg8000
import sqlalchemy

IMPORTED = (pg8000, sqlalchemy)


@functions_framework.http
def api(_request: flask.Request) -> flask.Response:
    """Answer an empty object."""
    return flask.Response("{}", mimetype="application/json")
