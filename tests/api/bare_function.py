"""A function as the framework's tutorial writes it: what our handing-over and limits protect from."""

import functions_framework
from flask import Request, Response

from tests.api.probe_routes import SECRET


@functions_framework.http
def api(request: Request) -> Response:
    """Refuse everybody, or break."""
    if request.path == "/probe/boom":
        raise RuntimeError(SECRET)
    if request.path == "/probe/echo":
        return Response(request.get_data())
    return Response("who are you?", 401)
