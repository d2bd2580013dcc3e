"""Resumable uploads, by a third-party tus client and by handwritten requests."""

import base64
import hashlib
import io
import os
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError
from werkzeug.test import TestResponse

from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import wait_until
from shared.event_media.uploads import operations, rules
from shared.outside.media_volume import MediaVolume
from shared.postgres.door import database_now, transaction
from shared.tables import event_media, uploads
from shared.vocabulary import Role
from tests import migrated
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.people import Api, issue_token
from tests.worker import decks

PATH = "/api/event-media/uploads"
TUS = {"Tus-Resumable": "1.0.0"}
FILM = b"\0\0\0\x18ftypisom\0\0\2\0isomiso2" + bytes(range(256)) * 400


def create(api: Api, name: str = "film.mp4", size: int = len(FILM), **headers: Any) -> TestResponse:
    metadata = f"filetype dmlkZW8=, filename {base64.b64encode(name.encode()).decode()}"
    return api.post(PATH, headers={**TUS, "Upload-Length": str(size), "Upload-Metadata": metadata, **headers})


def send(api: Api, place: str, offset: int, content: bytes, **headers: str) -> TestResponse:
    sent = {**TUS, "Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream", **headers}
    return api.patch(place, headers=sent, data=content)


def send_slowly(api: Api, place: str, body: "Turnstile") -> TestResponse:
    sent = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    return api.patch(place, headers=sent, input_stream=body)


def offset_of(api: Api, place: str) -> int:
    return int(api.ask("HEAD", place, "viewer", headers=TUS).headers["Upload-Offset"])


def parts_of(media_root: Path) -> list[str]:
    return [str(path) for path in (media_root / "uploads").rglob("*") if path.is_file()]


def test_a_file_in_three_parts_is_a_medium_when_the_last_byte_has_come(api: Api, media_root: Path) -> None:
    made = create(api)
    place = made.headers["Location"]

    answers = [send(api, place, at, FILM[at : at + 40_000]) for at in range(0, len(FILM), 40_000)]

    assert (made.status_code, made.headers["Tus-Resumable"]) == (201, "1.0.0")
    ends = {parsedate_to_datetime(answer.headers["Upload-Expires"]) for answer in (made, *answers)}
    assert [round((end - datetime.now(UTC)) / timedelta(hours=1)) for end in ends] == [24]
    assert [answer.status_code for answer in answers] == [204] * 3
    assert [answer.headers["Upload-Offset"] for answer in answers] == ["40000", "80000", str(len(FILM))]
    state = api.get(place).get_json()
    media = api.get(f"/api/event-media/{state['media_id']}").get_json()
    assert (media["filename"], media["bytes"]) == ("film.mp4", len(FILM))
    assert media["sha256"] == hashlib.sha256(FILM).hexdigest()
    assert answers[-1].headers["Upload-Media-Id"] == str(media["id"])
    assert parts_of(media_root) == []


def test_a_presentation_in_parts_gets_its_conversion(api: Api, tmp_path: Path) -> None:
    decks.make_pptx(tmp_path / "a.pptx", 1)
    deck = (tmp_path / "a.pptx").read_bytes()
    place = create(api, "a.pptx", len(deck)).headers["Location"]

    send(api, place, 0, deck)

    media_id = api.get(place).get_json()["media_id"]
    assert api.get(f"/api/conversions/{media_id}/status").get_json()["status"] == "pending"


def test_what_cannot_become_a_medium_is_refused_when_it_is_whole_and_forgotten(api: Api, media_root: Path) -> None:
    place = create(api, "deck.pptx", 10).headers["Location"]

    answer = send(api, place, 0, b"not a deck")

    assert (answer.status_code, answer.get_json()["code"]) == (422, "not_a_presentation")
    assert api.get(place).status_code == 404
    assert parts_of(media_root) == []


CREATIONS: list[tuple[dict[str, str], int, str]] = [
    ({"Tus-Resumable": "0.2.2"}, 412, "protocol_unknown"),
    ({"Upload-Length": "ten"}, 400, "invalid_field"),
    ({"Upload-Length": "-1"}, 400, "invalid_field"),
    ({"Upload-Length": "0"}, 400, "invalid_field"),
    ({"Upload-Length": "9" * 17}, 413, "too_large"),
    ({"Upload-Metadata": ""}, 400, "bad_request"),
    ({"Upload-Metadata": "filename !!"}, 400, "bad_request"),
    ({"Upload-Metadata": "filename bm90ZXMudHh0"}, 415, "unsupported_media_type"),
]


