"""Connections that die where a test demands: before a statement, before COMMIT, or after it without its answer."""

import logging
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from shared.postgres import driver
from shared.postgres.door import engine_for
from shared.postgres.query import Query

T = TypeVar("T")


class Died(Exception):
    """The process of this connection died; only the database knows whether its transaction was committed."""


@dataclass(frozen=True)
class Crash:
    """Where a connection dies: `after` so many statements, at the latest before COMMIT; or after it, unanswered."""

    after: int = 0
    committed: bool = False


class Mortal(driver.Connection):
    """A connection that dies before a statement or COMMIT: Postgres sees the connection end."""

    dies_in: int | None = None
    """How many statements it runs before it dies, at the latest before COMMIT."""

    def ask(self, operation: str, arguments: Sequence[Any], oids: tuple[int, ...] = ()) -> Any:
        """As any connection's."""
        if self.dies_in == 0:
            self.cut()
        if self.dies_in is not None:
            self.dies_in -= 1
        return super().ask(operation, arguments, oids)

    def commit(self) -> None:
        """As any connection's."""
        if self.dies_in is not None:
            self.cut()
        super().commit()

    def cut(self) -> None:
        """Close the socket, as the death of the process does."""
        self._usock.shutdown(socket.SHUT_RDWR)


class Database:
    """Transactions on a real Postgres, each on a connection that may die. Statements run as in the product.

    The connection itself dies, because listeners of SQLAlchemy would change how statements run.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine_for(engine.url.render_as_string(hide_password=False), "tests")
        self._idle: list[Connection] = []
        self.deaths: Counter[str] = Counter()
        """How many transactions were lost, by the place: `3 statements`, `commit unheard`."""
        logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # it logs every connection that dies
        sa.event.listen(self._engine, "connect", _make_mortal)
        self._reader = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    def close(self) -> None:
        for connection in (self._reader, *self._idle):
            connection.close()
        self._engine.dispose()

    def look(self, query: Query[T], **values: Any) -> list[T]:
        """Read the committed rows by a connection that never dies."""
        return query.all(self._reader, **values)

    def run(self, work: Callable[[Connection], T], crash: Crash | None = None) -> T:
        """Do the work in one transaction. Raises Died after a `crash`, and the errors of the work."""
        connection = self._idle.pop() if self._idle else self._engine.connect()
        raw: Any = connection.connection.dbapi_connection
        try:
            with connection.begin():
                raw.dies_in = None if crash is None or crash.committed else crash.after
                answer = work(connection)
        except DBAPIError:
            connection.close()
            if crash is None or crash.committed:
                raise
            self.deaths[f"{crash.after} statements"] += 1
            raise Died from None
        except BaseException:
            self._idle.append(connection)
            raise
        finally:
            raw.dies_in = None
        if crash is not None and crash.committed:
            self.deaths["commit unheard"] += 1
            raw.cut()
            connection.invalidate()
            connection.close()
            raise Died
        self._idle.append(connection)
        return answer


def _make_mortal(opened: Any, _record: Any) -> None:
    """Turn a connection that the product opened into a Mortal."""
    opened.__class__ = Mortal
