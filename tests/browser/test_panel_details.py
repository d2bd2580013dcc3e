"""Details of the display's panel: a lost answer, a counting age, a copied uuid, and the size of what is pressed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, OpenPage, name_of, online_display, uuid_of
from tests.browser.people import SessionState
from tests.browser.watched import API
from tests.browser.windows import Opened
from tests.stack import Api, Stack, eventually

TRIES = 6  # how often the page asks for one command
LONGEST_WAIT_MS = 15_000
# Pressable elements with less than 32 pixels of height or width; links within a sentence may be smaller.
TOO_SMALL = """() => [...document.querySelectorAll('button, a.button, nav a, summary, select, input, [role=tab]')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('.visually-hidden, p, .pick'))
  .filter((one) => !one.matches('.visually-hidden, .check input'))
  .map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
  .filter(([, box]) => box.height > 0 && (box.height < 31.5 || box.width < 23.5))
  .map(([text, box]) => `${box.width} x ${box.height} ${text}`)"""


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all tests of this file; it carries out commands."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        online.behave(automatic=True)
        yield online


def test_a_command_whose_answer_was_lost_is_asked_for_again_and_sent_once(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    page = enter(f"/?d={uuid_of(display)}").page
    keys = []

    def lose_the_first_answer(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) > 1:
            route.continue_()
            return
        assert route.fetch().status == 202
        route.abort()

    page.route("**/commands", lose_the_first_answer)
    page.get_by_role("button", name="Restart player").click()

    expect(page.get_by_text("asking again with the same key, so it cannot run twice")).to_be_visible()
    expect(page.locator(".step.reached").filter(has_text="Succeeded")).to_be_visible()
    assert len(keys) == 2
    assert len(set(keys)) == 1
    assert len(api.get(f"/api/clients/{uuid_of(display)}/commands")["items"]) == 1


def test_a_command_that_nobody_answers_for_shows_once_the_service_answers_again(
    open_page: OpenPage, opened: Opened, admin_session: SessionState, api: Api, tmp_path: Path
) -> None:
    """The first request succeeded, but its answer was lost; the page stops retrying and finds the command by itself."""
    with online_display(api, tmp_path / "lost") as lost:
        lost.behave(answers_commands=False)
        watched = open_page(storage_state=admin_session)
        page = watched.page
        watched.change_clock()
        watched.open(f"/?d={uuid_of(lost)}")
        expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
        asked = []

        def take_and_say_nothing(route: Route) -> None:
            if route.request.method == "POST":
                asked.append(route.request.headers["idempotency-key"])
                if len(asked) == 1:
                    assert route.fetch().status == 202
            route.abort()

        page.route(API, take_and_say_nothing)
        page.get_by_role("button", name="Restart player").click()
        expect(page.get_by_text("asking again with the same key")).to_be_visible()
        given_up = page.get_by_text("The service did not answer. Whether it took the command shows here")

        def waits_in_vain() -> bool:
            page.clock.fast_forward(LONGEST_WAIT_MS)
            return given_up.is_visible()

        eventually(waits_in_vain, "the end of its patience")
        assert (len(asked), len(set(asked))) == (TRIES, 1)
        expect(page.get_by_role("button", name="Send again")).to_be_visible()

        page.unroute(API)
        watched.look_again()
        expect(page.locator(".step.reached").filter(has_text="Sent")).to_be_visible()
        expect(given_up).to_have_count(0)
        opened.close()


def test_the_age_of_the_heartbeat_ticks_and_the_uuid_is_copied(enter: Enter, display: SimulatedDisplay) -> None:
    watched = enter(f"/?d={uuid_of(display)}")
    page = watched.page
    age = page.locator(".panel .fact").filter(has_text="Last heartbeat").locator("time")
    first = age.inner_text()
    eventually(lambda: age.inner_text() != first, "another age", 60)
    assert re.search(r"\d{4}", age.get_attribute("title") or "")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy uuid").click()
    expect(page.locator(".uuid").get_by_role("status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == uuid_of(display)


def test_what_is_pressed_is_large_enough_to_hit(enter: Enter, display: SimulatedDisplay) -> None:
    watched = enter(viewport={"width": 390, "height": 844})
    page = watched.page
    for address, proof in (
        (f"/?d={uuid_of(display)}", "MQTT connection"),
        ("/", "Connect a display"),
        ("/?v=logs", "Recent errors"),
        ("/?v=conversions", "Drop files here"),
        ("/?v=incidents", "Displays that failed together"),
        ("/?v=quiet", "Add a quiet time"),
        ("/?v=settings", "Values in force"),
    ):
        watched.follow(address)
        expect(page.get_by_text(proof).first).to_be_visible()
        assert page.evaluate(TOO_SMALL) == [], address


def test_nothing_moves_on_request_and_forced_colours_leave_every_state_a_shape(
    enter: Enter, display: SimulatedDisplay
) -> None:
    page = enter("/?v=logs", reduced_motion="no-preference", forced_colors="active").page
    live = page.locator(".follow .live-dot")
    expect(live).to_be_visible()
    assert live.evaluate("one => getComputedStyle(one).animationName") == "beat"
    page.emulate_media(reduced_motion="reduce")
    assert live.evaluate("one => getComputedStyle(one).animationName") == "none"
    page.get_by_role("link", name="Fleet").click()
    badge = page.locator("tbody tr").filter(has_text=name_of(display)).locator(".badge").first
    expect(badge).to_contain_text("Running")
    expect(badge.locator("svg.glyph-running")).to_be_visible()
    assert badge.evaluate("one => getComputedStyle(one).borderTopStyle") == "solid"
