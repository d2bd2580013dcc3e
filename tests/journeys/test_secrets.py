"""No secret of a running stack gets out: not into logs, answers, metrics, process titles or file rights."""

import stat
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from tests.stack import Stack, enrol, eventually

SHORTEST = 12  # what is shorter might stand anywhere by chance


def secrets_of(stack: Stack) -> dict[str, str]:
    """Every generated secret by its file's name; of a database's address only its password."""
    found = {}
    for path in (stack.state / "secrets").iterdir():
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        if path.suffix == ".pem" or "PRIVATE KEY" in text:
            text = text.splitlines()[1]  # a line of the key itself
        if len(text) >= SHORTEST:
            found[path.name] = text
    return found


def leaks(text: str, secrets: dict[str, str]) -> set[str]:
    """Names of the secrets that stand in this text, plain or as part of an address."""
    return {name for name, value in secrets.items() if value in text or quote(value, safe="") in text}


def test_no_secret_gets_out(stack: Stack, folder: Path) -> None:
    secrets = secrets_of(stack)
    assert len(secrets) >= 5
    api = stack.api()
    identity = str(uuid.uuid4())
    with enrol(api, identity, folder) as display:
        display.heartbeat("running")
        eventually(lambda: api.get(f"/api/clients/{identity}")["last_heartbeat_at"], "the first heartbeat")
    code = api.post(f"/api/clients/{identity}/enrolment", expected=201)["code"]
    token = api.post("/api/tokens", {"name": "canary", "role": "viewer"}, expected=201)
    secrets |= {"an enrolment code": code, "a token": token["token"]}
    answers = trouble(stack, token["token"], code)

    assert leaks(answers, secrets) == set()
    assert leaks(metrics(stack), secrets) == set()
    assert leaks(titles(stack), secrets) == set()
    del secrets["admin_password"]  # the first sign-in is printed on purpose
    log = stack.output.read_text(encoding="utf-8", errors="replace")
    assert 'route="/api/enroll"' in log
    assert leaks(log, secrets) == set()


def trouble(stack: Stack, token: str, code: str) -> str:
    """What the API says to requests that carry secrets where they do not belong, and that fail."""
    bearer = {"Authorization": f"Bearer {token}"}
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", f"/api/clients?token={token}", {"headers": bearer}),
        ("GET", f"/api/none/{code}", {"headers": bearer}),
        ("GET", "/api/clients", {"headers": {"Authorization": f"Bearer {token}x"}}),
        ("GET", "/api/settings", {"headers": bearer}),
        ("GET", "/api/clients", {"headers": bearer, "cookies": {"signage_session": token}}),
        ("POST", "/api/session", {"json": {"username": token, "password": "wrong"}}),
        ("POST", "/api/session", {"json": {"username": "anna", "password": token}}),
        ("POST", "/api/session", {"data": token, "headers": {"Content-Type": "application/json"}}),
        ("POST", "/api/enroll", {"json": {"code": code + "x"}}),
        ("DELETE", "/api/tokens/none", {"headers": bearer}),
    ]
    told = []
    for method, path, options in calls:
        answer = requests.request(method, stack.url + path, timeout=10, **options)
        told.append(
            f"{method} {path.split('?')[0].replace(code, '')} {answer.status_code} {answer.headers} {answer.text}"
        )
    return "\n".join(told)


def metrics(stack: Stack) -> str:
    """What the bridge tells a collector."""
    return requests.get(f"http://127.0.0.1:{stack.ports['BRIDGE_HEALTH_PORT']}/metrics", timeout=5).text


def titles(stack: Stack) -> str:
    """The command lines of every process of the stack, as anybody on the machine sees them."""
    processes = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            processes[int(entry.name)] = (int(fields[1]), (entry / "cmdline").read_bytes())
        except (OSError, ValueError, IndexError):
            continue  # not a process, or gone meanwhile
    family = {stack.runner.pid}
    while more := {pid for pid, (parent, _) in processes.items() if parent in family} - family:
        family |= more
    assert len(family) > 8
    return "\n".join(processes[pid][1].replace(b"\0", b" ").decode(errors="replace") for pid in family)


def test_secrets_are_for_their_owner_alone(stack: Stack) -> None:
    files = list((stack.state / "secrets").iterdir())

    assert files
    for path in (stack.state / "secrets", *files):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path.name
