"""Eleven tasks of an operator of 300 displays in 12 shops, and how often each has them press something.

A task in which nothing is typed takes at most three presses; the presses of one in which something is typed are bounded
as well, without those that go to a field. Each begins on the fleet page.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.browser.test_conversions import deck
from tests.browser.test_shops import FAIL, LISTENED_LONG, MENDED, NAMES_NONE, card, run, table_rows, tile
from tests.browser.watched import FLEET, WatchedPage
from tests.browser.windows import Opened
from tests.stack import Api, eventually

pytestmark = pytest.mark.slow
MOST: Final = 3
SIZES: Final = {
    "Aarau": 10,
    "Thun": 40,
    **dict.fromkeys(["Bern", "Biel", "Chur", "Genf", "Köln", "Lyon", "Rom", "Turin", "Wil", "Zug"], 25),
}
COUNT_PRESSES = """() => {
  window.presses = 0;
  addEventListener('pointerdown', (event) => {
    if (!event.target.closest('input:not([type=checkbox], [type=radio], [type=file]), textarea')) window.presses++;
  }, true);
}"""


@dataclass
class Walk:
    """The operator's page, and how often each task had them press something."""

    watched: WatchedPage
    well: list[Fleet]
    presses: dict[str, int] = field(default_factory=dict)

    @property
    def page(self) -> Page:
        return self.watched.page

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """Begin on the fleet page, all shops but the dark one alive, and count the presses until the end."""
        for fleet in self.well:
            fleet.beat()
        self.watched.follow("/")
        expect(self.page.get_by_role("heading", name=FLEET)).to_be_visible()
        self.watched.look_again()
        expect(table_rows(self.page).first).to_be_visible()
        self.page.evaluate("window.presses = 0")
        yield
        self.presses[name] = self.page.evaluate("window.presses")

    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")


@pytest.fixture(scope="module")
def shops(database: Engine) -> Iterator[dict[str, Fleet]]:
    """Twelve shops with 300 displays, and nothing of other tests beside them.

    No other test has a dark shop in Thun, whose incident would be opened again, or opening hours in Wil, whose past
    would stay.
    """
    run(database, "UPDATE clients SET deleted_at = now() WHERE deleted_at IS NULL")
    run(database, LISTENED_LONG)
    with ExitStack() as stack:
        yield {city: stack.enter_context(inserted(database, f"Shop {city}", size)) for city, size in SIZES.items()}


