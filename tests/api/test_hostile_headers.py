"""Arbitrary headers to each kind of route are refused or ignored, and never cause a 5xx or an undocumented status."""

import io
import uuid
from itertools import product
from typing import Final

import pytest

from tests.api.people import Api
from tests.worker.hostile_pdfs import PDF

HEADERS: Final = (
    *("Origin", "Host", "Cookie", "Authorization", "Content-Type", "Range", "If-Range", "If-Match", "If-None-Match"),
    *("If-Modified-Since", "Content-Range", "X-Request-Id", "X-HTTP-Method-Override", "traceparent"),
)
VALUES: Final = (
    *("", "*", "-1", ";;;=", '"', 'W/"', "\xff", "a" * 5000, "http://[", "http://a:b:c", "bytes=5-1", "bytes=0-0,1-1"),
    *("multipart/form-data; boundary=", "Bearer \xff", "signage_session=\xff", '"0001-01-01T00:00:00+23:59"', "PATCH"),
)


@pytest.fixture(scope="module")
def asked(api: Api) -> list[tuple[str, str]]:
    """A request for each kind of route: lists, files, changes, uploads, public routes."""
    media = api.post("/api/event-media", data={"file": (io.BytesIO(PDF), "a.pdf")}).json
    client = str(uuid.uuid4())
    assert media is not None
    assert api.post(f"/api/clients/{client}/enrolment", "admin").status_code == 201
    return [
        ("GET", "/api/clients"),
        ("GET", f"/api/event-media/{media['media']['id']}/content"),
        ("POST", f"/api/clients/{client}/clear_service_failed"),
        ("POST", "/api/event-media"),
        ("POST", "/api/event-media/uploads"),
        ("POST", "/api/session"),
        ("PATCH", "/api/event-media/uploads/none"),
    ]


@pytest.mark.parametrize("header", HEADERS)
def test_no_content_of_a_header_ends_in_an_error_of_ours(api: Api, asked: list[tuple[str, str]], header: str) -> None:
    for (method, path), value in product(asked, VALUES):
        role = None if header == "Authorization" else "admin"

        with api.ask(method, path, role, headers={header: value}) as answer:  # the document must list the status
            assert answer.status_code < 500, (method, path, value)
