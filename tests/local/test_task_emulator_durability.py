"""What the local Cloud Tasks keeps when it, or its database connection, ends unexpectedly."""

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from google.api_core.exceptions import AlreadyExists, DeadlineExceeded, RetryError, ServiceUnavailable, Unknown
from sqlalchemy import text

from deploy.local.postgres import Cluster, superuser
from deploy.parts import identity
from deploy.parts.task_queue import schema, store
from shared.outside.task_queue import TaskQueue, queue_is_reachable
from shared.postgres.door import database_now, engine_for
from tests.local.queue_harness import (
    ACCOUNT,
    HELD_SECONDS,
    LOCATION,
    QUEUE_SECRET,
    WITH_MORE_QUEUES,
    Answer,
    Call,
    Emulator,
    Worker,
    at,
    emulator,
    wait_until,
)

QUICK, HELD, HOURLY = (f"{LOCATION}/queues/{queue_id}" for queue_id in ("quick", "held", "hourly"))


def hold_first(released: threading.Event) -> Callable[[Call], Answer]:
    """Hold the answer to the first call until `released`; answer all others immediately."""
    first = threading.Lock()

    def answer(_call: Call) -> Answer:
        if first.acquire(blocking=False):
            released.wait(HELD_SECONDS)
        return 200, {}

    return answer


@pytest.fixture
def released() -> threading.Event:
    return threading.Event()


def test_a_kill_loses_no_task_and_forgets_no_name_no_count_and_no_key(
    empty_database: str, tmp_path: Path, target: Worker, released: threading.Event
) -> None:
    hold, failing = hold_first(released), [500]
    target.answer = lambda call: (failing.pop() if failing else 200, {}) if call.task == "twice" else hold(call)
    key = tmp_path / "secrets" / "oidc_key.pem"
    with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as first:
        first.add(QUICK, "under-way", target.url)
        wait_until(lambda: target.calls, "the first call")
        done = first.add(QUICK, "done", target.url)
        wait_until(lambda: first.row(done)["gone_at"], "the end of a task")
        first.add(QUICK, "later", target.url, schedule_time=at(3.0))
        first.add(HELD, "waiting", target.url)
        twice = first.add(HOURLY, "twice", target.url)
        wait_until(lambda: first.row(twice)["response_count"] == 1, "the first try")
        key_before = identity.key_id(identity.load_or_create_key(key))
        first.kill()

    with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as second:
        second.change(HOURLY, scheduled_at=sa.func.now())
        wait_until(lambda: not second.names(QUICK) and not second.names(HOURLY), "the end of all tasks")

        assert sorted(call.task for call in target.calls) == ["done", "later", *["twice"] * 2, *["under-way"] * 2]
        again = target.calls_of("under-way")[1]
        assert again.headers["x-cloudtasks-taskretrycount"] == "1"
        assert again.headers["x-cloudtasks-taskexecutioncount"] == "0"
        retried = target.calls_of("twice")[1]
        assert retried.headers["x-cloudtasks-taskretrycount"] == "1"
        assert retried.headers["x-cloudtasks-taskpreviousresponse"] == "500"
        assert second.names(HELD) == ["waiting"]
        with pytest.raises(AlreadyExists):
            second.add(QUICK, "done", target.url)
        assert identity.key_id(identity.load_or_create_key(key)) == key_before
    released.set()


def test_of_many_tasks_enqueued_between_kills_every_one_that_was_accepted_is_delivered(
    empty_database: str, tmp_path: Path, target: Worker
) -> None:
    accepted: set[str] = set()
    for life in range(2):
        with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as running:
            killing = threading.Thread(target=_kill_among, args=(running, accepted, 20 * (life + 1)))
            killing.start()
            with suppress(ServiceUnavailable, Unknown, RetryError, DeadlineExceeded):
                for number in range(10_000):
                    running.add(QUICK, f"{life}-{number}", target.url)
                    accepted.add(f"{life}-{number}")
            killing.join()

    with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as last:
        wait_until(lambda: not last.names(QUICK), "the end of all tasks")

    assert len(accepted) >= 40
    assert accepted <= {call.task for call in target.calls}


def _kill_among(running: Emulator, accepted: set[str], enough: int) -> None:
    """Kill the emulator once `enough` tasks were accepted, while more are being added."""
    wait_until(lambda: len(accepted) >= enough, "tasks that were accepted")
    running.kill()


