"""The worker function as a real process, with a real Postgres and a real converter."""

import hashlib
import io
import json
import signal
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pypdfium2
import pytest
import requests
import sqlalchemy as sa
from sqlalchemy import Engine, RowMapping

from deploy.parts.converter import web
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port, wait_until
from shared.conversions import operations as conversions_operations
from shared.conversions import store as conversions_store
from shared.conversions.store import KeptConversion
from shared.event_media import operations as media_operations
from shared.event_media import rules as media_rules
from shared.outside.media_volume import MediaVolume, converted_path, original_path
from shared.postgres.door import database_now, transaction
from shared.tables import conversions
from shared.vocabulary import MediaKind
from tests.lab.campaigns.peers import ENDLESS, exchange, status_of
from tests.problem_documents import check_problem
from tests.rules.oidc_harness import FOREIGN, Issuer, issuing
from tests.worker import decks, hostile_decks
from tests.worker.harness import (
    DEADLINE_SECONDS,
    Converter,
    Gate,
    Worker,
    after,
    answering,
    files_below,
    gate_before,
    hanging_up,
    peak_memory_bytes,
    worker,
)
from tests.worker.hostile_pdfs import PDF

pytestmark = pytest.mark.slow

LIMIT = 10**9
DOOMED = REPOSITORY / "tests" / "worker" / "doomed_worker.py"
LEASE = timedelta(seconds=DEADLINE_SECONDS + 120)


@pytest.fixture(scope="module")
def volume(tmp_path_factory: pytest.TempPathFactory) -> MediaVolume:
    return MediaVolume(tmp_path_factory.mktemp("media"))


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with issuing() as serving:
        yield serving


@pytest.fixture(scope="module")
def gate(running_converter: Converter) -> Iterator[Gate]:
    with gate_before(running_converter.url) as serving:
        yield serving


@pytest.fixture(scope="module")
def function(
    database_url: str, volume: MediaVolume, gate: Gate, issuer: Issuer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worker]:
    """The worker of most tests."""
    log = tmp_path_factory.mktemp("worker") / "log"
    with worker(database_url, volume.root, gate.url, issuer.issuer, log) as running:
        yield running


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return hostile_decks.pptx_bytes(tmp_path_factory.mktemp("deck"), slides=3, hidden=1)


@pytest.fixture(autouse=True)
def emptied(volume: MediaVolume, gate: Gate, engine: Engine) -> Iterator[None]:
    """After each test: remove its conversions and files, and let the converter answer by itself."""
    yield
    with transaction(engine) as connection:
        connection.execute(sa.delete(conversions))
    for name in files_below(volume.root):
        (volume.root / name).unlink()
    gate.scripted.clear()
    gate.arrived.clear()


TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


class Desk:
    """Uploads and reads like the API."""

    def __init__(self, engine: Engine, volume: MediaVolume) -> None:
        self.engine = engine
        self.volume = volume

    def upload(self, content: bytes, name: str = "talk.pptx", by: str = "tests") -> KeptConversion:
        """Upload a medium. Returns its conversion."""
        received = media_operations.receive_upload(self.volume, io.BytesIO(content), name, LIMIT)
        with transaction(self.engine) as connection:
            now = database_now(connection)
            media = media_operations.record_upload(connection, now, received, by)
            return conversions_operations.ensure_pdf(connection, now, media, TRACEPARENT)[0]

    def row(self, conversion: KeptConversion) -> RowMapping:
        with transaction(self.engine) as connection:
            query = sa.select(conversions).where(conversions.c.id == conversion.id)
            return connection.execute(query).mappings().one()

    def pass_time(self, conversion: KeptConversion, by: timedelta) -> None:
        """Make the conversion's claim older."""
        with transaction(self.engine) as connection:
            older = sa.update(conversions).where(conversions.c.id == conversion.id)
            connection.execute(older.values(claimed_at=conversions.c.claimed_at - by))

    def delete(self, conversion: KeptConversion) -> None:
        with transaction(self.engine) as connection:
            conversions_operations.delete_media(connection, database_now(connection), conversion.media_id)
        with transaction(self.engine) as connection:
            path = original_path(conversion.file_hash, "pptx")
            media_operations.remove_unreferenced(connection, self.volume, conversion.file_hash, path)


@pytest.fixture
def desk(engine: Engine, volume: MediaVolume) -> Desk:
    return Desk(engine, volume)


