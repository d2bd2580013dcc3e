"""The availability of many displays through the API: a day in half hours, a period by site."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.postgres.door import database_now, transaction
from shared.quiet.hours_rules import Span
from shared.tables import client_state_changes, clients
from shared.vocabulary import QuietPreset
from tests.api.people import Api
from tests.api.test_fleet_routes import add
from tests.stores import quiet_world
from tests.stores.quiet_world import EVERY_DAY

NOWHERE = "00000000-0000-4000-8000-00000000dead"


def now_of(engine: Engine) -> datetime:
    with transaction(engine) as connection:
        return database_now(connection)


def since(engine: Engine, uuid: str, created: datetime, *changes: tuple[datetime, str, str]) -> None:
    """Say when a client was created, and how its state changed."""
    with transaction(engine) as connection:
        connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(created_at=created))
        for at, was, became in changes:
            row = {"client_uuid": uuid, "at": at, "from_status": was, "to_status": became, "cause": {}}
            connection.execute(sa.insert(client_state_changes).values(row))


def opening_hours(engine: Engine, site: str, begins: str, ends: str, starts: datetime) -> None:
    """Open a site at these hours of UTC on every day."""
    span = Span(EVERY_DAY, begins, ends, nights=int(ends <= begins))
    with transaction(engine) as connection:
        asked = quiet_world.wanted(QuietPreset.OPENING_HOURS, site=site, starts=starts, spans=(span,), zone="UTC")
        quiet_world.make(connection, database_now(connection), asked)


def test_a_day_is_told_in_half_hours_of_each_display_that_exists(api: Api, engine: Engine) -> None:
    now = now_of(engine)
    uuid, young = add(engine, status="running"), add(engine, status="running")
    hours = [now - timedelta(hours=n) for n in (48, 2.6, 2.2)]
    since(engine, uuid, hours[0], (hours[1], "running", "crashed"), (hours[2], "crashed", "running"))
    since(engine, young, now - timedelta(hours=1, minutes=10))

    answer = api.get(f"/api/availability/day?client={uuid}&client={young}&client={NOWHERE}").get_json()
    states = {one["uuid"]: one["states"] for one in answer["items"]}

    assert (answer["slot_seconds"], {len(one) for one in states.values()}) == (1800, {48})
    assert states[uuid].count("crashed") == 2
    assert set(states[uuid]) == {"running", "crashed"}
    assert states[young] == [None] * 45 + ["running"] * 3
    assert set(states) == {uuid, young}


def test_a_day_shows_nothing_of_the_time_in_which_the_shop_was_closed(api: Api, engine: Engine) -> None:
    now = now_of(engine)
    uuid = add(engine, status="crashed", site="Dawn")
    since(engine, uuid, now - timedelta(days=3))
    local = (now - timedelta(hours=4)).replace(minute=0, second=0)
    opens, closes = local.strftime("%H:%M"), (local + timedelta(hours=2)).strftime("%H:%M")
    opening_hours(engine, "Dawn", opens, closes, now - timedelta(days=9))

    [one] = api.get(f"/api/availability/day?client={uuid}").get_json()["items"]

    assert set(one["states"]) == {None, "crashed"}
    assert one["states"].count("crashed") in {4, 5}


@pytest.mark.parametrize("query", ["", "client=x", "&".join(["client=" + NOWHERE] * 101)])
def test_a_day_is_of_one_to_a_hundred_displays(api: Api, query: str) -> None:
    answer = api.get(f"/api/availability/day?{query}")

    assert (answer.status_code, answer.get_json()["errors"][0]["field"].split("[")[0]) == (400, "client")


@pytest.fixture
def last_month() -> datetime:
    """A month that is over, and still kept."""
    now = datetime.now(UTC)
    last = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0) - timedelta(days=1)
    return last.replace(day=1)


def last_day(first: datetime) -> datetime:
    """The last day of this month."""
    return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def month_of(api: Api, site: str, first: datetime, more: str = "") -> dict[str, Any]:
    days = f"since={first:%Y-%m-%d}&until={last_day(first):%Y-%m-%d}"
    answer: dict[str, Any] = api.get(f"/api/availability/site?site={site}&{days}{more}").get_json()
    return answer


def at_sites(api: Api, since: datetime, until: datetime) -> dict[str, dict[str, Any]]:
    query = f"since={since:%Y-%m-%d}&until={until:%Y-%m-%d}"
    return {one.pop("site"): one for one in api.get(f"/api/availability/sites?{query}").get_json()["items"]}


def test_a_month_of_a_site_adds_up_within_its_opening_hours(api: Api, engine: Engine, last_month: datetime) -> None:
    steady, mended = (add(engine, status="crashed", site="Lyon", name=name) for name in ("steady", "mended"))
    day = last_month + timedelta(days=4)
    since(engine, steady, last_month - timedelta(days=40), (last_month + timedelta(days=40), "running", "crashed"))
    down = (day + timedelta(hours=9), "running", "crashed"), (day + timedelta(hours=11), "crashed", "running")
    since(
        engine, mended, last_month - timedelta(days=40), *down, (last_month + timedelta(days=40), "running", "crashed")
    )
    opening_hours(engine, "Lyon", "10:00", "20:00", last_month - timedelta(days=50))

    found = month_of(api, "Lyon", last_month, "&time_zone=Asia/Tokyo")
    days = found["days"]
    whole = 10 * 3600 * len(days)

    assert found["time_zone"] == "UTC"
    assert {one["name"]: (one["up_seconds"], one["down_seconds"]) for one in found["items"]} == {
        "steady": (whole, 0),
        "mended": (whole - 3600, 3600),
    }
    assert [one["down_seconds"] for one in days] == [3600 if n == 4 else 0 for n in range(len(days))]
    assert days[4]["date"] == f"{day:%Y-%m-%d}"
    assert {one["closed_seconds"] for one in days} == {2 * 14 * 3600}


def test_a_month_begins_with_the_display_and_ends_with_now(api: Api, engine: Engine) -> None:
    now = now_of(engine)
    uuid = add(engine, status="running", site="Ghent")
    since(engine, uuid, now - timedelta(minutes=5))

    months = {
        one.replace(day=1, hour=0, minute=0, second=0, microsecond=0) for one in (now - timedelta(minutes=5), now)
    }
    found = [month_of(api, "Ghent", one) for one in months]
    up = sum(one["items"][0]["up_seconds"] for one in found)

    assert up == pytest.approx(300, abs=60)
    assert {one["unknown_seconds"] for answer in found for one in answer["days"]} == {0}


def test_of_times_that_are_not_kept_and_times_to_come_nothing_is_told(api: Api, engine: Engine) -> None:
    uuid = add(engine, status="running", site="Pau")
    since(engine, uuid, datetime(2019, 1, 1, tzinfo=UTC))

    for year in (1, 2020, 2098, 9999):
        answer = api.get(f"/api/availability/site?site=Pau&since={year:04}-06-01&until={year:04}-06-30").get_json()
        assert [(one["uuid"], one["up_seconds"], one["down_seconds"]) for one in answer["items"]] == [(uuid, 0, 0)]
        assert (answer["days"], answer["period_seconds"]) == ([], 0)


def test_a_month_comes_in_pages_whose_days_add_up(api: Api, engine: Engine, last_month: datetime) -> None:
    uuids = sorted(add(engine, status="running", site="Nice") for _ in range(3))
    for uuid in uuids:
        since(engine, uuid, last_month)

    first = month_of(api, "Nice", last_month, "&limit=2")
    second = month_of(api, "Nice", last_month, f"&limit=2&cursor={first['next_cursor']}")
    whole = month_of(api, "Nice", last_month)

    assert [one["uuid"] for one in first["items"] + second["items"]] == uuids
    assert (second["next_cursor"], whole["next_cursor"]) == (None, None)
    sums = [a["up_seconds"] + b["up_seconds"] for a, b in zip(first["days"], second["days"], strict=True)]
    assert sums == [one["up_seconds"] for one in whole["days"]]
    assert sum(sums) == 3 * 86400 * len(sums)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=2026-01-01&until=2026-01-31", "site"),
        ("site=x&until=2026-01-31", "since"),
        ("site=x&since=2026-01-01&until=2026-02-30", "until"),
        ("site=x&since=2026-02-01&until=2026-01-31", "since"),
    ],
)
def test_a_period_needs_a_site_and_two_days_in_order(api: Api, query: str, field: str) -> None:
    answer = api.get(f"/api/availability/site?{query}")

    assert (answer.status_code, answer.get_json()["errors"][0]["field"]) == (400, field)


def test_one_answer_has_every_site_with_its_displays_and_for_how_long_they_are_known(
    api: Api, engine: Engine, last_month: datetime
) -> None:
    old, young = add(engine, status="running", site="Metz"), add(engine, status="running", site="Metz")
    other = add(engine, status="crashed", site="Brest")
    add(engine, status="running", site=None)
    week = timedelta(days=7)
    since(engine, old, last_month - week)
    since(engine, young, last_month + timedelta(days=6))
    since(engine, other, last_month - week)

    found = at_sites(api, last_month, last_month + week - timedelta(days=1))

    assert {site: found[site]["displays"] for site in ("Metz", "Brest")} == {"Metz": 2, "Brest": 1}
    assert (found["Metz"]["period_seconds"], found["Metz"]["up_seconds"]) == (7 * 86400, 8 * 86400)
    assert (found["Brest"]["down_seconds"], found["Brest"]["time_zone"]) == (7 * 86400, "UTC")
    assert found[""]["up_seconds"] == 0, "its display came later"


def test_the_days_of_a_site_among_others_are_those_of_its_own_zone(
    api: Api, engine: Engine, last_month: datetime
) -> None:
    uuid = add(engine, status="running", site="Nauru")
    midnight = last_month - timedelta(hours=12)
    since(engine, uuid, midnight - timedelta(days=9), (midnight + timedelta(hours=1), "crashed", "running"))
    with transaction(engine) as connection:
        starts = last_month - timedelta(days=20)
        span = Span(EVERY_DAY, "00:00", "23:59", nights=0)
        asked = quiet_world.wanted(
            QuietPreset.OPENING_HOURS, site="Nauru", starts=starts, spans=(span,), zone="Pacific/Nauru"
        )
        quiet_world.make(connection, database_now(connection), asked)

    found = at_sites(api, last_month, last_month)["Nauru"]

    assert (found["time_zone"], found["down_seconds"], found["period_seconds"]) == ("Pacific/Nauru", 3600, 86400)


def test_an_unknown_time_zone_is_refused(api: Api) -> None:
    answer = api.get("/api/availability/sites?since=2026-01-01&until=2026-01-31&time_zone=Mars/Base")

    assert (answer.status_code, answer.get_json()["code"]) == (422, "time_zone_unknown")
