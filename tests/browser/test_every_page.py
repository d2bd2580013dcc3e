"""Every page in both colour schemes, at 320 and 1360 pixels: nothing scrolls sideways, nothing complains."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from deploy.local.demo_fleet.simulated import SimulatedDisplay
from tests.browser.conftest import OpenPage, name_of, online_display, uuid_of
from tests.browser.watched import WatchedPage, does_not_scroll_sideways
from tests.stack import Stack, eventually

WIDTHS = (320, 1360)
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all of these tests, with long words in everything it says."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        online.log("error", "a" * 300)
        online.service_failed("a-unit-with-quite-a-long-name-that-does-not-break.service")
        yield online


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_page_scrolls_sideways(open_page: OpenPage, display: SimulatedDisplay, width: int, scheme: str) -> None:
    watched = open_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = watched.open()
    expect(page.get_by_label("User name")).to_be_visible()
    assert does_not_scroll_sideways(page)
    watched.sign_in()

    for address, proof in (
        ("/", name_of(display)),
        (f"/?d={uuid_of(display)}", "MQTT connection"),
        (f"/?d={uuid_of(display)}&tab=commands", "No command has been sent to this display."),
        ("/?v=logs", "aaaa"),
        ("/?v=conversions", "Choose files"),
        ("/?v=settings", "Access tokens"),
        (f"/?v=logs&c={uuid_of(display)}", "aaaa"),
        (f"/?d={uuid_of(display)}&tab=health", "has not reported its health"),
        (f"/?d={uuid_of(display)}&tab=events", "Registered"),
    ):
        watched.open(address)
        expect(page.get_by_text(proof).first).to_be_visible()
        assert does_not_scroll_sideways(page), address


def test_the_colour_scheme_follows_the_system(open_page: OpenPage) -> None:
    grounds = []
    for scheme in SCHEMES:
        page = open_page(color_scheme=scheme).open()
        expect(page.get_by_label("User name")).to_be_visible()
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    assert grounds == ["rgb(245, 246, 249)", "rgb(15, 20, 27)"]


FAULTS = {
    "CSP style-src": "document.body.innerHTML += '<p style=\"color: red\">x</p>'",
    "CSP script-src": "document.body.append(Object.assign(document.createElement('script'), {textContent: '1'}))",
    "page error: nobody caught this": "setTimeout(() => { throw Error('nobody caught this') })",
    "401 GET": "fetch('/api/settings')",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_watch_over_the_pages_sees_this_fault(dashboard: WatchedPage, fault: str) -> None:
    page = dashboard.open()
    expect(page.get_by_label("User name")).to_be_visible()

    page.evaluate(FAULTS[fault])

    eventually(lambda: page.title() and any(fault in said for said in dashboard.complaints), fault)
    dashboard.complaints.clear()