def test_eleven_tasks_take_three_presses_each(
    enter: Enter, opened: Opened, api: Api, database: Engine, shops: dict[str, Fleet]
) -> None:
    dark, bern, wil = shops["Thun"], shops["Bern"], shops["Wil"]
    for fleet in shops.values():
        fleet.lived(days=70)
    month = (datetime.now(UTC).replace(day=1) - timedelta(days=1)).replace(day=5, hour=10)
    wil.was(1, "crashed", month, month + timedelta(hours=30))
    dark.beat(age_seconds=400)
    watched = enter(viewport={"width": 1440, "height": 900}, timezone_id="Etc/UTC")
    walk = Walk(watched, [fleet for fleet in shops.values() if fleet is not dark])
    page = walk.page
    page.evaluate(COUNT_PRESSES)

    with walk.task("find a dark shop"):
        watched.look_until(lambda: card(page, "Shop Thun: 40 of 40 silent").count() == 1, "the card of the shop")
        card(page, "Shop Thun").get_by_role("button", name="Show the 40").click()
        expect(page.locator(".displays h2")).to_contain_text("40 of 300")

    with walk.task("restart one"):
        tile(page, "Shop Bern").click()
        page.get_by_role("button", name=bern.row_name(3), exact=True).click()
        page.get_by_role("complementary").get_by_role("button", name="Restart player").click()
        expect(page.get_by_role("complementary").locator(".order")).to_be_visible()
    sent = f"/api/clients/{bern.uuid(3)}/commands"
    eventually(lambda: [one["action"] for one in api.get(sent)["items"]] == ["restart_app"], "the command")

    with walk.task("reboot ten"):
        tile(page, "Shop Aarau").click()
        expect(table_rows(page)).to_have_count(10)
        bar = page.get_by_role("region", name="Selected displays")
        expect(bar).to_contain_text("None selected: for all 10 listed")
        bar.get_by_role("button", name="Reboot…").click()
        walk.dialog().get_by_role("button", name="Reboot 10 displays").click()
        expect(walk.dialog().locator(".batch-member")).to_have_count(10)
    walk.dialog().get_by_role("button", name="Close").last.click()

    run(database, FAIL, uuids=wil.uuids[:4])
    run(database, NAMES_NONE, uuids=wil.uuids[:4])
    run(database, MENDED, uuids=wil.uuids[:4])
    with walk.task("acknowledge the mended"):
        panel = page.get_by_role("region", name="Service failed")
        panel.get_by_role("button", name="Acknowledge these 4").click()
        walk.dialog().get_by_role("button", name="Acknowledge these 4").click()
        expect(panel.get_by_text("Acknowledged ✓")).to_have_count(4)

    with walk.task("move a display (typed)"):
        page.get_by_label("Search displays").fill("bern 4")
        page.get_by_role("button", name=bern.row_name(4), exact=True).click()
        page.get_by_role("button", name="Edit…").click()
        walk.dialog().get_by_label("Site").fill("Shop Chur")
        walk.dialog().get_by_role("button", name="Save").click()
        expect(walk.dialog()).to_have_count(0)
    assert api.get(f"/api/clients/{bern.uuid(4)}")["site"] == "Shop Chur"

    with walk.task("plan maintenance for a shop (typed)"):
        page.get_by_role("link", name="Quiet times").click()
        page.get_by_role("button", name="Add a quiet time").click()
        walk.dialog().get_by_label("Site", exact=True).fill("Shop Wil")
        walk.dialog().get_by_label("Until", exact=True).fill(f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT%H:%M}")
        walk.dialog().get_by_role("button", name="Make it quiet").click()
        expect(page.get_by_role("listitem").filter(has_text="Shop Wil")).to_contain_text("25 displays")

    with walk.task("upload a deck"):
        page.get_by_role("link", name="Presentations").click()
        with page.expect_file_chooser() as chooser:
            page.get_by_text("Choose files").click()
        content = deck(2, font="Nowhere Sans")
        chooser.value.set_files(FilePayload(name="Walk.pptx", mimeType="", buffer=content))
        media = page.locator(".media").filter(has_text="Walk.pptx")
        expect(media).to_be_visible()
    expect(media).to_have_attribute("data-status", "ready")

    with walk.task("read its report"):
        page.get_by_role("link", name="Presentations").click()
        media.get_by_text("1 warning").click()
        expect(media.locator(".warnings")).to_contain_text("Nowhere Sans")

    with walk.task("invite a person for one site (typed)"):
        page.get_by_role("link", name="Settings").click()
        page.get_by_role("button", name="Add a person").click()
        walk.dialog().get_by_label("User name").fill("walk-ada")
        walk.dialog().get_by_label("Only for these sites").fill("Shop Wil")
        walk.dialog().get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("dialog", name="A password for walk-ada")).to_be_visible()
    page.get_by_role("button", name="Done").click()

    with walk.task("connect a display (typed)"):
        page.get_by_role("button", name="Connect a display").click()
        page.get_by_label("Name of the display").fill("Walk Entrance")
        page.get_by_role("button", name="Create an enrolment code").click()
        expect(page.locator(".code code")).to_be_visible()
    walk.dialog().get_by_role("button", name="Close").click()

    with walk.task("say last month's availability"):
        page.get_by_role("link", name="Availability").click()
        page.get_by_role("combobox", name="Period").select_option(index=9)
        page.get_by_role("row", name="Shop Wil").get_by_role("button").click()
        expect(page.get_by_role("region", name="Shop Wil")).to_contain_text("Down for 1 h 12 min each, on average")

    assert len(walk.presses) == 11
    assert {name: n for name, n in walk.presses.items() if not 1 <= n <= MOST} == {}
    opened.close()
    clean_up(api)


def clean_up(api: Api) -> None:
    """Take away what the walk made beside its shops."""
    for one in api.get("/api/quiet-times?current=true")["items"]:
        api.call("DELETE", f"/api/quiet-times/{one['id']}", 204)
    for one in api.get("/api/event-media")["items"]:
        if one["filename"] == "Walk.pptx":
            api.call("DELETE", f"/api/event-media/{one['id']}", 204)
    for one in api.get("/api/users")["items"]:
        if one["username"] == "walk-ada":
            api.call("DELETE", f"/api/users/{one['id']}", 204)
    for one in api.get("/api/clients", params={"q": "Walk Entrance"})["items"]:
        api.call("DELETE", f"/api/clients/{one['uuid']}", 204)
