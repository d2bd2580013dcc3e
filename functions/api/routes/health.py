"""Is the process alive, and is everything there that it needs? Public, and cheap when all is well."""

from functions.api.bodies import Answer
from functions.api.routing import PUBLIC, Call, Routes

routes = Routes("health", "/api/health", "Whether the service lives and can work.")


class Live(Answer):
    """The process answers."""

    status: str


@routes.get("/live", role=PUBLIC)
def live(call: Call) -> Live:  # noqa: ARG001 - every handler takes the call
    """Whether the process answers; touches nothing else."""
    return Live(status="ok")
