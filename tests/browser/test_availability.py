"""Availability that one can show: a bar of 24 hours on every row, and a month by site to save and to print."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from shared.tables import clients
from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.browser.test_every_page import come_to_rest, is_right_in_every_look, violations
from tests.browser.test_exports import rows_of
from tests.browser.watched import does_not_scroll_sideways
from tests.browser.windows import Opened
from tests.stack import Api

UTC_ZONE = "Etc/UTC"
DAYS = "/api/availability/day"
DAILY = {
    "days": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
    "from": "10:00",
    "to": "20:00",
}


@pytest.fixture
def ulm(database: Engine, opened: Opened) -> Iterator[Fleet]:
    with inserted(database, "Shop Ulm", 3) as fleet:
        fleet.lived(days=100)
        yield fleet
        opened.close()


@pytest.fixture
def essen(database: Engine, opened: Opened) -> Iterator[Fleet]:
    """A shop that never had opening hours, which count for the past, too."""
    with inserted(database, "Shop Essen", 3) as fleet:
        fleet.lived(days=100)
        yield fleet
        opened.close()


@pytest.fixture
def last_month() -> datetime:
    """The first moment of the last whole month."""
    first = datetime.now(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (first - timedelta(days=1)).replace(day=1)


def days_of(month: datetime) -> str:
    """The month in the page's address."""
    last = (month + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return f"since={month:%Y-%m-%d}&until={last:%Y-%m-%d}"


def bar(page: Page, fleet: Fleet, n: int) -> str:
    """Return what the bar of this row says, once it is there."""
    row = page.locator(".displays tbody tr", has_text=fleet.name(n))
    expect(row.get_by_role("img")).to_be_visible()
    return row.get_by_role("img").get_attribute("aria-label") or ""


def test_every_row_has_a_bar_of_24_hours_that_is_asked_for_once_and_apart(enter: Enter, ulm: Fleet) -> None:
    now = datetime.now(UTC)
    ulm.was(2, "crashed", now - timedelta(hours=3), now - timedelta(hours=2, minutes=50))
    watched = enter("/?q=Ulm&sort=name", timezone_id=UTC_ZONE)
    page = watched.page
    asked = watched.asked()

    assert bar(page, ulm, 1).endswith(": 48 running")
    assert re.search(r": 4[67] running, [12] crashed$", bar(page, ulm, 2))
    for _ in range(2):
        watched.look_again()
    days = [address for address in asked if DAYS in address]
    assert len(days) <= 1, "the fleet is asked for every few seconds, and its days are not"

    page.set_viewport_size({"width": 320, "height": 800})
    expect(page.locator(".displays tbody svg.day")).to_have_count(3)
    assert does_not_scroll_sideways(page)
    assert violations(page) == []


def test_the_panel_shows_a_week_hour_by_hour_within_opening_hours(enter: Enter, api: Api, ulm: Fleet) -> None:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday, before = today - timedelta(days=1), today - timedelta(days=2)
    ulm.was(2, "unknown", before + timedelta(hours=10), before + timedelta(hours=11))
    ulm.was(2, "stale", yesterday + timedelta(hours=18, minutes=30), yesterday + timedelta(hours=21))
    body = {"preset": "opening_hours", "scope": "site", "site": ulm.site, "time_zone": "UTC", "hours": [DAILY]}
    made = api.post("/api/quiet-times", body | {"starts_at": f"{today - timedelta(days=9):%Y-%m-%dT%H:%M:%SZ}"}, 201)

    page = enter(f"/?d={ulm.uuid(2)}", timezone_id=UTC_ZONE).page

    week = page.get_by_role("region", name="The last 7 days")
    expect(week.get_by_role("img")).to_have_count(7)
    expect(week).to_contain_text(re.compile(r"Up 97\.\d % of the opening hours of the last 7 days\."))
    for day, states in (
        (before, "14 closed or not there yet, 1 unknown, 9 running"),
        (yesterday, "14 closed or not there yet, 8 running, 2 stale"),
        (today - timedelta(days=3), "14 closed or not there yet, 10 running"),
    ):
        said = f"{day:%A, %B} {day.day}, each hour by its worst state: {states}"
        expect(week.get_by_role("img", name=said, exact=True)).to_be_visible()
    page.get_by_role("group", name="How far back").get_by_role("button", name="7 d").click()
    expect(page.get_by_text("of the opening hours of the last 7 days.")).to_have_count(1)
    is_right_in_every_look(page, "the week")
    api.call("DELETE", f"/api/quiet-times/{made['id']}", 204)


def test_last_week_by_site_is_three_presses_away_in_one_request(enter: Enter, essen: Fleet) -> None:
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    monday = today - timedelta(days=today.weekday() + 7)
    essen.was(2, "stale", monday + timedelta(hours=8), monday + timedelta(hours=11))
    watched = enter(timezone_id=UTC_ZONE)
    page = watched.page
    page.get_by_role("link", name="Availability").click()
    expect(page.get_by_role("row", name=essen.site)).to_contain_text("%")
    asked = watched.asked()

    page.get_by_role("combobox", name="Period").select_option("Last week")

    row = page.get_by_role("row", name=essen.site)
    expect(row).to_contain_text("99.4 %")
    expect(row).to_contain_text("1 h")
    expect(page.get_by_label("First day")).to_have_value(f"{monday:%Y-%m-%d}")
    expect(page.get_by_label("Last day")).to_have_value(f"{monday + timedelta(days=6):%Y-%m-%d}")
    assert len([address for address in asked if "/api/availability/" in address]) == 1
    page.get_by_label("Last day").fill(f"{monday:%Y-%m-%d}")
    expect(row).to_contain_text("95.8 %")


def test_a_shop_known_for_less_than_the_period_says_so_with_its_unit(
    enter: Enter, database: Engine, opened: Opened
) -> None:
    with inserted(database, "Shop Bonn", 3) as bonn:
        now = datetime.now(UTC)
        with database.begin() as connection:
            made = sa.update(clients).where(clients.c.uuid.in_(bonn.uuids)).values(created_at=now - timedelta(hours=2))
            connection.execute(made)
        for n in (1, 2, 3):
            bonn.was(n, "stale", now - timedelta(minutes=40), now - timedelta(minutes=30))
        days = f"since={now - timedelta(days=6):%Y-%m-%d}&until={now:%Y-%m-%d}"
        page = enter(f"/?v=availability&{days}", timezone_id=UTC_ZONE).page

        row = page.get_by_role("row", name=bonn.site)
        expect(row).to_contain_text("known for 2 h each")
        expect(row).to_contain_text("10 min")
        row.get_by_role("button").click()
        shop = page.get_by_role("region", name=bonn.site)
        expect(shop).to_contain_text(
            re.compile(r"Known for 2 h.* each, on average\. Down for 10 min each, on average\.")
        )
        expect(shop.get_by_role("row").nth(1)).to_contain_text("known for 2 h")
        is_right_in_every_look(page, "a young shop")
        opened.close()


def test_a_month_of_a_site_comes_from_a_menu_and_counts_opening_hours_only(
    enter: Enter, api: Api, ulm: Fleet, last_month: datetime
) -> None:
    body = {"preset": "opening_hours", "scope": "site", "site": ulm.site, "time_zone": "UTC", "hours": [DAILY]}
    starts = f"{last_month - timedelta(days=3):%Y-%m-%dT%H:%M:%SZ}"
    made = api.post("/api/quiet-times", body | {"starts_at": starts}, 201)["id"]
    day = last_month + timedelta(days=9)
    ulm.was(2, "stale", day + timedelta(hours=8), day + timedelta(hours=12))
    page = enter(timezone_id=UTC_ZONE).page

    page.get_by_role("link", name="Availability").click()
    page.get_by_role("combobox", name="Period").select_option(f"{last_month:%B %Y}")
    row = page.get_by_role("row", name=ulm.site)
    expect(row).to_contain_text("99.7 %")
    row.get_by_role("button").click()

    site = page.get_by_role("region", name=ulm.site)
    expect(site).to_contain_text(f"of the opening hours of {last_month:%B %Y}: 3 displays.")
    expect(site).to_contain_text("Down for 40 min each, on average.")
    expect(site.get_by_role("row").nth(1)).to_contain_text(ulm.name(2))
    expect(site.get_by_role("row").nth(2)).to_contain_text("100 %")
    expect(site.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"93\.3 %"))
    expect(page.get_by_label("First day")).to_have_value(f"{last_month:%Y-%m-%d}")
    head, *rows = rows_of(page)
    told = [dict(zip(head, one, strict=True)) for one in rows]
    days = (last_month + timedelta(days=31)).replace(day=1) - last_month
    assert (told[0]["display"], told[0]["down_seconds"]) == (ulm.name(2), "7200")
    assert {int(one["up_seconds"]) + int(one["down_seconds"]) for one in told} == {days.days * 36_000}
    api.call("DELETE", f"/api/quiet-times/{made}", 204)