@pytest.mark.parametrize(("headers", "status", "code"), CREATIONS)
def test_a_bad_announcement_is_refused_before_a_byte_is_sent(
    api: Api, headers: dict[str, Any], status: int, code: str
) -> None:
    answer = create(api, **headers)

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)
    assert answer.headers["Tus-Resumable"] == "1.0.0"
    assert status != 412 or answer.headers["Tus-Version"] == "1.0.0"


PARTS: list[tuple[dict[str, str], bytes, int, str]] = [
    ({"Tus-Resumable": ""}, b"x", 412, "protocol_unknown"),
    ({"Content-Type": "application/octet-stream"}, b"x", 415, "unsupported_media_type"),
    ({"Upload-Offset": ""}, b"x", 400, "invalid_field"),
    ({"Upload-Offset": "1"}, b"x", 409, "upload_offset_conflict"),
    ({}, FILM + b"x", 413, "too_large"),
]


@pytest.mark.parametrize(("headers", "content", "status", "code"), PARTS)
def test_a_bad_part_is_refused_and_changes_nothing(
    api: Api, headers: dict[str, str], content: bytes, status: int, code: str
) -> None:
    place = create(api).headers["Location"]

    answer = send(api, place, 0, content, **headers)

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)
    assert offset_of(api, place) == 0
    assert send(api, place, 0, FILM).status_code == 204


def test_the_server_says_what_it_speaks(api: Api, app: Flask) -> None:
    answer = app.test_client().options(PATH)

    assert answer.status_code == 200
    assert answer.headers["Tus-Version"] == "1.0.0"
    assert answer.headers["Tus-Extension"] == "creation,termination,expiration"
    assert int(answer.headers["Tus-Max-Size"]) == 200_000_000


def test_a_request_may_name_the_method_that_it_means(api: Api) -> None:
    place = create(api).headers["Location"]
    part = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}

    sent = api.post(place, headers={**part, "X-HTTP-Method-Override": "PATCH"}, data=FILM[:1000])
    not_allowed = api.post(place, "viewer", headers={**TUS, "X-HTTP-Method-Override": "DELETE"})
    ended = api.post(place, headers={**TUS, "X-HTTP-Method-Override": "DELETE"})

    assert (sent.status_code, sent.headers["Upload-Offset"]) == (204, "1000")
    assert not_allowed.status_code == 403, "the role that the method meant asks for"
    assert ended.status_code == 204
    assert api.get(place).status_code == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD"])
@pytest.mark.parametrize("meant", ["PATCH", "HEAD"])
def test_what_is_no_post_means_itself(api: Api, method: str, meant: str) -> None:
    """The gateway limits bodies by the real method, so X-HTTP-Method-Override may only replace POST."""
    place = create(api).headers["Location"]
    headers = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}

    answer = api.ask(method, place, "viewer", headers={**headers, "X-HTTP-Method-Override": meant}, data=FILM[:1000])

    assert answer.status_code == {"GET": 200, "HEAD": 200, "PUT": 405, "DELETE": 403}[method]
    assert bool(answer.data) == (method != "HEAD")
    assert offset_of(api, place) == 0


def test_a_post_cannot_mean_head(api: Api) -> None:
    answer = api.post("/api/event-media/uploads/x", role=None, headers={**TUS, "X-HTTP-Method-Override": "HEAD"})

    assert answer.status_code == 405
    assert len(answer.data) == int(answer.headers["Content-Length"]) > 0


def test_another_method_is_named_below_the_address_of_uploads_alone(api: Api) -> None:
    answer = api.ask("GET", "/api/event-media", "viewer", headers={"X-HTTP-Method-Override": "DELETE"})

    assert answer.status_code == 200


def test_an_ended_upload_is_gone_with_its_parts(api: Api, media_root: Path) -> None:
    place = create(api).headers["Location"]
    send(api, place, 0, FILM[:1000])
    assert len(parts_of(media_root)) == 1

    assert api.delete(place, "operator", headers=TUS).status_code == 204

    assert parts_of(media_root) == []
    assert api.get(place).status_code == 404
    assert api.delete(place, "operator", headers=TUS).status_code == 404
    assert send(api, place, 1000, b"x").status_code == 404


