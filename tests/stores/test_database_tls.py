"""Which Postgres a connection trusts: a real one with TLS, and certificate authorities of the test."""

import base64
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from deploy.local import postgres
from deploy.parts import guardian
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from shared.postgres.door import engine_for, is_away
from tests import volatile
from tests.deploy.certificates import Authority


@dataclass(frozen=True)
class Served:
    """A Postgres with TLS: its port, the authority of its certificate (for 127.0.0.1), and another authority."""

    port: int
    authority: Path
    stranger: Path

    def ask(self, host: str, query: str) -> bool:
        """Whether the session is encrypted. Raises DBAPIError."""
        engine = engine_for(f"postgresql://postgres:superuser@{host}:{self.port}/postgres{query}", "tests", 1)
        try:
            with engine.connect() as connection:
                mine = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
                return bool(connection.execute(sa.text(mine)).scalar_one())
        finally:
            engine.dispose()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as folder:
        place, programs = Path(folder), postgres.find_programs()
        place.chmod(0o711)
        made = postgres.Cluster(programs, place / f"pg{programs.major}", free_port(), "superuser")
        postgres.initialise(made, sync=False)
        authority = Authority(place)
        certificate, key = authority.sign("postgres.test")
        guardian.own(key, postgres.system_user())
        elsewhere = place / "elsewhere"
        elsewhere.mkdir()
        settings = ("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")
        command = (*postgres.command(made, durable=False), *(part for one in settings for part in ("-c", one)))
        log, user = place / "log", postgres.system_user()
        with running(command, postgres.answers(made), log, stop_signal=postgres.STOP_SIGNAL, user=user):
            yield Served(made.port, authority.ca_file, Authority(elsewhere).ca_file)


@pytest.mark.parametrize(
    ("host", "query", "encrypted"),
    [
        ("127.0.0.1", "", False),
        ("127.0.0.1", "?sslmode=require", True),
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert={authority}", True),
        ("localhost", "?sslmode=verify-ca&sslrootcert={authority}", True),
        ("localhost", "?sslmode=verify-ca&sslrootcert={inline}", True),
    ],
)
def test_a_server_that_is_the_right_one_is_spoken_with(served: Served, host: str, query: str, encrypted: bool) -> None:
    inline = quote("base64:" + base64.b64encode(served.authority.read_bytes()).decode(), safe="")

    assert served.ask(host, query.format(authority=served.authority, inline=inline)) is encrypted


@pytest.mark.parametrize(
    ("host", "query"),
    [
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert={stranger}"),
        ("127.0.0.1", "?sslmode=verify-ca&sslrootcert={stranger}"),
        ("127.0.0.1", "?sslmode=verify-full&sslrootcert=system"),
        ("localhost", "?sslmode=verify-full&sslrootcert={authority}"),
    ],
    ids=["another authority", "another authority, no name", "none that this machine trusts", "another name"],
)
def test_a_server_that_is_another_one_is_told_nothing(served: Served, host: str, query: str) -> None:
    with pytest.raises(DBAPIError, match="the server's certificate is wrong") as caught:
        served.ask(host, query.format(authority=served.authority, stranger=served.stranger))

    assert is_away(caught.value), "every component waits for the right one, and says what it waits for"
