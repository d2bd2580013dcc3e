"""From the decision to the receiver: real tick, queue and webhooks, which are killed, hang, refuse, and overlap."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
import requests
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts import identity
from deploy.parts.broker_accounts.certificates import Certificates
from deploy.parts.layout import REPOSITORY
from extensions.notifications import operations
from extensions.notifications.channels.rules import Hours
from shared.outside.couriers.words import receiver_answered, receiver_gone
from shared.postgres.door import database_now
from shared.tables import (
    bridge_status,
    door_certificates,
    incident_members,
    incidents,
    notification_channels,
    notification_deliveries,
)
from shared.vocabulary import Door, NotificationEvent, Weekday
from shared.words.sentences import as_given, to_row
from tests.deploy.certificates import listening
from tests.local.queue_harness import ACCOUNT, QUEUE_SECRET, Emulator, emulator, wait_until
from tests.problem_documents import check_problem
from tests.receivers import Receiver, receiver
from tests.rules.oidc_harness import OURS
from tests.stores.commands_world import add_client
from tests.stores.notifications_world import SETTINGS, channel
from tests.tick.conftest import Start, TickFunction
from tests.tick.world import set_last_tick

deliveries = notification_deliveries
HOUR = timedelta(hours=1)
JOB = "deliver_notification"
SCHEDULER = "scheduler@signage.test"


@pytest.fixture(autouse=True)
def empty(engine: Engine) -> Iterator[None]:
    yield
    with engine.begin() as connection:
        for table in (deliveries, notification_channels, incidents, door_certificates):
            connection.execute(sa.delete(table))


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as server:
        yield server


@pytest.fixture(scope="module")
def queue(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with emulator(database_url, tmp_path_factory.mktemp("queue")) as running:
        yield running


@pytest.fixture(scope="module")
def function(start: Start, queue: Emulator) -> Iterator[TickFunction]:
    """The function as in production: one issuer signs for the queue and for the scheduler."""
    with started(start, queue) as running:
        yield running


@contextmanager
def started(start: Start, queue: Emulator) -> Iterator[TickFunction]:
    state = queue.log.parent
    with start(
        QUEUE_URL=queue.queue_url,
        QUEUE_SECRET=QUEUE_SECRET,
        TASKS_SERVICE_ACCOUNT=ACCOUNT,
        SCHEDULER_SERVICE_ACCOUNT=SCHEDULER,
        OIDC_ISSUER=queue.issuer,
    ) as running:
        key = identity.load_or_create_key(identity.key_path({"LOCAL_STATE_DIR": str(state)}))
        yield Signed(running.url, running.log, queue.issuer, key)


@dataclass(frozen=True)
class Signed(TickFunction):
    """A running function; the queue's own issuer signs the tokens of its callers."""

    key: Any = None

    def token(self) -> str:
        return identity.mint(self.key, self.url, SCHEDULER, self.issuer)

    def deliver(self, body: Any, email: str = ACCOUNT) -> requests.Response:
        bearer = identity.mint(self.key, self.url, email, self.issuer)
        headers = {"Authorization": f"Bearer {bearer}"}
        return requests.post(f"{self.url}/deliveries", json=body, headers=headers, timeout=60)


def outage(engine: Engine, hook: Receiver) -> None:
    """Add an incident that opened ten minutes ago, and a channel that has not sent it."""
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(bridge_status).values(connected_since=now - HOUR, canary_at=now))
        channel(connection, now - HOUR, url=hook.url)
        row = {"kind": "cluster", "key": "", "cause": to_row(as_given(text="All went."))}
        ago = now - timedelta(minutes=10)
        connection.execute(sa.insert(incidents).values({**row, "began_at": ago, "opened_at": ago}))
        add_a_member(connection, ago)
    set_last_tick(engine, None)


