"""One person with two tabs: both stay up to date, and a change in one appears in the other."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, online_display, row_name, uuid_of
from tests.browser.people import session_of
from tests.browser.watched import WatchedPage, watched
from tests.stack import Stack, eventually


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all tests of this file; it carries out commands."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        online.behave(automatic=True)
        yield online


def second_tab(first: WatchedPage, address: str = "/") -> WatchedPage:
    """Open another tab of the same browser."""
    tab = watched(first.page.context, first.stack)
    tab.open(address)
    tab.page.get_by_role("button", name="Sign out").wait_for()
    return tab


def test_both_are_live_and_a_command_sent_in_one_is_followed_in_the_other(
    enter: Enter, display: SimulatedDisplay
) -> None:
    one = enter(f"/?d={uuid_of(display)}")
    other = second_tab(one, f"/?d={uuid_of(display)}")
    for tab in (one, other):
        expect(tab.page.locator(".top .live.on")).to_be_visible()
        expect(tab.page.get_by_role("button", name="Restart player")).to_be_enabled()

    one.page.get_by_role("button", name="Restart player").click()
    expect(one.page.locator(".step.reached").first).to_be_visible()
    other.look_again()

    for tab in (other, one):
        expect(tab.page.locator(".step.reached").filter(has_text="Succeeded")).to_be_visible()
        expect(tab.page.get_by_role("button", name="Restart player")).to_be_disabled()
    other.check()


def test_signing_out_in_one_ends_the_other_with_a_word_and_without_the_fleet(
    enter: Enter, display: SimulatedDisplay, stack: Stack, stack_password: str
) -> None:
    session = session_of(stack, stack.environment["SIGNAGE_SIGN_IN_USER"], stack_password)
    one = enter(storage_state=session)
    other = second_tab(one, "/?status=running")
    expect(other.page.get_by_role("button", name=row_name(display), exact=True)).to_be_visible()
    for tab in (one, other):
        tab.expect_answer(401, "/api/")  # a poll that was under way

    one.page.get_by_role("button", name="Sign out").click()

    expect(other.page.get_by_text("You signed out in another tab.")).to_be_visible()
    expect(other.page.get_by_text(name_of(display))).to_have_count(0)
    other.fill_sign_in(stack_password)
    expect(other.page.get_by_role("button", name=row_name(display), exact=True)).to_be_visible()
    assert other.page.url.endswith("status=running")
    other.check()


def test_signing_in_again_in_one_lets_the_other_go_on_too(
    enter: Enter, display: SimulatedDisplay, stack: Stack, stack_password: str
) -> None:
    session = session_of(stack, stack.environment["SIGNAGE_SIGN_IN_USER"], stack_password)
    one = enter(storage_state=session)
    other = second_tab(one)
    for tab in (one, other):
        expect(tab.page.get_by_role("button", name=row_name(display), exact=True)).to_be_visible()
        tab.expect_answer(401, "/api/")
    one.page.context.clear_cookies()
    for tab in (one, other):
        tab.look_again()
        expect(tab.page.get_by_role("dialog", name="Sign in again")).to_be_visible()

    one.fill_sign_in(stack_password)

    for tab in (one, other):
        expect(tab.page.get_by_role("dialog")).to_have_count(0)
        expect(tab.page.get_by_text("Live", exact=True)).to_be_visible()
    eventually(lambda: re.search("^Signage", other.page.title()), "the same page")
    other.check()


def test_a_sign_out_that_did_not_get_through_says_that_one_is_still_signed_in(enter: Enter) -> None:
    tab = enter()
    tab.page.route("**/api/session", lambda route: route.abort())

    tab.page.get_by_role("button", name="Sign out").click()

    expect(tab.page.get_by_role("alert")).to_contain_text("you are still signed in")
    tab.page.unroute("**/api/session")
    tab.page.reload()
    expect(tab.page.get_by_role("button", name="Sign out")).to_be_visible()
