"""Somebody is on it: an incident's card and the panel of failed services say who, and let people take and give back."""

import uuid
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import Engine

from shared.vocabulary import Role
from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.browser.people import session_with_role
from tests.browser.windows import Opened
from tests.stack import Stack

DARK = sa.text(
    """
    WITH made AS (
        INSERT INTO incidents (kind, key, cause, began_at, opened_at)
        VALUES ('site', :site, '{"code": "as_given", "facts": {"text": "They crashed together."}}',
            now() - interval '9 minutes', now()) RETURNING id)
    INSERT INTO incident_members (incident_id, client_uuid, joined_at, symptom, failed_at)
    SELECT id, uuid, now(), 'crashed', now() FROM made, unnest(CAST(:uuids AS text[])) AS uuid
    """
)
FAIL = sa.text("UPDATE clients SET service_failed_at = now(), service_failed_unit = 'kiosk.service' WHERE uuid = :uuid")


@pytest.fixture
def linz(database: Engine, opened: Opened) -> Iterator[Fleet]:
    """A shop whose displays crashed together; the service of the first one failed."""
    with inserted(database, f"Shop Linz {uuid.uuid4().hex[:4]}", 3) as fleet:
        fleet.says("crashed", 1, 3)
        with database.begin() as connection:
            connection.execute(DARK, {"site": fleet.site, "uuids": fleet.uuids})
            connection.execute(FAIL, {"uuid": fleet.uuid(1)})
        yield fleet
        opened.close()
        with database.begin() as connection:  # three shops that fail within minutes would be one incident
            connection.execute(sa.text("DELETE FROM incidents WHERE key = :site"), {"site": fleet.site})


def card_of(page: Page, fleet: Fleet) -> Locator:
    return page.locator(".trouble-card").filter(has_text=fleet.site)


def row_of(page: Page, fleet: Fleet) -> Locator:
    return page.locator(".failed-row").filter(has_text=fleet.name(1))


def test_an_incident_is_taken_by_keyboard_taken_over_and_given_back(
    enter: Enter, stack: Stack, database: Engine, linz: Fleet
) -> None:
    first = enter("/").page
    card_of(first, linz).get_by_role("button", name=f"I am on it: {linz.site}").focus()
    first.keyboard.press("Enter")
    expect(card_of(first, linz)).to_contain_text("You have been on it since")
    first.keyboard.press("Enter")  # the place of the keyboard is kept: on the note
    card_of(first, linz).get_by_role("textbox", name="Note for colleagues").fill("calling the shop")
    first.keyboard.press("Enter")
    expect(card_of(first, linz)).to_contain_text("calling the shop")

    second = enter("/", storage_state=session_with_role(stack, database, "rosa", Role.OPERATOR)).page
    name = stack.environment["SIGNAGE_SIGN_IN_USER"]
    expect(card_of(second, linz)).to_contain_text(f"{name} has been on it since")
    card_of(second, linz).get_by_role("button", name="Take it over").click()
    expect(card_of(second, linz)).to_contain_text("You have been on it since")
    expect(card_of(second, linz)).not_to_contain_text("calling the shop")
    card_of(second, linz).get_by_role("button", name="Give it back").click()

    expect(card_of(second, linz).get_by_role("button", name=f"I am on it: {linz.site}")).to_be_visible()


def test_who_takes_a_failed_service_too_late_learns_who_was_first(
    enter: Enter, stack: Stack, database: Engine, linz: Fleet
) -> None:
    late = enter("/", storage_state=session_with_role(stack, database, "nora", Role.OPERATOR))
    late.expect_answer(409, "/service_failed/take")
    button = row_of(late.page, linz).get_by_role("button", name="I am on it")
    expect(button).to_be_visible()
    first = enter("/").page
    row_of(first, linz).get_by_role("button", name="I am on it").click()
    expect(row_of(first, linz)).to_contain_text("You have been on it since")

    button.click()

    name = stack.environment["SIGNAGE_SIGN_IN_USER"]
    expect(row_of(late.page, linz)).to_contain_text(f"{name} has been on it since")
