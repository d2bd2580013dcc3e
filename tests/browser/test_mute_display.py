"""A display that sends messages but no heartbeats: shown in the list, explained in its panel, with its messages."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
import sqlalchemy as sa
from playwright.sync_api import expect
from sqlalchemy import Engine

from shared.leadership import operations as leadership
from shared.postgres.door import database_now, transaction
from shared.vocabulary import DeadLetterReason, Role
from tests.browser.conftest import Enter
from tests.browser.fleets import Fleet, inserted
from tests.browser.people import session_with_role
from tests.browser.test_every_page import is_right_in_every_look
from tests.stack import Api, Stack, eventually

WHY = "Its reports come, its heartbeats do not: 3 of them were too large."
HEARTBEATS_OF = "UPDATE client_heartbeats SET sign_at = now() WHERE client_uuid = :uuid"
LISTENED_LONG = "UPDATE bridge_status SET connected_since = now() - interval '1 hour'"


@pytest.fixture
def mute(database: Engine, api: Api) -> Iterator[Fleet]:
    """A display whose last heartbeat is ten minutes old; three later ones were refused, and its health is recent."""
    with inserted(database, "Graz", 1, 600) as fleet:
        uuid = fleet.uuid(1)
        with transaction(database) as connection:
            payloads = [b'{"process_status": "running", "notes": "%d%s"}' % (n, b"x" * 1000) for n in range(3)]
            topic = f"signage/{uuid}/heartbeat"
            letters = [(topic, payload, DeadLetterReason.TOO_LARGE, "1039 bytes") for payload in payloads]
            leadership.put_aside(connection, database_now(connection), letters)
            connection.execute(sa.text(HEARTBEATS_OF), {"uuid": uuid})
            connection.execute(sa.text(LISTENED_LONG))
        eventually(lambda: api.get(f"/api/clients/{uuid}")["status"] == "unknown", "the sweep")
        yield fleet
        with transaction(database) as connection:
            connection.execute(sa.text("DELETE FROM dead_letters WHERE sender = :uuid"), {"uuid": uuid})


def test_a_display_that_talks_is_explained_and_its_refused_messages_can_be_read(enter: Enter, mute: Fleet) -> None:
    page = enter().page
    row = page.get_by_role("listitem").filter(has_text=mute.name(1)).first
    expect(row).to_contain_text("Sends messages but no heartbeats: the last one")
    expect(row).to_contain_text(WHY)
    table_row = page.get_by_role("row").filter(has_text=mute.name(1))
    expect(table_row).to_contain_text("no heartbeats")

    page.get_by_role("button", name=mute.row_name(1)).first.click()
    panel = page.get_by_role("complementary", name=f"Display {mute.name(1)}")
    expect(panel).to_contain_text(WHY)
    refused = panel.get_by_role("region", name="Refused messages")
    expect(refused).to_contain_text("3 heartbeats were too large")
    refused.get_by_role("button", name="Show them").click()

    letters = panel.get_by_role("tabpanel", name="Refused").get_by_role("listitem")
    expect(letters).to_have_count(3)
    expect(letters.first).to_contain_text("too_large")
    expect(letters.first).to_contain_text('"process_status": "running"')
    assert "tab=refused" in page.url
    is_right_in_every_look(page, "refused messages")


def test_a_viewer_reads_how_many_were_refused_and_not_the_messages(
    enter: Enter, mute: Fleet, stack: Stack, database: Engine
) -> None:
    viewer = session_with_role(stack, database, "mute-viewer", Role.VIEWER)
    page = enter(f"/?d={mute.uuid(1)}&tab=refused", storage_state=viewer).page

    refused = page.get_by_role("region", name="Refused messages")
    expect(refused).to_contain_text("3 heartbeats were too large")
    expect(refused.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("tab", name="Refused")).to_have_count(0)
    expect(page.get_by_role("tabpanel", name="Overview")).to_be_visible()


def test_a_display_whose_first_heartbeats_are_refused_has_not_never_connected(
    enter: Enter, api: Api, database: Engine
) -> None:
    uuid = str(uuid4())
    api.call("POST", f"/api/clients/{uuid}/enrolment", 201)
    with transaction(database) as connection:
        letter = (f"signage/{uuid}/heartbeat", b"x" * 1000, DeadLetterReason.TOO_LARGE, "1000 bytes")
        leadership.put_aside(connection, database_now(connection), [letter])

    panel = enter(f"/?d={uuid}").page.get_by_role("complementary")

    expect(panel).to_contain_text("It has connected, but has not sent a heartbeat yet.")
    expect(panel).to_contain_text("1 heartbeat was too large")
    expect(panel).not_to_contain_text("never connected")
    api.call("DELETE", f"/api/clients/{uuid}", 204)
    with transaction(database) as connection:
        connection.execute(sa.text("DELETE FROM dead_letters WHERE sender = :uuid"), {"uuid": uuid})
