"""A copy of the database that is restored later, so that all later changes are lost, as after a failover with a lag.

The rows of all tables and the sequences are copied and restored, without triggers and keys. A copied data directory
would have the same effect, but needs a restart of Postgres each time. Sessions end in both cases.
"""

from contextlib import suppress
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

TABLES: Final = sa.text(
    """
    SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> 'alembic_version' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY c.relname ORDER BY c.relname
    """
)
SEQUENCES: Final = sa.text("SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = 'public'")
END_SESSIONS: Final = sa.text(
    """
    SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name IN ('simulated bridge', 'simulated tick')
    """
)
LEADS: Final = sa.text(
    """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
    WHERE locktype = 'advisory' AND objid = :key AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """
)


class Copies:
    """Copies of one database, one at a time."""

    def __init__(self, superuser_url: str) -> None:
        """Open no connection yet."""
        self._engine: Engine = sa.create_engine(
            superuser_url.replace("postgresql://", "postgresql+pg8000://"), isolation_level="AUTOCOMMIT"
        )
        self._sequences: dict[str, int | None] = {}
        self._lives = 0
        self._ghost: Connection | None = None
        self._haunted: int | None = None  # the lock that the dead session holds

    @property
    def life(self) -> str:
        """A text that changes with each restore, like the start time of Postgres."""
        return f"life {self._lives}"

    def make(self) -> None:
        """Make the copy."""
        with self._engine.connect() as connection:
            connection.execute(sa.text("CREATE SCHEMA IF NOT EXISTS was"))
            for table in connection.execute(TABLES).all():
                name = table.name
                connection.execute(sa.text(_like(name, table.columns)))
                connection.execute(sa.text(f"TRUNCATE was.{name}"))
                connection.execute(sa.text(_all(f"was.{name}", f"public.{name}", table.columns)))
            self._sequences = {row.name: row.last_value for row in connection.execute(SEQUENCES)}

    def put_back(self) -> None:
        """Restore the copy, and end all sessions."""
        self._lives += 1
        with self._engine.connect() as connection:
            connection.execute(END_SESSIONS)
            connection.execute(sa.text("SET session_replication_role = replica"))
            tables = connection.execute(TABLES).all()
            connection.execute(sa.text("TRUNCATE " + ", ".join(f"public.{table.name}" for table in tables)))
            for table in tables:
                connection.execute(sa.text(_all(f"public.{table.name}", f"was.{table.name}", table.columns)))
            for name, last in self._sequences.items():
                value: dict[str, Any] = {"name": f"public.{name}", "last": last or 1, "called": last is not None}
                connection.execute(sa.text("SELECT setval(CAST(:name AS regclass), :last, :called)"), value)
            connection.execute(sa.text("SET session_replication_role = DEFAULT"))

    def haunt(self, lock: int) -> None:
        """Keep this lock in a session whose process is dead."""
        self.exorcise()
        self._ghost, self._haunted = self._engine.connect(), lock
        self._ghost.execute(LEADS, {"key": lock})
        self._ghost.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": lock})

    def exorcise(self) -> None:
        """End that session. When this returns, nobody holds the lock."""
        ghost, self._ghost = self._ghost, None
        if ghost is not None:
            with suppress(sa.exc.SQLAlchemyError):
                ghost.invalidate()
            ghost.close()
            with self._engine.connect() as connection:
                connection.execute(LEADS, {"key": self._haunted})

    def close(self) -> None:
        """End every session."""
        self.exorcise()
        self._engine.dispose()


def _like(name: str, columns: str) -> str:
    """SQL of a table with these columns and without constraints."""
    return f"CREATE UNLOGGED TABLE IF NOT EXISTS was.{name} AS SELECT {columns} FROM public.{name} WITH NO DATA"


def _all(target: str, source: str, columns: str) -> str:
    return f"INSERT INTO {target} ({columns}) OVERRIDING SYSTEM VALUE SELECT {columns} FROM {source}"
