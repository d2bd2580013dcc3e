"""Real processes for the tests of conversions, and a counting gate between worker and converter."""

import os
import re
import shutil
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from subprocess import Popen
from typing import Any

import requests

from deploy.parts import guardian
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port, http_answers, wait_until
from deploy.parts.short_lived import running
from tests import migrated
from tests.rules.oidc_harness import AUDIENCE, EMAIL, signed
from tests.serving import serving

DEADLINE_SECONDS = 120  # never reached
HELD_SECONDS = 600.0  # longer than any wait, so that only the test releases what it holds
CONVERT = "/forms/libreoffice/convert"


@dataclass(frozen=True)
class Converter:
    """A running converter."""

    process: Popen[bytes]
    port: int
    folder: Path
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def convert(self, path: Path, name: str | None = None, **headers: str) -> requests.Response:
        """Send one document as to Gotenberg."""
        with path.open("rb") as file:
            form = {"files": (name or path.name, file)}
            return requests.post(self.url + CONVERT, files=form, headers=headers, timeout=2 * DEADLINE_SECONDS)

    def converts(self, path: Path) -> bool:
        """Whether this document becomes a PDF; a slow machine may need more than the deadline."""
        return self.convert(path).content.startswith(b"%PDF-")

    def health(self) -> tuple[int, dict[str, Any]]:
        answer = requests.get(self.url + "/health", timeout=60)
        return answer.status_code, answer.json()

    def offices(self) -> set[int]:
        """The LibreOffice processes below it."""
        return {pid for pid in guardian.descendants(self.process.pid) if program_of(pid).endswith("soffice.bin")}

    def freeze(self) -> None:
        """Stop the LibreOffice that waits for the next document, as soon as it waits."""
        wait_until(lambda: any(self.folder.glob("office-*/work/tmp/OSL_PIPE*")), DEADLINE_SECONDS)
        for pid in self.offices():
            os.kill(pid, signal.SIGSTOP)


def program_of(pid: int) -> str:
    """The program of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


@contextmanager
def converter(
    state: Path, python: list[str] | None = None, healthy: int = 200, deadline: int = DEADLINE_SECONDS, **env: str
) -> Iterator[Converter]:
    """A converter on a free port that writes only below `state`; ready when /health answers `healthy`."""
    port = free_port()
    environment = {
        "CONVERTER_PORT": str(port),
        "CONVERSION_DEADLINE_SECONDS": str(deadline),
        "LOCAL_STATE_DIR": str(state),
        "PYTHONPATH": str(REPOSITORY),
        **env,
    }
    log = state.with_suffix(".log")
    command = [*(python or [sys.executable]), "-m", "deploy.parts.converter"]
    with running(command, http_answers(port, "/health", healthy), log, environment=environment) as process:
        try:
            yield Converter(process, port, state / "run" / "converter", log)
        except BaseException as error:
            error.add_note(f"the converter said: {log.read_text(encoding='utf-8', errors='replace')[-SAID:]}")
            raise


SAID = 4_000  # characters of the log that are shown after a failure
Scripted = Callable[[BaseHTTPRequestHandler], None]


class Gate(ThreadingHTTPServer):
    """Stands in front of the converter: counts the worker's requests, and lets a test answer instead."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, converter_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _GateHandler)
        self.converter_url = converter_url
        self.bodies: list[int] = []
        self.scripted: deque[Scripted] = deque()
        self.arrived = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def count(self) -> int:
        """How many documents the worker has sent."""
        return len(self.bodies)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: tests kill workers."""


class _GateHandler(BaseHTTPRequestHandler):
    server: Gate
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.append(len(body))
        self.server.arrived.set()
        if self.server.scripted:
            self.server.scripted.popleft()(self)
            return
        passed_on = {"Content-Type": self.headers["Content-Type"]}
        url, patience = self.server.converter_url + self.path, 2 * DEADLINE_SECONDS
        answer = requests.post(url, data=body, headers=passed_on, timeout=patience)
        reply(self, answer.status_code, answer.content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


def reply(handler: BaseHTTPRequestHandler, status: int, body: bytes, declared: int | None = None) -> None:
    """Answer; a declared length above the body's length cuts the download."""
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if declared is None else declared))
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(body)
    handler.close_connection = True


def answering(status: int, body: bytes = b"said by the test", declared: int | None = None) -> Scripted:
    """A scripted answer."""
    return lambda handler: reply(handler, status, body, declared)


def hanging_up(handler: BaseHTTPRequestHandler) -> None:
    """Close without an answer, like a killed converter."""
    handler.close_connection = True


def after(event: threading.Event, then: Scripted) -> Scripted:
    """A scripted answer that waits for an event."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        event.wait(HELD_SECONDS)
        then(handler)

    return act


@contextmanager
def gate_before(converter_url: str) -> Iterator[Gate]:
    """A gate that serves during the block."""
    with serving(Gate(converter_url)) as server:
        yield server


@dataclass(frozen=True)
class Worker:
    """A running `convert_worker` in functions-framework, as in the cloud."""

    process: Popen[bytes]
    url: str
    log: Path
    issuer: str

    def token(self, *key: Any, **changes: Any) -> str:
        """The queue's token; another key, or other claims, in tests of tokens that are refused."""
        return signed(*key, iss=self.issuer, **changes)

    def deliver(
        self,
        conversion_id: Any,
        job: str = "convert_event_media_to_pdf",
        token: str | None = None,
        task: str = "",
        doom: int = 0,
    ) -> requests.Response:
        """Deliver a task as the queue does; `doom` is for the worker that kills itself."""
        headers = {"Authorization": f"Bearer {self.token() if token is None else token}"}
        headers |= {"X-CloudTasks-TaskName": task} if task else {}
        headers |= {"X-Doom": str(doom)} if doom else {}
        body = {"job": job, "conversion_id": conversion_id}
        return requests.post(self.url, json=body, headers=headers, timeout=2 * DEADLINE_SECONDS)


@contextmanager
def worker(
    database_url: str,
    media_root: Path,
    converter_url: str,
    issuer: str,
    log: Path,
    source: Path = REPOSITORY / "functions" / "convert_worker" / "main.py",
    **env: str,
) -> Iterator[Worker]:
    """A worker on a free port; ready when it answers. `source` is another program in tests that kill it."""
    port = free_port()
    environment = {
        "PYTHONPATH": str(REPOSITORY),
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "THREADS": "16",
        "DATABASE_URL": migrated.address_for("convert_worker", database_url),
        "MEDIA_ROOT": str(media_root),
        "CONVERTER_URL": converter_url,
        "CONVERT_WORKER_URL": AUDIENCE,
        "OIDC_ISSUER": issuer,
        "TASKS_SERVICE_ACCOUNT": EMAIL,
        "CONVERSION_DEADLINE_SECONDS": str(DEADLINE_SECONDS),
        **env,
    }
    command = [sys.executable, "-m", "functions_framework", "--target=convert_worker", f"--source={source}"]
    with running(command, http_answers(port, "/"), log, environment=environment) as process:
        yield Worker(process, f"http://127.0.0.1:{port}/", log, issuer)


def files_below(folder: Path) -> list[str]:
    """The relative paths of all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def peak_memory_bytes(pid: int) -> int:
    """The peak memory of a process so far."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


def programs_without_bwrap(folder: Path) -> str:
    """A PATH with the programs that the converter calls, but no bubblewrap."""
    folder.mkdir()
    for name in ("setpriv", "prlimit", "env", "soffice"):
        found = shutil.which(name)
        assert found, name
        (folder / name).symlink_to(Path(found).resolve())
    return str(folder)
