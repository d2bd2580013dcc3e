"""The surroundings tell exactly which other facts must be read: a skipped query would have found nothing."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

from shared.incidents import operations as incidents
from shared.leadership import store as leadership
from shared.quiet import store as quiet_store
from shared.recovery.breakers import store as breakers
from shared.recovery.evidence.store import surroundings
from shared.tables import bridge_status, incident_members, quiet_times, recovery_breakers
from shared.tables import incidents as all_incidents
from shared.words.sentences import as_given, to_row
from tests.stores.commands_world import add_client

HOUR = timedelta(hours=1)
WINDOWS: list[tuple[str, dict[str, Any]]] = [
    ("on", {"starts_at": -HOUR, "ends_at": HOUR}),
    ("begins now", {"starts_at": timedelta(), "ends_at": HOUR}),
    ("without a last end", {"starts_at": -HOUR, "ends_at": None}),
    ("still to come", {"starts_at": HOUR, "ends_at": 2 * HOUR}),
    ("ends now", {"starts_at": -HOUR, "ends_at": timedelta()}),
    ("over", {"starts_at": -2 * HOUR, "ends_at": -HOUR}),
    ("ended by a person", {"starts_at": -HOUR, "ends_at": HOUR, "ended_at": -HOUR / 2, "ended_by": "user:a"}),
]


@pytest.mark.parametrize(("what", "times"), WINDOWS, ids=[window[0] for window in WINDOWS])
def test_quiet_times_are_asked_for_exactly_where_one_has_begun(
    connection: Connection, now: datetime, what: str, times: dict[str, Any]
) -> None:
    moments = {name: now + at if isinstance(at, timedelta) else at for name, at in times.items()}
    row = {"preset": "hold", "quiet": ["recovery"], "scope": "fleet", "reason": what, "created_by": "user:a"}
    connection.execute(sa.insert(quiet_times).values(**row, created_at=now, **moments))

    assert surroundings(connection, now).quiet_times == bool(quiet_store.begun(connection, now))


@pytest.mark.parametrize("is_open", [True, False])
def test_breakers_are_asked_for_exactly_where_one_is_open(connection: Connection, now: datetime, is_open: bool) -> None:
    open_since = (
        {"open_since": now, "why": to_row(as_given(text="So many."))} if is_open else {"open_since": None, "why": None}
    )
    connection.execute(sa.insert(recovery_breakers).values(site="Kiel", stale=6, seen=9, **open_since))

    assert surroundings(connection, now).breakers == bool(breakers.standing(connection)) == is_open


@pytest.mark.parametrize("stays", [True, False])
def test_incidents_are_asked_for_exactly_where_somebody_is_part_of_one(
    connection: Connection, now: datetime, stays: bool
) -> None:
    client = add_client(connection, now)
    row = {"kind": "site", "key": "Kiel", "opened_at": now, "began_at": now, "cause": to_row(as_given(text="Power."))}
    made = connection.execute(sa.insert(all_incidents).values(**row).returning(all_incidents.c.id)).scalar_one()
    member = {"incident_id": made, "client_uuid": client, "joined_at": now, "failed_at": now, "symptom": "silent"}
    connection.execute(sa.insert(incident_members).values(**member, left_at=None if stays else now))

    assert surroundings(connection, now).incidents == bool(incidents.open_incident_of(connection, [client])) == stays


def test_the_bridge_tells_the_same_as_when_it_is_asked_alone(connection: Connection, now: datetime) -> None:
    said = {"connected_since": now - HOUR, "canary_at": now, "last_commit_at": now, "counters": {"stored": 3}}
    connection.execute(sa.update(bridge_status).values(**said))

    assert surroundings(connection, now).bridge == leadership.bridge_status(connection)
