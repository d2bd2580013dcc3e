"""Traps of pg8000, measured in this stack; each test also shows the bad setting."""

import socket
from urllib.parse import urlsplit

import pg8000.dbapi
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from shared.postgres.door import SOCKET_TIMEOUT_SECONDS, STATEMENT_TIMEOUT_MS, engine_for, is_away


def nodelay(raw: socket.socket) -> bool:
    return bool(raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


def test_trap_7_large_parameters_are_sent_at_once_and_a_stopped_backend_is_given_up(database_url: str) -> None:
    engine = engine_for(database_url, "tests", 1)
    try:
        with engine.connect() as connection:
            raw = connection.connection.dbapi_connection._usock  # type: ignore[union-attr]
            told = connection.execute(sa.text("SHOW statement_timeout")).scalar_one()

            assert nodelay(raw)
            assert raw.gettimeout() == SOCKET_TIMEOUT_SECONDS
            assert told == f"{STATEMENT_TIMEOUT_MS // 1000}s"
    finally:
        engine.dispose()


def test_trap_7_a_bare_pg8000_delays_and_waits_for_ever(database_url: str) -> None:
    address = urlsplit(database_url)
    connection = pg8000.dbapi.connect(
        address.username, address.hostname, address.path.lstrip("/"), address.port, address.password
    )
    try:
        raw = connection._usock

        assert not nodelay(raw)
        assert raw.gettimeout() is None
    finally:
        connection.close()


def test_trap_7_a_statement_that_takes_too_long_is_ended_by_postgres(database_url: str) -> None:
    engine = engine_for(database_url, "tests", 1)
    try:
        with engine.connect() as connection:
            connection.execute(sa.text("SET statement_timeout = 50"))
            with pytest.raises(DBAPIError) as ended:
                connection.execute(sa.text("SELECT pg_sleep(5)"))
            assert is_away(ended.value)
            connection.rollback()
            assert connection.execute(sa.text("SELECT 1")).scalar_one() == 1
    finally:
        engine.dispose()
