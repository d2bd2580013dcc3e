"""People are added on the settings page, set a password of their own, and are removed again."""

import secrets

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from shared.postgres.door import transaction
from shared.tables import users
from shared.vocabulary import Role
from tests.browser.conftest import Enter, OpenPage
from tests.browser.people import session_with_role
from tests.browser.test_every_page import violations
from tests.browser.watched import WatchedPage, does_not_scroll_sideways
from tests.stack import Api, Stack

OWN = "a password of my own"


@pytest.fixture
def name() -> str:
    """Return a name that no person has yet."""
    return f"bert-{secrets.token_hex(3)}"


def ask(page: Page, name: str, item: str, go: str) -> None:
    """Choose an item from a person's menu and confirm it."""
    page.get_by_label(f"More about {name}").click()
    page.get_by_role("region", name="People").get_by_role("button", name=item).click()
    page.get_by_role("dialog").get_by_role("button", name=go, exact=True).click()


def add(page: Page, name: str, role: str) -> str:
    """Add a person by the dialog; return the password that it shows."""
    page.get_by_role("button", name="Add a person").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User name").fill(name)
    dialog.get_by_label("Role").select_option(role)
    dialog.get_by_role("button", name="Add", exact=True).click()
    shown = page.get_by_role("dialog", name=f"A password for {name}").locator("code")
    expect(shown).to_be_visible()
    return shown.inner_text()


def sign_in_as(watched: WatchedPage, name: str, password: str) -> Page:
    page = watched.open()
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    return page


def test_somebody_is_added_sets_a_password_works_and_is_shown_out_again(
    enter: Enter, open_page: OpenPage, name: str
) -> None:
    admin = enter("/?v=settings").page
    handed = add(admin, name, "operator")
    theirs = open_page()

    page = sign_in_as(theirs, name, handed)
    expect(page.get_by_role("heading", name="Set your own password")).to_be_visible()
    page.get_by_label("Current password").fill(handed)
    page.get_by_label("New password").fill(OWN)
    page.get_by_role("button", name="Set the password").click()
    expect(page.get_by_role("heading", name="Fleet")).to_be_visible()

    page.get_by_role("link", name="Settings").click()
    page.get_by_role("button", name="Change password").click()
    theirs.expect_answer(401, "/api/users/me/password")
    for present, said in (("not mine", "The current password is wrong."), (OWN, "Your password was changed.")):
        page.get_by_label("Current password").fill(present)
        page.get_by_label("New password").fill(f"{OWN}, again")
        page.get_by_role("button", name="Set the password").click()
        expect(page.get_by_text(said)).to_be_visible()

    admin.get_by_role("button", name="Done").click()
    row = admin.locator(".token").filter(has_text=name)
    expect(row).to_contain_text("operator")
    assert handed not in admin.content()
    theirs.expect_answer(401, "/api/")
    ask(admin, name, "Disable…", "Disable")
    expect(row).to_contain_text("Disabled")

    theirs.look_again()
    dialog = page.get_by_role("dialog", name="Sign in again")
    expect(dialog).to_be_visible()
    dialog.get_by_label("User name").fill(name)
    dialog.get_by_label("Password").fill(OWN)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_text("That did not work. Check the user name and the password.")


def test_a_password_is_copied_and_a_reset_shows_another_one(enter: Enter, api: Api, name: str) -> None:
    first = api.post("/api/users", {"username": name, "role": "viewer"}, 201)["one_time_password"]
    watched = enter("/?v=settings", permissions=["clipboard-read", "clipboard-write"])
    page = watched.page

    ask(page, name, "Reset password…", "Reset password")

    dialog = page.get_by_role("dialog", name=f"A password for {name}")
    second = dialog.locator("code").inner_text()
    dialog.get_by_role("button", name="Copy the password").click()
    expect(dialog.get_by_text("Copied")).to_be_attached()
    assert page.evaluate("navigator.clipboard.readText()") == second != first
    page.keyboard.press("Escape")  # pressed by mistake, it does not lose the password
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Done").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_label(f"More about {name}")).to_be_focused()


# What waits for a frame waits 300 ms: the list is there again before the second dialog was painted.
SLOW_FRAMES = """() => {
  const sooner = window.setTimeout;
  window.requestAnimationFrame = (work) => sooner(work, 300);
  window.setTimeout = (work, delay, ...more) => sooner(work, Math.max(delay ?? 0, 300), ...more);
}"""


