"""Connections to Postgres that answer a statement in one round trip and parse its text once.

pg8000 itself asks three times per statement (parse, bind, execute), three times per commit, and reads the
SQL text character by character each time. A `PreparingConnection` writes everything that a statement needs
into one message, the beginning of its transaction included, and keeps the statements that it has seen
prepared under names of its own. Which private names of pg8000 this leans on, why, and what tells when one
of them changes: docs/decisions/0012-one-round-trip-per-statement.md.
"""

import select
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pg8000
from pg8000.converters import make_params
from pg8000.core import READY_FOR_QUERY, Context
from pg8000.exceptions import DatabaseError, Error, InterfaceError
from sqlalchemy import Connection

from shared.postgres.kept_statements import KEPT_VERBS, PLANNED_ONCE, KeptStatements, Key, Prepared
from shared.postgres.protocol import (
    DESCRIBE_PORTAL,
    EXECUTE,
    HEAD_BYTES,
    NOTHING_TO_DO,
    READERS,
    SYNC,
    WRITERS,
    bind_message,
    close_message,
    length_at,
    parse_message,
    plain_messages,
)

TRUSTED_FOR_SECONDS: Final = 30.0  # a connection used that recently is not asked whether it lives, only looked at
BEGIN: Final = "begin transaction"
PLAN_EACH: Final = "SET plan_cache_mode = force_custom_plan"  # how every connection begins
# The server no longer has what we prepared: a changed result type, a DISCARD, a pooler's other connection.
GONE_STATEMENT: Final = frozenset({"0A000", "26000", "42P05"})
ERRORS: Final = {"28000": InterfaceError, "23505": pg8000.IntegrityError}  # others: ProgrammingError

_AT_ONCE: Final = 65_536  # bytes of what the server has sent


class PreparingCursor(pg8000.Cursor):  # type: ignore[misc]  # pg8000 has no types
    """pg8000's cursor, whose `execute` is the connection's `ask`."""

    _input_oids: Sequence[int]

    def execute(self, operation: str, args: Sequence[Any] = (), stream: Any = None) -> "PreparingCursor":
        """As pg8000's, with its classes of errors. A COPY with a stream goes pg8000's own way."""
        if self._c is None:
            raise InterfaceError("Cursor closed")
        if stream is not None:
            super().execute(operation, args, stream)
            return self
        try:
            self._context = self._c.ask(operation, args, tuple(self._input_oids))
        except DatabaseError as error:
            raise ERRORS.get(_sqlstate(error) or "", pg8000.ProgrammingError)(*error.args) from error
        self._row_iter = iter(self._context.rows or ())
        self._input_oids = ()
        return self


