"""Files sent to an address that expires: ours, which speaks as the bucket does, and the bucket's own."""

import hashlib
import os
import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from functions.api.app import create_app
from functions.api.services import Services
from shared.config import Config
from shared.db import database_now, transaction
from shared.event_media.uploads import operations
from shared.event_media.uploads.rules import SIGNED_WAYS
from shared.media_volume.google_v4 import BucketKey
from shared.media_volume.signed_uploads import RESUMABLE, BucketUploads, LocalUploads, PlannedUpload
from shared.tables import audit_log, event_media, uploads
from tests.api.people import Api
from tests.worker import decks

PATH = "/api/event-media/signed-uploads"
FILM = b"\0\0\0\x18ftypisom\0\0\2\0isomiso2" + bytes(range(256)) * 400
KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2048)


def api_with(configuration: Config, engine: Engine, **values: Any) -> Api:
    settings = {**configuration.values, "SIGNING_KEY": secrets.token_hex(32), **values}
    return Api(create_app(Services(Config(settings), engine)), engine)


@pytest.fixture
def signed(configuration: Config, engine: Engine) -> Api:
    """The API with SIGNED_UPLOADS=local."""
    return api_with(configuration, engine, SIGNED_UPLOADS="local")


def plan(api: Api, name: str = "film.mp4", content: bytes = FILM, **fields: Any) -> dict[str, Any]:
    answer = api.post(PATH, json={"filename": name, "bytes": len(content), **fields})
    assert answer.status_code == 201, answer.text
    planned: dict[str, Any] = answer.get_json()
    return planned


def begin(api: Api, planned: dict[str, Any]) -> str:
    """As a client does, without signing in: the session's address."""
    answer = api.ask(planned["method"], planned["url"], None, headers=planned["headers"])
    assert answer.status_code == 201, answer.text
    return str(answer.headers["Location"])


def put(api: Api, session: str, content: bytes, first: int | None = None, total: int = len(FILM)) -> TestResponse:
    said = {} if first is None else {"Content-Range": f"bytes {first}-{first + len(content) - 1}/{total}"}
    return api.ask("PUT", session, None, data=content, headers=said)


def how_far(api: Api, session: str, total: int = len(FILM)) -> TestResponse:
    return api.ask("PUT", session, None, headers={"Content-Range": f"bytes */{total}"})


def complete(api: Api, planned: dict[str, Any]) -> TestResponse:
    return api.post(f"{PATH}/{planned['id']}/complete")


def files_of(planned: dict[str, Any], media_root: Path) -> list[Path]:
    """What lies there of this upload, and of any that is being looked at."""
    folders = (f"uploads/{planned['id']}", "incoming")
    return [path for folder in folders for path in (media_root / folder).rglob("*") if path.is_file()]


def test_a_presentation_sent_whole_becomes_a_medium_with_its_conversion(
    signed: Api, engine: Engine, media_root: Path, tmp_path: Path
) -> None:
    decks.make_pptx(tmp_path / "a.pptx", 1)
    deck = (tmp_path / "a.pptx").read_bytes()
    planned = plan(signed, "a.pptx", deck, sha256=hashlib.sha256(deck).hexdigest())

    sent = put(signed, begin(signed, planned), deck)
    done = complete(signed, planned)

    assert sent.status_code == 200
    assert (done.status_code, done.get_json()["conversion"]["status"]) == (201, "pending")
    media = done.get_json()["media"]
    assert (media["filename"], media["bytes"]) == ("a.pptx", len(deck))
    assert signed.get(f"/api/event-media/{media['id']}/content", buffered=True).data == deck
    assert signed.get(f"{PATH}/{planned['id']}").get_json()["media_id"] == media["id"]
    assert files_of(planned, media_root) == []
    with transaction(engine) as connection:
        actions = connection.execute(sa.select(audit_log.c.action).order_by(audit_log.c.id.desc()).limit(2))
        assert set(actions.scalars()) == {"upload.create", "event_media.upload"}


def test_it_goes_on_where_it_was_cut_off(signed: Api) -> None:
    session = begin(signed, plan(signed))

    nothing = how_far(signed, session)
    first = put(signed, session, FILM[:40_000], 0)
    asked = how_far(signed, session)
    wrong = put(signed, session, FILM[50_000:], 50_000)
    last = put(signed, session, FILM[40_000:], 40_000)

    assert (nothing.status_code, "Range" in nothing.headers) == (308, False)
    assert (first.status_code, first.headers["Range"]) == (308, "bytes=0-39999")
    assert (asked.status_code, asked.headers["Range"]) == (308, "bytes=0-39999")
    assert (wrong.status_code, wrong.get_json()["upload_offset"]) == (409, 40_000)
    assert last.status_code == how_far(signed, session).status_code == 200
    assert put(signed, session, b"again").status_code == 200, "what is whole takes nothing more"


