"""What the local Cloud Tasks keeps when it, or its database connection, ends unexpectedly."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final

import pytest
import sqlalchemy as sa
from google.api_core.exceptions import AlreadyExists, DeadlineExceeded, RetryError, ServiceUnavailable, Unknown
from sqlalchemy import text

from deploy.local.postgres import Cluster, superuser
from deploy.parts import identity
from deploy.parts.task_queue import schema, store
from shared.outside.task_queue import TaskQueue, queue_is_reachable
from shared.postgres.door import database_now, engine_for
from tests.local.conftest import made
from tests.local.queue_harness import (
    ACCOUNT,
    HELD_SECONDS,
    HOUR,
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
    worker,
)

PATIENCE: Final = 240.0
"""Seconds to wait for a step of the story, also where several emulators start on a busy machine."""

QUICK, HELD, HOURLY = (f"{LOCATION}/queues/{queue_id}" for queue_id in ("quick", "held", "hourly"))


@dataclass(frozen=True)
class Story:
    """A queue's tasks over three lives: the first is killed, the second is told to stop, the third does the rest."""

    worker: Worker
    accepted: set[str]
    """Tasks that were accepted while the first was being killed."""
    tries_beside_another: int
    """Of the task under way, while another emulator waited to take over."""
    waiting: list[str]
    keys: set[str]
    """The key's ids before and after the kill."""
    exit_code: int


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


