"""The access to Postgres: engine, transactions, clock, and guards against known faults of pg8000.

Every decision by time takes `now` from `database_now`, once at the start of a transaction, so that all
instances of all functions share one clock.
"""

import re
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, Final

import pg8000.dbapi
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import DBAPIError, InterfaceError, InvalidatePoolError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from shared import database_tls
from shared.config import Config
from shared.postgres import driver, query
from shared.postgres.query import NO_ROW, Query

SOCKET_TIMEOUT_SECONDS: Final = 10  # without it pg8000 waits for ever for a stopped backend
STATEMENT_TIMEOUT_MS: Final = 8_000  # below the socket's timeout, so that Postgres reports it first
LOCK_TIMEOUT_MS: Final = 4_000
POOL_TIMEOUT_SECONDS: Final = 5  # wait for a free connection of the pool
KEEPALIVE_IDLE_SECONDS: Final = 15  # silence before one end probes the other
KEEPALIVE_INTERVAL_SECONDS: Final = 5
KEEPALIVE_COUNT: Final = 3  # unanswered probes that end the connection: after 30 s in all
UNACKNOWLEDGED_MS: Final = 30_000  # sent data without an acknowledgement ends the connection
UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")


def scrub(text: str) -> str:
    """`text` with every NUL and lone surrogate replaced by U+FFFD.

    Postgres refuses NUL (22021). A lone surrogate cannot be encoded; after it a pg8000 connection answers each query
    with the result of the one before.
    """
    return UNSTORABLE.sub("\ufffd", text)


def make_engine(config: Config, application_name: str) -> Engine:
    """An engine for DATABASE_URL with timeouts and a pool of DATABASE_POOL_SIZE connections."""
    return engine_for(
        config["DATABASE_URL"],
        application_name,
        config["DATABASE_POOL_SIZE"],
        prepared=config["DATABASE_PREPARED_STATEMENTS"],
    )


def engine_for(database_url: str, application_name: str, pool_size: int = 5, *, prepared: bool = True) -> Engine:
    """The engine of `make_engine` for a `postgresql://user:password@host:port/name` address.

    `prepared` False: connections keep no prepared statements.
    Without TLS, or without the certificate that `?sslmode=` requires, a server on another machine gets neither user
    nor password. `?unix_sock=` names a unix socket.
    """
    address = sa.make_url(pg8000_url(database_url))
    engine = sa.create_engine(
        address.difference_update_query(database_tls.OWN),
        connect_args={
            "timeout": SOCKET_TIMEOUT_SECONDS,
            "application_name": application_name,
            "ssl_context": database_tls.context(database_url),
            "startup_params": _session_settings(),
        },
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_SECONDS,
        pool_recycle=1800,
    )
    event.listen(engine, "do_connect", partial(_connect, prepared))
    event.listen(engine, "checkout", _refuse_the_dead)
    event.listen(engine, "handle_error", _drop_desynchronised)
    return engine


def _session_settings() -> dict[str, str]:
    """The settings of a database session.

    With the default keepalives of two hours, the session of a peer that vanished without a FIN would keep its locks
    (the bridge's leadership) for so long. On a unix socket Postgres ignores these settings.
    """
    return {
        "statement_timeout": str(STATEMENT_TIMEOUT_MS),
        "lock_timeout": str(LOCK_TIMEOUT_MS),
        "idle_in_transaction_session_timeout": "60000",
        "tcp_keepalives_idle": str(KEEPALIVE_IDLE_SECONDS),
        "tcp_keepalives_interval": str(KEEPALIVE_INTERVAL_SECONDS),
        "tcp_keepalives_count": str(KEEPALIVE_COUNT),
        "tcp_user_timeout": str(UNACKNOWLEDGED_MS),
        "timezone": "UTC",
    }


def pg8000_url(database_url: str) -> str:
    """The address in SQLAlchemy's spelling for pg8000."""
    scheme, _, rest = database_url.partition("://")
    return f"postgresql+pg8000://{rest}" if scheme == "postgresql" else database_url


@contextmanager
def transaction(engine: Engine) -> Iterator[Connection]:
    """One transaction: committed at the end, rolled back when anything is raised."""
    with engine.begin() as connection:
        yield connection


SNAPSHOT = Query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY", NO_ROW)


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A read-only transaction in which all statements see the same snapshot."""
    with engine.begin() as connection:
        SNAPSHOT.run(connection)
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection for reads, each statement in its own transaction.

    Under READ COMMITTED each statement of a transaction takes a new snapshot anyway. This saves the round trip of
    the commit.
    """
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.autocommit = True
        try:
            yield connection
        finally:
            raw.autocommit = False


@query.one(
    "SELECT now()",
)
def database_now(connection: Connection) -> datetime:
    """The start of the current transaction by the database's clock, in UTC."""


