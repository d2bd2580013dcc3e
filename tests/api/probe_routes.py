"""Routes for tests only: each shows one duty of the frame."""

import io
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa
from flask import Response, send_file

from functions.api.bodies import Answer, Body, QueryParameters, Time
from functions.api.pages import Page, PageQuery, decode_cursor, encode_cursor
from functions.api.routing import PUBLIC, Bound, Call, Reply, Routes
from shared.errors import CommandLockedOut, TooManyAttempts
from shared.vocabulary import CommandAction

routes = Routes("probe", "/probe", "What only tests call.")

SECRET = "hunter2-in-an-exception"
FILE = bytes(range(256)) * 16
CHUNKS = 200
LOCK = 4711
torn_down: list[str] = []


class Inner(Body):
    """A nested part of a body."""

    name: str


class Everything(Body):
    """One field of each kind."""

    text: Annotated[str, msgspec.Meta(max_length=10)]
    number: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1
    action: CommandAction | None = None
    at: Time | None = None
    inner: tuple[Inner, ...] = ()
    share: int | str = 1


class Asked(PageQuery):
    """One parameter of each kind."""

    q: str | None = None
    stale: bool | None = None
    since: Time | None = None
    level: tuple[CommandAction, ...] = ()


class Echo(Answer):
    """The received values."""

    got: Any


@routes.post("/echo", role=PUBLIC, bound=Bound.NONE)
def echo(call: Call, body: Everything) -> Echo:
    """Answer the body."""
    return Echo(got=body)


@routes.get("/query", role=PUBLIC, bound=Bound.NONE)
def show_query(call: Call, query: Asked) -> Echo:
    """Answer the parameters."""
    return Echo(got=query)


class NumberQuery(QueryParameters):
    """A page of numbers."""

    cursor: str | None = None


@routes.get("/numbers", role=PUBLIC, bound=Bound.NONE)
def numbers(call: Call, query: NumberQuery) -> Page[int]:
    """A list whose cursor holds a time and a number."""
    after = decode_cursor(query.cursor, datetime, int)
    first = after[1] + 1 if after else 0
    moment = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    return Page(items=[first, first + 1], next_cursor=encode_cursor((moment, first + 1)))


@routes.get("/boom", role=PUBLIC, bound=Bound.NONE)
def boom(call: Call) -> Echo:
    """Raise an unforeseen error."""
    raise RuntimeError(SECRET)


@routes.get("/torn", role=PUBLIC, bound=Bound.NONE)
def torn(call: Call) -> Response:
    """Start an answer and fail in the middle of it."""

    def parts() -> Iterator[bytes]:
        yield b"begun"
        raise RuntimeError(SECRET)

    return Response(parts(), content_type="text/plain")


@routes.get("/database", role=PUBLIC, bound=Bound.NONE)
def ask_database(call: Call) -> Echo:
    """Run a query."""
    with call.transaction() as (connection, _):
        return Echo(got=connection.execute(sa.select(1)).scalar_one())


@routes.get("/database-error", role=PUBLIC, bound=Bound.NONE)
def bad_sql(call: Call) -> Echo:
    """A statement that Postgres refuses, with a secret in it."""
    with call.transaction() as (connection, _):
        connection.execute(sa.text(f"SELECT '{SECRET}' FROM nowhere"))
    return Echo(got=None)


@routes.get("/lock", role=PUBLIC, bound=Bound.NONE)
def wait_for_lock(call: Call) -> Echo:
    """Wait for a lock with a short timeout."""
    with call.transaction() as (connection, _):
        connection.execute(sa.text("SET LOCAL lock_timeout = 50"))
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    return Echo(got=None)


@routes.get("/slow-statement", role=PUBLIC, bound=Bound.NONE)
def slow_statement(call: Call) -> Echo:
    """Run a statement that Postgres cancels after its timeout."""
    with call.transaction() as (connection, _):
        connection.execute(sa.text("SET LOCAL statement_timeout = 50"))
        connection.execute(sa.text("SELECT pg_sleep(5)"))
    return Echo(got=None)


@routes.get("/locked", role=PUBLIC, bound=Bound.NONE, raises=(CommandLockedOut,))
def locked(call: Call) -> Echo:
    """A domain error with a typed extra."""
    raise CommandLockedOut(lockout_until="2026-01-01T00:00:00Z")


@routes.get("/wait", role=PUBLIC, bound=Bound.NONE, raises=(TooManyAttempts,))
def wait(call: Call) -> Echo:
    """Refuse with Retry-After."""
    raise TooManyAttempts(retry_after_seconds=17)


@routes.get("/stream", role=PUBLIC, bound=Bound.NONE, produces="text/plain")
def stream(call: Call) -> Response:
    """Answer with a stream, and register a callback for its end."""

    def parts() -> Iterator[bytes]:
        for number in range(CHUNKS):
            yield f"{number}\n".encode()

    answer = Response(parts(), content_type="text/plain")
    answer.call_on_close(lambda: torn_down.append("stream"))
    return answer


@routes.get("/torn-down", role=PUBLIC, bound=Bound.NONE)
def show_torn_down(call: Call) -> Echo:
    """The callbacks that ran after their answers ended."""
    return Echo(got=torn_down)


@routes.get("/file", role=PUBLIC, bound=Bound.NONE, produces="application/octet-stream")
def file(call: Call) -> Response:
    """Answer a file, also in ranges."""
    answer = send_file(io.BytesIO(FILE), "application/octet-stream", etag="probe", conditional=False)
    answer.content_length = len(FILE)
    answer.make_conditional(call.request.environ, accept_ranges=True, complete_length=len(FILE))
    return answer


@routes.post("/count", role=PUBLIC, bound=Bound.NONE, upload=True)
def count(call: Call) -> Echo:
    """How many bytes of a body arrived."""
    total = 0
    while block := call.request.stream.read(65_536):
        total += len(block)
    return Echo(got=total)


@routes.post("/multipart", role=PUBLIC, bound=Bound.NONE, upload=True)
def multipart(call: Call) -> Echo:
    """The name and size of an uploaded file."""
    given = call.request.files["file"]
    return Echo(got=[given.filename, len(given.read())])


@routes.post("/unread", role=PUBLIC, bound=Bound.NONE, upload=True, statuses={202: "Not looked at"})
def unread(call: Call) -> Reply[Echo]:
    """Answer without reading the body."""
    return Reply(Echo(got=None), 202, {"X-Probe": "1"})


@routes.get("/address", role=PUBLIC, bound=Bound.NONE)
def address(call: Call) -> Echo:
    """The caller's address."""
    return Echo(got=[call.address, call.request_id])
