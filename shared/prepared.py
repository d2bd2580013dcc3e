"""Connections to Postgres that answer a statement in one round trip and parse its text once.

pg8000 itself asks three times per statement (parse, bind, execute), three times per commit, and reads the
SQL text character by character each time. A `PreparingConnection` writes everything that a statement needs
into one message, the beginning of its transaction included, and keeps the statements that it has seen
prepared under names of its own. Which private names of pg8000 this leans on, why, and what tells when one
of them changes: docs/decisions/0012-one-round-trip-per-statement.md.
"""

import select
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from struct import Struct
from typing import Any, Final

import pg8000
from pg8000.converters import DATE, PG_TYPES, TIMESTAMP, TIMESTAMPTZ, make_params
from pg8000.core import READY_FOR_QUERY, Context
from pg8000.dbapi import convert_paramstyle
from pg8000.exceptions import DatabaseError, Error, InterfaceError
from sqlalchemy import Connection

MOST_KEPT: Final = 128  # statements that one connection keeps; the one used longest ago makes room
LONGEST_KEPT: Final = 16_384  # characters; longer texts are lists that never come twice alike
MOST_PARAMETERS_KEPT: Final = 64  # beyond it a text is a list of values, whose length changes each time
KEPT_VERBS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
TRUSTED_FOR_SECONDS: Final = 30.0  # a connection used that recently is not asked whether it lives, only looked at
PLAN_SECONDS: Final = 60.0  # a plan made once is made anew so often: tables grow, and not every one is analysed soon
BEGIN: Final = "begin transaction"
PLAN_EACH: Final = "SET plan_cache_mode = force_custom_plan"  # how every connection begins
PLANNED_ONCE: Final = "/* planned once */"
"""In a statement's text: one plan for all values. For statements that find a few rows by key whatever the values."""
# The server no longer has what we prepared: a changed result type, a DISCARD, a pooler's other connection.
GONE_STATEMENT: Final = frozenset({"0A000", "26000", "42P05"})
ERRORS: Final = {"28000": InterfaceError, "23505": pg8000.IntegrityError}  # others: ProgrammingError

UNNAMED: Final = b"\x00"
_SIZE: Final = Struct("!i").pack
_COUNT: Final = Struct("!H").pack
_LENGTH: Final = Struct("!i").unpack_from
_NOTHING_TO_DO: Final = frozenset({b"1", b"2", b"3"})  # parsed, bound, closed
_AT_ONCE: Final = 65_536  # bytes
_HEAD: Final = 5  # bytes before what a message says: its kind and its length
_EXECUTE: Final = b"E" + _SIZE(9) + b"\x00" + _SIZE(0)
_SYNC: Final = b"S" + _SIZE(4)
_DESCRIBE_PORTAL: Final = b"D" + _SIZE(6) + b"P\x00"
Key = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Prepared:
    """A statement that the server knows: its name there, and how its rows are read (None: it has none)."""

    name: bytes
    text: str
    columns: list[dict[str, Any]] | None = None
    input_functions: list[Any] | None = None
    prepared_at: float = 0.0  # by the monotonic clock

    @property
    def planned_once(self) -> bool:
        """Kept, and to be run with one plan for all values."""
        return self.name != UNNAMED and PLANNED_ONCE in self.text

    @property
    def is_old(self) -> bool:
        """Whether its one plan may no longer be right."""
        return self.planned_once and time.monotonic() - self.prepared_at > PLAN_SECONDS


