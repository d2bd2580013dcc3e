"""Correct generated requests that are meant to be valid, for rules that a JSON schema cannot express.

A tester that knows only docs/openapi.json generates requests that it considers valid. When a rule concerns more than
the shape of one field, a function here changes the request so that it keeps the rule. The request is still sent, and
its answer judged.
"""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from shared.names import folded
from tests.api import schema_files
from tests.api.people import PASSWORD
from tests.api.schema_files import Case, Repair
from tests.api.schema_world import PERSON, World, fail, mend, open_breaker, protect
from tests.stores.commands_world import new_client

OFFSET: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d", re.ASCII)


class Repairs:
    """The tester's `before_call` hook. It remembers cursors."""

    def __init__(self, world: World) -> None:
        """Start without cursors."""
        self._world = world
        self._cursors: dict[str, str | None] = {}
        self._asked: Counter[str] = Counter()

    def __call__(self, _context: Any, case: Case, kwargs: dict[str, Any]) -> None:
        """Correct the request."""
        label = case.operation.label
        if label in KEPT_HARMLESS:
            KEPT_HARMLESS[label](self._world, case, kwargs)
        if case.meta is None or not case.meta.generation.mode.is_positive:
            return
        _dated(case)
        _named(case)
        self._asked[label] += 1
        if self._asked[label] == 1 and "uuid" in (case.path_parameters or {}) and label not in KEPT_HARMLESS:
            case.path_parameters = {"uuid": self._world.displays[-1]}
        if label in RULES:
            RULES[label](self._world, case, kwargs)
        if label in CHANCES and self._asked[label] % 2:
            CHANCES[label](self._world, case, kwargs)
        self._cursor(case)

    def _cursor(self, case: Case) -> None:
        """Send the cursor of the list's first page, or none if the list has one page."""
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
    """Keep every time within the calendar in UTC: an offset can leave it at both ends."""
    if case.query:
        case.query = {name: in_calendar(value) for name, value in case.query.items()}
    if isinstance(case.body, dict):
        case.body = {name: in_calendar(value) for name, value in case.body.items()}


def in_calendar(value: Any) -> Any:
    """`value`, or the same local time in UTC if its offset leads out of the calendar."""
    if not isinstance(value, str) or not OFFSET.fullmatch(value):
        return value
    try:
        datetime.fromisoformat(value).astimezone(UTC)
    except OverflowError:
        return f"{value[:-6]}Z"
    return value


def _named(case: Case) -> None:
    """Name no site by characters that nobody sees: nothing is left of such a name."""
    if isinstance(case.body, dict) and case.body.get("sites"):
        case.body = {**case.body, "sites": [site if folded(site) else "Rome" for site in case.body["sites"]]}