def other(deck: bytes, mark: str) -> bytes:
    """The same deck with other bytes, so that no PDF of another test is reused."""
    return hostile_decks.with_parts(deck, {"docProps/mark.txt": mark.encode()})


def pages_of(volume: MediaVolume, row: RowMapping) -> int:
    with volume.open_converted(row["target_path"]) as file, pypdfium2.PdfDocument(file) as document:
        return len(document)


TWO_PAGES = PDF.replace(b"[3 0 R]/Count 1", b"[3 0 R 3 0 R]/Count 2")
CONVERTED = answering(200, PDF)  # for tests in which the content of the PDF does not matter
KINDS = [("deck.pptx", decks.make_pptx), ("deck.odp", decks.make_odp), ("deck.ppt", decks.make_ppt)]


@pytest.mark.parametrize(("name", "make"), KINDS)
def test_each_kind_of_presentation_becomes_a_pdf(
    function: Worker, desk: Desk, gate: Gate, tmp_path: Path, name: str, make: Any
) -> None:
    make(tmp_path / name, 3, hidden=1)
    content = (tmp_path / name).read_bytes()
    conversion = desk.upload(content, name)
    before = gate.count

    answer = function.deliver(conversion.id)

    row = desk.row(conversion)
    assert (answer.status_code, answer.json()) == (200, {"outcome": "ready"})
    assert (row["status"], row["attempts"], row["pages"], row["error_code"]) == ("ready", 1, 2, None)
    assert row["target_path"] == converted_path(hashlib.sha256(content).hexdigest())
    assert pages_of(desk.volume, row) == 2
    warnings = [warning["code"] for warning in row["report"]["warnings"]]
    of_fonts = {"deck.pptx": ["fonts_substituted"], "deck.odp": [], "deck.ppt": ["fonts_not_known"]}  # its Calibri
    assert warnings == ["hidden_slides", *of_fonts[name]]
    with desk.volume.open_thumbnail(row["file_hash"]) as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n"
    assert gate.count == before + 1
    assert row["started_at"] <= row["finished_at"]
    assert told_under_the_trace(function.log, row["id"]) == {
        "conversion_claimed",
        "conversion_written",
        "conversion_ready",
    }


