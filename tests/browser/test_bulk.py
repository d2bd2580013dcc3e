"""Commands to many displays: the consequence shown before, the confirmation, and each display's result after."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from tests.browser.conftest import Enter, name_of, online_display, uuid_of
from tests.browser.fleets import Fleet, inserted
from tests.stack import Api

LOCK = sa.text("UPDATE clients SET lockout_until = now() + interval '5 minutes' WHERE uuid = :uuid")
COMMAND = sa.text(
    """
    INSERT INTO client_commands (id, client_uuid, action, state, source, requested_by, created_at, expires_at, sent_at)
    VALUES (gen_random_uuid(), :uuid, 'restart_app', 'sent', 'operator', 'user:otto', now(), now() + interval '1 hour',
        now())
    """
)
EXPIRE = sa.text(
    "UPDATE client_commands SET expires_at = now() WHERE client_uuid = ANY(CAST(:uuids AS text[])) AND source = 'bulk'"
)


@pytest.fixture
def three(api: Api, tmp_path: Path) -> Iterator[list[SimulatedDisplay]]:
    """Three displays: the first two carry out commands, the third cannot restart its player."""
    with ExitStack() as stack:
        displays = [stack.enter_context(online_display(api, tmp_path / str(i))) for i in range(3)]
        for display in displays[:2]:
            display.behave(automatic=True)
        displays[2].health(screen_health="ok", capabilities=["reboot_host"])
        yield displays


def test_the_dialog_says_the_consequence_and_then_what_became_of_each_display(
    enter: Enter, three: list[SimulatedDisplay], api: Api
) -> None:
    before = api.get("/api/command-batches")["items"]
    page = enter().page
    for display in three:
        page.get_by_label(f"Select {name_of(display)}").check()
    page.get_by_label("Search displays").fill("nothing is called so")
    bar = page.get_by_role("region", name="Selected displays")
    expect(bar).to_contain_text("3 displays selected")

    bar.get_by_role("button", name="Restart player").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".consequence")).to_have_text("2 will be sent · 1 cannot do this")
    assert api.get("/api/command-batches")["items"] == before
    dialog.get_by_role("button", name="Restart player 2 displays").click()

    expect(dialog).to_contain_text("2 of 3 succeeded, 1 was not sent (cannot do this).")
    for display, word in zip(three, ("Succeeded", "Succeeded", "Cannot do this"), strict=True):
        expect(dialog.locator(".batch-member").filter(has_text=name_of(display))).to_contain_text(word)
    dialog.get_by_role("button", name="All bulk commands").click()
    expect(page.get_by_role("region", name="One bulk command")).to_contain_text("2 of 3 succeeded")
    assert [uuid_of(display) for display in three]


@pytest.fixture
def thirteen(database: Engine) -> Iterator[Fleet]:
    """Thirteen displays at one site, none of them connected; one is locked, and one has a pending command."""
    with inserted(database, "Oslo", 13) as fleet:
        with database.begin() as connection:
            connection.execute(LOCK, {"uuid": fleet.uuid(12)})
            connection.execute(COMMAND, {"uuid": fleet.uuid(13)})
        yield fleet


def test_more_than_ten_have_to_be_typed_and_closing_sends_nothing(enter: Enter, thirteen: Fleet, api: Api) -> None:
    batches = len(api.get("/api/command-batches")["items"])
    page = enter().page
    page.get_by_label("Search displays").fill(thirteen.site)
    expect(page.get_by_role("row")).to_have_count(14)
    page.get_by_label("Select all listed displays").check()

    page.get_by_role("region", name="Selected displays").get_by_role("button", name="Reboot").click()
    dialog = page.get_by_role("dialog")
    for part in ("11 will be sent", "1 already has a command", re.compile(r"1 cooling down until \d\d:\d\d:\d\d")):
        expect(dialog.locator(".consequence")).to_contain_text(part)
    send = dialog.get_by_role("button", name="Reboot 11 displays")
    expect(send).to_be_disabled()
    dialog.get_by_label("Type 11 to continue").fill("10")
    expect(send).to_be_disabled()
    dialog.get_by_label("Type 11 to continue").fill("11")
    expect(send).to_be_enabled()
    page.keyboard.press("Escape")

    expect(dialog).to_have_count(0)
    assert len(api.get("/api/command-batches")["items"]) == batches


def test_waves_stop_where_a_display_does_not_do_it_and_are_ended_for_good(
    enter: Enter, thirteen: Fleet, database: Engine, api: Api
) -> None:
    """These displays are not connected: the first wave, of one display, fails, and no command goes to the others."""
    page = enter(f"/?q={thirteen.site}").page
    page.get_by_label("Select all listed displays").check()
    page.get_by_role("region", name="Selected displays").get_by_role("button", name="Restart player").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Type 11 to continue")).to_be_visible()
    expect(dialog.get_by_label("In waves: one display")).to_be_checked()
    dialog.get_by_label("Type 11 to continue").fill("11")
    dialog.get_by_role("button", name="Restart player 11 displays").click()
    expect(dialog).to_contain_text("0 of 13 succeeded, 1 is on the way, 12 wait for a later wave.")
    expect(dialog).to_contain_text("wave 1 of 3")
    with database.begin() as connection:  # its minute has passed
        connection.execute(EXPIRE, {"uuids": thirteen.uuids})

    expect(dialog.get_by_role("alert").filter(has_text="12 were not sent")).to_be_visible()
    expect(dialog).to_contain_text("0 of 13 succeeded, 12 wait for a later wave, 1 did not succeed.")
    expect(dialog.get_by_role("button", name="Resume")).to_be_visible()
    dialog.get_by_role("button", name="Cancel the rest").click()

    expect(dialog.locator(".batch-member").filter(has_text="Never sent")).to_have_count(12)
    expect(dialog.get_by_role("button", name="Resume")).to_have_count(0)
    sent = [api.get(f"/api/clients/{uuid}/commands")["items"] for uuid in thirteen.uuids]
    assert sum(len([one for one in commands if one["source"] == "bulk"]) for commands in sent) == 1
