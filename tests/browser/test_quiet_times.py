"""Quiet times: on their page, in the panel, on rows and in the banner, and what a command to a quiet display says."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, ViewportSize, expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from shared.vocabulary import Role
from tests.browser.conftest import Enter, name_of, row_name, uuid_of
from tests.browser.fleets import Fleet, inserted
from tests.browser.people import session_with_role
from tests.browser.watched import does_not_scroll_sideways
from tests.stack import Api, Stack

PAGE: Final = "/?v=quiet"
SHOP: Final = "Shop Ulm"
DISPLAYS: Final = 3
PHONE: Final = ViewportSize(width=390, height=844)
NEXT_YEAR: Final = datetime.now(UTC).year + 1
TOMORROW: Final = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}"
"""In every zone of the world a time to come."""
LOOKS_BACK: Final = sa.text(
    "UPDATE quiet_times SET starts_at = starts_at - interval '3 days', created_at = created_at - interval '3 days'"
    " WHERE id = :id"
)

EXISTED_BEFORE: Final = sa.text("UPDATE clients SET created_at = created_at - interval '2 days' WHERE uuid = :uuid")


@pytest.fixture(scope="module")
def shop(database: Engine) -> Iterator[Fleet]:
    with inserted(database, SHOP, DISPLAYS) as fleet:
        yield fleet


@pytest.fixture(autouse=True)
def nothing_stays_quiet(api: Api) -> Iterator[None]:
    """Whatever a test made quiet ends with it."""
    yield
    for time in api.get("/api/quiet-times?current=true&limit=100")["items"]:
        api.call("DELETE", f"/api/quiet-times/{time['id']}", 204)


def row_of(page: Page, text: str) -> Locator:
    """The quiet time on the page of quiet times that says this."""
    return page.locator("li.token").filter(has_text=text)


def in_table(page: Page, name: str) -> Locator:
    return page.locator("tbody tr").filter(has=page.get_by_role("button", name=name, exact=True))


def make(api: Api, **body: Any) -> dict[str, Any]:
    made: dict[str, Any] = api.post("/api/quiet-times", body, 201)
    return made


def make_maintenance(api: Api, **more: Any) -> dict[str, Any]:
    """Maintenance of the shop for three hours."""
    ends_at = f"{datetime.now(UTC) + timedelta(hours=3):%Y-%m-%dT%H:%M:%SZ}"
    return make(api, preset="maintenance", scope="site", site=SHOP, ends_at=ends_at, reason="New panels", **more)


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until it has the focus."""
    for _ in range(60):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {wanted}")


def test_maintenance_of_a_shop_is_on_its_rows_and_in_the_banner_until_it_is_ended(
    enter: Enter, shop: Fleet, api: Api
) -> None:
    watched = enter(PAGE)
    page = watched.page
    page.get_by_role("button", name="Add a quiet time").click()
    dialog = page.get_by_role("dialog", name="Add a quiet time")
    dialog.get_by_role("radio", name="Maintenance").check()
    dialog.get_by_label("Site", exact=True).fill(SHOP)
    expect(dialog.get_by_role("status")).to_have_text("Say until when.")
    dialog.get_by_label("Until", exact=True).fill(TOMORROW)
    dialog.get_by_label("Reason (optional)").fill("New panels")
    expect(dialog.get_by_role("status")).to_contain_text(f"wait for {SHOP} ({DISPLAYS} displays), from now until")
    dialog.get_by_role("button", name="Make it quiet").click()

    row = row_of(page, SHOP)
    expect(row).to_contain_text("On now")
    expect(row).to_contain_text("(New panels): no automatic restarts, no messages, batches wait.")
    expect(row).to_contain_text(f"{DISPLAYS} displays")
    banner = page.get_by_role("status").filter(has_text=f"{SHOP}: in maintenance until")
    expect(banner).to_contain_text(", by admin (New panels)")

    watched.follow(f"/?q={SHOP}")
    rows = page.locator("tbody tr:not(.spacer)")
    for n in range(1, DISPLAYS + 1):
        expect(in_table(page, shop.row_name(n))).to_contain_text(
            re.compile(r"In maintenance until .*\d\d:\d\d, by admin")
        )
    assert {round(one.bounding_box()["height"]) for one in rows.all()} == {44}  # type: ignore[index]  # all are shown
    desk = page.viewport_size
    page.set_viewport_size(PHONE)
    below = in_table(page, shop.row_name(1)).locator(".below")
    expect(below).to_be_visible()
    assert "In maintenance until" in below.evaluate("element => getComputedStyle(element, '::after').content")
    assert {round(one.bounding_box()["height"]) for one in rows.all()} == {44}  # type: ignore[index]
    assert does_not_scroll_sideways(page)
    page.set_viewport_size(desk or PHONE)
    banner.get_by_role("button", name=f"End the maintenance of {SHOP}").click()
    question = page.get_by_role("dialog", name="End this quiet time?")
    expect(question).to_contain_text(f"for all {DISPLAYS} displays")
    question.get_by_role("button", name="End it").click()

    expect(banner).to_have_count(0)
    expect(in_table(page, shop.row_name(1))).not_to_contain_text("In maintenance")
    [ended] = api.get("/api/quiet-times?current=false&preset=maintenance&limit=1")["items"]
    assert (ended["site"], ended["state"], ended["ended_by"]) == (SHOP, "ended", "user:admin")
    watched.follow(f"{PAGE}&which=past")
    expect(row_of(page, SHOP).first).to_contain_text("ended by admin")


