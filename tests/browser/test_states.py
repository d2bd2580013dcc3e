"""Every view while nothing has loaded, when loading fails, and when there is nothing: three different texts."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, online_display, uuid_of
from tests.browser.watched import API, FLEET, WatchedPage
from tests.stack import Stack

# Each list of a view: its address, its text when it is empty and when loading failed, and how it is retried.
AGAIN = "Try again"
BY_ITSELF = "Trying again automatically."
LISTS = {
    "logs": ("/?v=logs&hours=1", "No errors in this time.", "The logs could not be loaded.", AGAIN),
    "logs of one": ("/?v=logs&c={uuid}", "No log matches.", "The logs could not be loaded.", AGAIN),
    "incidents": ("/?v=incidents&which=closed", "No incident", "The incidents could not be loaded.", AGAIN),
    "batches": ("/?v=batches", "No bulk command has been sent.", "The bulk commands could not be loaded.", AGAIN),
    "conversions": ("/?v=conversions", "Nothing has been uploaded yet.", "The list of media could not be", AGAIN),
    "settings": ("/?v=settings", "Nothing matches.", "The state of the service could not be loaded.", BY_ITSELF),
    "commands": ("/?d={uuid}&tab=commands", "No command has been sent", "The commands could not be loaded.", AGAIN),
    "events": ("/?d={uuid}&tab=events", "Nothing has happened", "The events could not be loaded.", AGAIN),
    "uptime": ("/?d={uuid}", "Never crashed, never silent", "The uptime could not be loaded.", BY_ITSELF),
}


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display that is known to run; nothing else about it is known."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        yield online


def fail_all_but(page: Page, passed: str, status: int = 502) -> None:
    """Let the API fail with an answer in HTML, except where `passed` matches."""

    def answer(route: Route) -> None:
        if re.search(passed, route.request.url):
            route.continue_()
        else:
            route.fulfill(status=status, body="<html>")

    page.route(API, answer)


def follow_failing(watched: WatchedPage, address: str) -> None:
    """Go from the fleet to a view of which only the frame loads."""
    watched.follow("/")
    expect(watched.page.get_by_role("complementary")).to_have_count(0)  # the previous panel
    expect(watched.page.get_by_role("heading", name=FLEET, level=1)).to_be_visible()
    fail_all_but(watched.page, "/api/session|/overview")
    watched.follow(address)


def test_a_view_that_does_not_come_says_so_and_what_to_do_and_never_looks_empty(
    enter: Enter, display: SimulatedDisplay
) -> None:
    watched = enter()
    page = watched.page
    watched.expect_answer(502, "/api/")
    for address, empty, failed, way_on in LISTS.values():
        follow_failing(watched, address.format(uuid=uuid_of(display)))
        note = page.get_by_role("alert").filter(has_text=failed).first
        expect(note).to_be_visible()
        expect(note).to_contain_text("The service does not answer" if way_on == AGAIN else "")
        expect(note).to_contain_text(way_on)
        expect(page.get_by_text(empty)).to_have_count(0)

        button = note.get_by_role("button", name=AGAIN)
        if way_on == AGAIN:
            button.click(trial=True)
        page.unroute(API)
        if way_on == AGAIN:
            button.evaluate_all("found => found.forEach((one) => one.click())")  # or the view has just asked by itself
        else:
            watched.look_again()
        expect(page.get_by_role("alert").filter(has_text=failed)).to_have_count(0)


def test_a_fleet_that_was_never_answered_is_no_empty_fleet(enter: Enter, display: SimulatedDisplay) -> None:
    watched = enter()
    page = watched.page
    watched.expect_answer(502, "/api/")
    fail_all_but(page, "/api/session")
    watched.open()

    expect(page.get_by_role("alert")).to_contain_text("The service does not answer. Trying again automatically.")
    expect(page.get_by_text("Nothing is known about the displays yet.")).to_be_visible()
    expect(page.get_by_text("No displays yet")).to_have_count(0)
    page.unroute(API)
    watched.look_again()
    expect(page.locator(f"tbody tr:has-text('{uuid_of(display)[:8]}')")).to_be_visible()


def test_a_placeholder_stands_for_what_is_slow_only_after_a_second(enter: Enter, display: SimulatedDisplay) -> None:
    watched = enter()
    page = watched.page
    watched.change_clock()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/api/(monitoring|client-logs)/"), hold)
    watched.open("/?v=logs")
    page.get_by_role("heading", name="Recent errors").wait_for()
    watched.stop_clock()
    page.get_by_role("link", name="Fleet").click()
    expect(page.locator(".loading")).to_have_count(1)

    page.clock.run_for(900)
    expect(page.locator(".skeleton")).to_have_count(0)
    page.clock.run_for(200)
    expect(page.locator(".skeleton")).to_have_count(6)
    expect(page.locator("[aria-busy=true]").get_by_role("status")).to_have_text("Loading…")
    page.clock.resume()
    for route in held:
        route.continue_()
    page.unroute(re.compile("/api/(monitoring|client-logs)/"))
    expect(page.locator(f"tbody tr:has-text('{uuid_of(display)[:8]}')")).to_be_visible()


@pytest.mark.parametrize("status", [429, 500])
def test_too_many_tries_count_down_and_a_service_in_trouble_is_no_wrong_password(
    dashboard: WatchedPage, status: int
) -> None:
    page = dashboard.open()
    dashboard.expect_answer(status, "/api/session$")
    page.route("**/api/session", lambda route: route.fulfill(status=status, headers={"Retry-After": "75"}, body=""))

    dashboard.fill_sign_in("any password")

    button = page.get_by_role("button", name="Sign in", exact=True)
    if status == 429:
        expect(page.get_by_role("alert")).to_have_text(re.compile(r"Too many failed attempts\. Try again in 1:1\d\."))
        expect(button).to_be_disabled()
    else:
        expect(page.get_by_role("alert")).to_have_text("The service does not answer. Try again in a moment.")
        expect(button).to_be_enabled()
