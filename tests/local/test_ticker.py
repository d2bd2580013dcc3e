"""The local Cloud Scheduler: the real process calls a real function, in time and with its identity."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from deploy.parts import deadline_http, identity, layout
from deploy.parts.probes import free_port
from deploy.parts.task_queue.keys_server import KeysServer
from deploy.parts.ticker import Ticker, read_ticker
from shared.errors import ConfigurationError, InvalidIdentity
from shared.outside.oidc import KeySet, ServiceCaller
from tests.lab.campaigns.clock import LIBRARY
from tests.local.queue_harness import HELD_SECONDS, REPOSITORY, Answer, Call, Worker, wait_until, worker

ACCOUNT = "scheduler@signage.test"
PERIOD_SECONDS = 5


@dataclass
class Ticking:
    """A ticker process and its log."""

    process: subprocess.Popen[bytes]
    log: Path

    def ticks(self) -> list[dict[str, Any]]:
        """Return its log lines about ticks, oldest first."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [line for line in lines if line["event"] == "tick"]


@contextmanager
def ticking(url: str, state: Path, **environment: str) -> Iterator[Ticking]:
    """Run the real process, with a tick every two seconds, until the block ends."""
    log = state / "ticker.log"
    env = {
        **os.environ,
        "SCHEDULER_TICK_URL": url,
        "SCHEDULER_SERVICE_ACCOUNT": ACCOUNT,
        "TICK_SECONDS": "2",
        "LOCAL_STATE_DIR": str(state),
        **environment,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.parts.ticker"], cwd=REPOSITORY, env=env, stderr=output
        )
    try:
        yield Ticking(process, log)
    finally:
        process.kill()
        process.wait(60)


@pytest.fixture
def released() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@dataclass(frozen=True)
class Story:
    """Four ticks of one process: answered 200, 503, not answered, answered 200."""

    began: float
    calls: list[Call]
    lines: list[dict[str, Any]]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """The story, which the tests below judge. Its period leaves a call more than four seconds on a busy machine."""
    over = threading.Event()

    def answer(_call: Call) -> Answer:
        number = len(target.calls)  # ticks never overlap
        if number == 3:
            over.wait(HELD_SECONDS)
        return (503 if number == 2 else 200), {}

    with worker() as target:
        target.answer = answer
        began = time.monotonic()
        with ticking(target.url, tmp_path_factory.mktemp("story"), TICK_SECONDS=str(PERIOD_SECONDS)) as ticker:
            wait_until(lambda: len(ticker.ticks()) >= 4, "four lines", 240)
        over.set()
        yield Story(began, target.calls, ticker.ticks())


def test_it_ticks_at_once_and_then_every_period(story: Story) -> None:
    assert story.calls[2].at - story.began >= 2 * PERIOD_SECONDS


def test_each_tick_logs_one_line_with_status_and_duration(story: Story) -> None:
    good, bad, _, again = story.lines[:4]
    assert [(line["status"], line["severity"]) for line in (good, bad, again)] == [
        (200, "INFO"),
        (503, "ERROR"),
        (200, "INFO"),
    ]
    assert good["duration_ms"] >= 0


def test_a_stuck_tick_is_over_before_the_next_is_due(story: Story) -> None:
    stuck, next_one = story.lines[2:4]
    assert stuck["status"] is None
    assert stuck["duration_ms"] >= 0.85 * PERIOD_SECONDS * 1000
    assert next_one["status"] == 200


def test_it_ticks_every_period_whatever_the_time_of_day_leaps_to(target: Worker, tmp_path: Path) -> None:
    said = tmp_path / "time"
    said.write_text("+0")
    clock = {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(said),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DISABLE_SHM": "1",
    }

    with ticking(target.url, tmp_path, **clock):
        wait_until(lambda: len(target.calls) >= 2, "two ticks")
        for leap, enough in (("-1d", 4), ("+1d", 6)):
            said.write_text(leap)
            wait_until(lambda: len(target.calls) >= enough, f"two more after {leap}")  # noqa: B023 - called at once

    second, fourth, sixth = (target.calls[number].at for number in (1, 3, 5))
    assert fourth - second > 2
    assert sixth - fourth > 2


