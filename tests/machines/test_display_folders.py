"""What the agent's user lays into its folders leads root nowhere, whichever command of the agent root runs."""

import http.server
import json
import os
import pwd
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.parts.layout import REPOSITORY
from displays.agent.settings import Places

AGENT = pwd.getpwnam("nobody")
SECRET = b"of root alone"
MQTT = {"host": "127.0.0.1", "port": 1, "tls": False, "ca_pem": None}
LOGIN = {"uuid": "u", "username": "u", "password": "secret", "topic_root": "signage", "mqtt": MQTT}
STORED = {**MQTT, **{name: text for name, text in LOGIN.items() if name != "mqtt"}}
PATIENCE_SECONDS = 120  # a command that waits for a pipe waits for ever


class Service(http.server.BaseHTTPRequestHandler):
    """Gives everybody a login."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.end_headers()
        self.wfile.write(json.dumps(LOGIN).encode())


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def places() -> Iterator[Places]:
    """A machine's folders, in which `nobody` is the agent's user, and a file of root's."""
    with tempfile.TemporaryDirectory(prefix="signage-display-") as folder:
        made = Places(Path(folder))
        made.root.chmod(0o755)
        (made.root / "victim").write_bytes(SECRET)
        (made.root / "victim").chmod(0o600)
        (made.root / "roots").mkdir(mode=0o755)
        for theirs in (made.state, made.status.parent):
            theirs.mkdir(parents=True)
            os.chown(theirs, AGENT.pw_uid, AGENT.pw_gid)
        yield made


def root_runs(places: Places, *command: str) -> tuple[str, list[str]]:
    """What a command of root says, and what root touched below the folders of the agent's user."""
    program = (sys.executable, "-m", "tests.machines.displays.as_root", str(places.root), AGENT.pw_name, *command)
    done = subprocess.run(
        program, check=False, capture_output=True, text=True, cwd=REPOSITORY, timeout=PATIENCE_SECONDS
    )
    assert done.returncode == 0, done.stderr
    said, _, touched = done.stdout.rstrip().rpartition("\n")
    return said, json.loads(touched)


def link_to(name: str) -> Callable[[Path, Path], None]:
    return lambda trap, root: trap.symlink_to(root / name)


TRAPS: dict[str, Callable[[Path, Path], None]] = {
    "a link to a file": link_to("victim"),
    "a link to no file yet": link_to("roots/new"),
    "a hard link": lambda trap, root: trap.hardlink_to(root / "victim"),
    "a pipe": lambda trap, _root: os.mkfifo(trap),
    "a link to a folder": link_to("roots"),
    "a folder": lambda trap, _root: trap.mkdir(),
}
PLACES = ("state/.probe", "state/.probe.new", "state/credentials.json", "state/credentials.json.new", "run/status.json")


@pytest.mark.parametrize("kind", TRAPS)
@pytest.mark.parametrize("place", PLACES)
def test_root_follows_nothing_that_the_agents_user_laid(places: Places, service: str, place: str, kind: str) -> None:
    folder = {"state": places.state, "run": places.status.parent}[place.partition("/")[0]]
    trap = folder / place.partition("/")[2]
    TRAPS[kind](trap, places.root)
    os.chown(trap, AGENT.pw_uid, AGENT.pw_gid, follow_symlinks=False)
    victim = places.root / "victim"
    if kind == "a hard link":  # the chown was that of the file
        os.chown(victim, 0, 0)
    before = victim.stat()

    said, _ = root_runs(places, "enrol", service)
    for command in ("status", "doctor"):
        root_runs(places, command)

    after = victim.stat()
    assert (after.st_uid, after.st_mode, after.st_mtime_ns) == (before.st_uid, before.st_mode, before.st_mtime_ns)
    assert victim.read_bytes() == SECRET
    assert list((places.root / "roots").iterdir()) == []
    if "It is enrolled" in said:
        assert (places.credentials.stat().st_uid, places.credentials.stat().st_mode & 0o777) == (AGENT.pw_uid, 0o600)
        assert json.loads(places.credentials.read_bytes())["uuid"] == "u"
    else:
        assert kind.endswith("folder") or "cannot be" in said


def test_a_name_that_changes_while_root_writes_leads_it_nowhere(places: Places, service: str) -> None:
    """The agent's user lays a link there, and takes it away, as fast as it can."""
    draft = places.state / "credentials.json.new"
    swaps = f"while :; do ln -sf {places.root}/roots/new {draft}; rm -f {draft}; done"
    person = ["setpriv", f"--reuid={AGENT.pw_uid}", f"--regid={AGENT.pw_gid}", "--clear-groups", "sh", "-c", swaps]
    with subprocess.Popen(person, stderr=subprocess.DEVNULL) as swapping:
        try:
            for _ in range(10):
                said, _ = root_runs(places, "enrol", service)
                assert "It is enrolled" in said or "cannot be stored" in said
        finally:
            swapping.kill()

    assert list((places.root / "roots").iterdir()) == []


def test_enrolling_prints_no_control_characters_of_the_service(
    places: Places, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LOGIN, "uuid", "\x1b[2J\nEnrolled as root")

    said, _ = root_runs(places, "enrol", service)

    assert said.startswith("Enrolled as \ufffd[2J\ufffdEnrolled as root. Player: ")
    assert "\x1b" not in said


@pytest.mark.parametrize(
    "written",
    ["[" * 100_000, "[]", '{"uuid": "u"}', json.dumps(STORED | {"port": 99_999}), json.dumps(STORED | {"host": [1]})],
)
def test_doctor_finds_no_login_in_what_is_none(places: Places, written: str) -> None:
    places.credentials.write_text(written)
    places.credentials.chmod(0o644)

    said, _ = root_runs(places, "doctor")

    assert f"BAD  login: {places.credentials} cannot be read" in said


def test_doctor_prints_no_control_characters_of_the_agents_user(places: Places) -> None:
    places.credentials.write_text(json.dumps(STORED | {"uuid": "\x1b[2J", "url": "file:///victim\x07"}))
    places.credentials.chmod(0o644)

    said, _ = root_runs(places, "doctor")

    assert "login: \ufffd[2J" in said
    assert "BAD  gateway: file:///victim\ufffd\n" in said


def test_root_opens_nothing_by_a_path_below_a_folder_of_the_agents_user(places: Places, service: str) -> None:
    places.status.write_text("{}")

    for command in (("enrol", service), ("doctor",), ("status",), ("player", "kiosk.service"), ("enrol", service)):
        _, touched = root_runs(places, *command)
        assert touched == [], command
