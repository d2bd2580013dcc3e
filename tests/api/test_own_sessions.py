"""People see and end their own sessions, and an unused session ends by itself."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine

from shared.access.rules import digest
from shared.postgres.door import transaction
from shared.tables import user_sessions
from tests.api.people import OURS, PASSWORD, Api, ask_by_cookie, cookie_of, new_address, sign_in

PATH = "/api/users/me/sessions"


def rest(engine: Engine, cookie: str, seconds: int) -> None:
    """Move the last use of this session back by `seconds`."""
    with transaction(engine) as connection:
        mine = sa.update(user_sessions).where(user_sessions.c.id_hash == digest(cookie))
        connection.execute(mine.values(last_seen_at=sa.func.now() - timedelta(seconds=seconds)))


def listed(app: Flask, cookie: str) -> list[dict[str, object]]:
    answer = ask_by_cookie(app, "GET", PATH, cookie)
    assert answer.status_code == 200
    return list((answer.json or {})["items"])


def test_somebody_sees_where_they_are_signed_in_and_ends_one_of_them(app: Flask, anna: str, cookie: str) -> None:
    phone = app.test_client(use_cookies=False).post(
        "/api/session",
        json={"username": anna, "password": PASSWORD},
        headers={"X-Forwarded-For": "198.18.77.1", "User-Agent": "A phone <b>\x1b"},
    )
    elsewhere = cookie_of(phone)

    sessions = listed(app, cookie)
    [other] = [one for one in sessions if not one["is_this_one"]]

    assert [one["is_this_one"] for one in sessions].count(True) == 1
    assert other["address"] == "198.18.77.1"
    assert str(other["browser"]).startswith("A phone <b>")
    assert ask_by_cookie(app, "DELETE", f"{PATH}/{other['id']}", cookie, OURS).status_code == 204
    assert ask_by_cookie(app, "GET", "/api/session", elsewhere).status_code == 401
    assert len(listed(app, cookie)) == 1
    assert ask_by_cookie(app, "DELETE", f"{PATH}/{other['id']}", cookie, OURS).status_code == 404


def test_nobody_ends_or_sees_somebody_elses_session(app: Flask, api: Api, cookie: str, engine: Engine) -> None:
    with engine.connect() as connection:
        others = list(connection.execute(sa.select(user_sessions.c.number, user_sessions.c.id_hash)))
    mine = {one["id"] for one in listed(app, cookie)}
    foreign = next((number for number, _ in others if number not in mine), 10**6)

    assert ask_by_cookie(app, "DELETE", f"{PATH}/{foreign}", cookie, OURS).status_code == 404
    assert api.get(PATH).status_code == 422  # a token has no session


@pytest.mark.parametrize(("seconds", "status"), [(3590, 200), (3600, 401), (100_000, 401)])
def test_a_session_that_rests_for_an_hour_is_over(
    app: Flask, engine: Engine, cookie: str, seconds: int, status: int
) -> None:
    rest(engine, cookie, seconds)

    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == status


def test_a_session_in_use_goes_on_and_one_that_rested_is_not_listed(
    app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    rested = cookie_of(sign_in(app, anna, address=new_address()))
    rest(engine, rested, 3600)
    for _ in range(3):
        rest(engine, cookie, 3000)
        assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200

    [only] = listed(app, cookie)
    assert only["is_this_one"] is True
    rest(engine, cookie, 20)  # within the minute nothing is written
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200
    with engine.connect() as connection:
        ago = sa.type_coerce(sa.func.now() - user_sessions.c.last_seen_at, sa.Interval)
        mine = sa.select(ago).where(user_sessions.c.id_hash == digest(cookie))
        assert connection.execute(mine).scalar_one() >= timedelta(seconds=20)
