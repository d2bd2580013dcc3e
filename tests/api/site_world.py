"""A fleet at two sites, Basel and Ulm, with rows of each noun, and callers whose rights are for Basel only."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.access import operations as access
from shared.client_logs import operations as client_logs
from shared.client_logs.rules import LogLine
from shared.leadership import dead_letters_store
from shared.leadership.dead_letters_store import NewDeadLetter
from shared.postgres.door import database_now, transaction
from shared.tables import (
    client_limits,
    clients,
    recovery_breakers,
    recovery_events,
    screenshots,
    service_failure_events,
)
from shared.vocabulary import LogLevel, Role
from shared.words.sentences import as_given, to_row
from tests.api.people import Api
from tests.stores.incidents_world import change, go_silent, listen, lose, observe, site

OWN: Final = "Basel"
FOREIGN: Final = "Ulm"
ABLE: Final = ["restart_app", "reboot_host", "shutdown_host", "screenshot"]


@dataclass
class SiteWorld:
    """The uuids of each site's displays, and of each site the id of one thing of each kind, by its path parameter."""

    displays: dict[str, list[str]] = field(default_factory=dict)
    ids: dict[str, dict[str, Any]] = field(default_factory=dict)
    shared_batch: str = ""
    """A batch for displays of both sites."""
    shared_quiet: int = 0
    """A quiet time for displays of both sites."""
    fleet_quiet: int = 0
    shared_schedule: str = ""
    """A schedule for displays of both sites."""
    tag_schedule: str = ""
    """A schedule by a tag that displays of both sites have."""


def token_for(engine: Engine, role: Role, sites: list[str] | None) -> str:
    """Issue a token with this role at these sites. Returns its text."""
    with transaction(engine) as connection:
        now = database_now(connection)
        return access.issue_token(connection, now, f"{role} of {sites}", role, "tests", None, sites)[1]


def fill(api: Api, engine: Engine) -> SiteWorld:
    """Make the displays, and of each site something of every kind."""
    world = SiteWorld()
    with transaction(engine) as connection:
        now = database_now(connection)
        listen(connection, now)
        for name in (OWN, FOREIGN):
            world.displays[name] = site(connection, now, name, tags=["lobby"], capabilities=ABLE)
            _troubles(connection, now, name, world.displays[name])
            mine = clients.c.site == name
            connection.execute(sa.update(clients).where(mine).values(name=f"screen of {name}"))
        observe(connection, now)
    for name in (OWN, FOREIGN):
        world.ids[name] = _made(api, engine, name, world.displays[name])
    both = [world.displays[OWN][7], world.displays[FOREIGN][7]]
    batch = {"action": "restart_app", "clients": both, "waves": [1, "rest"]}
    world.shared_batch = made(api, "/api/commands", batch)["batch_id"]
    hold = {"preset": "hold", "reason": "both are being painted"}
    world.shared_quiet = made(api, "/api/quiet-times", {**hold, "scope": "clients", "clients": both})["id"]
    world.fleet_quiet = made(api, "/api/quiet-times", {**hold, "scope": "fleet"})["id"]
    world.shared_schedule = made(api, "/api/schedules", planned(clients=both))["id"]
    world.tag_schedule = made(api, "/api/schedules", planned(filter={"tag": "lobby"}))["id"]
    return world


def planned(**whom: Any) -> dict[str, Any]:
    """The body of a schedule for these displays, each Monday night."""
    weekly = {"time_zone": "Europe/Rome", "weekdays": ["monday"], "local_time": "03:00"}
    return {"action": "restart_app", "reason": "weekly", **weekly, **whom}


