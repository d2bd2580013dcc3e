"""What no JSON schema can say, put right in requests that are meant to be accepted.

A tester that knows only docs/openapi.json makes requests that it takes for valid. Where a rule of ours is about more
than the shape of one field, the request is changed here to keep that rule; each function says which one. Nothing is
taken out of what is found: the request is still sent, and its answer judged.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from tests.api import schema_files
from tests.api.people import PASSWORD
from tests.api.schema_files import Case, Repair
from tests.api.schema_world import PERSON, World, fail, open_breaker, protect
from tests.stores.commands_world import new_client

OFFSET: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d", re.ASCII)


class Repairs:
    """`before_call` hook of the tester; remembers cursors."""

    def __init__(self, world: World) -> None:
        """Nothing is known yet."""
        self._world = world
        self._cursors: dict[str, str | None] = {}
        self._asked: Counter[str] = Counter()

    def __call__(self, _context: Any, case: Case, kwargs: dict[str, Any]) -> None:
        """Change the request where it must be."""
        label = case.operation.label
        if label in KEPT_HARMLESS:
            KEPT_HARMLESS[label](self._world, case, kwargs)
        if case.meta is None or not case.meta.generation.mode.is_positive:
            return
        _dated(case)
        self._asked[label] += 1
        if self._asked[label] == 1 and "uuid" in (case.path_parameters or {}) and label not in KEPT_HARMLESS:
            case.path_parameters = {"uuid": self._world.displays[-1]}
        if label in RULES:
            RULES[label](self._world, case, kwargs)
        if label in CHANCES and self._asked[label] % 2:
            CHANCES[label](self._world, case, kwargs)
        self._cursor(case)

    def _cursor(self, case: Case) -> None:
        """A cursor is what the list itself gave; the first page's is sent, or none where one page holds all."""
        query = case.query or {}
        name, answered = ("since", "cursor") if case.operation.path == "/api/monitoring/overview" else CURSOR
        if name not in query:
            return
        path = case.formatted_path
        if path not in self._cursors:
            limit = {"limit": "1"} if name == "cursor" else {}
            answer = self._world.ask("GET", path, params=limit)
            self._cursors[path] = answer.json().get(answered) if answer.status_code == 200 else None
        found = self._cursors[path]
        case.query = {**{k: v for k, v in query.items() if k != name}, **({name: found} if found else {})}


CURSOR: Final = ("cursor", "next_cursor")


def _dated(case: Case) -> None:
    """Every time has a date in UTC: at both ends of the calendar an offset may lead out of it."""
    if case.query:
        case.query = {name: in_calendar(value) for name, value in case.query.items()}
    if isinstance(case.body, dict):
        case.body = {name: in_calendar(value) for name, value in case.body.items()}


def in_calendar(value: Any) -> Any:
    """`value`, or the same local time in UTC where a time's own offset leads out of the calendar."""
    if not isinstance(value, str) or not OFFSET.fullmatch(value):
        return value
    try:
        datetime.fromisoformat(value).astimezone(UTC)
    except OverflowError:
        return f"{value[:-6]}Z"
    return value


