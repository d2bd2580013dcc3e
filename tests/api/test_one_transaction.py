"""A read uses one connection for authentication and data; a change takes none before it has the whole body."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine, event

from functions.api.app import create_app
from functions.api.routing import Bound, Call, Routes
from functions.api.services import Services
from shared.access.rules import parse_token
from shared.errors import ClientNotFound
from shared.postgres.door import engine_for, reading, transaction
from shared.tables import api_tokens
from shared.vocabulary import Role
from tests.api.people import Api, ask_by_cookie, issue_token
from tests.stores.commands_world import new_client

routes = Routes("held", "/held", "What only these tests call.")
seen: list[int] = []  # connections in use after a handler's transaction


@routes.get("/<uuid:uuid>", role=Role.VIEWER, bound=Bound.NONE)
def held(call: Call, uuid: str) -> None:
    """Open two transactions one after the other; the last digit of the uuid decides where the handler fails."""
    pool: Any = call.services.engine.pool
    with call.transaction():
        seen.append(pool.checkedout())
    seen.append(pool.checkedout())
    with call.transaction() as (connection, _):
        seen.append(pool.checkedout())
        if uuid.endswith("1"):
            raise ClientNotFound
        if uuid.endswith("2"):
            connection.execute(sa.text("SELECT 1/0"))


@routes.get("/idle", role=Role.VIEWER, bound=Bound.NONE)
def idle(call: Call) -> None:
    """Open no transaction."""
    seen.append(call.services.engine.pool.checkedout())  # type: ignore[attr-defined]  # only on the base class


@contextmanager
def asked_of(engine: Engine) -> Iterator[list[str]]:
    """A list of every checkout of a connection, every statement (inside a transaction or not), and every commit."""
    noted: list[str] = []

    def statement(connection: sa.Connection, *_more: object) -> None:
        raw: Any = connection.connection.dbapi_connection
        noted.append("in a transaction" if raw.in_transaction else "by itself")

    listeners: dict[str, Any] = {
        "checkout": lambda *_more: noted.append("taken"),
        "after_cursor_execute": statement,
        "commit": lambda _connection: noted.append("commit"),
    }
    for name, listener in listeners.items():
        event.listen(engine, name, listener)
    try:
        yield noted
    finally:
        for name, listener in listeners.items():
            event.remove(engine, name, listener)


def last_used(engine: Engine, token: str) -> Any:
    parsed = parse_token(token)
    assert parsed is not None
    with engine.connect() as connection:
        query = sa.select(api_tokens.c.last_used_at).where(api_tokens.c.id == parsed[0])
        return connection.execute(query).scalar_one()


def test_a_read_takes_one_connection_and_no_transaction_and_a_change_two(
    api: Api, engine: Engine, services: Services
) -> None:
    identity, unheard = new_client(engine, status="running"), new_client(engine)
    api.get(f"/api/clients/{identity}")  # records the use of the token

    with asked_of(services.engine) as read:
        api.get(f"/api/clients/{identity}")
    with asked_of(services.engine) as read_of_unknown:
        api.get(f"/api/clients/{unheard}")
    with asked_of(services.engine) as change:
        api.patch(f"/api/clients/{identity}", json={"name": "x"})

    assert read == ["taken", *["by itself"] * 3]  # the caller, the client, and what is expected on its screen
    assert read_of_unknown == [*read, "by itself"]  # and its last sign of life
    assert (change.count("taken"), change.count("commit"), change.count("by itself")) == (2, 2, 0)


def test_a_read_by_cookie_too(app: Flask, cookie: str, services: Services) -> None:
    with asked_of(services.engine) as read:
        assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 200

    assert (read.count("taken"), read.count("in a transaction"), read.count("commit")) == (1, 0, 0)


def test_a_change_after_a_read_on_the_same_connection_is_a_transaction_again(engine: Engine, database_url: str) -> None:
    issue_token(engine, Role.VIEWER)
    alone = engine_for(database_url, "tests", pool_size=1)
    with reading(alone) as connection:
        connection.execute(sa.text("SELECT 1"))

    with alone.connect() as connection:
        connection.execute(sa.text("UPDATE api_tokens SET name = 'lost'"))  # without a commit

    with transaction(alone) as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM api_tokens WHERE name = 'lost'")).scalar_one() == 0
    alone.dispose()


REFUSED = [
    ("/api/clients?limit=0", "viewer", 400),
    ("/api/clients?limit=1e1", "viewer", 400),
    ("/api/clients?limit=5.0", "viewer", 400),
    ("/api/tokens", "viewer", 403),
    ("/api/clients/00000000-0000-4000-8000-00000000dead", "viewer", 404),
]


@pytest.mark.parametrize(("path", "role", "status"), REFUSED)
def test_a_refused_read_gives_its_connection_back_and_its_token_counts_as_used(
    api: Api, engine: Engine, services: Services, path: str, role: str, status: int
) -> None:
    token = issue_token(engine, Role(role))

    answer = api.get(path, None, token=token)

    assert answer.status_code == status
    assert last_used(engine, token) is not None
    assert services.engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # only on the base class


def test_an_unknown_caller_leaves_no_connection_behind(api: Api, services: Services) -> None:
    assert api.get("/api/clients", None, token="sgn_nonsense").status_code == 401
    assert services.engine.pool.checkedout() == 0  # type: ignore[attr-defined]  # only on the base class


@pytest.mark.parametrize(("digit", "status"), [(0, 200), (1, 404), (2, 500)])
def test_never_more_than_one_connection_is_held_however_the_handler_ends(
    services: Services, engine: Engine, database_url: str, digit: int, status: int
) -> None:
    alone = engine_for(database_url, "tests", pool_size=1)
    asked = Api(create_app(Services(services.config, alone), (routes,)), engine)
    seen.clear()

    answer = asked.get(f"/held/00000000-0000-4000-8000-00000000000{digit}")
    again = asked.get("/held/idle")

    assert (answer.status_code, again.status_code) == (status, 200)
    assert seen == [1, 0, 1, 1]
    assert alone.pool.checkedout() == 0  # type: ignore[attr-defined]  # only on the base class
    alone.dispose()


def test_nobody_waits_for_a_token_that_somebody_else_just_noted_as_used(api: Api, engine: Engine) -> None:
    token = issue_token(engine, Role.VIEWER)
    parsed = parse_token(token)
    assert parsed is not None
    answers: list[int] = []

    with transaction(engine) as other:
        other.execute(sa.update(api_tokens).where(api_tokens.c.id == parsed[0]).values(last_used_at=sa.func.now()))
        asking = threading.Thread(target=lambda: answers.append(api.get("/api/clients", None, token=token).status_code))
        asking.start()
        asking.join(timeout=60)  # a waiting lock would have timed out long before

        assert answers == [200]