def _own_token(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Do not revoke the tester's own token."""
    if str((case.path_parameters or {}).get("token_id", "")).strip() == world.token_id:
        case.path_parameters = {"token_id": "nobody"}


def _listening(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Do not delete the connected display."""
    if str((case.path_parameters or {}).get("uuid", "")).lower() == world.displays[-1]:
        case.path_parameters = {"uuid": str(uuid4())}


def _address(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Replace any reachable address by our receiver's, so that no message leaves this machine."""
    if isinstance(case.body, dict) and "://" in str(case.body.get("url", "")):
        case.body = {**case.body, "url": world.hook}


def _times(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """`since` must be before `until`, whose default is now."""
    if case.query and "since" in case.query:
        since = datetime.now(UTC) - timedelta(hours=1)
        case.query = {**{k: v for k, v in case.query.items() if k != "until"}, "since": since.isoformat()}


def _scope(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """`site`, `tag` and `clients` are required by the scope of that name, and allowed only with it."""
    if not isinstance(case.body, dict):
        return
    scope = case.body.get("scope")
    whom = {"site": "Rome", "tag": "x", "clients": [world.displays[0]]}
    body = {name: value for name, value in case.body.items() if name not in whom or name == scope}
    case.body = {**body, scope: case.body.get(scope) or whom[scope]} if scope in whom else body


def _channel(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """The form of an address depends on the kind of the channel.

    Most channels become webhooks, because checking an address of Apprise takes a process and most of a second.
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


def _for_later(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Either once or weekly, in a known zone and in the future; of whoever a batch could have."""
    _many(world, case, kwargs)
    if not isinstance(case.body, dict):
        return
    body = {k: v for k, v in case.body.items() if k not in {"at", "weekdays", "local_time", "until"}}
    if body.get("clients") is not None:
        body["clients"] = list(world.displays[:2])
    times: dict[str, Any] = {"at": (datetime.now(UTC) + timedelta(hours=1)).isoformat()}
    if case.body.get("weekdays"):
        times = {"weekdays": case.body["weekdays"], "local_time": "03:00"}
    case.body = {**body, **times, "time_zone": "Europe/Rome"}


def _planned(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Address a weekly schedule that is not over, and change it to what a weekly one may have."""
    weekly = {"weekdays": ["monday"], "local_time": "03:00", "time_zone": "UTC"}
    made = world.made("/api/schedules", {"action": "restart_app", "filter": {"site": "Oslo"}, **weekly})
    case.path_parameters = {"schedule_id": made["id"]}
    if isinstance(case.body, dict):
        body = {k: v for k, v in case.body.items() if k not in {"at", "until", "waves", "max_unproven"}}
        case.body = body | ({"time_zone": "Europe/Rome"} if "time_zone" in body else {})


def _listener(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Address the connected display."""
    case.path_parameters = {"uuid": world.displays[-1]}


def _batch(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Address a batch that is not finished; only a paused one can be resumed."""
    body = {"action": "restart_app", "clients": [new_client(world.engine) for _ in range(2)], "waves": [1, "rest"]}
    batch = world.made("/api/commands", body)["batch_id"]
    if case.operation.path.endswith("/resume"):
        world.made(f"/api/command-batches/{batch}/pause")
    case.path_parameters = {"batch_id": batch}


def _failed(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Acknowledge a failure that is not acknowledged yet."""
    uuid = new_client(world.engine)
    fail(world, uuid)
    case.path_parameters, case.headers = {"uuid": uuid}, {}


def _taken(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Give back a failure that somebody has taken."""
    uuid = new_client(world.engine)
    world.made(f"/api/clients/{uuid}/service_failed/take", {"service_failed_at": fail(world, uuid)})
    case.path_parameters = {"uuid": uuid}


def _to_take(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Take a failure that stands."""
    uuid = new_client(world.engine)
    case.path_parameters, case.body = {"uuid": uuid}, {"service_failed_at": fail(world, uuid)}


def _mended(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Acknowledge a failure that is mended."""
    uuid = new_client(world.engine)
    case.body = {"failures": [{"uuid": uuid, "service_failed_at": mend(world, uuid)}]}


def _written(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Move and tag displays that exist."""
    if isinstance(case.body, dict):
        case.body = {**case.body, "clients": [new_client(world.engine) for _ in range(2)]}


def _held(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Hold the client first, so that there is something to resume."""
    uuid = new_client(world.engine)
    world.made("/api/quiet-times", {"preset": "hold", "scope": "clients", "clients": [uuid], "reason": "being moved"})
    case.path_parameters = {"uuid": uuid}


def _in_an_hour() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).isoformat()


def _quiet(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Address a new quiet time. Its changes are a reason alone: most times do not fit."""
    made = world.made("/api/quiet-times", {"preset": "snooze", "scope": "fleet", "ends_at": _in_an_hour()})
    case.path_parameters = {"quiet_id": made["id"]}
    if isinstance(case.body, dict):
        case.body = {"reason": "longer"}


def _quiet_body(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """A quiet time whose fields fit its preset: at random most do not."""
    if isinstance(case.body, dict):
        kept = {name: case.body[name] for name in ("scope", "reason") if name in case.body}
        whom = {"site": "Rome", "tag": "x", "clients": [world.displays[0]]}
        scope = kept.get("scope")
        field = {scope: whom[scope]} if scope in whom else {}
        case.body = {**kept, **field, "preset": "custom", "quiet": ["notices"], "ends_at": _in_an_hour()}


def _person(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Address a new person, who gets another role."""
    added = world.made("/api/users", {"username": f"p-{uuid4()}", "role": "viewer"})
    case.path_parameters, case.body = {"user_id": added["user"]["id"]}, {"role": "operator"}


def _forgetful(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Address a person who forgot their password, by id and name."""
    user = world.made("/api/users", {"username": f"p-{uuid4()}", "role": "viewer"})["user"]
    case.path_parameters, case.body = {"user_id": user["id"]}, {"username": user["username"]}


def _without_phone(world: World, case: Case, kwargs: dict[str, Any]) -> None:
    """Address a person who lost their second factor."""
    _forgetful(world, case, kwargs)
    protect(world, case.path_parameters["user_id"])


def _open(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Release an open breaker."""
    open_breaker(world)
    case.body = {}


def _failure(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Send a valid date: a pattern does not know how many days a month has.

    The tester's phase "coverage" sends this header empty, against its pattern; then it is removed.
    """
    headers = {name: value for name, value in (case.headers or {}).items() if value}
    if "If-Match" in headers and headers["If-Match"] != "*":
        headers["If-Match"] = '"2026-03-01T12:00:00Z"'
    case.headers = headers


def _code(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Send a valid code."""
    case.body = {"code": world.made(f"/api/clients/{uuid4()}/enrolment")["code"]}


def _rotation(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Send the login and password of a display."""
    code = world.made(f"/api/clients/{uuid4()}/enrolment")["code"]
    login = world.made("/api/enroll", {"code": code})
    case.body = {**case.body, "uuid": login["uuid"], "password": login["password"]}


def _link(world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Open a status page with a valid link."""
    case.headers = {"X-Status-Link": world.made("/api/status-links", {"name": "tester", "site": "Rome"})["secret"]}


def _credentials(_world: World, case: Case, _kwargs: dict[str, Any]) -> None:
    """Send the name and password of a person."""
    case.body = {"username": PERSON, "password": PASSWORD}


KEPT_HARMLESS: Final[dict[str, Repair]] = {
    "DELETE /api/tokens/{token_id}": _own_token,
    "DELETE /api/clients/{uuid}": _listening,
    "POST /api/notifications/channels": _address,
    "POST /api/notifications/channels/test": _address,
    "PATCH /api/notifications/channels/{channel_id}": _address,
}
RULES: Final[dict[str, Repair]] = {
    **schema_files.RULES,
    "GET /api/client-logs/{uuid}/logs": _times,
    "GET /api/clients/{uuid}/health/history": _times,
    "POST /api/quiet-times": _scope,
    "POST /api/notifications/channels": _channel,
    "POST /api/notifications/channels/test": _channel,
    "PATCH /api/notifications/channels/{channel_id}": _channel,
    "POST /api/clients/{uuid}/clear_service_failed": _failure,
    "POST /api/clients/{uuid}/commands": _override,
    "POST /api/commands": _many,
    "POST /api/schedules": _for_later,
}
# Repaired every second time; by chance alone these requests would get only 401, 404 and 409.
CHANCES: Final[dict[str, Repair]] = {
    **schema_files.CHANCES,
    "POST /api/clients/{uuid}/log-level": _listener,
    "POST /api/command-batches/{batch_id}/abort": _batch,
    "POST /api/command-batches/{batch_id}/pause": _batch,
    "POST /api/command-batches/{batch_id}/resume": _batch,
    "PATCH /api/schedules/{schedule_id}": _planned,
    "DELETE /api/schedules/{schedule_id}": _planned,
    "PATCH /api/clients": _written,
    "POST /api/clients/service_failed/mended": _mended,
    "POST /api/clients/{uuid}/clear_service_failed": _failed,
    "POST /api/clients/{uuid}/recovery/resume": _held,
    "POST /api/clients/{uuid}/service_failed/give_back": _taken,
    "POST /api/clients/{uuid}/service_failed/take": _to_take,
    "POST /api/recovery/breaker/release": _open,
    "POST /api/quiet-times": _quiet_body,
    "PATCH /api/quiet-times/{quiet_id}": _quiet,
    "DELETE /api/quiet-times/{quiet_id}": _quiet,
    "GET /api/status": _link,
    "PATCH /api/users/{user_id}": _person,
    "POST /api/users/{user_id}/reset-password": _forgetful,
    "POST /api/users/{user_id}/reset-second-factor": _without_phone,
    "POST /api/enroll": _code,
    "POST /api/enroll/rotate": _rotation,
    "POST /api/session": _credentials,
}
