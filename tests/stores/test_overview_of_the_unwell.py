"""Recovery's view of a client can change without the client: the overview's deltas include it nevertheless."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from deploy.parts.probes import wait_until
from shared.overview import operations
from shared.overview.rules import OverviewCursor, parse_cursor
from shared.postgres.door import database_now, transaction
from shared.recovery.breakers import operations as breakers
from shared.recovery.breakers import store as breakers_store
from shared.recovery.breakers import words_rules
from shared.recovery.breakers.store import FoundBreaker
from shared.tables import bridge_status, clients
from shared.vocabulary import RecoveryBasis
from tests.stores.quiet_world import hold, leave_out, leave_out_site, maintain
from tests.stores.recovery_world import OFF, ON, fleet, hear, recover
from tests.unpacked import unpacked

SITE = "Rome"
OF_THE_TEST_BEFORE = "TRUNCATE clients, recovery_breakers, quiet_times, incidents CASCADE"
Act = Callable[[Connection, datetime, str], object]


@pytest.fixture
def unwell(engine: Engine) -> str:
    """The only display of its fleet, silent for ten minutes."""
    with transaction(engine) as connection:
        now = database_now(connection)
        connection.execute(sa.text(OF_THE_TEST_BEFORE))
        hear(connection, now)
        return fleet(connection, now - timedelta(minutes=10), 1, site=SITE, status="stale")[0]


def look(engine: Engine, since: OverviewCursor | None = None) -> tuple[OverviewCursor, dict[str, dict[str, Any]]]:
    """Read an overview. Returns its cursor, and recovery's view of each sent client by uuid."""
    with transaction(engine) as connection:
        now = database_now(connection)
        seen = operations.overview(connection, now, ON, since, with_heartbeats=False)
        packed = operations.overview(connection, now, ON, since, with_heartbeats=False, packed=True)
    rows = [dict(zip(seen.columns, row, strict=True)) for row in msgspec.json.decode(seen.rows)]
    assert unpacked(msgspec.json.decode(packed.rows), now.isoformat()) == rows  # whatever the form
    here = parse_cursor(str(seen.here))
    assert here == seen.here  # a reader sends back the cursor that it got
    return here, {row["uuid"]: row["recovery"] or {} for row in rows}


def act(engine: Engine, what: Act, client: str) -> None:
    with transaction(engine) as connection:
        what(connection, database_now(connection), client)


def open_breaker(connection: Connection, now: datetime, _client: str) -> None:
    open_now = FoundBreaker(
        RecoveryBasis.STALE,
        SITE,
        now,
        words_rules.breaker_open(site=SITE, stale=10, seen=10, percent=20),
        stale=10,
        seen=10,
        low_since=None,
        counted_since=None,
    )
    breakers_store.put(connection, [open_now])


def plan_window(connection: Connection, now: datetime, _client: str) -> None:
    maintain(connection, now, now + timedelta(hours=1), site=SITE)


def fall_silent(connection: Connection, _now: datetime, _client: str) -> None:
    connection.execute(sa.update(bridge_status).values(canary_at=bridge_status.c.canary_at - timedelta(hours=1)))


def open_incident(connection: Connection, now: datetime, client: str) -> None:
    statement = """
        WITH made AS (INSERT INTO incidents (kind, key, cause, opened_at, began_at) VALUES
            ('site', 'Rome', '{"code": "as_given", "facts": {"text": "The site is dark."}}',
                CAST(:now AS timestamptz), CAST(:now AS timestamptz)) RETURNING id)
        INSERT INTO incident_members (incident_id, client_uuid, joined_at, symptom, failed_at)
        SELECT id, :client, CAST(:now AS timestamptz), 'silent', CAST(:now AS timestamptz) FROM made"""
    connection.execute(sa.text(statement), {"now": now, "client": client})


CHANGES: list[tuple[Act, str, str]] = [
    (open_breaker, "blocked_breaker", "At Rome, 10 of 10 displays are silent"),
    (plan_window, "held", "New cables"),
    (fall_silent, "blocked_bridge", "The bridge gives no sign"),
    (
        lambda connection, now, _: leave_out_site(connection, now, SITE, "being sold"),
        "held",
        "sold",
    ),
    (
        lambda connection, now, client: leave_out(connection, now, client, "sold"),
        "held",
        "sold",
    ),
    (
        lambda connection, now, client: hold(connection, now, client, "mine"),
        "held",
        "mine",
    ),
    (open_incident, "due", "The site is dark."),
]


@pytest.mark.parametrize(("change", "state", "why"), CHANGES)
def test_what_changes_recoverys_mind_about_a_client_is_told(
    engine: Engine, unwell: str, change: Act, state: str, why: str
) -> None:
    here, before = look(engine)
    act(engine, change, unwell)

    here, told = look(engine, here)

    def is_said_once() -> bool:
        """Whether the change is no longer sent; any other open transaction holds the cursor back."""
        nonlocal here
        here, again = look(engine, here)
        return again == {}

    assert before[unwell]["state"] == "due"
    assert (told[unwell]["state"], why in told[unwell]["why"]) == (state, True)
    wait_until(is_said_once, 60)


def test_a_released_breaker_is_told_too(engine: Engine, unwell: str) -> None:
    act(engine, open_breaker, unwell)
    here, _ = look(engine)
    act(engine, lambda connection, now, _: breakers.release(connection, now, "user:anna", SITE), unwell)

    _, told = look(engine, here)

    assert told[unwell]["state"] == "due"


def test_what_a_tick_decides_is_told(engine: Engine, unwell: str) -> None:
    with transaction(engine) as connection:
        connection.execute(sa.update(clients).where(clients.c.uuid == unwell).values(presence="offline"))
    here, _ = look(engine)
    act(engine, lambda connection, now, _: recover(connection, now), unwell)

    _, told = look(engine, here)

    assert told[unwell]["state"] == "unreachable"


def test_a_reader_with_a_cursor_of_before_this_was_told_is_told_now(engine: Engine, unwell: str) -> None:
    here, _ = look(engine)

    _, told = look(engine, OverviewCursor(here.epoch, here.xid))

    assert list(told) == [unwell]


def test_switching_recovery_off_is_told(engine: Engine, unwell: str) -> None:
    here, _ = look(engine)
    with transaction(engine) as connection:
        seen = operations.overview(connection, database_now(connection), OFF, here, with_heartbeats=False)

    assert unwell in seen.rows.decode()
    assert '"state":"off"' in seen.rows.decode()