def add_a_member(connection: sa.Connection, ago: Any) -> None:
    """Add a display that is still unwell, so that the incident stays open."""
    uuid = add_client(connection, ago, name="Lobby", status="crashed", status_since=ago, process_status="crashed")
    number = connection.execute(sa.select(sa.func.max(incidents.c.id))).scalar_one()
    member = {"client_uuid": uuid, "incident_id": number, "joined_at": ago, "failed_at": ago, "symptom": "crashed"}
    connection.execute(sa.insert(incident_members).values(**member))


def rows(engine: Engine) -> list[dict[str, Any]]:
    with engine.connect() as connection:
        query = sa.select(deliveries).order_by(deliveries.c.id)
        return [dict(row) for row in connection.execute(query).mappings()]


def only(engine: Engine) -> dict[str, Any]:
    [row] = rows(engine)
    return row


def channel_row(engine: Engine) -> dict[str, Any]:
    with engine.connect() as connection:
        return dict(connection.execute(sa.select(notification_channels)).mappings().one())


def make_due(engine: Engine) -> None:
    """Let time pass: waiting messages are due, and claims have expired."""
    with engine.begin() as connection:
        ago = database_now(connection) - timedelta(minutes=5)
        claimed = sa.case((deliveries.c.claimed_at.is_not(None), ago))
        connection.execute(sa.update(deliveries).values(due_at=ago, claimed_at=claimed))


def morning(engine: Engine, hook: Receiver) -> None:
    """Add a channel that is due its daily report."""
    with engine.begin() as connection:
        now = database_now(connection)
        hours = Hours(where_it_is_eight(now), frozenset(Weekday), time(), time())
        channel(connection, now - 3 * HOUR, url=hook.url, events=[NotificationEvent.DAILY_REPORT], hours=hours)
    set_last_tick(engine, None)


@pytest.mark.parametrize(("happen", "event"), [(outage, "incident_opened"), (morning, "daily_report")])
def test_a_message_reaches_its_receiver_once_whatever_ticks_at_once(
    function: Signed, engine: Engine, hook: Receiver, happen: Callable[[Engine, Receiver], None], event: str
) -> None:
    happen(engine, hook)

    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(lambda _: function.call(), range(4)))
    function.tick()
    wait_until(lambda: only(engine)["state"] == "delivered", "the message arrives")
    function.tick()

    assert {reply.status_code for reply in replies} == {200}
    [posted] = hook.posted
    assert posted.json["event"] == event
    assert posted.headers["idempotency-key"] == posted.json["id"] == f"signage-{only(engine)['id']}"
    assert channel_row(engine)["last_delivered_at"] is not None


def where_it_is_eight(now: datetime) -> str:
    """A time zone in which it is between eight and nine in the morning."""
    ahead = (8 - now.astimezone(UTC).hour + 12) % 24 - 12
    return f"Etc/GMT{-ahead:+d}" if ahead else "Etc/GMT"  # the sign of these names is that of the way to UTC


def has(hook: Receiver, count: int) -> Callable[[], bool]:
    return lambda: len(hook.posted) == count


def test_a_certificate_that_ends_soon_reaches_its_receiver_and_so_does_its_renewal(
    function: Signed, engine: Engine, hook: Receiver, tmp_path: Path
) -> None:
    """The door on loopback, its check, the tick, the queue and the receiver are real."""
    with engine.begin() as connection:
        now = database_now(connection)
        connection.execute(sa.update(bridge_status).values(connected_since=now - HOUR, canary_at=now))
        channel(connection, now - timedelta(days=30), url=hook.url)
    with listening(tmp_path, timedelta(days=10), timedelta(days=80)) as door:
        looker = Certificates(engine, {Door.DISPLAYS: door.address})
        for lifetime, count in ((10, 1), (90, 2)):
            door.load(timedelta(days=lifetime), timedelta(days=90 - lifetime))
            assert looker.look()
            for _ in range(2):
                set_last_tick(engine, None)
                function.tick()
            wait_until(has(hook, count), "the message arrives")
            wait_until(lambda: {row["state"] for row in rows(engine)} == {"delivered"}, "it is written down")

    title = "The certificate that displays see ends within 14 days"
    assert [(posted.json["event"], posted.json["title"]) for posted in hook.posted] == [
        ("certificate_old", title),
        ("recovered", f"Over: {title}"),
    ]
    assert hook.posted[0].json["door"] == "displays"