def test_an_upload_unfinished_for_a_day_is_gone_and_its_parts_go_with_the_next(
    api: Api, engine: Engine, media_root: Path
) -> None:
    place = create(api).headers["Location"]
    send(api, place, 0, FILM[:1000])
    with transaction(engine) as connection:
        connection.execute(sa.update(uploads).values(expires_at=database_now(connection) - timedelta(seconds=1)))

    assert api.get(place).status_code == 404
    create(api)

    assert parts_of(media_root) == []


class Turnstile(io.RawIOBase):
    """A body that stops in the middle until the test lets it continue."""

    def __init__(self, content: bytes) -> None:
        self.halfway, self.go_on = threading.Event(), threading.Event()
        self._content, self._at = content, 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """The test client measures a body by this method."""
        self._at = offset + (len(self._content) if whence == 2 else 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any) -> int:
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def read(self, size: int = -1) -> bytes:
        if self._at >= len(self._content) // 2 and not self.halfway.is_set():
            self.halfway.set()
            assert self.go_on.wait(60)
        block = self._content[self._at : self._at + min(size, 1000)]
        self._at += len(block)
        return block


def test_a_request_that_goes_on_takes_the_turn_of_one_whose_connection_may_be_gone(api: Api, media_root: Path) -> None:
    place = create(api).headers["Location"]
    slow = Turnstile(b"\0" * len(FILM))
    with ThreadPoolExecutor(1) as pool:
        sending = pool.submit(send_slowly, api, place, slow)
        assert slow.halfway.wait(60)
        assert send(api, place, offset_of(api, place), FILM).status_code == 204
        slow.go_on.set()

        late = sending.result()
    assert (late.status_code, late.get_json()["code"]) == (423, "upload_locked")
    media_id = api.get(place).get_json()["media_id"]
    assert api.get(f"/api/event-media/{media_id}/content", buffered=True).data == FILM
    assert list((media_root / "incoming").iterdir()) == []


