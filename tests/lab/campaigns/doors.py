"""Hostile peers at the doors: paths that try to leave the served folders, stalled connections, endless requests.

1. Thousands of request targets are sent over raw sockets to the gateway, and those for the API also to the api
function: no file outside may be served. 2. Hundreds of connections stall while good requests are timed and the memory
of all processes is measured. 3. Bodies, URLs and headers of any size are sent until they are refused. 4. The same
stalled connections directly at the function show that they do harm without the gateway.
"""

import json
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import requests

from deploy.parts import guardian
from deploy.parts.gateway import JSON_BODY_BYTES
from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests.lab.campaigns.leaks import Secrets, dashboard_files, plant, wrong
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.memory import Memory
from tests.lab.campaigns.paths import Attempt, attempts
from tests.lab.campaigns.peers import exchange, pour, stalled, status_of
from tests.stack import Stack, running_stack

GIGABYTE: Final = 10**9
MEGABYTE: Final = 2**20
LIMIT_SECONDS: Final = 1.0  # for the answer to a good request
REFUSED_WITHIN_SECONDS: Final = 5.0  # a server that scans a long line repeatedly would take twice as long
FLAT_MEGABYTES: Final = 32.0  # the same limit as for an upload of 200 MB
READ_AHEAD: Final = 16 * MEGABYTE  # the kernel's buffers of both sides, with some room
PICTURE: Final = bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489") + bytes(64)
MORE_THAN_THREADS: Final = 150  # the api function has 64 threads
ROOTS: Final = (
    *("/", "/", "/views/", "/lib/", "/vendor/", "/app.js/", "/.problem/", "/api/", "/api/docs/", "/api/clients/"),
    *(
        "/api/files/converted/",
        "/api/files/converted/",
    ),
    *("/api/event-media/", "/api/event-media/{media}/content/"),
    *("/api/event-media/{media}/thumbnail/", "/api/event-media/uploads/"),
)
# Valid headers, so that a server that checks headers first also checks the URL.
AS_UPLOADS_DO: Final = b"Tus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n"
INNOCENT: Final = (Attempt(b"GET", b"/views/../app.js"), Attempt(b"GET", b"/lib/%2e%2E/vendor/..%2fapp.js"))
GOOD: Final = ("/", "/app.js", "/api/clients?limit=1", "/api/health/live")


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    paths: int = 2_000
    connections: int = 500
    seconds: float = 30.0  # length of the stall
    pours: bool = True
    seed: int = 1


