"""400 strangers, each of an address of their own, ask again as soon as they are answered; an admin reads beside them.

They come to one door after the other, through the gateway of `make run`. The crowd computes at the lowest priority,
because a real one has machines of its own. Times are judged as ratios of one run: an admin's reads beside each crowd to
those in the calm just before it.
"""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Final

from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests.lab.campaigns.ledger import Ledger, tell
from tests.stack import Stack, running_stack

MOST_RATIO: Final = 3.0
OF_A_DOOR: Final = (200, 40)  # requests of all strangers: at once, and then in each second (nginx.conf)
OF_KNOCKS: Final = (100, 8)
CROWDED: Final = 200  # requests a second: five times what comes through
SEAL: Final = "a" * 22
BIG: Final = '{"a": [' + "[], " * 200_000 + "1]}"
DOORS: Final[dict[str, tuple[str, str, dict[str, str], str, tuple[int, int] | None]]] = {
    "sign_in": ("POST", "/api/session", {}, '{"username": "u%d", "password": "wrong wrong"}', OF_KNOCKS),
    "enrolment": ("POST", "/api/enroll", {}, '{"code": "AAAA-BBBB-%04d"}', OF_KNOCKS),
    "status_page": ("GET", "/api/status", {"Authorization": "Bearer " + "x" * 43}, "", OF_A_DOOR),
    "big_body": ("POST", "/api/users", {}, BIG, OF_A_DOOR),
    "made_up_token": ("GET", "/api/clients", {"Authorization": f"Bearer sgn_%d.{SEAL}"}, "", OF_A_DOOR),
    "made_up_cookie": ("GET", "/api/clients", {"Cookie": f"signage_browser=%d.{SEAL}"}, "", OF_A_DOOR),
    "health": ("GET", "/api/health/ready", {}, "", OF_A_DOOR),
    "page": ("GET", "/", {}, "", None),
    "largest_file": ("GET", "/lib/words/ja/first.js", {"Accept-Encoding": "gzip"}, "", None),
}
"""Method, path, headers and body, with the stranger's number for %d; and how much all strangers get there."""


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    strangers: int = 400
    reads: int = 60  # of the admin, beside each crowd and in each calm
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign on a whole stack. Returns its ledger."""
    ledger = Ledger("crowd", plan.seed, {"strangers": plan.strangers, "reads": plan.reads})
    began = time.monotonic()
    folder.chmod(0o755)  # Postgres and the broker are other users
    with running_stack(folder / "state", DEMO="24") as stack:
        browser = _sign_in(stack, {})[1]
        for door in DOORS:
            _crowd(plan, stack, door, browser, ledger, say)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _crowd(plan: Plan, stack: Stack, door: str, browser: str, ledger: Ledger, say: Callable[[str], None]) -> None:
    port, most = stack.ports["GATEWAY_PORT"], DOORS[door][-1]
    calm = _reads(stack, plan.reads)
    command = (sys.executable, "-m", "tests.lab.campaigns.crowd", port, door, str(plan.strangers))
    asked = time.monotonic()
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
        assert crowd.stdout is not None
        crowd.stdout.readline()  # everybody was answered once
        beside = _reads(stack, plan.reads)
        signed_in = _sign_in(stack, {"Cookie": browser})[0]
        told, _ = crowd.communicate("")
    seconds = time.monotonic() - asked
    answers: dict[str, int] = json.loads(told)
    let_in = sum(count for status, count in answers.items() if status != "429")
    say(f"{door}: {calm * 1000:.1f} -> {beside * 1000:.1f} ms, {answers}")
    ledger.counted |= {f"{door}_ratio": round(beside / calm, 2), f"{door}_answers": sum(answers.values())}
    ledger.limits[f"{door}: an admin's read takes at most {MOST_RATIO:g} x"] = beside / calm <= MOST_RATIO
    ledger.conditions[f"{door}: who signed in here before can sign in"] = signed_in == 201
    ledger.experiments[f"{door}: it was a crowd of {CROWDED} requests a second"] = (
        sum(answers.values()) > CROWDED * seconds
    )
    if most is not None:
        ledger.counted[f"{door}_let_in"] = let_in
        ledger.conditions[f"{door}: no more strangers come through than shall"] = let_in <= most[0] + most[1] * seconds


def _reads(stack: Stack, number: int) -> float:
    """The median seconds of an admin's reads, each with a connection of its own."""
    took = []
    for _ in range(number):
        began = time.perf_counter()
        status, _ = _ask(stack, "GET", "/api/clients?limit=5", stack.environment["SIGNAGE_ADMIN_TOKEN"])
        took.append(time.perf_counter() - began)
        assert status == 200
    return median(took)


