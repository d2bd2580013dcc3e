"""The fleet page: the first display, a failed service, and a service that does not answer."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Route, expect

from displays.client.credentials import Credentials
from displays.simulated.simulated import SimulatedDisplay
from shared.trace import trace_id
from tests.browser.conftest import Enter, OpenPage, name_of, row_name, uuid_of
from tests.browser.people import SessionState
from tests.browser.watched import API
from tests.browser.windows import Opened
from tests.install_line import install_line
from tests.stack import Api, Stack, eventually

HOSTILE = '<img src=x onerror="document.title=1">'
READ_FOR_MS = 4_100  # how long an acknowledged row stays


@pytest.fixture
def empty_fleet(api: Api, opened: Opened) -> Iterator[None]:
    """No display before the test, and none of it afterwards."""
    _delete_every_display(api)
    yield
    opened.close()
    _delete_every_display(api)


def _delete_every_display(api: Api) -> None:
    for client in api.get("/api/clients", params={"limit": 100})["items"]:
        api.call("DELETE", f"/api/clients/{client['uuid']}", 204)


@pytest.mark.usefixtures("empty_fleet")
def test_an_empty_fleet_shows_how_the_first_display_connects_and_says_when_it_has(
    enter: Enter, stack: Stack, api: Api, tmp_path: Path
) -> None:
    watched = enter()
    page = watched.page
    expect(page.get_by_role("heading", name="No displays yet")).to_be_visible()

    page.get_by_role("button", name="Connect a display").click()
    page.get_by_label("Name of the display").fill("Entrance")
    page.get_by_role("button", name="Create an enrolment code").click()
    code = page.locator(".code code").inner_text()
    install, exchange = page.locator(".command-line code").all()
    expect(install).to_have_text(install_line(stack.url, code))
    expect(exchange).to_contain_text(f"{stack.url}/api/enroll")
    expect(exchange).to_contain_text(code)
    expect(page.get_by_role("button", name="Copy the command").first).to_be_visible()
    expect(page.get_by_role("img", name="Enrolment code as a QR code")).to_be_visible()
    answer = requests.post(f"{stack.url}/api/enroll", json={"code": code}, timeout=60)
    with SimulatedDisplay(Credentials.from_enrolment(answer.json()), tmp_path / "display") as display:
        display.heartbeat("running")
        eventually(lambda: api.get("/api/clients")["items"][0]["status"] == "running", "its heartbeat")
        watched.look_again()

        expect(page.get_by_text(re.compile("It has connected. Heard .+"))).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("row", name=re.compile("Entrance"))).to_contain_text("Running")


def test_the_line_for_a_service_with_a_ca_of_its_own_names_the_hash_of_that_ca(
    enter: Enter, stack: Stack, api: Api
) -> None:
    sums, digest = stack.state / "run" / "nginx" / "display" / "SHA256SUMS", "5a" * 32
    before = sums.read_text()
    page = enter().page
    sums.write_text(f"{before}{digest}  ca.pem\n")
    try:
        page.get_by_role("button", name="Connect a display").click()
        page.get_by_label("Name of the display").fill("Behind its own CA")
        page.get_by_role("button", name="Create an enrolment code").click()
        code = page.locator(".code code").inner_text()
    finally:
        sums.write_text(before)

    there = stack.url
    expect(page.locator(".command-line code").first).to_have_text(install_line(there, code, digest))
    expect(page.locator(".command-line code").last).to_contain_text("curl --cacert ca.pem -X POST ")
    expect(page.get_by_role("link", name="ca.pem")).to_have_attribute("href", "/display/ca.pem")
    [made] = [one for one in api.get("/api/clients")["items"] if one["name"] == "Behind its own CA"]
    api.call("DELETE", f"/api/clients/{made['uuid']}", 204)


def test_a_failed_service_appears_is_acknowledged_and_is_gone_in_every_browser(
    open_page: OpenPage, admin_session: SessionState, display: SimulatedDisplay, api: Api
) -> None:
    watched, other_watched = (open_page(storage_state=admin_session) for _ in range(2))
    for each in (watched, other_watched):
        each.change_clock()  # nobody has to wait for the four seconds in which an acknowledged row stays
    page, other = watched.open(), other_watched.open()
    panel, other_panel = (one.get_by_role("region", name="Service failed") for one in (page, other))
    expect(page.get_by_role("cell", name=row_name(display), exact=True)).to_be_visible()
    expect(panel).to_have_count(0)

    display.service_failed("signage-player.service")

    row = panel.get_by_role("listitem").filter(has_text=name_of(display))
    expect(row).to_contain_text("signage-player.service")
    other_watched.look_again()
    expect(other_panel).to_contain_text(name_of(display))
    expect(page.locator(".attention")).to_contain_text("Service signage-player.service failed")

    row.get_by_role("button", name=f"Acknowledge the failure of {name_of(display)}").click()

    expect(row).to_contain_text("Acknowledged ✓")
    other_watched.look_again()
    expect(other_panel).to_contain_text("Acknowledged by admin")
    for each in (watched, other_watched):
        each.page.clock.fast_forward(READ_FOR_MS)
    expect(panel).to_have_count(0)
    expect(other_panel).to_have_count(0)
    assert api.get("/api/clients/service_failed")["items"] == []
    page.get_by_text("Recently acknowledged").click()
    expect(page.locator(".acknowledged")).to_contain_text("signage-player.service")


def test_a_failure_that_came_again_is_not_acknowledged_unseen(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    display.service_failed("first.service")
    eventually(lambda: api.get("/api/clients/service_failed")["items"], "the failure")
    dashboard = enter()
    page = dashboard.page
    panel = page.get_by_role("region", name="Service failed")
    expect(panel).to_contain_text("first.service")
    seen_so_far = page.request.get(f"{dashboard.stack.url}/api/monitoring/overview?format=packed").json()
    page.route("**/api/monitoring/overview*", lambda route: route.fulfill(json=seen_so_far))
    dashboard.expect_answer(412, "clear_service_failed")

    display.service_failed("second.service")
    eventually(lambda: api.get(f"/api/clients/{uuid_of(display)}")["service_failed_unit"] == "second.service", "it")
    panel.get_by_role("button", name=re.compile("Acknowledge")).click()

    expect(panel.get_by_role("alert")).to_contain_text(re.compile(r"Failed again at \d\d:\d\d:\d\d: look"))
    page.unroute("**/api/monitoring/overview*")
    dashboard.look_again()
    expect(panel).to_contain_text("second.service")
    assert [row["service_failed_unit"] for row in api.get("/api/clients/service_failed")["items"]] == ["second.service"]


def test_names_and_messages_of_displays_are_text_whatever_they_hold(
    enter: Enter, display: SimulatedDisplay, api: Api
) -> None:
    api.call("PATCH", f"/api/clients/{uuid_of(display)}", json={"name": HOSTILE, "site": HOSTILE})
    display.log("error", HOSTILE)
    display.service_failed(HOSTILE)
    eventually(lambda: api.get(f"/api/client-logs/{uuid_of(display)}/logs")["items"], "the line")

    page = enter(f"/?d={uuid_of(display)}&tab=logs").page

    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    expect(page.get_by_role("region", name="Service failed").locator("code")).to_have_text(HOSTILE)
    expect(page.locator(".panel .log")).to_contain_text(HOSTILE)
    assert page.locator("img:not([src='icon.svg'])").count() == 0
    expect(page).to_have_title("(1) Signage Fleet")


def test_a_service_that_does_not_answer_leaves_the_rows_and_says_so(enter: Enter, display: SimulatedDisplay) -> None:
    dashboard = enter()
    page = dashboard.page
    row = page.get_by_role("row", name=re.compile(name_of(display)))
    expect(row).to_be_visible()
    dashboard.expect_answer(502, "/api/")

    page.route(API, lambda route: route.fulfill(status=502, body="<html>"))
    dashboard.look_again()

    expect(page.get_by_role("alert")).to_contain_text("The service does not answer.")
    expect(page.get_by_role("alert")).not_to_contain_text("Reference")  # no display logged anything
    expect(page.get_by_text("Not updating", exact=True)).to_be_visible()
    expect(row).to_be_visible()
    page.unroute(API)
    dashboard.expect_answer(500, "/api/")
    traces = []

    def fail(route: Route) -> None:
        traces.append(trace_id(route.request.headers["traceparent"]))
        route.fulfill(status=500, json={"code": "internal_error", "title": "Internal error", "detail": "quote the id"})

    page.route("**/api/monitoring/**", fail)
    dashboard.look_again()
    expect(page.get_by_role("alert")).to_contain_text(re.compile("You see what was known at.* Reference [0-9a-f]{8}"))
    assert any(f"Reference {str(trace)[:8]}." in page.get_by_role("alert").inner_text() for trace in traces)
    page.unroute("**/api/monitoring/**")
    dashboard.look_again()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_list_that_did_not_come_is_asked_for_again_when_the_service_answers_again(enter: Enter) -> None:
    watched = enter()
    page = watched.page
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    watched.expect_answer(502, "/api/")
    page.route(API, lambda route: route.fulfill(status=502, body="<html>"))
    watched.look_again()
    expect(page.get_by_text("Not updating", exact=True)).to_be_visible()
    watched.follow("/?v=logs")
    note = page.get_by_role("alert").filter(has_text="The logs could not be loaded. The service does not answer.")
    expect(note).to_be_visible()

    page.unroute(API)
    watched.look_again()

    expect(note).to_have_count(0)
    expect(page.locator(".note-error")).to_have_count(0)


def test_tiles_search_and_address_narrow_the_table_and_back_undoes_it(enter: Enter, display: SimulatedDisplay) -> None:
    page = enter().page
    row = page.get_by_role("row", name=re.compile(name_of(display)))
    expect(row).to_be_visible()

    page.get_by_role("button", name=re.compile(r"^\d+ Crashed")).click()
    expect(row).to_have_count(0)
    assert "status=crashed" in page.url
    page.go_back()
    expect(row).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type(uuid_of(display)[:8])
    expect(page.locator("tbody tr")).to_have_count(1)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_label("Search displays")).to_have_value(uuid_of(display)[:8])