@pytest.fixture(scope="module")
def story(postgres_server: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """One story, which the tests below judge: each start of an emulator takes two processor seconds."""
    database, state = made(postgres_server, "queue_lives"), tmp_path_factory.mktemp("lives")
    key = state / "secrets" / "oidc_key.pem"
    long, short, failing = threading.Event(), threading.Event(), [500]
    special = {"under-way": hold_first(long), "held": hold_first(long), "short": hold_first(short)}
    special["twice"] = lambda _call: (failing.pop() if failing else 200, {})
    accepted: set[str] = set()
    with worker() as target:
        target.answer = lambda call: special[call.task](call) if call.task in special else (200, {})
        with emulator(database, state, program=WITH_MORE_QUEUES) as first, standby(database, state) as taken_over:
            first.add(QUICK, "under-way", target.url)
            wait_until(lambda: target.calls, "the first call", PATIENCE)
            done = first.add(QUICK, "done", target.url)
            wait_until(lambda: first.row(done)["gone_at"], "the end of a task", PATIENCE)
            first.add(QUICK, "later", target.url, schedule_time=at(HOUR))
            first.add(HELD, "waiting", target.url)
            twice = first.add(HOURLY, "twice", target.url)
            wait_until(lambda: first.row(twice)["response_count"] == 1, "the first try", PATIENCE)
            wait_until(lambda: "task_dispatcher_waiting" in _logs(state), "the second emulator", PATIENCE)
            first.add(QUICK, "free", target.url)
            wait_until(lambda: first.names(QUICK) == ["under-way", "later"], "a task beside two emulators", PATIENCE)
            tries_beside_another = len(target.calls_of("under-way"))
            keys = {identity.key_id(identity.load_or_create_key(key))}
            _kill_among_tasks(first, accepted, target.url)

            second = taken_over()
            second.change(QUICK, scheduled_at=sa.func.now())
            second.change(HOURLY, scheduled_at=sa.func.now())
            wait_until(lambda: not second.names(QUICK) + second.names(HOURLY), "the end of all tasks", PATIENCE)
            with pytest.raises(AlreadyExists):
                second.add(QUICK, "done", target.url)
            keys.add(identity.key_id(identity.load_or_create_key(key)))
            for name in ("held", "short"):
                second.add(QUICK, name, target.url)
                wait_until(partial(target.calls_of, name), "a call under way", PATIENCE)
            second.process.send_signal(signal.SIGTERM)
            short.set()
            exit_code = second.process.wait(PATIENCE)

        with emulator(database, state, program=WITH_MORE_QUEUES) as third:
            wait_until(lambda: not third.names(QUICK), "the end of what was left", PATIENCE)
            waiting = third.names(HELD)
        yield Story(target, accepted, tries_beside_another, waiting, keys, exit_code)
        long.set()


@contextmanager
def standby(database_url: str, state: Path) -> Iterator[Callable[[], Emulator]]:
    """Start an emulator beside another one. The callable waits until it has taken over, and returns it."""
    handed, over = SimpleQueue[Emulator](), threading.Event()

    def live() -> None:
        with emulator(database_url, state, program=WITH_MORE_QUEUES) as running:
            handed.put(running)
            over.wait()

    thread = threading.Thread(target=live)
    thread.start()
    try:
        yield lambda: handed.get(timeout=PATIENCE)
    finally:
        over.set()
        thread.join()


def _kill_among_tasks(running: Emulator, accepted: set[str], url: str) -> None:
    """Kill the emulator once twenty tasks were accepted, while more are being added."""

    def kill() -> None:
        wait_until(lambda: len(accepted) >= 20, "tasks that were accepted", PATIENCE)
        running.kill()

    killing = threading.Thread(target=kill)
    killing.start()
    with suppress(ServiceUnavailable, Unknown, RetryError, DeadlineExceeded):
        for number in range(10_000):
            running.add(QUICK, f"many-{number}", url)
            accepted.add(f"many-{number}")
    killing.join()


def _logs(state: Path) -> str:
    return "".join(log.read_text() for log in state.glob("*.log"))


def test_a_kill_loses_no_task_and_forgets_no_name_no_count_and_no_key(story: Story) -> None:
    calls = [call.task for call in story.worker.calls]
    assert {name: calls.count(name) for name in ("done", "later", "twice", "under-way")} == {
        "done": 1,
        "later": 1,
        "twice": 2,
        "under-way": 2,
    }
    again = story.worker.calls_of("under-way")[1]
    assert again.headers["x-cloudtasks-taskretrycount"] == "1"
    assert again.headers["x-cloudtasks-taskexecutioncount"] == "0"
    retried = story.worker.calls_of("twice")[1]
    assert retried.headers["x-cloudtasks-taskretrycount"] == "1"
    assert retried.headers["x-cloudtasks-taskpreviousresponse"] == "500"
    assert story.waiting == ["waiting"]
    assert len(story.keys) == 1


def test_of_many_tasks_added_during_a_kill_each_accepted_one_is_delivered(story: Story) -> None:
    assert len(story.accepted) >= 20
    assert story.accepted <= {call.task for call in story.worker.calls}


def test_one_emulator_delivers_and_another_takes_over_when_it_dies(story: Story) -> None:
    assert story.tries_beside_another == 1
    assert len(story.worker.calls_of("under-way")) == 2
    assert len(story.worker.calls_of("free")) == 1


def test_sigterm_lets_a_short_delivery_finish_and_does_not_wait_for_a_long_one(story: Story) -> None:
    assert story.exit_code == 0
    assert len(story.worker.calls_of("short")) == 1
    assert len(story.worker.calls_of("held")) == 2


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


def test_a_queue_without_its_database_answers_as_one_that_is_away(
    queue_service: Emulator, postgres_server: Cluster
) -> None:
    name = queue_service.database_url.rpartition("/")[2]
    queue = TaskQueue(
        queue_service.queue_url, "http://127.0.0.1:1", ACCOUNT, timedelta(seconds=60), secret=QUEUE_SECRET
    )
    wait_until(lambda: queue_is_reachable(queue), "the queue's answer")
    lives = queue_service.log.read_text().count("task_dispatcher_started")
    with superuser(postgres_server) as connection:
        connection.run(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
        connection.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")

        assert not queue_is_reachable(queue)

        connection.run(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
    wait_until(lambda: queue_is_reachable(queue), "its database is back")
    wait_until(lambda: queue_service.log.read_text().count("task_dispatcher_started") > lives, "its deliveries")
