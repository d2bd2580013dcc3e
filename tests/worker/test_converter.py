"""The local converter: a real process with a real LibreOffice, called like Gotenberg."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pypdfium2
import pytest
import requests

from deploy.parts import guardian
from deploy.parts.converter.sandbox import Sandbox, why_not
from deploy.parts.probes import wait_until
from tests.worker import decks, hostile_decks
from tests.worker.beacon import Beacon, beacon
from tests.worker.harness import (
    CONVERT,
    DEADLINE_SECONDS,
    Converter,
    converter,
    files_below,
    peak_memory_bytes,
    programs_without_bwrap,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with decks of two kinds, each with a hidden slide."""
    made = tmp_path_factory.mktemp("decks")
    decks.make_pptx(made / "deck.pptx", 4, hidden=1)
    decks.make_odp(made / "deck.odp", 3, hidden=1)
    return made


def pages_of(answer: requests.Response) -> int:
    assert answer.status_code == 200, answer.text
    with pypdfium2.PdfDocument(io.BytesIO(answer.content)) as document:
        return len(document)


def test_a_trace_that_would_split_a_header_or_a_log_line_is_replaced(running_converter: Converter) -> None:
    answer = requests.get(running_converter.url + "/version", headers={"Gotenberg-Trace": "a b" * 99}, timeout=60)

    assert re.fullmatch("[0-9a-f]{32}", answer.headers["Gotenberg-Trace"])


GOOD = ("files", ("deck.odp", b"content"))
REQUESTS = [
    ("POST", CONVERT, {"data": b"x"}, 415, "multipart/form-data"),
    ("POST", CONVERT, {"files": [("other", ("deck.odp", b"x"))]}, 400, "other"),
    ("POST", CONVERT, {"files": [GOOD], "data": {"landscape": "true"}}, 400, "landscape"),
    ("POST", CONVERT, {"files": [GOOD, GOOD]}, 400, "one form file"),
    ("POST", CONVERT, {"files": [("files", ("deck.docx", b"x"))]}, 400, ".pptx"),
    ("POST", CONVERT, {"files": [("files", ("deck.odp", b""))]}, 400, "empty"),
    (
        "POST",
        CONVERT,
        {"data": b"--x\r\nno part", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
        400,
        "",
    ),
    ("POST", CONVERT, {"data": b"--x", "headers": {"Content-Type": "multipart/form-data"}}, 415, "no boundary"),
    ("GET", CONVERT, {}, 405, ""),
    ("POST", "/health", {}, 405, ""),
    ("GET", "/forms/chromium/convert/url", {}, 404, ""),
]


@pytest.mark.parametrize(("method", "path", "request_", "status", "says"), REQUESTS)
def test_each_bad_request_gets_its_status_and_a_sentence(
    running_converter: Converter, method: str, path: str, request_: dict[str, object], status: int, says: str
) -> None:
    answer = requests.request(method, running_converter.url + path, timeout=60, **request_)  # type: ignore[arg-type]  # a table's row

    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.text
    assert says in answer.text
    assert not list(running_converter.folder.glob("request-*")), "nothing of it is kept"


def test_a_body_above_the_limit_is_refused_before_it_is_read(running_converter: Converter) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": str(10**9)}
    prepared = requests.Request("POST", running_converter.url + CONVERT, headers=headers).prepare()
    prepared.headers["Content-Length"] = str(10**9)

    with requests.Session() as session:
        answer = session.send(prepared, timeout=60)

    assert answer.status_code == 413


def test_a_body_without_a_length_is_counted_while_it_is_read(tmp_path: Path) -> None:
    with converter(tmp_path / "state", UPLOAD_LIMIT_BYTES="1000000") as running:
        answer = requests.post(
            running.url + CONVERT,
            data=iter([b"--x\r\n", *[bytes(100_000)] * 30]),
            headers={"Content-Type": "multipart/form-data; boundary=x"},
            timeout=60,
        )

    assert answer.status_code in {400, 413}
    assert not list(running.folder.glob("*"))


def test_a_large_document_is_never_whole_in_memory(running_converter: Converter, tmp_path: Path) -> None:
    large = tmp_path / "large.pptx"
    with large.open("wb") as file:
        file.truncate(190_000_000)
    before = peak_memory_bytes(running_converter.process.pid)

    answer = running_converter.convert(large)

    assert answer.status_code == 400, "zeros are no deck"
    assert peak_memory_bytes(running_converter.process.pid) - before < 32 * 1024 * 1024


def test_after_a_deck_that_cannot_be_converted_the_next_one_can(
    running_converter: Converter, folder: Path, tmp_path: Path
) -> None:
    good = (folder / "deck.pptx").read_bytes()
    hostile = {
        "cut.pptx": good[: len(good) // 2],
        "noise.ppt": os.urandom(50_000),
        "text.odp": b"just a text",
        "secret.ppt": hostile_decks.compound_file({"EncryptedPackage": b"x", "EncryptionInfo": b"x"}),
    }
    for name, content in hostile.items():
        (tmp_path / name).write_bytes(content)
        answer = running_converter.convert(tmp_path / name)
        assert (answer.status_code, "LibreOffice" in answer.text) == (400, True), name

    assert pages_of(running_converter.convert(folder / "deck.pptx")) == 3


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Converter]:
    """A converter with a deadline of 20 s, whose LibreOffice was stopped before its document came."""
    with converter(tmp_path / "state", deadline=20) as running:
        running.freeze()
        yield running


def test_what_takes_too_long_is_killed_and_the_queue_is_bounded_and_moves_on(frozen: Converter, folder: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: frozen.convert(folder / "deck.odp"), range(6)))

    statuses = sorted(answer.status_code for answer in answers)
    refused = [answer for answer in answers if answer.status_code != 200]
    assert statuses.count(429) >= 3, "one is being converted, and two may wait"
    assert 503 in statuses, "the one that the frozen LibreOffice had"
    assert set(statuses) <= {200, 429, 503}, "who waited behind it may have come late enough to be served"
    assert all("Retry-After" in answer.headers for answer in refused)
    let_in = frozen.health()[1]["requests"]
    assert let_in >= 3
    wait_until(lambda: frozen.converts(folder / "deck.odp"), DEADLINE_SECONDS)
    assert frozen.health()[1]["requests"] > let_in


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_however_it_ends_in_the_middle_of_a_document_no_process_stays(
    frozen: Converter, folder: Path, number: signal.Signals
) -> None:
    statuses: list[int] = []

    def ask() -> None:
        try:
            statuses.append(frozen.convert(folder / "deck.odp").status_code)
        except requests.ConnectionError:
            statuses.append(0)

    asking = threading.Thread(target=ask)
    asking.start()
    three = 3  # the frozen one, the one that hands over, the next one
    wait_until(lambda: len(frozen.offices()) >= three, DEADLINE_SECONDS)
    below = guardian.descendants(frozen.process.pid)

    frozen.process.send_signal(number)
    frozen.process.wait(60)
    asking.join()

    wait_until(lambda: not [pid for pid in below if program_is_alive(pid)], 60)
    if number is signal.SIGKILL:
        assert statuses == [0]
    else:
        assert statuses == [503]
        assert not frozen.folder.exists()


