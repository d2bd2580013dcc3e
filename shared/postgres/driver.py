"""Connections to Postgres that keep prepared statements: pg8000, by its public names only.

pg8000's own cursor prepares a statement again at each run, in three round trips, and parses its text letter by letter
each time. Reasons and cost: docs/decisions/0012-a-driver-by-public-names.md.
"""

import io
import select
import socket
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from pg8000 import dbapi
from pg8000.converters import PY_PG, UNKNOWN, make_params
from pg8000.core import Context

from shared.postgres.values import READERS, WRITERS

MOST_KEPT: Final = 128  # statements of a connection; the least recently used one makes room
LONGEST_KEPT: Final = 16_384  # characters; longer texts are lists that hardly repeat
FOR_ITS_VALUES: Final = "/* planned for its values */"
"""In a statement's text: never keep it prepared, because its best plan depends on the values."""
LARGE: Final = 8_192
"""Characters of a value, some 200 uuids, from which on a statement is planned for its values.

After five runs Postgres plans a prepared statement once for all values and takes each array for ten elements. Two
arrays of 10,000 are then compared element by element.
"""
TRUSTED_FOR_SECONDS: Final = 30.0  # a connection used within this time is not tested by a query
BEGIN: Final = "begin transaction"
GONE_STATEMENT: Final = frozenset({"0A000", "26000", "42P05"})
"""SQLSTATEs of a prepared statement that the server lost or that is out of date: changed result type, DISCARD."""
ERRORS: Final = {"28000": dbapi.InterfaceError, "23505": dbapi.IntegrityError}  # others: ProgrammingError
UNNAMED: Final = b"\x00"
"""The name of a statement that the next one without a name replaces."""
Key = tuple[str, tuple[int, ...]]
"""A statement's text with `%s` for each value, and the types of its values if given."""


@lru_cache(maxsize=512)
def numbered(operation: str) -> str:
    """The text with `$1`, `$2` ... for each `%s`. Cached, because pg8000 parses letter by letter."""
    text: str = dbapi.convert_paramstyle("format", operation, ())[0]
    return text


class Connection(dbapi.Connection):  # type: ignore[misc]  # pg8000 has no types
    """One connection to Postgres, used by one thread at a time."""

    def __init__(self, sock: socket.socket, *, keep: bool = True, **named: Any) -> None:
        """A session on a connected socket. `keep` False: no prepared statements, for a pooler in transaction mode."""
        self.used_at = time.monotonic()
        """When the server answered last, by the monotonic clock, in seconds."""
        self.in_transaction = False
        self._descriptor: int | None = sock.fileno()  # TLS wraps the socket; its descriptor stays
        self._keep = keep
        self._kept: OrderedDict[Key, tuple[bytes, Any, Any] | None] = OrderedDict()  # None: run once, not prepared
        try:
            super().__init__(sock=sock, **named)
        except BaseException:
            _close(self._files())
            raise
        for kind, read in READERS.items():
            self.register_in_adapter(kind, read)
        for type_, write in WRITERS.items():
            self.register_out_adapter(type_, write)

    def handle_READY_FOR_QUERY(self, data: bytes, context: Context) -> None:  # noqa: N802 - pg8000's name
        """Like pg8000's, and note whether a transaction is open: each answer of the server says so."""
        super().handle_READY_FOR_QUERY(data, context)
        self.in_transaction = data != b"I"
        self.used_at = time.monotonic()

    def cursor(self) -> "Cursor":
        """A cursor on this connection."""
        return Cursor(self)

    def commit(self) -> None:
        """Commit, in one round trip; outside a transaction do nothing."""
        if self.in_transaction:
            self.execute_simple("commit")

    def rollback(self) -> None:
        """Roll back, in one round trip; outside a transaction do nothing."""
        if self.in_transaction:
            self.execute_simple("rollback")

    def close(self) -> None:
        """End the session."""
        self._descriptor = None
        files = self._files()
        try:
            super().close()
        finally:
            _close(files)

    def _files(self) -> list[io.BufferedIOBase]:
        """The file that pg8000 has made of its socket and leaves to the garbage collector."""
        return [each for each in vars(self).values() if isinstance(each, io.BufferedIOBase)]

    def lives(self) -> bool:
        """Whether this connection can be used. Queries the server only after a pause or when unread data is there.

        A server that ended the connection has left an end of file or a last message to read.
        """
        if self._descriptor is None:
            return False
        try:
            if time.monotonic() - self.used_at > TRUSTED_FOR_SECONDS or _has_something_to_read(self._descriptor):
                self.execute_simple(";")
        except (dbapi.Error, OSError):
            return False
        return True

    def ask(self, operation: str, arguments: Sequence[Any], oids: tuple[int, ...] = ()) -> Context:
        """Run one statement with `%s` for each value; begin a transaction if none is open. Returns pg8000's Context.

        If the server has lost the prepared statement, prepare it again and run it, when it is the first of its
        transaction. Otherwise the transaction is lost; the caller's next try prepares the statement again.
        """
        values = make_params(self.py_types, arguments)
        for value in values:
            (value or "").encode()  # refuse an unencodable value before anything is sent
        is_first = not self.in_transaction
        self._begin()
        if not values:
            return self.execute_simple(operation)
        try:
            return self._run((operation, oids), values)
        except dbapi.DatabaseError as error:
            is_gone = error.args[0].get("C") in GONE_STATEMENT and self._forget((operation, oids))
            if not (is_gone and is_first):
                raise
        self.rollback()
        self._begin()
        return self._run((operation, oids), values)

    def _begin(self) -> None:
        if not self.in_transaction and not self.autocommit:
            self.execute_simple(BEGIN)

    def _run(self, key: Key, values: Sequence[str | None]) -> Context:
        """Run a statement without a name the first time, and as a prepared one from the second time on.

        With a large value it runs without a name each time.
        """
        text = numbered(key[0])
        if key not in self._kept or any(value and len(value) > LARGE for value in values):
            self.send_PARSE(UNNAMED, text, key[1])
            self.send_DESCRIBE_STATEMENT(UNNAMED)
            context = self.execute_named(UNNAMED, values, None, None, text)
            if self._keep and len(text) <= LONGEST_KEPT and FOR_ITS_VALUES not in text:
                self._kept.setdefault(key)
        else:
            name, columns, readers = self._kept[key] = self._kept[key] or self.prepare_statement(text, key[1])
            self._kept.move_to_end(key)
            context = self.execute_named(name, values, columns, readers, text)
        if len(self._kept) > MOST_KEPT:
            self._forget(next(iter(self._kept)))
        return context

    def _forget(self, key: Key) -> bool:
        """Forget a prepared statement, here and at the server. Returns whether it was kept."""
        if key not in self._kept:
            return False
        if prepared := self._kept.pop(key):
            self.close_prepared_statement(prepared[0])
        return True


