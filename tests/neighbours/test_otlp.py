"""Displays' log lines at a receiver of OTLP that fails, refuses and comes back, while our program is killed."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from displays.simulated.simulated import SimulatedDisplay
from tests.receivers import Posted, Receiver, receiver
from tests.stack import Api, Stack, enrol, eventually


@contextmanager
def forwarder(stack: Stack, url: str, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Our program between the stack and a receiver; it keeps its place in this folder."""
    environment = {
        "SIGNAGE_API_URL": stack.url,
        "SIGNAGE_API_TOKEN": stack.environment["SIGNAGE_ADMIN_TOKEN"],
        "OTLP_LOGS_URL": url,
        "OTLP_STATE_FILE": str(folder / "place"),
        "OTLP_AUTHORIZATION": "Basic c2lnbmFnZTp4",
    }
    command = guardian.launch((sys.executable, "-m", "deploy.neighbours.otlp"), signal.SIGTERM, None)
    with (folder / "otlp.log").open("ab") as log:
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, cwd=REPOSITORY, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture
def display(stack: Stack, folder: Path) -> Iterator[SimulatedDisplay]:
    with enrol(stack.api(), str(uuid.uuid4()), folder) as made:
        made.heartbeat("running")
        yield made


@dataclass
class Taker:
    """A receiver that says no to what `refuses` gives a status, and keeps the messages of what it took."""

    server: Receiver
    refuses: Callable[[Posted], int] = lambda _: 0
    messages: list[str] = field(default_factory=list)

    def answer(self, posted: Posted) -> tuple[int, dict[str, str]]:
        status = self.refuses(posted)
        self.messages += [] if status else messages(posted)
        return status or 200, {}

    def taken(self, word: str) -> list[str]:
        return [said for said in self.messages if word in said]


@pytest.fixture
def taker() -> Iterator[Taker]:
    with receiver() as server:
        made = Taker(server)
        server.answer = made.answer
        yield made


def messages(posted: Posted) -> list[str]:
    return [record["body"]["stringValue"] for record in records(posted)]


def records(posted: Posted) -> list[dict[str, Any]]:
    return [
        record
        for resource in posted.json["resourceLogs"]
        for scope in resource["scopeLogs"]
        for record in scope["logRecords"]
    ]


def begun(folder: Path) -> bool:
    return (folder / "place").exists()


def say(api: Api, display: SimulatedDisplay, word: str, count: int) -> None:
    """Let the display say these lines, and wait until they are stored."""
    for number in range(count):
        display.log("info", f"{word} {number}")
    path = f"/api/client-logs/{display.display.credentials.uuid}/logs"
    eventually(lambda: len(api.get(path, params={"q": word, "limit": 1000})["items"]) == count, f"{count} lines")


def test_each_line_arrives_once_though_the_receiver_fails_and_our_program_is_killed(
    stack: Stack, display: SimulatedDisplay, taker: Taker, tmp_path: Path
) -> None:
    """It is killed when it has kept its place: a kill between answer and place sends lines again."""
    places = []

    def note(_: Posted) -> int:
        places.append((tmp_path / "place").read_bytes())
        return 0

    taker.refuses = note
    with forwarder(stack, taker.server.url, tmp_path) as process:
        eventually(lambda: begun(tmp_path), "the place")
        say(stack.api(), display, "first", 5)
        eventually(lambda: len(taker.taken("first")) == 5, "five lines")
        eventually(lambda: (tmp_path / "place").read_bytes() != places[-1], "the place behind them")
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(60)
    say(stack.api(), display, "meanwhile", 5)
    taker.refuses = lambda _: 503
    before = len(taker.server.posted)
    with forwarder(stack, taker.server.url, tmp_path):
        eventually(lambda: len(taker.server.posted) > before + 1, "a second try")
        taker.refuses = lambda _: 0
        eventually(lambda: len(taker.taken("meanwhile")) == 5, "the other lines")
        say(stack.api(), display, "last", 2)
        eventually(lambda: len(taker.taken("last")) == 2, "the last lines")

    for word, count in (("first", 5), ("meanwhile", 5), ("last", 2)):
        assert taker.taken(word) == [f"{word} {number}" for number in range(count)]
    assert {posted.headers["authorization"] for posted in taker.server.posted} == {"Basic c2lnbmFnZTp4"}


def test_a_line_that_the_receiver_refuses_holds_up_no_other(
    stack: Stack, display: SimulatedDisplay, taker: Taker, tmp_path: Path
) -> None:
    taker.refuses = lambda posted: 400 if any("poison 3" in said for said in messages(posted)) else 0
    with forwarder(stack, taker.server.url, tmp_path):
        eventually(lambda: begun(tmp_path), "the place")
        say(stack.api(), display, "poison 3, alone", 1)
        eventually(lambda: "otlp_line_refused" in (tmp_path / "otlp.log").read_text(encoding="utf-8"), "the refusal")
        say(stack.api(), display, "many poison", 8)
        say(stack.api(), display, "behind", 1)
        eventually(lambda: taker.taken("behind"), "the line behind")

    assert taker.taken("poison") == [f"many poison {number}" for number in range(8) if number != 3]
    told = [json.loads(line) for line in (tmp_path / "otlp.log").read_text(encoding="utf-8").splitlines()]
    assert [one["event"] for one in told if one["event"].startswith("otlp_line")] == ["otlp_line_refused"] * 2


def test_a_receiver_that_refuses_every_line_gets_them_once_it_does_not(
    stack: Stack, display: SimulatedDisplay, taker: Taker, tmp_path: Path
) -> None:
    taker.refuses = lambda _: 400
    with forwarder(stack, taker.server.url, tmp_path):
        eventually(lambda: begun(tmp_path), "the place")
        say(stack.api(), display, "kept", 3)
        eventually(lambda: any(messages(posted) for posted in taker.server.posted), "a first try")
        taker.refuses = lambda _: 0
        eventually(lambda: len(taker.taken("kept")) == 3, "the lines")

    assert sorted(taker.taken("kept")) == [f"kept {number}" for number in range(3)]
    assert "otlp_line_refused" not in (tmp_path / "otlp.log").read_text(encoding="utf-8")


def test_a_receiver_that_is_mended_while_lines_are_tried_one_by_one_gets_them_all(
    stack: Stack, display: SimulatedDisplay, taker: Taker, tmp_path: Path
) -> None:
    with forwarder(stack, taker.server.url, tmp_path):
        eventually(lambda: begun(tmp_path), "the place")
    say(stack.api(), display, "tried", 3)
    refused = iter([400, 400])  # all three, then the first one alone
    taker.refuses = lambda _: next(refused, 0)
    with forwarder(stack, taker.server.url, tmp_path):
        eventually(lambda: len(taker.taken("tried")) == 3, "the lines")

    assert sorted(taker.taken("tried")) == [f"tried {number}" for number in range(3)]
    assert "otlp_line_refused" not in (tmp_path / "otlp.log").read_text(encoding="utf-8")