def _quickly(read: Callable[[str], Any], kind: int) -> Callable[[str], Any]:
    """`read`, and pg8000's own way for what Python's calendar does not have (infinity, years before 1)."""
    slowly = PG_TYPES[kind]

    def either(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            return slowly(text)

    return either


READERS: Final = {
    # pg8000 reads times with strptime, 10 us each where these take 0.2
    TIMESTAMPTZ: _quickly(datetime.fromisoformat, TIMESTAMPTZ),
    TIMESTAMP: _quickly(datetime.fromisoformat, TIMESTAMP),
    DATE: _quickly(date.fromisoformat, DATE),
}


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
        self._keep = keep
        self._kept: OrderedDict[Key, Prepared] = OrderedDict()
        self._closing: list[bytes] = []
        self._named = 0
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
            self._forget(key, known)
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

    def wait_at_most(self, seconds: float) -> None:
        """How long the server's answers are waited for from now on; nothing where there is no connection any more."""
        if self._usock is not None:
            with suppress(OSError):
                self._usock.settimeout(seconds)

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
            while len(data) - at < _HEAD or len(data) - at <= (size := _LENGTH(data, at + 1)[0]):
                data, at = self._with_more(data[at:]), 0
            code, at = data[at : at + 1], at + size + 1
            if code not in _NOTHING_TO_DO:
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
        missing = _LENGTH(data, 1)[0] + 1 - len(data) if len(data) >= _HEAD else 0
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
        """1. Write all messages. 2. Send them at once. 3. Read the answers. 4. Keep what was prepared."""
        statement = known or self._new_statement(key)
        bound = self._bind(statement.name, make_params(self.py_types, arguments))
        parts = [_close(name) for name in self._closing]
        if first and not self.autocommit:
            parts.append(_plainly(BEGIN))
        planning = _ONE_PLAN if statement.planned_once else _PLAN_EACH
        if planning is not self._planning and self._keep:
            parts.append(planning)
        if known is None:
            parts.append(_parse(statement.name, statement.text.encode(self._client_encoding), key[1]))
        parts += [bound, b"" if known else _DESCRIBE_PORTAL, _EXECUTE, _SYNC]

        self._planning = None  # until nothing can take the change back but the end of what it is part of
        self._send(b"".join(parts))
        self._closing.clear()
        self._work_meanwhile()
        context = Context(statement.text, columns=statement.columns, input_funcs=statement.input_functions)
        try:
            self.handle_messages(context)
        except DatabaseError as error:
            if known is None or _sqlstate(error) in GONE_STATEMENT:
                self._forget(key, statement)
            raise
        self._planning = planning
        if known is not None:
            self._kept.move_to_end(key)
        elif statement.name != UNNAMED:
            self._kept[key] = replace(
                statement, columns=context.columns, input_functions=context.input_funcs, prepared_at=time.monotonic()
            )
        return context

    def _new_statement(self, key: Key) -> Prepared:
        """The statement in Postgres' spelling, under a new name if it is worth keeping, else under none.

        The one used longest ago makes room for it.
        """
        text = _numbered(key[0])
        if not (self._keep and _is_worth_keeping(key[0])):
            return Prepared(UNNAMED, text)
        if len(self._kept) >= MOST_KEPT:
            _, oldest = self._kept.popitem(last=False)
            self._closing.append(oldest.name)
        self._named += 1
        return Prepared(b"signage_%d\x00" % self._named, text)

    def _forget(self, key: Key, statement: Prepared) -> None:
        """Never use it again. Closing one that the server never had is no error."""
        self._kept.pop(key, None)
        if statement.name != UNNAMED:
            self._closing.append(statement.name)

    def _bind(self, name: bytes, parameters: Sequence[str | None]) -> bytes:
        """The bind message, written whole before anything is sent: text that cannot be encoded harms nothing."""
        parts = [b"\x00", name, _COUNT(0), _COUNT(len(parameters))]
        for value in parameters:
            if value is None:
                parts.append(_SIZE(-1))
            else:
                encoded = value.encode(self._client_encoding)
                parts += (_SIZE(len(encoded)), encoded)
        parts.append(_COUNT(0))
        return _message(b"B", b"".join(parts))

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

    Each call holds up what the server has answered, so it does a little only. It must not use the connection; what
    it raises ends the connection, which was not done with its statement.
    """
    raw: Any = connection.connection.dbapi_connection
    raw.meanwhile = work
    try:
        yield
    finally:
        raw.meanwhile = None


@lru_cache(maxsize=512)
def _numbered(operation: str) -> str:
    """The text with `$1`, `$2` ... for each `%s`: pg8000 reads it character by character, so once is enough."""
    text: str = convert_paramstyle("format", operation, ())[0]
    return text


def _is_worth_keeping(operation: str) -> bool:
    return (
        len(operation) <= LONGEST_KEPT
        and operation.lstrip().startswith(KEPT_VERBS)
        and operation.count("%s") <= MOST_PARAMETERS_KEPT
    )


def _sqlstate(error: DatabaseError) -> str | None:
    code: str | None = error.args[0].get("C")
    return code


def _message(code: bytes, body: bytes) -> bytes:
    return code + _SIZE(len(body) + 4) + body


def _parse(name: bytes, text: bytes, oids: Sequence[int]) -> bytes:
    types = b"".join(_SIZE(0 if oid == -1 else oid) for oid in oids)
    return _message(b"P", name + text + b"\x00" + _COUNT(len(oids)) + types)


def _plainly(text: str) -> bytes:
    """All messages of a statement without parameters and rows."""
    bound = _message(b"B", b"\x00\x00" + _COUNT(0) + _COUNT(0) + _COUNT(0))
    return _parse(UNNAMED, text.encode(), ()) + bound + _EXECUTE


def _close(name: bytes) -> bytes:
    return _message(b"C", b"S" + name)


_ONE_PLAN: Final = _plainly("SET plan_cache_mode = force_generic_plan")
_PLAN_EACH: Final = _plainly(PLAN_EACH)
_COMMIT: Final = _plainly("commit") + _SYNC
