"""A fleet of more than 10,000 on one page: places from counts, the displays of one place when it is opened.

How long things take with 100,000, `python -m tests.lab.bench.hundred_thousand` measures.
"""

import re
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.browser.huge_fleet import DISPLAYS_OF_A_SITE, clear, fill
from tests.stack import eventually

SITES = 120
CLIENTS = SITES * DISPLAYS_OF_A_SITE
ASKED = """performance.getEntriesByType('resource').filter(one => one.name.includes('/api/monitoring/'))
  .map(one => ({path: new URL(one.name).pathname.split('/').pop(), since: one.name.includes('since='),
    bytes: one.encodedBodySize}))
"""
WHOLE_BYTES = 6_000
DELTA_BYTES = 8_000
NODES = 2_500


@pytest.fixture(scope="module", autouse=True)
def fleet(database: Engine) -> Iterator[None]:
    """Twelve thousand displays, and no other one."""
    clear(database)
    fill(database, SITES)
    yield
    clear(database)


def rows(page: Page) -> int:
    """How many displays the table has, without its head."""
    return int(page.locator("table").get_attribute("aria-rowcount") or 0) - 1


def test_the_page_shows_the_troubled_place_first_and_fetches_few_displays(enter: Enter) -> None:
    page = enter().page

    expect(page.locator(".shop").first).to_contain_text("Shop 007")
    expect(page.locator(".shop").first).to_contain_text("75 of 100 crashed")
    expect(page.locator(".tile.status-crashed")).to_contain_text("75")
    expect(page.get_by_role("heading", name="Needs attention")).to_contain_text("75 displays")
    expect(page.locator(".attention-row").first).to_be_visible()
    expect(page.get_by_text("The table lists the displays that need help most.")).to_be_visible()
    assert rows(page) == 75
    [first, *_] = page.evaluate(ASKED)
    assert (first["path"], first["since"]) == ("overview", False)
    assert first["bytes"] <= WHOLE_BYTES
    assert page.locator("*").count() <= NODES


def test_a_place_is_opened_with_the_displays_of_it(enter: Enter, database: Engine) -> None:
    watched = enter()
    page = watched.page
    page.get_by_role("button", name="Show all 120 sites").click()
    page.locator(".shop").filter(has_text="Shop 023").click()

    expect(page.locator("table")).to_have_attribute("aria-rowcount", "101")
    expect(page.locator("tbody tr[aria-rowindex='2']")).to_contain_text("Shop 023")
    expect(page.locator(".finder-found")).to_have_text(f"100 of {CLIENTS:,} displays")
    expect(page.locator(".tile.status-running")).to_contain_text("100")
    with database.begin() as connection:
        change = "UPDATE clients SET status = 'crashed', process_status = 'crashed' WHERE name = 'Display 5063'"
        connection.execute(sa.text(change))
    watched.look_again()
    expect(page.locator(".tile.status-crashed")).to_contain_text("1")
    expect(page.locator(".shop").filter(has_text="Shop 023")).to_contain_text("1 of 100 crashed")
    with database.begin() as connection:
        back = "UPDATE clients SET status = 'running', process_status = 'running' WHERE name = 'Display 5063'"
        connection.execute(sa.text(back))
    watched.look_again()
    expect(page.locator(".tile.status-crashed")).to_contain_text("0")
    told = [one["bytes"] for one in page.evaluate(ASKED) if one["since"]]
    assert max(told) <= DELTA_BYTES


def test_a_display_that_moves_is_counted_where_it_is(enter: Enter, database: Engine) -> None:
    watched = enter("/?site=Shop+060")
    page = watched.page
    expect(page.locator("table")).to_have_attribute("aria-rowcount", "101")
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE clients SET site = 'New shop' WHERE name = 'Display 5100'"))
    watched.look_again()
    eventually(lambda: rows(page) == 99 or (page.get_by_text("Re-sort").is_visible()), "the display that left")

    page.get_by_role("button", name="Show all 121 sites").click()
    watched.look_until(
        lambda: "all 99 well" in page.locator(".shop").filter(has_text="Shop 060").inner_text(),
        "the count of its place",
    )
    expect(page.locator(".shop").filter(has_text="New shop")).to_contain_text("well")
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE clients SET site = 'Shop 060' WHERE name = 'Display 5100'"))


def test_a_search_and_a_state_ask_the_service_and_say_what_they_found(enter: Enter) -> None:
    page = enter().page
    page.get_by_label("Search displays").fill("host-471")
    expect(page.locator(".finder-found")).to_have_text(f"11 of {CLIENTS:,} displays")
    expect(page.get_by_text("the search looks at names, ids, sites, host names and addresses")).to_be_visible()
    expect(page.get_by_role("button", name="Display 4711, Shop 031", exact=True)).to_be_visible()

    page.get_by_label("Search displays").fill("Display")
    expect(page.locator(".finder-found")).to_have_text(
        re.compile(r"^at least 1,0\d\d of 12,000 displays")
    )  # and known ones
    expect(page.get_by_text(re.compile(r"1,0\d\d of those that match are listed\."))).to_be_visible()
    page.get_by_role("button", name="List 1,000 more").click()
    expect(page.locator(".finder-found")).to_contain_text("at least 2,0")

    page.get_by_role("button", name="Clear filters").click()
    page.locator(".tile.status-crashed .tile-main").click()
    expect(page.locator(".finder-found")).to_have_text(f"75 of {CLIENTS:,} displays")


def test_a_display_opens_and_the_wall_says_how_many_places_it_leaves_out(enter: Enter) -> None:
    watched = enter("/?site=Shop+007")
    page = watched.page
    expect(page.locator("table")).to_have_attribute("aria-rowcount", "101")
    page.locator("tbody tr[aria-rowindex='2'] .link").click()
    expect(page.get_by_role("region", name="Uptime")).to_be_visible()

    watched.follow("/?v=wall")
    expect(page.locator(".wall-shop")).to_have_count(1)
    expect(page.get_by_text("119 more sites are well")).to_be_visible()