def test_opening_hours_of_two_intervals_a_day_in_another_zone_are_added_and_changed(
    enter: Enter, shop: Fleet, api: Api
) -> None:
    page = enter(PAGE).page
    page.get_by_role("button", name="Add a quiet time").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Opening hours").check()
    dialog.get_by_label("Site", exact=True).fill(shop.site)
    expect(dialog.get_by_role("status")).to_have_text("Give at least one day its hours.")
    dialog.get_by_role("button", name="Add times on Monday").click()
    dialog.get_by_label("Monday, times 1, to").fill("13:00")
    dialog.get_by_role("button", name="Add times on Monday").click()
    dialog.get_by_label("Monday, times 2, from").fill("15:00")
    dialog.get_by_label("Monday, times 2, to").fill("19:30")
    dialog.get_by_role("button", name="Monday's times to Tuesday–Friday").click()
    dialog.get_by_role("button", name="Remove times 2 of Friday").click()
    zone = dialog.get_by_label("Time zone of these hours")
    expect(zone.locator("option").first).to_contain_text("(your own)")
    zone.select_option("Asia/Tokyo")
    week = "Mon–Thu 09:00–13:00 and 15:00–19:30, Fri 09:00–13:00"
    expect(dialog.get_by_role("status")).to_contain_text(f"outside of {week} (Asia/Tokyo).")
    dialog.get_by_role("button", name="Make it quiet").click()

    row = row_of(page, shop.site)
    expect(row).to_contain_text(f"Open {week} (Asia/Tokyo)")
    [made] = api.get("/api/quiet-times?current=true&preset=opening_hours")["items"]
    assert [(span["from"], span["to"], len(span["days"])) for span in made["hours"]] == [
        ("09:00", "13:00", 5),
        ("15:00", "19:30", 4),
    ]
    row.get_by_role("button", name="Change opening hours").click()
    dialog.get_by_role("button", name="Add times on Saturday").click()
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Sat 09:00–18:00")
    expect(row).to_have_count(1)


def test_opening_hours_that_exist_are_said_at_the_site_and_changed_instead(enter: Enter, shop: Fleet, api: Api) -> None:
    hours = [{"days": ["monday"], "from": "09:00", "to": "12:00"}]
    make(api, preset="opening_hours", scope="site", site=shop.site, time_zone="Europe/Rome", hours=hours)
    watched = enter(PAGE)
    watched.expect_answer(409, "/api/quiet-times$")
    page = watched.page
    page.get_by_role("button", name="Add a quiet time").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Opening hours").check()
    site = dialog.get_by_label("Site", exact=True)
    site.fill(shop.site)
    dialog.get_by_role("button", name="Add times on Sunday").click()
    dialog.get_by_role("button", name="Make it quiet").click()

    expect(site).to_have_attribute("aria-invalid", "true")
    dialog.get_by_role("button", name="Change those").click()
    dialog.get_by_role("button", name="Save").click()
    expect(row_of(page, shop.site)).to_contain_text("Open Sun 09:00–18:00")


