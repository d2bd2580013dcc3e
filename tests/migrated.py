"""A migrated Postgres: made once, its files copied for each use."""

import fcntl
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from deploy.local import postgres
from deploy.parts import database_roles
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import free_port
from migrations import roles
from tests import volatile

OWNERS_PASSWORD: Final = "owner"
TRIES_WHAT_IT_MAY_NOT: Final = "rights:"  # the application name in tests/stores/test_component_rights.py
PASSWORDS: Final = {component: f"the password of {component}" for component in roles.WITH_ROLES}


def url_of(cluster: postgres.Cluster) -> str:
    """The owner's address of its migrated database."""
    return cluster.url(postgres.DATABASE, postgres.OWNER, OWNERS_PASSWORD)


def address_for(component: str, owners_url: str) -> str:
    """The address of this database for one component, with that component's production rights."""
    return database_roles.address_for(component, owners_url, PASSWORDS)


def copied(folder: Path) -> postgres.Cluster:
    """Copy one below `folder`; it is not running."""
    made = _made()
    cluster = replace(made, data=folder / made.data.name, port=free_port())
    subprocess.run(["cp", "-a", made.data, cluster.data], check=True)  # with its owner, the user of Postgres
    return cluster


@contextmanager
def running() -> Iterator[postgres.Cluster]:
    """A running copy, removed afterwards. Fails if it has refused a right to a component."""
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as folder:
        cluster, log = copied(Path(folder)), Path(folder) / "log"
        with postgres.serve(cluster, log, durable=False):
            yield cluster
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    said = {line.partition("] ")[2] for line in lines if "permission denied for" in line}
    refused = sorted(line for line in said if not line.startswith(TRIES_WHAT_IT_MAY_NOT))
    assert not refused, "\n".join(refused)


@cache
def _made() -> postgres.Cluster:
    """The original. The first caller makes it; all others wait."""
    folder = volatile.kept()
    with (folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        whole = folder / "password"  # written last
        programs = postgres.find_programs()
        password = whole.read_text(encoding="ascii") if whole.exists() else secrets.token_urlsafe(16)
        cluster = postgres.Cluster(programs, folder / f"pg{programs.major}", free_port(), password)
        if not whole.exists():
            shutil.rmtree(cluster.data, ignore_errors=True)
            _make(cluster, folder / "log")
            whole.write_text(password, encoding="ascii")
    return cluster


def _make(cluster: postgres.Cluster, log: Path) -> None:
    postgres.initialise(cluster, sync=False)
    with postgres.serve(cluster, log, durable=False):
        upgrade(postgres.ensure_database(cluster, OWNERS_PASSWORD))
        with postgres.superuser(cluster) as connection:  # tests end the sessions of components
            connection.run(f"GRANT pg_signal_backend TO {postgres.OWNER}")


def upgrade(url: str) -> None:
    """Migrate this database to the head, like every start."""
    command = [sys.executable, "-m", "alembic", "upgrade", "head"]
    given = {"DATABASE_URL": url, "DATABASE_ROLE_PASSWORDS": json.dumps(PASSWORDS)}
    subprocess.run(command, check=True, cwd=REPOSITORY, env={**os.environ, **given}, capture_output=True)
