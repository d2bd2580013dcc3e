"""/api/health: whether the process runs and can work. Callers without a credential see no details."""

from sqlalchemy.exc import SQLAlchemyError

from functions.api.auth import authenticate
from functions.api.bodies import Answer
from functions.api.readiness import Check, Readiness
from functions.api.routing import PUBLIC, Bound, Call, Reply, Routes
from shared.deployment import is_loopback
from shared.errors import ServiceError

routes = Routes("health", "/api/health", "Whether the service runs and can work.")


class Live(Answer):
    """The process answers."""

    status: str


class Ready(Answer):
    """`status` is `ready` when every check is ok, else `not_ready`.

    `checks` is empty for callers without a token or session, unless they are on this machine.
    """

    status: str
    checks: dict[str, Check]


@routes.get("/live", role=PUBLIC, bound=Bound.NONE)
def live(call: Call) -> Live:  # noqa: ARG001 - every handler takes the call
    """Whether the process answers; nothing else is checked."""
    return Live(status="ok")


@routes.get(
    "/ready", role=PUBLIC, bound=Bound.NONE, statuses={200: "Ready", 503: "Not ready; the checks say what is missing"}
)
def ready(call: Call) -> Reply[Ready]:
    """Whether database, migrations, media volume, task queue and last tick are in order."""
    found = call.services.once("readiness", lambda: Readiness(call.services)).findings()
    is_ready = all(finding.ok for finding in found.values())
    shown = found if is_loopback(call.address) or _is_known(call) else {}
    answer = Ready(status="ready" if is_ready else "not_ready", checks=shown)
    return Reply(answer, 200 if is_ready else 503, {} if is_ready else {"Retry-After": "5"})


def _is_known(call: Call) -> bool:
    """Whether the caller can be authenticated; False while the database is away."""
    try:
        authenticate(call)
    except (ServiceError, SQLAlchemyError, OSError):
        return False
    return True
