"""Displays that fail together, maintenance windows, and an operator's instructions to recovery."""

import re
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import expect

from deploy.displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, online_display, uuid_of
from tests.stack import Api, eventually

TOGETHER = 4


def test_displays_that_crash_together_are_one_incident_with_its_members_and_its_story(
    enter: Enter, api: Api, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        displays = [stack.enter_context(online_display(api, tmp_path / str(i))) for i in range(TOGETHER)]
        for display in displays:
            api.call("PATCH", f"/api/clients/{uuid_of(display)}", json={"site": "Rome"})
        for display in displays:
            display.heartbeat("crashed")
        watched = enter("/?v=incidents")
        page = watched.page

        row = page.locator(".incident-row").filter(has_text="Rome")
        whole = row.filter(has_text=f"{TOGETHER} of {TOGETHER} displays still unwell")
        watched.look_until(whole.is_visible, "the incident with all of them")
        row.click()

        details = page.locator(".incident-details")
        for display in displays:
            expect(details.get_by_role("button", name=name_of(display))).to_be_visible()
        expect(details.locator(".event").first).to_be_visible()
        details.get_by_role("button", name=name_of(displays[0])).click()
        panel = page.get_by_role("complementary", name=f"Display {name_of(displays[0])}")
        expect(panel.get_by_role("button", name=re.compile("Part of incident"))).to_be_visible()
        for display in displays:
            display.heartbeat("running")


def test_a_maintenance_window_is_planned_and_ended(enter: Enter, display: SimulatedDisplay, api: Api) -> None:
    page = enter("/?v=incidents").page
    page.get_by_role("button", name="Plan a window").click()
    page.get_by_label("Name", exact=True).fill("Rewiring")
    page.get_by_role("combobox", name="For").select_option("Berlin")
    page.get_by_label("Until", exact=True).fill(f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}")
    page.get_by_role("button", name="Plan it").click()

    row = page.locator(".token").filter(has_text="Rewiring")
    expect(row).to_contain_text("On now")
    expect(row).to_contain_text("Berlin")
    [window] = [one for one in api.get("/api/maintenance-windows")["items"] if one["name"] == "Rewiring"]
    assert (window["site"], window["state"]) == ("Berlin", "active")
    assert uuid_of(display)
    row.get_by_role("button", name="End the window Rewiring").click()
    expect(row).to_contain_text("Ended")


def test_a_window_that_ends_before_it_begins_is_refused_in_words(enter: Enter) -> None:
    dashboard = enter("/?v=incidents")
    page = dashboard.page
    dashboard.expect_answer(422, "/api/maintenance-windows$")
    page.get_by_role("button", name="Plan a window").click()
    page.get_by_label("Name", exact=True).fill("Backwards")
    page.get_by_label("From (empty: now)").fill("2099-01-02T06:00")
    page.get_by_label("Until", exact=True).fill("2099-01-01T06:00")
    page.get_by_role("button", name="Plan it").click()

    expect(page.get_by_role("dialog").get_by_role("alert")).not_to_be_empty()
    eventually(lambda: page.get_by_role("dialog").is_visible(), "the dialog that stays")
