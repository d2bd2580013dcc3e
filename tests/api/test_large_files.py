"""Files larger than one answer of Cloud Run, from a real function process in mode `cloud` and in mode `local`."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from sqlalchemy import Engine

from functions.api.files import CLOUD_MOST_BYTES
from shared.vocabulary import Role
from tests import migrated
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.people import issue_token
from tests.rules.test_deployment import CLOUD

MP4 = b"\0\0\0\x18ftypisom\0\0\2\0isomiso2"
LARGE = MP4 + os.urandom(41_000_000)
JUST_SMALL = MP4 + os.urandom(CLOUD_MOST_BYTES - len(MP4))


@dataclass(frozen=True)
class Served:
    """A stored file and the process that serves it."""

    function: FunctionProcess
    token: str
    path: str

    def ask(self, method: str = "GET", **headers: str) -> requests.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        allowed = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "identity"}
        return requests.request(method, self.function.url + self.path, headers={**allowed, **named}, timeout=60)

    def raw(self) -> tuple[bytes, bytes]:
        """The head and the body of the answer to GET, as sent on the wire."""
        lines = (
            f"GET {self.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\nConnection: close\r\n\r\n"
        )
        head, _, body = self.function.raw(lines.encode()).partition(b"\r\n\r\n")
        return head.lower(), body


def serve(mode: dict[str, str], database_url: str, engine: Engine, media: Path, folder: Path) -> Iterator[Served]:
    """A function process in this mode, with the file LARGE."""
    environment = {
        **ENVIRONMENT,
        **mode,
        "DATABASE_URL": migrated.address_for("api", database_url),
        "MEDIA_ROOT": str(media),
        "UPLOAD_LIMIT_BYTES": "50000000",
    }
    with function_process("functions/api/main.py", environment, folder) as running:
        token = issue_token(engine, Role.OPERATOR)
        yield stored(running, token, LARGE)


def stored(function: FunctionProcess, token: str, content: bytes) -> Served:
    headers = {"Authorization": f"Bearer {token}"}
    files = {"file": ("film.mp4", content)}
    answer = requests.post(f"{function.url}/api/event-media", files=files, headers=headers, timeout=60)
    assert answer.status_code == 201, answer.text
    return Served(function, token, f"/api/event-media/{answer.json()['media']['id']}/content")


@pytest.fixture(scope="module")
def cloud(
    database_url: str, engine: Engine, media_root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    yield from serve(CLOUD, database_url, engine, media_root, tmp_path_factory.mktemp("cloud"))


def dechunked(body: bytes) -> bytes:
    """The content of a chunked body; fails if the last chunk is missing."""
    content, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end], 16)
        content.append(body[end + 2 : end + 2 + size])
        assert body[end + 2 + size : end + 4 + size] == b"\r\n"
        at = end + 4 + size
        if size == 0:
            assert at == len(body)
            return b"".join(content)


def test_a_large_file_is_sent_whole_in_chunks(cloud: Served) -> None:
    head, body = cloud.raw()

    assert head.startswith(b"http/1.1 200 ")
    assert b"\r\ntransfer-encoding: chunked" in head
    assert b"content-length" not in head
    assert dechunked(body) == LARGE


def test_a_player_that_asks_for_everything_gets_it_piece_by_piece(cloud: Served) -> None:
    first = cloud.ask(Range="bytes=0-")
    rest = cloud.ask(Range=f"bytes={len(first.content)}-")

    assert (first.status_code, rest.status_code) == (206, 206)
    assert first.headers["Content-Range"] == f"bytes 0-{CLOUD_MOST_BYTES - 1}/{len(LARGE)}"
    assert first.headers["Content-Length"] == str(CLOUD_MOST_BYTES)
    assert rest.headers["Content-Range"] == f"bytes {CLOUD_MOST_BYTES}-{len(LARGE) - 1}/{len(LARGE)}"
    assert first.content + rest.content == LARGE


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        (f"bytes=7-{len(LARGE) - 1}", 7, 7 + CLOUD_MOST_BYTES - 1),
        (f"bytes=-{CLOUD_MOST_BYTES + 1}", len(LARGE) - CLOUD_MOST_BYTES - 1, len(LARGE) - 2),
        (f"bytes=7-{CLOUD_MOST_BYTES + 6}", 7, CLOUD_MOST_BYTES + 6),  # as long as allowed
        ("bytes=-5", len(LARGE) - 5, len(LARGE) - 1),
        ("bytes=3-9", 3, 9),
    ],
)
def test_a_range_is_answered_from_its_beginning_on(cloud: Served, asked: str, first: int, last: int) -> None:
    answer = cloud.ask(Range=asked)

    assert (answer.status_code, answer.headers["Content-Range"]) == (206, f"bytes {first}-{last}/{len(LARGE)}")
    assert answer.content == LARGE[first : last + 1]


def test_a_range_behind_the_end_is_refused(cloud: Served) -> None:
    answer = cloud.ask(Range=f"bytes={len(LARGE)}-")

    assert (answer.status_code, answer.headers["Content-Range"]) == (416, f"bytes */{len(LARGE)}")


def test_what_one_has_already_is_not_sent_again(cloud: Served) -> None:
    whole = cloud.ask("HEAD")
    etag = whole.headers["ETag"]

    assert (whole.status_code, whole.headers["Content-Length"], whole.content) == (200, str(len(LARGE)), b"")
    assert "Transfer-Encoding" not in whole.headers
    assert cloud.ask(If_None_Match=etag).status_code == 304
    assert cloud.ask(If_None_Match=etag, Range="bytes=0-").status_code == 304
    going_on = cloud.ask(If_Range=etag, Range="bytes=1-")
    assert (going_on.status_code, going_on.content) == (206, LARGE[1 : CLOUD_MOST_BYTES + 1])
    changed = cloud.ask(If_Range='"another"', Range="bytes=1-")
    assert (changed.status_code, changed.headers["Transfer-Encoding"]) == (200, "chunked")
    assert changed.content == LARGE


def test_a_file_that_is_not_too_large_says_how_long_it_is(cloud: Served) -> None:
    small = stored(cloud.function, cloud.token, JUST_SMALL)

    head, body = small.raw()

    assert f"\r\ncontent-length: {CLOUD_MOST_BYTES}".encode() in head
    assert b"transfer-encoding" not in head
    assert body == JUST_SMALL


def test_on_one_machine_nothing_is_cut(database_url: str, engine: Engine, media_root: Path, tmp_path: Path) -> None:
    for local in serve({}, database_url, engine, media_root, tmp_path):
        head, body = local.raw()
        part = local.ask(Range="bytes=1-")

        assert f"\r\ncontent-length: {len(LARGE)}".encode() in head
        assert body == LARGE
        assert (part.status_code, part.content) == (206, LARGE[1:])
