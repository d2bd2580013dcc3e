"""Gotenberg's recorded contract for one route: the answers that every converter at CONVERTER_URL must give.

With CONVERTER_URL these tests run against that converter, for instance a real Gotenberg; without it against ours. They
hold what the worker relies on: statuses, types, headers, and the beginning of each body, as Gotenberg 8.36 gave them
(`make campaign ONLY=converter`). Two more variables give values that cannot be read from the converter; without them
their tests are skipped.

    CONVERTER_URL=http://gotenberg:3000 CONVERTER_BODY_LIMIT_BYTES=200000000 CONVERTER_DEADLINE_SECONDS=120 \
        pytest tests/worker/test_converter_contract.py
"""

import os
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import requests

from deploy.parts.probes import wait_until
from tests.worker import decks
from tests.worker.harness import CONVERT, converter
from tests.worker.hostile import damaged, locked
from tests.worker.hostile.seeds import Secrets, Seeds

pytestmark = pytest.mark.slow
SECONDS = 240
NAMED = (os.environ.get("CONVERTER_URL") or "").rstrip("/")
OUR_LIMIT_BYTES = 200_000_000
OUR_SHORT_DEADLINE = 20


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> str:
    """The address of the named converter, or of ours."""
    ours: str = NAMED or request.getfixturevalue("running_converter").url
    return ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("contract")
    decks.make_pptx(place / "deck.pptx", 4, hidden=1)
    decks.make_odp(place / "deck.odp", 3, hidden=1)
    decks.make_ppt(place / "deck.ppt", 3, hidden=1)
    (place / "notes.xyz").write_bytes(b"notes")
    (place / "broken.pptx").write_bytes((place / "deck.pptx").read_bytes()[:5000])
    good = Seeds((place / "deck.pptx").read_bytes(), (place / "deck.odp").read_bytes(), b"", "", Secrets(*[place] * 3))
    chance = random.Random(1)
    (place / "locked.pptx").write_bytes(locked.password(good, chance, "pptx", None))
    (place / "locked.odp").write_bytes(locked.password(good, chance, "odp", None))
    if NAMED:
        (place / "slow.pptx").write_bytes(damaged.deep(good, chance, "pptx", 3000))
    return place


@pytest.fixture
def sent(url: str, folder: Path) -> Any:
    """Sends one file of the folder in the field `files`."""

    def send(name: str, **headers: str) -> requests.Response:
        return post(url, folder / name, **headers)

    return send


def post(url: str, path: Path, **headers: str) -> requests.Response:
    with path.open("rb") as file:
        return requests.post(url + CONVERT, files={"files": (path.name, file)}, headers=headers, timeout=SECONDS)


@pytest.mark.parametrize(("name", "pages"), [("deck.pptx", 3), ("deck.odp", 2), ("deck.ppt", 2)])
def test_a_deck_is_answered_with_a_pdf_that_is_named_and_traced_as_asked_for(sent: Any, name: str, pages: int) -> None:
    """One page for each visible slide. For traces of refusals see `refused`."""
    answer = sent(name, **{"Gotenberg-Trace": f"conversion-7-{pages}", "Gotenberg-Output-Filename": "menu"})

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/pdf"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    assert answer.headers["Content-Disposition"].replace('"', "").startswith("attachment; filename=menu.pdf")
    assert answer.headers["Gotenberg-Trace"] == f"conversion-7-{pages}"
    with pypdfium2.PdfDocument(answer.content) as document:
        assert len(document) == pages


@dataclass(frozen=True)
class Recorded:
    """A refused request, and the expected answer."""

    status: int
    begins: str
    """The beginning of the body; the rest is the converter's own text."""
    of_gotenberg: tuple[int, str] | None = None
    """Its own status and beginning, where it differs and the worker never asks so."""
    request: dict[str, Any] = field(default_factory=dict)
    method: str = "POST"
    path: str = CONVERT


OURS = {429: "Too Many Requests", 503: "Service Unavailable"}
OF_GOTENBERG = {429: "The request queue is full", 503: "The request exceeded the time limit"}
FORM = {"Content-Type": "multipart/form-data"}
WHOLE_FORM = {"Content-Type": "multipart/form-data; boundary=x"}
RECORDED = {
    "a form without a file": Recorded(400, "Invalid form data: ", request={"files": {"other": (None, "x")}}),
    "a file of no known kind": Recorded(
        400,
        "Invalid form data: no form file found for extensions: ",
        request={"files": {"files": ("notes.xyz", b"notes")}},
    ),
    "a form that is cut off": Recorded(
        400,
        "Malformed body: it does not match the 'Content-Type' header boundaries",
        (500, "Internal Server Error"),
        {"data": b"--x\r\nno part", "headers": WHOLE_FORM},
    ),
    "what is no form": Recorded(
        415,
        "Invalid 'Content-Type' header value: want 'multipart/form-data'",
        request={"json": {"files": "deck.pptx"}},
    ),
    "a form without a boundary": Recorded(
        415,
        "Invalid 'Content-Type' header value: no boundary",
        request={"data": b"--x", "headers": FORM},
    ),
    "another address": Recorded(404, "Not Found", path="/forms/libreoffice/nothing"),
    "another method": Recorded(405, "Method Not Allowed", method="GET"),
}