@dataclass(frozen=True)
class Doors:
    """The tested doors."""

    gateway: int  # port
    function: int  # port of the api function, behind it
    token: str  # an admin's token
    folder: Path  # the folder that has all files of these processes
    media_root: Path
    processes: Callable[[], Mapping[str, set[int]]]  # name -> process ids

    @property
    def host(self) -> bytes:
        return f"{LOOPBACK}:{self.gateway}".encode()

    def head(self, method: str, path: str, *headers: str, ended: bool = True) -> bytes:
        """The head of a request with the admin's token."""
        lines = (f"{method} {path} HTTP/1.1", f"Host: {LOOPBACK}:{self.gateway}", f"Authorization: Bearer {self.token}")
        return ("\r\n".join((*lines, *headers)) + ("\r\n\r\n" if ended else "\r\n")).encode()


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on a whole stack as started by `make run`. Returns its ledger."""
    with whole_stack(folder) as doors:
        return knock(plan, doors, say)


@contextmanager
def whole_stack(folder: Path) -> Iterator[Doors]:
    """A local stack."""
    folder.chmod(0o755)  # Postgres and the broker are other users
    with running_stack(folder / "state") as stack:
        ports = {name: int(number) for name, number in stack.ports.items()}
        token = stack.environment["SIGNAGE_ADMIN_TOKEN"]
        media = Path(stack.environment["MEDIA_ROOT"])
        yield Doors(ports["GATEWAY_PORT"], ports["API_PORT"], token, folder, media, lambda: _processes_of(stack))


def _processes_of(stack: Stack) -> dict[str, set[int]]:
    lives = json.loads((stack.state / "run" / "status.json").read_text(encoding="utf-8"))
    return {one["name"]: {one["pid"]} | guardian.descendants(one["pid"]) for one in lives if one["pid"]}


def knock(plan: Plan, doors: Doors, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on existing doors. Returns its ledger."""
    ledger = Ledger("doors", plan.seed, {"paths": plan.paths, "connections": plan.connections})
    began = time.monotonic()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    _ask_for_paths(plan, doors, ledger, say)
    _time_good_requests(doors, 0.5)  # warm up
    memory = Memory(doors.processes)
    _stall(plan, doors, memory, ledger, say)
    if plan.pours:
        _pour(doors, memory, ledger, say)
    ledger.counted["memory_grew_most_megabytes"] = round(memory.grew, 1)
    ledger.conditions[f"no process's memory grows by {FLAT_MEGABYTES:.0f} MB"] = memory.grew < FLAT_MEGABYTES
    ledger.experiments["the same stall is felt where nothing stands in front"] = _is_felt(doors)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _ask_for_paths(plan: Plan, doors: Doors, ledger: Ledger, say: Callable[[str], None]) -> None:
    """Send each target to the gateway, and those of the API to the function too; half of them as an admin."""
    outside = plant(doors.folder, doors.media_root)
    roots = [root.format(media=_upload(doors)).encode() for root in ROOTS]
    before, files = _all_below(doors), dashboard_files()
    statuses, found = Counter[int](), Counter[str]()
    drawn = attempts(plan.paths, plan.seed, roots, outside.targets, doors.host)
    for number, attempt in enumerate(chain(INNOCENT, drawn)):
        ports = (doors.gateway, doors.function) if attempt.is_for_the_api else (doors.gateway,)
        for port in ports:
            answer = exchange(port, _request(doors, attempt, by_an_admin=number % 2 == 0))
            statuses[status_of(answer or b"")] += 1
            for fault in wrong(answer, outside, files):
                found[fault] += 1
                say(f"{fault}: {attempt.method!r} {attempt.target!r}")
    ledger.counted |= {f"answers_{status}": count for status, count in sorted(statuses.items())}
    ledger.conditions["paths that lead back to what is served are answered"] = statuses[200] >= len(INNOCENT)
    ledger.counted["bytes_from_outside"] = found["came from outside"]
    for fault in Secrets.FAULTS:
        ledger.conditions[f"nothing {fault}"] = found[fault] == 0
    ledger.conditions["nothing appeared outside of the media volume"] = _all_below(doors) - before == set()
    ledger.conditions["what lies outside is as it was"] = outside.is_untouched()


def _request(doors: Doors, attempt: Attempt, *, by_an_admin: bool) -> bytes:
    identity = b"Authorization: Bearer " + doors.token.encode() + b"\r\n" if by_an_admin else b""
    host = b"Host: " + doors.host + b"\r\n"
    line = attempt.method + b" " + attempt.target + b" HTTP/1.1\r\n"
    return line + host + identity + AS_UPLOADS_DO + b"Content-Length: 0\r\nConnection: close\r\n\r\n"


def _upload(doors: Doors) -> int:
    """Upload files with names that look like paths. Returns the id of the accepted one."""
    kept = 0
    for name in (
        "../../canary.png",
        "..\\..\\canary.png",
        "/etc/canary.png",
        "%2e%2e%2fcanary.png",
        "..%00/canary.png",
    ):
        answer = requests.post(
            f"http://{LOOPBACK}:{doors.gateway}/api/event-media",
            headers={"Authorization": f"Bearer {doors.token}"},
            files={"file": (name, PICTURE)},
            timeout=60,
        )
        kept = answer.json()["media"]["id"] if answer.status_code == 201 else kept
    assert kept, "no file was taken"
    return kept


def _all_below(doors: Doors) -> set[Path]:
    """All files except those of databases, logs and media."""
    folders = [doors.folder, *(one for one in doors.folder.rglob("*") if one.is_dir())]
    moving = (doors.media_root, doors.folder / "state" / "data", doors.folder / "state" / "run")
    places = [one for one in folders if not any(one == busy or busy in one.parents for busy in moving)]
    return {file for place in places for file in place.iterdir() if file.is_file()} | {
        file for file in REPOSITORY.iterdir() if file.is_file()
    }


def _stalling(doors: Doors) -> tuple[bytes, ...]:
    """The beginnings of stalled requests: half in their headers, half in their bodies, a few of them uploads."""
    slow_head = doors.head("GET", "/api/clients", "X-Slow: ", ended=False).rstrip(b"\r\n")
    slow_body = doors.head("POST", "/api/users", "Content-Type: application/json", "Content-Length: 100000")
    upload = doors.head(
        "POST", "/api/event-media", "Content-Type: multipart/form-data; boundary=b", "Content-Length: 99999"
    )
    return (slow_head, slow_body) * 12 + (slow_head, upload)


