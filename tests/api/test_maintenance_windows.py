"""Maintenance windows over HTTP: planned, listed, ended; each change is audited."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from tests.api.people import Api
from tests.stores.commands_world import NOWHERE, new_client

PATH = "/api/maintenance-windows"
WEEKLY = {"time_zone": "Europe/Rome", "weekdays": ["monday"]}


def at(hours: float) -> str:
    """The time in `hours` hours."""
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def plan(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.post(PATH, json={"name": "Rollout", "scope": "fleet", "ends_at": at(1), **body})
    assert answer.status_code == 201, answer.text
    planned: dict[str, Any] = answer.get_json()
    return planned


def end(api: Api, window: dict[str, Any]) -> int:
    return api.ask("DELETE", f"{PATH}/{window['id']}", role="operator").status_code


def audit_of(api: Api, window_id: int) -> list[str]:
    items = api.get("/api/audit?limit=100", role="admin").get_json()["items"]
    return [item["action"] for item in items if item["target"] == f"maintenance:{window_id}"]


def test_a_window_is_planned_shown_ended_and_kept(api: Api) -> None:
    planned = plan(api, reason="new players")

    assert (planned["state"], planned["name"], planned["reason"]) == ("active", "Rollout", "new players")
    assert planned["occurrence"] == {"starts_at": planned["starts_at"], "ends_at": planned["ends_at"]}
    assert planned in api.get(f"{PATH}?current=true").get_json()["items"]

    assert end(api, planned) == 204
    assert end(api, planned) == 204  # a repeat changes nothing
    [kept] = [item for item in api.get(PATH).get_json()["items"] if item["id"] == planned["id"]]
    assert (kept["state"], kept["occurrence"]) == ("ended", None)
    assert kept["ended_by"].startswith("token:test operator")
    assert audit_of(api, planned["id"]) == ["maintenance.end", "maintenance.create"]


def test_a_window_of_named_clients_is_told_on_their_page_and_nobody_elses(api: Api, engine: Engine) -> None:
    inside, outside = new_client(engine), new_client(engine)
    window = plan(api, scope="clients", clients=[inside])

    told = api.get(f"/api/clients/{inside}").get_json()["maintenance"]

    assert window["clients"] == [inside]
    assert (told["window_id"], told["name"], told["until"]) == (window["id"], "Rollout", window["ends_at"])
    assert api.get(f"/api/clients/{outside}").get_json()["maintenance"] is None
    assert window in api.get(f"{PATH}?client={inside}").get_json()["items"]
    assert window not in api.get(f"{PATH}?client={outside}").get_json()["items"]
    end(api, window)
    assert api.get(f"/api/clients/{inside}").get_json()["maintenance"] is None


def test_an_operators_own_command_is_sent_also_inside_a_window(api: Api, engine: Engine) -> None:
    client = new_client(engine)
    window = plan(api, scope="clients", clients=[client])

    answer = api.post(f"/api/clients/{client}/commands", json={"action": "restart_app"})

    assert answer.status_code == 202
    end(api, window)


def test_a_repeated_window_says_when_it_is_on_next(api: Api) -> None:
    weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    window = plan(api, starts_at=at(2), ends_at=at(3), recurrence={"time_zone": "Asia/Tokyo", "weekdays": weekdays})

    assert window["state"] == "planned"
    assert window["recurrence"] == {"time_zone": "Asia/Tokyo", "weekdays": weekdays, "until": None}
    assert window["occurrence"]["starts_at"] == window["starts_at"]
    end(api, window)


def test_windows_are_paged_newest_first(api: Api) -> None:
    windows = [plan(api, name=f"Window {number}") for number in range(3)]
    first = api.get(f"{PATH}?limit=2").get_json()
    second = api.get(f"{PATH}?limit=1&cursor={first['next_cursor']}").get_json()

    listed = [item["name"] for item in first["items"] + second["items"]]
    assert listed == ["Window 2", "Window 1", "Window 0"]
    for window in windows:
        end(api, window)


BAD = [
    ({"name": ""}, "name", "no name"),
    ({"scope": "planet"}, "scope", "no such scope"),
    ({"scope": "site"}, "site", "a site without its name"),
    ({"site": "Rome"}, "site", "a site that the scope does not ask for"),
    ({"scope": "clients"}, "clients", "nobody named"),
    ({"clients": [NOWHERE]}, "clients", "clients that the scope does not ask for"),
    ({"scope": "clients", "clients": ["x"]}, "clients[0]", "no uuid"),
    ({"ends_at": "tomorrow"}, "ends_at", "no time"),
    ({"ends_at": "2026-03-01T12:00:00"}, "ends_at", "no zone"),
    ({"recurrence": {"time_zone": "UTC", "weekdays": []}}, "recurrence.weekdays", "no day"),
    ({"recurrence": {"time_zone": "UTC", "weekdays": ["Monday"]}}, "recurrence.weekdays[0]", "no such day"),
    ({"starts_at": "0001-01-01T00:00:00+14:00"}, "starts_at", "before all time"),
    ({"ends_at": "9999-12-31T23:59:59-14:00"}, "ends_at", "after all time"),
    ({"surprise": 1}, "surprise", "an unknown field"),
]


@pytest.mark.parametrize(("body", "field", "note"), BAD, ids=[note for *_, note in BAD])
def test_what_is_malformed_is_refused_by_name(api: Api, body: dict[str, Any], field: str, note: str) -> None:
    answer = api.post(PATH, json={"name": "Rollout", "scope": "fleet", "ends_at": at(1), **body})

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, field)


REFUSED = [
    ({"ends_at": at(-1)}, "maintenance_times_refused", "over before it begins"),
    ({"starts_at": at(-3), "ends_at": at(-2)}, "maintenance_times_refused", "in the past"),
    ({"ends_at": at(24 * 93)}, "maintenance_times_refused", "too long"),
    ({"recurrence": {**WEEKLY, "time_zone": "Mars/Olympus"}}, "time_zone_unknown", "no such zone"),
    ({"starts_at": "0001-01-01T00:00:00Z"}, "maintenance_times_refused", "since the beginning of time"),
    ({"ends_at": "9999-12-31T23:59:59Z"}, "maintenance_times_refused", "to the end of time"),
    ({"recurrence": {**WEEKLY, "until": "9999-12-31"}}, "maintenance_times_refused", "repeated for ever and a day"),
    ({"scope": "clients", "clients": [NOWHERE]}, "clients_unknown", "no such client"),
]


@pytest.mark.parametrize(("body", "code", "note"), REFUSED, ids=[note for *_, note in REFUSED])
def test_what_a_rule_refuses_is_422_and_nothing_is_kept(api: Api, body: dict[str, Any], code: str, note: str) -> None:
    before = api.get(PATH).get_json()

    answer = api.post(PATH, json={"name": "Rollout", "scope": "fleet", "ends_at": at(1), **body})

    assert (answer.status_code, answer.get_json()["code"]) == (422, code)
    assert api.get(PATH).get_json() == before


def test_a_window_that_does_not_exist_cannot_be_ended(api: Api) -> None:
    answer = api.ask("DELETE", f"{PATH}/987654321", role="operator")

    assert (answer.status_code, answer.get_json()["code"]) == (404, "maintenance_window_not_found")
