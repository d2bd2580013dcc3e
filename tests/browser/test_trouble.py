"""Faults of the service itself instead of a display: what the page shows, keeps and does not offer.

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
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import Engine

from deploy.parts import guardian
from tests.browser.conftest import Enter, let_browsers_keep_files
from tests.browser.fleets import Fleet, inserted
from tests.browser.test_every_page import violations
from tests.stack import Api, Stack, eventually, running_stack

LATE_SECONDS = 120  # longer than 90, and not yet the 180 of silence
SILENT_SECONDS = 240  # longer than the threshold of 180, and within the five minutes that count as "at once"
CLOCK = r"\d\d:\d\d:\d\d"


@pytest.fixture(scope="module")
def stack(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack with recovery on; it has no LibreOffice of its own."""
    settings = {"TICK_SECONDS": "2", "CRASH_RECOVERY_ENABLED": "true"}
    settings["CONVERTER_URL"] = stack.environment["CONVERTER_URL"]
    with running_stack(tmp_path_factory.mktemp("stack"), **settings) as running:
        let_browsers_keep_files(running)
        yield running


@pytest.fixture(scope="module")
def kiel(database: Engine) -> Iterator[Fleet]:
    """Sixty healthy displays."""
    execute(database, "UPDATE bridge_status SET connected_since = now() - interval '1 hour'")  # silence is judged then
    with inserted(database, "Kiel", 60) as fleet:
        yield fleet


@contextmanager
def stopped(stack: Stack, service: str) -> Iterator[None]:
    """Stop this process of the stack during the block."""
    pid = pid_of(stack, service)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def killed(stack: Stack, service: str) -> Iterator[None]:
    """Kill this service with its workers; the runner, which is stopped meanwhile, starts it again after the block."""
    pid = pid_of(stack, service)
    runner = guardian.parents()[pid]
    os.kill(runner, signal.SIGSTOP)
    try:
        os.killpg(pid, signal.SIGKILL)
        yield
    finally:
        os.kill(runner, signal.SIGCONT)


def pid_of(stack: Stack, service: str) -> int:
    """Return the id of the process that runs this service now."""
    status = json.loads((stack.state / "run" / "status.json").read_text(encoding="utf-8"))
    return int(next(one["pid"] for one in status if one["name"] == service))


def execute(database: Engine, statement: str) -> None:
    """Change what otherwise only the passing of time would change."""
    with database.begin() as connection:
        connection.execute(sa.text(statement))


def lines_with(stack: Stack, reference: str) -> list[str]:
    """Return the stack's log lines about the request with this reference."""
    return [line for line in stack.output.read_text(encoding="utf-8").splitlines() if f'trace_id="{reference}' in line]


def breaker_banner(page: Page) -> Locator:
    return page.get_by_role("status").filter(has_text="Recovery holds back")


def test_late_displays_count_as_running_and_are_named_and_listed_apart(
    enter: Enter, kiel: Fleet, database: Engine
) -> None:
    with inserted(database, "Late", 2, LATE_SECONDS) as late:
        watched = enter()
        page = watched.page
        running = page.locator(".tile.status-running")
        named = running.get_by_role("button", name="2 late")

        def noticed() -> bool:  # by a tick; on a slow machine they would have become silent meanwhile
            kiel.beat()
            late.beat(LATE_SECONDS)
            return named.is_visible()

        watched.look_until(noticed, "what a tick has noticed")
        expect(running.locator(".tile-count")).to_have_text(str(kiel.count + late.count))
        expect(page.locator(".attention-row")).to_have_count(0)  # one missed heartbeat is not reported

        named.click()

        expect(page.locator("tbody tr")).to_have_count(2)
        expect(page.get_by_role("row", name=late.name(1))).to_contain_text("Late")
        assert "status=late" in page.url


def test_a_silent_site_is_one_card_until_an_operator_releases_it(enter: Enter, kiel: Fleet, database: Engine) -> None:
    kiel.beat()
    with inserted(database, "Bremen", 10, SILENT_SECONDS) as bremen:
        watched = enter()
        page = watched.page
        card = page.get_by_role("region", name="What is wrong").get_by_role("listitem").filter(has_text="Bremen")

        def held_back() -> bool:  # what is silent for longer was not silent at once
            kiel.beat()
            bremen.beat(SILENT_SECONDS)
            return card.get_by_role("button", name="Let recovery act").is_visible()

        watched.look_until(held_back, "the breaker")
        expect(card).to_contain_text(re.compile(rf"Bremen: 10 of 10 silent since {CLOCK}"))
        expect(card).to_contain_text("Recovery holds back: so many at once may be our own fault.")
        expect(breaker_banner(page)).to_have_count(0)
        expect(page.locator(".attention-row")).to_have_count(0)
        card.get_by_role("button", name="Show the 10").click()
        page.locator("tbody").get_by_role("button", name=bremen.row_name(1), exact=True).click()
        recovery = page.get_by_role("region", name="Recovery")
        expect(recovery).to_contain_text("Too many fail at once. At Bremen, 10 of 10 displays are silent")
        expect(recovery).to_contain_text("No silent display there is rebooted until fewer than 20% are silent")
        page.keyboard.press("Escape")

        card.get_by_role("button", name="Let recovery act").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text(
            "10 displays are held back. Recovery may restart or reboot up to 10 of them now."
        )
        dialog.get_by_role("button", name="Cancel").click()
        expect(card).to_contain_text("Recovery holds back")
        card.get_by_role("button", name="Let recovery act").click()
        dialog.get_by_role("button", name="Let it act").click()
        expect(dialog.get_by_role("button", name="Hold again")).to_be_visible()
        dialog.get_by_role("button", name="Close").first.click()

        expect(card.get_by_role("button", name="Let recovery act")).to_have_count(0)
        expect(card).not_to_contain_text("Recovery holds back")


