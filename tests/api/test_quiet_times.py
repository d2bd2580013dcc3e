"""Quiet times over HTTP: made, listed, changed and ended; each change is audited."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.tables import quiet_times
from tests.api.people import Api
from tests.stores.commands_world import NOWHERE, new_client

PATH = "/api/quiet-times"
WEEK = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NIGHT = {"days": WEEK, "from": "22:00", "to": "02:00"}


@pytest.fixture(autouse=True)
def nothing_left(engine: Engine) -> Iterator[None]:
    yield
    with engine.begin() as connection:
        connection.execute(sa.delete(quiet_times))


def at(hours: float) -> str:
    """The time in `hours` hours."""
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


def work(**body: Any) -> dict[str, Any]:
    return {"preset": "maintenance", "scope": "fleet", "ends_at": at(1), **body}


def make(api: Api, **body: Any) -> dict[str, Any]:
    answer = api.post(PATH, json=body, role="operator")
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.get_json()
    return made


def end(api: Api, made: dict[str, Any]) -> int:
    return api.ask("DELETE", f"{PATH}/{made['id']}", role="operator").status_code


def audit_of(api: Api, target: str) -> list[str]:
    items = api.get("/api/audit?limit=100", role="admin").get_json()["items"]
    return [item["action"] for item in items if item["target"] == target]


PRESETS: list[tuple[dict[str, Any], list[str]]] = [
    ({"preset": "hold", "reason": "I work on it"}, ["recovery"]),
    ({"preset": "hold", "reason": "I work on it", "ends_at": at(4)}, ["recovery"]),
    ({"preset": "leave_out", "reason": "A test device"}, ["recovery"]),
    ({"preset": "snooze", "ends_at": at(4)}, ["notices"]),
    ({"preset": "maintenance", "ends_at": at(4)}, ["recovery", "notices", "commands"]),
    ({"preset": "maintenance", "hours": [NIGHT], "time_zone": "Europe/Rome"}, ["recovery", "notices", "commands"]),
    ({"preset": "opening_hours", "hours": [NIGHT], "time_zone": "UTC"}, ["recovery", "notices", "screen"]),
    ({"preset": "custom", "quiet": ["screen", "recovery"], "ends_at": at(4)}, ["recovery", "screen"]),
]


@pytest.mark.parametrize(("body", "quiet"), PRESETS)
def test_each_preset_says_what_is_quiet(api: Api, body: dict[str, Any], quiet: list[str]) -> None:
    made = make(api, scope="site", site="Nowhere yet", **body)

    assert (made["quiet"], made["covers"], made["note"]) == (quiet, 0, "No display is at Nowhere yet yet.")
    assert api.get(f"{PATH}/{made['id']}").get_json() == made


def test_one_is_made_shown_ended_and_kept(api: Api) -> None:
    made = make(api, **work(reason="new players"))

    assert (made["state"], made["reason"]) == ("on", "new players")
    assert made["occurrence"] == {"starts_at": made["starts_at"], "ends_at": made["ends_at"]}
    assert "In maintenance by test operator" in made["words"]
    assert made in api.get(f"{PATH}?current=true").get_json()["items"]

    with ThreadPoolExecutor(4) as pool:  # of many who end it, one does
        assert set(pool.map(lambda _: end(api, made), range(4))) == {204}
    [kept] = api.get(f"{PATH}?current=false").get_json()["items"]
    assert (kept["state"], kept["occurrence"]) == ("ended", None)
    assert kept["ended_by"].startswith("token:test operator")
    assert audit_of(api, f"quiet_time:{made['id']}") == ["quiet_time.end", "quiet_time.create"]


def test_a_display_says_what_is_quiet_for_it_and_why(api: Api, engine: Engine) -> None:
    inside, outside = new_client(engine, site="Linz"), new_client(engine, site="Graz")
    forever = make(api, preset="hold", scope="clients", clients=[inside], reason="mine")
    made = make(api, **work(scope="site", site="Linz", reason="Panels"))
    make(api, preset="hold", scope="site", site="Linz", reason="later", starts_at=at(1))

    told = api.get(f"/api/clients/{inside}/quiet-times").get_json()
    other = api.get(f"/api/clients/{outside}/quiet-times").get_json()

    assert (told["quiet"], told["until"]) == (["recovery", "notices", "commands"], None)
    assert [one["id"] for one in told["items"]] == [forever["id"], made["id"]]
    assert "On hold by " in told["words"]
    assert "(Panels)" in told["words"]
    assert (other["quiet"], other["items"]) == ([], [])
    page = api.get(f"/api/clients/{inside}").get_json()["quiet_times"]
    assert [(one["id"], one["until"]) for one in page] == [(forever["id"], None), (made["id"], made["ends_at"])]
    assert {one["id"] for one in api.get(f"{PATH}?client={inside}&preset=hold").get_json()["items"]} > {forever["id"]}
    assert api.get(f"{PATH}?client={outside}").get_json()["items"] == []
    assert audit_of(api, inside) == ["quiet_time.create"]


def test_the_overview_names_what_is_on_once_and_again_when_it_changes(api: Api, engine: Engine) -> None:
    client = new_client(engine)
    made = make(api, **work(scope="clients", clients=[client], reason="Panels"))

    def look(since: str = "") -> dict[str, Any]:
        found: dict[str, Any] = api.get(f"/api/monitoring/overview?{since}").get_json()
        return found

    first = look()
    again = look(f"since={first['cursor']}")
    end(api, made)
    after = look(f"since={again['cursor']}")

    [one] = first["quiet_times"]
    assert (one["id"], one["clients"], one["until"], one["reason"]) == (made["id"], [client], made["ends_at"], "Panels")
    assert "quiet_times" not in again
    assert after["quiet_times"] == []
    packed = api.get("/api/monitoring/overview?format=packed").get_json()
    assert packed["quiet_times"] == []


def test_an_operators_own_command_goes_and_says_what_it_cuts_through(api: Api, engine: Engine) -> None:
    client, free = new_client(engine), new_client(engine)
    make(api, **work(scope="clients", clients=[client], reason="Panels"))

    answers = [api.post(f"/api/clients/{one}/commands", json={"action": "restart_app"}) for one in (client, free)]

    assert [answer.status_code for answer in answers] == [202, 202]
    assert "in maintenance by test" in answers[0].get_json()["cuts_through"]
    assert answers[1].get_json()["cuts_through"] is None


def test_weekly_hours_say_when_it_is_quiet_next(api: Api) -> None:
    hours = [{"days": WEEK, "from": "09:00", "to": "19:30"}]
    made = make(api, preset="opening_hours", scope="tag", tag="outdoor", hours=hours, time_zone="Asia/Tokyo")

    assert made["hours"] == [{**hours[0], "nights": 0}]
    assert made["state"] in {"on", "planned"}  # closed or open now
    assert made["occurrence"] is not None
    assert made["note"] == "No display has the tag “outdoor” yet."


def test_opening_hours_are_once_and_other_hours_leave_the_past_alone(api: Api) -> None:
    body = {"preset": "opening_hours", "scope": "site", "site": "Linz", "time_zone": "UTC"}
    made = make(api, **body, hours=[{"days": WEEK, "from": "09:00", "to": "18:00"}])

    second = api.post(PATH, json={**body, "hours": [NIGHT]}, role="operator")
    changed = api.patch(f"{PATH}/{made['id']}", json={"hours": [NIGHT]}, role="operator").get_json()
    before = api.get(f"{PATH}/{made['id']}").get_json()

    assert (second.status_code, second.get_json()["code"]) == (409, "opening_hours_exist")
    assert second.get_json()["quiet_time_id"] == made["id"]
    assert (changed["id"] != made["id"], changed["hours"][0]["to"], changed["site"]) == (True, "02:00", "Linz")
    assert (before["state"], before["hours"]) == ("ended", made["hours"])
    assert before["ended_at"] == changed["starts_at"]
    assert "quiet_time.write" in audit_of(api, f"quiet_time:{changed['id']}")


def test_one_that_is_on_gets_another_end_and_reason_but_no_other_start(api: Api) -> None:
    made = make(api, **work(reason="new players"))
    path, later = f"{PATH}/{made['id']}", at(2)

    changed = api.patch(path, json={"ends_at": later, "reason": "more"}, role="operator").get_json()
    refused = api.patch(path, json={"starts_at": at(1)}, role="operator")
    endless = api.patch(path, json={"ends_at": None}, role="operator")
    end(api, made)
    over = api.patch(path, json={"reason": "again"}, role="operator")

    assert (changed["id"], changed["reason"]) == (made["id"], "more")
    assert datetime.fromisoformat(changed["ends_at"]) == datetime.fromisoformat(later)
    assert [one.get_json()["code"] for one in (refused, endless)] == ["quiet_times_refused"] * 2
    assert (over.status_code, over.get_json()["code"]) == (409, "quiet_time_over")


def test_they_are_paged_newest_first(api: Api) -> None:
    for number in range(3):
        make(api, **work(reason=f"R{number}"))
    first = api.get(f"{PATH}?limit=2").get_json()
    second = api.get(f"{PATH}?limit=1&cursor={first['next_cursor']}").get_json()

    assert [item["reason"] for item in first["items"] + second["items"]] == ["R2", "R1", "R0"]
    assert second["next_cursor"] is None


BAD: list[tuple[dict[str, Any], str, str]] = [
    (work(preset="nap"), "preset", "no such preset"),
    (work(scope="planet"), "scope", "no such scope"),
    (work(scope="site"), "site", "a site without its name"),
    (work(site="Rome"), "site", "a site that the scope does not ask for"),
    (work(scope="tag"), "tag", "a tag without its name"),
    (work(scope="clients"), "clients", "nobody named"),
    (work(scope="clients", clients=["x"]), "clients[0]", "no uuid"),
    (work(ends_at="tomorrow"), "ends_at", "no time"),
    (work(ends_at="2026-03-01T12:00:00"), "ends_at", "no zone"),
    (work(preset="custom", quiet=[]), "quiet", "nothing quiet"),
    (work(hours=[{"days": [], "from": "09:00", "to": "10:00"}]), "hours[0].days", "no day"),
    (work(hours=[{"days": ["monday"], "from": "9", "to": "10:00"}]), "hours[0].from", "no time of the day"),
    (work(hours=[{"days": ["monday"], "from": "24:01", "to": "10:00"}]), "hours[0].from", "no such time"),
    (work(starts_at="0001-01-01T00:00:00+14:00"), "starts_at", "before all time"),
    (work(surprise=1), "surprise", "an unknown field"),
]


@pytest.mark.parametrize(("body", "field", "note"), BAD, ids=[note for *_, note in BAD])
def test_what_is_malformed_is_refused_by_name(api: Api, body: dict[str, Any], field: str, note: str) -> None:
    answer = api.post(PATH, json=body, role="operator")

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, field)


REFUSED: list[tuple[dict[str, Any], str]] = [
    (work(ends_at=at(-1)), "quiet_times_refused"),
    (work(quiet=["screen"]), "quiet_times_refused"),
    (work(hours=[{**NIGHT, "nights": 0}], time_zone="UTC"), "quiet_times_refused"),
    (work(hours=[NIGHT], time_zone="Mars/Olympus"), "time_zone_unknown"),
    (work(scope="clients", clients=[NOWHERE]), "clients_unknown"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED)
def test_what_a_rule_refuses_is_422_and_nothing_is_kept(api: Api, body: dict[str, Any], code: str) -> None:
    answer = api.post(PATH, json=body, role="operator")

    assert (answer.status_code, answer.get_json()["code"]) == (422, code)
    assert api.get(PATH).get_json()["items"] == []
