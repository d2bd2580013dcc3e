"""/api/health: whether the process lives and has what it needs. Callers without a credential see no details."""

from sqlalchemy.exc import SQLAlchemyError

from functions.api.auth import authenticate
from functions.api.bodies import Answer
from functions.api.readiness import Readiness
from functions.api.routing import PUBLIC, Call, Reply, Routes
from shared.deployment import is_loopback
from shared.errors import ServiceError

routes = Routes("health", "/api/health", "Whether the service lives and can work.")


class Live(Answer):
    """The process answers."""

    status: str


class Check(Answer):
    """How one part was found."""

    ok: bool
    why: str


class Ready(Answer):
    """`status` is `ready` when every check is ok, else `not_ready`.

    `checks` are for callers with a token or session, and for those on this machine; others get none.
    """

    status: str
    checks: dict[str, Check]


@routes.get("/live", role=PUBLIC)
def live(call: Call) -> Live:  # noqa: ARG001 - every handler takes the call
    """Whether the process answers; touches nothing else."""
    return Live(status="ok")


@routes.get("/ready", role=PUBLIC, statuses={200: "Ready", 503: "Not ready; the checks say what is missing"})
def ready(call: Call) -> Reply[Ready]:
    """Whether database, migrations, media volume, task queue and last tick are as they must be."""
    found = call.services.once("readiness", lambda: Readiness(call.services)).findings()
    is_ready = all(finding.ok for finding in found.values())
    shown = found if is_loopback(call.address) or _is_known(call) else {}
    checks = {name: Check(ok=finding.ok, why=finding.why) for name, finding in shown.items()}
    answer = Ready(status="ready" if is_ready else "not_ready", checks=checks)
    return Reply(answer, 200 if is_ready else 503, {} if is_ready else {"Retry-After": "5"})


def _is_known(call: Call) -> bool:
    """Whether somebody asks who may read here; False where nobody can tell, for want of a database."""
    try:
        authenticate(call)
    except (ServiceError, SQLAlchemyError, OSError):
        return False
    return True