def test_a_bad_screen_says_what_and_since_when_and_has_a_tile_of_its_own(
    enter: Enter, kiel: Fleet, database: Engine
) -> None:
    kiel.beat()
    fails = "screen_health_since = now() - interval '20 min', screen_failed_at = now() - interval '19 min'"
    with inserted(database, "Oslo", 4) as oslo:
        for number, screen in enumerate(("black", "frozen", "disconnected", "off"), 1):
            execute(
                database, f"UPDATE clients SET screen_health = '{screen}', {fails} WHERE uuid = '{oslo.uuid(number)}'"
            )
        watched = enter()
        page = watched.page
        tile = page.locator(".tile.status-screen_failed")
        watched.look_until(tile.is_visible, "the tile")
        expect(tile.locator(".tile-count")).to_have_text("4")

        rows = page.locator(".attention-row")
        expect(rows).to_have_count(4)
        for number, words in enumerate(
            ("The screen is black since", "frozen since", "disconnected since", "off, and nobody planned that, since"),
            1,
        ):
            expect(rows.filter(has_text=oslo.name(number))).to_contain_text(re.compile(rf"{words} {CLOCK}"))
        expect(rows.filter(has_text=oslo.name(1))).to_contain_text("recovery waits for two new reports")
        expect(rows.filter(has_text=oslo.name(3))).to_contain_text("No command mends that")

        tile.get_by_role("button").click()

        expect(page.locator("tbody tr")).to_have_count(4)
        expect(page.locator("tbody tr").filter(has_text="screen black")).to_contain_text(oslo.name(1))
        expect(page.locator("tbody tr").filter(has_text="no screen")).to_contain_text(oslo.name(3))
        assert "status=screen_failed" in page.url
        assert violations(page) == []
        page.locator("tbody").get_by_role("button", name=oslo.row_name(2), exact=True).click()
        panel = page.get_by_role("region", name="Recovery")
        expect(panel).to_contain_text("The screen is frozen; recovery waits for two new reports")
        page.goto("about:blank")  # the page would go on requesting displays that are about to be deleted


def test_what_keeps_recovery_waiting_is_said_with_its_exact_end(enter: Enter, kiel: Fleet) -> None:
    kiel.beat()
    kiel.says("crashed", 60, 60)
    watched = enter()
    row = watched.page.locator(".attention-row").filter(has_text=kiel.name(60))
    watched.look_until(row.is_visible, "the crash")

    expect(row).to_contain_text("The player crashed")
    expect(row).to_contain_text("the display's own watchdog goes first")
    expect(row).to_contain_text(re.compile(rf"Until {CLOCK} \(0:\d\d left\)\."))
    kiel.says("running", 60, 60)
    watched.look_until(lambda: row.count() == 0, "its end")


def test_what_an_operator_left_alone_is_said_where_it_needs_attention(enter: Enter, kiel: Fleet, api: Api) -> None:
    kiel.beat()
    body = {"preset": "leave_out", "scope": "clients", "clients": [kiel.uuid(5)], "reason": "A painting hangs here now"}
    made = api.post("/api/quiet-times", body, 201)
    kiel.says("crashed", 5, 5)
    watched = enter(f"/?d={kiel.uuid(5)}")
    page = watched.page

    row = page.locator(".attention-row").filter(has_text=kiel.name(5))
    watched.look_until(lambda: row.filter(has_text="A painting hangs here now").count() == 1, "why nothing is sent")
    recovery = page.get_by_role("region", name="Recovery")
    expect(recovery).to_contain_text("Left alone.")
    box = page.get_by_role("complementary").get_by_role("region", name="Quiet times")
    box.get_by_role("button", name="End leave out").click()
    expect(box).to_contain_text("Nothing is quiet for this display now.")
    assert api.get(f"/api/quiet-times/{made['id']}")["state"] == "ended"
    kiel.says("running", 5, 5)
    watched.look_until(lambda: row.count() == 0, "its end")


