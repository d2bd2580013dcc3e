"""Many displays at once: the consequence before, the question, and what became of each after."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import expect

from deploy.local.demo_fleet.simulated import SimulatedDisplay
from tests.browser.conftest import name_of, online_display, uuid_of
from tests.browser.watched import WatchedPage
from tests.stack import Api

ENDED_MS = 40_000


@pytest.fixture
def three(api: Api, tmp_path: Path) -> Iterator[list[SimulatedDisplay]]:
    """Three displays: the first two do what they are told, the third cannot restart its player."""
    with ExitStack() as stack:
        displays = [stack.enter_context(online_display(api, tmp_path / str(i))) for i in range(3)]
        for display in displays[:2]:
            display.behave(automatic=True)
        displays[2].health(screen_health="ok", capabilities=["reboot_host"])
        yield displays


def test_the_dialog_says_the_consequence_and_then_what_became_of_each_display(
    dashboard: WatchedPage, three: list[SimulatedDisplay], api: Api
) -> None:
    page = dashboard.sign_in()
    for display in three:
        page.get_by_label(f"Choose {name_of(display)}").check()
    page.get_by_label("Search displays").fill("nothing is called so")
    bar = page.get_by_role("region", name="Chosen displays")
    expect(bar).to_contain_text("3 displays chosen")

    bar.get_by_role("button", name="Restart player").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".consequence")).to_have_text("2 will be sent · 1 cannot do this")
    assert api.get("/api/command-batches")["items"] == []
    dialog.get_by_role("button", name="Restart player 2 displays").click()

    expect(dialog).to_contain_text("2 of 3 proven, 0 on their way, 0 not proven.", timeout=ENDED_MS)
    for display, word in zip(three, ("Succeeded", "Succeeded", "Cannot do this"), strict=True):
        expect(dialog.locator(".batch-member").filter(has_text=name_of(display))).to_contain_text(word)
    dialog.get_by_role("button", name="All bulk commands").click()
    expect(page.get_by_role("region", name="One bulk command")).to_contain_text("2 of 3 proven")
    assert [uuid_of(display) for display in three]


@pytest.fixture
def eleven(api: Api) -> Iterator[str]:
    """The site of eleven clients that have not connected yet."""
    uuids = [str(uuid.uuid4()) for _ in range(11)]
    for number, identity in enumerate(uuids):
        api.call("POST", f"/api/clients/{identity}/enrolment", 201)
        api.call("PATCH", f"/api/clients/{identity}", json={"name": f"Wall {number}", "site": "Oslo"})
    yield "Oslo"
    for identity in uuids:
        api.call("DELETE", f"/api/clients/{identity}", 204)


def test_more_than_ten_have_to_be_typed_and_closing_sends_nothing(
    dashboard: WatchedPage, eleven: str, api: Api
) -> None:
    batches = len(api.get("/api/command-batches")["items"])
    page = dashboard.sign_in()
    page.get_by_label("Search displays").fill(eleven)
    expect(page.get_by_role("row")).to_have_count(12)
    page.get_by_label("Choose all that are listed").check()

    page.get_by_role("region", name="Chosen displays").get_by_role("button", name="Reboot").click()
    dialog = page.get_by_role("dialog")
    send = dialog.get_by_role("button", name="Reboot 11 displays")
    expect(send).to_be_disabled()
    dialog.get_by_label("Type 11 to go on").fill("10")
    expect(send).to_be_disabled()
    dialog.get_by_label("Type 11 to go on").fill("11")
    expect(send).to_be_enabled()
    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    assert len(api.get("/api/command-batches")["items"]) == batches
