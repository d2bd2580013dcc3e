"""What people see of incidents, on real Postgres: list, displays, timeline, and retention."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.errors import IncidentNotFound
from shared.incidents import operations, store, timeline_operations, timeline_store
from shared.tables import recovery_events
from shared.words.reader import english
from shared.words.sentences import as_given, to_row
from tests.stores.commands_world import issue
from tests.stores.incidents_world import (
    MINUTE,
    all_of,
    notice_return,
    notice_silence,
    observe,
    only,
    site,
)

pytestmark = pytest.mark.usefixtures("listening")


def test_everybody_is_told_which_incident_a_display_is_in(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:5])
    notice_return(connection, now + MINUTE, fleet[:1])

    found = operations.open_incident_of(connection, fleet)

    assert set(found) == set(fleet[1:5])
    incident = only(connection)
    assert {(m.id, english(m.cause)) for m in found.values()} == {(incident["id"], incident["cause"])}


def test_the_timeline_tells_commands_and_recovery_of_its_members_as_one_entry_each(
    connection: Connection, now: datetime
) -> None:
    fleet = site(connection, now)
    notice_silence(connection, now, fleet[:4])
    for uuid in [*fleet[:2], fleet[11]]:
        issue(connection, now + MINUTE, uuid)
    event = {"at": now + MINUTE, "decision": "none", "why": to_row(as_given(text="Held.")), "evidence": {}}
    connection.execute(sa.insert(recovery_events), [{**event, "client_uuid": uuid} for uuid in fleet[:3]])

    events = timeline_operations.events(connection, only(connection)["id"], 100, None)

    by_kind = {event.kind.value: event for event in events}
    assert [event.kind.value for event in events] == ["recovery", "command", "opened", "joined"]
    assert (by_kind["command"].count, set(by_kind["command"].uuids)) == (2, set(fleet[:2]))
    assert english(by_kind["recovery"].title) == "Recovery does nothing for 3 displays: Held."
    assert english(by_kind["opened"].title) == only(connection)["cause"]


def test_timeline_members_and_list_are_paged_without_gap_or_repetition(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:6]
    notice_silence(connection, now, fleet)
    for minute, uuid in enumerate(fleet, 1):
        notice_return(connection, now + minute * MINUTE, [uuid])
    incident_id = only(connection)["id"]
    whole = timeline_operations.events(connection, incident_id, 100, None)

    paged: list[timeline_operations.TimelineEvent] = []
    while part := timeline_operations.events(connection, incident_id, 3, position(paged)):
        paged += part
    names: list[str] = []
    while rows := timeline_store.members_page(connection, incident_id, 4, ("", names[-1]) if names else None):
        names += [row.uuid for row in rows]

    assert paged == whole
    assert len(whole) == 8
    assert names == sorted(fleet)


def position(events: list[timeline_operations.TimelineEvent]) -> tuple[datetime, str, str] | None:
    """The position after these events."""
    return (events[-1].at, events[-1].kind.value, events[-1].key) if events else None


def test_the_list_is_narrowed_by_state_site_and_time(connection: Connection, now: datetime) -> None:
    rome, oslo = site(connection, now, "Rome"), site(connection, now, "Oslo")
    notice_silence(connection, now, rome[:4])
    notice_return(connection, now + MINUTE, rome)
    observe(connection, now + 7 * MINUTE)
    notice_silence(connection, now + 9 * MINUTE, oslo[:4])

    def places(**wanted: Any) -> list[str]:
        return [row["site"] for row in all_of(connection, **wanted)]

    assert places() == ["Rome", "Oslo"]
    assert (places(is_open=True), places(is_open=False)) == (["Oslo"], ["Rome"])
    assert (places(site="Rome"), places(site="Bern")) == (["Rome"], [])
    assert places(since=now + 7 * MINUTE) == ["Rome", "Oslo"]
    assert places(since=now + 8 * MINUTE) == ["Oslo"]


def test_history_of_closed_incidents_is_dropped_by_age(connection: Connection, now: datetime) -> None:
    fleet = site(connection, now)[:4]
    notice_silence(connection, now, fleet)
    assert store.drop_history(connection, now + timedelta(days=400)) == 0  # open
    notice_return(connection, now + MINUTE, fleet)
    observe(connection, now + 7 * MINUTE)

    assert store.drop_history(connection, now + 7 * MINUTE) == 0
    assert store.drop_history(connection, now + 8 * MINUTE) == 1
    with pytest.raises(IncidentNotFound):
        timeline_operations.find(connection, 1)