def test_a_receiver_that_fails_is_tried_again_by_a_task_of_its_own(
    function: Signed, engine: Engine, hook: Receiver, queue: Emulator
) -> None:
    hook.answer = lambda _posted: (500, {}) if len(hook.posted) < 2 else (200, {})
    outage(engine, hook)

    function.tick()
    wait_until(lambda: only(engine)["generation"] == 2, "the first try is written down")
    failed = only(engine)
    second = [f"notification-{failed['id']}-2"]
    waiting = "projects/local/locations/local/queues/notifications"
    wait_until(lambda: queue.names(waiting) == second, "the second try alone is on the queue")
    make_due(engine)  # instead of waiting for the back-off
    function.tick()
    wait_until(lambda: only(engine)["state"] == "delivered", "the second try arrives")

    answered = to_row(receiver_answered(receiver="127.0.0.1", status=500))
    assert (failed["state"], failed["attempts"], failed["error"]) == ("pending", 1, answered)
    assert timedelta(seconds=5) < failed["due_at"] - failed["created_at"] < timedelta(seconds=60)
    assert len({posted.headers["idempotency-key"] for posted in hook.posted}) == 1
    assert channel_row(engine)["last_error"] is None


def test_a_receiver_that_is_gone_is_said_on_the_channel_and_left_alone(
    function: Signed, engine: Engine, hook: Receiver
) -> None:
    hook.answer = lambda _posted: (410, {})
    outage(engine, hook)

    function.tick()
    wait_until(lambda: only(engine)["state"] == "failed", "it is given up")
    make_due(engine)
    function.tick()

    gone = to_row(receiver_gone(receiver="127.0.0.1", status=410))
    assert (only(engine)["error"], channel_row(engine)["last_error"]) == (gone, gone)
    assert len(hook.posted) == 1


def test_a_receiver_that_hangs_holds_up_neither_ticks_nor_other_receivers(
    function: Signed, engine: Engine, hook: Receiver
) -> None:
    hook.answer = lambda _posted: None
    outage(engine, hook)
    with receiver() as good:
        with engine.begin() as connection:
            channel(connection, database_now(connection) - HOUR, "Other", url=good.url)

        function.tick()
        wait_until(lambda: len(good.posted) == 1, "the other receiver is told", 60)
        assert function.tick()["failed"] == []

    [hung] = [row for row in rows(engine) if row["state"] == "pending"]
    assert (hung["attempts"], hung["claim"] is not None) == (1, True)  # tests/rules/test_couriers.py tests leaving it


SENDER = """
import sys
from extensions.notifications.job import PostOffice, deliver, queue_of
from shared import config
from shared.outside import couriers
from shared.postgres import door
settings = config.load()
office = PostOffice(door.make_engine(settings, "doomed"), queue_of(settings), couriers.reach_of(settings))
deliver(office, int(sys.argv[1]), 1)
"""


def test_a_sender_that_is_killed_with_the_message_in_its_hands_loses_none(
    function: Signed, engine: Engine, hook: Receiver, database_url: str
) -> None:
    outage(engine, hook)
    number = decided(engine)
    hook.answer = lambda _posted: None
    environment = {**os.environ, "DATABASE_URL": database_url, "TASKS_SERVICE_ACCOUNT": ACCOUNT}
    with subprocess.Popen([sys.executable, "-c", SENDER, str(number)], cwd=REPOSITORY, env=environment) as doomed:
        wait_until(lambda: bool(hook.posted), "it sends", 60)
        busy = function.deliver({"job": JOB, "delivery_id": number, "generation": 1})
        doomed.kill()
    killed = only(engine)
    hook.answer = lambda _posted: (200, {})
    make_due(engine)
    function.tick()
    wait_until(lambda: only(engine)["state"] == "delivered", "another one sends it")

    check_problem(busy, 503, "try_again", retry_after_seconds=30)
    assert (killed["state"], killed["attempts"], killed["claim"] is not None) == ("pending", 1, True)
    assert len(hook.posted) == 2
    assert len({posted.headers["idempotency-key"] for posted in hook.posted}) == 1


