"""The fleet page of a chain of shops: causes first, a tile for each site, and filters that move the whole page."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, Route, ViewportSize, expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.browser.test_every_page import violations
from tests.browser.test_true_words import lose
from tests.browser.watched import does_not_scroll_sideways
from tests.browser.windows import Opened
from tests.stack import Api

LISTENED_LONG = "UPDATE bridge_status SET connected_since = now() - interval '1 hour'"
FAIL = sa.text(
    "UPDATE clients SET service_failed_at = now() - interval '5 minutes', service_failed_unit = 'menu.service'"
    " WHERE uuid = ANY(CAST(:uuids AS text[]))"
)
NAMES_NONE = sa.text(
    """
    INSERT INTO client_health (client_uuid, received_at, body)
    SELECT uuid, now(), '{"service_failed": null}' FROM unnest(CAST(:uuids AS text[])) AS uuid
    """
)
MENDED = sa.text(
    """
    INSERT INTO client_commands (id, client_uuid, action, state, source, requested_by, created_at, expires_at,
        finished_at)
    SELECT gen_random_uuid()::text, uuid, 'restart_app', 'succeeded', 'recovery', 'recovery', now(),
        now() + interval '1 minute', now() FROM unnest(CAST(:uuids AS text[])) AS uuid
    """
)
PHONE = ViewportSize(width=390, height=844)


def run(database: Engine, statement: Any, **values: Any) -> None:
    with database.begin() as connection:
        connection.execute(sa.text(statement) if isinstance(statement, str) else statement, values)


@pytest.fixture(autouse=True, scope="module")
def alone(database: Engine) -> None:
    """Take away what other tests left: this file counts what the page shows, and a failure joins an open cluster."""
    run(database, "UPDATE clients SET deleted_at = now() WHERE deleted_at IS NULL")
    run(database, "UPDATE incident_members SET left_at = now() WHERE left_at IS NULL")
    run(database, "UPDATE incidents SET closed_at = now() WHERE closed_at IS NULL")


@pytest.fixture
def bern(database: Engine, opened: Opened) -> Iterator[Fleet]:
    with inserted(database, "Shop Bern", 4) as fleet:
        yield fleet
        opened.close()  # a page that still asks for a display that is gone is told so


@pytest.fixture
def koeln(database: Engine, opened: Opened) -> Iterator[Fleet]:
    with inserted(database, "Shop Köln", 3) as fleet:
        yield fleet
        opened.close()


@pytest.fixture
def basel(database: Engine) -> Iterator[Fleet]:
    """A shop whose displays all fell silent at once."""
    run(database, LISTENED_LONG)
    with inserted(database, "Shop Basel", 6, age_seconds=400) as fleet:
        yield fleet


def card(page: Page, words: str) -> Locator:
    return page.get_by_role("region", name="What is wrong").get_by_role("listitem").filter(has_text=words)


def tile(page: Page, site: str) -> Locator:
    return page.get_by_role("region", name="Sites").locator("button.shop").filter(has_text=site)


def table_rows(page: Page) -> Locator:
    return page.locator(".displays tbody tr:not(.spacer)")


def top_of(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["y"]


def test_a_dark_shop_is_one_card_and_its_displays_are_folded_into_it(
    enter: Enter, database: Engine, basel: Fleet, bern: Fleet
) -> None:
    bern.says("crashed", 1, 1)
    watched = enter()
    page = watched.page
    watched.look_until(lambda: card(page, "Shop Basel: 6 of 6 silent").count() == 1, "the card of the shop")

    dark = card(page, "Shop Basel: 6 of 6 silent since")
    expect(dark).to_contain_text("The network or power of the site is the likely cause.")
    attention = page.locator(".attention")
    expect(dark.locator("h2")).to_contain_text(re.compile(r"since [0-9:]+ +\d+ min ago"))
    expect(tile(page, "Shop Basel")).to_contain_text("6 of 6 silent")
    expect(tile(page, "Shop Bern")).to_contain_text("1 of 4 crashed")
    expect(attention.get_by_role("heading")).to_have_text("Needs attention 1 display, besides the 6 above")
    expect(attention).to_contain_text(bern.name(1))
    expect(attention).not_to_contain_text("Basel")
    assert top_of(dark) < top_of(attention) < top_of(page.locator(".displays"))
    assert violations(page) == []

    dark.get_by_role("button", name="Show the 6").click()

    expect(table_rows(page)).to_have_count(6)
    expect(attention).to_have_count(0)
    assert top_of(page.locator(".displays")) < top_of(dark)
    assert "incident=" in page.url
    page.go_back()
    expect(attention).to_contain_text(bern.name(1))


def test_a_shop_is_snoozed_from_its_card(enter: Enter, api: Api, basel: Fleet, bern: Fleet) -> None:
    watched = enter()
    page = watched.page
    watched.look_until(lambda: card(page, "Shop Basel").count() == 1, "the card of the shop")

    card(page, "Shop Basel").get_by_role("button", name="Snooze the site…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Shop Basel")
    dialog.get_by_role("button", name="Make it quiet").click()

    expect(dialog).to_have_count(0)
    expect(tile(page, "Shop Basel")).to_contain_text("Snoozed until")
    expect(tile(page, bern.site)).not_to_contain_text("Snoozed")
    [made] = api.get("/api/quiet-times?current=true")["items"]
    assert (made["preset"], made["scope"], made["site"]) == ("snooze", "site", "Shop Basel")
    api.call("DELETE", f"/api/quiet-times/{made['id']}", 204)


def test_unsteady_connections_are_a_cause_of_their_own_with_the_worst_named(
    enter: Enter, database: Engine, bern: Fleet
) -> None:
    lose(database, bern.uuid(2), 26)
    lose(database, bern.uuid(3), 4)
    page = enter().page

    unsteady = card(page, "Unsteady connection: 2 displays")
    expect(unsteady).to_contain_text(f"{bern.name(2)} did 26 times")
    unsteady.get_by_role("button", name="Show the 2").click()

    expect(table_rows(page)).to_have_count(2)
    expect(page.get_by_role("button", name="Remove the filter Unsteady connection")).to_be_visible()


def test_a_login_that_two_devices_use_is_a_card_and_a_new_code_in_the_panel_ends_it(
    enter: Enter, api: Api, database: Engine, bern: Fleet
) -> None:
    seen = "UPDATE clients SET shared_login_seen_at = now(), shared_login_since = now() WHERE uuid = :uuid"
    run(database, seen, uuid=bern.uuid(2))
    page = enter().page

    card(page, "Two devices with one login: 1 display").get_by_role("button", name=bern.name(2)).click()
    panel = page.get_by_role("region", name="Two devices with one login")
    panel.get_by_role("button", name="New code").click()
    code = panel.locator(".code code").inner_text()
    expect(panel).to_contain_text("Give this code to the device that shall stay")
    api.call("POST", "/api/enroll", 201, json={"code": code})

    expect(panel).to_have_count(0)
    expect(card(page, "Two devices with one login")).to_have_count(0)


def test_one_grey_line_says_how_much_recovery_mended_today(enter: Enter, database: Engine, bern: Fleet) -> None:
    run(database, MENDED, uuids=bern.uuids[:2])

    page = enter().page

    expect(page.locator(".mended")).to_have_text("Recovery mended 2 failures since 06:00.")
    run(database, "DELETE FROM client_commands WHERE client_uuid = ANY(:uuids)", uuids=bern.uuids)


def test_a_tile_of_a_site_filters_the_whole_page_and_the_table_comes_first(
    enter: Enter, database: Engine, bern: Fleet, koeln: Fleet
) -> None:
    run(database, FAIL, uuids=[bern.uuid(1), koeln.uuid(1)])
    koeln.says("crashed", 2, 2)
    page = enter().page
    failed, attention = page.get_by_role("region", name="Service failed"), page.locator(".attention")
    expect(failed.get_by_role("listitem")).to_have_count(2)
    of_shops = attention.locator(".attention-row").filter(has_text="Shop ")  # other tests' displays are elsewhere
    expect(of_shops).to_have_count(3)
    expect(tile(page, "Shop Köln")).to_contain_text("2 of 3 unwell")  # one crashed, one with a failed service
    assert top_of(failed) < top_of(page.locator(".displays"))

    tile(page, "Shop Köln").click()

    expect(tile(page, "Shop Köln")).to_have_attribute("aria-pressed", "true")
    expect(tile(page, "Shop Köln")).to_be_focused()
    expect(failed.get_by_role("listitem")).to_have_count(1)
    expect(attention.locator(".attention-row")).to_have_count(2)
    expect(table_rows(page)).to_have_count(3)
    expect(page.locator(".tile.status-crashed .tile-count")).to_have_text("1")
    assert top_of(page.locator(".displays")) < top_of(failed)
    page.get_by_role("button", name="Remove the filter Shop Köln").click()
    expect(failed.get_by_role("listitem")).to_have_count(2)


def test_displays_without_a_site_have_a_tile_and_tags_have_chips(
    enter: Enter, database: Engine, bern: Fleet, koeln: Fleet
) -> None:
    run(database, "UPDATE clients SET site = NULL WHERE uuid = :uuid", uuid=koeln.uuid(1))
    run(database, "UPDATE clients SET tags = '{menu}' WHERE uuid = ANY(:uuids)", uuids=[bern.uuid(1), koeln.uuid(1)])
    page = enter().page

    tile(page, "No site").click()
    expect(table_rows(page)).to_have_count(1)
    page.get_by_role("button", name="Clear filters").click()
    page.get_by_role("group", name="Tags").get_by_role("button", name="menu 2").click()
    expect(table_rows(page)).to_have_count(2)
    tile(page, "Shop Bern").click()
    expect(table_rows(page)).to_have_count(1)
    page.reload()
    expect(table_rows(page)).to_have_count(1)
    expect(page.get_by_role("button", name="Remove the filter Tag menu")).to_be_visible()


def test_a_search_of_many_words_without_accents_stays_in_sight(enter: Enter, bern: Fleet, koeln: Fleet) -> None:
    koeln.says("crashed", 3, 3)
    page = enter().page
    search = page.get_by_label("Search displays")

    search.fill("crashed KOLN")
    expect(table_rows(page)).to_have_count(1)
    expect(table_rows(page).first).to_contain_text(koeln.name(3))
    search.fill("shop")
    expect(table_rows(page)).to_have_count(7)
    page.mouse.wheel(0, 10_000)

    expect(search).to_be_in_viewport()
    expect(search).to_be_focused()


def test_the_site_stands_in_every_name_and_on_a_phone_below_it(enter: Enter, bern: Fleet) -> None:
    watched = enter(viewport=PHONE)
    page = watched.page
    row = page.get_by_role("button", name=f"{bern.name(1)}, Shop Bern", exact=True)

    expect(row).to_be_visible()
    expect(page.get_by_role("checkbox", name=f"Select {bern.name(1)}, Shop Bern")).to_be_visible()
    expect(row.locator(".below")).to_be_visible()
    assert top_of(row.locator(".below")) > top_of(row)
    assert does_not_scroll_sideways(page)
    assert violations(page) == []


def test_what_is_mended_is_acknowledged_in_one_press_and_the_list_is_shown_before(
    enter: Enter, database: Engine, bern: Fleet
) -> None:
    run(database, FAIL, uuids=bern.uuids)
    run(database, NAMES_NONE, uuids=bern.uuids[:3])
    run(database, MENDED, uuids=bern.uuids[:1])
    page = enter().page
    panel = page.get_by_role("region", name="Service failed")
    expect(panel).to_contain_text("Service failed on 1 display")
    expect(panel).to_contain_text("3 services failed and work again.")
    expect(panel.get_by_role("listitem")).to_have_count(1)
    panel.get_by_role("button", name="Show all 4").click()
    expect(panel.get_by_role("listitem").filter(has_text=bern.name(1))).to_contain_text("restarted by recovery, well")

    panel.get_by_role("button", name="Acknowledge these 3").click()
    dialog = page.get_by_role("dialog", name="Acknowledge what is mended")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    expect(dialog).not_to_contain_text(bern.name(4))
    run(database, "UPDATE clients SET service_failed_at = now() WHERE uuid = :uuid", uuid=bern.uuid(2))
    dialog.get_by_role("button", name="Acknowledge these 3").click()

    expect(dialog).to_contain_text("1 failure was left: the display failed again, or somebody was faster.")
    dialog.get_by_role("button", name="Close").first.click()
    for n in (1, 3):
        expect(panel.get_by_role("listitem").filter(has_text=bern.name(n))).to_contain_text("Acknowledged ✓")
    standing = sa.text("SELECT uuid FROM clients WHERE service_failed_at IS NOT NULL AND deleted_at IS NULL")
    with database.begin() as connection:
        assert set(connection.execute(standing).scalars()) == {bern.uuid(2), bern.uuid(4)}
    run(database, "DELETE FROM client_commands WHERE client_uuid = ANY(:uuids)", uuids=bern.uuids)


def test_shift_chooses_the_rows_between_two(enter: Enter, koeln: Fleet, bern: Fleet) -> None:
    page = enter("/?sort=name").page

    page.get_by_label(f"Select {bern.name(2)}").click()
    page.get_by_label(f"Select {koeln.name(2)}").click(modifiers=["Shift"])

    expect(page.get_by_text("5 displays selected")).to_be_visible()
    page.get_by_label(f"Select {bern.name(4)}").click(modifiers=["Shift"])
    expect(page.get_by_text("2 displays selected")).to_be_visible()


def test_the_row_that_was_clicked_stays_where_it_is_and_the_panel_lies_over_the_page(
    enter: Enter, koeln: Fleet, bern: Fleet
) -> None:
    page = enter(viewport=ViewportSize(width=1440, height=900)).page
    row = page.get_by_role("button", name=bern.row_name(2), exact=True)
    before, width = row.bounding_box(), page.locator(".displays").bounding_box()

    row.click()

    panel = page.get_by_role("complementary", name=f"Display {bern.name(2)}")
    expect(panel.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    assert (row.bounding_box(), page.locator(".displays").bounding_box()) == (before, width)
    assert top_of(panel.get_by_role("button", name="Restart player")) < top_of(panel.get_by_role("tablist"))
    panel.get_by_role("tab", name="Logs").click()
    expect(panel.get_by_text("No log line").or_(panel.locator(".logs")).first).to_be_in_viewport()


def test_what_is_loaded_later_moves_nothing(enter: Enter, koeln: Fleet, bern: Fleet, database: Engine) -> None:
    run(database, "UPDATE clients SET tags = '{menu}' WHERE uuid = ANY(:uuids)", uuids=bern.uuids[:1])
    page, held = enter("/?v=settings", viewport=ViewportSize(width=1440, height=900)).page, list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("views/(tags|connect_button).js"), hold)
    page.reload()
    page.get_by_role("link", name="Fleet", exact=True).click()
    row = page.get_by_role("button", name=bern.row_name(2), exact=True)
    row.wait_for()
    before = row.bounding_box()
    assert len(held) == 2
    for route in held:
        route.continue_()

    expect(page.get_by_role("button", name="menu 1")).to_be_visible()
    expect(page.get_by_role("button", name="Connect a display")).to_be_visible()
    assert row.bounding_box() == before


def test_a_held_shop_stands_last_with_hollow_dots(
    enter: Enter, api: Api, database: Engine, bern: Fleet, koeln: Fleet
) -> None:
    run(database, FAIL, uuids=[*koeln.uuids[:1], *bern.uuids])
    body = {"preset": "hold", "scope": "site", "site": bern.site, "reason": "Paint"}
    held = api.post(
        "/api/quiet-times", {**body, "ends_at": f"{datetime.now(UTC) + timedelta(hours=3):%Y-%m-%dT%H:%M:%SZ}"}, 201
    )
    page = enter().page

    tiles = page.locator(".shop")
    expect(tiles.last).to_contain_text("Held until")
    expect(tiles.last).to_contain_text("Shop Bern")
    expect(tiles.last.locator(".hole")).not_to_have_count(0)
    expect(tiles.first).to_contain_text("Shop Köln")
    expect(tiles.first.locator(".hole")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("2 of 7 screens are fine")
    api.call("DELETE", f"/api/quiet-times/{held['id']}", 204)


def test_an_incident_that_comes_again_says_so_and_leads_to_the_one_before(
    enter: Enter, database: Engine, bern: Fleet
) -> None:
    made = """INSERT INTO incidents (kind, key, began_at, opened_at, closed_at, cause, again_of)
        VALUES ('site', 'Shop Bern', {began}, {began}, {closed}, {cause}, {of}) RETURNING id"""
    hour = "now() - interval '1 hour'"
    cause = """'{"code": "as_given", "facts": {"text": "The network or power."}}'"""
    with database.begin() as connection:
        first = connection.execute(sa.text(made.format(began=hour, closed=hour, cause=cause, of="NULL"))).scalar_one()
        second = connection.execute(
            sa.text(made.format(began="now()", closed="now()", cause=cause, of=first))
        ).scalar_one()
    page = enter(f"/?v=incidents&which=closed&i={second}").page

    details = page.locator(".incident-details")
    expect(details).to_contain_text("2 times in 24 hours")
    details.get_by_role("button", name=f"The one before: incident {first}").click()
    expect(details.get_by_role("heading", name=f"Incident {first}")).to_be_visible()
    expect(details).not_to_contain_text("times in 24 hours")


def test_the_tab_of_the_browser_says_how_much_is_wrong(enter: Enter, database: Engine, bern: Fleet) -> None:
    watched = enter("/?v=logs")
    page = watched.page
    expect(page).to_have_title("Logs · Signage Fleet")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", "icon.svg")

    bern.says("crashed", 1, 3)
    run(database, FAIL, uuids=bern.uuids[:1])
    watched.look_again()

    expect(page).to_have_title("(3) Logs · Signage Fleet")
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", "icon-red.svg")


@pytest.mark.parametrize("size", [PHONE, ViewportSize(width=1920, height=1080)])
def test_the_wall_shows_the_sites_and_what_is_wrong(
    enter: Enter, database: Engine, bern: Fleet, koeln: Fleet, size: ViewportSize
) -> None:
    run(database, FAIL, uuids=[*koeln.uuids[:2], *bern.uuids])
    run(database, "UPDATE clients SET service_mended_at = now() WHERE uuid = ANY(:uuids)", uuids=bern.uuids)
    watched = enter(viewport=size)
    page = watched.page
    page.get_by_role("link", name="Wall").click()

    wall = page.get_by_role("main")
    expect(wall.locator(".wall-shop").first).to_contain_text("Shop Köln")
    expect(wall.locator(".wall-shop").first).to_contain_text("2 of 3 unwell")
    expect(wall.locator(".wall-wrong")).to_have_text("Service failed on 2 displays")
    expect(wall.locator(".wall-shop.unwell")).to_have_count(1)
    expect(wall.locator(".wall-mended")).to_have_text("4 failed services are mended, not acknowledged.")
    assert "v=wall" in page.url
    assert does_not_scroll_sideways(page)
    assert violations(page) == []
    page.get_by_role("button", name="Back to the fleet").click()
    expect(page.get_by_label("Search displays")).to_be_visible()


def test_a_display_is_renamed_moved_and_tagged_in_its_panel(enter: Enter, api: Api, bern: Fleet) -> None:
    page = enter(f"/?d={bern.uuid(1)}").page
    page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog", name="Edit the display")
    expect(dialog.get_by_label("Site")).to_have_value("Shop Bern")
    assert violations(page) == []
    dialog.get_by_label("Name").fill("Lobby North")
    dialog.get_by_label("Site").fill("Shop Chur")
    dialog.get_by_label("Tags").fill("menu, 4k, menu")
    dialog.get_by_label("Notes").fill("Behind the fridge")
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_have_count(0)
    expect(page.get_by_role("button", name="Lobby North, Shop Chur", exact=True)).to_be_visible()
    expect(page.get_by_role("complementary")).to_contain_text("Behind the fridge")
    shown = api.get(f"/api/clients/{bern.uuid(1)}")
    assert (shown["name"], shown["site"], shown["tags"]) == ("Lobby North", "Shop Chur", ["menu", "4k"])


def test_whoever_moves_a_display_out_of_a_quiet_time_is_told(enter: Enter, api: Api, bern: Fleet) -> None:
    hold = {"preset": "hold", "reason": "painted", "scope": "site", "site": "Shop Bern"}
    made = api.post("/api/quiet-times", hold, 201)["id"]
    page = enter(f"/?d={bern.uuid(1)}").page
    page.get_by_role("button", name="Edit…").click()
    dialog = page.get_by_role("dialog", name="Edit the display")
    dialog.get_by_label("Site").fill("Shop Chur")
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_contain_text(f"No quiet time leaves these alone any more: {bern.name(1)}")
    assert violations(page) == []
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_have_count(0)
    api.call("DELETE", f"/api/quiet-times/{made}", 204)


def test_many_displays_are_moved_and_tagged_and_what_is_gone_is_named(
    enter: Enter, api: Api, database: Engine, bern: Fleet
) -> None:
    page = enter("/?sort=name").page
    page.get_by_label(f"Select {bern.name(1)}").click()
    page.get_by_label(f"Select {bern.name(3)}").click(modifiers=["Shift"])
    page.get_by_role("button", name="Move or tag…").click()
    dialog = page.get_by_role("dialog", name="Move or tag displays")
    expect(dialog).to_contain_text("This changes 3 displays.")
    dialog.get_by_label("Move them to this site").check()
    dialog.get_by_label("Site", exact=True).fill("Shop Chur")
    dialog.get_by_label("Add tags").fill("window")
    run(database, "UPDATE clients SET deleted_at = now() WHERE uuid = :uuid", uuid=bern.uuid(2))
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_contain_text("All but these were changed; they are gone, or would have too many tags: ")
    dialog.get_by_role("button", name="Close").last.click()
    for n in (1, 3):
        shown = api.get(f"/api/clients/{bern.uuid(n)}")
        assert (shown["site"], shown["tags"]) == ("Shop Chur", ["window"])
    expect(tile(page, "Shop Chur")).to_contain_text("all 2 well")


def test_the_audit_log_speaks_in_words_and_its_displays_open(enter: Enter, api: Api, bern: Fleet) -> None:
    api.call("PATCH", f"/api/clients/{bern.uuid(1)}", json={"notes": "new"})
    page = enter("/?v=settings").page

    entry = page.locator(".audit").filter(has_text="changed the display").first
    expect(entry).to_contain_text("scripts on this machine")
    entry.get_by_role("button", name=bern.row_name(1)).click()

    expect(page.get_by_role("complementary", name=f"Display {bern.name(1)}")).to_be_visible()


def test_an_admin_renames_a_shop_from_its_tile_and_makes_two_shops_one(
    enter: Enter, api: Api, bern: Fleet, koeln: Fleet
) -> None:
    link = api.call("POST", "/api/status-links", 201, json={"name": "the manager", "site": "Shop Bern"}).json()
    page = enter().page
    tile(page, "Shop Bern").click()
    page.get_by_role("button", name="Rename Shop Bern…").click()
    dialog = page.get_by_role("dialog", name="Rename Shop Bern")
    dialog.get_by_label("New name").fill(" Shop  Bern West ")
    dialog.get_by_role("button", name="Rename").click()

    expect(dialog).to_have_count(0)
    expect(tile(page, "Shop Bern West")).to_contain_text("all 4 well")
    expect(table_rows(page)).to_have_count(4)
    named = {one["id"]: one["site"] for one in api.get("/api/status-links")["items"]}
    assert named[link["id"]] == "Shop Bern West"

    page.get_by_role("button", name="Rename Shop Bern West…").click()
    dialog = page.get_by_role("dialog", name="Rename Shop Bern West")
    dialog.get_by_label("New name").fill("Shop Ko\u0308ln")
    dialog.get_by_role("checkbox", name="There is a site Shop Köln.").check()
    assert violations(page) == []
    assert does_not_scroll_sideways(page)
    dialog.get_by_role("button", name="Rename").click()

    expect(page).to_have_url(re.compile(r"site=Shop\+K%C3%B6ln"))
    assert len(api.get("/api/clients?site=Shop Köln")["items"]) == 7
    api.call("DELETE", f"/api/status-links/{link['id']}", 204)
