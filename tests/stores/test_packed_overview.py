"""The packed overview has the same values as the rows, for all names and times."""

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine

from shared.overview import packed_operations, packed_rules, store, summary_store
from shared.tables import client_commands, client_heartbeats, clients
from shared.vocabulary import ClientStatus, Presence, ProcessStatus, RegisteredBy, ScreenHealthStatus
from tests.unpacked import unpacked, uuids_of

MOST = 2**31 - 1
FAR = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
HOSTILE = [
    '","x":["',
    "\\",
    '"',
    "</script>",
    "\u2028\x7f\x1b\x01",
    "\U0001f600",
    "null",
    "12.034500",
    "",
    "'; --",
    "%s :x",
]
TEXTS = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30)
)
TIMES = st.one_of(
    st.datetimes(timezones=st.just(UTC)),
    st.integers(-4_000, 4_000).map(lambda s: datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=s)),
    st.integers(0, 10**6 - 1).map(lambda us: datetime(1969, 12, 31, 23, 59, 59, us, tzinfo=UTC)),
)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values)


@st.composite
def facts(draw: st.DrawFn) -> dict[str, Any]:
    """The columns of one client, with its last heartbeat and the times of its open command if it has them."""
    failed_at = draw(maybe(TIMES))
    return {
        "uuid": str(draw(st.uuids())),
        "name": draw(TEXTS),
        "site": draw(maybe(TEXTS)),
        "tags": draw(st.lists(TEXTS, max_size=3)),
        "registered_by": RegisteredBy.ENROLMENT,
        "process_status": draw(st.sampled_from(ProcessStatus)),
        "status": draw(st.sampled_from(ClientStatus)),
        "status_since": draw(TIMES),
        "screen_health": draw(st.sampled_from(ScreenHealthStatus)),
        "service_failed_at": failed_at,
        "service_failed_unit": None if failed_at is None else draw(TEXTS),
        "mqtt_reconnect_count": draw(maybe(st.integers(0, MOST))),
        "mqtt_last_disconnect_at": draw(maybe(TIMES)),
        "shared_login_seen_at": draw(maybe(TIMES)),
        "presence": draw(st.sampled_from(Presence)),
        "app_version": draw(maybe(TEXTS)),
        "ip": draw(maybe(TEXTS)),
        "hostname": draw(maybe(TEXTS)),
        "lockout_until": draw(maybe(TIMES)),
        "heartbeat": draw(maybe(TIMES)),
        "command": draw(maybe(TIMES.filter(lambda at: at < FAR - timedelta(seconds=1)))),
    }


BARE: dict[str, Any] = {"uuid": str(uuid.UUID(int=0)), "name": "", "registered_by": RegisteredBy.FIRST_MESSAGE}
FULL: dict[str, Any] = {
    "uuid": str(uuid.UUID(int=2**128 - 1)),
    "name": HOSTILE[0],
    "hostname": "x" * 100_000,
    "registered_by": RegisteredBy.ENROLMENT,
    "mqtt_reconnect_count": MOST,
    "mqtt_last_disconnect_at": FAR,
    "lockout_until": FAR - timedelta(microseconds=999_999),
    "heartbeat": datetime(1, 1, 1, tzinfo=UTC),
    "command": FAR - timedelta(days=1),
}


def put(connection: Connection, fleet: list[dict[str, Any]]) -> None:
    for given_facts in fleet:
        row = {name: value for name, value in given_facts.items() if name not in ("heartbeat", "command")}
        connection.execute(sa.insert(clients).values(**row))
        of = {"client_uuid": row["uuid"]}
        if (heard_at := given_facts.get("heartbeat")) is not None:
            connection.execute(sa.insert(client_heartbeats).values(**of, last_heartbeat_at=heard_at))
        if (asked_at := given_facts.get("command")) is not None:
            what = {"id": row["uuid"], "action": "restart_app", "source": "operator", "requested_by": "user:a"}
            times = {"created_at": asked_at, "expires_at": asked_at + timedelta(seconds=1)}
            connection.execute(sa.insert(client_commands).values(**of, **what, **times))