def _close(files: Sequence[io.BufferedIOBase]) -> None:
    """Close them. What a dead one holds cannot be sent; Python 3.13 prints that if it collects the file."""
    for file in files:
        with suppress(OSError, ValueError):
            file.close()


def _has_something_to_read(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(0))


class Cursor:
    """A DBAPI cursor. `execute` calls the connection's `ask` and holds all rows."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        """A cursor of this connection."""
        self._connection: Connection | None = connection
        self._context = Context(None)
        self._rows: Iterator[list[Any]] = iter(())
        self._oids: tuple[int, ...] = ()

    @property
    def description(self) -> list[tuple[Any, ...]] | None:
        """Name and number of the type of each column, as DBAPI has it; None without columns."""
        columns = self._context.columns
        return [(one["name"], one["type_oid"], None, None, None, None, None) for one in columns] if columns else None

    @property
    def rowcount(self) -> int:
        """How many rows the last statement touched or returned; -1 when unknown."""
        count: int = self._context.row_count
        return count

    def execute(self, operation: str, args: Sequence[Any] = (), stream: None = None) -> "Cursor":  # noqa: ARG002
        """Run one statement. SQLAlchemy passes `stream` (for COPY) by name, always None."""
        if self._connection is None:
            raise dbapi.InterfaceError("Cursor closed")
        oids, self._oids = self._oids, ()
        try:
            self._context = self._connection.ask(operation, args, oids)
        except dbapi.DatabaseError as error:
            raise ERRORS.get(error.args[0].get("C"), dbapi.ProgrammingError)(*error.args) from error
        self._rows = iter(self._context.rows or ())
        return self

    def executemany(self, operation: str, param_sets: Iterable[Sequence[Any]]) -> "Cursor":
        """Run one statement for each parameter set; `rowcount` is the sum of all runs."""
        oids, counts = self._oids, []
        for values in param_sets:
            self._oids = oids
            self.execute(operation, values)
            counts.append(self.rowcount)
        self._context.row_count = -1 if -1 in counts else sum(counts)
        return self

    def setinputsizes(self, *sizes: Any) -> None:
        """Set the types of the next statement's values: numbers of Postgres types, or Python types."""
        self._oids = tuple(size if isinstance(size, int) else PY_PG.get(size, UNKNOWN) for size in sizes)

    def fetchone(self) -> list[Any] | None:
        """The next row, or None."""
        return next(self._rows, None)

    def fetchmany(self, size: int | None = None) -> tuple[list[Any], ...]:
        """The next rows."""
        return tuple(islice(self._rows, self.arraysize if size is None else size))

    def fetchall(self) -> tuple[list[Any], ...]:
        """All rows that are left."""
        return tuple(self._rows)

    def close(self) -> None:
        """Close the cursor: no further statement runs on it."""
        self._connection = None
