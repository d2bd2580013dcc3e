"""The door to Postgres: a fault of a connection never reaches its next user."""

import re
import socket
import struct
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

import functions
import shared
from deploy.local import postgres
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from shared.postgres import door
from shared.postgres.door import engine_for, is_away, transaction
from tests import volatile

ROOT = Path(__file__).parents[2]
LONE_SURROGATE = "\ud800"


@pytest.fixture
def alone(database_url: str) -> Iterator[Engine]:
    """An engine with one connection, so that the next user gets the same one."""
    engine = engine_for(database_url, "tests", pool_size=1)
    yield engine
    engine.dispose()


def echo(engine: Engine, number: int) -> int:
    with transaction(engine) as connection:
        return int(connection.execute(sa.select(sa.literal(number))).scalar_one())


def test_trap_6_a_text_that_cannot_be_sent_shifts_no_later_answers(alone: Engine) -> None:
    with pytest.raises(UnicodeEncodeError), transaction(alone) as connection:
        connection.execute(sa.select(sa.literal(LONE_SURROGATE)))

    assert [echo(alone, number) for number in range(5)] == [0, 1, 2, 3, 4]


def test_trap_6_without_the_guard_the_answers_are_shifted(database_url: str) -> None:
    unguarded = sa.create_engine(database_url.replace("postgresql", "postgresql+pg8000"), pool_size=1, max_overflow=0)
    with pytest.raises(UnicodeEncodeError), unguarded.begin() as connection:
        connection.execute(sa.select(sa.literal(LONE_SURROGATE)))

    answers: list[Any] = []
    for number in range(3):
        try:
            answers.append(echo(unguarded, number))
        except Exception as error:  # noqa: BLE001 - whatever a shifted answer leads to
            answers.append(type(error).__name__)
    unguarded.dispose()

    assert answers != [0, 1, 2]


def ask_a_silent_backend(engine: Engine) -> None:
    """Run a query that takes longer than the socket's timeout."""
    with transaction(engine) as connection:
        raw: Any = connection.connection.dbapi_connection
        raw._usock.settimeout(0.2)
        connection.execute(sa.text("SELECT pg_sleep(60)"))


def test_a_silent_backend_is_an_operational_error_and_the_next_connection_works(alone: Engine) -> None:
    with pytest.raises(OperationalError) as caught:
        ask_a_silent_backend(alone)

    assert caught.value.connection_invalidated
    assert echo(alone, 7) == 7


def test_a_server_that_takes_a_connection_and_says_nothing_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "SOCKET_TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        engine = engine_for(f"postgresql://signage@127.0.0.1:{server.getsockname()[1]}/signage", "tests")
        with pytest.raises(InterfaceError) as caught, engine.connect():
            pass

    assert is_away(caught.value)


@pytest.mark.parametrize(
    ("state", "why", "away"),
    [
        ("XX000", "could not write init file", True),  # the error of Postgres with a full disk
        ("58030", "could not write to file", True),
        ("57P03", "the database system is starting up", True),
        ("3D000", "no such database", False),
    ],
)
def test_a_server_that_opens_no_session_is_away_where_that_passes(state: str, why: str, away: bool) -> None:
    fields = b"".join(f"{name}{value}\0".encode() for name, value in (("S", "FATAL"), ("C", state), ("M", why)))
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:

        def refuse() -> None:
            with server.accept()[0] as connection:
                connection.recv(1024)
                connection.sendall(b"E" + struct.pack("!i", len(fields) + 5) + fields + b"\0Z\0\0\0\5I")

        refusing = pool.submit(refuse)
        engine = engine_for(f"postgresql://signage@127.0.0.1:{server.getsockname()[1]}/signage", "tests")
        with pytest.raises(DBAPIError) as caught:
            echo(engine, 1)
        refusing.result(60)

    assert is_away(caught.value) is away


def test_a_server_elsewhere_without_tls_is_told_nothing() -> None:
    """pg8000 would continue without TLS by default."""
    elsewhere, told = "127.0.0.2", []
    with socket.create_server((elsewhere, 0)) as server, ThreadPoolExecutor(1) as pool:

        def refuse_tls() -> None:
            with server.accept()[0] as connection:
                told.append(connection.recv(1024))
                connection.sendall(b"N")
                told.append(connection.recv(1024))

        answering = pool.submit(refuse_tls)
        engine = engine_for(f"postgresql://somebody:secret@{elsewhere}:{server.getsockname()[1]}/any", "tests")
        with pytest.raises(InterfaceError, match="refuses SSL"):
            echo(engine, 1)
        answering.result(60)

    assert told == [struct.pack("!ii", 8, 80877103), b""]  # the request for TLS, and then the end


def test_the_product_imports_its_own_packages() -> None:
    """PyPI has unrelated packages named `shared` and `functions`."""
    assert [Path(package.__file__ or "").parents[1] for package in (shared, functions)] == [ROOT, ROOT]


def test_no_two_advisory_locks_are_the_same() -> None:
    sources = [
        p
        for folder in ("shared", "extensions", "functions", "bridge", "migrations")
        for p in (ROOT / folder).rglob("*.py")
    ]
    numbers = [
        number for path in sources for number in re.findall(r"\b7_305_\d{3}\b", path.read_text(encoding="utf-8"))
    ]

    assert len(numbers) >= 4
    assert len(set(numbers)) == len(numbers)


WATCHED = {"tcp_keepalives_idle": "15", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}


def test_a_peer_that_vanished_is_noticed_by_both_ends_of_a_connection(database_url: str) -> None:
    engine = engine_for(database_url, "tests", pool_size=1)
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        theirs = {name: connection.execute(sa.text(f"SHOW {name}")).scalar_one() for name in WATCHED}
        answered_within = connection.execute(sa.text("SHOW tcp_user_timeout")).scalar_one()
        options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
        ours = [raw._usock.getsockopt(socket.IPPROTO_TCP, option) for option in options]
        assert raw._usock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    engine.dispose()

    assert (theirs, answered_within) == (WATCHED, "30000")
    assert ours == [15, 5, 3, 30_000]


def test_every_connection_of_the_product_is_opened_at_this_door() -> None:
    """Any other connection would not notice that its peer vanished."""
    product = [
        path
        for folder in ("shared", "extensions", "functions", "bridge", "migrations")
        for path in (ROOT / folder).rglob("*.py")
    ]
    opened = re.compile(r"create_engine\(|pg8000\.[a-z.]*(connect|Connection)\(|driver\.Connection\(")

    found = {str(path.relative_to(ROOT)) for path in product if opened.search(path.read_text(encoding="utf-8"))}

    assert found == {"shared/postgres/door.py"}


def test_a_unix_socket_needs_neither_tls_nor_keepalives() -> None:
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as folder:
        place = Path(folder)
        place.chmod(0o777)  # Postgres may run as another user
        programs = postgres.find_programs()
        cluster = postgres.Cluster(programs, place / f"pg{programs.major}", free_port(), "superuser")
        postgres.initialise(cluster, sync=False)
        command = (*postgres.command(cluster, durable=False), "-c", f"unix_socket_directories={place}")
        answers, log = postgres.answers(cluster), place / "log"
        with running(command, answers, log, stop_signal=postgres.STOP_SIGNAL, user=postgres.system_user()):
            unix_sock = f"{place}/.s.PGSQL.{cluster.port}"
            engine = engine_for(f"postgresql://postgres:superuser@/postgres?unix_sock={unix_sock}", "tests")
            answer = echo(engine, 7)
            engine.dispose()

    assert answer == 7
