"""Gotenberg's contract for the one route, recorded: what any converter that CONVERTER_URL names must answer.

With CONVERTER_URL set these run against that converter, a real Gotenberg say, which must pass them all as ours does;
without it they run against ours. What is compared is what the worker relies on, and what Gotenberg 8 documents:
statuses, types, headers, and that a body is words, not a page of HTML.

    CONVERTER_URL=http://gotenberg:3000 pytest tests/worker/test_converter_contract.py
"""

import os
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import requests

from tests.worker import decks
from tests.worker.harness import CONVERT

pytestmark = pytest.mark.slow
SECONDS = 60


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> str:
    """The converter that is named, or else ours."""
    named = os.environ.get("CONVERTER_URL")
    if named:
        return named.rstrip("/")
    ours: str = request.getfixturevalue("running_converter").url
    return ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("contract")
    decks.make_pptx(place / "deck.pptx", 3, hidden=1)
    decks.make_odp(place / "deck.odp", 2)
    decks.make_ppt(place / "deck.ppt", 2)
    (place / "notes.xyz").write_bytes(b"notes")
    (place / "broken.pptx").write_bytes((place / "deck.pptx").read_bytes()[:5000])
    return place


@pytest.fixture
def sent(url: str, folder: Path) -> Any:
    """Sends one file of the folder in the field `files`."""

    def send(name: str, **headers: str) -> requests.Response:
        with (folder / name).open("rb") as file:
            return requests.post(url + CONVERT, files={"files": (name, file)}, headers=headers, timeout=SECONDS)

    return send


@pytest.mark.parametrize(("name", "pages"), [("deck.pptx", 2), ("deck.odp", 2), ("deck.ppt", 2)])
def test_a_deck_is_answered_with_a_pdf(sent: Any, name: str, pages: int) -> None:
    answer = sent(name)

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/pdf"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
    with pypdfium2.PdfDocument(answer.content) as document:
        assert len(document) == pages


def test_the_trace_that_was_sent_comes_back_and_one_is_made_where_none_was(sent: Any) -> None:
    assert sent("deck.odp", **{"Gotenberg-Trace": "conversion-7-1"}).headers["Gotenberg-Trace"] == "conversion-7-1"
    assert sent("deck.odp").headers["Gotenberg-Trace"]


def test_the_file_is_named_as_asked_for(sent: Any) -> None:
    answer = sent("deck.odp", **{"Gotenberg-Output-Filename": "menu"})

    assert "filename=menu.pdf" in answer.headers["Content-Disposition"].replace('"', "")


def refused(answer: requests.Response, status: int) -> None:
    assert answer.status_code == status
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.text.strip()
    assert "<" not in answer.text[:1]
    assert answer.headers["Gotenberg-Trace"]


def test_a_form_without_a_file_is_a_400_in_words(url: str) -> None:
    refused(requests.post(url + CONVERT, files={"other": ("a.txt", b"x")}, timeout=SECONDS), 400)


def test_a_file_of_no_known_kind_is_a_400_in_words(sent: Any) -> None:
    refused(sent("notes.xyz"), 400)


def test_what_is_no_form_is_a_415_in_words(url: str) -> None:
    body = requests.post(url + CONVERT, json={"files": "deck.pptx"}, timeout=SECONDS)

    refused(body, 415)


def test_a_damaged_deck_is_a_server_error_or_a_pdf_and_never_hangs(sent: Any) -> None:
    """LibreOffice repairs what it can; where it cannot, Gotenberg 8.35 and later answer 500, older ones 400."""
    answer = sent("broken.pptx")

    assert answer.status_code in {200, 400, 500}
    assert answer.status_code != 200 or answer.content[:5] == b"%PDF-"


def test_another_address_is_a_404(url: str) -> None:
    assert requests.post(url + "/forms/libreoffice/nothing", timeout=SECONDS).status_code == 404


def test_the_route_is_for_post_only(url: str) -> None:
    assert requests.get(url + CONVERT, timeout=SECONDS).status_code == 405


def test_health_is_json_that_says_up(url: str) -> None:
    answer = requests.get(url + "/health", timeout=SECONDS)

    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, "application/json")
    assert answer.json()["status"] == "up"
    assert answer.json()["details"]["libreoffice"]["status"] == "up"


def test_the_version_is_a_line_of_text(url: str) -> None:
    answer = requests.get(url + "/version", timeout=SECONDS)

    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (200, "text/plain")
    assert len(answer.text.strip().splitlines()) == 1