def test_a_display_is_held_in_its_panel_and_a_command_says_what_it_cuts_through(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    name = name_of(display)
    watched = enter(f"/?d={uuid_of(display)}")
    page = watched.page
    box = page.get_by_role("complementary").get_by_role("region", name="Quiet times")
    expect(box).to_contain_text("Nothing is quiet for this display now.")
    box.get_by_role("button", name="Hold…").click()
    dialog = page.get_by_role("dialog", name="Hold")
    expect(dialog).to_contain_text(name)
    lengths = dialog.get_by_label("For how long").locator("option").all_inner_texts()
    assert lengths == ["1 hour", "4 hours", "24 hours", "Until somebody ends it", "Until a time…"]
    dialog.get_by_label("For how long").select_option("4 hours")
    dialog.get_by_label("Reason").fill("I work on it")
    expect(dialog.get_by_role("status")).to_contain_text(f"No automatic restarts for {name}, from now until")
    dialog.get_by_role("button", name="Make it quiet").click()

    expect(box).to_contain_text("(I work on it): no automatic restarts.")
    watched.look_until(
        lambda: in_table(page, row_name(display)).get_by_text("Held until").is_visible(), "the hold on the row"
    )
    page.get_by_role("button", name="Restart player").click()
    question = page.get_by_role("dialog", name="Restart the player in a quiet time?")
    expect(question).to_contain_text(re.compile(r"goes through a quiet time: Held until .*, by admin \(I work on it\)"))
    question.get_by_role("button", name="Restart now").click()
    order = page.locator(".order")
    expect(order).to_contain_text("It goes although the display is on hold")

    box.get_by_role("button", name="End hold of").click()
    expect(box).to_contain_text("Nothing is quiet for this display now.")
    assert api.get(f"/api/clients/{uuid_of(display)}/quiet-times")["items"] == []


def test_a_time_that_does_not_fit_is_said_beside_its_field_and_what_was_typed_stays(enter: Enter, shop: Fleet) -> None:
    watched = enter(PAGE)
    watched.expect_answer(422, "/api/quiet-times$")
    page = watched.page
    page.get_by_role("button", name="Add a quiet time").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Site", exact=True).fill(shop.site)
    dialog.get_by_label("From (empty: now").fill(f"{NEXT_YEAR}-01-02T06:00")
    until = dialog.get_by_label("Until", exact=True)
    until.fill(f"{NEXT_YEAR}-01-01T06:00")
    dialog.get_by_role("button", name="Make it quiet").click()

    expect(until).to_have_attribute("aria-invalid", "true")
    expect(until).to_be_focused()
    expect(page.locator("#quiet-error-ends")).to_have_text("The end must be after the start.")
    expect(dialog.get_by_label("Site", exact=True)).to_have_value(shop.site)
    until.fill(f"{NEXT_YEAR}-01-02T09:00")
    dialog.get_by_role("button", name="Make it quiet").click()
    expect(row_of(page, shop.site)).to_contain_text("Planned")


def test_an_answer_that_was_lost_makes_nothing_twice(enter: Enter, shop: Fleet, api: Api) -> None:
    watched = enter(PAGE)
    page = watched.page
    page.get_by_role("button", name="Add a quiet time").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Snooze").check()
    dialog.get_by_label("Site", exact=True).fill(shop.site)
    watched.expect_answer(502, "/api/quiet-times$")

    def lose(route: Any) -> None:
        assert route.fetch().status == 201
        route.fulfill(status=502, body="a gateway's own page")

    page.route("**/api/quiet-times", lose, times=1)
    dialog.get_by_role("button", name="Make it quiet").click()
    expect(dialog.get_by_role("alert")).to_contain_text("The service does not answer.")
    dialog.get_by_role("button", name="Make it quiet").click()

    expect(dialog).to_have_count(0)
    assert len(api.get("/api/quiet-times?current=true&preset=snooze")["items"]) == 1


def test_two_tabs_show_the_same_and_either_ends_it(enter: Enter, shop: Fleet, api: Api) -> None:
    first, second = enter(PAGE), enter(PAGE)
    made = make_maintenance(api)
    for one in (first, second):
        one.look_until(row_of(one.page, shop.site).is_visible, "the maintenance in both tabs")

    row_of(first.page, shop.site).get_by_role("button", name="Change maintenance").click()
    row_of(second.page, shop.site).get_by_role("button", name="End maintenance").click()
    second.page.get_by_role("dialog").get_by_role("button", name="End it").click()
    expect(row_of(second.page, shop.site)).to_have_count(0)
    first.look_until(lambda: row_of(first.page, shop.site).count() == 0, "its end in the other tab")
    first.expect_answer(409, f"/api/quiet-times/{made['id']}$")
    dialog = first.page.get_by_role("dialog")
    dialog.get_by_label("Reason (optional)").fill("Too late")
    dialog.get_by_role("button", name="Save").click()

    expect(dialog.get_by_role("alert")).to_contain_text("over")
    expect(first.page.locator(".banner-quiet")).to_have_count(0)


def test_many_displays_are_snoozed_from_the_bar_of_the_selection(enter: Enter, shop: Fleet, api: Api) -> None:
    page = enter(f"/?q={SHOP}").page
    for n in (1, 2):
        page.get_by_label(f"Select {shop.row_name(n)}", exact=True).check()
    page.get_by_role("region", name="Selected displays").get_by_role("button", name="Quiet time…").click()
    dialog = page.get_by_role("dialog", name="Add a quiet time")
    expect(dialog).to_contain_text("2 displays")
    expect(dialog.get_by_role("radio", name="Opening hours")).to_have_count(0)
    dialog.get_by_role("radio", name="Snooze").check()
    dialog.get_by_role("button", name="Make it quiet").click()

    expect(in_table(page, shop.row_name(1))).to_contain_text("Snoozed until")
    expect(in_table(page, shop.row_name(3))).not_to_contain_text("Snoozed")
    [made] = api.get("/api/quiet-times?current=true")["items"]
    assert sorted(made["clients"]) == sorted(shop.uuids[:2])


def test_a_bulk_command_says_how_many_wait_for_the_end_of_a_quiet_time(enter: Enter, shop: Fleet, api: Api) -> None:
    make_maintenance(api)
    page = enter(f"/?q={SHOP}").page
    expect(in_table(page, shop.row_name(1))).to_contain_text("In maintenance")
    page.get_by_role("checkbox", name="Select all listed displays").check()
    page.get_by_role("region", name="Selected displays").get_by_role("button", name="Reboot…").click()

    expect(page.get_by_role("dialog")).to_contain_text(f"{DISPLAYS} displays are in a quiet time")


def test_a_viewer_sees_what_is_quiet_and_ends_nothing(
    enter: Enter, stack: Stack, database: Engine, shop: Fleet, api: Api
) -> None:
    make_maintenance(api)
    watched = enter(PAGE, storage_state=session_with_role(stack, database, "vic", Role.VIEWER))
    page = watched.page

    expect(row_of(page, shop.site)).to_contain_text("On now")
    expect(page.locator(".banner-quiet")).to_contain_text(shop.site)
    watched.follow(f"/?d={shop.uuid(1)}")
    box = page.get_by_role("complementary").get_by_role("region", name="Quiet times")
    expect(box).to_contain_text("(New panels): no automatic restarts, no messages, batches wait.")
    for name in ("Add a quiet time", "Hold…", "Snooze…", "Leave out…", re.compile("^(End|Change) ")):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_a_quiet_time_is_made_and_ended_without_a_mouse(enter: Enter, shop: Fleet, api: Api) -> None:
    page = enter("/").page
    page.keyboard.press("g")
    page.keyboard.press("q")
    expect(page.get_by_role("heading", name="Quiet times")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Add a quiet time"))
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="Maintenance")).to_be_focused()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(dialog.get_by_role("radio", name="Leave out")).to_be_checked()
    tab_to(page, dialog.get_by_label("Site", exact=True))
    page.keyboard.type(shop.site)
    tab_to(page, dialog.get_by_label("Reason"))
    page.keyboard.type("Test devices")
    page.keyboard.press("Enter")

    row = row_of(page, shop.site)
    expect(row).to_contain_text("(Test devices)")
    tab_to(page, row.get_by_role("button", name="End leave out"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_contain_text(f"for all {DISPLAYS} displays")
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name="End it"))
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)
    assert api.get("/api/quiet-times?current=true")["items"] == []


