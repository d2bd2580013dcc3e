"""Uploads through the API: complete or not stored, streamed, and served unchanged."""

import hashlib
import io
from pathlib import Path
from typing import Any, Final

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.api.people import Api
from tests.worker import decks

PDF = b"%PDF-1.4\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n"


def upload(api: Api, name: str, content: bytes, role: str = "operator") -> TestResponse:
    return api.post("/api/event-media", role, data={"file": (io.BytesIO(content), name)})


def stored(api: Api) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = api.get("/api/event-media?limit=100").get_json()["items"]
    return items


def left_over(media_root: Path) -> list[str]:
    """Files on the volume other than stored originals."""
    return [str(path) for path in media_root.rglob("*") if path.is_file() and "originals" not in path.parts]


def test_a_file_comes_back_as_it_went(api: Api) -> None:
    answer = upload(api, "../../menu & prices.pdf", PDF)
    media = answer.get_json()["media"]
    content = api.get(f"/api/event-media/{media['id']}/content", buffered=True)

    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/api/event-media/{media['id']}"
    assert (media["filename"], media["kind"], media["bytes"]) == ("menu & prices.pdf", "pdf", len(PDF))
    assert media["sha256"] == hashlib.sha256(PDF).hexdigest()
    assert content.data == PDF
    assert content.headers["X-Content-Type-Options"] == "nosniff"
    assert content.headers["ETag"] == f'"{media["sha256"]}"'
    assert content.headers["Content-Length"] == str(len(PDF))


RANGES = [("bytes=0-3", 206, PDF[:4]), ("bytes=-6", 206, PDF[-6:]), ("bytes=9999-", 416, None), ("lines=1", 200, PDF)]


@pytest.mark.parametrize(("asked", "status", "content"), RANGES)
def test_ranges_are_served(api: Api, asked: str, status: int, content: bytes | None) -> None:
    media = upload(api, "range.pdf", PDF).get_json()["media"]

    answer = api.get(f"/api/event-media/{media['id']}/content", headers={"Range": asked}, buffered=True)

    assert answer.status_code == status
    assert content is None or answer.data == content


def test_a_presentation_gets_a_conversion_that_waits_while_the_queue_is_away(api: Api, tmp_path: Path) -> None:
    decks.make_pptx(tmp_path / "a.pptx", 1)

    answer = upload(api, "a.pptx", (tmp_path / "a.pptx").read_bytes()).get_json()
    status = api.get(f"/api/conversions/{answer['media']['id']}/status").get_json()

    assert (status["status"], status["file_url"], status["attempts"]) == ("pending", None, 0)
    assert status["file_hash"] == answer["media"]["sha256"]
    assert api.post(f"/api/conversions/{answer['media']['id']}/pdf").status_code == 202
    assert answer["media"]["filename"] in [item["filename"] for item in api.get("/api/conversions").get_json()["items"]]


CUT_OFF = [
    b"",
    b"--x\r\n",
    b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.4 but then nothing',
    b'--x\r\nContent-Disposition: form-data; name="note"\r\n\r\nhello\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="other"; filename="a.pdf"\r\n\r\n%PDF-1.4\r\n--x--\r\n',
    b'--x\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n%PDF-1.4\r\n--x--\r\n',
    b"--x\r\nContent-Type: text/plain\r\n\r\nno disposition\r\n--x--\r\n",
]


def test_a_second_file_is_refused_and_the_first_one_not_kept(api: Api, media_root: Path) -> None:
    before = stored(api)
    twice = [(io.BytesIO(PDF), "a.pdf"), (io.BytesIO(PDF), "b.pdf")]

    answer = api.post("/api/event-media", data={"file": twice})

    assert (answer.status_code, answer.get_json()["code"]) == (400, "bad_request")
    assert "One file at a time" in answer.get_json()["detail"]
    assert stored(api) == before
    assert left_over(media_root) == []


def test_other_fields_around_the_file_are_passed_over(api: Api) -> None:
    form = {"before": "x", "file": (io.BytesIO(PDF), "a.pdf"), "description": "y" * 1000}

    assert api.post("/api/event-media", data=form).status_code == 201


def test_lists_are_narrowed_by_kind_and_by_status(api: Api, tmp_path: Path) -> None:
    decks.make_pptx(tmp_path / "a.pptx", 1)
    upload(api, "a.pptx", (tmp_path / "a.pptx").read_bytes())
    upload(api, "a.pdf", PDF)

    kinds = {item["kind"] for item in api.get("/api/event-media?kind=pptx").get_json()["items"]}
    statuses = {item["status"] for item in api.get("/api/conversions?status=pending").get_json()["items"]}

    assert (kinds, statuses) == ({"pptx"}, {"pending"})
    assert api.get("/api/conversions?status=ready").get_json()["items"] == []
    assert api.get("/api/conversions?status=lost").status_code == 400


@pytest.mark.parametrize("body", CUT_OFF)
def test_a_form_that_is_not_whole_is_refused_and_leaves_nothing(api: Api, media_root: Path, body: bytes) -> None:
    before = stored(api)

    answer = api.post("/api/event-media", data=body, content_type="multipart/form-data; boundary=x")

    assert (answer.status_code, answer.get_json()["code"]) == (400, "bad_request")
    assert stored(api) == before
    assert left_over(media_root) == []


