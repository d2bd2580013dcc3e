"""Routes and looks for the tests of history that is read from a replica."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Engine, event

from functions.api.app import create_app
from functions.api.replica import Replica
from functions.api.routes import ALL
from functions.api.routing import Call, Routes
from functions.api.services import Services
from shared import db
from shared.tables import incidents
from shared.vocabulary import IncidentKind, Role
from tests.api.people import Api

routes = Routes("past", "/past", "What only these tests call.")
asked: list[str] = []  # which side `pruned` was answered by
CONNECTION: Final = "a connection"
SLOW_SECONDS: Final = 0.4
LONG: Final = 60.0  # seconds: nothing here takes that long, however busy the machine is


@routes.get("/pruned", role=Role.VIEWER, history=True)
def pruned(call: Call) -> None:
    """Read a table for a long time where it is read from a standby, else at once."""
    with call.transaction() as (connection, _):
        is_standby = connection.execute(sa.text("SELECT pg_is_in_recovery() FROM pruned")).scalar_one_or_none()
        asked.append("replica" if is_standby else "primary")
        if is_standby:
            connection.execute(sa.text("SELECT pg_sleep(7) FROM pruned"))


@routes.get("/slow", role=Role.VIEWER, history=True)
def slow(call: Call) -> None:
    """Take SLOW_SECONDS."""
    with call.transaction() as (connection, _):
        connection.execute(sa.text("SELECT pg_sleep(:seconds)"), {"seconds": SLOW_SECONDS})


@routes.get("/mistaken", role=Role.VIEWER, history=True)
def mistaken(call: Call) -> None:
    """Write, which no read may."""
    with call.transaction() as (connection, _):
        connection.execute(sa.text("UPDATE clients SET name = 'written by a read'"))


class Asked:
    """What both sides were asked: each statement, and each connection that was wanted to the replica."""

    def __init__(self) -> None:
        self._noted: list[tuple[str, str]] = []

    def note(self, side: str, text: str) -> None:
        self._noted.append((side, text))

    def sides(self, word: str) -> set[str]:
        """Who was sent statements with this word."""
        return {side for side, text in self._noted if word in text}

    def of(self, side: str, *but: str) -> list[str]:
        """What one side was sent, without statements in which one of these words stands."""
        return [text for to, text in self._noted if to == side and not any(word in text for word in but)]

    @property
    def replica(self) -> bool:
        """Whether anything at all was wanted of the replica."""
        return bool(self.of("replica"))


@contextmanager
def what_is_asked(services: Services) -> Iterator[Asked]:
    """The side is told by the port to which the connection really leads."""
    noted, there = Asked(), services.replica.engine

    def statement(connection: sa.Connection, _cursor: object, text: str, *_more: object) -> None:
        raw: Any = connection.connection.dbapi_connection
        noted.note("replica" if raw._usock.getpeername()[1] == there.url.port else "primary", text)

    def wanted(*_more: object) -> None:
        noted.note("replica", CONNECTION)

    listeners: list[tuple[Engine, str, Callable[..., None]]] = [
        (services.engine, "before_cursor_execute", statement),
        (there, "before_cursor_execute", statement),
        (there, "do_connect", wanted),
        (there, "checkout", wanted),
    ]
    for engine, name, listener in listeners:
        event.listen(engine, name, listener, insert=True)
    try:
        yield noted
    finally:
        for engine, name, listener in listeners:
            event.remove(engine, name, listener)


@contextmanager
def told_of_the_replica() -> Iterator[list[str]]:
    """The names of what is logged of it, as it is logged."""
    told: list[str] = []

    class Teller(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            name = record.__dict__.get("fields", {}).get("event", "")
            if name.startswith("replica"):
                told.append(name)

    logger, teller = logging.getLogger("signage"), Teller()
    before = logger.level
    logger.addHandler(teller)
    logger.setLevel(logging.INFO)
    try:
        yield told
    finally:
        logger.removeHandler(teller)
        logger.setLevel(before)


def exchange(services: Services, url: str) -> None:
    """Another address, of which nothing is known yet."""
    forget(services)
    services._built["replica"] = Replica(db.engine_for(url, "api", replica=True))


def forget(services: Services) -> None:
    """The next one who asks it is the first."""
    known = services._built.pop("replica", None)
    if known is not None:
        known.engine.dispose()


def look(services: Services) -> str:
    """How the replica is found now, whatever was found before."""
    is_no_longer_spared(services)
    with db.reading(services.engine) as primary:
        return services.replica.look(primary)


def is_no_longer_spared(services: Services) -> None:
    """As if the time had gone by in which nobody asks it."""
    services.replica._spared_until = 0.0


def new_incident(engine: Engine) -> int:
    with db.transaction(engine) as connection:
        now = db.database_now(connection)
        row = {"kind": IncidentKind.CLUSTER.value, "began_at": now, "opened_at": now, "cause": "test"}
        return int(connection.execute(sa.insert(incidents).values(row).returning(incidents.c.id)).scalar_one())


def caller(services: Services) -> Api:
    """Asks as anybody, with tokens that were just used: the note of that is written once a minute."""
    made = Api(create_app(services, (*ALL, routes)), services.engine)
    for role in made.tokens:
        made.get("/api/session", role)
    return made


def rename(api: Api, uuid: str, name: str = "Lobby") -> None:
    assert api.patch(f"/api/clients/{uuid}", json={"name": name}).status_code == 200


def events_of(api: Api, uuid: str) -> list[str]:
    """The kinds of what happened to a client, the newest first."""
    answer = api.get(f"/api/clients/{uuid}/events")
    assert answer.status_code == 200, answer.text
    return [event["kind"] for event in answer.get_json()["items"]]
