"""There is always an admin who can let others in: nobody locks themselves out, and nobody the last one."""

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from shared.db import transaction
from shared.tables import user_sessions, users
from shared.vocabulary import Role
from tests.api.accounts import added, audited, by_cookie, id_of, new_name, set_own
from tests.api.people import Api, add_user, ask_by_cookie, cookie_of, sign_in


@pytest.fixture
def keeper(engine: Engine) -> str:
    """The name of an admin of this test's own, so that there is always another one."""
    name = f"keeper-{secrets.token_hex(4)}"
    add_user(engine, name, Role.ADMIN)
    return name


@pytest.fixture
def keeper_cookie(app: Flask, keeper: str) -> str:
    return cookie_of(sign_in(app, keeper))


CHANGES: dict[str, Callable[[Flask, str, int], TestResponse]] = {
    "demote": lambda app, cookie, user: by_cookie(app, "PATCH", f"/api/users/{user}", cookie, json={"role": "viewer"}),
    "disable": lambda app, cookie, user: by_cookie(app, "PATCH", f"/api/users/{user}", cookie, json={"disabled": True}),
    "remove": lambda app, cookie, user: by_cookie(app, "DELETE", f"/api/users/{user}", cookie),
    "reset": lambda app, cookie, user: by_cookie(app, "POST", f"/api/users/{user}/reset-password", cookie),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nobody_locks_themselves_out(app: Flask, engine: Engine, keeper: str, keeper_cookie: str, change: str) -> None:
    add_user(engine, new_name(), Role.ADMIN)

    answer = CHANGES[change](app, keeper_cookie, id_of(engine, keeper))

    assert (answer.status_code, answer.json and answer.json["code"]) == (409, "own_account")
    assert ask_by_cookie(app, "GET", "/api/users", keeper_cookie).status_code == 200
    assert sign_in(app, keeper).status_code == 201


@pytest.fixture
def alone(engine: Engine, keeper: str) -> int:
    """The number of the only admin there is."""
    with transaction(engine) as connection:
        connection.execute(sa.delete(user_sessions))
        connection.execute(sa.delete(users).where(users.c.username != keeper))
    return id_of(engine, keeper)


@pytest.mark.parametrize("body", [{"role": "operator"}, {"disabled": True}, {"role": "viewer", "disabled": True}])
def test_the_last_admin_is_neither_demoted_nor_disabled_nor_removed(
    api: Api, app: Flask, keeper: str, alone: int, body: dict[str, Any]
) -> None:
    added(api, "admin")  # has never signed in: nobody who could let others in

    for answer in (api.patch(f"/api/users/{alone}", "admin", json=body), api.delete(f"/api/users/{alone}")):
        assert (answer.status_code, answer.json and answer.json["code"]) == (409, "last_admin")

    assert ask_by_cookie(app, "GET", "/api/users", cookie_of(sign_in(app, keeper))).status_code == 200
    assert audited(api, f"user:{keeper}") == []


@pytest.mark.parametrize("change", CHANGES)
def test_of_two_admins_who_show_each_other_out_at_once_one_stays(
    app: Flask, engine: Engine, keeper: str, alone: int, change: str
) -> None:
    other = new_name()
    add_user(engine, other, Role.ADMIN)
    pairs = [(cookie_of(sign_in(app, keeper)), id_of(engine, other)), (cookie_of(sign_in(app, other)), alone)]
    gate = threading.Barrier(2)

    def show_out(cookie: str, target: int) -> int:
        gate.wait(10)
        return CHANGES[change](app, cookie, target).status_code

    with ThreadPoolExecutor(2) as pool:
        codes = [future.result(30) for future in [pool.submit(show_out, *pair) for pair in pairs]]

    assert sorted(codes) in ([200, 401], [204, 401])
    with transaction(engine) as connection:
        admins = sa.select(users.c.username).where(
            users.c.role == "admin", users.c.disabled_at.is_(None), users.c.one_time_until.is_(None)
        )
        (left,) = connection.execute(admins).scalars()
    assert sign_in(app, left).status_code == 201


def test_the_only_admin_who_forgot_their_password_is_let_in_again_by_a_token(
    api: Api, app: Flask, keeper: str, alone: int
) -> None:
    handed = api.post(f"/api/users/{alone}/reset-password", "admin").json
    assert handed is not None

    cookie = cookie_of(sign_in(app, keeper, handed["one_time_password"]))

    assert set_own(app, cookie, handed["one_time_password"]) == 204
    assert ask_by_cookie(app, "GET", "/api/users", cookie).status_code == 200
