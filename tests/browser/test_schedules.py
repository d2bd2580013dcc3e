"""Commands for later: planned from a selection or for a site, shown where they will happen, cancelled in one click."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, text

from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.stack import Api, eventually

PLANNED = "Scheduled commands"


@pytest.fixture
def shop(database: Engine) -> Iterator[Fleet]:
    """Twelve displays at one site."""
    with inserted(database, "Basel", 12) as fleet:
        yield fleet
        with database.begin() as connection:
            connection.execute(text("DELETE FROM command_schedules"))


def planned(api: Api) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get("/api/schedules?current=true")["items"]
    return items


def open_later(page: Page, number: int) -> None:
    """Select so many displays of the shop and choose Later."""
    boxes = page.get_by_role("table").get_by_role("checkbox")
    for place in range(1, number + 1):
        boxes.nth(place).check()
    page.get_by_role("region", name="Selected displays").get_by_role("button", name="Later…").click()


def test_a_weekly_restart_of_chosen_displays_is_planned_shown_and_cancelled(
    enter: Enter, shop: Fleet, api: Api
) -> None:
    page = enter(f"/?q={shop.site}", timezone_id="Asia/Tokyo").page
    open_later(page, 2)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Plan commands for 2 displays")
    dialog.get_by_label(re.compile("^When")).select_option("weekly")
    dialog.get_by_label("Sun").check()
    dialog.get_by_label("At", exact=True).fill("03:00")
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    dialog.get_by_label("Reason").fill("nightly")
    dialog.get_by_role("button", name="Plan it").click()

    expect(dialog.get_by_role("status")).to_have_text(
        re.compile(r"^Planned. Next: Sunday \d+ \w+ \d{4}, 03:00 Europe/Berlin\.$")
    )
    [made] = planned(api)
    assert (made["weekdays"], made["named"], made["reason"]) == (["sunday"], 2, "nightly")
    dialog.get_by_role("button", name="Close").last.click()
    uuid = api.get(f"/api/schedules/{made['id']}")["clients"][0]
    page.goto(f"{page.url.split('/?')[0]}/?d={uuid}")
    box = page.get_by_role("region", name=PLANNED)
    expect(box).to_contain_text("Restart player: 2 displays")
    expect(box).to_contain_text("Next: Sunday")
    expect(box).to_contain_text("In your zone: ")
    expect(box).to_contain_text("every Sun 03:00 Europe/Berlin · by")

    box.get_by_role("button", name="Cancel: Restart player: 2 displays").click()

    expect(box.get_by_role("status")).to_have_text("Cancelled: Restart player: 2 displays will not happen.")
    expect(box.get_by_role("button", name="Cancel")).to_have_count(0)
    assert planned(api) == []


def test_a_reboot_of_a_site_is_planned_once_in_the_readers_zone_and_listed(enter: Enter, shop: Fleet, api: Api) -> None:
    page = enter("/?v=batches", timezone_id="America/New_York").page
    region = page.get_by_role("region", name=PLANNED)
    expect(region).to_contain_text("Nothing is planned.")
    region.get_by_role("button", name="Plan commands").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What").select_option("reboot_host")
    dialog.get_by_label("For").select_option(f"site:{shop.site}")
    day = (datetime.now(UTC) + timedelta(days=3)).date()
    dialog.get_by_label("At (time in America/New_York)").fill(f"{day}T04:30")
    dialog.get_by_role("button", name="Plan it").click()
    expect(dialog.get_by_role("status")).to_contain_text("04:30 America/New_York")
    dialog.get_by_role("button", name="Close").last.click()

    row = region.get_by_role("listitem")
    expect(row).to_contain_text(f"Reboot: Site {shop.site}")
    expect(row).to_contain_text("Planned")
    [made] = planned(api)
    assert (made["filter"], made["waves"]) == ({"site": shop.site}, [1, "10%", "rest"])
    row.get_by_role("button", name="Cancel").click()
    expect(region.get_by_role("status")).to_contain_text("will not happen.")
    expect(region).to_contain_text("Nothing is planned.")
    region.get_by_role("button", name="Show those that are over").click()
    expect(region.get_by_role("listitem")).to_contain_text("Cancelled by ")


def test_a_schedule_is_changed_in_a_form_that_keeps_what_is_not_changed(enter: Enter, shop: Fleet, api: Api) -> None:
    later = (datetime.now(UTC) + timedelta(days=3)).replace(hour=2, minute=0, second=0, microsecond=0).isoformat()
    facts = {"action": "restart_app", "filter": {"site": shop.site}, "time_zone": "Europe/Berlin"}
    weekly = api.post("/api/schedules", {**facts, "weekdays": ["sunday"], "local_time": "03:00"}, 201)
    once = api.post("/api/schedules", {**facts, "action": "reboot_host", "at": later}, 201)
    page = enter("/?v=batches").page
    dialog = page.get_by_role("dialog")

    page.get_by_role("button", name=f"Change: Restart player: Site {shop.site}").click()
    expect(dialog.get_by_label("Sun")).to_be_checked()
    dialog.get_by_label("Mon").check()
    dialog.get_by_label("At", exact=True).fill("04:30")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile(r"Changed\. Next: \w+ \d+ \w+ \d{4}, 04:30 Europe/Berlin"))).to_be_visible()
    page.get_by_role("button", name=f"Change: Reboot: Site {shop.site}").click()
    dialog.get_by_label("Reason").fill("after the delivery")
    dialog.get_by_label(re.compile("^In waves")).check()
    dialog.get_by_role("button", name="Save").click()
    expect(page.locator("li.token").filter(has_text="Reboot")).to_contain_text("after the delivery")

    after = {one["id"]: one for one in planned(api)}
    assert (after[weekly["id"]]["weekdays"], after[weekly["id"]]["local_time"]) == (["monday", "sunday"], "04:30")
    assert after[weekly["id"]]["time_zone"] == "Europe/Berlin"
    assert (after[once["id"]]["at"], after[once["id"]]["reason"]) == (once["at"], "after the delivery")
    assert (after[weekly["id"]]["waves"], after[once["id"]]["waves"]) == (["rest"], [1, "10%", "rest"])


def test_what_was_missed_is_said_in_the_list(enter: Enter, shop: Fleet, api: Api, database: Engine) -> None:
    body = {"action": "restart_app", "filter": {"site": shop.site}, "time_zone": "UTC"}
    at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    made = api.post("/api/schedules", {**body, "at": at}, 201)
    with database.begin() as connection:
        ago = "now() - interval '25 minutes'"
        come = text(f"UPDATE command_schedules SET at = {ago}, next_at = {ago} WHERE id = :id")
        connection.execute(come, {"id": made["id"]})

    eventually(lambda: made["id"] not in [one["id"] for one in planned(api)], "the tick that misses it")

    page = enter("/?v=batches").page
    region = page.get_by_role("region", name=PLANNED)
    region.get_by_role("button", name="Show those that are over").click()
    row = region.get_by_role("listitem").filter(has_text=f"Site {shop.site}").filter(has_text="Missed")
    expect(row).to_contain_text("The scheduler was away: it came 25 minutes too late.")
    expect(row.get_by_role("button", name="Cancel")).to_have_count(0)


def test_more_than_ten_have_to_be_typed_and_a_week_needs_a_day(enter: Enter, shop: Fleet, api: Api) -> None:
    page = enter(f"/?q={shop.site}").page
    open_later(page, 12)
    dialog = page.get_by_role("dialog")
    dialog.get_by_label(re.compile("^When")).select_option("weekly")
    dialog.get_by_label("At", exact=True).fill("03:00")
    expect(dialog.get_by_label("In waves")).to_be_checked()
    dialog.get_by_role("button", name="Plan it").click()
    dialog.get_by_label("Mon").check()
    dialog.get_by_label("Type 12 to continue").fill("11")
    dialog.get_by_role("button", name="Plan it").click()
    expect(dialog.get_by_label("Type 12 to continue")).to_be_visible()
    assert planned(api) == []

    dialog.get_by_label("Type 12 to continue").fill("12")
    dialog.get_by_role("button", name="Plan it").click()

    expect(dialog.get_by_role("status")).to_contain_text("Next: Monday")
    assert [one["named"] for one in planned(api)] == [12]