def told_under_the_trace(log: Path, conversion_id: int) -> set[str]:
    """The log events of this conversion with the trace id of its request."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if TRACE_ID in line]
    return {line["event"] for line in lines if line.get("conversion_id") == conversion_id}


def test_a_task_that_comes_twice_is_done_once(function: Worker, desk: Desk, gate: Gate, deck: bytes) -> None:
    conversion = desk.upload(deck)
    before = gate.count
    gate.scripted.append(CONVERTED)

    answers = [function.deliver(conversion.id) for _ in range(2)]

    assert [answer.json()["outcome"] for answer in answers] == ["ready", "ready"]
    assert gate.count == before + 1


def test_the_same_bytes_of_another_medium_do_not_call_the_converter(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    first, second = desk.upload(deck, "a.pptx"), desk.upload(deck, "b.pptx")
    gate.scripted.append(CONVERTED)
    function.deliver(first.id)
    before = gate.count

    assert function.deliver(second.id).json() == {"outcome": "ready"}

    rows = desk.row(first), desk.row(second)
    assert first.id != second.id
    assert gate.count == before
    assert rows[0]["target_path"] == rows[1]["target_path"]
    assert rows[1]["pages"] == 1


def test_a_pdf_that_was_cut_on_the_volume_is_not_used_again(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    first, second = desk.upload(deck, "a.pptx"), desk.upload(deck, "b.pptx")
    gate.scripted += [CONVERTED, CONVERTED]
    function.deliver(first.id)
    path = desk.volume.root / "converted" / desk.row(first)["target_path"]
    path.write_bytes(path.read_bytes()[: len(PDF) // 2])
    before = gate.count

    function.deliver(second.id)

    assert gate.count == before + 1
    assert pages_of(desk.volume, desk.row(second)) == 1


def test_of_five_deliveries_at_once_one_converts_and_the_others_come_again(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)
    before = gate.count
    gate_opens = threading.Event()
    gate.scripted.append(after(gate_opens, answering(500)))

    with ThreadPoolExecutor(5) as pool:
        coming = [pool.submit(function.deliver, conversion.id) for _ in range(5)]
        wait_until(lambda: sum(future.done() for future in coming) == 4, 60)  # refused before the gate opens
        gate_opens.set()
        answers = [future.result() for future in coming]

    for answer in answers:
        check_problem(answer, 503, "try_again", retry_after_seconds=10)
        assert answer.headers["Retry-After"] == "10"
    assert gate.count == before + 1
    assert desk.row(conversion)["attempts"] == 1


FAULTS = [
    (answering(400), "failed", "converter_refused", 1),
    (answering(413), "failed", "converter_refused", 1),
    (answering(415), "failed", "converter_refused", 1),
    (answering(500), "pending", "converter_failed", 1),
    (answering(404), "pending", "converter_failed", 1),
    (answering(503), "pending", "converter_busy", 0),
    (answering(429), "pending", "queue_full", 0),
    (hanging_up, "pending", "converter_cut", 1),
    (answering(200, b"%PDF-1.7 half of", declared=10_000), "pending", "converter_cut", 1),
    (answering(200, b"<html>Sign in</html>"), "pending", "invalid_pdf", 1),
    (answering(200, b"%PDF-1.7 no pages %%EOF"), "pending", "invalid_pdf", 1),
    (answering(302), "pending", "converter_failed", 1),
]


@pytest.mark.parametrize(("fault", "status", "code", "attempts"), FAULTS)
def test_each_fault_of_the_converter_has_its_consequence(
    function: Worker, desk: Desk, gate: Gate, deck: bytes, fault: Any, status: str, code: str, attempts: int
) -> None:
    conversion = desk.upload(deck)
    gate.scripted.append(fault)

    answer = function.deliver(conversion.id)

    row = desk.row(conversion)
    assert (row["status"], row["error_code"], row["attempts"], row["claim"]) == (status, code, attempts, None)
    assert answer.status_code == (200 if status == "failed" else 503)
    assert "said by the test" not in row["error_message"] + answer.text
    assert files_below(desk.volume.root / "converted") == []


def test_a_deck_that_keeps_the_converter_busy_to_its_deadline_has_one_try(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)
    gate.scripted.append(answering(503, web.TOO_MUCH_WORK.encode()))

    answer = function.deliver(conversion.id)

    row = desk.row(conversion)
    assert answer.json() == {"outcome": "failed"}
    assert (row["status"], row["error_code"], row["attempts"]) == ("failed", "took_too_long", 1)


def test_a_fault_that_passes_leaves_no_trace_on_the_conversion(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)
    gate.scripted += [answering(503), answering(500), CONVERTED]

    statuses = [function.deliver(conversion.id).status_code for _ in range(3)]

    row = desk.row(conversion)
    assert statuses == [503, 503, 200]
    assert (row["status"], row["attempts"], row["error_code"], row["error_message"]) == ("ready", 2, None, None)


def test_the_third_500_and_the_second_broken_pdf_are_the_last(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    gate.scripted += [answering(500)] * 3 + [answering(200, b"no PDF")] * 2

    corrupt = desk.upload(deck)
    of_corrupt = [function.deliver(corrupt.id).status_code for _ in range(3)]
    broken = desk.upload(other(deck, "broken"))
    of_broken = [function.deliver(broken.id).status_code for _ in range(2)]

    assert (of_corrupt, of_broken) == ([503, 503, 200], [503, 200])
    assert desk.row(corrupt)["error_code"] == "converter_failed"
    assert desk.row(broken)["error_code"] == "invalid_pdf"


def test_while_the_converter_is_away_everything_waits_and_nothing_fails(
    database_url: str, desk: Desk, issuer: Issuer, gate: Gate, function: Worker, deck: bytes, tmp_path: Path
) -> None:
    conversion = desk.upload(deck)
    with worker(database_url, desk.volume.root, "http://127.0.0.1:9", issuer.issuer, tmp_path / "log") as lonely:
        statuses = [lonely.deliver(conversion.id).status_code for _ in range(5)]
    row = desk.row(conversion)

    assert statuses == [503] * 5
    assert (row["status"], row["attempts"], row["error_code"]) == ("pending", 0, "converter_unreachable")
    gate.scripted.append(CONVERTED)
    assert function.deliver(conversion.id).json() == {"outcome": "ready"}


def test_a_source_that_is_gone_or_was_changed_fails_and_is_not_published(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    gone, changed, deleted = (desk.upload(other(deck, mark)) for mark in ("gone", "changed", "deleted"))
    originals = desk.volume.root / "originals"
    (originals / gone.file_hash[:2] / f"{gone.file_hash}.pptx").unlink()
    (originals / changed.file_hash[:2] / f"{changed.file_hash}.pptx").write_bytes(other(deck, "a forgery"))
    desk.delete(deleted)

    outcomes = [function.deliver(conversion.id).json() for conversion in (gone, changed, deleted)]

    assert outcomes == [{"outcome": "failed"}, {"outcome": "failed"}, {"outcome": "gone"}]
    codes = [desk.row(conversion)["error_code"] for conversion in (gone, changed)]
    assert codes == ["source_missing", "source_changed"]
    assert files_below(desk.volume.root / "converted") == []


DOCTYPE = b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'
HOSTILE: list[tuple[Callable[[bytes, Path], bytes], str]] = [
    (lambda deck, _: deck[: len(deck) // 2], "not_a_presentation"),
    (lambda _deck, _: b"just a text", "not_a_presentation"),
    (lambda deck, _: hostile_decks.with_parts(deck, {"ppt/slides/slide1.xml": DOCTYPE}), "not_a_presentation"),
    (lambda deck, _: hostile_decks.with_zeros(deck, "ppt/bomb.xml", 130 * 1024 * 1024), "too_large_unpacked"),
    (lambda _deck, _: hostile_decks.compound_file({"EncryptedPackage": b"x"}), "encrypted"),
    (lambda _deck, folder: hostile_decks.pptx_bytes(folder, slides=0), "no_slides"),
]


@pytest.mark.parametrize(("spoil", "code"), HOSTILE, ids=["cut", "text", "doctype", "bomb", "encrypted", "empty"])
def test_the_worker_looks_at_the_file_again_before_the_converter_sees_it(
    function: Worker,
    desk: Desk,
    gate: Gate,
    deck: bytes,
    tmp_path: Path,
    spoil: Callable[[bytes, Path], bytes],
    code: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = spoil(deck, tmp_path)
    with monkeypatch.context() as patched:  # this was possible once
        patched.setattr(media_rules, "inspect", lambda _file, named: (MediaKind(named), None))
        conversion = desk.upload(content)
    before = gate.count

    answer = function.deliver(conversion.id)

    assert answer.json() == {"outcome": "failed"}
    assert desk.row(conversion)["error_code"] == code
    assert gate.count == before


def test_a_worker_that_is_killed_in_the_middle_is_followed_by_one_that_finishes(
    database_url: str, function: Worker, desk: Desk, issuer: Issuer, gate: Gate, deck: bytes, tmp_path: Path
) -> None:
    conversion = desk.upload(deck)
    released = threading.Event()
    gate.scripted += [after(released, hanging_up), CONVERTED]
    with worker(database_url, desk.volume.root, gate.url, issuer.issuer, tmp_path / "log") as doomed:
        delivering = threading.Thread(target=_deliver_into_the_void, args=(doomed, conversion.id))
        delivering.start()
        assert gate.arrived.wait(60)
        doomed.process.send_signal(signal.SIGKILL)
        doomed.process.wait(60)
    released.set()
    delivering.join()

    too_early = function.deliver(conversion.id)
    desk.pass_time(conversion, LEASE + timedelta(seconds=1))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: function.deliver(conversion.id), range(4)))

    row = desk.row(conversion)
    assert too_early.status_code == 503
    assert 200 in {answer.status_code for answer in answers}
    assert (row["status"], row["attempts"], row["pages"]) == ("ready", 2, 1)
    assert files_below(desk.volume.root / "converted") == [row["target_path"]]


def test_a_worker_killed_at_any_boundary_leaves_one_row_and_one_file(
    database_url: str, function: Worker, desk: Desk, issuer: Issuer, gate: Gate, deck: bytes, tmp_path: Path
) -> None:
    """Three of the boundaries: `make campaign ONLY=conversions` has all."""
    with worker(database_url, desk.volume.root, gate.url, issuer.issuer, tmp_path / "log", DOOMED) as doomed:
        gate.scripted.append(CONVERTED)
        boundaries = int(doomed.deliver(desk.upload(other(deck, "counted")).id).headers["X-Boundaries"])
        for doom in (2, boundaries // 2, boundaries - 2):
            conversion = desk.upload(other(deck, f"killed at boundary {doom}"))
            gate.scripted.extend([CONVERTED] * 2)
            with pytest.raises(requests.ConnectionError):
                doomed.deliver(conversion.id, doom=doom)
            desk.pass_time(conversion, LEASE + timedelta(seconds=1))

            assert function.deliver(conversion.id).json() == {"outcome": "ready"}

            gate.scripted.clear()
            row = desk.row(conversion)
            assert (row["status"], row["pages"]) == ("ready", 1)
            assert files_below(desk.volume.root / "incoming") == []
            assert row["target_path"] in files_below(desk.volume.root / "converted")
    assert boundaries > 25
    assert len(files_below(desk.volume.root / "converted")) == 4


def _deliver_into_the_void(target: Worker, conversion_id: int) -> None:
    with pytest.raises(requests.ConnectionError):
        target.deliver(conversion_id)


def test_a_deck_that_kills_its_worker_on_every_try_is_given_up(
    function: Worker, desk: Desk, engine: Engine, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)
    before = gate.count
    with transaction(engine) as connection:
        tried = sa.update(conversions).where(conversions.c.id == conversion.id)
        connection.execute(tried.values(attempts=3))

    assert function.deliver(conversion.id).json() == {"outcome": "failed"}

    assert desk.row(conversion)["error_code"] == "attempts_used_up"
    assert gate.count == before


def test_a_worker_that_lost_its_claim_while_it_converted_changes_nothing(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)

    def lose_the_claim(handler: Any) -> None:
        desk.pass_time(conversion, LEASE + timedelta(seconds=1))
        assert function.deliver(conversion.id).json() == {"outcome": "ready"}
        answering(400)(handler)

    gate.scripted += [lose_the_claim, CONVERTED]

    answer = function.deliver(conversion.id)

    row = desk.row(conversion)
    assert answer.status_code == 503
    assert (row["status"], row["attempts"], row["error_code"]) == ("ready", 2, None)


def test_a_task_that_the_sweep_has_replaced_is_let_go(
    function: Worker, desk: Desk, engine: Engine, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)
    with transaction(engine) as connection:
        newer = sa.update(conversions).where(conversions.c.id == conversion.id)
        connection.execute(newer.values(generation=2))
    gate.scripted.append(CONVERTED)
    name = f"conversion-{conversion.id}"

    old = function.deliver(conversion.id, task=f"{name}-1")
    status = desk.row(conversion)["status"]
    new = function.deliver(conversion.id, task=f"{name}-2")

    assert (old.json(), status, new.json()) == ({"outcome": "superseded"}, "pending", {"outcome": "ready"})


def test_a_medium_that_is_deleted_while_it_is_converted_leaves_no_file(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(other(deck, "deleted meanwhile"))

    def delete_it(handler: Any) -> None:
        desk.delete(conversion)
        answering(200, PDF)(handler)

    gate.scripted.append(delete_it)

    answers = [function.deliver(conversion.id).status_code for _ in range(2)]

    assert answers == [503, 200]  # the repeat finds nothing to do
    assert files_below(desk.volume.root) == []


def test_the_pdf_of_a_deleted_medium_stays_for_another_one_with_the_same_bytes(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    same = other(deck, "deleted once")
    first, second = desk.upload(same, "a.pptx"), desk.upload(same, "b.pptx")
    gate.scripted.append(CONVERTED)
    function.deliver(first.id)
    before, asked = files_below(desk.volume.root), gate.count

    desk.delete(first)
    left = files_below(desk.volume.root)
    outcome = function.deliver(second.id).json()
    desk.delete(second)

    assert (len(before), left, outcome, gate.count) == (3, before, {"outcome": "ready"}, asked)
    assert files_below(desk.volume.root) == []


def test_a_pdf_that_is_asked_for_again_is_made_again_beside_the_old_one(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    conversion = desk.upload(deck)
    gate.scripted += [answering(200, TWO_PAGES), CONVERTED]
    function.deliver(conversion.id)
    asked = gate.count
    with transaction(desk.engine) as connection:
        media = media_operations.find(connection, conversion.media_id)
        again, must_enqueue = conversions_operations.rebuild(connection, database_now(connection), media)
        served = conversions_store.ready_target(connection, desk.row(conversion)["target_path"])

    outcome = function.deliver(conversion.id).json()

    row = desk.row(conversion)
    assert (again.status, must_enqueue, again.generation) == ("pending", True, 2)
    assert served is not None
    assert (outcome, gate.count) == ({"outcome": "ready"}, asked + 1)
    assert (row["pages"], row["rebuild"], pages_of(desk.volume, row)) == (1, False, 1)


def test_the_tasks_of_one_person_convert_the_deck_of_another_in_its_turn(
    function: Worker, desk: Desk, gate: Gate, deck: bytes
) -> None:
    tasks = [desk.upload(other(deck, f"of anna {number}"), by="anna") for number in range(4)]
    tasks.append(desk.upload(other(deck, "of bert"), by="bert"))
    gate.scripted += [CONVERTED] * len(tasks)

    outcomes = [function.deliver(task.id).json()["outcome"] for task in tasks]

    rows = sorted((desk.row(task) for task in tasks), key=lambda row: row["started_at"])
    assert outcomes == ["ready"] * 5
    assert [row["id"] for row in rows] == [tasks[number].id for number in (0, 4, 1, 2, 3)]


def test_a_conversion_that_does_not_exist_is_no_reason_to_come_again(function: Worker) -> None:
    assert function.deliver(999_999_999).json() == {"outcome": "gone"}


def test_without_a_database_the_log_names_the_request_that_the_answer_names(
    database_url: str, volume: MediaVolume, issuer: Issuer, tmp_path: Path
) -> None:
    nowhere = f"postgresql://x:y@127.0.0.1:{free_port()}/nothing"
    log = tmp_path / "log"

    with worker(database_url, volume.root, "http://127.0.0.1:9", issuer.issuer, log, DATABASE_URL=nowhere) as cut_off:
        answer = cut_off.deliver(1)

    check_problem(answer, 503, "database_unavailable", retry_after_seconds=10)
    assert answer.json()["request_id"] in log.read_text()


BAD_JOBS = [
    (b"", 400),
    (b"{", 400),
    (b"[]", 400),
    (b'{"job": "shred", "conversion_id": 1}', 400),
    (b'{"job": "convert_event_media_to_pdf"}', 400),
    (b'{"job": "convert_event_media_to_pdf", "conversion_id": "1"}', 400),
    (b'{"job": "convert_event_media_to_pdf", "conversion_id": true}', 400),
    (b'{"job": "convert_event_media_to_pdf", "conversion_id": 99999999999999999999}', 400),
    (b'{"job": "convert_event_media_to_pdf", "conversion_id": -1}', 400),
    (b" " * 5000, 400),
    (b"\xff\xfe", 400),
    (b"[" * 4000, 400),
]


@pytest.mark.parametrize(("body", "status"), BAD_JOBS)
def test_what_is_no_job_is_refused_with_a_problem_document(function: Worker, body: bytes, status: int) -> None:
    headers = {"Authorization": f"Bearer {function.token()}", "Content-Type": "application/json"}

    answer = requests.post(function.url, data=body, headers=headers, timeout=60)

    check_problem(answer, status, "bad_job")
    assert answer.json()["title"] == "Bad request"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_jobs_are_sent_with_post_only(function: Worker, method: str) -> None:
    answer = requests.request(method, function.url, timeout=60)

    assert answer.headers["Allow"] == "POST"
    check_problem(answer, 405, "method_not_allowed")


@pytest.mark.parametrize(("endless", "status"), ENDLESS)
def test_a_request_without_an_end_is_refused_before_it_is_read(function: Worker, endless: bytes, status: int) -> None:
    port = urlsplit(function.url).port
    assert port is not None

    assert status_of(exchange(port, endless) or b"") == status


def test_only_the_queue_may_send_jobs(function: Worker, desk: Desk, deck: bytes) -> None:
    conversion = desk.upload(deck)
    tokens = {
        "none": "",
        "another key": function.token(FOREIGN),
        "another audience": function.token(aud="http://127.0.0.1:8083"),
        "another account": function.token(email="someone@signage.test"),
        "an old one": function.token(exp=1),
    }

    answers = [function.deliver(conversion.id, token=token) for token in tokens.values()]

    for answer in answers:
        check_problem(answer, 401, "unauthenticated")
    assert desk.row(conversion)["status"] == "pending"


def test_a_large_deck_is_never_whole_in_memory(function: Worker, desk: Desk, gate: Gate, deck: bytes) -> None:
    gate.scripted += [CONVERTED, CONVERTED]
    function.deliver(desk.upload(deck).id)  # the imports of the first job are done now
    large = io.BytesIO(deck)
    _add_stored(large, 100 * 1024 * 1024)
    conversion = desk.upload(large.getvalue())
    before = peak_memory_bytes(function.process.pid), gate.count

    answer = function.deliver(conversion.id)

    assert answer.json() == {"outcome": "ready"}
    assert gate.bodies[-1] > 100 * 1024 * 1024
    assert peak_memory_bytes(function.process.pid) - before[0] < 32 * 1024 * 1024


def _add_stored(package: io.BytesIO, size: int) -> None:
    with zipfile.ZipFile(package, "a", zipfile.ZIP_STORED) as deck:
        deck.writestr("ppt/media/film.mp4", bytes(size))
