"""The fleet page of a chain of shops: causes first, a tile for each site, and filters that move the whole page."""

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, ViewportSize, expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.browser.test_every_page import violations
from tests.browser.test_true_words import lose
from tests.browser.watched import does_not_scroll_sideways

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


@pytest.fixture
def bern(database: Engine) -> Iterator[Fleet]:
    with inserted(database, "Shop Bern", 4) as fleet:
        yield fleet


@pytest.fixture
def koeln(database: Engine) -> Iterator[Fleet]:
    with inserted(database, "Shop Köln", 3) as fleet:
        yield fleet


@pytest.fixture
def basel(database: Engine) -> Iterator[Fleet]:
    """A shop whose displays all fell silent at once."""
    run(database, LISTENED_LONG)
    with inserted(database, "Shop Basel", 6, age_seconds=400) as fleet:
        yield fleet


def card(page: Page, words: str) -> Locator:
    return page.get_by_role("region", name="What is wrong").get_by_role("listitem").filter(has_text=words)


def tile(page: Page, site: str) -> Locator:
    return page.get_by_role("region", name="Sites").get_by_role("button").filter(has_text=site)


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
    expect(dark).to_contain_text("The network or power of the site is likely.")
    attention = page.locator(".attention")
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


def test_a_shop_is_snoozed_from_its_card(enter: Enter, database: Engine, basel: Fleet) -> None:
    watched = enter()
    page = watched.page
    watched.look_until(lambda: card(page, "Shop Basel").count() == 1, "the card of the shop")

    card(page, "Shop Basel").get_by_role("button", name="Snooze…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Shop Basel")
    dialog.get_by_role("button", name="Snooze", exact=True).click()

    expect(dialog).to_have_count(0)
    made = "SELECT scope || ' ' || site FROM notification_snoozes ORDER BY id DESC LIMIT 1"
    with database.begin() as connection:
        assert connection.execute(sa.text(made)).scalar_one() == "site Shop Basel"
        connection.execute(sa.text("DELETE FROM notification_snoozes"))


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


def test_one_grey_line_says_how_much_recovery_mended_today(enter: Enter, database: Engine, bern: Fleet) -> None:
    run(database, MENDED, uuids=bern.uuids[:2])

    page = enter().page

    expect(page.locator(".mended")).to_have_text(r"Recovery mended 2 failures since 06:00.")
    run(database, "DELETE FROM client_commands WHERE client_uuid = ANY(:uuids)", uuids=bern.uuids)


def test_a_tile_of_a_site_filters_the_whole_page_and_the_table_comes_first(
    enter: Enter, database: Engine, bern: Fleet, koeln: Fleet
) -> None:
    run(database, FAIL, uuids=[bern.uuid(1), koeln.uuid(1)])
    koeln.says("crashed", 2, 2)
    page = enter().page
    failed, attention = page.get_by_role("region", name="Service failed"), page.locator(".attention")
    expect(failed.get_by_role("listitem")).to_have_count(2)
    expect(attention.locator(".attention-row")).to_have_count(3)
    expect(tile(page, "Shop Köln")).to_contain_text("2 of 3 unwell")
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
    tile(page, "Shop Bern").click() if tile(page, "Shop Bern").count() else page.keyboard.press("/")
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
    expect(panel).to_contain_text("3 are mended.")
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