def program_is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_zombie_is_left_to_anybody(running_converter: Converter, folder: Path) -> None:
    running_converter.convert(folder / "deck.odp")

    def buried() -> bool:
        return all(program_is_alive(pid) for pid in guardian.descendants(running_converter.process.pid))

    wait_until(buried, 60)


def test_a_second_converter_does_not_touch_the_folder_of_the_first(running_converter: Converter) -> None:
    state = running_converter.folder.parent.parent
    second = subprocess.run(
        [sys.executable, "-m", "deploy.parts.converter"],
        env={**os.environ, "LOCAL_STATE_DIR": str(state)},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert second.returncode == 2
    assert running_converter.health()[0] == 200


def test_without_a_sandbox_it_refuses_and_says_why(tmp_path: Path, folder: Path) -> None:
    path = programs_without_bwrap(tmp_path / "bin")

    with converter(tmp_path / "state", healthy=503, PATH=path) as running:
        answer = running.convert(folder / "deck.odp")

        assert answer.status_code == 503
        assert "bubblewrap is not installed" in answer.text
        assert "bubblewrap is not installed" in running.health()[1]["reason"]
        assert running.offices() == set()


def test_without_a_sandbox_it_converts_only_when_told_and_admits_it(tmp_path: Path, folder: Path) -> None:
    path = programs_without_bwrap(tmp_path / "bin")

    with converter(tmp_path / "state", PATH=path, CONVERTER_ALLOW_UNSANDBOXED="1") as running:
        assert pages_of(running.convert(folder / "deck.odp")) == 2
        status, health = running.health()

    assert (status, health["status"], health["isolation"]) == (200, "up", "none")
    assert "bubblewrap" in health["reason"]
    assert not running.folder.exists()


@pytest.fixture
def listener() -> Iterator[Beacon]:
    with beacon() as listening:
        yield listening


def test_a_deck_that_links_to_the_outside_reaches_nobody(
    running_converter: Converter, folder: Path, tmp_path: Path, listener: Beacon
) -> None:
    address = f"{listener.url}/picture.png"
    linked = linking_deck((folder / "deck.odp").read_bytes(), address)
    (tmp_path / "deck.odp").write_bytes(linked)

    decks.convert(tmp_path / "deck.odp", "pdf", tmp_path)
    assert listener.visits, "a LibreOffice without a sandbox does go there, or this test sees nothing"
    listener.visits.clear()

    assert pages_of(running_converter.convert(tmp_path / "deck.odp")) == 2
    assert listener.visits == []


def linking_deck(deck: bytes, address: str) -> bytes:
    """The deck with a picture on its first page that links to `address`."""
    content = zipfile.ZipFile(io.BytesIO(deck)).read("content.xml").decode()
    picture = (
        '<draw:frame svg:width="5cm" svg:height="5cm" svg:x="1cm" svg:y="10cm"><draw:image '
        f'xlink:href="{address}" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>'
    )
    spoilt = content.replace("</draw:page>", picture + "</draw:page>", 1)
    for prefix, name in (("xlink", "http://www.w3.org/1999/xlink"), ("svg", "svg-compatible:1.0")):
        if f"xmlns:{prefix}=" not in spoilt:
            full = name if "://" in name else f"urn:oasis:names:tc:opendocument:xmlns:{name}"
            spoilt = spoilt.replace("<office:document-content", f'<office:document-content xmlns:{prefix}="{full}"', 1)
    return hostile_decks.with_parts(deck, {"content.xml": spoilt.encode()})


def run_inside(sandbox: Sandbox, work: Path, *program: str) -> "subprocess.CompletedProcess[str]":
    command = sandbox.command(work, list(program))
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work" / "tmp").mkdir(parents=True)
    return tmp_path / "work"


def test_inside_there_is_nothing_to_see_but_programs_and_the_own_folder(work: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the neighbour's deck")
    inside, outside = Sandbox(isolated=True), Sandbox(isolated=False)

    assert run_inside(outside, work, "/usr/bin/cat", str(secret)).stdout == "the neighbour's deck"
    assert run_inside(inside, work, "/usr/bin/cat", str(secret)).returncode != 0
    seen = set(run_inside(inside, work, "/usr/bin/ls", "/").stdout.split())
    assert seen == {"bin", "config", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr", "var", "work"}
    assert run_inside(inside, work, "/usr/bin/ls", "/config", "/config/fontconfig").stdout.split()[-1] == "fonts.conf"
    assert "passwd" not in run_inside(inside, work, "/usr/bin/ls", "/etc").stdout
    assert run_inside(inside, work, "/usr/bin/touch", "/usr/x").returncode != 0
    assert run_inside(inside, work, "/usr/bin/touch", "/work/x").returncode == 0
    assert files_below(work) == ["x"]


def test_inside_there_is_no_network_no_power_and_no_secret_of_ours(
    work: Path, listener: Beacon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    knock = f"exec 3<>/dev/tcp/127.0.0.1/{listener.server_address[1]}"
    inside, outside = Sandbox(isolated=True), Sandbox(isolated=False)

    assert run_inside(outside, work, "/usr/bin/bash", "-c", knock).returncode == 0
    assert run_inside(inside, work, "/usr/bin/bash", "-c", knock).returncode != 0
    assert "CapEff:\t0000000000000000" in run_inside(inside, work, "/usr/bin/cat", "/proc/self/status").stdout
    for sandbox in (inside, outside):
        assert "secret" not in run_inside(sandbox, work, "/usr/bin/env").stdout
        limits = run_inside(sandbox, work, "/usr/bin/cat", "/proc/self/limits").stdout
        assert re.search(r"Max address space\s+4294967296", limits)
        assert re.search(r"Max file size\s+1073741824", limits)


def test_this_machine_can_isolate() -> None:
    assert why_not() is None