def refused(answer: requests.Response, status: int, begins: str) -> None:
    assert answer.status_code == status
    assert answer.headers["Content-Type"].lower() == "text/plain; charset=utf-8"
    assert answer.text.startswith(begins)
    assert answer.headers["Gotenberg-Trace"]


@pytest.mark.parametrize("what", RECORDED)
def test_it_is_refused_as_recorded(url: str, what: str) -> None:
    said = RECORDED[what]

    answer = requests.request(said.method, url + said.path, timeout=SECONDS, **said.request)

    refused(answer, *((NAMED and said.of_gotenberg) or (said.status, said.begins)))


def test_a_body_above_the_limit_is_a_413(url: str) -> None:
    limit = int(os.environ.get("CONVERTER_BODY_LIMIT_BYTES") or (0 if NAMED else OUR_LIMIT_BYTES))
    if not limit:
        pytest.skip("CONVERTER_BODY_LIMIT_BYTES does not say how much the named converter takes (--api-body-limit)")
    ready = requests.Request("POST", url + CONVERT, headers=WHOLE_FORM).prepare()
    ready.headers["Content-Length"] = str(2 * limit)

    with requests.Session() as session:
        refused(session.send(ready, timeout=SECONDS), 413, "Request Entity Too Large")


@dataclass(frozen=True)
class Hurried:
    """A converter with a deadline, and its log, if that is readable."""

    url: str
    log: Path | None = None

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8") if self.log else "its log cannot be seen from here"


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[Hurried]:
    """Our converter with a stopped LibreOffice and a short deadline; or the named one."""
    if not NAMED:
        with converter(tmp_path / "state", deadline=OUR_SHORT_DEADLINE) as running:
            running.freeze()
            yield Hurried(running.url, running.log)
    elif os.environ.get("CONVERTER_DEADLINE_SECONDS"):
        yield Hurried(NAMED)
    else:
        pytest.skip("CONVERTER_DEADLINE_SECONDS does not say how long the named converter works (--api-timeout)")


def test_what_takes_too_long_is_a_503_and_what_finds_no_place_a_429(hurried: Hurried, folder: Path) -> None:
    """Four documents at once, with a queue for two, as the product sets for Gotenberg. A waiting document may get a
    LibreOffice that works again.
    """
    deck = folder / ("slow.pptx" if NAMED else "deck.odp")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: post(hurried.url, deck), range(4)))

    assert {answer.status_code for answer in answers} - {200} == {429, 503}, hurried.said()
    begins = OF_GOTENBERG if NAMED else OURS
    for answer in answers:
        if answer.status_code in begins:
            refused(answer, answer.status_code, begins[answer.status_code])
        assert not NAMED or answer.status_code in begins, "the deck is slow"
    wait_until(lambda: post(hurried.url, folder / "deck.odp").status_code == 200, SECONDS)


@pytest.mark.parametrize("name", ["broken.pptx", "locked.pptx", "locked.odp"])
def test_a_damaged_or_encrypted_deck_ends_in_words_or_in_a_pdf_and_never_hangs(sent: Any, name: str) -> None:
    """LibreOffice repairs what it can. Otherwise Gotenberg answers 400 or 500, by version; ours answers 500.

    Both end the conversion as failed: 400 at once, 500 after the last try.
    """
    answer = sent(name)

    if answer.status_code == 200:
        assert name.startswith("broken")
        assert answer.content[:5] == b"%PDF-"
    else:
        assert answer.status_code in {400, 500}
        refused(answer, answer.status_code, "")


def test_health_is_json_that_says_up(url: str) -> None:
    """A Gotenberg answers 503 while it starts LibreOffice again."""
    wait_until(lambda: requests.get(url + "/health", timeout=SECONDS).ok, SECONDS)
    answer = requests.get(url + "/health", timeout=SECONDS)

    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, "application/json")
    assert answer.json()["status"] == "up"
    assert answer.json()["details"]["libreoffice"]["status"] == "up"
    assert requests.head(url + "/health", timeout=SECONDS).status_code == 200


def test_the_version_is_a_line_of_text(url: str) -> None:
    answer = requests.get(url + "/version", headers={"Gotenberg-Trace": "version"}, timeout=SECONDS)

    assert (answer.status_code, answer.headers["Content-Type"].lower()) == (200, "text/plain; charset=utf-8")
    assert NAMED or answer.headers["Gotenberg-Trace"] == "version"
    assert len(answer.text.strip().splitlines()) == 1
