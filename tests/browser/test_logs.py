"""The logs of the fleet: which displays log most, all lines of one display, every filter in the address."""

import re

from playwright.sync_api import Page, Route, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, uuid_of
from tests.stack import Api, eventually

NARROW = {"width": 390, "height": 700}


def lines_of(api: Api, display: SimulatedDisplay, count: int) -> None:
    """Wait until that many lines of this display are stored."""
    path = f"/api/client-logs/{uuid_of(display)}/logs"
    eventually(lambda: len(api.get(path, params={"limit": 1000})["items"]) == count, f"{count} lines")


def test_the_explorer_goes_from_fleet_to_display_and_its_address_brings_it_back(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    for level, message in (("error", "screen went dark"), ("warning", "disk is filling"), ("info", "<b>bold</b>")):
        display.log(level, message)
    lines_of(api, display, 3)
    dashboard = enter("/?v=logs")
    page = dashboard.page
    expect(page.locator(".log").filter(has_text=name_of(display))).to_contain_text("screen went dark")

    page.get_by_label("Search display").fill(name_of(display))
    page.get_by_role("button", name=re.compile(name_of(display) + ".*1 error")).click()

    expect(page.get_by_role("heading", name=f"Logs of {name_of(display)}")).to_be_visible()
    expect(page.locator(".log")).to_have_count(3)
    page.get_by_role("button", name="Warning 1").click()
    expect(page.locator(".log")).to_have_count(1)
    expect(page.locator(".log")).to_contain_text("disk is filling")
    again = dashboard.open(page.url.removeprefix(dashboard.stack.url))
    expect(again.locator(".log")).to_have_count(1)
    again.get_by_role("button", name="Warning 1").click()
    expect(again.locator(".log").filter(has_text="<b>bold</b>")).to_have_count(1)
    again.get_by_role("button", name="All displays").click()
    expect(again.get_by_role("heading", name="Recent errors")).to_be_visible()


def test_the_site_of_a_display_is_shown_once_it_is_known(enter: Enter, display: SimulatedDisplay, api: Api) -> None:
    display.log("error", "screen went dark")
    lines_of(api, display, 1)
    api.call("PATCH", f"/api/clients/{uuid_of(display)}", json={"site": "Shop with logs"})
    dashboard = enter("/")
    page, held = dashboard.page, list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/monitoring/overview*", hold)
    page.goto(f"{dashboard.stack.url}/?v=logs")
    line = page.locator(".log").filter(has_text=name_of(display))
    expect(line).to_contain_text("screen went dark")
    who = page.locator(".who-row").filter(has_text=name_of(display))
    expect(who).to_be_visible()
    expect(page.get_by_text("Shop with logs")).to_have_count(0)
    page.route("**/api/client-logs/**", lambda _: None)  # so that nothing else shows them anew

    page.unroute("**/api/monitoring/overview*")
    for one in held:
        one.continue_()

    expect(line).to_contain_text("Shop with logs")
    expect(who).to_contain_text("Shop with logs")


def scroll_to_the_end(page: Page) -> None:
    page.evaluate("scrollTo(0, document.body.scrollHeight)")


def test_the_live_tail_pauses_while_somebody_reads_further_down(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    for number in range(40):
        display.log("info", f"line {number:02}")
    lines_of(api, display, 40)
    watched = enter(f"/?v=logs&c={uuid_of(display)}", viewport=NARROW)
    page = watched.page
    lines = page.locator(".log")
    expect(lines).to_have_count(40)

    scroll_to_the_end(page)
    display.log("info", "one more")
    lines_of(api, display, 41)
    watched.look_again()

    expect(page.get_by_role("button", name="Show 1 newer line")).to_be_attached()
    expect(lines).to_have_count(40)
    page.evaluate("scrollTo(0, 0)")
    watched.look_again()
    expect(lines.first).to_contain_text("one more")
    expect(lines).to_have_count(41)
