"""Notifications on the settings page: a channel from adding to removing it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from shared.vocabulary import Role
from tests.browser.conftest import Enter
from tests.browser.people import session_with_role
from tests.receivers import Receiver, receiver
from tests.stack import Api, Stack

SETTINGS = "/?v=settings"


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as server:
        yield server


@pytest.fixture
def page(enter: Enter) -> Page:
    return enter(SETTINGS).page


def choose(page: Page, name: str, item: str) -> None:
    page.get_by_label(f"More about {name}").click()
    page.get_by_role("button", name=item, exact=True).click()


def test_a_channel_is_added_tried_changed_switched_off_and_removed(page: Page, hook: Receiver, api: Api) -> None:
    page.get_by_role("button", name="Add a channel…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("On call")
    dialog.get_by_label("Address", exact=True).fill(hook.url + "?key=T0K3N")
    dialog.get_by_label("Only if it lasts for (minutes)").fill("5")
    dialog.locator("input[name=hours]").check()
    dialog.get_by_label("From", exact=True).fill("07:30")
    dialog.get_by_role("button", name="Add", exact=True).click()

    row = page.locator("li.token").filter(has_text="On call")
    expect(row).to_contain_text("Webhook · http://127.0.0.1:")
    expect(row).to_contain_text("after 5 min · all sites · Mon, Tue, Wed, Thu, Fri 07:30–18:00")
    expect(row).not_to_contain_text("T0K3N")

    choose(page, "On call", "Send a test")
    expect(row).to_contain_text("Test delivered: 200 from 127.0.0.1")
    assert [posted.json["event"] for posted in hook.posted] == ["test"]
    hook.answer = lambda _posted: (401, {})
    choose(page, "On call", "Send a test")
    expect(row).to_contain_text("Test failed: 401 from 127.0.0.1")
    expect(row).to_contain_text("Last delivery failed: 401 from 127.0.0.1")

    choose(page, "On call", "Change…")
    dialog.get_by_label("Name", exact=True).fill("Night shift")
    dialog.get_by_role("button", name="Save").click()
    renamed = page.locator("li.token").filter(has_text="Night shift")
    expect(renamed).to_be_visible()
    [kept] = api.get("/api/notifications/channels")["items"]
    assert (kept["name"], kept["delay_seconds"], kept["hours"]["begin"]) == ("Night shift", 300, "07:30")

    choose(page, "Night shift", "Switch off")
    expect(renamed.locator(".tag")).to_have_text("Off")
    choose(page, "Night shift", "Deliveries…")
    expect(dialog).to_contain_text("Nothing yet.")
    dialog.get_by_role("button", name="Close").last.click()
    choose(page, "Night shift", "Remove…")
    dialog.get_by_role("button", name="Remove", exact=True).click()
    expect(renamed).to_have_count(0)


def test_what_the_service_refuses_is_said_in_the_dialog(enter: Enter) -> None:
    watched = enter(SETTINGS)
    watched.expect_answer(422, "/api/notifications/channels")
    page = watched.page
    page.get_by_role("button", name="Add a channel…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Nobody")
    dialog.get_by_label("Address", exact=True).fill("ftp://nobody.test/")
    dialog.get_by_role("button", name="Add", exact=True).click()

    expect(dialog.get_by_role("alert")).to_contain_text("http:// or https://")


def test_an_operator_sees_no_channels(enter: Enter, stack: Stack, database: Engine) -> None:
    page = enter(SETTINGS, storage_state=session_with_role(stack, database, "teller", Role.OPERATOR)).page

    expect(page.get_by_text("To tell nobody for a while")).to_be_visible()
    expect(page.get_by_role("heading", name="Notifications")).to_have_count(0)
