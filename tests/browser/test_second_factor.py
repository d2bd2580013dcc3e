"""A code besides the password: set up, asked for at sign-in, reset by an admin; and the list of sessions."""

import base64
import secrets
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from shared.access import second_factor_rules
from shared.tables import second_factors
from shared.vocabulary import Role
from tests.api.people import PASSWORD, add_user
from tests.browser.conftest import Enter, OpenPage
from tests.browser.people import session_with_role
from tests.browser.test_every_page import violations
from tests.browser.test_people import ask, sign_in_as
from tests.browser.watched import FLEET, does_not_scroll_sideways
from tests.stack import Stack


@pytest.fixture
def name() -> str:
    """Return a name that no person has yet."""
    return f"factor-{secrets.token_hex(3)}"


def code_of(secret: str) -> str:
    return second_factor_rules.code_at(base64.b32decode(secret), second_factor_rules.step_at(datetime.now(UTC)))


def allow_the_same_code_again(database: Engine) -> None:
    """Let the same code be used again: each is valid once, and the next one comes only after half a minute."""
    with database.begin() as connection:
        connection.execute(sa.update(second_factors).values(last_step=None))


def set_up(page: Page) -> tuple[str, list[str]]:
    """Set up the second factor by the dialogs; return the secret and the recovery codes."""
    page.get_by_role("button", name="Set up a second factor").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Current password").fill(PASSWORD)
    dialog.get_by_role("button", name="Next").click()
    expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
    secret = dialog.locator(".code code").inner_text()
    dialog.get_by_label("Code", exact=True).fill(code_of(secret))
    dialog.get_by_role("button", name="Switch it on").click()
    codes = page.get_by_role("dialog", name="Recovery codes").locator("li code")
    expect(codes).to_have_count(second_factor_rules.RECOVERY_CODES)
    found = codes.all_inner_texts()
    assert violations(page) == []
    assert does_not_scroll_sideways(page)
    page.get_by_role("button", name="I have kept them").click()
    return secret, found


def test_a_code_is_set_up_asked_for_and_reset_by_an_admin(
    enter: Enter, open_page: OpenPage, database: Engine, name: str
) -> None:
    add_user(database, name, Role.OPERATOR)
    mine = open_page()
    page = sign_in_as(mine, name, PASSWORD)
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("You sign in with your password alone.")).to_be_visible()

    secret, recovery = set_up(page)

    expect(page.get_by_text("10 recovery codes are left.")).to_be_visible()
    allow_the_same_code_again(database)
    elsewhere = open_page()
    elsewhere.expect_answer(401, r"/api/session$")
    door = sign_in_as(elsewhere, name, PASSWORD)
    code = door.get_by_label("Code", exact=True)
    expect(code).to_be_focused()
    assert violations(door) == []
    code.fill("12345")
    door.get_by_role("button", name="Sign in", exact=True).click()
    expect(door.get_by_role("alert")).to_contain_text("That code did not work.")
    code.fill(code_of(secret))
    door.get_by_role("button", name="Sign in", exact=True).click()
    expect(door.get_by_role("heading", name=FLEET)).to_be_visible()

    third = open_page()
    third.expect_answer(401, r"/api/session$")
    lost = sign_in_as(third, name, PASSWORD)
    lost.get_by_label("Code", exact=True).fill(recovery[0])
    lost.get_by_role("button", name="Sign in", exact=True).click()
    expect(lost.get_by_role("heading", name=FLEET)).to_be_visible()

    for watched in (mine, elsewhere, third):
        watched.expect_answer(401, "/api/")
    admin = enter("/?v=settings").page
    ask(admin, name, "Reset second factor…", "Reset second factor")
    expect(admin.get_by_role("dialog")).to_have_count(0)
    back = sign_in_as(open_page(), name, PASSWORD)
    expect(back.get_by_role("heading", name=FLEET)).to_be_visible()


def test_a_second_factor_is_removed_with_password_and_code(open_page: OpenPage, database: Engine, name: str) -> None:
    add_user(database, name, Role.VIEWER)
    watched = open_page()
    page = sign_in_as(watched, name, PASSWORD)
    page.get_by_role("link", name="Settings").click()
    _, recovery = set_up(page)
    watched.expect_answer(401, "/api/users/me/second-factor/remove")

    page.get_by_role("button", name="Remove the second factor").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Current password").fill(PASSWORD)
    dialog.get_by_label("Code", exact=True).fill("000")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(dialog.get_by_role("alert")).not_to_be_empty()
    dialog.get_by_label("Code", exact=True).fill(recovery[3])
    dialog.get_by_role("button", name="Remove", exact=True).click()

    expect(page.get_by_text("You sign in with your password alone.")).to_be_visible()


def test_somebody_sees_where_they_are_signed_in_and_ends_it(
    open_page: OpenPage, stack: Stack, database: Engine, name: str
) -> None:
    session_with_role(stack, database, name, Role.VIEWER)  # by a script, which says its name
    page = sign_in_as(open_page(), name, PASSWORD)
    page.get_by_role("link", name="Settings").click()
    sessions = page.get_by_role("list", name="Where you are signed in").get_by_role("listitem")

    expect(sessions).to_have_count(2)
    expect(sessions.filter(has_text="this one")).to_contain_text("Chrome on Linux")
    sessions.filter(has_text="python-requests").get_by_role("button", name="End").click()

    expect(sessions).to_have_count(1)
    expect(sessions).to_contain_text("this one")
