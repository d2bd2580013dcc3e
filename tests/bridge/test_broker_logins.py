"""The server of logins and rights for brokers that ask over HTTP: a real process on a real Postgres."""

import http.client
import os
import resource
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts.broker_logins.cutting import CuttingOff
from deploy.parts.broker_logins.server import MOST_CONNECTIONS
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import accepts, free_port, wait_until
from deploy.parts.short_lived import running
from tests import migrated
from tests.bridge.conftest import SECONDS, Database, eventually
from tests.bridge.test_broker_accounts import enrol
from tests.conftest import patient_engine
from tests.local.mqtt_clients import connected

REVOKE = "UPDATE display_logins SET revoked_at = now() WHERE client_uuid = :u"
DELETE = "UPDATE clients SET deleted_at = now() WHERE uuid = :u"


@dataclass
class Server:
    """A running login server."""

    port: int
    log: Path
    process: "subprocess.Popen[bytes]"

    def ask(self, path: str, method: str = "POST", **fields: str) -> tuple[int, str]:
        """One question; status and answer."""
        link = http.client.HTTPConnection(LOOPBACK, self.port, timeout=SECONDS)
        try:
            head = {"Content-Type": "application/x-www-form-urlencoded"}
            link.request(method, path, urlencode(fields) if method == "POST" else None, head)
            answer = link.getresponse()
            return answer.status, answer.read().decode()
        finally:
            link.close()

    def may_sign_in(self, name: str, password: str, client_id: str | None = None) -> bool:
        asked = {"username": name, "password": password, "vhost": "/", "client_id": client_id or name}
        return self.ask("/user", **asked) == (200, "allow")

    def is_ready(self) -> bool:
        try:
            return self.ask("/readyz", "GET")[0] == 200
        except OSError:
            return False


@contextmanager
def serving(database_url: str, folder: Path, mqtt_url: str = f"mqtt://{LOOPBACK}:1") -> Iterator[Server]:
    port, log, services = free_port(), folder / "logins.log", folder / "services.passwords"
    services.write_text(
        mosquitto.password_lines(mosquitto.service_logins(dict.fromkeys(mosquitto.SERVICES, "service")))
    )
    told = {
        "DATABASE_URL": migrated.address_for("broker_logins", database_url),
        "SERVICES_PASSWORD_FILE": str(services),
        "BROKER_LOGINS_PORT": str(port),
        "MQTT_URL": mqtt_url,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.parts.broker_logins"],
            cwd=REPOSITORY,
            env={**os.environ, **told},
            stdout=output,
            stderr=output,
        )
    try:
        wait_until(accepts(port), SECONDS)
        yield Server(port, log, process)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(60)
        print(log.read_text()[-3000:])
    assert process.returncode == 0