def sqlstate(error: DBAPIError) -> str | None:
    """The five-character SQLSTATE of a database error, or None without one."""
    details = error.orig.args[0] if error.orig is not None and error.orig.args else None
    return details.get("C") if isinstance(details, dict) else None


def constraint_name(error: DBAPIError) -> str | None:
    """The name of the constraint that refused a statement, or None."""
    details = error.orig.args[0] if error.orig is not None and error.orig.args else None
    return details.get("n") if isinstance(details, dict) else None


QUOTING_STATES: Final = ("21", "22", "23", "42601", "P0")
"""SQLSTATEs whose message may quote a value or a piece of the statement."""


def said_by_postgres(error: BaseException) -> dict[str, str]:
    """The SQLSTATE and message of an error, if any, for an `Outage`; never a value of a statement."""
    if not isinstance(error, DBAPIError) or error.orig is None or not error.orig.args:
        return {}
    said = error.orig.args[0]
    if not isinstance(said, dict):
        return {"said": said} if isinstance(error, InterfaceError) and isinstance(said, str) else {}
    state, message = str(said.get("C", "")), str(said.get("M", ""))
    return {"sqlstate": state} if state.startswith(QUOTING_STATES) else {"sqlstate": state, "said": message}


AWAY_STATES: Final = ("08", "53", "57", "40", "55P03", "55000")
"""SQLSTATEs of temporary faults: connection, resources, operator's intervention, serialisation and deadlock, lock
timeout, and a database that accepts no connections now."""


ILL_STATES: Final = ("58", "XX")
"""SQLSTATEs of system and internal errors. At the start of a session they mean a full disk: each writes a file."""


def is_away(error: BaseException) -> bool:
    """Whether the error is temporary: connection refused or cut, pool used up, timeout, deadlock."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    never_reached = isinstance(error, InterfaceError)  # pg8000's error without a connection
    return error.connection_invalidated or never_reached or (sqlstate(error) or "").startswith(AWAY_STATES)


def _connect(
    prepared: bool, _dialect: Any, _record: Any, _arguments: Sequence[Any], named: Mapping[str, Any]
) -> driver.Connection:
    """A new connection. A server that accepts it but opens no session counts as away: see `is_away`."""
    session = dict(named)
    unix_sock, port, timeout = session.pop("unix_sock", None), session.pop("port", 5432), session.pop("timeout")
    try:
        connected = _connected(unix_sock or (session.get("host", "localhost"), port), timeout)
        return _session(connected, keep=prepared, **session)
    except ssl.SSLCertVerificationError as error:
        raise pg8000.dbapi.InterfaceError(f"the server's certificate is wrong: {error.verify_message}") from error
    except OSError as error:
        raise pg8000.dbapi.InterfaceError("the server does not answer") from error
    except pg8000.dbapi.DatabaseError as error:
        if str(error.args[0].get("C") if isinstance(error.args[0], dict) else "").startswith(ILL_STATES):
            raise pg8000.dbapi.InterfaceError("the server opens no session") from error
        raise


def _session(connected: socket.socket, **session: Any) -> driver.Connection:
    try:
        return driver.Connection(connected, **session)
    except BaseException:
        connected.close()
        raise


def _connected(place: str | tuple[str, int], timeout: float) -> socket.socket:
    """A socket at a host and port, or at the unix socket of this path.

    It has the client side of the server's `_session_settings`, and TCP_NODELAY: without the latter a large parameter
    takes two to three times as long (measured).
    """
    if isinstance(place, tuple):
        made = socket.create_connection(place, timeout)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _TCP_OPTIONS.items():
            made.setsockopt(socket.IPPROTO_TCP, option, value)
        return made
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.settimeout(timeout)
    try:
        made.connect(place)
    except OSError:
        made.close()
        raise
    return made


_TCP_OPTIONS: Final = {
    socket.TCP_NODELAY: 1,
    socket.TCP_KEEPIDLE: KEEPALIVE_IDLE_SECONDS,
    socket.TCP_KEEPINTVL: KEEPALIVE_INTERVAL_SECONDS,
    socket.TCP_KEEPCNT: KEEPALIVE_COUNT,
    socket.TCP_USER_TIMEOUT: UNACKNOWLEDGED_MS,
}


def _refuse_the_dead(dbapi_connection: driver.Connection, _record: Any, _proxy: Any) -> None:
    """Replace a connection that the server has ended, and all older connections of the pool."""
    if not dbapi_connection.lives():
        raise InvalidatePoolError


def _drop_desynchronised(context: ExceptionContext) -> None:
    """Drop a connection after an error that Postgres did not send: a message may have been cut half-way.

    pg8000 raises a bare OSError for a reset or silent connection; callers get an OperationalError, as from other
    drivers.
    """
    original = context.original_exception
    if isinstance(original, pg8000.dbapi.DatabaseError):
        return
    context.is_disconnect = True
    context.invalidate_pool_on_disconnect = False
    if isinstance(original, OSError):
        raise OperationalError(context.statement or "", None, original, connection_invalidated=True) from original
