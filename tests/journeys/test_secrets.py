"""A running stack reveals no secret in logs, answers, metrics, command lines or readable files."""

import secrets
import stat
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import requests

from deploy.parts.layout import LOOPBACK
from tests.stack import Api, Stack, enrol, eventually

SHORTEST = 12  # a shorter text could occur by chance


def secrets_of(stack: Stack) -> dict[str, str]:
    """File name -> generated secret; of a database's address only the password."""
    found = {}
    for path in (stack.state / "secrets").iterdir():
        text = path.read_text(encoding="utf-8", errors="replace").strip()
        if path.suffix == ".pem" or "PRIVATE KEY" in text:
            text = text.splitlines()[1]  # a line of the key
        if len(text) >= SHORTEST:
            found[path.name] = text
    return found


def leaks(text: str, known: dict[str, str]) -> set[str]:
    """The names of the secrets that this text contains, plain or encoded for a URL."""
    return {name for name, value in known.items() if value in text or quote(value, safe="") in text}


def test_no_secret_gets_out(stack: Stack, folder: Path) -> None:
    known = secrets_of(stack)
    assert len(known) >= 5
    api = stack.api()
    identity = str(uuid.uuid4())
    with enrol(api, identity, folder) as display:
        display.heartbeat("running")
        eventually(lambda: api.get(f"/api/clients/{identity}")["last_heartbeat_at"], "the first heartbeat")
    handed = handed_out(stack, api, identity)
    answers = trouble(stack, handed["a token"], handed["an enrolment code"], handed["a page's link"])
    known |= handed

    assert leaks(answers, known) == set()
    assert leaks(shown(api, identity), known) == set()
    assert leaks(metrics(stack), known) == set()
    assert leaks(titles(stack), known) == set()
    del known["admin_password"]  # the first sign-in is printed on purpose
    log = stack.output.read_text(encoding="utf-8", errors="replace")
    assert 'route="/api/enroll"' in log
    assert 'route="/api/status"' in log
    assert 'route="/api/notifications/channels/<id:channel_id>/test"' in log
    assert leaks(log, known) == set()
    remove_canaries(api)


def remove_canaries(api: Api) -> None:
    """Remove this test's channels and users, so that they do not disturb other journeys."""
    for path in ("/api/notifications/channels", "/api/users"):
        for one in api.get(f"{path}?limit=100")["items"]:
            if "canary" in (one.get("name"), one.get("username")):
                api.call("DELETE", f"{path}/{one['id']}", 204)


def handed_out(stack: Stack, api: Api, identity: str) -> dict[str, str]:
    """One secret of each kind that the API returns once, or receives."""
    webhook, signs = f"https://{LOOPBACK}:9/{secrets.token_hex(16)}", secrets.token_hex(16)
    channel = {"name": "canary", "kind": "webhook", "url": webhook, "signing_secret": signs}
    made = api.post("/api/notifications/channels", channel, expected=201)
    assert api.post(f"/api/notifications/channels/{made['id']}/test")["delivered"] is False
    person = api.post("/api/users", {"username": "canary", "role": "viewer"}, expected=201)
    login = api.post("/api/enroll", {"code": new_code(api, identity)}, expected=201)
    rotation = {"uuid": identity, "password": login["password"], "new_password": secrets.token_urlsafe(32)}
    api.call("POST", "/api/enroll/rotate", 204, json=rotation)
    password = (stack.state / "secrets" / "admin_password").read_text(encoding="utf-8").strip()
    signed_in = api.call("POST", "/api/session", 201, json={"username": "admin", "password": password})
    return {
        "a webhook's address": webhook.rpartition("/")[2],
        "what signs a webhook": signs,
        "a one-time password": person["one_time_password"],
        "a display's password": login["password"],
        "the one that it made itself": rotation["new_password"],
        "a session": signed_in.cookies["signage_session"],
        "a token": api.post("/api/tokens", {"name": "canary", "role": "viewer"}, expected=201)["token"],
        "an enrolment code": new_code(api, identity),
        "a page's link": api.post("/api/status-links", {"name": "canary", "site": "Rome"}, expected=201)["secret"],
    }


def new_code(api: Api, identity: str) -> str:
    return str(api.post(f"/api/clients/{identity}/enrolment", expected=201)["code"])


def shown(api: Api, identity: str) -> str:
    """The answers that an admin reads afterwards."""
    lists = (
        "audit",
        "tokens",
        "status-links",
        "users",
        "notifications/channels",
        "notifications/deliveries",
        "dead-letters",
        "settings",
    )
    paths = [*(f"/api/{name}" for name in lists), f"/api/clients/{identity}", f"/api/clients/{identity}/events"]
    return "\n".join(api.call("GET", path).text for path in paths)


def trouble(stack: Stack, token: str, code: str, link: str) -> str:
    """The answers to failing requests that have secrets in wrong places."""
    bearer, anybody = {"Authorization": f"Bearer {token}"}, str(uuid.uuid4())
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
        ("POST", "/api/enroll/rotate", {"json": {"uuid": anybody, "password": token, "new_password": code * 2}}),
        ("DELETE", "/api/tokens/none", {"headers": bearer}),
        ("GET", "/api/status", {"headers": {"X-Status-Link": link}}),
        ("GET", "/api/status", {"headers": {"X-Status-Link": f"{link}x"}}),
        ("GET", "/api/status", {"headers": {"Authorization": f"Bearer {link}"}}),
    ]
    told = []
    for method, path, options in calls:
        answer = requests.request(method, stack.url + path, timeout=60, **options)
        assert answer.status_code < 500
        told.append(
            f"{method} {path.split('?')[0].replace(code, '')} {answer.status_code} {answer.headers} {answer.text}"
        )
    return "\n".join(told)


def metrics(stack: Stack) -> str:
    """The metrics of the bridge and the API."""
    bridge = requests.get(f"http://{LOOPBACK}:{stack.ports['BRIDGE_HEALTH_PORT']}/metrics", timeout=60)
    assert bridge.ok
    return bridge.text + stack.api().call("GET", "/api/metrics").text


def titles(stack: Stack) -> str:
    """The command lines of all processes of the stack, which every user of the machine can see."""
    processes = {}
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            processes[int(entry.name)] = (int(fields[1]), (entry / "cmdline").read_bytes())
        except (OSError, ValueError, IndexError):
            continue  # not a process, or it has ended
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
