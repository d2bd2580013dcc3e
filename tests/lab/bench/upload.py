"""An upload of 200 MB, in a form and by tus: the function's memory, and its rate compared with sha256sum and cp."""

import base64
import http.client
import os
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

import requests

from deploy.parts import guardian
from deploy.parts.layout import LOOPBACK
from shared.vocabulary import Role
from tests.api.function_process import ENVIRONMENT, function_process
from tests.api.people import issue_token
from tests.lab.bench.report import Row, alternating
from tests.lab.campaigns.machine import machine

MB = 1_000_000
SIZE = 200 * MB
TIMES = 3
BOUNDARY = "bench-boundary"
HEAD = (
    f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\n'
    "Content-Type: video/mp4\r\n\r\n"
).encode()
TAIL = f"\r\n--{BOUNDARY}--\r\n".encode()


def measure(folder: Path) -> list[Row]:
    """Measure memory and rate."""
    film, small = folder / "film.mp4", folder / "small.mp4"
    for path, size in ((film, SIZE), (small, MB)):
        with path.open("wb") as file:
            file.write(b"\0\0\0\x18ftypisom\0\0\2\0isomiso2")
            for _ in range(size // MB):
                file.write(os.urandom(MB))
    volume = folder / "media"
    volume.mkdir()
    with machine(folder, bridge=False) as service:
        engine = service.engine()
        token = issue_token(engine, Role.ADMIN)
        engine.dispose()
        limits = {"UPLOAD_LIMIT_BYTES": str(SIZE + MB), "MEDIA_ROOT": str(volume)}
        environment = {**ENVIRONMENT, **limits, "DATABASE_URL": service.database_url}
        with function_process("functions/api/main.py", environment, folder) as api:
            send(api.port, token, small)
            with Memory(api.pid) as memory:
                ours, theirs = alternating(TIMES, lambda: send(api.port, token, film), lambda: by_hand(film))
            send_by_tus(api.port, token, small)
            with Memory(api.pid) as in_parts:
                send_by_tus(api.port, token, film)
    return [
        Row("upload 200 MB: memory growth", memory.growth / 2**20, "MiB", 32, at_most=True),
        Row("upload 200 MB by tus: memory growth", in_parts.growth / 2**20, "MiB", 32, at_most=True),
        Row("upload 200 MB", ours, "MB/s", 0.5, peer="sha256sum + cp", theirs=theirs),
    ]


def send(port: int, token: str, path: Path) -> float:
    """Upload a file in a form. Returns megabytes a second."""
    size = path.stat().st_size
    began = time.monotonic()
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=120)
    connection.putrequest("POST", "/api/event-media")
    connection.putheader("Authorization", f"Bearer {token}")
    connection.putheader("Content-Type", f"multipart/form-data; boundary={BOUNDARY}")
    connection.putheader("Content-Length", str(len(HEAD) + size + len(TAIL)))
    connection.endheaders(HEAD)
    with path.open("rb") as file:
        connection.sock.sendfile(file)
    connection.send(TAIL)
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status == 201, said
    connection.close()
    return size / MB / (time.monotonic() - began)


def send_by_tus(port: int, token: str, path: Path) -> None:
    """Upload a file by tus in one request, as a script does."""
    base = f"http://{LOOPBACK}:{port}"
    headers = {"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0"}
    name = base64.b64encode(path.name.encode()).decode()
    announced = {"Upload-Length": str(path.stat().st_size), "Upload-Metadata": f"filename {name}"}
    made = requests.post(f"{base}/api/event-media/uploads", headers={**headers, **announced}, timeout=30)
    part = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    with path.open("rb") as file:
        sent = requests.patch(base + made.headers["Location"], data=file, headers={**headers, **part}, timeout=120)
    assert sent.status_code == 204, sent.text


def by_hand(path: Path) -> float:
    """Run sha256sum and cp on the same file. Returns megabytes a second."""
    copy = path.with_name("copy.mp4")
    began = time.monotonic()
    subprocess.run(["sha256sum", path], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cp", path, copy], check=True)
    took = time.monotonic() - began
    copy.unlink()
    return path.stat().st_size / MB / took


class Memory:
    """Measures the memory of a process and its children during the block; `growth` is in bytes."""

    def __init__(self, pid: int) -> None:
        self._pids = {pid} | guardian.descendants(pid)
        self._before = self._resident()
        self.growth = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            self.growth = max(self.growth, self._resident() - self._before)

    def _resident(self) -> int:
        pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in self._pids)
        return pages * os.sysconf("SC_PAGE_SIZE")