@pytest.fixture
def alone(engine: Engine) -> Iterator[Connection]:
    """A connection that sees an empty fleet; all changes are rolled back."""
    with engine.connect() as connection, connection.begin() as transaction:
        connection.execute(sa.text("TRUNCATE clients CASCADE"))
        yield connection
        transaction.rollback()


@settings(max_examples=40)
@given(
    fleet=st.lists(facts(), max_size=5, unique_by=lambda row: row["uuid"]),
    now=st.integers(0, 4 * 10**9),
    recovering=st.booleans(),
)
@example(fleet=[], now=0, recovering=False)
@example(fleet=[BARE, FULL], now=1_795_296_600, recovering=True)
def test_a_fleet_is_the_same_row_by_row_and_column_by_column(
    alone: Connection, fleet: list[dict[str, Any]], now: int, recovering: bool
) -> None:
    moment = datetime.fromtimestamp(now, UTC)
    with alone.begin_nested() as savepoint:
        put(alone, fleet)
        why = {"state": "due", "why": '"quoted" \\ \u2028', "until": None, "step": 1}
        recovery = {row["uuid"]: json.dumps(why) for row in fleet[:1] if recovering}

        rows = json.loads(f"[{store.whole_fleet(alone, recovery)}]")
        told = json.loads(packed_operations.whole_fleet(alone, moment, recovery))
        uuids = summary_store.summary(alone, moment, 0, 1, 1).changed
        changed = json.loads(f"[{store.some_clients(alone, uuids, recovery)}]")
        changed_told = json.loads(packed_operations.some_clients(alone, moment, uuids, recovery))
        beats = json.loads(packed_operations.heartbeats(alone, moment))
        beats_in_rows = json.loads(f"[{store.heartbeats(alone)}]")
        savepoint.rollback()

    expected = [dict(zip(store.COLUMNS, row, strict=True)) for row in rows]
    assert tuple(told) == tuple(store.COLUMNS)
    assert unpacked(told, moment.isoformat()) == expected
    assert changed == rows
    assert unpacked(changed_told, moment.isoformat()) == expected
    heard = [[row["uuid"], row["last_heartbeat_at"]] for row in unpacked(beats, moment.isoformat())]
    assert sorted(heard) == sorted(beats_in_rows)
    assert len(expected) == len(fleet)


def test_many_uuids_are_one_text_without_the_line_breaks_of_postgres(alone: Connection) -> None:
    many = sorted(str(uuid.uuid4()) for _ in range(100))
    row = {"name": "", "registered_by": RegisteredBy.ENROLMENT}
    alone.execute(sa.insert(clients), [{"uuid": one, **row} for one in many])

    told = json.loads(packed_operations.whole_fleet(alone, datetime.now(UTC), {}))

    assert uuids_of(told["uuid"]) == many


def test_sites_are_told_once_each_where_that_is_shorter(alone: Connection) -> None:
    sites = ["Berlin Mitte", None, "Rome", "Berlin Mitte"] * 20
    rows = [{"uuid": str(uuid.uuid4()), "name": f"{n:03d}", "site": site} for n, site in enumerate(sites)]
    alone.execute(sa.insert(clients), [{**row, "registered_by": RegisteredBy.ENROLMENT} for row in rows])

    now = datetime.now(UTC)
    told = json.loads(packed_operations.whole_fleet(alone, now, {}))

    assert told["site"] == {"words": ["Berlin Mitte", None, "Rome"], "places": [0, 1, 2, 0] * 20}
    assert [row["site"] for row in unpacked(told, now.isoformat())] == sites


SECONDS = [
    ("2026-11-21T21:30:00+00:00", 1_795_296_600),
    ("2026-11-21T21:30:00.999999+00:00", 1_795_296_600),
    ("1969-12-31T23:59:59.500000+00:00", -1),
]


@pytest.mark.parametrize(("now", "second"), SECONDS)
def test_times_are_told_from_the_second_that_the_answers_own_time_stands_in(now: str, second: int) -> None:
    assert packed_rules.second_of(datetime.fromisoformat(now)) == second