def decided(engine: Engine) -> int:
    """Commit a decision as a tick that dies before it enqueues anything. Returns the message's id."""
    with engine.begin() as connection:
        [(number, _)] = operations.decide(connection, database_now(connection), SETTINGS).tasks
    return number


def test_a_tick_that_is_killed_after_its_decision_loses_none(function: Signed, engine: Engine, hook: Receiver) -> None:
    outage(engine, hook)
    decided(engine)
    make_due(engine)

    function.tick()

    wait_until(lambda: only(engine)["state"] == "delivered", "the sweep finds it")
    assert only(engine)["generation"] == 2
    assert len(hook.posted) == 1


def test_two_that_decide_at_once_write_one_message(function: Signed, engine: Engine, hook: Receiver) -> None:
    outage(engine, hook)

    def decide(_: int) -> int:
        with engine.begin() as connection:
            return operations.decide(connection, database_now(connection), SETTINGS).told

    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(decide, range(4)))

    assert sorted(told) == [0, 0, 0, 1]
    assert len(rows(engine)) == 1


def test_a_task_that_comes_twice_late_or_for_nothing_does_nothing(
    function: Signed, engine: Engine, hook: Receiver
) -> None:
    outage(engine, hook)
    function.tick()
    wait_until(lambda: only(engine)["state"] == "delivered", "the message arrives")
    number = only(engine)["id"]

    for wanted in ((number, 1), (number, 7), (2**31 - 1, 1)):
        reply = function.deliver({"job": JOB, "delivery_id": wanted[0], "generation": wanted[1]})
        assert (reply.status_code, reply.json()) == (200, {"outcome": "nothing_to_do"})

    assert len(hook.posted) == 1


def test_a_channel_that_is_switched_off_meanwhile_is_told_nothing(
    function: Signed, engine: Engine, hook: Receiver
) -> None:
    hook.answer = lambda _posted: (503, {})
    outage(engine, hook)
    function.tick()
    wait_until(lambda: only(engine)["generation"] == 2, "the first try is written down")
    with engine.begin() as connection:
        connection.execute(sa.update(notification_channels).values(enabled=False))
    make_due(engine)

    function.tick()

    wait_until(lambda: only(engine)["state"] == "dropped", "it is dropped")
    assert len(hook.posted) == 1


def test_nobody_but_the_queue_delivers(function: Signed, engine: Engine) -> None:
    body = {"job": JOB, "delivery_id": 1, "generation": 1}

    check_problem(function.deliver(body, email=SCHEDULER), 401, "unauthenticated")
    foreign = {"Authorization": f"Bearer {identity.mint(OURS, function.url, ACCOUNT, function.issuer)}"}
    reply = requests.post(f"{function.url}/deliveries", json=body, headers=foreign, timeout=60)
    check_problem(reply, 401, "unauthenticated")
    tick = requests.post(
        function.url,
        headers={"Authorization": f"Bearer {identity.mint(function.key, function.url, ACCOUNT, function.issuer)}"},
        timeout=60,
    )
    check_problem(tick, 401, "unauthenticated")  # the queue may not tick either


@pytest.mark.parametrize(
    "body",
    [[], {}, {"job": "x"}, {"job": JOB, "delivery_id": "1", "generation": 1}, {"job": JOB, "delivery_id": True}],
)
def test_what_is_no_job_is_refused(function: Signed, body: Any) -> None:
    check_problem(function.deliver(body), 400, "bad_job")
