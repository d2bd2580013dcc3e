"""What the local Cloud Tasks keeps when it, or its database connection, dies."""

import secrets
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from google.api_core.exceptions import AlreadyExists, DeadlineExceeded, RetryError, ServiceUnavailable, Unknown
from google.cloud.tasks_v2.types import RetryConfig
from sqlalchemy import Engine, text

from deploy.parts import identity
from deploy.parts.task_queue import schema, store
from shared.postgres.door import database_now, engine_for
from tests.local.queue_harness import HELD_SECONDS, LOCATION, Answer, Call, Emulator, Worker, at, emulator, wait_until


def hold_first(released: threading.Event) -> Callable[[Call], Answer]:
    """Do not answer the first call until `released`; answer all others at once."""
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
    hold = hold_first(released)
    target.answer = lambda call: (500, {}) if call.task == "thrice" else hold(call)
    own = RetryConfig(max_attempts=3, min_backoff=timedelta(seconds=1), max_backoff=timedelta(seconds=1))
    key = tmp_path / "secrets" / "oidc_key.pem"
    with emulator(empty_database, tmp_path) as first:
        queue, tries = first.create_queue("kill"), first.create_queue("tries")
        paused = first.client.pause_queue(name=first.create_queue("kill-paused")).name
        first.add(queue, "under-way", target.url)
        wait_until(lambda: target.calls, "the first call")
        first.add(queue, "later", target.url, schedule_time=at(3.0))
        first.add(paused, "waiting", target.url)
        first.client.delete_task(name=first.add(paused, "deleted", target.url).name)
        key_before = identity.key_id(identity.load_or_create_key(key))
        first.add(tries, "thrice", target.url, retry_config=own)
        wait_until(lambda: first.client.get_task(name=f"{tries}/tasks/thrice").response_count == 1, "the first try")
        first.kill()

    with emulator(empty_database, tmp_path) as second:
        wait_until(lambda: not second.names(queue) and not second.names(tries), "the end of all tasks")

        assert sorted(call.task for call in target.calls) == ["later", *["thrice"] * 3, "under-way", "under-way"]
        again = target.calls_of("under-way")[1]
        assert again.headers["x-cloudtasks-taskretrycount"] == "1"
        assert again.headers["x-cloudtasks-taskexecutioncount"] == "0"
        thrice = target.calls_of("thrice")  # by the limit that the task brought with it
        assert [call.headers["x-cloudtasks-taskretrycount"] for call in thrice] == ["0", "1", "2"]
        assert thrice[-1].headers["x-cloudtasks-taskpreviousresponse"] == "500"
        assert second.names(paused) == ["waiting"]
        with pytest.raises(AlreadyExists):
            second.add(paused, "deleted", target.url)
        assert identity.key_id(identity.load_or_create_key(key)) == key_before
    released.set()


def test_of_many_tasks_enqueued_between_kills_every_one_that_was_accepted_is_delivered(
    empty_database: str, tmp_path: Path, target: Worker
) -> None:
    accepted: set[str] = set()
    for life in range(2):
        with emulator(empty_database, tmp_path) as running:
            queue = running.create_queue("many") if life == 0 else f"{LOCATION}/queues/many"
            killing = threading.Thread(target=_kill_among, args=(running, accepted, 20 * (life + 1)))
            killing.start()
            with suppress(ServiceUnavailable, Unknown, RetryError, DeadlineExceeded):
                for number in range(10_000):
                    running.add(queue, f"{life}-{number}", target.url)
                    accepted.add(f"{life}-{number}")
            killing.join()

    with emulator(empty_database, tmp_path) as last:
        wait_until(lambda: not last.names(queue), "the end of all tasks")

    assert len(accepted) >= 40
    assert accepted <= {call.task for call in target.calls}


def _kill_among(running: Emulator, accepted: set[str], enough: int) -> None:
    """Kill it when so many were accepted, while more are being added."""
    wait_until(lambda: len(accepted) >= enough, "tasks that were accepted")
    running.kill()


def test_one_emulator_delivers_and_another_takes_over_when_it_dies(
    empty_database: str, tmp_path: Path, target: Worker, released: threading.Event
) -> None:
    target.answer = hold_first(released)
    with emulator(empty_database, tmp_path) as first:
        queue = first.create_queue("handover")
        first.add(queue, "held", target.url)
        wait_until(lambda: target.calls, "the first call")
        taker = threading.Thread(target=_take_over, args=(empty_database, tmp_path, queue), daemon=True)
        taker.start()
        wait_until(lambda: "task_dispatcher_waiting" in _logs(tmp_path), "the second emulator")
        first.add(queue, "free", target.url)
        wait_until(lambda: first.names(queue) == ["held"], "the end of a task while two emulators run")
        assert len(target.calls_of("held")) == 1
        first.kill()
    taker.join(60)

    assert not taker.is_alive()
    assert len(target.calls_of("held")) == 2
    assert len(target.calls_of("free")) == 1
    released.set()


def _take_over(database_url: str, state: Path, queue: str) -> None:
    """Run an emulator (ready when it delivers, so when the first is gone) until the queue is empty."""
    with emulator(database_url, state) as second:
        wait_until(lambda: not second.names(queue), "the end of the held task")


def _logs(state: Path) -> str:
    return "".join(log.read_text() for log in state.glob("*.log"))


def test_it_outlives_the_loss_of_its_connections(
    queue_service: Emulator, queue_engine: Engine, running: str, target: Worker, released: threading.Event
) -> None:
    target.answer = hold_first(released)
    queue_service.add(running, "under-way", target.url)
    wait_until(lambda: target.calls, "the first call")

    lives = queue_service.log.read_text().count("task_dispatcher_started")
    with queue_engine.begin() as connection:
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
        store.insert_task(connection, "q", "t", b"", None, 15_000, now, now)
        (stale,) = store.claim_due(connection, "q", "me", 1, now)
        store.release_abandoned(connection, "me", [])
        (current,) = store.claim_due(connection, "q", "me", 1, now)

        assert not store.finish(connection, stale, now)
        assert not store.reschedule(connection, stale, now, now, 500, "late")
        assert store.reschedule(connection, current, now, now, 500, "in time")
        assert not store.finish(connection, current, now)  # no longer under way
    engine.dispose()


def _survives(call: Callable[[], object]) -> bool:
    """The answer of `call`; False while the database connection is being made anew."""
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
    with emulator(empty_database, tmp_path) as first:
        queue = first.create_queue(f"stop-{secrets.token_hex(4)}")
        for name in hold:
            first.add(queue, name, target.url)
        wait_until(lambda: len(target.calls) == 2, "the calls")

        first.process.send_signal(signal.SIGTERM)
        short.set()

        assert first.process.wait(60) == 0

    with emulator(empty_database, tmp_path) as second:
        wait_until(lambda: not second.names(queue), "the end of the tasks")
    assert sorted(call.task for call in target.calls) == ["held", "held", "short"]
    released.set()
