"""A fleet of ten thousand on one page: what is fetched for it, and how little of it is in the document.

Bytes and nodes are limits of the design and fail here; how long things take, `make bench ROWS=dashboard` measures.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.stack import eventually

CLIENTS = 10_000
SNAPSHOT_BYTES = 330_000  # of displays with random uuids, whose times are not those of the others
SPREAD = 30  # seconds between two heartbeats
DELTA_BYTES = 5_000
QUIET_BYTES = 6_000
NODES = 3_000
CHANGED = 80
OVERVIEWS = """performance.getEntriesByType('resource').filter(one => one.name.includes('/overview'))
  .map(one => ({since: one.name.includes('since='), heartbeats: one.name.includes('hb=1'), bytes: one.encodedBodySize}))
"""


@pytest.fixture(scope="module")
def fleet(database: Engine) -> Iterator[Fleet]:
    with inserted(database, "Wall", CLIENTS, spread=SPREAD) as found:
        yield found


def nodes(page: Page) -> int:
    return page.locator("*").count()


def rows_in_the_document(page: Page) -> list[int]:
    """Return the positions in the whole table that the rows state; the head is 1."""
    return [
        int(place)
        for place in page.locator("tbody tr[aria-rowindex]").evaluate_all(
            "rows => rows.map(row => row.getAttribute('aria-rowindex'))"
        )
    ]


def test_the_snapshot_a_delta_and_a_quiet_poll_are_small(enter: Enter, fleet: Fleet) -> None:
    watched = enter()
    page = watched.page
    expect(page.locator("table")).to_have_attribute("aria-rowcount", re.compile(r"^100\d\d$"))
    asked = eventually(lambda: page.evaluate(OVERVIEWS), "the first answer")
    assert not asked[0]["since"]
    assert asked[0]["bytes"] <= SNAPSHOT_BYTES

    watched.look_again()
    quiet = eventually(lambda: page.evaluate(OVERVIEWS)[1:], "a quiet poll")[-1]
    assert quiet["since"]
    assert quiet["bytes"] <= QUIET_BYTES

    fleet.says("crashed", 1, CHANGED)
    watched.look_again()
    expect(page.get_by_text("80 changed")).to_be_visible()
    fleet.says("running", 1, CHANGED)
    told = [one["bytes"] for one in page.evaluate(OVERVIEWS)[1:] if not one["heartbeats"]]
    assert max(told) <= DELTA_BYTES


def test_few_of_the_rows_are_in_the_document_wherever_one_looks(enter: Enter, fleet: Fleet) -> None:
    page = enter().page
    expect(page.locator("tbody tr[aria-rowindex]").first).to_be_visible()
    assert nodes(page) <= NODES
    assert len(rows_in_the_document(page)) <= 60

    page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    expect(page.locator("tbody tr[aria-rowindex]").first).not_to_have_attribute("aria-rowindex", "2")
    middle = rows_in_the_document(page)
    assert middle == list(range(middle[0], middle[0] + len(middle)))
    assert 4_000 < middle[0] < 6_000
    assert nodes(page) <= NODES
    page.locator(f"tbody tr[aria-rowindex='{middle[len(middle) // 2]}'] .link").click()
    expect(page.get_by_role("region", name="Uptime")).to_be_visible()
    assert nodes(page) <= NODES

    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    last = int(page.locator("table").get_attribute("aria-rowcount") or 0)
    eventually(lambda: rows_in_the_document(page)[-1] == last, "the last row")


def test_a_search_finds_one_of_all_and_choosing_all_chooses_those_out_of_sight(enter: Enter, fleet: Fleet) -> None:
    page = enter().page
    search = page.get_by_label("Search displays")
    search.fill(fleet.uuid(4711))
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("button", name=fleet.row_name(4711), exact=True)).to_be_visible()

    search.fill("Wall 47")  # both words, each in the name, the uuid or the address
    listed = sum("47" in f"{n} {fleet.uuid(n)} 10.{n % 50}.{n % 250}.7" for n in range(1, CLIENTS + 1))
    expect(page.locator("table")).to_have_attribute("aria-rowcount", str(listed + 1))
    page.get_by_label("Select all listed displays").check()
    search.fill("Wall ")
    expect(page.get_by_role("region", name="Selected displays")).to_contain_text(f"{listed:,} displays selected")
    page.get_by_role("button", name="Display", exact=True).click()
    expect(page.locator("tbody tr").nth(1)).to_contain_text("Wall 2")
    page.get_by_role("button", name="Display", exact=True).click()
    expect(page.locator("tbody tr[aria-rowindex='2']")).to_contain_text("Wall 10000")


def test_what_changes_is_announced_and_moves_nothing_until_it_is_asked_to(enter: Enter, fleet: Fleet) -> None:
    fleet.beat()
    watched = enter("/?sort=status&q=Wall")
    page = watched.page
    expect(page.locator("tbody tr[aria-rowindex='2']")).to_contain_text("Wall 1")
    eventually(lambda: page.get_by_text(re.compile("changed")).count() == 0, "a table at rest")
    fleet.says("crashed", 9000, 9000)
    watched.look_again()

    expect(page.get_by_text("1 changed")).to_be_visible()
    expect(page.locator("tbody tr[aria-rowindex='2']")).to_contain_text("Wall 1")
    expect(page.locator(".attention-row").filter(has_text="Wall 9000")).to_be_visible()
    page.get_by_role("button", name="Re-sort").click()

    expect(page.locator("tbody tr[aria-rowindex='2']")).to_contain_text("Wall 9000")
    expect(page.get_by_text("1 changed")).to_have_count(0)
