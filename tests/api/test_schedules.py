"""Schedules over HTTP: planned, told to whom they are about, changed, cancelled; each change is audited."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from extensions.batches import schedules_operations as operations
from extensions.batches import schedules_rules as rules
from shared.tables import command_schedules
from tests.api.people import Api
from tests.stores.commands_world import NOWHERE, new_client

PATH = "/api/schedules"
WEEKLY: dict[str, Any] = {"weekdays": ["sunday", "monday"], "local_time": "03:00", "time_zone": "Europe/Berlin"}


@pytest.fixture(autouse=True)
def _none_is_left(engine: Engine) -> Iterator[None]:
    yield
    with engine.begin() as connection:
        connection.execute(sa.delete(command_schedules))


@pytest.fixture
def client(engine: Engine) -> str:
    return new_client(engine, site="Basel", tags=["outdoor"])


def at(hours: float) -> str:
    """The time in `hours` hours."""
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def asked(client: str, **more: Any) -> dict[str, Any]:
    """A restart of one client in an hour, unless `more` says otherwise."""
    body: dict[str, Any] = {"action": "restart_app", "clients": [client], "time_zone": "UTC", "at": at(1), **more}
    return {name: value for name, value in body.items() if value is not ...}


def plan(api: Api, client: str, role: str = "operator", **more: Any) -> dict[str, Any]:
    answer = api.post(PATH, role, json=asked(client, **more))
    assert answer.status_code == 201, answer.text
    planned: dict[str, Any] = answer.get_json()
    return planned


def weekly(api: Api, client: str, **more: Any) -> dict[str, Any]:
    return plan(api, client, at=..., **WEEKLY, **more)


def audit_of(api: Api, schedule_id: str) -> list[str]:
    items = api.get("/api/audit?limit=100", role="admin").get_json()["items"]
    return [item["action"] for item in items if item["target"] == f"schedule:{schedule_id}"]


def come(engine: Engine, schedule_id: str, late: timedelta = timedelta()) -> None:
    """Let its time come, and a tick after it."""
    with engine.begin() as connection:
        due = sa.func.now() - late
        mine = sa.update(command_schedules).where(command_schedules.c.id == schedule_id)
        connection.execute(mine.values(next_at=due, at=sa.case((command_schedules.c.at.is_not(None), due))))
    operations.make_due(engine, rules.GRACE, 60.0)


def test_one_is_planned_told_to_its_display_cancelled_and_kept(api: Api, client: str) -> None:
    planned = plan(api, client, reason="new playlist", waves=[1, "rest"], max_unproven=2)

    assert (planned["state"], planned["reason"], planned["waves"]) == ("planned", "new playlist", [1, "rest"])
    assert (planned["clients"], planned["covers"], planned["named"]) == ([client], 1, 1)
    assert planned["words"].startswith("Next: ")
    assert planned["next_at"] == planned["at"]
    [told] = api.get(f"/api/clients/{client}/schedules").get_json()["items"]
    assert told == {name: value for name, value in planned.items() if name not in {"clients", "covers", "times"}}
    assert api.get(f"{PATH}?current=true").get_json()["items"] == [told]

    assert api.ask("DELETE", f"{PATH}/{planned['id']}", role="operator").status_code == 204
    assert api.ask("DELETE", f"{PATH}/{planned['id']}", role="operator").status_code == 204  # changes nothing
    kept = api.get(f"{PATH}/{planned['id']}").get_json()
    assert kept["state"] == "cancelled"
    assert kept["cancelled_by"].startswith("token:test operator")
    assert api.get(f"/api/clients/{client}/schedules").get_json() == {"uuid": client, "items": []}
    assert api.get(f"{PATH}?current=true").get_json()["items"] == []
    assert audit_of(api, planned["id"]) == ["schedule.cancel", "schedule.create"]


def test_a_weekly_one_says_its_next_time_in_its_own_zone(api: Api, client: str) -> None:
    planned = weekly(api, client, filter={"site": "Basel"}, clients=...)

    assert (planned["weekdays"], planned["local_time"]) == (["monday", "sunday"], "03:00")
    assert planned["words"].endswith(", 03:00 Europe/Berlin.")
    assert planned["filter"] == {"site": "Basel"}
    assert planned["covers"] >= 1
    assert [one["id"] for one in api.get(f"/api/clients/{client}/schedules").get_json()["items"]] == [planned["id"]]


def test_its_time_makes_a_batch_that_the_schedule_names(api: Api, engine: Engine, client: str) -> None:
    planned = plan(api, client, action="screen_off")

    come(engine, planned["id"])

    seen = api.get(f"{PATH}/{planned['id']}").get_json()
    [run] = seen["times"]["items"]
    assert (seen["state"], seen["next_at"], run["outcome"], seen["last"]) == ("running", None, "made", run)
    batch = api.get(f"/api/command-batches/{run['batch_id']}").get_json()
    assert (batch["action"], [one["uuid"] for one in batch["members"]["items"]]) == ("screen_off", [client])
    over = api.ask("DELETE", f"{PATH}/{planned['id']}", role="operator")
    assert (over.status_code, over.get_json()["code"]) == (409, "schedule_over")
    assert over.get_json()["batch_id"] == run["batch_id"]
    api.post(f"/api/command-batches/{run['batch_id']}/abort")
    assert api.get(f"{PATH}/{planned['id']}").get_json()["state"] == "done"


def test_a_change_says_what_changed(api: Api, client: str) -> None:
    planned, until = weekly(api, client), at(24 * 60)[:10]

    answer = api.ask(
        "PATCH",
        f"{PATH}/{planned['id']}",
        role="operator",
        json={"local_time": "04:30", "reason": "later", "until": until, "max_unproven": 3},
    )

    assert answer.status_code == 200, answer.text
    changed = answer.get_json()
    assert (changed["local_time"], changed["reason"], changed["until"]) == ("04:30", "later", until)
    assert changed["max_unproven"] == "3"
    assert changed["next_at"] != planned["next_at"]
    assert audit_of(api, planned["id"]) == ["schedule.write", "schedule.create"]
    endless = api.ask("PATCH", f"{PATH}/{planned['id']}", role="operator", json={"until": None})
    assert endless.get_json()["until"] is None
    once = api.ask("PATCH", f"{PATH}/{planned['id']}", role="operator", json={"at": at(2)})
    assert (once.status_code, once.get_json()["code"]) == (422, "schedule_times_refused")


def test_only_admins_plan_and_change_a_shutdown_and_operators_may_cancel_it(api: Api, client: str) -> None:
    refused = api.post(PATH, json=asked(client, action="shutdown_host"))
    planned = plan(api, client, "admin", action="shutdown_host")

    assert refused.status_code == 403
    assert api.ask("PATCH", f"{PATH}/{planned['id']}", role="operator", json={"at": at(3)}).status_code == 403
    assert api.ask("PATCH", f"{PATH}/{planned['id']}", role="admin", json={"at": at(3)}).status_code == 200
    assert api.ask("DELETE", f"{PATH}/{planned['id']}", role="operator").status_code == 204


def test_schedules_and_their_times_come_in_pages(api: Api, engine: Engine, client: str) -> None:
    in_three_days = f"{datetime.now(UTC) + timedelta(days=3):%A}".lower()  # no real time of it comes in between
    weekly_then = {**WEEKLY, "at": ..., "weekdays": [in_three_days]}
    made = [plan(api, client, reason=f"{number}", **weekly_then) for number in range(3)]
    for _ in range(2):
        come(engine, made[0]["id"], timedelta(minutes=25))

    first = api.get(f"{PATH}?limit=2").get_json()
    second = api.get(f"{PATH}?limit=1&cursor={first['next_cursor']}").get_json()
    newest = api.get(f"{PATH}/{made[0]['id']}?limit=1").get_json()["times"]
    older = api.get(f"{PATH}/{made[0]['id']}?limit=1&cursor={newest['next_cursor']}").get_json()["times"]

    assert [item["reason"] for item in first["items"] + second["items"]] == ["2", "1", "0"]
    assert newest["items"][0]["due_at"] > older["items"][0]["due_at"]
    assert older["next_cursor"] is None


BAD = [
    ({"action": "screenshot"}, 400, "invalid_field", "an action that no batch has"),
    ({"clients": ...}, 400, "invalid_field", "nobody"),
    ({"filter": {"site": "x"}}, 400, "invalid_field", "a list and a filter"),
    ({"clients": ..., "filter": {}}, 400, "invalid_field", "a filter without a field"),
    ({"clients": []}, 422, "no_clients", "an empty list"),
    ({"clients": [NOWHERE]}, 422, "clients_unknown", "no such client"),
    ({"time_zone": ...}, 400, "invalid_field", "no zone"),
    ({"time_zone": "Mars/Olympus"}, 422, "time_zone_unknown", "no such zone"),
    ({"at": "tomorrow"}, 400, "invalid_field", "no time"),
    ({"at": at(-1)}, 422, "schedule_times_refused", "in the past"),
    ({**WEEKLY, "at": ..., "local_time": "25:00"}, 400, "invalid_field", "no such hour"),
    ({**WEEKLY, "at": ..., "weekdays": ["someday"]}, 400, "invalid_field", "no such day"),
    ({"waves": ["rest", 1]}, 422, "invalid_waves", "waves after the rest"),
    ({"surprise": 1}, 400, "invalid_field", "an unknown field"),
]


@pytest.mark.parametrize(("body", "status", "code", "note"), BAD, ids=[note for *_, note in BAD])
def test_what_cannot_be_planned_is_refused_and_nothing_is_kept(
    api: Api, client: str, body: dict[str, Any], status: int, code: str, note: str
) -> None:
    answer = api.post(PATH, json=asked(client, **body))

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)
    assert api.get(PATH).get_json()["items"] == []
