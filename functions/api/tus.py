"""What tus 1.0 (https://tus.io) asks of every request and answer below the address of uploads."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Response, current_app, request

PREFIX: Final = "/api/event-media/uploads"
VERSION: Final = "1.0.0"
EXTENSIONS: Final = "creation,termination,expiration"
OVERRIDING: Final = {"PATCH", "DELETE"}


def method_of(environ: Mapping[str, Any]) -> str:
    """The method that a request means: below this address the one that it names instead of its own.

    Clients that can send GET and POST only name the others so; routes, roles and limits go by the one that is meant.
    Only a POST may mean another one: what stands in front limits its body, and an answer to HEAD has none.
    """
    own: str = environ["REQUEST_METHOD"]
    path = environ.get("PATH_INFO", "")
    named = environ.get("HTTP_X_HTTP_METHOD_OVERRIDE", "")
    return named if own == "POST" and path.startswith(PREFIX + "/") and named in OVERRIDING else own


def mark(response: Response, path: str) -> None:
    """What the protocol asks of every answer below this address, problems included."""
    if not (path == PREFIX or path.startswith(PREFIX + "/")):
        return
    response.headers["Tus-Resumable"] = VERSION
    if request.method == "OPTIONS" or response.status_code == 412:
        response.headers["Tus-Version"] = VERSION
    if request.method == "OPTIONS":
        response.headers["Tus-Extension"] = EXTENSIONS
        response.headers["Tus-Max-Size"] = str(current_app.extensions["signage"].config["UPLOAD_LIMIT_BYTES"])
