"""Requests to Google's metadata server and Secret Manager, with servers that answer like these."""

import base64
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import free_port
from functions.convert_worker.converter import ConversionFault, convert
from functions.convert_worker.identity import BEFORE_ITS_END_SECONDS, OwnIdentity
from shared.conversions.rules import Fault, timeouts
from shared.outside.media_volume import MediaVolume, converted_path

SECRETS = {"projects/1/secrets/key/versions/1": "PRIVATE", "projects/1/secrets/url/versions/3": "postgresql://x"}
LADDER = timeouts(timedelta(seconds=20))


def token(end: float) -> str:
    """An identity token with the fields that its holder reads."""
    claims = base64.urlsafe_b64encode(json.dumps({"exp": int(end), "aud": "x"}).encode()).rstrip(b"=").decode()
    return f"e30.{claims}.c2ln"


class Google(ThreadingHTTPServer):
    """The metadata server, Secret Manager and a converter in one; `asked` has the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((LOOPBACK, 0), Answers)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.lifetime_seconds = 3600.0

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    """Handles one request."""

    server: Google

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers.items())))
        path = urlsplit(self.path).path
        if path == "/identity" and self.headers["Metadata-Flavor"] == "Google":
            self._say(200, token(time.time() + self.server.lifetime_seconds).encode())
        elif path == "/token" and self.headers["Metadata-Flavor"] == "Google":
            self._say(200, json.dumps({"access_token": "ya29", "expires_in": 3599}).encode())
        elif self.headers["Authorization"] == "Bearer ya29":
            value = SECRETS.get(path.removeprefix("/v1/").removesuffix(":access"))
            data = {"payload": {"data": base64.b64encode((value or "").encode()).decode()}}
            self._say(200 if value else 404, json.dumps(data).encode())
        else:
            self._say(403, b"")

    def do_POST(self) -> None:
        self.server.asked.append((self.path, dict(self.headers.items())))
        self.rfile.read(int(self.headers["Content-Length"]))
        self._say(200, b"%PDF-1.7\n%%EOF\n")

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Log nothing."""


@contextmanager
def serving() -> Iterator[Google]:
    with Google() as google:
        thread = threading.Thread(target=google.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield google
        google.shutdown()
        thread.join()


@pytest.fixture
def google() -> Iterator[Google]:
    with serving() as running:
        yield running


def send(google: Google, identity: OwnIdentity, tmp_path: Path) -> None:
    with MediaVolume(tmp_path).writing_converted(converted_path("ab" * 32), "conversion-1") as draft:
        convert(google.url, io.BytesIO(b"deck"), "deck.pptx", draft, LADDER, "trace", identity)


def test_the_converter_is_shown_a_token_that_was_made_for_it(google: Google, tmp_path: Path) -> None:
    identity = OwnIdentity("https://converter.example", f"{google.url}/identity")

    send(google, identity, tmp_path)

    (asked, _), (sent_to, headers) = google.asked
    assert parse_qs(urlsplit(asked).query) == {"audience": ["https://converter.example"], "format": ["full"]}
    assert sent_to == "/forms/libreoffice/convert"
    assert headers["Authorization"].startswith("Bearer e30.")
    assert headers["Gotenberg-Trace"] == "trace"


def test_a_token_is_kept_until_shortly_before_its_end(google: Google) -> None:
    now = time.time()
    identity = OwnIdentity("https://converter.example", f"{google.url}/identity", lambda: now)

    first = identity.headers()
    now += google.lifetime_seconds - BEFORE_ITS_END_SECONDS - 60
    assert identity.headers() == first
    assert len(google.asked) == 1
    now += 240
    google.lifetime_seconds = 7200.0
    assert identity.headers() != first
    assert len(google.asked) == 2


def test_without_a_token_the_deck_waits_and_is_not_sent(google: Google, tmp_path: Path) -> None:
    away = OwnIdentity("https://converter.example", f"http://{LOOPBACK}:{free_port()}/identity")
    refused = OwnIdentity("https://converter.example", f"{google.url}/elsewhere")

    for identity in (away, refused):
        with pytest.raises(ConversionFault) as caught:
            send(google, identity, tmp_path)
        assert caught.value.fault is Fault.CONVERTER_UNREACHABLE
    assert [path for path, _ in google.asked if path.startswith("/forms")] == []


def fetch(google: Google, *pairs: str) -> subprocess.CompletedProcess[str]:
    environment = {"METADATA_URL": f"{google.url}/token", "SECRETS_URL": f"{google.url}/v1/", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "deploy.box.secret_manager", *pairs]
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


def test_the_brokers_secrets_become_files_that_only_it_can_read(google: Google, tmp_path: Path) -> None:
    key, url = tmp_path / "secrets" / "key", tmp_path / "secrets" / "url"

    ran = fetch(google, f"{key}=projects/1/secrets/key/versions/1", f"{url}=projects/1/secrets/url/versions/3")

    assert ran.returncode == 0, ran.stderr
    assert (key.read_text(), url.read_text()) == ("PRIVATE", "postgresql://x")
    assert key.stat().st_mode & 0o777 == 0o600


def test_no_file_is_written_when_one_secret_is_missing(google: Google, tmp_path: Path) -> None:
    key = tmp_path / "secrets" / "key"

    ran = fetch(google, f"{key}=projects/1/secrets/key/versions/1", f"{key}2=projects/1/secrets/gone/versions/1")

    assert ran.returncode == 1
    assert not key.parent.exists()
    assert "PRIVATE" not in ran.stderr + ran.stdout
