"""Everything by keyboard: a whole journey without a mouse, and the single keys."""

import re
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, online_display, row_name, uuid_of
from tests.browser.watched import FLEET, WatchedPage
from tests.stack import Api, Stack, eventually

TABS_AT_MOST = 40


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all tests of this file; it carries out commands. Tests that must send it nothing come first."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        online.behave(automatic=True)
        yield online


def tab_to(page: Page, role: str, name: str) -> None:
    """Press Tab until the element with this role and name has the focus."""
    wanted = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]  # one of the roles of ARIA
    for _ in range(TABS_AT_MOST):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{TABS_AT_MOST} tabs did not reach the {role} {name}")


def test_no_single_key_sends_a_command(enter: Enter, display: SimulatedDisplay, api: Api) -> None:
    page = enter(f"/?d={uuid_of(display)}").page
    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    page.keyboard.press("j")

    for key in "abcdefghiklmnopqrstuvwxyz0123456789":
        page.keyboard.press(key)
    page.keyboard.press("Escape")

    assert api.get(f"/api/clients/{uuid_of(display)}/commands")["items"] == []


def test_from_the_sign_in_to_a_reboot_and_back_without_a_mouse(
    dashboard: WatchedPage, display: SimulatedDisplay, stack_password: str, api: Api
) -> None:
    page = dashboard.open()
    expect(page.get_by_label("User name")).to_be_focused()
    page.keyboard.type(dashboard.stack.environment["SIGNAGE_SIGN_IN_USER"])
    page.keyboard.press("Tab")
    page.keyboard.type(stack_password)
    page.keyboard.press("Enter")
    expect(page.get_by_label(f"Select {name_of(display)}")).to_be_visible()

    page.keyboard.press("/")
    page.keyboard.type(uuid_of(display)[:8])
    expect(page.locator("tbody tr")).to_have_count(1)
    tab_to(page, "button", row_name(display))
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary", name=f"Display {name_of(display)}")
    expect(panel).to_be_focused()
    tab_to(page, "button", "Reboot")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("button", name="Cancel")).to_be_focused()  # the harmless one
    tab_to(page, "button", "Reboot now")
    page.keyboard.press("Enter")

    expect(panel.locator(".step.reached").filter(has_text="Succeeded")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(page.get_by_role("button", name=row_name(display), exact=True)).to_be_focused()
    [command] = api.get(f"/api/clients/{uuid_of(display)}/commands")["items"]
    assert (command["action"], command["state"]) == ("reboot_host", "succeeded")


def walked_to(page: Page, row: Locator) -> bool:
    """Whether j moves the focus to the only row, as it does once the list has loaded."""
    page.keyboard.press("j")
    return bool(row.evaluate("one => one === document.activeElement"))


def went_to(page: Page, keys: str, title: str | re.Pattern[str]) -> bool:
    """Type two keys; return whether the page opened. A slow machine may type them too far apart to count as a pair."""
    page.keyboard.type(keys)
    return page.get_by_role("heading", name=title, level=1).is_visible()


def test_single_keys_walk_choose_open_and_go_and_can_be_switched_off(enter: Enter, display: SimulatedDisplay) -> None:
    page = enter(f"/?q={uuid_of(display)}").page
    row = page.get_by_role("button", name=row_name(display), exact=True)
    expect(row).to_be_visible()

    eventually(lambda: walked_to(page, row), "the row that j goes to")
    page.get_by_label("Search displays").focus()
    page.get_by_role("heading", name="Displays").click()
    page.keyboard.press("k")
    expect(row).to_be_focused()
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Selected displays")).to_contain_text("1 display selected")
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Selected displays")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary")).to_be_visible()
    page.keyboard.press("Escape")
    for keys, title in (
        ("gl", "Logs"),
        ("gc", "Presentations"),
        ("gi", "Incidents"),
        ("gs", "Settings"),
        ("gf", FLEET),
    ):
        eventually(partial(went_to, page, keys, title), f"the view that {keys} goes to")

    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_label("Use single-key shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.type("gl?")
    page.reload()
    expect(page.get_by_role("button", name=row_name(display), exact=True)).to_be_visible()
    page.keyboard.type("gl?")
    expect(page.get_by_role("heading", name=FLEET, level=1)).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_typing_in_the_search_is_never_taken_away_by_a_row(enter: Enter, display: SimulatedDisplay) -> None:
    page = enter().page
    page.get_by_role("button", name=row_name(display), exact=True).focus()
    search = page.get_by_label("Search displays")
    search.focus()

    page.keyboard.type("no such display")
    expect(page.get_by_text("No display matches.")).to_be_visible()
    for _ in "no such display":
        page.keyboard.press("Backspace")
    page.keyboard.type(uuid_of(display)[:8])

    expect(search).to_have_value(uuid_of(display)[:8])
    expect(search).to_be_focused()
    expect(page.get_by_role("row", name=re.compile(name_of(display)))).to_be_visible()


def test_back_closes_the_panel_and_the_address_brings_a_tab_and_its_filter_back(
    enter: Enter, display: SimulatedDisplay
) -> None:
    page = enter("/?sort=-hb").page
    page.get_by_role("button", name=row_name(display), exact=True).click()
    expect(page.get_by_role("complementary")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("complementary")).to_have_count(0)
    assert page.url.endswith("/?sort=-hb")

    page.goto(f"{page.url}&d={uuid_of(display)}&tab=commands&level=error")
    expect(page.get_by_role("tab", name="Commands")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("columnheader", name="Heartbeat")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("tab", name="Logs").click()
    expect(page.get_by_role("button", name="Error")).to_have_attribute("aria-pressed", "true")