def test_a_tick_is_a_post_with_an_identity_that_the_function_accepts(target: Worker, tmp_path: Path) -> None:
    keys_port = free_port()
    with ticking(target.url, tmp_path, TASK_QUEUE_KEYS_PORT=str(keys_port), OIDC_ISSUER=""):
        wait_until(lambda: target.calls, "the first tick")
    key = identity.load_or_create_key(tmp_path / "secrets" / "oidc_key.pem")
    server = KeysServer(keys_port, identity.key_set(key), lambda: True)
    server.start()
    issuer = f"http://127.0.0.1:{keys_port}"
    keys = KeySet(f"{issuer}/keys")

    call = target.calls[0]
    assert (call.method, call.body) == ("POST", b"")
    assert call.headers["x-cloudscheduler"] == "true"
    assert ServiceCaller(target.url, issuer, ACCOUNT, keys).authenticate(
        {"Authorization": call.headers["authorization"]}
    )
    with pytest.raises(InvalidIdentity):  # valid neither for the worker nor as the queue's token
        ServiceCaller("http://worker", issuer, ACCOUNT, keys).authenticate(
            {"Authorization": call.headers["authorization"]}
        )
    server.shutdown()
    server.server_close()


def test_a_function_that_is_away_does_not_end_the_schedule(target: Worker, tmp_path: Path) -> None:
    port = free_port()
    with ticking(f"http://127.0.0.1:{port}/", tmp_path) as ticker:
        wait_until(lambda: len(ticker.ticks()) >= 2, "two failed ticks")

        assert ticker.process.poll() is None
    assert {line["status"] for line in ticker.ticks()} == {None}
    assert all("refused" in line["reason"] for line in ticker.ticks())


def test_a_function_that_opens_its_door_a_moment_later_has_its_first_tick_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, refused = free_port(), threading.Event()
    ask = deadline_http.request

    def watched(*arguments: Any) -> deadline_http.Reply:
        try:
            return ask(*arguments)
        except deadline_http.Refused:
            refused.set()
            raise

    monkeypatch.setattr(deadline_http, "request", watched)
    key = identity.load_or_create_key(tmp_path / "oidc_key.pem")
    ticker = Ticker(f"http://127.0.0.1:{port}/", timedelta(hours=1), ACCOUNT, "http://issuer", key)
    thread = threading.Thread(target=ticker.tick)
    thread.start()
    assert refused.wait(60)

    with worker(port) as function:
        thread.join(60)

    assert not thread.is_alive()
    assert [call.method for call in function.calls] == ["POST"]


def test_a_function_without_keys_or_database_is_asked_again_until_the_first_success(
    target: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deploy.parts.ticker.AGAIN_SECONDS", 0.01)
    statuses = [401, 503, 200, 503, 500]
    target.answer = lambda _call: (statuses.pop(0), {})
    key = identity.load_or_create_key(tmp_path / "oidc_key.pem")
    ticker = Ticker(target.url, timedelta(hours=1), ACCOUNT, "http://issuer", key)

    asked = []
    for _ in range(3):
        ticker.tick()
        asked.append(len(target.calls))

    assert asked == [3, 4, 5]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_at_once_when_idle(number: signal.Signals, target: Worker, tmp_path: Path) -> None:
    with ticking(target.url, tmp_path, TICK_SECONDS="3600") as ticker:
        wait_until(ticker.ticks, "the first line")
        ticker.process.send_signal(number)

        assert ticker.process.wait(60) == 0
    assert "Traceback" not in ticker.log.read_text()


def test_it_stops_soon_during_a_tick(target: Worker, tmp_path: Path, released: threading.Event) -> None:
    def hang(_call: Call) -> Answer:
        released.wait(HELD_SECONDS)
        return 200, {}

    target.answer = hang
    with ticking(target.url, tmp_path, TICK_SECONDS="3600") as ticker:
        wait_until(lambda: target.calls, "the tick")
        ticker.process.send_signal(signal.SIGTERM)

        assert ticker.process.wait(60) == 0
    assert "Traceback" not in ticker.log.read_text()


@pytest.mark.parametrize(
    "broken", [{"TICK_SECONDS": "0"}, {"SCHEDULER_TICK_URL": "nowhere"}, {"SCHEDULER_SERVICE_ACCOUNT": ""}], ids=str
)
def test_a_setting_that_is_no_use_is_named(
    broken: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"SCHEDULER_TICK_URL": "http://127.0.0.1:1/", "SCHEDULER_SERVICE_ACCOUNT": ACCOUNT, "TICK_SECONDS": "2"}
    for name, value in {**told, "LOCAL_STATE_DIR": str(tmp_path), **broken}.items():
        monkeypatch.setenv(name, value)

    with pytest.raises((ConfigurationError, layout.BadSetting), match=next(iter(broken))):
        read_ticker()


def test_a_setting_that_is_no_use_stops_the_start(tmp_path: Path) -> None:
    with ticking("http://127.0.0.1:1/", tmp_path, TICK_SECONDS="0") as ticker:
        assert ticker.process.wait(240) == 1

    assert "TICK_SECONDS" in ticker.log.read_text()