def test_a_body_that_is_no_form_is_refused(api: Api) -> None:
    answer = api.post("/api/event-media", data=PDF, content_type="application/pdf")

    assert (answer.status_code, answer.get_json()["code"]) == (415, "unsupported_media_type")


def test_a_file_beyond_the_limit_is_refused_and_leaves_nothing(app: Flask, api: Api, media_root: Path) -> None:
    services = app.extensions["signage"]
    values = dict(services.config.values)
    before = stored(api)
    services.config.values["UPLOAD_LIMIT_BYTES"] = 20
    try:
        answer = upload(api, "large.pdf", PDF)
    finally:
        services.config.values.update(values)

    assert (answer.status_code, answer.get_json()["code"]) == (413, "too_large")
    assert (answer.get_json()["limit_bytes"], "20 bytes" in answer.get_json()["detail"]) == (20, True)
    assert stored(api) == before
    assert left_over(media_root) == []


PATHS = ["aa/none.pdf", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2f..%2fetc/passwd", "aa//x.pdf", "%00"]


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_to_a_file_that_the_database_does_not_name(api: Api, path: str) -> None:
    assert api.get(f"/api/files/converted/{path}").status_code == 404


# --- names of files, as programs write them ---


@pytest.mark.parametrize(
    ("sent", "stored_as"),
    [
        ("Präsentation.pdf".encode(), "Präsentation.pdf"),
        ("Präsentation – 5 €.pdf".encode("cp1252"), "Präsentation – 5 €.pdf"),
        ("資料.pdf".encode("shift_jis"), "Ž‘—¿.pdf"),
        ("発表.pdf".encode("shift_jis"), "unnamed.pdf"),  # its last byte before the dot is a backslash
        (rb"C:\Users\me\deck.pdf", "deck.pdf"),
        (rb"C:\\Users\\me\\deck.pdf", "deck.pdf"),
        (rb"\\server\share\deck.pdf", "deck.pdf"),
        (rb"the \"new\" deck.pdf", 'the "new" deck.pdf'),
        (b"the %22new%22 deck.pdf", 'the "new" deck.pdf'),
        (b"\x01.pdf", "unnamed.pdf"),
        (b".pdf", "unnamed.pdf"),
        (b"x" * 300 + b".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_a_form_may_name_its_file_as_programs_do(api: Api, sent: bytes, stored_as: str) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="' + sent + b'"\r\n\r\n'

    answer = api.post(
        "/api/event-media", data=head + PDF + b"\r\n--x--\r\n", content_type="multipart/form-data; boundary=x"
    )

    assert answer.status_code == 201, answer.text
    assert answer.get_json()["media"]["filename"] == stored_as


@pytest.mark.parametrize(
    ("name", "disposition"),
    [
        ("menu.pdf", "inline; filename=menu.pdf"),
        ("Menü.pdf", "inline; filename=Menu.pdf; filename*=UTF-8''Men%C3%BC.pdf"),
        ("演示.pdf", "inline; filename=unnamed.pdf; filename*=UTF-8''%E6%BC%94%E7%A4%BA.pdf"),
        ("\N{GRINNING FACE} .pdf", "inline; filename=unnamed.pdf; filename*=UTF-8''%F0%9F%98%80%20.pdf"),
        ("計画 2026.pdf", "inline; filename=2026.pdf; filename*=UTF-8''%E8%A8%88%E7%94%BB%202026.pdf"),
    ],
)
def test_a_file_is_sent_with_a_name_for_every_program(api: Api, name: str, disposition: str) -> None:
    media = upload(api, name, PDF).get_json()["media"]

    answer = api.get(f"/api/event-media/{media['id']}/content", buffered=True)

    assert answer.headers["Content-Disposition"] == disposition


# --- conditions (RFC 9110) ---

TAG: Final = f'"{hashlib.sha256(PDF).hexdigest()}"'


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-Match": TAG}, 200),
        ({"If-Match": f'"other", {TAG}'}, 200),
        ({"If-Match": "*"}, 200),
        ({"If-Match": '"other"'}, 412),
        ({"If-Match": f"W/{TAG}"}, 412),
        ({"If-Match": '"other"', "Range": "bytes=0-3"}, 412),
        ({"If-Match": TAG, "If-None-Match": TAG}, 304),
        ({"If-None-Match": f"W/{TAG}"}, 304),
        ({"If-Range": TAG, "Range": "bytes=0-3"}, 206),
        ({"If-Range": f"W/{TAG}", "Range": "bytes=0-3"}, 200),
        ({"If-Range": '"other"', "Range": "bytes=0-3"}, 200),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_condition_is_judged_before_a_byte_is_sent(
    api: Api, method: str, headers: dict[str, str], status: int
) -> None:
    media = upload(api, "conditions.pdf", PDF).get_json()["media"]

    answer = api.ask(method, f"/api/event-media/{media['id']}/content", headers=headers, buffered=True)

    assert answer.status_code == status
    if method == "GET" and status == 412:
        assert answer.get_json()["code"] == "precondition_failed"
    elif method == "GET":
        assert answer.data == {200: PDF, 206: PDF[:4], 304: b""}[status]
