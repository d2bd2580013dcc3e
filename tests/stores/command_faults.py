"""Connections that die where a test says: before a statement, before COMMIT, or after a COMMIT nobody heard of."""

import logging
import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, RowMapping
from sqlalchemy.exc import DBAPIError

T = TypeVar("T")
DIES_IN = "dies_in"


class Died(Exception):
    """The process at this connection is gone; whether its transaction is, only the database knows."""


@dataclass(frozen=True)
class Crash:
    """`after` so many statements the connection dies, at the latest before COMMIT; or after it, unheard."""

    after: int = 0
    committed: bool = False


class Database:
    """Transactions on a real Postgres, each with a connection that may die."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._idle: list[Connection] = []
        self.deaths: Counter[str] = Counter()
        """How many transactions were lost, by the place: `3 statements`, `commit unheard`."""
        logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # it tells of every connection that dies
        sa.event.listen(engine, "do_connect", _without_tls, insert=True)
        self._reader = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        sa.event.listen(engine, "before_cursor_execute", _count_down)
        sa.event.listen(engine, "commit", _die_before_commit)

    def close(self) -> None:
        sa.event.remove(self._engine, "before_cursor_execute", _count_down)
        sa.event.remove(self._engine, "commit", _die_before_commit)
        sa.event.remove(self._engine, "do_connect", _without_tls)
        for connection in (self._reader, *self._idle):
            connection.close()

    def look(self, query: sa.Executable) -> Sequence[RowMapping]:
        """What everybody sees now, read by a connection that never dies."""
        return self._reader.execute(query).mappings().all()

    def run(self, work: Callable[[Connection], T], crash: Crash | None = None) -> T:
        """Do the work in one transaction. Raises Died where `crash` says so, and what the work raises."""
        connection = self._idle.pop() if self._idle else self._engine.connect()
        try:
            with connection.begin():
                connection.info[DIES_IN] = None if crash is None or crash.committed else crash.after
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
            if not connection.closed:
                connection.info[DIES_IN] = None
        if crash is not None and crash.committed:
            self.deaths["commit unheard"] += 1
            cut(connection)
            connection.invalidate()
            connection.close()
            raise Died
        self._idle.append(connection)
        return answer


def cut(connection: Connection) -> None:
    """The process is gone: Postgres finds the end of the line where a statement should come."""
    raw: Any = connection.connection.driver_connection
    raw._usock.shutdown(socket.SHUT_RDWR)


def _without_tls(_dialect: Any, _record: Any, _arguments: Any, parameters: dict[str, Any]) -> None:
    """A context for TLS takes longer to make than the rest of a connection, and this Postgres speaks none."""
    parameters["ssl_context"] = False


def _count_down(connection: Connection, *_: Any) -> None:
    left = connection.info.get(DIES_IN)
    if left == 0:
        cut(connection)
    if left is not None:
        connection.info[DIES_IN] = left - 1


def _die_before_commit(connection: Connection) -> None:
    if connection.info.get(DIES_IN) is not None:
        cut(connection)
