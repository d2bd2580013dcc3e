"""When not a display but the service itself is in trouble: what the page says, keeps and does not offer.

A stack of its own, with recovery on, that these tests may hurt.
"""

import json
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.stack import Stack, running_stack

SILENT_SECONDS = 240  # longer than the threshold of 180, and within the five minutes that count as "at once"
CLOCK = r"\d\d:\d\d:\d\d"
TICK_MS = 20_000
START_MS = 60_000


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with recovery on."""
    settings = {"TICK_SECONDS": "1", "DEMO": "", "CRASH_RECOVERY_ENABLED": "true"}
    with running_stack(tmp_path_factory.mktemp("stack"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def kiel(database: Engine) -> Iterator[Fleet]:
    """Sixty displays that are well."""
    execute(database, "UPDATE bridge_status SET connected_since = now() - interval '1 hour'")  # silence is judged then
    with inserted(database, "Kiel", 60) as fleet:
        yield fleet


@contextmanager
def stopped(stack: Stack, service: str) -> Iterator[None]:
    """This service of the stack stands still meanwhile."""
    pid = pid_of(stack, service)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def pid_of(stack: Stack, service: str) -> int:
    """The process that runs this service now."""
    status = json.loads((stack.state / "run" / "status.json").read_text(encoding="utf-8"))
    return int(next(one["pid"] for one in status if one["name"] == service))


def execute(database: Engine, statement: str) -> None:
    """Change what only time would change otherwise."""
    with database.begin() as connection:
        connection.execute(sa.text(statement))


def test_a_silent_site_is_one_banner_with_its_numbers_until_an_operator_releases_it(
    enter: Enter, kiel: Fleet, database: Engine
) -> None:
    kiel.beat()
    with inserted(database, "Bremen", 10, SILENT_SECONDS):
        page = enter().page

        banner = page.get_by_role("status").filter(has_text="Recovery holds back")
        expect(banner).to_contain_text("At Bremen, 10 of 10 displays are silent", timeout=TICK_MS)
        rows = page.locator(".attention-row")
        expect(page.locator(".attention h2")).to_contain_text("10 displays")
        expect(rows).to_have_count(5)
        row = rows.first
        expect(row).to_contain_text(re.compile("Silent: last heartbeat 4m(in)? ago"))
        expect(row).to_contain_text("Nothing so far")
        expect(row).to_contain_text("No silent display there is rebooted until")

        banner.get_by_role("button", name="Release it").click()

        expect(banner).to_have_count(0)
        page.get_by_role("button", name="Show 5 more").click()
        expect(rows).to_have_count(10)


def test_a_silent_fleet_is_one_banner_and_a_filter_away(enter: Enter, kiel: Fleet) -> None:
    kiel.beat(SILENT_SECONDS)
    page = enter().page

    banner = page.get_by_role("status").filter(has_text="Recovery holds back")
    expect(banner).to_contain_text(re.compile(r"60 of \d+ displays are silent"), timeout=TICK_MS)
    page.get_by_role("button", name=re.compile("^60 Stale")).click()
    expect(page.locator("table")).to_have_attribute("aria-rowcount", "61")
    expect(page.locator(".attention-row")).to_have_count(5)
    banner.get_by_role("button", name="Release it").click()
    expect(banner).to_have_count(0)


def test_a_silent_bridge_replaces_what_is_not_known_and_bulk_commands_wait(
    enter: Enter, kiel: Fleet, stack: Stack, database: Engine
) -> None:
    kiel.beat(SILENT_SECONDS)
    page = enter().page
    page.get_by_label(f"Choose {kiel.name(1)}", exact=True).check()
    bar = page.get_by_role("region", name="Chosen displays")

    with stopped(stack, "bridge"):
        execute(database, "UPDATE bridge_status SET canary_at = now() - interval '10 minutes'")
        banner = page.get_by_role("alert").filter(has_text="Bridge silent")
        expect(banner).to_contain_text(
            re.compile(rf"Bridge silent since {CLOCK}; display states are unknown\."), timeout=TICK_MS
        )
        expect(page.locator(".attention")).to_have_count(0)
        for button in bar.get_by_role("button", name=re.compile("…$")).all():
            expect(button).to_be_disabled()
            expect(button).to_have_attribute("title", re.compile("The bridge is silent"))
    kiel.beat()

    expect(banner).to_have_count(0, timeout=TICK_MS)
    expect(bar.get_by_role("button", name="Restart player…")).to_be_enabled()


def test_a_late_scheduler_is_said_with_its_last_tick(enter: Enter, stack: Stack, database: Engine) -> None:
    page = enter().page
    with stopped(stack, "ticker"):
        execute(database, "UPDATE scheduler_status SET last_tick_at = now() - interval '10 minutes'")
        banner = page.get_by_role("status").filter(has_text="The scheduler is late")
        expect(banner).to_contain_text(re.compile(f"last tick {CLOCK}"))
    expect(banner).to_have_count(0, timeout=TICK_MS)


def test_a_killed_api_leaves_the_rows_and_everything_goes_on_by_itself(enter: Enter, kiel: Fleet, stack: Stack) -> None:
    kiel.beat()
    watched = enter(f"/?q={kiel.uuid(7)}&d={kiel.uuid(7)}")
    page = watched.page
    row = page.get_by_role("row", name=re.compile(kiel.name(7)))
    expect(row).to_be_visible()
    for status in (502, 503, 504):
        watched.expect_answer(status, "/api/")
    before = pid_of(stack, "api")

    os.kill(before, signal.SIGKILL)
    watched.look_again()

    banner = page.get_by_role("alert").filter(has_text="The service does not answer")
    expect(banner).to_contain_text(re.compile(f"You see what was known at {CLOCK}"))
    expect(row).to_be_visible()
    expect(page.get_by_role("button", name="Restart player")).to_have_attribute("title", re.compile("Not updating"))
    expect(banner).to_have_count(0, timeout=START_MS)
    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    assert pid_of(stack, "api") != before
