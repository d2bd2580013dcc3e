"""Run the migrations on DATABASE_URL, make the views of callers of chosen sites, and set the components' rights.

All of it is one transaction. Concurrent runs wait for each other (a Postgres advisory lock), so every starting instance
may run `alembic upgrade head`.
"""

import time

import sqlalchemy as sa
from alembic import context
from alembic.util import CommandError
from sqlalchemy.dialects.postgresql.base import ischema_names

from migrations import rights, site_views
from shared.config import load
from shared.postgres.door import engine_for
from shared.tables import Xid8, metadata

MIGRATION_LOCK = 7_305_001  # an arbitrary number, used by no other lock of this database
WAIT_SECONDS = 120
OF_BEFORE = (
    "The database stands at {}, which is no migration any more. Of a trial: `make reset`. To keep its data, run"
    " `alembic upgrade head` of $(git log -1 --format=%H -- migrations/versions/0076_one_breaker.py)~ first."
)
ischema_names["xid8"] = Xid8  # so that comparisons with tables.py know this type


def run() -> None:
    """Upgrade by the command line."""
    config = load(required=("DATABASE_URL",))
    engine = engine_for(config["DATABASE_URL"], "migrations", pool_size=1)
    try:
        _migrate(engine, config["DATABASE_ROLE_PASSWORDS"])
    finally:
        engine.dispose()  # ends the session, and with it the lock


def _migrate(engine: sa.Engine, passwords: dict[str, str]) -> None:
    with engine.connect() as connection:
        _wait_for_lock(connection)
        connection.execute(sa.text("SET statement_timeout = '300s'"))
        connection.execute(sa.text("SET lock_timeout = '10s'"))
        connection.commit()
        context.configure(
            connection=connection,
            target_metadata=metadata,
            transaction_per_migration=False,
            include_name=_is_not_a_partition,
        )
        with context.begin_transaction():
            _refuse_unknown(context.get_context().get_current_revision())
            if _moves():
                site_views.drop(connection)
            context.run_migrations()
            site_views.make(connection)
            rights.apply(connection, passwords)


def _moves() -> bool:
    """Whether this command changes the schema. `alembic check` has no destination."""
    try:
        destination = context.get_revision_argument()
    except KeyError:
        return False
    return destination != context.get_context().get_current_revision()


def _refuse_unknown(revision: str | None) -> None:
    """Say what to do about a database whose revision no longer exists."""
    known = {script.revision for script in context.script.walk_revisions()}
    if revision is not None and revision not in known and revision < "0077":
        raise CommandError(OF_BEFORE.format(revision))


def _is_not_a_partition(name: str | None, kind: str, _parents: object) -> bool:
    """Whether to compare this table: weekly partitions of client_logs are not in tables.py, only their parent is."""
    return not (kind == "table" and name is not None and name.startswith("client_logs_"))


def _wait_for_lock(connection: sa.Connection) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not connection.execute(sa.select(sa.func.pg_try_advisory_lock(MIGRATION_LOCK))).scalar_one():
        if time.monotonic() > deadline:
            raise TimeoutError(f"another migration has been running for {WAIT_SECONDS} seconds")
        time.sleep(0.2)
    connection.commit()


run()
