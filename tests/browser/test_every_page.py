"""Every page on a dark phone and on a light desktop: it does not scroll sideways and breaks no rule of axe.

The dark desktop and the light phone: `make campaign ONLY=words`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, OpenPage, name_of, online_display, uuid_of
from tests.browser.watched import WatchedPage, does_not_scroll_sideways
from tests.diary import progress
from tests.stack import Api, Stack, eventually

AXE = Axe()
ColorScheme = Literal["dark", "light"]
FIRST_OF_EACH = """async () => {
  const part = document.querySelector('dialog[open]') ?? document;
  const { violations } = await axe.run(part, { resultTypes: ['violations'] });
  return violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 200)}`);
}"""
"""The page behind a dialog is checked when it stands alone."""
LOOKS: Final[tuple[tuple[int, ColorScheme], ...]] = ((320, "dark"), (1360, "light"))
"""Width of the window in pixels, and colour scheme. Most of axe's time goes into contrasts."""


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all tests of this file, with content in every part of its panel and long words everywhere.

    Beside it is another one: to end what covers more than one display asks first.
    """
    api = stack.api()
    folder = tmp_path_factory.mktemp("display")
    with online_display(api, folder / "beside"), online_display(api, folder / "looked at") as online:
        for level in ("error", "warning", "info"):
            online.log(level, f"{level} {'a' * 300}")
        online.display.vitals.update(screen_health="black", cpu_percent=97.0, disk_percent=20.0)  # in each report
        online.health()
        online.service_failed("a-unit-with-quite-a-long-name-that-does-not-break.service")
        path = f"/api/clients/{uuid_of(online)}"
        eventually(lambda: api.get(path)["service_failed_at"] and api.get(path)["health"], "all that it said")
        with quiet(api, uuid_of(online)):
            yield online


@contextmanager
def quiet(api: Api, uuid: str) -> Iterator[None]:
    """Maintenance and opening hours of the fleet, and a hold of this display, while the tests of this file run."""
    hours = [{"days": ["monday", "sunday"], "from": "09:00", "to": "12:00"}]
    hours.append({"days": ["monday"], "from": "14:00", "to": "24:00"})
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
    bodies: list[dict[str, object]] = [
        {"preset": "maintenance", "scope": "fleet", "ends_at": tomorrow, "reason": "New panels"},
        {"preset": "hold", "scope": "clients", "clients": [uuid], "reason": "I work on it"},
        {"preset": "opening_hours", "scope": "fleet", "time_zone": "Europe/Rome", "hours": hours},
    ]
    made = [api.post("/api/quiet-times", body, 201)["id"] for body in bodies]
    yield
    for quiet_id in made:
        api.call("DELETE", f"/api/quiet-times/{quiet_id}", 204)


def come_to_rest(page: Page) -> None:
    """Wait until the page loads nothing for the first time."""
    expect(page.locator("[aria-busy=true]:not(details:not([open]) *)")).to_have_count(0)


def violations(page: Page) -> list[str]:
    """Return axe's findings (WCAG 2.2 AA among its rules), each as its rule and the first element that breaks it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    found: list[str] = page.evaluate(FIRST_OF_EACH)
    return found


def is_right(page: Page, where: str) -> None:
    """Check the open page as it looks now."""
    progress(where)
    assert does_not_scroll_sideways(page), where
    assert violations(page) == [], where


def is_right_in_every_look(page: Page, where: str) -> None:
    """Check the open page in each of `LOOKS`."""
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        is_right(page, f"{where} at {width}, {scheme}")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_page_scrolls_sideways_or_breaks_a_rule_of_accessibility(
    open_page: OpenPage, display: SimulatedDisplay, stack_password: str, width: int, scheme: ColorScheme
) -> None:
    watched = open_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = watched.open()
    expect(page.get_by_label("User name")).to_be_visible()
    is_right(page, "the sign-in")
    watched.fill_sign_in(stack_password)
    page.get_by_role("button", name="Sign out").wait_for()

    one = f"d={uuid_of(display)}"
    for address, proof in (
        ("/", name_of(display)),
        (f"/?{one}", "MQTT connection"),
        (f"/?{one}&tab=commands", "No command has been sent to this display."),
        (f"/?{one}&tab=health", "above the usual limit"),
        (f"/?{one}&tab=events", "does-not-break.service failed"),
        ("/?v=logs", "error aaaa"),
        (f"/?v=logs&c={uuid_of(display)}", "info aaaa"),
        ("/?v=conversions", "Choose files"),
        ("/?v=settings", "Values in force"),
        ("/?v=incidents", "Maintenance is planned among the"),
        ("/?v=quiet", "New panels"),
        ("/?v=batches", "Bulk commands"),
    ):
        watched.follow(address)
        expect(page.get_by_text(proof).first).to_be_visible()
        come_to_rest(page)
        is_right(page, address)


DIALOGS = {
    "/?v=quiet": ["Add a quiet time", "Change opening hours", "End opening hours"],
    "/?v=batches": ["Plan commands"],
    "/?v=settings": ["Change password", "Add a person…", "Add a channel…"],
    "/?{display}": ["Shut down", "Hold…", "Maintenance…"],
    "/": ["Connect a display"],
}


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_dialogs_break_no_rule_of_accessibility(
    enter: Enter, display: SimulatedDisplay, width: int, scheme: ColorScheme
) -> None:
    watched = enter(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = watched.page
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("No key sends a command")
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)

    for address, buttons in DIALOGS.items():
        watched.follow(address.format(display=f"d={uuid_of(display)}"))
        for button in buttons:
            page.get_by_role("button", name=button).first.click()
            expect(page.get_by_role("dialog"), button).to_be_visible()
            assert does_not_scroll_sideways(page), button
            assert violations(page) == [], button
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog"), button).to_have_count(0)


def test_the_check_of_accessibility_sees_a_button_without_a_name(dashboard: WatchedPage) -> None:
    page = dashboard.open()
    expect(page.get_by_label("User name")).to_be_visible()

    page.evaluate("document.body.append(document.createElement('button'))")

    assert violations(page)[0].startswith("button-name")


def test_the_colour_scheme_follows_the_system(open_page: OpenPage) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page = open_page(color_scheme=scheme).open()
        expect(page.get_by_label("User name")).to_be_visible()
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert grounds == ["rgb(245, 246, 249)", "rgb(15, 20, 27)"]


POLICY = "Content Security Policy directive"
FAULTS = {
    f"{POLICY} 'style-src": "document.body.innerHTML += '<p style=\"color: red\">x</p>'",
    f"{POLICY} 'script-src": "document.head.append(Object.assign(document.createElement('script'), {text: '1'}))",
    "page error: nobody caught this": "setTimeout(() => { throw Error('nobody caught this') })",
    "401 http": "fetch('/api/settings')",
}


def test_the_watch_over_the_pages_sees_each_fault(dashboard: WatchedPage) -> None:
    page = dashboard.open()
    expect(page.get_by_label("User name")).to_be_visible()

    for fault, program in FAULTS.items():
        page.evaluate(program)
        eventually(lambda: page.title() and any(fault in said for said in dashboard.complaints), fault)  # noqa: B023
        dashboard.complaints.clear()
