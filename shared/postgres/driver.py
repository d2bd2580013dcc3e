"""Connections to Postgres that keep statements prepared: pg8000, by its public names only.

pg8000's own cursor prepares a statement anew for each run, in three round trips, and reads its text letter by letter
each time. Why this is done here, and what it costs: docs/decisions/0012-a-driver-by-public-names.md.
"""

import select
import socket
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, Final

from pg8000 import dbapi
from pg8000.converters import PY_PG, UNKNOWN, make_params
from pg8000.core import Context

from shared.postgres.values import READERS, WRITERS

MOST_KEPT: Final = 128  # statements of one connection; the one used longest ago makes room
LONGEST_KEPT: Final = 16_384  # characters; longer texts are lists that never come twice alike
FOR_ITS_VALUES: Final = "/* planned for its values */"
"""In a statement's text: never kept. For one whose best plan depends on its values, where Postgres' one plan errs."""
TRUSTED_FOR_SECONDS: Final = 30.0  # a connection used that recently is not asked whether it lives, only looked at
BEGIN: Final = "begin transaction"
GONE_STATEMENT: Final = frozenset({"0A000", "26000", "42P05"})
"""SQLSTATEs of a statement that the server no longer has as we prepared it: a changed result type, a DISCARD."""
ERRORS: Final = {"28000": dbapi.InterfaceError, "23505": dbapi.IntegrityError}  # others: ProgrammingError
UNNAMED: Final = b"\x00"
"""The name of a statement that the next one without a name replaces."""
Key = tuple[str, tuple[int, ...]]
"""A statement's text with `%s` for each value, and the types of its values where they are given."""


@lru_cache(maxsize=512)
def numbered(operation: str) -> str:
    """The text with `$1`, `$2` ... for each `%s`: pg8000 reads it letter by letter, so once is enough."""
    text: str = dbapi.convert_paramstyle("format", operation, ())[0]
    return text


class Connection(dbapi.Connection):  # type: ignore[misc]  # pg8000 has no types
    """One connection to Postgres, used by one thread at a time."""

    def __init__(self, sock: socket.socket, *, keep: bool = True, **named: Any) -> None:
        """A session on a connected socket. `keep` False: nothing is kept, as a pooler between transactions needs it."""
        self.used_at = time.monotonic()
        """When the server answered last, by the monotonic clock, in seconds."""
        self.in_transaction = False
        self._descriptor: int | None = sock.fileno()  # TLS wraps the socket; its descriptor stays
        self._keep = keep
        self._kept: OrderedDict[Key, tuple[bytes, Any, Any] | None] = OrderedDict()  # None: it came once
        super().__init__(sock=sock, **named)
        for kind, read in READERS.items():
            self.register_in_adapter(kind, read)
        for type_, write in WRITERS.items():
            self.register_out_adapter(type_, write)

    def handle_READY_FOR_QUERY(self, data: bytes, context: Context) -> None:  # noqa: N802 - pg8000's name
        """As pg8000's; the server says with each answer whether a transaction is open."""
        super().handle_READY_FOR_QUERY(data, context)
        self.in_transaction = data != b"I"
        self.used_at = time.monotonic()

    def cursor(self) -> "Cursor":
        """A cursor on this connection."""
        return Cursor(self)

    def commit(self) -> None:
        """Commit, in one round trip; nothing to do outside a transaction."""
        if self.in_transaction:
            self.execute_simple("commit")

    def rollback(self) -> None:
        """Roll back, in one round trip; nothing to do outside a transaction."""
        if self.in_transaction:
            self.execute_simple("rollback")

    def close(self) -> None:
        """End the session."""
        self._descriptor = None
        super().close()

    def lives(self) -> bool:
        """Whether this connection can be used; the server is only asked after a while or when it said something.

        A server that ended the connection has left an end of file or its last words to read.
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
        """Run one statement with `%s` for each value; begins the transaction that it needs. Answers pg8000's Context.

        A statement that the server no longer has is prepared again and run once more, when it was the first of its
        transaction; later in one that is lost anyway, and the caller's next try prepares it again.
        """
        values = make_params(self.py_types, arguments)
        for value in values:
            (value or "").encode()  # what cannot be sent is refused before anything is
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
        """Without a name where the text comes for the first time, prepared from the second time on."""
        text = numbered(key[0])
        if key not in self._kept:
            self.send_PARSE(UNNAMED, text, key[1])
            self.send_DESCRIBE_STATEMENT(UNNAMED)
            context = self.execute_named(UNNAMED, values, None, None, text)
            if self._keep and len(text) <= LONGEST_KEPT and FOR_ITS_VALUES not in text:
                self._kept[key] = None
        else:
            name, columns, readers = self._kept[key] = self._kept[key] or self.prepare_statement(text, key[1])
            self._kept.move_to_end(key)
            context = self.execute_named(name, values, columns, readers, text)
        if len(self._kept) > MOST_KEPT:
            self._forget(next(iter(self._kept)))
        return context

    def _forget(self, key: Key) -> bool:
        """Whether this statement was kept. The server forgets it too, or has done so already."""
        if key not in self._kept:
            return False
        if prepared := self._kept.pop(key):
            self.close_prepared_statement(prepared[0])
        return True


def _has_something_to_read(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(0))


class Cursor:
    """A DBAPI cursor whose `execute` is the connection's `ask`; its rows are all there once it has run."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        """On this connection."""
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
        """How many rows the last statement touched or answered; -1 where Postgres does not say."""
        count: int = self._context.row_count
        return count

    def execute(self, operation: str, args: Sequence[Any] = (), stream: None = None) -> "Cursor":  # noqa: ARG002
        """Run one statement; SQLAlchemy names `stream`, which is for COPY, and never gives one."""
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
        """Run one statement for each of these; `rowcount` is what all of them touched."""
        oids, counts = self._oids, []
        for values in param_sets:
            self._oids = oids
            self.execute(operation, values)
            counts.append(self.rowcount)
        self._context.row_count = -1 if -1 in counts else sum(counts)
        return self

    def setinputsizes(self, *sizes: Any) -> None:
        """The types of the next statement's values, each by its number or by a type of Python."""
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
        """Nothing is run on this cursor any more."""
        self._connection = None