def test_what_is_not_whole_is_not_complete(signed: Api) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM[:1000], 0)

    answer = complete(signed, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (409, "upload_incomplete")
    assert answer.get_json()["received"] == signed.get(f"{PATH}/{planned['id']}").get_json()["received"] == 1000


def test_other_bytes_than_announced_are_refused_and_forgotten(signed: Api, media_root: Path) -> None:
    planned = plan(signed, sha256="ab" * 32)
    put(signed, begin(signed, planned), FILM)

    answer = complete(signed, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (422, "content_differs")
    assert signed.get(f"{PATH}/{planned['id']}").status_code == 404
    assert files_of(planned, media_root) == []


def test_what_is_no_presentation_is_refused_and_forgotten(signed: Api, media_root: Path) -> None:
    planned = plan(signed, "deck.pptx", b"not a deck")
    put(signed, begin(signed, planned), b"not a deck")

    answer = complete(signed, planned)

    assert (answer.status_code, answer.get_json()["code"]) == (422, "not_a_presentation")
    assert files_of(planned, media_root) == []
    assert complete(signed, planned).status_code == 404


def test_completing_twice_and_at_once_makes_one_medium(signed: Api, engine: Engine) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: complete(signed, planned), range(4)))

    statuses = [answer.status_code for answer in answers]
    assert statuses.count(201) == 1
    assert set(statuses) <= {201, 200, 423}
    again = complete(signed, planned)
    assert again.status_code == 200
    with transaction(engine) as connection:
        count = (
            sa.select(sa.func.count())
            .select_from(event_media)
            .where(
                event_media.c.sha256 == hashlib.sha256(FILM).hexdigest(),
                event_media.c.id >= again.get_json()["media"]["id"],
            )
        )
        assert connection.execute(count).scalar_one() == 1


def test_a_completion_that_was_killed_half_way_can_be_asked_for_again_after_its_lease(
    signed: Api, engine: Engine
) -> None:
    planned = plan(signed)
    put(signed, begin(signed, planned), FILM)
    with transaction(engine) as connection:
        operations.take_turn(connection, database_now(connection), planned["id"], None, SIGNED_WAYS)

    held = complete(signed, planned)
    with transaction(engine) as connection:
        over = database_now(connection) - timedelta(seconds=1)
        connection.execute(sa.update(uploads).where(uploads.c.id == planned["id"]).values(writer_until=over))

    assert (held.status_code, held.get_json()["code"]) == (423, "upload_locked")
    assert int(held.headers["Retry-After"]) > 0
    assert complete(signed, planned).status_code == 201


@pytest.mark.parametrize(
    ("content", "said", "status"),
    [
        (FILM + b"x", {}, 413),
        (b"x", {"Content-Range": "bytes 0-0/7"}, 400),
        (b"x", {"Content-Range": "bytes 0/7"}, 400),
        (b"", {"Content-Range": f"bytes */{len(FILM) + 1}"}, 400),
    ],
)
def test_a_body_that_does_not_fit_is_refused(signed: Api, content: bytes, said: dict[str, str], status: int) -> None:
    session = begin(signed, plan(signed))

    assert signed.ask("PUT", session, None, data=content, headers=said).status_code == status
    assert how_far(signed, session).status_code == 308


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"filename": "notes.txt", "bytes": 1}, 415, "unsupported_media_type"),
        ({"filename": "film.mp4", "bytes": 10**12}, 413, "too_large"),
        ({"filename": "film.mp4", "bytes": 0}, 400, "invalid_field"),
        ({"filename": "film.mp4", "bytes": 1, "sha256": "AB"}, 400, "invalid_field"),
    ],
)
def test_a_bad_plan_is_refused_before_a_byte_is_sent(
    signed: Api, fields: dict[str, Any], status: int, code: str
) -> None:
    answer = signed.post(PATH, json=fields)

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)


def test_an_address_opens_its_own_upload_until_it_ends_and_nothing_else(signed: Api, engine: Engine) -> None:
    planned = plan(signed)
    session = begin(signed, planned)
    start_token, session_token = planned["url"].rpartition("/")[2], session.rpartition("/")[2]

    swapped = signed.ask("PUT", f"/api/files/upload-sessions/{start_token}", None, data=FILM)
    other_way = signed.ask("POST", f"/api/files/signed-uploads/{session_token}", None)
    forged = signed.ask("PUT", f"{session[:-2]}AA", None, data=FILM)
    by_tus = signed.ask(
        "HEAD", f"/api/event-media/uploads/{planned['id']}", "viewer", headers={"Tus-Resumable": "1.0.0"}
    )
    assert [answer.status_code for answer in (swapped, other_way, forged, by_tus)] == [404] * 4

    assert signed.delete(f"{PATH}/{planned['id']}", "operator").status_code == 204
    assert put(signed, session, FILM).status_code == 404


def test_what_is_not_finished_in_a_day_is_gone(signed: Api, engine: Engine, media_root: Path) -> None:
    planned = plan(signed)
    session = begin(signed, planned)
    put(signed, session, FILM[:1000], 0)
    assert len(files_of(planned, media_root)) == 1
    with transaction(engine) as connection:
        connection.execute(sa.update(uploads).values(expires_at=database_now(connection) - timedelta(seconds=1)))

    assert [put(signed, session, FILM).status_code, complete(signed, planned).status_code] == [404, 404]
    plan(signed)

    assert files_of(planned, media_root) == []


def test_where_it_is_off_there_are_no_addresses(api: Api) -> None:
    token = LocalUploads(secrets.token_hex(32)).session_url("ab" * 16, datetime.now(UTC) + timedelta(hours=1))

    answer = api.post(PATH, json={"filename": "film.mp4", "bytes": 1})

    assert (answer.status_code, answer.get_json()["code"]) == (409, "signed_uploads_off")
    assert api.ask("PUT", token, None, data=b"x").status_code == 404


@pytest.fixture
def bucket(configuration: Config, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Api:
    """The API with SIGNED_UPLOADS=bucket and a key of our own instead of the service account's."""
    key = BucketKey("media", "api@project.iam", lambda said: KEY.sign(said, padding.PKCS1v15(), hashes.SHA256()))
    monkeypatch.setattr("shared.media_volume.google_v4.of_this_service", lambda _bucket: key)
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