def _troubles(connection: Connection, now: datetime, name: str, displays: list[str]) -> None:
    """Silent displays (an incident), failed services, a crash, lost connections, logs, dead letters, decisions."""
    go_silent(connection, now, displays[:5])
    change(connection, now, [displays[5]], "crashed")
    crashed = {"process_status": "crashed", "process_status_since": now}
    connection.execute(sa.update(clients).where(clients.c.uuid == displays[5]).values(**crashed))
    failed = {"service_failed_at": now, "service_failed_unit": f"player of {name}"}
    connection.execute(sa.update(clients).where(clients.c.uuid == displays[6]).values(**failed))
    for event in ("failed", "cleared"):
        row = {"client_uuid": displays[8], "at": now, "event": event, "unit": f"player of {name}", "by": "user:x"}
        connection.execute(sa.insert(service_failure_events).values(**row))
    lose(connection, now - timedelta(minutes=9), displays[9:10], losses=5)
    passed = {
        "client_uuid": displays[9],
        "kind": "disk",
        "over_since": now,
        "passed_at": now,
        "value": 99,
        "limit_at": 95,
    }
    connection.execute(sa.insert(client_limits).values(**passed))
    lines = [
        LogLine(uuid, 1000.0, level=level, raw_level=None, message=f"{level} of {name}")
        for uuid in displays[:3]
        for level in LogLevel
    ]
    client_logs.record(connection, now, 1000.0, lines)
    letter = NewDeadLetter(f"signage/{displays[0]}/health", "7b", 1, "0" * 64, "not_json", None, 1)
    dead_letters_store.add(connection, now, [letter])
    for uuid in (displays[0], None):
        evidence = {"site": name} if uuid is None else {}
        why = to_row(as_given(text=f"{name} is silent"))
        decided = {"at": now, "client_uuid": uuid, "decision": "breaker_open", "why": why}
        connection.execute(sa.insert(recovery_events).values(**decided, evidence=evidence))
    breaker = {"site": name, "open_since": now, "why": to_row(as_given(text=f"{name} is silent"))}
    connection.execute(sa.insert(recovery_breakers).values(**breaker))


def _made(api: Api, engine: Engine, name: str, displays: list[str]) -> dict[str, Any]:
    """One thing of each kind, as an admin makes it."""
    command = made(api, f"/api/clients/{displays[10]}/commands", {"action": "restart_app", "reason": f"of {name}"})
    batch = {"action": "restart_app", "clients": displays[8:9], "waves": [1], "reason": f"of {name}"}
    hold = {"preset": "hold", "reason": f"of {name}", "scope": "site", "site": name}
    expected = api.ask("PUT", "/api/expectations", json={"scope": "site", "target": name, "title": f"Menu of {name}"})
    api.ask("PUT", "/api/screenshot-policy", json={"site": name, "allowed": False})
    api.ask("PUT", "/api/screenshot-policy", json={"site": name, "allowed": True})
    api.ask("PUT", "/api/screenshot-policy", json={"site": f"closed {name}", "allowed": False})
    with transaction(engine) as connection:
        now = database_now(connection)
        picture = {"client_uuid": displays[0], "failure_at": now, "place": 1, "taken_at": now, "stored_at": now}
        picture |= {"width": 1, "height": 1, "jpeg": b"\xff\xd8\xff\xd9"}
        screenshot = connection.execute(sa.insert(screenshots).values(**picture).returning(screenshots.c.id))
        found = {"screenshot_id": screenshot.scalar_one()}
        incident = "SELECT incident_id FROM incident_members WHERE client_uuid = :uuid"
        found["incident_id"] = connection.execute(sa.text(incident), {"uuid": displays[0]}).scalars().first()
    return {
        **found,
        "uuid": displays[0],
        "expectation_id": expected.get_json()["id"],
        "command_id": command["id"],
        "batch_id": made(api, "/api/commands", batch)["batch_id"],
        "quiet_id": made(api, "/api/quiet-times", hold)["id"],
        "schedule_id": made(api, "/api/schedules", planned(filter={"site": name}))["id"],
        "link_id": made(api, "/api/status-links", {"name": f"manager of {name}", "site": name})["id"],
    }


def made(api: Api, path: str, body: dict[str, Any]) -> Any:
    answer = api.post(path, "admin", json=body)
    assert answer.status_code in {200, 201, 202}, answer.get_data(as_text=True)
    return answer.get_json()