def test_what_was_asked_for_stands_in_the_address_and_is_printed_alone(
    enter: Enter, ulm: Fleet, last_month: datetime
) -> None:
    page = enter(f"/?v=availability&{days_of(last_month)}", timezone_id=UTC_ZONE).page
    expect(page.get_by_role("row", name=ulm.site)).to_contain_text("100 %")
    page.get_by_role("combobox", name="Period").select_option("Last week")
    expect(page.get_by_role("row", name=ulm.site)).to_contain_text("100 %")
    assert f"since={last_month:%Y-%m-%d}" not in page.url
    page.go_back()
    expect(page.get_by_label("First day")).to_have_value(f"{last_month:%Y-%m-%d}")

    page.emulate_media(media="print")
    expect(page.get_by_role("navigation")).to_be_hidden()
    expect(page.get_by_role("combobox", name="Period")).to_be_hidden()
    expect(page.get_by_role("heading", name=f"{last_month:%B %Y}")).to_be_visible()
    expect(page.get_by_role("row", name=ulm.site)).to_be_visible()


def test_both_views_of_a_period_fit_and_break_no_rule(enter: Enter, ulm: Fleet) -> None:
    watched = enter("/?v=availability")
    for address in ("/?v=availability", f"/?v=availability&site={ulm.site}"):
        watched.follow(address)
        expect(watched.page.get_by_role("table")).to_contain_text("100 %")
        come_to_rest(watched.page)
        is_right_in_every_look(watched.page, address)


def test_a_period_that_does_not_come_says_so_and_is_asked_for_again(enter: Enter, ulm: Fleet) -> None:
    watched = enter(f"/?v=availability&site={ulm.site}")
    page = watched.page
    expect(page.get_by_role("table")).to_contain_text("100 %")
    watched.expect_answer(503, "/api/availability/site")
    page.route("**/api/availability/site*", lambda route: route.fulfill(status=503, body="{}"))
    page.get_by_role("combobox", name="Period").select_option(index=2)
    expect(page.get_by_role("alert")).to_contain_text("The availability could not be loaded.")
    page.unroute("**/api/availability/site*")

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("table")).to_contain_text("100 %")
    expect(page.get_by_role("alert")).to_have_count(0)