def test_whoever_sends_or_ends_an_upload_waits_while_it_becomes_one_file(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, answers = create(api).headers["Location"], []
    assemble = operations.assemble

    def others_come(*arguments: Any) -> Any:
        answers.extend([send(api, place, 0, FILM), api.delete(place, "operator", headers=TUS)])
        return assemble(*arguments)

    monkeypatch.setattr(operations, "assemble", others_come)
    assert send(api, place, 0, FILM).status_code == 204

    assert len(answers) == 2
    for answer in answers:
        assert (answer.status_code, answer.get_json()["code"]) == (423, "upload_locked")
        assert 0 < int(answer.headers["Retry-After"]) <= rules.ASSEMBLY.total_seconds()
    media_id = api.get(place).get_json()["media_id"]
    assert api.get(f"/api/event-media/{media_id}/content", buffered=True).data == FILM


def expire_turns(engine: Engine) -> None:
    """Let the leases of uploads expire."""
    with transaction(engine) as connection:
        connection.execute(sa.update(uploads).values(writer_until=database_now(connection)))


def test_who_is_killed_before_the_last_commit_leaves_an_upload_to_be_finished(
    api: Api, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = create(api).headers["Location"]
    send(api, place, 0, FILM[:1000])

    def die(*_arguments: Any, **_keywords: Any) -> None:
        raise SystemExit

    for step in ("hold", "assemble", "complete"):
        with monkeypatch.context() as patched:
            patched.setattr(operations, step, die)
            with pytest.raises(SystemExit):
                send(api, place, 1000, FILM[1000:])
        expire_turns(engine)
        assert offset_of(api, place) == 1000

    assert send(api, place, 1000, FILM[1000:]).status_code == 204
    with transaction(engine) as connection:
        found = sa.select(sa.func.count()).where(event_media.c.id == api.get(place).get_json()["media_id"])
        assert connection.execute(found).scalar_one() == 1


@pytest.mark.parametrize("kept", [None, 999], ids=["none of it", "all but a byte"])
def test_a_file_of_which_the_volume_lost_bytes_becomes_no_medium(api: Api, media_root: Path, kept: int | None) -> None:
    place = create(api).headers["Location"]
    send(api, place, 0, FILM[:1000])
    (part,) = (media_root / "uploads" / place.rpartition("/")[2]).iterdir()
    if kept is None:
        part.unlink()
    else:
        os.truncate(part, kept)

    answer = send(api, place, 1000, FILM[1000:])

    assert (answer.status_code, answer.get_json()["code"]) == (507, "volume_unavailable")
    assert api.get(place).get_json()["media_id"] is None
    assert list((media_root / "incoming").iterdir()) == []


@pytest.fixture(scope="module")
def environment(database_url: str, media_root: Path) -> dict[str, str]:
    return {
        **ENVIRONMENT,
        "DATABASE_URL": migrated.address_for("api", database_url),
        "MEDIA_ROOT": str(media_root),
        "THREADS": "8",
    }


@pytest.fixture(scope="module")
def serving(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionProcess]:
    with function_process("functions/api/main.py", environment, tmp_path_factory.mktemp("function")) as running:
        yield running


def foreign_client(process: FunctionProcess, token: str) -> TusClient:
    return TusClient(process.url + PATH, headers={"Authorization": f"Bearer {token}"})


def test_a_foreign_client_uploads_in_chunks_and_survives_a_killed_function(
    environment: dict[str, str], engine: Engine, api: Api, tmp_path: Path
) -> None:
    film = FILM + os.urandom(1_500_000)
    token = issue_token(engine, Role.OPERATOR)
    with function_process("functions/api/main.py", environment, tmp_path) as doomed:
        client = foreign_client(doomed, token)
        uploader = client.uploader(file_stream=io.BytesIO(film), chunk_size=300_000, metadata={"filename": "film.mp4"})
        uploader.upload(stop_at=600_000)
        os.kill(doomed.pid, signal.SIGKILL)
        wait_until(lambda: not accepts_connections(doomed.port), 60)
    place = str(uploader.url).partition(str(doomed.port))[2]
    with function_process("functions/api/main.py", environment, tmp_path) as other:
        again = foreign_client(other, token).uploader(
            file_stream=io.BytesIO(film), chunk_size=300_000, url=other.url + place
        )
        resumed_at = again.get_offset()
        again.upload()

    media_id = api.get(place).get_json()["media_id"]
    assert resumed_at >= 600_000
    assert api.get(f"/api/event-media/{media_id}/content", buffered=True).data == film


def accepts_connections(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), 1).close()
    except OSError:
        return False
    return True


def test_what_came_before_the_connection_broke_is_kept(
    serving: FunctionProcess, engine: Engine, api: Api, tmp_path: Path
) -> None:
    film = FILM + os.urandom(900_000)
    token = issue_token(engine, Role.OPERATOR)
    uploader = foreign_client(serving, token).uploader(
        file_stream=io.BytesIO(film), chunk_size=len(film), metadata={"filename": "film.mp4"}
    )
    uploader.set_url(uploader.create_url())
    place = str(uploader.url).partition(str(serving.port))[2]
    head = (
        f"PATCH {place} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nTus-Resumable: 1.0.0\r\n"
        f"Upload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: {len(film)}\r\n\r\n"
    )
    with socket.create_connection((LOOPBACK, serving.port), 10) as cut:
        cut.sendall(head.encode() + film[:500_000])
    wait_until(lambda: offset_of(api, place) > 0, 60)
    kept = offset_of(api, place)

    uploader.offset = kept
    uploader.upload()

    assert 400_000 < kept <= 500_000
    media_id = api.get(place).get_json()["media_id"]
    assert api.get(f"/api/event-media/{media_id}/content", buffered=True).data == film


def test_a_foreign_client_hears_of_a_file_that_is_too_large_or_not_accepted(
    serving: FunctionProcess, engine: Engine, tmp_path: Path
) -> None:
    client = foreign_client(serving, issue_token(engine, Role.OPERATOR))
    large = bytes(int(ENVIRONMENT["UPLOAD_LIMIT_BYTES"]) + 1)
    for name, content in (("notes.txt", b"notes"), ("large.mp4", large)):
        uploader = client.uploader(file_stream=io.BytesIO(content), metadata={"filename": name})
        with pytest.raises(TusCommunicationError):
            uploader.create_url()


def test_an_upload_that_is_open_keeps_its_parts_at_a_sweep(engine: Engine, api: Api, media_root: Path) -> None:
    from shared.event_media.leftovers_operations import sweep  # noqa: PLC0415

    place = create(api).headers["Location"]
    send(api, place, 0, FILM[:1000])
    mine = place.rpartition("/")[2]
    for part in (media_root / "uploads" / mine).iterdir():
        os.utime(part, (0, 0))

    left = [one.file.path for one in sweep(engine, MediaVolume(media_root), remove=True)]

    assert not [path for path in left if mine in path]
    assert send(api, place, 1000, FILM[1000:]).status_code == 204
