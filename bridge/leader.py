"""One bridge leads: it holds a Postgres advisory lock in the very session that writes its batches.

While the session lives the lock is ours; when it dies, no batch of it can be committed any more. Each leader has
an epoch of its own, and every batch is guarded by it. Any number of other bridges stand by and wait.
"""

import contextlib
import logging
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import pg8000.dbapi
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from shared.leadership import operations as leadership
from shared.leadership import store as leadership_store
from shared.postgres.door import said_by_postgres
from shared.structured_log import Outage, event

FIRST_BACK_OFF_SECONDS: Final = 0.2
LONGEST_BACK_OFF_SECONDS: Final = 5.0
DATABASE_ERRORS: Final = (SQLAlchemyError, OSError)
SESSION: Final = sa.text("SELECT pg_backend_pid()")
POOLED: Final = "behind a pooler in transaction mode: the bridge needs the server itself"
UNSUPPORTED: Final = "unsupported startup parameter"  # what pgbouncer says of our settings


class LeadershipLost(Exception):
    """Another bridge leads: nothing of the batch in hand was written, nothing may be acknowledged."""


class DatabaseAway(Exception):
    """The database cannot be used now, or was a moment ago: try again later."""


class Leader:
    """Holds the one connection that the bridge uses, and with it the lead."""

    def __init__(self, engine: Engine, instance: str, regained: Callable[[bool], None] = lambda _other: None) -> None:
        """`instance` names this process, and no other; nothing is opened yet.

        `regained` is called when the lead was taken back in a new session, before anybody uses it. Postgres may have
        forgotten what was committed last (a failover, a copy put back); True: it was started anew, or is another one.
        """
        self.instance = instance
        self._regained = regained
        self._life: str | None = None  # of the database, when the lead was last taken
        self.epoch: int | None = None  # while this bridge leads
        self._engine = engine
        self._connection: Connection | None = None
        self._failures = 0
        self._outage = Outage("database")
        self._not_before = 0.0
        self._has_own_session = False  # not known yet
        self.refusal: str | None = None
        """Why this bridge can never lead, in words."""

    def try_lead(self) -> bool:
        """Become the leader if there is none. Raises DatabaseAway."""
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
        """The connection, with the lead.

        Raises:
            DatabaseAway: it is being waited for.
            LeadershipLost: another bridge leads, or did.
        """
        if time.monotonic() < self._not_before:
            raise DatabaseAway
        if self._connection is None:
            self._lead_again()
        return self._opened()

    @contextlib.contextmanager
    def database(self) -> Iterator[Connection]:
        """The connection, for work that opens its own transactions. Raises as `connection` does.

        An error that is the database's fault becomes DatabaseAway; the connection is then given up.
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
        self._failures = 0  # the next failure is the first again
        self._outage.over()

    def _is_shared(self, connection: Connection) -> bool:
        """Whether somebody between us and the server gives our session to others after each transaction.

        The lead is held by the session: there two bridges would lead at once, or after a kill -9 none. With one
        connection such a pooler mostly looks as the server does; while a second one is in a transaction it cannot.
        """
        if self._has_own_session:
            return False
        with connection.begin():
            session = connection.execute(SESSION).scalar_one()
        with contextlib.suppress(pg8000.dbapi.Error), self._another() as asking:  # no room for it says nothing
            asking.execute(SESSION.text)
            if asking.fetchone()[0] == session:
                return True
            with connection.begin():
                self._has_own_session = connection.execute(SESSION).scalar_one() == session
            return not self._has_own_session
        return False

    @contextlib.contextmanager
    def _another(self) -> Iterator[Any]:
        """A cursor on a connection beside ours, which may be the only one that the pool holds."""
        connection = self._engine.pool.recreate().connect()
        try:
            yield connection.cursor()
        finally:
            connection.invalidate()  # closed, and not kept

    def _note_pooler(self) -> None:
        if self.refusal is None:
            self.refusal = POOLED
            event("database_behind_pooler", POOLED, logging.ERROR)

    def _lead_again(self) -> None:
        """In a new session, take the lead back unless somebody else had it in between."""
        try:
            connection = self._opened()
            with connection.begin():
                regained = leadership.lead_again(connection, self.epoch or 0, self.instance)
                life = leadership_store.life(connection)
                if regained and life != self._life:  # what was heard may be gone: the listening time is over
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
        """Give the connection up, with whatever it was doing, and wait a little longer each time."""
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
        """Lead no more."""
        self._close()
        self.epoch = None

    def _opened(self) -> Connection:
        if self._connection is None:
            self._connection = self._engine.connect()
        return self._connection

    def _close(self) -> None:
        """End the session itself: back in the pool it would keep the lock."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(*DATABASE_ERRORS):
                connection.invalidate()
            with contextlib.suppress(*DATABASE_ERRORS):
                connection.close()