def _sign_in(stack: Stack, headers: dict[str, str]) -> tuple[int, str]:
    """Sign in as the first admin. Returns the status, and the cookie by which the gateway knows the browser."""
    name, password = (stack.environment[f"SIGNAGE_SIGN_IN_{part}"] for part in ("USER", "PASSWORD"))
    body = json.dumps({"username": name, "password": password})
    return _ask(stack, "POST", "/api/session", None, {"Content-Type": "application/json", **headers}, body)


def _ask(
    stack: Stack,
    method: str,
    path: str,
    token: str | None,
    headers: dict[str, str] | None = None,
    body: str | None = None,
) -> tuple[int, str]:
    connection = HTTPConnection(LOOPBACK, int(stack.ports["GATEWAY_PORT"]), timeout=60)
    try:
        identity = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request(method, path, body, {**identity, **(headers or {})})
        answer = connection.getresponse()
        answer.read()
        cookies = [cookie.split(";")[0] for cookie in answer.headers.get_all("Set-Cookie", [])]
        return answer.status, next((cookie for cookie in cookies if cookie.startswith("signage_browser=")), "")
    finally:
        connection.close()


# --- the crowd, a process of its own ---


def _request(port: int, door: str, number: int) -> bytes:
    method, path, headers, body, _ = DOORS[door]
    body = body.replace("%d", str(number)).replace("%04d", f"{number:04}")
    lines = [f"{method} {path} HTTP/1.1", f"Host: {LOOPBACK}:{port}", "Connection: close", *_lines(headers, number)]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def _lines(headers: dict[str, str], number: int) -> list[str]:
    return [f"{name}: {value.replace('%d', str(number))}" for name, value in headers.items()]


@dataclass
class Crowd:
    """The answers so far by status; whether as many came as there are strangers; whether no more shall be asked."""

    strangers: int
    answers: Counter[str] = field(default_factory=Counter)
    has_begun: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, status: str) -> None:
        self.answers[status] += 1
        if self.answers.total() >= self.strangers:
            self.has_begun.set()


async def _ask_on(crowd: Crowd, port: int, door: str, number: int) -> None:
    """One stranger: ask until it is over, again at once after each answer."""
    own = (f"127.{1 + number // 65_000}.{number // 250 % 250}.{1 + number % 250}", 0)
    request = _request(port, door, number)
    while not crowd.is_over.is_set():
        try:
            reader, writer = await asyncio.open_connection(LOOPBACK, port, local_addr=own)
            writer.write(request)
            head = await reader.read(65_536)
            crowd.note(head[9:12].decode())
            while await reader.read(65_536):
                pass
            writer.close()
        except ConnectionError:
            crowd.note("cut")


async def _ask_until_told(port: int, door: str, strangers: int) -> Counter[str]:
    """Print a line once as many answers came as there are strangers; ask on until the standard input ends."""
    crowd = Crowd(strangers)
    asking = [asyncio.create_task(_ask_on(crowd, port, door, number)) for number in range(strangers)]
    await crowd.has_begun.wait()
    print("begun", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    crowd.is_over.set()
    await asyncio.gather(*asking)
    return crowd.answers


if __name__ == "__main__":
    os.nice(19)
    print(json.dumps(asyncio.run(_ask_until_told(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))))
