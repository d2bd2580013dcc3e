"""Presentations become PDFs: upload, queue, worker, converter, file."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
import requests

from tests.stack import Api, Stack, eventually
from tests.worker import decks

MAKERS: list[tuple[str, Callable[[Path, int], Any], int]] = [
    ("deck.pptx", decks.make_pptx, 3),
    ("deck.odp", decks.make_odp, 2),
    ("deck.ppt", decks.make_ppt, 4),
]


@pytest.fixture
def api(stack: Stack) -> Api:
    return stack.api()


def upload(api: Api, path: Path, expected: int = 201) -> Any:
    with path.open("rb") as file:
        return api.call("POST", "/api/event-media", expected, files={"file": (path.name, file)}).json()


def ready(api: Api, media_id: int) -> dict[str, Any] | None:
    status: dict[str, Any] = api.get(f"/api/conversions/{media_id}/status")
    assert status["status"] != "failed", status
    return status if status["status"] == "ready" else None


def pages_of(pdf: bytes) -> int:
    document = pypdfium2.PdfDocument(io.BytesIO(pdf))
    try:
        return len(document)
    finally:
        document.close()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "make", "slides"), MAKERS)
def test_a_presentation_becomes_a_pdf_with_a_page_a_slide_and_does_so_once(
    api: Api, stack: Stack, tmp_path: Path, name: str, make: Callable[[Path, int], Any], slides: int
) -> None:
    make(tmp_path / name, slides)

    uploaded = upload(api, tmp_path / name)
    media = uploaded["media"]
    done = eventually(lambda: ready(api, media["id"]), "the PDF", 90)
    pdf = api.call("GET", done["file_url"])

    assert media["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert uploaded["conversion"]["file_hash"] == media["sha256"]
    assert pdf.headers["Content-Type"] == "application/pdf"
    assert (pages_of(pdf.content), done["pages"]) == (slides, slides)
    assert api.call("GET", f"/api/event-media/{media['id']}/content").content == (tmp_path / name).read_bytes()
    part = api.call("GET", done["file_url"], 206, headers={"Range": "bytes=0-4"})
    assert part.content == b"%PDF-"
    unchanged = api.call("GET", done["file_url"], 304, headers={"If-None-Match": pdf.headers["ETag"]})
    assert unchanged.content == b""
    same_bytes_again(stack, tmp_path / name, media, done)


def same_bytes_again(stack: Stack, path: Path, first: Any, done: dict[str, Any]) -> None:
    """A second upload of the same bytes is ready without a conversion."""
    api, before = stack.api(), conversions_done(stack)

    second = upload(api, path.rename(path.with_stem("second")))["media"]
    again = eventually(lambda: ready(api, second["id"]), "the same PDF", 60)

    assert second["id"] != first["id"]
    assert (again["file_url"], again["pages"]) == (done["file_url"], done["pages"])
    assert conversions_done(stack) == before
    assert api.post(f"/api/conversions/{second['id']}/pdf")["status"] == "ready"


def conversions_done(stack: Stack) -> int:
    """How many documents the converter has converted, by its own count."""
    health = requests.get(stack.environment["CONVERTER_URL"] + "/health", timeout=60).json()
    return int(health["requests"])


REFUSED = [
    ("notes.txt", b"hello", 415, "unsupported_media_type"),
    ("fake.pptx", b"this is no presentation", 422, "not_a_presentation"),
    ("empty.odp", b"", 422, "not_a_presentation"),
]


@pytest.mark.parametrize(("name", "content", "status", "code"), REFUSED)
def test_what_is_no_presentation_is_refused_and_nothing_is_stored(
    api: Api, tmp_path: Path, name: str, content: bytes, status: int, code: str
) -> None:
    (tmp_path / name).write_bytes(content)
    before = api.get("/api/event-media")["items"]

    assert upload(api, tmp_path / name, status)["code"] == code
    assert api.get("/api/event-media")["items"] == before


def test_a_picture_is_stored_and_not_converted(api: Api, tmp_path: Path) -> None:
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001"
        "e221bc330000000049454e44ae426082"
    )
    (tmp_path / "logo.png").write_bytes(png)

    uploaded = upload(api, tmp_path / "logo.png")

    assert (uploaded["media"]["kind"], uploaded["conversion"]) == ("png", None)
    assert api.post(f"/api/conversions/{uploaded['media']['id']}/pdf", expected=422)["code"] == "not_convertible"
    assert api.get(f"/api/conversions/{uploaded['media']['id']}/status", 404)["code"] == "conversion_not_found"
