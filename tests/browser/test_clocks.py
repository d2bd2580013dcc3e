"""Times as the page shows them: by the server's clock, in the browser's zone, across a change of the clocks."""

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, online_display, uuid_of
from tests.stack import Stack, eventually

WRONG_SECONDS = 600
ZONE = "Europe/Berlin"  # others: dashboard/tests/format.test.js
LINE = sa.text(
    "INSERT INTO client_logs (client_uuid, level, message, received_at) VALUES (:uuid, 'error', :message, :at)"
)


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """One display for all tests of this file."""
    with online_display(stack.api(), tmp_path_factory.mktemp("display")) as online:
        yield online


@pytest.mark.parametrize("wrong", [-WRONG_SECONDS, WRONG_SECONDS], ids=["ten minutes late", "ten minutes early"])
def test_ages_and_deadlines_are_right_in_a_browser_whose_clock_is_wrong(
    enter: Enter, display: SimulatedDisplay, database: Engine, stack: Stack, wrong: int
) -> None:
    display.behave(answers_commands=False)
    watched = enter()  # a first page, so that the clock can be set before the second
    page = watched.page
    display.heartbeat("running")
    display.health(screen_health="ok", cpu_percent=10.0)
    with database.begin() as connection:
        lock = "UPDATE clients SET lockout_until = now() + interval '5 minutes' WHERE uuid = :uuid"
        connection.execute(sa.text(lock), {"uuid": uuid_of(display)})
    watched.change_clock(datetime.now(UTC) + timedelta(seconds=wrong))

    watched.open(f"/?d={uuid_of(display)}&tab=health")

    assert abs(page.evaluate("Date.now()") / 1000 - datetime.now(UTC).timestamp() - wrong) < 60
    row = page.get_by_role("row", name=re.compile(name_of(display)))
    for age in (row.locator(".col-hb time"), page.locator(".health time").last):
        eventually(lambda: re.fullmatch(r"[0-5]?\d s ago", age.inner_text()), "an age in seconds")  # noqa: B023
    countdown = page.locator(".lock")
    expect(countdown).to_have_text(re.compile(r"\([45]:\d\d left\)"))
    said = countdown.inner_text()
    page.clock.run_for(2_000)
    expect(countdown).not_to_have_text(said)  # it counts down
    expect(countdown).to_have_text(re.compile(r"\([45]:\d\d left\)"))
    expect(page.get_by_role("button", name="Restart player")).to_be_disabled()
    expect(row).to_contain_text("cooling down")


def changes_of_clocks() -> list[datetime]:
    """Return the changes of the zone's clocks in the last two years, except the last two days; the newest last."""
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    hours = [hour - timedelta(hours=back) for back in range(700 * 24, 48, -1)]
    there = ZoneInfo(ZONE)
    return [
        at
        for before, at in itertools.pairwise(hours)
        if before.astimezone(there).utcoffset() != at.astimezone(there).utcoffset()
    ]


def as_read(at: datetime) -> str:
    """Return day and time in the zone, as a British reader writes them; with the year if it is another one."""
    local = at.astimezone(ZoneInfo(ZONE))
    year = "" if local.year == datetime.now(ZoneInfo(ZONE)).year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:%H:%M}".replace("Sep", "Sept")


def test_logs_events_and_titles_are_right_across_a_change_of_the_clocks(
    enter: Enter, display: SimulatedDisplay, database: Engine
) -> None:
    moments = [change + timedelta(minutes=at) for change in changes_of_clocks()[-2:] for at in (-90, -30, 30, 90)]
    assert len(moments) == 8
    with database.begin() as connection:
        lines = [{"uuid": uuid_of(display), "message": f"{ZONE} {i}", "at": at} for i, at in enumerate(moments)]
        connection.execute(LINE, lines)
    watched = enter(f"/?d={uuid_of(display)}&lq={ZONE}", timezone_id=ZONE, locale="en-GB")
    page = watched.page

    times = page.locator(".panel .log .log-time time")
    expect(times).to_have_count(len(moments))
    assert times.all_inner_texts() == [as_read(at) for at in reversed(moments)]
    stamps = times.evaluate_all("all => all.map(one => one.getAttribute('datetime'))")
    assert [datetime.fromisoformat(stamp) for stamp in stamps] == list(reversed(moments))
    titles = times.evaluate_all("all => all.map(one => one.title)")
    assert len(set(titles)) == len(moments)  # an hour that occurs twice is marked there
    for title, at in zip(titles, reversed(moments), strict=True):
        local = at.astimezone(ZoneInfo(ZONE))
        assert f"{local:%A}" in title
        assert f"{local:%H:%M:%S}" in title
    expect(page.get_by_text(f"Times in {ZONE}")).to_be_visible()

    page.get_by_role("tab", name="Events").click()
    for i, at in enumerate(moments):
        event = page.locator(".event").filter(has_text=f"{ZONE} {i}")
        while event.count() == 0 and page.locator(".panel .more").count():
            page.locator(".panel .more").click()
        expect(event.locator("time")).to_have_text(as_read(at))
        local = at.astimezone(ZoneInfo(ZONE))
        expect(page.locator(".event-day").filter(has_text=f"{local:%A} {local.day} {local:%B}").first).to_be_visible()