def test_a_dialog_after_another_gives_the_focus_back_on_a_slow_machine(enter: Enter, api: Api, name: str) -> None:
    api.post("/api/users", {"username": name, "role": "viewer"}, 201)
    page = enter("/?v=settings").page
    page.evaluate(SLOW_FRAMES)

    ask(page, name, "Reset password…", "Reset password")
    dialog = page.get_by_role("dialog", name=f"A password for {name}")
    expect(dialog).to_be_visible()
    page.wait_for_timeout(700)  # two such frames: what the first dialog left to do is done
    dialog.get_by_role("button", name="Done").click()

    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_label(f"More about {name}")).to_be_focused()


def test_a_refusal_is_said_in_the_dialog_and_ones_own_row_has_no_menu(enter: Enter, name: str) -> None:
    watched = enter("/?v=settings")
    page = watched.page
    watched.expect_answer(409, "/api/users")
    me = page.locator(".token").filter(has_text="(you)")
    expect(me).to_contain_text("admin")
    expect(me.get_by_role("button")).to_have_count(0)
    expect(me.locator("summary")).to_have_count(0)

    page.get_by_role("button", name="Add a person").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User name").fill("ADMIN")
    dialog.get_by_role("button", name="Add", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("This name is taken already")
    dialog.get_by_label("User name").fill(name)
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog", name=f"A password for {name}")).to_be_visible()


def test_people_and_their_dialogs_break_no_rule_of_accessibility(enter: Enter, api: Api, name: str) -> None:
    user = api.post("/api/users", {"username": name, "role": "viewer"}, 201)["user"]
    api.call("PATCH", f"/api/users/{user['id']}", json={"disabled": True})
    page = enter("/?v=settings", viewport={"width": 320, "height": 800}, color_scheme="dark").page

    page.get_by_label(f"More about {name}").click()
    assert violations(page) == []
    assert does_not_scroll_sideways(page)
    page.get_by_role("region", name="People").get_by_role("button", name="Remove…").click()
    expect(page.get_by_role("dialog", name=f"Remove {name}?")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Remove", exact=True).click()
    expect(page.locator(".token").filter(has_text=name)).to_have_count(0)
    add(page, f"{name}-2", "viewer")
    assert violations(page) == []


def test_somebody_is_added_for_two_sites_only(enter: Enter, api: Api, name: str) -> None:
    page = enter("/?v=settings").page

    page.get_by_role("button", name="Add a person").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User name").fill(name)
    dialog.get_by_label("Only for these sites").fill("Ulm\n Basel \n\n")
    dialog.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("dialog", name=f"A password for {name}").get_by_role("button", name="Done").click()

    row = page.locator(".token").filter(has_text=name)
    expect(row).to_contain_text("for Basel and Ulm only")
    expect(row).to_contain_text("no display is at Basel or Ulm")
    [user] = [one for one in api.get("/api/users?limit=100")["items"] if one["username"] == name]
    assert user["sites"] == ["Basel", "Ulm"]
    ask(page, name, "Change role or sites…", "Change")
    expect(page.get_by_role("dialog")).to_have_count(0)
    [again] = [one for one in api.get("/api/users?limit=100")["items"] if one["username"] == name]
    assert again["sites"] == ["Basel", "Ulm"]


def test_somebody_of_one_site_is_told_so_and_sees_nothing_of_the_service(
    enter: Enter, stack: Stack, database: Engine, name: str
) -> None:
    session = session_with_role(stack, database, name, Role.ADMIN)
    with transaction(database) as connection:
        mine = users.c.username == name
        connection.execute(sa.update(users).where(mine).values(sites=["Basel"]))

    page = enter("/?v=settings", storage_state=session).page

    expect(page.get_by_role("banner")).to_contain_text("for Basel only")
    expect(page.get_by_role("region", name="Your account")).to_contain_text("for Basel only")
    expect(page.get_by_text("No display is at Basel, a site of your rights.")).to_be_visible()
    for region in ("People", "Access tokens", "Audit log", "Service"):
        expect(page.get_by_role("region", name=region)).to_have_count(0)
