"""Shown states that change with time alone, on real Postgres."""

from datetime import datetime, timedelta
from unittest.mock import patch

import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from shared.clients import statuses_operations, statuses_store
from shared.clients.reports import rules
from shared.clients.reports.rules import no_heartbeat_for
from shared.leadership.rules import Listening
from shared.tables import client_heartbeats, client_state_changes, clients
from shared.vocabulary import ClientStatus, ProcessStatus
from shared.words.sentences import to_row
from tests.stores.reports_world import NOW, U, V, beat, client, register, take

LISTENING = Listening(deaf=False, since=NOW - timedelta(days=1), deaf_since=None)


def sweep(connection: Connection, now: datetime, stale_seconds: int = 180, bridge: Listening = LISTENING) -> int:
    uuids = statuses_operations.candidates(connection, now, stale_seconds, bridge)
    return statuses_operations.sweep(connection, now, stale_seconds, bridge, uuids)


def test_a_silent_client_becomes_late_and_stale_with_one_row_each(connection: Connection) -> None:
    register(connection, U, V)
    take(connection, beat(1), beat(1, uuid=V))
    told = []
    for seconds in range(0, 400, 5):
        now = NOW + timedelta(seconds=seconds)
        take(connection, beat(seconds + 2, uuid=V), now=now)
        if sweep(connection, now):
            told.append((seconds, client(connection)["status"]))

    assert told == [(95, "late"), (185, "stale")]
    assert client(connection, V)["status"] == "running"
    query = sa.select(client_state_changes.c.cause).where(client_state_changes.c.client_uuid == U)
    causes = connection.execute(query.order_by(client_state_changes.c.id)).scalars().all()
    assert causes[1:] == [to_row(no_heartbeat_for(seconds=seconds)) for seconds in (95, 180)]


STATES = st.tuples(
    st.sampled_from(ProcessStatus),
    st.sampled_from(ClientStatus),
    st.integers(0, 1200),  # seconds since the last heartbeat
    st.sampled_from([5, 30, 60, 120, 300]),  # interval
)


@settings(max_examples=80)
@given(
    states=st.lists(STATES, min_size=1, max_size=8),
    deaf=st.booleans(),
    since=st.one_of(st.none(), st.integers(0, 1000)),
    stale_seconds=st.sampled_from([30, 180, 600]),
    most_odd=st.sampled_from([0, 3_000]),  # whether the whole fleet is joined, or few are looked up
)
def test_after_a_sweep_every_client_shows_what_the_rule_says(
    connection: Connection,
    states: list[tuple[ProcessStatus, ClientStatus, int, int]],
    deaf: bool,
    since: int | None,
    stale_seconds: int,
    most_odd: int,
) -> None:
    listening_since = None if since is None else NOW - timedelta(seconds=since)
    with connection.begin_nested() as savepoint:
        expected = {}
        for number, (process, status, age, interval) in enumerate(states):
            uuid = f"0b54ad5e-3a8b-4a3f-9d0e-{number:012}"
            heard_at = NOW - timedelta(seconds=age)
            register(connection, uuid)
            update = sa.update(clients).where(clients.c.uuid == uuid)
            connection.execute(update.values(process_status=process.value, status=status.value))
            row = {"client_uuid": uuid, "last_heartbeat_at": heard_at, "interval_seconds": interval}
            connection.execute(sa.insert(client_heartbeats).values(**row))
            expected[uuid], _ = rules.shown_status(
                process, heard_at, interval, NOW, stale_seconds, deaf=deaf, listening_since=listening_since
            )

        bridge = Listening(deaf=deaf, since=listening_since, deaf_since=None)
        with patch.object(statuses_store, "MOST_ODD", most_odd):
            changed = sweep(connection, NOW, stale_seconds, bridge)

        stored = {row.uuid: row.status for row in connection.execute(sa.select(clients.c.uuid, clients.c.status))}
        assert stored == {uuid: status.value for uuid, status in expected.items()}
        assert changed == sum(
            status != expected[uuid] for uuid, (_, status, _, _) in zip(expected, states, strict=True)
        )
        savepoint.rollback()


def test_a_deleted_client_and_one_never_heard_are_left_alone(connection: Connection) -> None:
    register(connection, U, V)
    take(connection, beat(1))
    connection.execute(sa.update(clients).where(clients.c.uuid == U).values(deleted_at=NOW))

    assert sweep(connection, NOW + timedelta(days=1)) == 0
    assert client(connection, V)["status"] == "unknown"


def test_a_display_that_is_heard_while_a_sweep_is_under_way_is_not_shown_as_late(connection: Connection) -> None:
    register(connection, U, V)
    take(connection, beat(1), beat(1, uuid=V))
    now = NOW + timedelta(seconds=100)

    uuids = statuses_operations.candidates(connection, now, 180, LISTENING)
    take(connection, beat(100), now=now)

    assert uuids == [U, V]
    assert statuses_operations.sweep(connection, now, 180, LISTENING, uuids) == 1
    assert (client(connection)["status"], client(connection, V)["status"]) == ("running", "late")
