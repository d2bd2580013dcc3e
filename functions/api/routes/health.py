"""/api/health: is the process alive, and is everything there that it needs? Both are public."""

from functions.api.bodies import Answer
from functions.api.routing import PUBLIC, Call, Reply, Routes

routes = Routes("health", "/api/health", "Whether the service lives and can work.")


class Live(Answer):
    """The process answers."""

    status: str


class Check(Answer):
    """How one part was found."""

    ok: bool
    why: str


class Ready(Answer):
    """`status` is `ready` when every check is ok, else `not_ready`."""

    status: str
    checks: dict[str, Check]


@routes.get("/live", role=PUBLIC)
def live(call: Call) -> Live:  # noqa: ARG001 - every handler takes the call
    """Whether the process answers; touches nothing else."""
    return Live(status="ok")


@routes.get("/ready", role=PUBLIC, statuses={200: "Ready", 503: "Not ready; the checks say what is missing"})
def ready(call: Call) -> Reply[Ready]:
    """Whether database, migrations, media volume, task queue and last tick are as they must be."""
    found = call.services.readiness.findings()
    checks = {name: Check(ok=finding.ok, why=finding.why) for name, finding in found.items()}
    is_ready = all(check.ok for check in checks.values())
    answer = Ready(status="ready" if is_ready else "not_ready", checks=checks)
    return Reply(answer, 200 if is_ready else 503, {} if is_ready else {"Retry-After": "5"})
