"""A document's time at the converter begins when LibreOffice gets it. Tested without LibreOffice."""

import io
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.parts.converter import engine as engine_module
from deploy.parts.converter import web
from deploy.parts.converter.engine import Engine, Job, QueueFull
from deploy.parts.converter.office import NOT_LOADED, ConversionFailed, ConversionTimedOut
from deploy.parts.probes import wait_until
from functions.convert_worker.converter import ConversionFault, convert
from shared.conversions import rules
from shared.conversions.rules import ConversionMove, Fault, timeouts
from shared.outside.media_volume import MediaVolume, converted_path
from tests.worker.harness import answering, gate_before

WAIT_SECONDS = 60


class FakeOffice:
    """Replaces LibreOffice: a document named `slow` is converted until the test releases it."""

    let_go = threading.Event()
    deadlines: dict[str, float]

    def __init__(self, _sandbox: object, _program: Path, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def make_template(self) -> Path:
        return self.folder

    def warm_up(self, _template: Path) -> None:
        """Wait for a document."""

    def begin(self, source: Path, _suffix: str) -> None:
        self.document = source

    def finish(self, deadline: float) -> Path:
        self.deadlines[self.document.name] = deadline
        if self.document.name == "slow":
            self.let_go.wait(WAIT_SECONDS)
            raise ConversionTimedOut(was_busy=False)
        result = self.folder / "document.pdf"
        result.touch()
        return result

    def close(self) -> None:
        """Do nothing: no process runs."""

    kill = close

    def pids(self) -> list[int]:
        return []


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine without LibreOffice and with short timeouts."""
    monkeypatch.setattr(FakeOffice, "let_go", threading.Event())
    monkeypatch.setattr(FakeOffice, "deadlines", {}, raising=False)
    monkeypatch.setattr(engine_module, "PATIENCE_SECONDS", 0)
    for name, stand_in in (
        ("Office", FakeOffice),
        ("find_program", Path),
        ("become_reaper", lambda: None),
        ("reap_orphans", lambda _own: None),
        ("why_not", lambda: None),
    ):
        monkeypatch.setattr(engine_module, name, stand_in)
    made = Engine(tmp_path / "engine", allow_unsandboxed=False)
    made.start()
    wait_until(lambda: made.reason is None, WAIT_SECONDS)
    yield made
    FakeOffice.let_go.set()
    made.stop()


Submit = Callable[[str], "Future[None]"]


@pytest.fixture
def submit(engine: Engine, tmp_path: Path) -> Iterator[Submit]:
    """Sends a document of this name like a request. Returns the result."""
    with ThreadPoolExecutor(8) as pool:

        def send(name: str) -> "Future[None]":
            (tmp_path / name).touch()
            return pool.submit(engine.convert, Job(tmp_path / name, ".pptx", tmp_path / f"{name}.pdf", 120))

        yield send
        FakeOffice.let_go.set()


def test_a_deck_behind_a_slow_one_is_sent_away_before_anybody_has_looked_at_it(submit: Submit, tmp_path: Path) -> None:
    slow = submit("slow")
    wait_until(lambda: "slow" in FakeOffice.deadlines, WAIT_SECONDS)

    good = submit("good")

    assert isinstance(good.exception(WAIT_SECONDS), QueueFull)
    assert (tmp_path / "good").exists(), "nobody touched it"
    FakeOffice.let_go.set()
    assert isinstance(slow.exception(WAIT_SECONDS), ConversionTimedOut)
    assert set(FakeOffice.deadlines) == {"slow"}, "whoever was sent away is not converted for nobody"


def test_a_document_that_waited_has_all_of_its_time(submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "PATIENCE_SECONDS", WAIT_SECONDS)
    slow = submit("slow")
    wait_until(lambda: "slow" in FakeOffice.deadlines, WAIT_SECONDS)
    waiting = submit("good")
    let_go_at = time.monotonic()

    FakeOffice.let_go.set()

    assert waiting.result(WAIT_SECONDS) is None
    assert slow.exception(WAIT_SECONDS) is not None
    assert FakeOffice.deadlines["good"] - let_go_at >= 120


def test_of_taking_and_withdrawing_a_document_one_happens() -> None:
    job = Job(Path("a"), ".odp", Path("b"), 1)

    assert [job.claim(), job.claim()] == [True, False]


def test_waiting_and_converting_end_before_the_worker_hangs_up() -> None:
    ladder = timeouts(timedelta(seconds=120))

    assert timedelta(seconds=engine_module.PATIENCE_SECONDS) + ladder.converter < ladder.request


ANSWERS = [
    (503, web.TOOK_TOO_LONG, Fault.TOOK_TOO_LONG, "ours, of the document's own time"),
    (503, web.TOO_MUCH_WORK, Fault.TOOK_TOO_LONG, "ours, and another try would end the same"),
    (
        503,
        "The request exceeded the time limit. Increase it with --api-timeout, or reduce the workload.",
        Fault.TOOK_TOO_LONG,
        "Gotenberg's 8.36",
    ),
    (504, "upstream request timeout", Fault.TOOK_TOO_LONG, "Cloud Run's"),
    (503, f"Service Unavailable: {engine_module.STARTING}", Fault.CONVERTER_UNREACHABLE, "ours, not looked at"),
    (503, f"Service Unavailable: {engine_module.STOPPING}", Fault.CONVERTER_UNREACHABLE, "likewise"),
    (503, "Service Unavailable", Fault.CONVERTER_BUSY, "of whoever stands before it"),
    (502, "", Fault.CONVERTER_BUSY, "likewise"),
    (429, "Too Many Requests: LibreOffice is busy with other documents", Fault.QUEUE_FULL, "waited in vain"),
    (400, web.UNREADABLE, Fault.CONVERTER_REFUSED, "LibreOffice has looked, and cannot"),
]


@pytest.mark.parametrize(("status", "said", "fault", "why"), ANSWERS)
def test_what_the_converter_says_tells_a_slow_deck_from_an_outage(
    tmp_path: Path, status: int, said: str, fault: Fault, why: str
) -> None:
    volume, ladder = MediaVolume(tmp_path), timeouts(timedelta(seconds=30))
    path = converted_path("ab" * 32)
    with gate_before("http://127.0.0.1:9") as gate, volume.writing_converted(path, "a test") as draft:
        gate.scripted.append(answering(status, said.encode()))
        with pytest.raises(ConversionFault) as met:
            convert(gate.url, io.BytesIO(b"deck"), "deck.pptx", draft, ladder, "trace")

    assert met.value.fault is fault, why
    assert met.value.is_last == (said == web.TOO_MUCH_WORK)


def test_a_slow_deck_has_two_tries_and_its_error_names_the_limit() -> None:
    moves = [rules.judge(Fault.TOOK_TOO_LONG, attempt).move for attempt in (1, 2)]
    words = rules.message(Fault.TOOK_TOO_LONG, timedelta(seconds=45))

    assert moves == [ConversionMove.RELEASE, ConversionMove.FAIL]
    assert "45 seconds" in words
    assert "CONVERSION_DEADLINE_SECONDS" in words
    assert "is not available" in rules.message(Fault.CONVERTER_BUSY, timedelta(seconds=45))


def test_an_outage_takes_no_try_for_an_hour_and_then_ends_what_comes_for_ever() -> None:
    within, after = timedelta(minutes=59), timedelta(minutes=61)

    assert not rules.judge(Fault.CONVERTER_BUSY, 1, within).counts
    assert rules.judge(Fault.CONVERTER_BUSY, 3, within).move is ConversionMove.RELEASE
    assert rules.judge(Fault.CONVERTER_BUSY, 3, after).move is ConversionMove.FAIL


def test_an_unreadable_document_is_told_from_one_that_libreoffice_failed_over() -> None:
    assert ConversionFailed(f"exit code 0; Error: {NOT_LOADED}").is_unreadable
    assert not ConversionFailed("exit code 77; it said nothing").is_unreadable
