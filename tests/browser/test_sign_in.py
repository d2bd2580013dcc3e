"""Who may sign in, and what happens when a session ends while a person uses it."""

import pytest
from playwright.sync_api import expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import name_of, row_name
from tests.browser.watched import WatchedPage


def test_a_wrong_password_is_answered_by_one_general_sentence(dashboard: WatchedPage) -> None:
    page = dashboard.open()
    dashboard.expect_answer(401, r"/api/session$")

    dashboard.fill_sign_in("not the password")

    expect(page.get_by_role("alert")).to_have_text("That did not work. Check the user name and the password.")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_enabled()
    password = page.get_by_label("Password")
    expect(password).to_have_attribute("type", "password")
    page.get_by_label("Show what I type").check()
    expect(password).to_have_attribute("type", "text")


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [(503, "busy", "Too many other requests are under way."), (429, "too_many_requests", "Too many requests at once.")],
)
def test_a_busy_service_is_not_called_a_wrong_password(
    dashboard: WatchedPage, status: int, code: str, words: str
) -> None:
    page = dashboard.open()
    dashboard.expect_answer(status, r"/api/session$")
    refusal = {"code": code, "title": code, "detail": words}
    page.route("**/api/session", lambda route: route.fulfill(status=status, json=refusal))

    dashboard.fill_sign_in("the right one")

    expect(page.get_by_role("alert")).to_contain_text(words)


def test_an_ended_session_asks_again_over_the_kept_page_and_goes_on(
    dashboard: WatchedPage, display: SimulatedDisplay, stack_password: str
) -> None:
    page = dashboard.sign_in()
    expect(page.get_by_role("cell", name=row_name(display), exact=True)).to_be_visible()
    dashboard.expect_answer(401, "/api/")

    page.context.clear_cookies()
    dashboard.look_again()

    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    expect(page.locator("tbody", has_text=name_of(display))).to_be_visible()
    dashboard.fill_sign_in(stack_password)
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()


def test_signing_out_leaves_nothing_of_the_fleet_on_the_page(dashboard: WatchedPage, display: SimulatedDisplay) -> None:
    page = dashboard.sign_in()
    expect(page.get_by_role("cell", name=row_name(display), exact=True)).to_be_visible()
    dashboard.expect_answer(401, "/api/")  # a poll that was under way

    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_label("User name")).to_be_visible()
    expect(page.get_by_text(name_of(display))).to_have_count(0)