def test_a_silent_fleet_is_one_banner_and_a_filter_away(enter: Enter, kiel: Fleet) -> None:
    kiel.beat(SILENT_SECONDS)
    watched = enter()
    page = watched.page

    banner = breaker_banner(page)
    watched.look_until(banner.is_visible, "the breaker")
    expect(banner).to_contain_text(re.compile(r"60 of \d+ displays are silent"))
    page.get_by_role("button", name=re.compile("^60 Stale")).click()
    expect(page.locator("table")).to_have_attribute("aria-rowcount", "61")
    banner.get_by_role("button", name="Let recovery act").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("60 displays are held back. Recovery may restart or reboot up to 10 of them now.")
    dialog.get_by_role("button", name="Let it act").click()
    expect(banner).to_have_count(0)
    dialog.get_by_role("button", name="Hold again").click()
    expect(dialog).to_contain_text("fleet")


def test_a_silent_bridge_replaces_what_is_not_known_and_bulk_commands_wait(
    enter: Enter, kiel: Fleet, stack: Stack, database: Engine
) -> None:
    kiel.beat(SILENT_SECONDS)
    watched = enter()
    page = watched.page
    page.get_by_label(f"Select {kiel.row_name(1)}", exact=True).check()
    bar = page.get_by_role("region", name="Selected displays")

    with stopped(stack, "bridge"):
        execute(database, "UPDATE bridge_status SET canary_at = now() - interval '10 minutes'")
        watched.look_again()
        banner = page.get_by_role("alert").filter(has_text="Bridge silent")
        expect(banner).to_contain_text(re.compile(rf"Bridge silent since {CLOCK}; display states are unknown\."))
        expect(page.locator(".attention")).to_have_count(0)
        for button in bar.get_by_role("button", name=re.compile("(player|Reboot|Shut down)…$")).all():
            expect(button).to_be_disabled()
            expect(button).to_have_attribute("title", re.compile("The bridge is silent"))
    kiel.beat()

    watched.look_until(lambda: banner.count() == 0, "the bridge's next sign")
    expect(bar.get_by_role("button", name="Restart player…")).to_be_enabled()


def test_a_late_scheduler_is_said_with_its_last_tick(enter: Enter, stack: Stack, database: Engine) -> None:
    watched = enter()
    page = watched.page
    banner = page.get_by_role("status").filter(has_text="The scheduler is late")

    def is_told() -> bool:
        execute(database, "UPDATE scheduler_status SET last_tick_at = now() - interval '10 minutes'")
        return banner.count() == 1

    with stopped(stack, "ticker"):
        watched.look_until(is_told, "the scheduler that is late")  # a tick may be under way
        expect(banner).to_contain_text(re.compile(f"last tick {CLOCK}"))
    watched.look_until(lambda: banner.count() == 0, "the next tick")


def test_a_service_that_fails_gives_a_reference_that_finds_its_log_line(
    enter: Enter, stack: Stack, database: Engine
) -> None:
    watched = enter("/?v=settings")
    page = watched.page
    watched.expect_answer(500, "/api/audit")
    audit = page.get_by_role("region", name="Audit log")
    expect(audit.locator(".audit").first).to_be_visible()

    execute(database, "ALTER TABLE audit_log RENAME TO audit_log_away")
    try:
        audit.get_by_label("Who").fill("admin")
        audit.get_by_role("button", name="Filter").click()
        note = audit.get_by_role("alert")
        expect(note).to_contain_text("The audit log could not be loaded. Something went wrong in the service.")
        expect(audit.locator(".audit")).to_have_count(0)  # the entries of the previous query
        [reference] = re.findall(r"Reference ([0-9a-f]{8})\.", note.inner_text())
    finally:
        execute(database, "ALTER TABLE audit_log_away RENAME TO audit_log")

    told = "a request ended in an unexpected error"
    eventually(lambda: any(told in line for line in lines_with(stack, reference)), "its line in the log")
    audit.get_by_role("button", name="Try again").click()
    expect(note).to_have_count(0)


def test_a_killed_api_leaves_the_rows_and_everything_goes_on_by_itself(enter: Enter, kiel: Fleet, stack: Stack) -> None:
    kiel.beat()
    watched = enter(f"/?q={kiel.uuid(7)}&d={kiel.uuid(7)}")
    page = watched.page
    row = page.get_by_role("row", name=re.compile(kiel.name(7)))
    expect(row).to_be_visible()
    for status in (502, 503, 504):
        watched.expect_answer(status, "/api/")
    before = pid_of(stack, "api")

    with killed(stack, "api"):  # else the next API can be there before the page has requested anything
        watched.look_again()

        banner = page.locator(".banners").get_by_role("alert").filter(has_text="The service does not answer")
        expect(banner).to_contain_text(re.compile(f"You see what was known at {CLOCK}"))
        expect(row).to_be_visible()
        expect(page.get_by_role("button", name="Restart player")).to_have_attribute("title", re.compile("Not updating"))
    expect(banner).to_have_count(0)
    expect(page.locator(".note-error")).to_have_count(0)  # what was being loaded when it died, too
    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    assert pid_of(stack, "api") != before
