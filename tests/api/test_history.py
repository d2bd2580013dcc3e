"""Uptime and timeline of one client through the API."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.postgres.door import database_now, transaction
from shared.tables import client_state_changes, clients
from shared.words.sentences import as_given, to_row
from tests.api.people import Api
from tests.stores.commands_world import new_client


@pytest.fixture
def two_days_old(engine: Engine) -> str:
    """A client that ran for a day, and then crashed twelve hours ago."""
    uuid = new_client(engine, status="crashed")
    with transaction(engine) as connection:
        now = database_now(connection)
        created = sa.update(clients).where(clients.c.uuid == uuid).values(created_at=now - timedelta(hours=48))
        connection.execute(created)
        for hours, was, became in ((36, "unknown", "running"), (12, "running", "crashed")):
            row = {"client_uuid": uuid, "at": now - timedelta(hours=hours), "from_status": was, "to_status": became}
            connection.execute(
                sa.insert(client_state_changes).values(**row, cause=to_row(as_given(text="It says so.")))
            )
    return uuid


def test_uptime_tells_shares_of_known_time_and_the_strip(api: Api, two_days_old: str) -> None:
    answer = api.get(f"/api/clients/{two_days_old}/uptime?days=1").get_json()

    day, week, month = answer["windows"]
    assert [window["hours"] for window in answer["windows"]] == [24, 168, 720]
    assert (day["shares"]["running"], day["shares"]["crashed"]) == (pytest.approx(0.5, abs=1e-3),) * 2
    assert week["shares"]["running"] == pytest.approx(2 / 3, abs=1e-3)
    assert (week["known_seconds"], week["unknown_seconds"]) == (
        pytest.approx(36 * 3600, abs=60),
        pytest.approx(12 * 3600, abs=60),
    )
    assert month == {**week, "hours": 720}
    assert [segment["status"] for segment in answer["segments"]] == ["running", "crashed"]
    assert answer["segments"][0]["to"] == answer["segments"][1]["from"]
    strip = api.get(f"/api/clients/{two_days_old}/uptime").get_json()["segments"]
    assert [segment["status"] for segment in strip] == ["unknown", "running", "crashed"]


@pytest.mark.parametrize("days", ["0", "31", "all", "-1"])
def test_only_one_to_thirty_days_are_drawn(api: Api, two_days_old: str, days: str) -> None:
    answer = api.get(f"/api/clients/{two_days_old}/uptime?days={days}")

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, "days")


def test_events_are_paged_newest_first(api: Api, two_days_old: str) -> None:
    path = f"/api/clients/{two_days_old}/events"
    api.patch(f"/api/clients/{two_days_old}", json={"name": "Lobby"})
    whole = api.get(path).get_json()
    first = api.get(f"{path}?limit=2").get_json()
    second = api.get(f"{path}?limit=2&cursor={first['next_cursor']}").get_json()

    assert [event["kind"] for event in whole["items"]] == ["audit", "state", "state", "registered"]
    assert whole["items"][1]["title"] == "Running → crashed: It says so."
    assert whole["items"][1]["details"] == {"from": "running", "to": "crashed", "cause": "It says so."}
    assert whole["items"][3]["title"] == "Created by an enrolment code."
    assert first["items"] + second["items"] == whole["items"]
    assert (whole["next_cursor"], second["next_cursor"]) == (None, None)


@pytest.mark.parametrize("cursor", ["!!", "W10", "WyJ4Il0"])
def test_a_cursor_of_another_list_is_refused(api: Api, two_days_old: str, cursor: str) -> None:
    answer = api.get(f"/api/clients/{two_days_old}/events?cursor={cursor}")

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, "cursor")
