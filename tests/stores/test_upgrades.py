"""Every release's database becomes today's, keeps its rows, and serves the release's code again (decision 29)."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine

from deploy.box import migrations
from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from shared.postgres.door import engine_for
from tests.stores.kept_releases import load, releases
from tests.stores.schema_promises import breaches, chain, promises
from tests.stores.test_old_code_survives import matters

TABLES = sa.text("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace")
MOVED = {"alembic_version"}


def rows(connection: Connection) -> dict[str, int]:
    """Table -> how many rows it has."""
    names = set(connection.execute(TABLES).scalars()) - MOVED
    return {name: int(connection.execute(sa.text(f'SELECT count(*) FROM "{name}"')).scalar_one()) for name in names}


@pytest.fixture
def database(postgres_server: postgres.Cluster) -> Iterator[str]:
    """The name of an empty database."""
    name = f"upgrade_{secrets.token_hex(4)}"
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"CREATE DATABASE {name}")
    yield name
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def started(postgres_server: postgres.Cluster, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """That database, which the migrations of a box are told of."""
    monkeypatch.setenv("DATABASE_URL", postgres_server.url(database))
    made = engine_for(postgres_server.url(database), "tests", pool_size=1)
    yield made
    made.dispose()


@pytest.mark.parametrize("kept", releases(), ids=lambda path: path.stem)
def test_a_database_of_a_release_becomes_todays_and_still_serves_that_release(
    postgres_server: postgres.Cluster, database: str, engine: Engine, started: Engine, kept: Path
) -> None:
    load(postgres_server, database, kept.read_text(encoding="utf-8"))
    at = migrations.revision_of(started)
    with started.connect() as connection:
        had, promised = rows(connection), promises(connection)
    assert sum(count > 0 for count in had.values()) > 20, "the dump has rows of each noun"

    assert migrations.main() == 0

    command.check(Config(REPOSITORY / "alembic.ini"))
    with engine.connect() as fresh, started.connect() as connection:
        upgraded, new = promises(connection), promises(fresh)
        assert breaches(new, upgraded, connection) | breaches(upgraded, new, connection) == set()
        lost = {name for name, count in rows(connection).items() if count < had.get(name, 0)}
        assert lost == set()
        broken = {breach for breach in breaches(promised, upgraded, connection) if matters(breach)}
    order = [script.revision for script in chain()]
    newer = [script for script in chain() if order.index(script.revision) > order.index(str(at))]
    assert broken <= {breach for script in newer for breach in getattr(script.module, "SURVIVES", {})}