@pytest.fixture(scope="module")
def server(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave it as it was."""
    with serving(database_url, tmp_path_factory.mktemp("logins")) as one:
        eventually(one.is_ready)
        yield one


def test_a_display_that_was_enrolled_just_now_is_let_in_at_its_first_try(server: Server, database: Database) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "one")

    assert server.may_sign_in(name, "one")
    assert not server.may_sign_in(name, "two")
    assert not server.may_sign_in(name, "one", client_id="bridge")
    assert server.ask("/vhost", username=name, vhost="/") == (200, "allow")
    own = {"username": name, "vhost": "/", "resource": "topic", "name": "amq.topic", "permission": "write"}
    assert server.ask("/topic", **own, routing_key=f"signage.{name}.heartbeat") == (200, "allow")
    assert server.ask("/topic", **own, routing_key=f"signage.{uuid.uuid4()}.heartbeat") == (200, "deny")
    queue = {"username": name, "vhost": "/", "resource": "queue", "permission": "configure"}
    assert server.ask("/resource", **queue, name=f"mqtt-subscription-{name}qos1") == (200, "allow")
    assert server.ask("/resource", **queue, name="mqtt-subscription-bridgeqos1") == (200, "deny")


def test_our_services_are_known_by_their_file(server: Server) -> None:
    assert server.may_sign_in("bridge", "service")
    assert server.may_sign_in("bridge_urgent", "service")
    assert server.may_sign_in("api", "service", "api-1")
    assert not server.may_sign_in("bridge", "other")
    assert not server.may_sign_in("bridge", "service", "api-1")


@pytest.mark.parametrize("statement", [REVOKE, DELETE], ids=["login revoked", "client deleted"])
def test_who_may_no_longer_sign_in_is_refused_everything(statement: str, server: Server, database: Database) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "one")
    assert server.may_sign_in(name, "one")

    database.do(statement, u=name)

    eventually(lambda: not server.may_sign_in(name, "one"))
    assert server.ask("/vhost", username=name, vhost="/") == (200, "deny")


def test_a_new_password_takes_the_place_of_the_old_one(server: Server, database: Database) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "old")
    assert server.may_sign_in(name, "old")

    enrol(database, name, "new")

    assert server.may_sign_in(name, "new")
    assert not server.may_sign_in(name, "old")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /user?username=a&password=b HTTP/1.1\r\n\r\n", b"405"),
        (b"POST /other HTTP/1.1\r\nContent-Length: 0\r\n\r\n", b"404"),
        (b"POST /user HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"POST /user HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"413"),
        (b"POST /user HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", b"400"),
        (b"POST /user HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"POST /user HTTP/1.1\r\nContent-Length: 3\r\n\r\na=b&", b"200"),
        (b"POST /user HTTP/1.1\r\nContent-Length: 2\r\n\r\n\xff\xff", b"400"),
        (b"POST /user HTTP/1.1\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", b"431"),
        (b"nonsense\r\n\r\n", b"400"),
    ],
)
def test_a_request_that_no_broker_makes_lets_nobody_in(server: Server, request_bytes: bytes, status: bytes) -> None:
    with socket.create_connection((LOOPBACK, server.port), SECONDS) as link:
        link.sendall(request_bytes)
        answer = link.recv(4096)

    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"allow" not in answer
    assert server.is_ready()


@pytest.mark.parametrize("path", ["/user", "/vhost", "/resource", "/topic"])
def test_a_question_with_too_little_or_nonsense_is_denied(path: str, server: Server) -> None:
    for fields in ({"x": "1"}, {"username": ""}, {"username": "\x00"}, {"username": "é" * 2000, "password": "\x00"}):
        assert server.ask(path, **fields) == (200, "deny")


def test_a_hundred_displays_at_once_are_answered_and_strangers_too(server: Server, database: Database) -> None:
    names = [str(uuid.uuid4()) for _ in range(100)]
    for name in names:
        enrol(database, name, "one")
    strangers = [str(uuid.uuid4()) for _ in range(100)]

    with ThreadPoolExecutor(100) as pool:
        let_in = list(pool.map(lambda name: server.may_sign_in(name, "one"), [*names, *strangers]))

    assert let_in == [True] * 100 + [False] * 100


def test_who_sends_half_a_request_holds_nobody_up(server: Server, database: Database) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "one")
    halves = [socket.create_connection((LOOPBACK, server.port), SECONDS) for _ in range(300)]
    for half in halves:
        half.sendall(b"POST /user HTTP/1.1\r\nContent-Length: 50\r\n\r\nuser")

    assert server.may_sign_in(name, "one")

    for half in halves:
        half.close()


def test_idle_connections_make_room_for_the_broker(server: Server, database: Database) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "one")
    kept = http.client.HTTPConnection(LOOPBACK, server.port, timeout=SECONDS)

    def is_ready() -> bool:
        kept.request("GET", "/readyz")
        return kept.getresponse().read() == b"ready"

    with many_files(), ExitStack() as stack:
        stack.callback(kept.close)
        for number in range(2 * MOST_CONNECTIONS):
            stack.enter_context(socket.create_connection((LOOPBACK, server.port), SECONDS))
            assert number % 1_000 or is_ready()

        assert is_ready()  # the same connection
        assert server.may_sign_in(name, "one")


@contextmanager
def many_files() -> Iterator[None]:
    """Let this process open as many files as it may."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 3 * MOST_CONNECTIONS:
        pytest.skip("this process may not open enough connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_while_postgres_is_away_the_fleet_stays_and_nobody_new_gets_in(tmp_path: Path) -> None:
    name, stranger = str(uuid.uuid4()), str(uuid.uuid4())
    cluster = migrated.copied(tmp_path)
    owners_url, log = migrated.url_of(cluster), tmp_path / "postgres.log"
    with ExitStack() as there:
        there.enter_context(postgres.serve(cluster, log, durable=False))
        with patient_engine(owners_url) as engine:
            enrol(Database(engine), name, "one")
        with serving(owners_url, tmp_path) as server:
            eventually(server.is_ready)

            there.close()
            eventually(lambda: "database_away" in server.log.read_text())
            assert server.may_sign_in(name, "one")
            assert not server.may_sign_in(name, "two")
            assert not server.may_sign_in(stranger, "one")
            assert server.may_sign_in("bridge", "service")

            with postgres.serve(cluster, log, durable=False):
                eventually(lambda: "database_back" in server.log.read_text())
                assert server.may_sign_in(name, "one")


def test_a_server_that_starts_without_postgres_lets_no_display_in_until_it_is_there(tmp_path: Path) -> None:
    with serving(f"postgresql://signage:x@{LOOPBACK}:{free_port()}/signage", tmp_path) as server:
        assert not server.is_ready()
        assert not server.may_sign_in(str(uuid.uuid4()), "one")
        eventually(lambda: "database_away" in server.log.read_text())


def test_a_broker_that_believes_everybody_loses_the_connection_of_who_is_revoked(
    database_url: str, database: Database, tmp_path: Path
) -> None:
    """Runs on a Mosquitto that lets everybody in, for it too keeps whom it once let in."""
    gone, other = str(uuid.uuid4()), str(uuid.uuid4())
    for name in (gone, other):
        enrol(database, name, "one")
    with open_broker(tmp_path) as port, serving(database_url, tmp_path, f"mqtt://{LOOPBACK}:{port}") as server:
        eventually(server.is_ready)
        with connected(port, gone, "one", gone) as (_, cut), connected(port, other, "one", other) as (_, kept):
            database.do(REVOKE, u=gone)

            assert cut.disconnected.wait(SECONDS)
            assert not kept.disconnected.is_set()
        eventually(lambda: gone in server.log.read_text())


def test_a_connection_that_cannot_be_ended_now_is_ended_later(tmp_path: Path) -> None:
    name = str(uuid.uuid4())
    cutting = CuttingOff(f"mqtt://{LOOPBACK}:{free_port()}")
    cutting.owe([name])
    cutting.cut()  # nobody is there
    with open_broker(tmp_path) as port, connected(port, name, "one", name) as (_, cut):
        later = CuttingOff(f"mqtt://{LOOPBACK}:{port}")
        later.owe([name])
        later.cut()

        assert cut.disconnected.wait(SECONDS)
    assert not later.is_busy_with(name)
    assert not later.is_pass(name, "")


@contextmanager
def open_broker(folder: Path) -> Iterator[int]:
    """The port of a Mosquitto that lets everybody in."""
    port, configuration = free_port(), folder / "open.conf"
    configuration.write_text(f"allow_anonymous true\nlistener {port} {LOOPBACK}\n")
    command = (str(mosquitto.find_program()), "-c", str(configuration))
    folder.chmod(0o755)
    with running(command, accepts(port), folder / "broker.log", user=mosquitto.system_user()):
        yield port