def _stall(plan: Plan, doors: Doors, memory: Memory, ledger: Ledger, say: Callable[[str], None]) -> None:
    with stalled(doors.gateway, _stalling(doors), plan.connections) as peers:

        def each_second() -> None:
            peers.trickle()
            memory.look()

        took, refused = _time_good_requests(doors, plan.seconds, each_second)
        reopened = peers.reopened
    say(f"{len(took)} good requests beside {plan.connections} that stall, the slowest {max(took) * 1000:.0f} ms")
    ledger.counted |= {
        "good_requests": len(took),
        "good_refused": refused,
        "median_milliseconds": round(median(took) * 1000, 1),
        "slowest_milliseconds": round(max(took) * 1000, 1),
        "hung_up_on_and_come_again": reopened,
    }
    ledger.limits["good requests are answered within 1 s"] = max(took) < LIMIT_SECONDS
    ledger.conditions["no good request is refused"] = refused == 0


def _time_good_requests(
    doors: Doors, seconds: float, each_second: Callable[[], None] = lambda: None
) -> tuple[list[float], int]:
    """Send good requests one after the other. Returns the time of each, and how many did not get 200."""
    took: list[float] = []
    refused, began, next_second = 0, time.monotonic(), 0.0
    while (now := time.monotonic() - began) < seconds:
        if now >= next_second:
            each_second()
            next_second = now + 1
        asked = time.monotonic()
        answer = exchange(doors.gateway, doors.head("GET", GOOD[len(took) % len(GOOD)], "Connection: close"))
        took.append(time.monotonic() - asked)
        refused += status_of(answer or b"") != 200
    return took, refused


def _pour(doors: Doors, memory: Memory, ledger: Ledger, say: Callable[[str], None]) -> None:
    """Check that requests that are too large are refused before much of them is read."""
    for flood in _floods(doors):
        poured = pour(flood.port, flood.head, flood.size, framed=flood.framed)
        memory.look()
        say(f"{flood.name}: {poured.status} after {poured.accepted:,} of {flood.size:,} bytes, {poured.seconds:.2f} s")
        ledger.counted[f"{flood.name}_accepted_bytes"] = poured.accepted
        is_early = poured.accepted <= flood.may_take + READ_AHEAD
        ledger.conditions[f"{flood.name} is refused early"] = is_early and poured.status == flood.status
        ledger.limits[f"{flood.name} is refused in time"] = poured.seconds < REFUSED_WITHIN_SECONDS


class Flood(NamedTuple):
    """An endless request, and the expected answer."""

    name: str
    port: int
    head: bytes
    size: int  # bytes after the head
    status: int
    may_take: int = 0  # bytes that must be read before the server can refuse
    framed: bool = False  # in chunks, without a length


def _floods(doors: Doors) -> Iterator[Flood]:
    json_type, declared = "Content-Type: application/json", f"Content-Length: {GIGABYTE}"
    form, chunked = "Content-Type: multipart/form-data; boundary=b", "Transfer-Encoding: chunked"
    for where, port in (("gateway", doors.gateway), ("function", doors.function)):
        body = doors.head("POST", "/api/session", json_type, declared)
        yield Flood(f"{where}_body_1_gb", port, body, GIGABYTE, 413)
        upload = doors.head("POST", "/api/event-media", form, declared)
        yield Flood(f"{where}_upload_1_gb", port, upload, GIGABYTE, 413)
        unknown = doors.head("POST", "/api/session", json_type, chunked)
        yield Flood(f"{where}_body_of_unknown_length", port, unknown, GIGABYTE, 413, JSON_BODY_BYTES, framed=True)
        header = doors.head("GET", "/api/clients", "X-Large: ", ended=False).rstrip(b"\r\n")
        yield Flood(f"{where}_header_5_mb", port, header, 5 * MEGABYTE, 431)
        yield Flood(f"{where}_request_line_5_mb", port, b"GET /api/clients?q=", 5 * MEGABYTE, 414)


def _is_felt(doors: Doors) -> bool:
    """Whether a good request at the function must wait while connections stall there."""
    with stalled(doors.function, _stalling(doors), MORE_THAN_THREADS):
        return exchange(doors.function, doors.head("GET", "/api/health/live", "Connection: close"), 1) is None
