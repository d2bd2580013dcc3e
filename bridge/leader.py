"""Leader election: the leading bridge holds a Postgres advisory lock in the session that writes its batches.

The lock lives as long as the session; when the session dies, it can commit no further batch. Each leader has its own
epoch (a fencing token), and every batch is committed under a check of it. Any number of other bridges stand by.
"""

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import pg8000.dbapi
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from shared.leadership import operations as leadership
from shared.leadership import store as leadership_store
from shared.postgres.door import said_by_postgres
from shared.postgres.query import Query
from shared.structured_log import Outage, event

FIRST_BACK_OFF_SECONDS: Final = 0.2
LONGEST_BACK_OFF_SECONDS: Final = 5.0
DATABASE_ERRORS: Final = (SQLAlchemyError, OSError)
WHICH_SESSION: Final = "SELECT pg_backend_pid()"
SESSION = Query(WHICH_SESSION, int)
POOLED: Final = "behind a pooler in transaction mode: the bridge needs the server itself"
UNSUPPORTED: Final = "unsupported startup parameter"  # pgbouncer's error for our connection settings


class LeadershipLost(Exception):
    """Another bridge leads: nothing of the batch was written, and nothing may be acknowledged."""


class DatabaseAway(Exception):
    """The database cannot be used now, or was a moment ago: try again later."""


class Leader:
    """Holds the one connection that the bridge uses, and with it the lead."""

    def __init__(self, engine: Engine, instance: str, regained: Callable[[bool], None] = lambda _other: None) -> None:
        """`instance` is the unique name of this process. No connection is opened yet.

        `regained` is called when the lead was taken back in a new session, before the session is used. Postgres may
        have lost the last commits (a failover, a restored backup). The argument is True when Postgres was restarted or
        is another server.
        """
        self.instance = instance
        self._regained = regained
        self._life: str | None = None  # identity of the running Postgres when the lead was last taken
        self.epoch: int | None = None  # while this bridge leads
        self._engine = engine
        self._connection: Connection | None = None
        self._failures = 0
        self._outage = Outage("database")
        self._not_before = 0.0
        self._has_own_session = False  # True once it is proven that no pooler shares our session
        self.refusal: str | None = None
        """Why this bridge can never lead, as text for people."""

    def try_lead(self) -> bool:
        """Become the leader if there is none; True when this bridge leads. Raises DatabaseAway."""
        try:
            connection = self._opened()
            if self._is_shared(connection):
                self._note_pooler()
                raise self.away(None)
            with connection.begin():
                self.epoch = leadership.lead(connection, self.instance)
                self._life = leadership_store.life(connection)
        except DATABASE_ERRORS as error:
            raise self.away(error) from error
        if self.epoch is not None:
            event("lead_taken", "this bridge leads", epoch=self.epoch, instance=self.instance)
        return self.epoch is not None

    def connection(self) -> Connection:
        """The connection, whose session holds the lead.

        Raises:
            DatabaseAway: the database cannot be used, or the back-off is not over.
            LeadershipLost: another bridge leads now, or led since the last session.
        """
        if time.monotonic() < self._not_before:
            raise DatabaseAway
        if self._connection is None:
            self._lead_again()
        return self._opened()

    @contextlib.contextmanager
    def database(self) -> Iterator[Connection]:
        """The connection, for work that opens its own transactions. Raises DatabaseAway and LeadershipLost.

        An error of the database becomes DatabaseAway, and the connection is closed.
        """
        connection = self.connection()
        try:
            yield connection
        except DATABASE_ERRORS as error:
            raise self.away(error) from error
        except Exception as error:
            if connection.invalidated:
                raise self.away(error) from error
            raise
        self._failures = 0
        self._outage.over()

    def _is_shared(self, connection: Connection) -> bool:
        """Whether a pooler between us and the server shares our session with others after each transaction.

        The session holds the lead. Behind such a pooler two bridges could lead at once, or none after a kill -9. On one
        connection the pooler cannot be seen. While a second connection has a transaction open, it shows: both have the
        same session, or ours changes.
        """
        if self._has_own_session:
            return False
        with connection.begin():
            session = SESSION.one(connection)
        with contextlib.suppress(pg8000.dbapi.Error), self._another() as asking:  # no free connection proves nothing
            asking.execute(WHICH_SESSION)
            if asking.fetchone()[0] == session:
                return True
            with connection.begin():
                self._has_own_session = SESSION.one(connection) == session
            return not self._has_own_session
        return False

    @contextlib.contextmanager
    def _another(self) -> Iterator[Any]:
        """A cursor on a second connection, outside the pool: the pool may hold only one."""
        connection = self._engine.pool.recreate().connect()
        try:
            yield connection.cursor()
        finally:
            connection.invalidate()

    def _note_pooler(self) -> None:
        if self.refusal is None:
            self.refusal = POOLED
            event("database_behind_pooler", POOLED, logging.ERROR)

    def _lead_again(self) -> None:
        """Take the lead back in a new session, unless another bridge led in between."""
        try:
            connection = self._opened()
            with connection.begin():
                regained = leadership.lead_again(connection, self.epoch or 0, self.instance)
                life = leadership_store.life(connection)
                if regained and life != self._life:  # stored reports may be lost: end the listening time
                    leadership_store.disconnected(connection, self.epoch or 0)
        except DATABASE_ERRORS as error:
            raise self.away(error) from error
        if regained is None:
            raise self.away(None)
        if not regained:
            self.resign()
            raise LeadershipLost
        self._life, before = life, self._life
        self._regained(life != before)
        event("lead_regained", "the database is back and this bridge still leads", epoch=self.epoch)

    def away(self, error: Exception | None) -> DatabaseAway:
        """Close the connection and lengthen the back-off. Returns the exception to raise."""
        self._close()
        self._failures += 1
        longest = min(FIRST_BACK_OFF_SECONDS * 2 ** min(self._failures - 1, 10), LONGEST_BACK_OFF_SECONDS)
        self._not_before = time.monotonic() + longest * random.uniform(0.5, 1.0)  # noqa: S311 - jitter
        if error is not None:
            said = said_by_postgres(error)
            if UNSUPPORTED in said.get("said", ""):
                self._note_pooler()
            self._outage.began(error, **said)
        return DatabaseAway()

    def resign(self) -> None:
        """Give up the lead."""
        self._close()
        self.epoch = None

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection

    def _close(self) -> None:
        """End the session: returned to the pool it would keep the lock."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(*DATABASE_ERRORS):
                connection.invalidate()
            with contextlib.suppress(*DATABASE_ERRORS):
                connection.close()
