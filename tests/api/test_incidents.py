"""Incidents over HTTP: the list, an incident with its displays and timeline, and the page of a display."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from shared.config import Config
from shared.incidents import operations
from shared.postgres.door import database_now
from tests.api.people import Api
from tests.stores.incidents_world import come_back, go_silent, listen, site


@pytest.fixture(scope="module")
def fleet(engine: Engine, configuration: Config) -> list[str]:
    """Twelve displays of Rome: eleven fell silent at once, and one of these is well again."""
    with engine.begin() as connection:
        now = database_now(connection)
        listen(connection, now)
        rome = site(connection, now)
        go_silent(connection, now, rome[:11])
        operations.observe(connection, now)
    with engine.begin() as connection:
        now = database_now(connection)
        come_back(connection, now, rome[:1])
        operations.observe(connection, now)
    return rome


def of_rome(api: Api, query: str = "") -> dict[str, Any]:
    [incident] = api.get(f"/api/incidents?site=Rome{query}").get_json()["items"]
    found: dict[str, Any] = incident
    return found


def test_an_incident_is_listed_with_its_cause_and_its_numbers(api: Api, fleet: list[str]) -> None:
    incident = of_rome(api, "&open=true")

    assert (incident["kind"], incident["site"], incident["subnet"]) == ("site", "Rome", None)
    assert (incident["members"], incident["unwell"], incident["group_size"]) == (11, 10, 12)
    assert (incident["closed_at"], incident["merged_into"]) == (None, None)
    assert "11 of 12 displays at site Rome went silent" in incident["cause"]


def test_the_overview_and_the_page_of_a_display_tell_the_cause_in_german(api: Api, fleet: list[str]) -> None:
    german = {"Accept-Language": "de"}
    [incident] = api.get("/api/monitoring/overview", headers=german).get_json()["incidents"]

    assert incident["cause"].startswith("11 von 12 Displays am Standort Rome sind ")
    client = api.get(f"/api/clients/{fleet[1]}", headers=german).get_json()
    assert client["incident"]["cause"] == incident["cause"]


def test_lists_are_narrowed_by_what_is_asked_for(api: Api, fleet: list[str]) -> None:
    later = (datetime.fromisoformat(of_rome(api)["opened_at"]) + timedelta(days=1)).isoformat().replace("+", "%2B")

    assert api.get("/api/incidents?site=Rome&open=false").get_json()["items"] == []
    assert api.get("/api/incidents?site=Oslo").get_json() == {"items": [], "next_cursor": None}
    assert of_rome(api, f"&since={later}")["id"]  # it is still open


def test_one_incident_tells_its_displays_and_its_timeline(api: Api, fleet: list[str]) -> None:
    incident = api.get(f"/api/incidents/{of_rome(api)['id']}").get_json()

    members = {member["uuid"]: member for member in incident["displays"]["items"]}
    assert set(members) == set(fleet[:11])
    assert (members[fleet[0]]["status"], members[fleet[1]]["status"]) == ("running", "stale")
    assert members[fleet[0]]["left_at"] is not None
    assert {member["symptom"] for member in members.values()} == {"silent"}
    titles = [(event["kind"], event["count"]) for event in incident["timeline"]["items"]]
    words = [event["title"] for event in incident["timeline"]["items"]]
    assert words == ["1 display well again", incident["cause"], "11 displays failed"]
    assert titles == [("left", 1), ("opened", None), ("joined", 11)]
    assert incident["timeline"]["items"][0]["uuids"] == [fleet[0]]
    assert incident["in_maintenance"] == 0


@pytest.mark.parametrize(("part", "count"), [("displays", 11), ("events", 3)])
def test_displays_and_timeline_are_paged_on_from_the_first_page(
    api: Api, fleet: list[str], part: str, count: int
) -> None:
    path = f"/api/incidents/{of_rome(api)['id']}/{part}"
    found: list[Any] = []
    query = "?limit=2"
    while query:
        page = api.get(path + query).get_json()
        found += page["items"]
        query = f"?limit=2&cursor={page['next_cursor']}" if page["next_cursor"] else ""

    assert found == api.get(path).get_json()["items"]
    assert len(found) == count


def test_a_displays_page_names_the_incident_that_it_is_in(api: Api, fleet: list[str]) -> None:
    incident = of_rome(api)

    assert api.get(f"/api/clients/{fleet[3]}").get_json()["incident"] == {
        "id": incident["id"],
        "cause": incident["cause"],
    }
    assert api.get(f"/api/clients/{fleet[0]}").get_json()["incident"] is None  # well again


def test_a_quiet_time_of_the_site_is_counted(api: Api, fleet: list[str]) -> None:
    ends_at = (datetime.fromisoformat(of_rome(api)["opened_at"]) + timedelta(hours=1)).isoformat()
    body = {"preset": "maintenance", "scope": "site", "site": "Rome", "ends_at": ends_at}
    planned = api.post("/api/quiet-times", json=body).get_json()

    assert api.get(f"/api/incidents/{of_rome(api)['id']}").get_json()["in_maintenance"] == 10
    api.ask("DELETE", f"/api/quiet-times/{planned['id']}", role="operator")


def test_times_near_the_ends_of_the_calendar_are_compared_like_others(api: Api) -> None:
    assert api.get("/api/incidents?since=0001-01-01T00:00:00Z").status_code == 200
    assert api.get("/api/incidents?since=9999-12-31T23:59:59Z").status_code == 200


@pytest.mark.parametrize(
    "query", ["open=maybe", "since=yesterday", "since=0001-01-01T00:00:00%2B14:00", "limit=0", "state=open", "cursor=x"]
)
def test_what_is_no_filter_is_refused_by_name(api: Api, query: str) -> None:
    answer = api.get(f"/api/incidents?{query}")

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, query.partition("=")[0])
