"""A real Gotenberg beside our own converter, in one run: contract, rate, memory, hostile decks, kill -9 in the middle.

    make campaign ONLY=converter GOTENBERG=program    8.36, with the variables that its Dockerfile sets

It runs with the flags of deploy/docker/compose.yaml, on loopback.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import requests

from deploy.parts import guardian
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import free_port, http_answers
from tests.deploy.confined import COMPOSE, VARIABLE
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Component
from tests.lab.campaigns.memory import megabytes
from tests.stack import Api, eventually, running_stack
from tests.worker import decks
from tests.worker.beacon import beacon
from tests.worker.harness import CONVERT, converter
from tests.worker.hostile import generator
from tests.worker.hostile.leaks import leaks
from tests.worker.hostile.seeds import seeds

PROGRAM: Final = "GOTENBERG"
SLIDES: Final = (1, 10, 50)
LOOK_SECONDS: Final = 0.2
PATIENCE_SECONDS: Final = 300.0
AS_SHIPPED, AS_USUAL = 1, 10  # decks of one LibreOffice: ours, and Gotenberg's own default
CONTRACT: Final = "tests/worker/test_converter_contract.py"


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    decks: int = 10  # of each size, one after another
    hostile: int = 30
    kills: int = 5
    deadline: int = 20  # of a hostile deck, in seconds
    seed: int = 1


@dataclass(frozen=True)
class Subject:
    """A running converter."""

    url: str
    pids: Callable[[], set[int]]

    def convert(self, path: Path) -> requests.Response:
        with path.open("rb") as file:
            return requests.post(self.url + CONVERT, files={"files": (path.name, file)}, timeout=PATIENCE_SECONDS)

    def converts(self, path: Path) -> bool:
        answer = self.convert(path)
        return answer.status_code == 200 and answer.content[:5] == b"%PDF-"

    def megabytes(self) -> float:
        """The private memory of all of its processes."""
        return sum(megabytes(pid) or 0.0 for pid in self.pids())


def program() -> str | None:
    """The Gotenberg that is given."""
    return os.environ.get(PROGRAM)


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger, began = (
        Ledger("converter", plan.seed, {"decks": plan.decks, "hostile_decks": plan.hostile}),
        time.monotonic(),
    )
    with _gotenberg(folder / "contract", AS_SHIPPED, 120) as component:
        ledger.note = f"Gotenberg {requests.get(_url(component) + '/version', timeout=60).text or 'of no version'}"
        ledger.conditions["it answers as recorded"] = _answers_as_recorded(_url(component), say)
    for name, subject in (
        ("gotenberg", _of_gotenberg(folder / "one", AS_SHIPPED, plan.deadline)),
        ("gotenberg_restarted_after_10", _of_gotenberg(folder / "ten", AS_USUAL, plan.deadline)),
        ("ours", _of_ours(folder / "ours", plan.deadline)),
    ):
        with subject as one:
            _measure(ledger, name, one, plan, folder / f"decks-{name}", say)
    _kill_in_the_middle(ledger, plan, folder / "whole", say)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


@contextmanager
def _gotenberg(folder: Path, restart_after: int, deadline: int) -> Iterator[Component]:
    folder.mkdir(parents=True)
    port = free_port()
    flags = [VARIABLE.sub(str(deadline), flag) for flag in COMPOSE["services"]["gotenberg"]["command"][1:]]
    flags = [flag.replace("restart-after=1", f"restart-after={restart_after}") for flag in flags]
    command = (str(program()), *flags, f"--api-port={port}", f"--api-bind-ip={LOOPBACK}")
    ready = http_answers(port, "/health", 200)
    environment = {"TMPDIR": str(folder), "PORT": str(port)}
    component = Component("gotenberg", command, ready, folder / "log", environment=environment)
    component.start()
    try:
        component.wait_until_ready()
        yield component
    finally:
        component.kill()


def _url(component: Component) -> str:
    return f"http://{LOOPBACK}:{component.environment['PORT']}"


@contextmanager
def _of_gotenberg(folder: Path, restart_after: int, deadline: int) -> Iterator[Subject]:
    with _gotenberg(folder, restart_after, deadline) as component:
        yield Subject(_url(component), lambda: component.pids)


@contextmanager
def _of_ours(folder: Path, deadline: int) -> Iterator[Subject]:
    with converter(folder, deadline=deadline) as service:
        pid = service.process.pid
        yield Subject(service.url, lambda: {pid, *guardian.descendants(pid)})


def _answers_as_recorded(url: str, say: Callable[[str], None]) -> bool:
    told = {"CONVERTER_URL": url, "CONVERTER_DEADLINE_SECONDS": "120"}
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CONTRACT)
    done = subprocess.run(
        command, cwd=REPOSITORY, env={**os.environ, **told}, capture_output=True, text=True, check=False
    )
    say(f"contract: {done.stdout.strip().splitlines()[-1]}")
    if done.returncode:
        say(done.stdout[-3000:])
    return done.returncode == 0


def _measure(ledger: Ledger, name: str, one: Subject, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
    """Its rate, its memory, and what it does with hostile decks."""
    folder.mkdir()
    with _highest(one.megabytes) as highest:
        for slides in SLIDES:
            deck = folder / f"{slides}.pptx"
            decks.make_pptx(deck, slides, seed=slides)
            began = time.monotonic()
            converted = sum(one.converts(deck) for _ in range(plan.decks))
            ledger.counted[f"{name}_{slides}_slides_a_minute"] = round(60 * converted / (time.monotonic() - began))
            ledger.conditions[f"{name}: each good deck converts"] = converted == plan.decks
    ledger.counted[f"{name}_MB"] = round(highest[0])
    say(f"{name}: {ledger.counted}")
    with _highest(one.megabytes) as highest:
        _meet_hostile(ledger, name, one, plan, folder)
    ledger.counted[f"{name}_MB_with_hostile_decks"] = round(highest[0])
    say(f"{name}: {ledger.counted}")


def _meet_hostile(ledger: Ledger, name: str, one: Subject, plan: Plan, folder: Path) -> None:
    """Send hostile decks, and after each a good one, again while the converter is busy with its LibreOffice."""
    refused = unlike = 0
    slowest = 0.0
    with beacon() as listener:
        good = seeds(folder, listener.url)
        for deck in generator.generate(good, plan.seed, plan.hostile):
            path = folder / f"hostile.{deck.suffix}"
            path.write_bytes(deck.content)
            began = time.monotonic()
            answer = one.convert(path)
            slowest = max(slowest, time.monotonic() - began)
            refused += answer.status_code != 200
            unlike += answer.status_code == 200 and leaks(answer.content)
            eventually(lambda: one.converts(folder / "a.pptx"), f"a good deck after {deck.name}", PATIENCE_SECONDS)
        ledger.conditions[f"{name}: no hostile deck reaches anybody"] = not listener.visits
    ledger.counted[f"{name}_refused"] = refused
    ledger.counted[f"{name}_PDFs_with_other_files"] = unlike
    ledger.counted[f"{name}_hostile_deck_slowest_seconds"] = round(slowest, 1)


@contextmanager
def _highest(figure: Callable[[], float]) -> Iterator[list[float]]:
    """The highest value of a figure during the block, looked at again and again."""
    highest, stop = [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(LOOK_SECONDS):
            highest[0] = max(highest[0], figure())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield highest
    finally:
        stop.set()
        thread.join()


def _kill_in_the_middle(ledger: Ledger, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
    """Kill it while it converts an uploaded deck, and start it again: the deck must become ready."""
    with ExitStack() as stack:
        component = stack.enter_context(_gotenberg(folder / "gotenberg", AS_SHIPPED, 120))
        api = stack.enter_context(running_stack(folder / "stack", CONVERTER_URL=_url(component), DEMO="")).api()
        ready, slowest = 0, 0.0
        for number in range(plan.kills):
            deck = folder / f"killed-{number}.pptx"
            decks.make_pptx(deck, 50, seed=1_000 + number)
            media = _uploaded(api, deck)
            eventually(lambda media=media: _status(api, media) == "processing", "its conversion")  # type: ignore[misc]  # mypy cannot infer defaults
            time.sleep(0.5)  # it is sent, and LibreOffice has it
            component.kill()
            began = time.monotonic()
            component.start()
            component.wait_until_ready()
            eventually(lambda media=media: _status(api, media) in {"ready", "failed"}, "its end", PATIENCE_SECONDS)  # type: ignore[misc]  # as above
            slowest = max(slowest, time.monotonic() - began)
            ready += _status(api, media) == "ready"
            say(f"kill {number + 1}: {_status(api, media)} after {time.monotonic() - began:.1f} s")
    ledger.counted |= {"kills_in_the_middle": plan.kills, "ready_after_a_kill_slowest_seconds": round(slowest, 1)}
    ledger.conditions["a deck whose converter was killed becomes ready"] = ready == plan.kills


def _uploaded(api: Api, deck: Path) -> int:
    with deck.open("rb") as file:
        answer = api.call("POST", "/api/event-media", 201, files={"file": (deck.name, file)})
    return int(answer.json()["media"]["id"])


def _status(api: Api, media: int) -> str:
    return str(api.get(f"/api/conversions/{media}/status")["status"])
