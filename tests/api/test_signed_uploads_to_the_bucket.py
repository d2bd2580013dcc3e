"""Files sent to an address of the bucket that expires: past us, and looked at when they are there."""

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from sqlalchemy import Engine

from shared.config import Config
from shared.outside.media_volume.google_v4 import BucketKey
from shared.outside.media_volume.signed_uploads import RESUMABLE, BucketUploads, PlannedUpload
from tests.api.people import Api
from tests.api.signed_sender import FILM, api_with, complete, files_of, plan

KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2048)


@pytest.fixture
def bucket(configuration: Config, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The API with SIGNED_UPLOADS=bucket and a key of our own instead of the service account's."""
    key = BucketKey("media", "api@project.iam", lambda said: KEY.sign(said, padding.PKCS1v15(), hashes.SHA256()))
    monkeypatch.setattr("shared.outside.media_volume.google_v4.of_this_service", lambda _bucket: key)
    return api_with(configuration, engine, SIGNED_UPLOADS="bucket", MEDIA_BUCKET="media")


def object_of(planned: dict[str, Any], media_root: Path) -> Path:
    """Where the bucket's mount shows what was sent to the address."""
    path: str = urlsplit(planned["url"]).path
    return media_root / path.removeprefix("/media/")


def test_the_bucket_is_sent_to_past_us_and_what_it_holds_is_looked_at(bucket: Api, media_root: Path) -> None:
    planned = plan(bucket, sha256=hashlib.sha256(FILM).hexdigest())
    assert planned["received"] is None
    early = complete(bucket, planned)
    there = object_of(planned, media_root)
    there.parent.mkdir(parents=True)
    there.write_bytes(FILM)

    done = complete(bucket, planned)

    assert (early.status_code, early.get_json()["code"]) == (409, "upload_incomplete")
    assert done.status_code == 201
    media = done.get_json()["media"]
    assert bucket.get(f"/api/event-media/{media['id']}/content", buffered=True).data == FILM
    assert files_of(planned, media_root) == []
    there.parent.mkdir(parents=True)
    there.write_bytes(os.urandom(100))  # the address may still be good; what was looked at stays as it is
    assert bucket.get(f"/api/event-media/{media['id']}/content", buffered=True).data == FILM


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (FILM[:-1], 409, "upload_incomplete"),
        (FILM + b"x", 413, "too_large"),
        (b"x" * len(FILM), 422, "content_differs"),
    ],
)
def test_what_the_bucket_holds_must_be_what_was_announced(
    bucket: Api, media_root: Path, content: bytes, status: int, code: str
) -> None:
    planned = plan(
        bucket, "film.mp4" if code != "content_differs" else "film.webm", sha256=hashlib.sha256(FILM).hexdigest()
    )
    there = object_of(planned, media_root)
    there.parent.mkdir(parents=True)
    there.write_bytes(content if code != "content_differs" else b"\x1a\x45\xdf\xa3webm" + bytes(len(FILM) - 8))

    answer = complete(bucket, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)
    assert files_of(planned, media_root) == ([there] if status == 409 else [])


def test_the_buckets_address_begins_one_upload_of_so_many_bytes_and_is_signed_over_all_that_it_says() -> None:
    said: list[bytes] = []

    def sign(raw: bytes) -> bytes:
        said.append(raw)
        return b"\1\2"

    key = BucketKey("media", "api@project.iam", sign)
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    found = BucketUploads(key).address(PlannedUpload("ab" * 16, "uploads/x/0-y", 7, now + timedelta(days=1)), now)

    parts = urlsplit(found.url)
    query, _, signature = parts.query.partition("&X-Goog-Signature=")
    lines = "host:storage.googleapis.com\nx-goog-content-length-range:7,7\nx-goog-resumable:start\n"
    names = "host;x-goog-content-length-range;x-goog-resumable"
    request = f"POST\n/media/uploads/x/0-y\n{query}\n{lines}\n{names}\nUNSIGNED-PAYLOAD"
    assert (found.method, found.headers) == ("POST", {**RESUMABLE, "x-goog-content-length-range": "7,7"})
    assert (parts.netloc, parts.path) == ("storage.googleapis.com", "/media/uploads/x/0-y")
    assert parse_qs(query)["X-Goog-SignedHeaders"] == [names]
    assert said[0].decode().endswith(hashlib.sha256(request.encode()).hexdigest())
    assert signature == "0102"