def test_closed_hours_stand_apart_in_the_bar_of_a_display_and_do_not_count(
    enter: Enter, display: SimulatedDisplay, database: Engine, api: Api
) -> None:
    hours = [{"days": [f"{datetime.now(UTC) + timedelta(days=3):%A}".lower()], "from": "09:00", "to": "09:01"}]
    made = make(api, preset="opening_hours", scope="site", site="Berlin", time_zone="UTC", hours=hours)
    with database.begin() as connection:
        connection.execute(LOOKS_BACK, {"id": made["id"]})
        connection.execute(EXISTED_BEFORE, {"uuid": uuid_of(display)})
    watched = enter(f"/?d={uuid_of(display)}")
    page = watched.page

    uptime = page.get_by_role("region", name="Uptime")
    expect(uptime).to_contain_text("which does not count.")
    expect(uptime.locator(".strip-closed").first).to_be_attached()
    watched.look_until(
        lambda: in_table(page, row_name(display)).get_by_text("Closed until").is_visible(), "the closed shop on its row"
    )


def test_the_old_places_lead_to_the_quiet_times(enter: Enter) -> None:
    watched = enter("/?v=incidents")
    page = watched.page
    for address in ("/?v=incidents", "/?v=settings"):
        watched.follow(address)
        page.get_by_role("main").get_by_role("link", name="quiet times").click()
        expect(page.get_by_role("heading", name="Quiet times", level=1)).to_be_visible()


def test_the_form_of_weekly_hours_fits_the_smallest_window(enter: Enter, shop: Fleet) -> None:
    page = enter(PAGE, viewport={"width": 320, "height": 640}).page
    page.get_by_role("button", name="Add a quiet time").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Opening hours").check()
    dialog.get_by_label("Site", exact=True).fill(shop.site)
    for _ in range(2):
        dialog.get_by_role("button", name="Add times on Wednesday").click()

    assert does_not_scroll_sideways(page)
    assert dialog.evaluate("element => element.scrollWidth <= element.clientWidth")
    expect(dialog.get_by_role("status")).to_contain_text("Wed 09:00–18:00 and 19:00–23:00")
