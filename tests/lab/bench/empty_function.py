"""A function that does nothing, with the imports that no function of ours could do without."""

import flask
import functions_framework
import pg8000
import sqlalchemy

IMPORTED = (pg8000, sqlalchemy)


@functions_framework.http
def api(_request: flask.Request) -> flask.Response:
    """An empty object."""
    return flask.Response("{}", mimetype="application/json")
