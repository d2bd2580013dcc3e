"""The service-failed panel with every answer that an acknowledgement can get."""

import re
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, Route, expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter, OpenPage
from tests.browser.fleets import Fleet, inserted
from tests.browser.people import SessionState, session_of
from tests.browser.watched import API
from tests.stack import Stack, eventually

FAIL = sa.text(
    """
    UPDATE clients SET
        service_failed_at = now() - (:count - CAST(split_part(name, ' ', 2) AS int)) * interval '1 minute',
        service_failed_unit = 'player-' || split_part(name, ' ', 2) || '.service'
    WHERE uuid = ANY(CAST(:uuids AS text[]))
    """
)
READ_FOR_MS = 4_100  # how long an acknowledged row stays
READS = API
CLEAR = "**/clear_service_failed"


@pytest.fixture(scope="module")
def fleet(database: Engine) -> Iterator[Fleet]:
    with inserted(database, "Ulm", 7) as found:
        yield found


@pytest.fixture
def seven(fleet: Fleet) -> Fleet:
    """Seven displays whose services failed one minute apart, the seventh just now."""
    fleet.beat()
    with fleet.database.begin() as connection:
        connection.execute(FAIL, {"uuids": fleet.uuids, "count": fleet.count})
    return fleet


def panel_of(page: Page) -> Locator:
    return page.get_by_role("region", name="Service failed")


def row_of(page: Page, fleet: Fleet, n: int) -> Locator:
    return (
        panel_of(page)
        .get_by_role("listitem")
        .filter(has=page.get_by_role("button", name=fleet.row_name(n), exact=True))
    )


def acknowledge(page: Page, fleet: Fleet, n: int) -> None:
    page.get_by_role("button", name=f"Acknowledge the failure of {fleet.name(n)}").click()


def test_five_are_shown_newest_first_then_all_and_an_acknowledged_one_stays(
    open_page: OpenPage, admin_session: SessionState, seven: Fleet
) -> None:
    watched = open_page(storage_state=admin_session)
    watched.change_clock()
    page = watched.open()
    rows = panel_of(page).get_by_role("listitem")
    expect(rows).to_have_count(5)
    expect(panel_of(page)).to_contain_text("Service failed on 7 displays")
    page.get_by_role("button", name="Show all 7").click()
    expect(rows).to_have_count(7)
    names = [name.splitlines()[0] for name in rows.all_inner_texts()]
    assert names == [seven.name(n) for n in range(7, 0, -1)]

    acknowledge(page, seven, 5)

    expect(rows.nth(2)).to_contain_text("Acknowledged ✓")
    expect(rows.nth(2)).to_have_class(re.compile("dim"))
    assert [text.splitlines()[0] for text in rows.all_inner_texts()] == names
    page.clock.fast_forward(READ_FOR_MS)
    expect(rows).to_have_count(6)
    expect(panel_of(page).get_by_role("button", name=seven.row_name(5), exact=True)).to_have_count(0)


def test_an_acknowledgement_that_did_not_get_through_says_so_and_is_tried_again(enter: Enter, seven: Fleet) -> None:
    watched = enter()
    page = watched.page
    watched.expect_answer(502, "clear_service_failed")
    row = row_of(page, seven, 7)

    page.route(CLEAR, lambda route: route.abort())
    acknowledge(page, seven, 7)
    expect(row.get_by_role("alert")).to_have_text("The acknowledgement did not get through.")
    page.unroute(CLEAR)
    page.route(CLEAR, lambda route: route.fulfill(status=502, body="<html>"))
    row.get_by_role("button", name="Try again").click()
    expect(row.get_by_role("alert")).to_have_text("The acknowledgement did not get through.")
    page.unroute(CLEAR)
    row.get_by_role("button", name="Try again").click()

    expect(row).to_contain_text("Acknowledged ✓")


def test_an_acknowledgement_waits_for_the_sign_in_and_then_goes_on(
    enter: Enter, seven: Fleet, stack: Stack, stack_password: str
) -> None:
    watched = enter(storage_state=session_of(stack, stack.environment["SIGNAGE_SIGN_IN_USER"], stack_password))
    page = watched.page
    expect(row_of(page, seven, 6)).to_be_visible()
    watched.expect_answer(401, "/api/")
    held: list[Route] = []  # a poll that is answered 401 first would show the sign-in by itself
    polls_wait = True

    def answer(route: Route) -> None:
        if polls_wait and route.request.method != "POST":
            held.append(route)
        else:
            route.continue_()

    page.route(READS, answer)
    page.context.clear_cookies()

    acknowledge(page, seven, 6)
    expect(page.get_by_role("dialog", name="Sign in again")).to_be_visible()
    polls_wait = False  # without `unroute`, which lets what waits go on by itself
    for route in held:
        route.continue_()
    watched.fill_sign_in(stack_password)

    expect(row_of(page, seven, 6)).to_contain_text("Acknowledged ✓")
    api = stack.api()
    cleared = api.get("/api/clients/service_failed/acknowledged")["items"]
    assert cleared[0]["uuid"] == seven.uuid(6)
    assert cleared[0]["acknowledged_by"] == "user:admin"


def test_what_may_be_out_of_date_cannot_be_acknowledged_and_says_why(enter: Enter, seven: Fleet) -> None:
    watched = enter()
    page = watched.page
    button = page.get_by_role("button", name=f"Acknowledge the failure of {seven.name(7)}")
    expect(button).to_be_enabled()
    page.route(API, lambda route: route.abort())

    watched.look_again()

    expect(panel_of(page)).to_contain_text(re.compile(r"as of \d\d:\d\d:\d\d, not updating"))
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("title", "Not updating: what you see may be out of date")
    page.unroute(API)
    watched.look_again()
    expect(button).to_be_enabled()


def test_the_panel_of_the_display_acknowledges_too_and_the_list_below_says_who(enter: Enter, seven: Fleet) -> None:
    page = enter(f"/?d={seven.uuid(4)}").page
    failure = page.get_by_role("region", name="Service player-4.service failed")

    failure.get_by_role("button", name=f"Acknowledge the failure of {seven.name(4)}").click()

    expect(failure).to_contain_text("Acknowledged ✓")
    page.get_by_text("Recently acknowledged").click()
    listed = page.locator(".acknowledged li").filter(has_text="player-4.service")
    expect(listed).to_contain_text(re.compile("Acknowledged by admin, .*ago"))
    eventually(
        lambda: page.get_by_role("button", name=seven.row_name(4), exact=True).count() > 0, "its row in the table"
    )
