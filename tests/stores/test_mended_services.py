"""A failed service that is mended fails no more, but is listed until somebody acknowledges it."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from shared.clients import failures_operations, failures_store
from shared.clients import operations as clients_operations
from shared.clients.failures_rules import ServiceFailure, service_fails
from shared.errors import FailureChanged
from shared.overview import problems_store, store, summary_store
from shared.postgres.door import database_now, transaction
from shared.tables import client_health, clients, incident_members
from tests.stores.commands_world import add_client
from tests.stores.incidents_world import listen, observe, site
from tests.stores.parallel import at_once
from tests.stores.test_notified_displays import report

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
STAMP = ("i", 1, 1)
NONE: dict[str, object] = {"service_failed": None}
PLAYER: dict[str, object] = {"service_failed": {"unit": "player"}}


def failed(uuid: str, *, by_topic: bool = True, seq: int = 1) -> ServiceFailure:
    return ServiceFailure(uuid, 0.0, "player", ("i", 1, seq), by_topic)


def fail(connection: Connection, at: datetime, *failures: ServiceFailure) -> None:
    failures_operations.record(connection, at, 0.0, failures)


def row(connection: Connection, uuid: str) -> Any:
    return connection.execute(sa.select(clients).where(clients.c.uuid == uuid)).one()


def fails(connection: Connection, uuid: str) -> bool:
    found = row(connection, uuid)
    return service_fails(found.service_failed_at, found.service_mended_at)


@pytest.fixture
def now(connection: Connection) -> datetime:
    at = database_now(connection)
    listen(connection, at)
    return at


@pytest.fixture
def mended(connection: Connection, now: datetime) -> str:
    """A display whose service failed five minutes ago and is mended."""
    uuid = add_client(connection, now, status="running")
    fail(connection, now - 5 * MINUTE, failed(uuid))
    report(connection, now - MINUTE, uuid, NONE)
    assert failures_operations.end_mended(connection, now) == 1
    return uuid


@pytest.mark.parametrize(
    ("body", "after", "facts", "ended"),
    [
        pytest.param(NONE, 61, {}, True, id="a minute later none stands"),
        pytest.param(NONE, 59, {}, False, id="too early"),
        pytest.param(PLAYER, 61, {}, False, id="it still stands"),
        pytest.param({}, 61, {}, False, id="the report does not say"),
        pytest.param(NONE, 61, {"status": "unknown"}, True, id="its state is unknown by now"),
        pytest.param(NONE, 61, {"status": "stale"}, True, id="silent by now: another trouble"),
        pytest.param(NONE, 61, {"deleted_at": sa.func.now()}, False, id="deleted"),
    ],
)
def test_a_failure_is_over_when_a_later_report_says_that_none_stands(
    connection: Connection, now: datetime, body: dict[str, object], after: int, facts: dict[str, Any], ended: bool
) -> None:
    uuid = add_client(connection, now, status="running")
    fail(connection, now, failed(uuid))
    report(connection, now + after * SECOND, uuid, body)
    connection.execute(sa.update(clients).where(clients.c.uuid == uuid).values(name="Lobby", **facts))

    first, again = (failures_operations.end_mended(connection, now + 2 * MINUTE) for _ in range(2))

    assert (first, again) == (int(ended), 0)
    assert row(connection, uuid).service_mended_at == (now + 2 * MINUTE if ended else None)


def test_what_is_mended_counts_in_nothing_and_is_listed_all_the_same(
    connection: Connection, now: datetime, mended: str
) -> None:
    counts = store.counts(connection)

    assert (counts.service_failed, counts.service_mended) == (0, 1)
    assert store.unwell(connection) == []
    assert store.unwell_among(connection, [mended]) == []
    assert [one.uuid for one in problems_store.failed(connection, now, 10).clients] == [mended]
    (listed,) = summary_store.summary(connection, now, None, 10, 10).service_failed
    assert (listed.uuid, listed.service_mended_at) == (mended, now)


def test_what_is_mended_and_fails_again_is_a_new_failure(connection: Connection, now: datetime, mended: str) -> None:
    seen = row(connection, mended).service_failed_at

    fail(connection, now, failed(mended))  # the broker delivers the old message again
    assert not fails(connection, mended)

    fail(connection, now, failed(mended, by_topic=False))
    assert fails(connection, mended)
    assert row(connection, mended).service_failed_at == now
    with pytest.raises(FailureChanged):
        clients_operations.clear_service_failed(connection, now, mended, "user:anna", seen)


def test_an_acknowledged_failure_leaves_no_mark(connection: Connection, now: datetime, mended: str) -> None:
    clients_operations.clear_service_failed(connection, now, mended, "user:anna", None)
    assert row(connection, mended).service_mended_at is None

    fail(connection, now, failed(mended, seq=2))
    assert fails(connection, mended)


def test_what_is_mended_leaves_its_incident_and_joins_none(connection: Connection, now: datetime) -> None:
    uuids = site(connection, now)
    fail(connection, now, *(failed(uuid) for uuid in uuids))
    observe(connection, now + SECOND)
    present = sa.select(sa.func.count()).where(incident_members.c.left_at.is_(None))
    assert connection.execute(present).scalar_one() == len(uuids)

    for uuid in uuids:
        report(connection, now + 2 * MINUTE, uuid, NONE)
    failures_operations.end_mended(connection, now + 2 * MINUTE)
    observe(connection, now + 2 * MINUTE + SECOND)

    assert connection.execute(present).scalar_one() == 0


@pytest.mark.parametrize(
    ("change", "left"),
    [
        pytest.param(lambda connection, now, uuid: fail(connection, now, failed(uuid, seq=2)), True, id="it fails"),
        pytest.param(
            lambda connection, now, uuid: failures_store.clear_service_failed(connection, now, uuid, "user:anna"),
            False,
            id="it is acknowledged",
        ),
    ],
)
def test_a_failure_that_changes_at_the_moment_is_not_ended(
    engine: Engine, change: Callable[[Connection, datetime, str], object], left: bool
) -> None:
    with transaction(engine) as connection:
        now = database_now(connection)
        uuid = add_client(connection, now, status="running")
        fail(connection, now - 5 * MINUTE, failed(uuid))
        report(connection, now - MINUTE, uuid, NONE)
    with transaction(engine) as connection:
        change(connection, now, uuid)
        with transaction(engine) as other:
            assert failures_operations.end_mended(other, now) == 0

    with transaction(engine) as connection:
        assert failures_operations.end_mended(connection, now) == 0
        assert fails(connection, uuid) is left


def test_failing_mending_and_acknowledging_at_once_leave_no_mark_without_a_failure(engine: Engine) -> None:
    """Mended is only what the newest report denies, and nobody waits for another forever."""
    with transaction(engine) as connection:
        uuids = sorted(add_client(connection, database_now(connection), status="running") for _ in range(4))
    dice = random.Random(7)
    plans = [[(dice.choice("fmra"), dice.sample(uuids, 2)) for _ in range(40)] for _ in range(4)]

    def work() -> None:
        for number, (act, some) in enumerate(plans.pop()):
            with transaction(engine) as connection:
                at = database_now(connection)
                if act == "f":
                    fail(connection, at - 2 * MINUTE, *(failed(uuid, seq=number) for uuid in some))
                elif act == "m":
                    failures_operations.end_mended(connection, at)
                elif act == "a":
                    failures_store.clear_service_failed(connection, at, some[0], "user:anna")
                else:
                    say(connection, at, some[0], dice.choice([NONE, PLAYER]))

    assert at_once(4, work) == [None] * 4
    marked = sa.select(sa.func.count()).where(clients.c.uuid.in_(uuids), clients.c.service_mended_at.is_not(None))
    with transaction(engine) as connection:
        for uuid in uuids:
            say(connection, database_now(connection), uuid, NONE)
        failures_operations.end_mended(connection, database_now(connection))
        assert connection.execute(marked.where(clients.c.service_failed_at.is_(None))).scalar_one() == 0
        assert not any(fails(connection, uuid) for uuid in uuids)


def say(connection: Connection, at: datetime, uuid: str, body: dict[str, object]) -> None:
    """Store a health report, as the bridge does: then the failure that it repeats."""
    connection.execute(
        sa.text(
            "INSERT INTO client_health (client_uuid, received_at, body) VALUES (:uuid, :at, :body)"
            " ON CONFLICT (client_uuid) DO UPDATE SET received_at = :at, body = :body"
        ).bindparams(sa.bindparam("body", type_=client_health.c.body.type)),
        {"uuid": uuid, "at": at, "body": body},
    )
    if body is PLAYER:
        fail(connection, at, failed(uuid, by_topic=False))
