"""What a viewer and an operator are offered, and what the page shows after its reader's rights were reduced."""

import re
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from displays.simulated.simulated import SimulatedDisplay
from shared.vocabulary import Role
from tests.browser.conftest import Enter, name_of, online_display, uuid_of
from tests.browser.people import SessionState, session_with_role
from tests.stack import Stack, eventually


@pytest.fixture(scope="module")
def display(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedDisplay]:
    """A display whose service has failed."""
    api = stack.api()
    with online_display(api, tmp_path_factory.mktemp("display")) as online:
        online.service_failed("player.service")
        eventually(lambda: api.get("/api/clients/service_failed")["items"], "the failure")
        yield online


@pytest.fixture(scope="module")
def viewer(stack: Stack, database: Engine) -> SessionState:
    return session_with_role(stack, database, "vera", Role.VIEWER)


@pytest.fixture(scope="module")
def operator(stack: Stack, database: Engine) -> SessionState:
    return session_with_role(stack, database, "otto", Role.OPERATOR)


def why_not(page: Page, button: str) -> str:
    """Return the reason that a disabled button gives."""
    found = page.get_by_role("button", name=button).first
    expect(found).to_be_disabled()
    return found.get_attribute("title") or ""


def test_a_viewer_reads_everything_and_is_told_what_needs_another_role(
    enter: Enter, display: SimulatedDisplay, viewer: SessionState
) -> None:
    watched = enter(f"/?d={uuid_of(display)}", storage_state=viewer)
    page = watched.page
    expect(page.get_by_role("region", name="Uptime")).to_be_visible()

    assert why_not(page, f"Acknowledge the failure of {name_of(display)}") == "Only operators can acknowledge"
    assert why_not(page, "Restart player") == "Only operators can send commands."
    assert why_not(page, "Shut down") == "Only operators can send commands."
    for absent in ("Connect a display", "Log debug for 15 minutes", "Hold…", "Leave out…"):
        expect(page.get_by_role("button", name=absent)).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.get_by_role("region", name="Selected displays")).to_have_count(0)

    for address, proof, absent in (
        ("/?v=conversions", "Only operators can upload.", "Choose files"),
        ("/?v=quiet", "Leave displays alone for a while", "Add a quiet time"),
        ("/?v=settings", "Only admins see people, access tokens and the audit log.", "Issue a token"),
        ("/?v=batches", "Bulk commands", "Cancel the rest"),
        ("/?v=logs", "Recent errors", "Delete"),
    ):
        watched.open(address)
        expect(page.get_by_text(proof).first).to_be_visible()
        expect(page.get_by_role("button", name=absent)).to_have_count(0)


def test_an_operator_acts_but_does_not_shut_down_or_let_displays_in(
    enter: Enter, display: SimulatedDisplay, operator: SessionState
) -> None:
    watched = enter(f"/?d={uuid_of(display)}", storage_state=operator)
    page = watched.page

    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    assert why_not(page, "Shut down") == "Only admins can shut a display down."
    expect(page.get_by_role("button", name="Connect a display")).to_have_count(0)
    page.get_by_label(f"Select {name_of(display)}").check()
    bar = page.get_by_role("region", name="Selected displays")
    expect(bar.get_by_role("button", name="Reboot…")).to_be_enabled()
    expect(bar.get_by_role("button", name="Shut down…")).to_have_count(0)
    watched.open("/?v=settings")
    expect(page.get_by_text("Signed in as otto, operator.")).to_be_visible()
    expect(page.get_by_role("button", name="Issue a token")).to_have_count(0)
    watched.open("/?v=conversions")
    expect(page.get_by_role("button", name="Choose files").first).to_be_enabled()


def test_a_page_whose_reader_has_lost_a_role_says_so_and_stops_offering(
    enter: Enter, stack: Stack, display: SimulatedDisplay, database: Engine
) -> None:
    session = session_with_role(stack, database, "olga", Role.OPERATOR)
    watched = enter(f"/?d={uuid_of(display)}", storage_state=session)
    page = watched.page
    expect(page.get_by_role("button", name="Restart player")).to_be_enabled()
    page.wait_for_load_state("networkidle")  # otherwise the answer about pictures shows the new role before the click
    watched.expect_answer(403, "/screenshots$")
    with database.begin() as connection:
        connection.execute(sa.text("UPDATE users SET role = 'viewer' WHERE username = 'olga'"))
    watched.expect_answer(403, "/commands$")

    page.get_by_role("button", name="Restart player").click()

    expect(page.locator(".panel .cause")).to_contain_text("Your role does not allow this. It may have changed")
    expect(page.locator(".who")).to_contain_text("viewer")
    assert why_not(page, "Restart player") == "Only operators can send commands."
    assert re.search("operator", why_not(page, f"Acknowledge the failure of {name_of(display)}"))