def test_one_emulator_delivers_and_another_takes_over_when_it_dies(
    empty_database: str, tmp_path: Path, target: Worker, released: threading.Event
) -> None:
    target.answer = hold_first(released)
    with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as first:
        first.add(QUICK, "held", target.url)
        wait_until(lambda: target.calls, "the first call")
        taker = threading.Thread(target=_take_over, args=(empty_database, tmp_path), daemon=True)
        taker.start()
        wait_until(lambda: "task_dispatcher_waiting" in _logs(tmp_path), "the second emulator")
        first.add(QUICK, "free", target.url)
        wait_until(lambda: first.names(QUICK) == ["held"], "the end of a task while two emulators run")
        assert len(target.calls_of("held")) == 1
        first.kill()
    taker.join(60)

    assert not taker.is_alive()
    assert len(target.calls_of("held")) == 2
    assert len(target.calls_of("free")) == 1
    released.set()


def _take_over(database_url: str, state: Path) -> None:
    """Run an emulator until the queue is empty; it delivers once the first one has ended."""
    with emulator(database_url, state, program=WITH_MORE_QUEUES) as second:
        wait_until(lambda: not second.names(QUICK), "the end of the held task")


def _logs(state: Path) -> str:
    return "".join(log.read_text() for log in state.glob("*.log"))


def test_it_outlives_the_loss_of_its_connections(
    queue_service: Emulator, running: str, target: Worker, released: threading.Event
) -> None:
    target.answer = hold_first(released)
    queue_service.add(running, "under-way", target.url)
    wait_until(lambda: target.calls, "the first call")

    lives = queue_service.log.read_text().count("task_dispatcher_started")
    with queue_service.engine.begin() as connection:
        ended = connection.execute(
            text(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE application_name = 'task_emulator' AND datname = current_database()"
            )
        ).scalar_one()
    assert ended >= 2
    wait_until(lambda: queue_service.log.read_text().count("task_dispatcher_started") == lives + 1, "a new lock")
    released.set()

    wait_until(lambda: _survives(lambda: not queue_service.names(running)), "the end of the task")
    wait_until(lambda: _survives(lambda: queue_service.add(running, "after", target.url)), "a new task")
    wait_until(lambda: target.calls_of("after"), "its call")
    assert len(target.calls_of("under-way")) == 1  # its delivery was still alive: not abandoned


def test_only_the_current_attempt_may_write_its_outcome(empty_database: str) -> None:
    engine = engine_for(empty_database, "tests")
    with engine.begin() as connection:
        schema.create(connection)
        now = database_now(connection)
        store.insert_task(connection, "q", "t", b"", 15_000, now, now)
        (stale,) = store.claim_due(connection, "q", "me", 1, now)
        store.release_abandoned(connection, "me", [])
        (current,) = store.claim_due(connection, "q", "me", 1, now)

        assert not store.finish(connection, stale, now)
        assert not store.reschedule(connection, stale, now, now, 500, "late")
        assert store.reschedule(connection, current, now, now, 500, "in time")
        assert not store.finish(connection, current, now)  # no longer under way
    engine.dispose()


def _survives(call: Callable[[], object]) -> bool:
    """Return the answer of `call`; False while the database connection is being re-established."""
    try:
        return bool(call())
    except ServiceUnavailable:
        return False


def test_sigterm_lets_a_short_delivery_finish_and_ends_it_soon_even_during_a_long_one(
    empty_database: str, tmp_path: Path, target: Worker, released: threading.Event
) -> None:
    short = threading.Event()
    hold = {"held": hold_first(released), "short": hold_first(short)}
    target.answer = lambda call: hold[call.task](call)
    with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as first:
        for name in hold:
            first.add(QUICK, name, target.url)
        wait_until(lambda: len(target.calls) == 2, "the calls")

        first.process.send_signal(signal.SIGTERM)
        short.set()

        assert first.process.wait(60) == 0

    with emulator(empty_database, tmp_path, program=WITH_MORE_QUEUES) as second:
        wait_until(lambda: not second.names(QUICK), "the end of the tasks")
    assert sorted(call.task for call in target.calls) == ["held", "held", "short"]
    released.set()


def test_a_queue_without_its_database_answers_as_one_that_is_away(
    empty_database: str, postgres_server: Cluster, tmp_path: Path
) -> None:
    name = empty_database.rpartition("/")[2]
    with emulator(empty_database, tmp_path) as running, superuser(postgres_server) as connection:
        queue = TaskQueue(running.queue_url, "http://127.0.0.1:1", ACCOUNT, timedelta(seconds=60), secret=QUEUE_SECRET)
        assert queue_is_reachable(queue)
        connection.run(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
        connection.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

        assert not queue_is_reachable(queue)

        connection.run(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
        wait_until(lambda: queue_is_reachable(queue), "its database is back")
