"""When the page polls the fleet: rarely enough for the service, often enough for people, never twice at once."""

import itertools
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.clockwork import Clockwork
from tests.browser.conftest import OpenPage, name_of, online_display, uuid_of
from tests.browser.people import SessionState
from tests.stack import Api, Stack, eventually

OVERVIEW = "**/api/monitoring/overview*"


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all tests of this file; it accepts commands and does not answer them."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        online.behave(answers_commands=False)
        yield online


@pytest.fixture
def clockwork(open_page: OpenPage, admin_session: SessionState) -> Clockwork:
    """A page that is not open yet, and whose clock can be stopped."""
    found = Clockwork(open_page(storage_state=admin_session))
    found.prepare()
    return found


def start(clockwork: Clockwork, display: SimulatedDisplay, address: str = "/") -> None:
    """Open the page, wait for its first rows and stop its clock just after a poll."""
    clockwork.watched.open(address)
    expect(clockwork.page.get_by_label(f"Select {name_of(display)}")).to_be_visible()
    clockwork.stop()
    clockwork.until_asked()


def hold(clockwork: Clockwork) -> list[Route]:
    """From now on keep the page's requests of the overview here instead of answering them."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    clockwork.page.route(OVERVIEW, keep)
    return held


def test_it_is_asked_every_5_s_untouched_every_15_s_and_hidden_every_60_s(
    clockwork: Clockwork, display: SimulatedDisplay
) -> None:
    start(clockwork, display)
    assert (clockwork.passes(4.8), clockwork.passes(0.4)) == (0, 1)

    clockwork.skips(5 * 60)
    clockwork.until_asked(0.5)
    assert (clockwork.passes(14), clockwork.passes(1.5)) == (0, 1)
    clockwork.page.mouse.move(5, 5)
    clockwork.until_asked(0.5)
    assert (clockwork.passes(4.4), clockwork.passes(1)) == (0, 1)

    clockwork.hide(True)
    clockwork.until_asked(1)
    assert (clockwork.passes(58), clockwork.passes(3)) == (0, 1)
    before = clockwork.count()
    clockwork.hide(False)
    assert clockwork.count() == before + 1  # at once


def test_it_is_asked_every_1_5_s_while_a_command_of_this_page_is_on_its_way(
    clockwork: Clockwork, display: SimulatedDisplay, api: Api
) -> None:
    start(clockwork, display, f"/?d={uuid_of(display)}")
    clockwork.page.get_by_role("button", name="Restart player").click()
    eventually(lambda: api.get(f"/api/clients/{uuid_of(display)}")["open_command"], "the command")
    expect(clockwork.page.locator(".stepper")).to_be_visible()
    clockwork.until_asked()
    clockwork.until_asked()

    assert (clockwork.passes(1.3), clockwork.passes(0.4)) == (0, 1)


def test_a_failing_service_is_asked_ever_less_often_and_not_before_the_time_named(
    clockwork: Clockwork, display: SimulatedDisplay
) -> None:
    clockwork.watched.expect_answer(503, "/api/monitoring/overview")
    start(clockwork, display)
    clockwork.page.route(OVERVIEW, lambda route: route.fulfill(status=503, body="<html>"))
    clockwork.until_asked(0.4)

    for failures in range(5):
        assert clockwork.passes(0.5 * 2**failures - 0.1) == 0
        clockwork.until_asked(0.4)
    gaps = [later - earlier for earlier, later in itertools.pairwise(clockwork.times()[-6:])]
    for failures, gap in enumerate(gaps):
        assert 0.5 * 2**failures <= gap <= 1.5 * 2**failures + 0.5, gaps
    expect(clockwork.page.get_by_role("alert")).to_contain_text("The service does not answer.")
    expect(clockwork.page.get_by_label(f"Select {name_of(display)}")).to_be_visible()

    clockwork.page.unroute(OVERVIEW)
    clockwork.page.route(OVERVIEW, lambda route: route.fulfill(status=503, headers={"Retry-After": "45"}, body=""))
    clockwork.hide(False)
    assert clockwork.passes(44) == 0
    again = clockwork.passes(60)
    assert again >= 1
    assert all(later - earlier >= 45 for earlier, later in itertools.pairwise(clockwork.times()[-again - 1 :]))


def test_one_request_is_in_flight_however_often_the_page_is_told_to_look(
    clockwork: Clockwork, display: SimulatedDisplay
) -> None:
    start(clockwork, display)
    held = hold(clockwork)
    clockwork.page.clock.run_for(5_500)
    before = clockwork.count()

    for event in ("document.dispatchEvent(new Event('visibilitychange'))", "dispatchEvent(new Event('online'))") * 3:
        clockwork.page.evaluate(event)
    clockwork.page.clock.run_for(8_000)
    assert (clockwork.count(), clockwork.page.evaluate("asked.open")) == (before, 1)

    held[0].continue_()
    clockwork.page.unroute(OVERVIEW)
    clockwork.settle()
    assert clockwork.passes(0.1) == 1  # polls that were due meanwhile are made up for once
    assert clockwork.page.evaluate("asked.most") == 1


def test_an_answer_from_before_an_acknowledgement_does_not_bring_the_failure_back(
    clockwork: Clockwork, display: SimulatedDisplay, api: Api
) -> None:
    display.service_failed("late.service")
    eventually(lambda: api.get("/api/clients/service_failed")["items"], "the failure")
    start(clockwork, display)
    page = clockwork.page
    panel = page.get_by_role("region", name="Service failed")
    expect(panel).to_contain_text("late.service")
    held = hold(clockwork)
    clockwork.page.clock.run_for(5_500)
    eventually(lambda: page.title() and held, "a poll under way")
    from_before = held[0].fetch()
    assert "late.service" in from_before.text()

    panel.get_by_role("button", name=f"Acknowledge the failure of {name_of(display)}").click()
    expect(panel).to_contain_text("Acknowledged ✓")
    held[0].fulfill(response=from_before)
    page.unroute(OVERVIEW)
    clockwork.settle()
    expect(page.get_by_role("row", name=name_of(display))).not_to_contain_text("service failed")
    clockwork.passes(4.5)

    expect(panel).to_have_count(0)
    expect(page.get_by_role("row", name=name_of(display))).not_to_contain_text("service failed")
    assert clockwork.page.evaluate("asked.most") == 1
