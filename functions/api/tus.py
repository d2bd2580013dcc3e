"""The parts of tus 1.0 (https://tus.io) that concern every request and answer below the address of uploads."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response, current_app, request

PREFIX: Final = "/api/event-media/uploads"
VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,termination,expiration"
OVERRIDING: Final = {"PATCH", "DELETE"}


def method_of(environ: Mapping[str, Any]) -> str:
    """The request's method; for a POST below PREFIX, the one in X-HTTP-Method-Override.

    Clients that can only send GET and POST name other methods in this header. Routes, roles and limits use the result.
    Only a POST may be overridden: the proxies in front limit the body of other methods, and an answer to HEAD has none.
    """
    own: str = environ["REQUEST_METHOD"]
    path = environ.get("PATH_INFO", "")
    named = environ.get("HTTP_X_HTTP_METHOD_OVERRIDE", "")
    return named if own == "POST" and path.startswith(PREFIX + "/") and named in OVERRIDING else own


def mark(response: Response, path: str) -> None:
    """Add the protocol's headers to every answer below PREFIX, problems included."""
    if not (path == PREFIX or path.startswith(PREFIX + "/")):
        return
    response.headers["Tus-Resumable"] = VERSION
    if request.method == "OPTIONS" or response.status_code == 412:
        response.headers["Tus-Version"] = VERSION
    if request.method == "OPTIONS":
        response.headers["Tus-Extension"] = EXTENSIONS
        response.headers["Tus-Max-Size"] = str(current_app.extensions["signage"].config["UPLOAD_LIMIT_BYTES"])
