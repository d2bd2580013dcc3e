"""The page's texts about displays that come and go, that are back, and that never connected."""

import uuid
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from shared.postgres.door import database_now
from shared.tables import client_losses, incident_members, incidents
from shared.words.sentences import as_given, to_row
from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.stack import Api


@pytest.fixture
def fleet(database: Engine) -> Iterator[Fleet]:
    with inserted(database, "Basel", 8) as made:
        yield made


def lose(database: Engine, name: str, losses: int) -> None:
    """Let the display report that it lost the broker so many times within the last minute."""
    ago = sa.text(
        "INSERT INTO client_losses (client_uuid, at, since, losses)"
        " VALUES (:uuid, now(), now() - interval '1 minute', :losses)"
    )
    with database.begin() as connection:
        connection.execute(sa.delete(client_losses).where(client_losses.c.client_uuid == name))
        connection.execute(ago, {"uuid": name, "losses": losses})


def test_an_unsteady_connection_is_named_in_its_row_and_with_its_losses_in_the_panel(
    enter: Enter, fleet: Fleet, database: Engine
) -> None:
    lose(database, fleet.uuid(1), 26)
    lose(database, fleet.uuid(2), 2)
    page = enter(f"/?d={fleet.uuid(1)}").page

    panel = page.get_by_role("complementary", name=f"Display {fleet.name(1)}")
    expect(panel.get_by_text("Unsteady connection: 26 losses in the last hour")).to_be_visible()
    row = page.get_by_role("row").filter(has_text=fleet.name(1))
    expect(row.get_by_text("unsteady connection")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=fleet.name(2)).get_by_text("unsteady connection")).to_have_count(0)


def test_displays_of_an_incident_that_are_back_count_as_back(enter: Enter, fleet: Fleet, database: Engine) -> None:
    with database.begin() as connection:
        now = database_now(connection)
        words = (
            "8 displays at 6 sites lost the broker and came back within 51 s; the broker itself is the likely cause."
        )
        cause = to_row(as_given(text=words))
        row = {"kind": "cluster", "key": "", "began_at": now, "opened_at": now, "cause": cause, "members": 8}
        made = connection.execute(sa.insert(incidents).values(**row).returning(incidents.c.id)).scalar_one()
        member = {"incident_id": made, "joined_at": now, "left_at": now, "failed_at": now, "symptom": "disconnected"}
        connection.execute(sa.insert(incident_members), [{**member, "client_uuid": one} for one in fleet.uuids])
    page = enter(f"/?v=incidents&i={made}").page

    expect(page.locator(".incident-row").filter(has_text="all 8 are back")).to_be_visible()
    expect(page.locator(".incident-details").get_by_text("all 8 are back")).to_be_visible()


def ghost(api: Api) -> tuple[str, str]:
    """Return (uuid, name) of a display that has an enrolment code and never connected."""
    identity = str(uuid.uuid4())
    api.call("POST", f"/api/clients/{identity}/enrolment", 201)
    api.call("PATCH", f"/api/clients/{identity}", json={"name": f"Ghost {identity[:8]}"})
    return identity, f"Ghost {identity[:8]}"


def test_a_display_that_never_connected_is_not_called_well(enter: Enter, api: Api, database: Engine) -> None:
    identity, name = ghost(api)
    with database.begin() as connection:
        ended = "UPDATE enrolment_codes SET expires_at = now() - interval '1 minute' WHERE client_uuid = :uuid"
        connection.execute(sa.text(ended), {"uuid": identity})
    page = enter(f"/?d={identity}").page
    panel = page.get_by_role("complementary", name=f"Display {name}")

    expect(panel.get_by_text("It has never connected. Its code expired at")).to_be_visible()
    expect(panel.get_by_text("Nothing is known about this time.")).to_be_visible()
    for untrue in ("is well", "Never crashed"):
        expect(panel.get_by_text(untrue)).to_have_count(0)
    panel.get_by_role("button", name="New code").click()
    expect(panel.get_by_text("Its code works until")).to_be_visible()
    panel.get_by_role("button", name="Remove").click()
    panel.get_by_role("button", name="Remove it for good").click()
    expect(panel).to_have_count(0)
    api.call("GET", f"/api/clients/{identity}", 404)


def known_for(database: Engine, identity: str, minutes: int) -> None:
    """Let the display be created a day ago, and running and heard for so many minutes."""
    made = "UPDATE clients SET created_at = now() - interval '30 hours' WHERE uuid = :uuid"
    heard = """
        INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause)
        VALUES (:uuid, now() - :minutes * interval '1 minute', 'unknown', 'running',
            '{"code": "not_heard_again", "facts": {}}')
    """
    with database.begin() as connection:
        connection.execute(sa.text(made), {"uuid": identity})
        connection.execute(sa.text(heard), {"uuid": identity, "minutes": minutes})


def test_an_uptime_of_which_little_is_known_says_so_first(enter: Enter, fleet: Fleet, database: Engine) -> None:
    known_for(database, fleet.uuid(3), 3)
    page: Page = enter(f"/?d={fleet.uuid(3)}").page
    panel = page.get_by_role("complementary", name=f"Display {fleet.name(3)}")

    words = panel.locator(".uptime p").first
    expect(words).to_contain_text("Known for 3 min")
    expect(words).to_contain_text("up 100 % of that time. Nothing is known about the rest of the 24 hours.")
    expect(panel.get_by_text("in the time that is known.")).to_be_visible()


def test_a_new_channel_is_told_of_services_screens_and_connections(enter: Enter) -> None:
    page = enter("/?v=settings").page
    page.get_by_role("button", name="Add a channel").click()

    form = page.get_by_role("dialog")
    for words in ("a display with a failed service", "a display whose screen is black", "displays that keep losing"):
        expect(form.get_by_role("checkbox", name=words)).to_be_checked()
    expect(form.get_by_role("checkbox", name="a presentation that could not be converted")).not_to_be_checked()
