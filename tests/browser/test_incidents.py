"""Displays that fail together."""

import re
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Enter, name_of, online_display, uuid_of
from tests.stack import Api

TOGETHER = 4


def test_displays_that_crash_together_are_one_incident_with_members_and_a_story(
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