class PreparingConnection(pg8000.Connection):  # type: ignore[misc]  # pg8000 has no types
    """One connection to Postgres, used by one thread at a time."""

    _ahead: bytes = b""
    """What the server sent and nobody has looked at yet; a server that answers has not sent more than its answer."""

    def __init__(self, *arguments: Any, keep: bool = True, **named: Any) -> None:
        """`keep` False: each statement is parsed anew, as a pooler between transactions needs it."""
        super().__init__(*arguments, **named)
        for kind, read in READERS.items():
            self.register_in_adapter(kind, read)
        for type_, write in WRITERS.items():
            self.register_out_adapter(type_, write)
        self._keep = keep
        self._kept = KeptStatements(keep=keep)
        self.meanwhile: Callable[[], bool] | None = None  # see `meanwhile` below
        self._planning: bytes | None = _PLAN_EACH
        self.used_at = time.monotonic()

    def cursor(self) -> PreparingCursor:
        """A cursor on this connection."""
        return PreparingCursor(self)

    def commit(self) -> None:
        """Commit, in one round trip; nothing to do outside a transaction."""
        if self._in_transaction:
            planning, self._planning = self._planning, None  # a commit that is refused takes a change of it back
            self._send(_COMMIT)
            self._work_meanwhile()
            self.handle_messages(Context("commit"))
            self._planning = planning
            self.used_at = time.monotonic()

    def rollback(self) -> None:
        """Roll back, in one round trip; nothing to do outside a transaction."""
        if self._in_transaction:
            self._planning = None  # a change of it goes too
            self.execute_simple("rollback")

    def ask(self, operation: str, arguments: Sequence[Any], oids: tuple[int, ...] = ()) -> Any:
        """Run one statement in `%s` spelling; begins the transaction that it needs. Answers pg8000's Context.

        A statement that the server no longer has is prepared again and run once more, when it was the first
        of its transaction; later in one that is lost anyway, and the caller's next try prepares it again.
        """
        first = not self._in_transaction
        if not arguments and PLANNED_ONCE not in operation:
            return self._run_plain(operation, first)
        key = operation, oids
        known = self._kept.get(key)
        if known is not None and known.is_old:
            self._kept.forget(key, known)
            known = None
        try:
            return self._run_bound(key, known, arguments, first)
        except DatabaseError as error:
            if known is None or not first or _sqlstate(error) not in GONE_STATEMENT:
                raise
            self.rollback()
            return self._run_bound(key, None, arguments, first)
        finally:
            self.used_at = time.monotonic()

    def lives(self) -> bool:
        """Whether this connection can be used; the server is only asked after a while or when it said something.

        A server that ended the connection has left an end of file or its last words to read.
        """
        if self._usock is None:
            return False
        try:
            if time.monotonic() - self.used_at < TRUSTED_FOR_SECONDS and not self._something_to_read():
                return True
            self.execute_simple(";")
        except (Error, OSError):
            return False
        self.used_at = time.monotonic()
        return True

    def _something_to_read(self) -> bool:
        if self._ahead:
            return True
        poll = select.poll()
        poll.register(self._usock, select.POLLIN | select.POLLHUP)
        return bool(poll.poll(0))

    def handle_messages(self, context: Context) -> None:
        """As pg8000's, which asks its socket twice for each message: take what has come, and look through it."""
        data, at = self._ahead, 0
        self._ahead = b""
        while True:
            while len(data) - at < HEAD_BYTES or len(data) - at <= (size := length_at(data, at + 1)[0]):
                data, at = self._with_more(data[at:]), 0
            code, at = data[at : at + 1], at + size + 1
            if code not in NOTHING_TO_DO:
                self.message_types[code](data[at - size + 4 : at], context)
            if code == READY_FOR_QUERY:
                break
        self._ahead = data[at:]
        if context.error is not None:
            raise context.error

    def _with_more(self, data: bytes) -> bytes:
        """`data` and what has come since, at least a byte; of a message much longer than that, the whole of it.

        A server that says nothing is an OSError, as pg8000 has it.
        """
        more: bytes = self._sock.read1(_AT_ONCE)
        if not more:
            raise InterfaceError("network error")
        data += more
        missing = length_at(data, 1)[0] + 1 - len(data) if len(data) >= HEAD_BYTES else 0
        return data + self._sock.read(missing) if missing > _AT_ONCE else data

    def _run_plain(self, operation: str, first: bool) -> Any:
        """Without parameters the simple protocol takes one round trip, and several statements at once."""
        text = f"{BEGIN};{operation}" if first and not self.autocommit else operation
        ordinary = operation.lstrip().startswith(KEPT_VERBS)
        known, self._planning = self._planning, None  # what ends a savepoint takes a change of it back
        context = self.execute_simple(text if known is _PLAN_EACH or not ordinary else f"{PLAN_EACH};{text}")
        self._planning = _PLAN_EACH if ordinary else None
        self.used_at = time.monotonic()
        return context

    def _run_bound(self, key: Key, known: Prepared | None, arguments: Sequence[Any], first: bool) -> Any:
        """1. Write all messages: a text that cannot be encoded harms nothing. 2. Send them. 3. Read. 4. Keep."""
        statement = known or self._kept.new(key)
        bound = bind_message(statement.name, make_params(self.py_types, arguments), self._client_encoding)
        parts = [close_message(name) for name in self._kept.closing]
        if first and not self.autocommit:
            parts.append(_BEGIN)
        planning = _ONE_PLAN if statement.planned_once else _PLAN_EACH
        if planning is not self._planning and self._keep:
            parts.append(planning)
        if known is None:
            parts.append(parse_message(statement.name, statement.text.encode(self._client_encoding), key[1]))
        parts += [bound, b"" if known else DESCRIBE_PORTAL, EXECUTE, SYNC]
        self._planning = None  # until nothing can take the change back but the end of what it is part of
        self._send(b"".join(parts))
        self._kept.closing.clear()
        self._work_meanwhile()
        context = Context(statement.text, columns=statement.columns, input_funcs=statement.input_functions)
        try:
            self.handle_messages(context)
        except DatabaseError as error:
            if known is None or _sqlstate(error) in GONE_STATEMENT:
                self._kept.forget(key, statement)
            raise
        self._planning = planning
        if known is None:
            self._kept.learn(key, statement, context)
        else:
            self._kept.move_to_end(key)
        return context

    def _work_meanwhile(self) -> None:
        """Until the server answers, or nothing is left to do."""
        while self.meanwhile is not None and not self._something_to_read() and self.meanwhile():
            pass

    def _send(self, data: bytes) -> None:
        if self._usock is None:
            raise InterfaceError("connection is closed")
        try:
            self._usock.sendall(data)
        except OSError as error:
            raise InterfaceError("network error") from error


@contextmanager
def meanwhile(connection: Connection, work: Callable[[], bool] | None) -> Iterator[None]:
    """While the server works for this connection, `work` (if any) is called again and again, until it answers False.

    Each call holds up what the server has answered, so it does a little, or what must be done next anyway. It must not
    use the connection; what it raises ends the connection, which was not done with its statement. Within another
    `meanwhile` this work comes first, and then the other's.
    """
    raw: Any = connection.connection.dbapi_connection
    before: Callable[[], bool] | None = raw.meanwhile
    raw.meanwhile = before if work is None else work if before is None else lambda: work() or before()
    try:
        yield
    finally:
        raw.meanwhile = before


def _sqlstate(error: DatabaseError) -> str | None:
    code: str | None = error.args[0].get("C")
    return code


_BEGIN: Final = plain_messages(BEGIN)
_ONE_PLAN: Final = plain_messages("SET plan_cache_mode = force_generic_plan")
_PLAN_EACH: Final = plain_messages(PLAN_EACH)
_COMMIT: Final = plain_messages("commit") + SYNC