def _own_token(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """The tester's own token stays: without it nothing else is answered."""
    if str((case.path_parameters or {}).get("token_id", "")).strip() == world.token_id:
        case.path_parameters = {"token_id": "nobody"}


def _listening(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """The one display that is connected stays."""
    if str((case.path_parameters or {}).get("uuid", "")).lower() == world.displays[-1]:
        case.path_parameters = {"uuid": str(uuid4())}


def _address(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """No message leaves this machine: an address that leads anywhere becomes that of our receiver."""
    if isinstance(case.body, dict) and "://" in str(case.body.get("url", "")):
        case.body = {**case.body, "url": world.hook}


def _times(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """`since` must be before `until`, which is now where it is left out."""
    if case.query and "since" in case.query:
        since = datetime.now(UTC) - timedelta(hours=1)
        case.query = {**{k: v for k, v in case.query.items() if k != "until"}, "since": since.isoformat()}


def _scope(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """`site`, `client` and `clients` go with the scope of that name only, and must be there with it."""
    if not isinstance(case.body, dict):
        return
    scope = case.body.get("scope")
    whom = {"site": "Rome", "client": world.displays[0], "clients": [world.displays[0]]}
    body = {name: value for name, value in case.body.items() if name not in whom or name == scope}
    case.body = {**body, scope: case.body.get(scope) or whom[scope]} if scope in whom else body


def _channel(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """What an address is depends on the kind of the channel.

    Most are webhooks: a process of Apprise is asked about each of its addresses, and takes most of a second.
    """
    if not isinstance(case.body, dict) or "url" not in case.body:
        return
    if case.body.get("kind") == "apprise" and case.body.get("delay_seconds") == 0:
        case.body = {**case.body, "url": world.hook.replace("http://", "json://")}
    else:
        case.body = {**case.body, "url": world.hook} | ({"kind": "webhook"} if "kind" in case.body else {})


def _override(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Overriding a lockout needs a reason."""
    if isinstance(case.body, dict) and case.body.get("override_lockout") and not case.body.get("reason", "").strip():
        case.body = {**case.body, "reason": "black"}


def _many(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Either `clients` or a `filter` of at least one field, not both."""
    if not isinstance(case.body, dict):
        return
    chosen = {k: v for k, v in (case.body.get("filter") or {}).items() if v is not None}
    clients = case.body.get("clients")
    body = {k: v for k, v in case.body.items() if k not in {"clients", "filter"}}
    if clients is None:
        case.body = {**body, "filter": chosen or {"site": "Oslo"}}
    else:
        case.body = {**body, "clients": clients}


def _listener(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A display that is connected."""
    case.path_parameters = {"uuid": world.displays[-1]}


def _batch(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A batch that is not over; to be resumed it must have been paused."""
    body = {"action": "restart_app", "clients": [new_client(world.engine) for _ in range(2)], "waves": [1, "rest"]}
    batch = world.made("/api/commands", body)["batch_id"]
    if case.operation.path.endswith("/resume"):
        world.made(f"/api/command-batches/{batch}/pause")
    case.path_parameters = {"batch_id": batch}


def _failed(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A failure that nobody has acknowledged, whichever it is."""
    uuid = new_client(world.engine)
    fail(world, uuid)
    case.path_parameters, case.headers = {"uuid": uuid}, {}


def _said(word: str) -> Repair:
    """Something was said to recovery of this client that can be taken back."""

    def repair(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
        uuid = new_client(world.engine)
        world.made(f"/api/clients/{uuid}/recovery/{word}", {"reason": "being moved"})
        case.path_parameters = {"uuid": uuid}

    return repair


def _said_of_site(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """As `_said`."""
    site = f"Site {uuid4()}"
    world.made("/api/recovery/sites/exclude", {"site": site, "reason": "being moved"})
    case.body = {"site": site}


def _begun(path: str, parameter: str, until: str) -> Repair:
    """One of these that is on."""

    def repair(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        name = {"name": "Fair"} if until == "ends_at" else {}
        case.path_parameters = {parameter: world.made(path, {"scope": "fleet", until: later, **name})["id"]}

    return repair


def _person(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Somebody who gets another role."""
    added = world.made("/api/users", {"username": f"p-{uuid4()}", "role": "viewer"})
    case.path_parameters, case.body = {"user_id": added["user"]["id"]}, {"role": "operator"}


def _forgetful(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Somebody who forgot their password, by number and name."""
    user = world.made("/api/users", {"username": f"p-{uuid4()}", "role": "viewer"})["user"]
    case.path_parameters, case.body = {"user_id": user["id"]}, {"username": user["username"]}


def _without_phone(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Somebody who lost what makes the codes of their second factor."""
    _forgetful(world, case, kwargs)
    protect(world, case.path_parameters["user_id"])


def _open(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A breaker that is open; whichever are."""
    open_breaker(world)
    case.body = {}


def _failure(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A pattern does not know how many days a month has.

    The tester's phase "coverage" sends this header empty whatever its pattern is; that is left out.
    """
    headers = {name: value for name, value in (case.headers or {}).items() if value}
    if "If-Match" in headers and headers["If-Match"] != "*":
        headers["If-Match"] = '"2026-03-01T12:00:00Z"'
    case.headers = headers


def _code(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A code that was issued."""
    case.body = {"code": world.made(f"/api/clients/{uuid4()}/enrolment")["code"]}


def _rotation(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A display that has a login, with its password."""
    code = world.made(f"/api/clients/{uuid4()}/enrolment")["code"]
    login = world.made("/api/enroll", {"code": code})
    case.body = {**case.body, "uuid": login["uuid"], "password": login["password"]}


def _credentials(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Somebody who may sign in."""
    case.body = {"username": PERSON, "password": PASSWORD}


KEPT_HARMLESS: Final[dict[str, Repair]] = {
    "DELETE /api/tokens/{token_id}": _own_token,
    "DELETE /api/clients/{uuid}": _listening,
    "POST /api/notifications/channels": _address,
    "PATCH /api/notifications/channels/{channel_id}": _address,
}
RULES: Final[dict[str, Repair]] = {
    **schema_files.RULES,
    "GET /api/client-logs/{uuid}/logs": _times,
    "GET /api/clients/{uuid}/health/history": _times,
    "POST /api/maintenance-windows": _scope,
    "POST /api/notifications/snoozes": _scope,
    "POST /api/notifications/channels": _channel,
    "PATCH /api/notifications/channels/{channel_id}": _channel,
    "POST /api/clients/{uuid}/clear_service_failed": _failure,
    "POST /api/clients/{uuid}/commands": _override,
    "POST /api/commands": _many,
}
# Every second time a request that can succeed, where chance alone would find nothing but 401, 404 and 409.
CHANCES: Final[dict[str, Repair]] = {
    **schema_files.CHANCES,
    "POST /api/clients/{uuid}/log-level": _listener,
    "POST /api/command-batches/{batch_id}/abort": _batch,
    "POST /api/command-batches/{batch_id}/pause": _batch,
    "POST /api/command-batches/{batch_id}/resume": _batch,
    "POST /api/clients/{uuid}/clear_service_failed": _failed,
    "POST /api/clients/{uuid}/recovery/include": _said("exclude"),
    "POST /api/clients/{uuid}/recovery/resume": _said("hold"),
    "POST /api/recovery/sites/include": _said_of_site,
    "POST /api/recovery/breaker/release": _open,
    "DELETE /api/maintenance-windows/{window_id}": _begun("/api/maintenance-windows", "window_id", "ends_at"),
    "DELETE /api/notifications/snoozes/{snooze_id}": _begun("/api/notifications/snoozes", "snooze_id", "until"),
    "PATCH /api/users/{user_id}": _person,
    "POST /api/users/{user_id}/reset-password": _forgetful,
    "POST /api/users/{user_id}/reset-second-factor": _without_phone,
    "POST /api/enroll": _code,
    "POST /api/enroll/rotate": _rotation,
    "POST /api/session": _credentials,
}
