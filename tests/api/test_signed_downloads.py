"""Large files by an address of their own that expires: our signer for one machine, and the bucket's."""

import hashlib
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from sqlalchemy import Engine

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import Config
from shared.errors import LinkInvalid
from shared.outside.media_volume.google_v4 import BucketKey
from shared.outside.media_volume.signing import LARGE_BYTES, LIFETIME, BucketSigner, LocalSigner, SignedFile
from tests.api.people import Api
from tests.worker.hostile_pdfs import PDF

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FILE = SignedFile("converted/ab/" + "ab" * 32 + ".pdf", "application/pdf", 'inline; filename="menu & prices.pdf"')


def token_of(url: str) -> str:
    return url.rpartition("/")[2]


def test_a_link_opens_what_it_was_made_for_until_it_expires() -> None:
    signer = LocalSigner("a key of this test")
    url = signer.download_url(FILE, NOW)

    assert signer.open(token_of(url), NOW + LIFETIME) == FILE
    with pytest.raises(LinkInvalid):
        signer.open(token_of(url), NOW + LIFETIME + timedelta(seconds=1))


def test_a_link_that_was_changed_or_made_with_another_key_opens_nothing() -> None:
    signer = LocalSigner("a key of this test")
    good = token_of(signer.download_url(FILE, NOW))
    said, _, mac = good.partition(".")
    other = token_of(LocalSigner("another key").download_url(FILE, NOW))
    longer = token_of(signer.download_url(SignedFile(FILE.path, FILE.content_type, "x" * 3000), NOW))

    for bad in (
        "",
        ".",
        said,
        f"{said}.",
        f"{said[:-2]}AA.{mac}",
        f"{said}.{mac[:-2]}AA",
        other,
        longer,
        "ä.ö",
        "%%.%%",
    ):
        with pytest.raises(LinkInvalid):
            signer.open(bad, NOW)


def test_an_address_of_the_bucket_is_signed_over_all_that_it_says() -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    signed: list[bytes] = []

    def sign(said: bytes) -> bytes:
        signed.append(said)
        return key.sign(said, padding.PKCS1v15(), hashes.SHA256())

    url = BucketSigner(BucketKey("media-bucket", "api@project.iam", sign)).download_url(FILE, NOW)

    parts = urlsplit(url)
    query, _, signature = parts.query.partition("&X-Goog-Signature=")
    asked = {name: values[0] for name, values in parse_qs(query).items()}
    request = f"GET\n{parts.path}\n{query}\nhost:storage.googleapis.com\n\nhost\nUNSIGNED-PAYLOAD"
    digest = hashlib.sha256(request.encode()).hexdigest()
    said = f"GOOG4-RSA-SHA256\n20260301T120000Z\n20260301/auto/storage/goog4_request\n{digest}"
    assert (parts.netloc, parts.path) == ("storage.googleapis.com", f"/media-bucket/{FILE.path}")
    assert asked["X-Goog-Credential"] == "api@project.iam/20260301/auto/storage/goog4_request"
    assert (asked["X-Goog-Expires"], asked["X-Goog-SignedHeaders"]) == ("900", "host")
    assert asked["response-content-disposition"] == FILE.disposition
    assert [name for name, _, _ in (pair.partition("=") for pair in query.split("&"))] == sorted(asked)
    assert signed == [said.encode()]
    key.public_key().verify(bytes.fromhex(signature), said.encode(), padding.PKCS1v15(), hashes.SHA256())
    with pytest.raises(InvalidSignature):
        key.public_key().verify(bytes.fromhex(signature), b"another", padding.PKCS1v15(), hashes.SHA256())


@pytest.fixture
def signing_api(configuration: Config, engine: Engine) -> Api:
    """The API with SIGNED_DOWNLOADS=local."""
    values = {**configuration.values, "SIGNED_DOWNLOADS": "local", "SIGNING_KEY": "a key of this test"}
    app = create_app(Services(Config(values), engine))
    return Api(app, engine)


def upload(api: Api, content: bytes) -> Any:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="menu.pdf"\r\n\r\n'
    answer = api.post(
        "/api/event-media", data=head + content + b"\r\n--x--\r\n", content_type="multipart/form-data; boundary=x"
    )
    return answer.get_json()["media"]


def test_a_large_file_is_redirected_to_an_address_that_needs_no_sign_in(signing_api: Api, media_root: Path) -> None:
    large = PDF + os.urandom(LARGE_BYTES) + b"\n%%EOF\n"
    media = upload(signing_api, large)

    answer = signing_api.get(f"/api/event-media/{media['id']}/content")
    there = signing_api.ask("GET", answer.headers["Location"], None, buffered=True)
    part = signing_api.ask("GET", answer.headers["Location"], None, headers={"Range": "bytes=5-9"}, buffered=True)

    assert (answer.status_code, answer.headers["Cache-Control"]) == (307, "no-store")
    assert (there.status_code, there.headers["Content-Type"]) == (200, "application/pdf")
    assert "menu.pdf" in there.headers["Content-Disposition"]
    assert there.data == large
    assert (part.status_code, part.data) == (206, large[5:10])
    assert signing_api.get(f"/api/event-media/{media['id']}/content", role=None).status_code == 401


def test_a_small_file_and_what_has_not_changed_are_answered_at_once(signing_api: Api) -> None:
    media = upload(signing_api, PDF)
    path = f"/api/event-media/{media['id']}/content"

    assert signing_api.get(path, buffered=True).data == PDF
    assert signing_api.get(path, headers={"If-None-Match": f'"{media["sha256"]}"'}, buffered=True).status_code == 304


def test_where_nothing_is_signed_no_link_opens_anything(api: Api) -> None:
    link = LocalSigner("a key of this test").download_url(FILE, datetime.now(UTC))

    answer = api.ask("GET", link, None)

    assert (answer.status_code, answer.get_json()["code"]) == (404, "link_invalid")
