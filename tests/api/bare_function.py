"""A function as in the framework's tutorial, without the product's frame and limits."""

import functions_framework
from flask import Request, Response

from tests.api.probe_routes import SECRET


@functions_framework.http
def api(request: Request) -> Response:
    """Answer 401, or raise an error."""
    if request.path == "/probe/boom":
        raise RuntimeError(SECRET)
    if request.path == "/probe/echo":
        return Response(request.get_data())
    return Response("who are you?", 401)
