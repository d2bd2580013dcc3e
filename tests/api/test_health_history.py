"""GET /api/clients/<uuid>/health/history: points without gaps, and a summary for people who cannot see the chart."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from extensions.history import health_operations
from extensions.history.health_rules import TURNS
from shared.postgres.door import database_now, transaction
from shared.tables import client_health, client_health_history
from tests.api.people import Api
from tests.stores.commands_world import new_client

WEEK = timedelta(days=7)


@pytest.fixture
def client(engine: Engine) -> str:
    """A client with processor loads of 10, 20 and 30 % in the last quarter of an hour, and no reports before."""
    uuid = new_client(engine)
    with transaction(engine) as connection:
        now = database_now(connection)
        for minutes, cpu in ((15, 10.0), (10, 20.0), (5, 30.0)):
            at = now - timedelta(minutes=minutes)
            connection.execute(sa.delete(client_health))
            values = {"client_uuid": uuid, "received_at": at, "cpu_percent": cpu, "body": {}}
            connection.execute(sa.insert(client_health).values(values))
            for turn in range(TURNS):
                health_operations.sample(connection, at, turn, at)
    return uuid


def history(api: Api, uuid: str, **query: str) -> dict[str, Any]:
    answer = api.get(f"/api/clients/{uuid}/health/history", query_string=query)
    assert answer.status_code == 200, answer.text
    assert answer.json is not None
    found: dict[str, Any] = answer.json
    return found


def test_the_last_day_comes_as_points_every_five_minutes_with_gaps_as_nulls(api: Api, client: str) -> None:
    found = history(api, client)

    cpu = [point["cpu_percent"] for point in found["points"]]
    assert (len(cpu), found["step_seconds"]) == (288, 300)
    assert [value for value in cpu if value is not None] == [10.0, 20.0, 30.0]
    assert cpu[0] is None
    assert all(point["memory_percent"] is None for point in found["points"])
    summary = found["summary"]["cpu_percent"]
    assert (summary["least"], summary["most"], summary["last"]) == (10.0, 30.0, 30.0)
    assert found["summary"]["disk_percent"] is None


def test_a_longer_time_comes_in_no_more_points_and_is_cut_where_nothing_is_kept(api: Api, client: str) -> None:
    found = history(api, client, since="2001-01-01T00:00:00Z")

    began, ended = (datetime.fromisoformat(found[name]) for name in ("since", "until"))
    assert ended - began == WEEK
    assert len(found["points"]) <= 300
    assert found["step_seconds"] % 300 == 0
    assert [p["cpu_percent"] for p in found["points"] if p["cpu_percent"] is not None][-1] <= 30.0


def test_a_time_of_ones_own_is_told_and_the_future_is_not(api: Api, client: str) -> None:
    now = datetime.now(UTC)
    since, until = (now - timedelta(hours=2)).isoformat(), (now + timedelta(hours=2)).isoformat()

    found = history(api, client, since=since, until=until)

    assert datetime.fromisoformat(found["since"]) == datetime.fromisoformat(since)
    assert len(found["points"]) in {24, 25}


def test_before_anything_was_kept_there_are_no_points(api: Api, client: str) -> None:
    found = history(api, client, until="2001-01-01T00:00:00Z")

    assert found["points"] == []
    assert set(found["summary"].values()) == {None}


@pytest.mark.parametrize(
    "query",
    [
        {"since": "2026-11-21T12:00:00Z", "until": "2026-11-21T12:00:00Z"},
        {"since": "2026-11-21T12:00:01Z", "until": "2026-11-21T12:00:00Z"},
        {"since": "9999-12-31T23:59:59Z"},
        {"until": "0001-01-01T00:00:00Z"},
        {"since": "yesterday"},
        {"hours": "24"},
    ],
)
def test_a_time_that_is_none_is_refused_by_name(api: Api, client: str, query: dict[str, str]) -> None:
    answer = api.get(f"/api/clients/{client}/health/history", query_string=query)

    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["errors"][0]["field"] in {"since", "hours"}


def test_a_display_nobody_knows_is_not_found(api: Api) -> None:
    answer = api.get("/api/clients/00000000-0000-4000-8000-00000000dead/health/history")

    assert answer.status_code == 404


@pytest.fixture(autouse=True, scope="module")
def nothing_left(engine: Engine) -> None:
    with transaction(engine) as connection:
        connection.execute(sa.delete(client_health_history))
