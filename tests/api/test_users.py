"""/api/users: people are let in, changed and shown out; what they may do ends at once."""

import secrets
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from shared.db import transaction
from shared.tables import user_sessions, users
from shared.vocabulary import Role
from tests.api.people import OURS, PASSWORD, Api, add_user, ask_by_cookie, cookie_of, new_address, sign_in

OWN = "a password of my own"


@pytest.fixture
def keeper(engine: Engine) -> str:
    """The name of an admin of this test's own, so that there is always another one."""
    name = f"keeper-{secrets.token_hex(4)}"
    add_user(engine, name, Role.ADMIN)
    return name


@pytest.fixture
def keeper_cookie(app: Flask, keeper: str) -> str:
    return cookie_of(sign_in(app, keeper))


def new_name() -> str:
    return f"bert-{secrets.token_hex(4)}"


def added(api: Api, role: str = "operator") -> dict[str, Any]:
    """Somebody new: the answer to adding them."""
    answer = api.post("/api/users", "admin", json={"username": new_name(), "role": role})
    assert answer.status_code == 201
    assert answer.json is not None
    found: dict[str, Any] = answer.json
    return found


def id_of(engine: Engine, name: str) -> int:
    with transaction(engine) as connection:
        return int(connection.execute(sa.select(users.c.id).where(users.c.username == name)).scalar_one())


def by_cookie(app: Flask, method: str, path: str, cookie: str, **options: Any) -> TestResponse:
    """A change by a person's own page."""
    headers = {"Cookie": f"signage_session={cookie}", "X-Forwarded-For": new_address(), **OURS}
    return app.test_client(use_cookies=False).open(path, method=method, headers=headers, **options)


def set_own(app: Flask, cookie: str, current: str, new: str = OWN) -> int:
    body = {"current_password": current, "new_password": new}
    return by_cookie(app, "POST", "/api/users/me/password", cookie, json=body).status_code


def audited(api: Api, target: str) -> list[tuple[str, str]]:
    """(action, actor's kind) of what was done to somebody, the oldest first; sign-ins left out."""
    answer = api.get("/api/audit", "admin", query_string={"target": target, "limit": 100})
    assert answer.json is not None
    lines = [(line["action"], line["actor"].split(":")[0]) for line in reversed(answer.json["items"])]
    return [line for line in lines if not line[0].startswith("session.")]


# --- letting somebody in ---


def test_somebody_new_signs_in_once_with_what_they_were_given_and_then_with_their_own(api: Api, app: Flask) -> None:
    """Also in mode `local`, where the first admin need not change theirs."""
    handed = added(api)
    name, password = handed["user"]["username"], handed["one_time_password"]

    answer = sign_in(app, name, password)
    cookie = cookie_of(answer)
    assert answer.json is not None
    assert answer.json["must_change_password"]
    refused = ask_by_cookie(app, "GET", "/api/clients", cookie)
    assert (refused.status_code, refused.json and refused.json["code"]) == (403, "password_change_required")
    assert set_own(app, cookie, password, password) == 422
    assert set_own(app, cookie, password) == 204

    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 200
    assert sign_in(app, name, password).status_code == 401
    again = sign_in(app, name, OWN)
    assert again.json is not None
    assert not again.json["must_change_password"]


def test_a_handed_over_password_is_in_no_list_and_in_no_audit_line(api: Api) -> None:
    handed = added(api)

    listed = api.get("/api/users", "admin", query_string={"limit": 100})
    lines = api.get("/api/audit", "admin", query_string={"target": f"user:{handed['user']['username']}"})

    assert handed["user"]["username"] in listed.text
    assert "user.create" in lines.text
    assert handed["one_time_password"] not in listed.text + lines.text
    assert "argon2" not in listed.text


@pytest.mark.parametrize(
    "name", ["", " bert", "bert ", "bert\n", "be\u202ert", "bert:x", "<b>bert</b>", "b" * 65, "-bert", "bert#1"]
)
def test_a_name_that_could_be_mistaken_is_refused_by_name(api: Api, name: str) -> None:
    answer = api.post("/api/users", "admin", json={"username": name, "role": "viewer"})

    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["errors"][0]["field"] == "username"


def test_a_name_that_is_there_is_a_conflict_and_leaves_the_person_alone(api: Api, app: Flask, anna: str) -> None:
    answer = api.post("/api/users", "admin", json={"username": anna.upper(), "role": "admin"})

    assert (answer.status_code, answer.json and answer.json["code"]) == (409, "username_taken")
    assert sign_in(app, anna).status_code == 201


def test_the_list_tells_roles_last_sign_ins_and_who_has_still_to_set_a_password(
    api: Api, app: Flask, engine: Engine, anna: str
) -> None:
    handed = added(api, "viewer")["user"]
    sign_in(app, anna)

    rows: dict[str, Any] = {}
    cursor = None
    while True:
        page = api.get("/api/users", "admin", query_string={"limit": 2, **({"cursor": cursor} if cursor else {})}).json
        assert page is not None
        rows |= {row["username"]: row for row in page["items"]}
        cursor = page["next_cursor"]
        if cursor is None:
            break

    with transaction(engine) as connection:
        assert len(rows) == connection.execute(sa.select(sa.func.count()).select_from(users)).scalar_one()
    assert rows[handed["username"]] == handed
    assert (handed["last_sign_in_at"], handed["must_change_password"]) == (None, True)
    assert rows[anna]["last_sign_in_at"] is not None
    assert (rows[anna]["role"], rows[anna]["one_time_until"]) == ("operator", None)


# --- changing and showing out ---


def test_disabling_ends_what_they_do_at_once_and_enabling_asks_them_to_sign_in(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    path = f"/api/users/{id_of(engine, anna)}"
    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 200

    disabled = api.patch(path, "admin", json={"disabled": True})

    assert disabled.status_code == 200
    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 401
    assert sign_in(app, anna).status_code == 401
    api.patch(path, "admin", json={"disabled": False})
    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 401
    assert sign_in(app, anna).status_code == 201
    assert audited(api, f"user:{anna}") == [("user.disable", "token"), ("user.enable", "token")]


def test_another_role_ends_their_sessions_and_holds_from_the_next_one_on(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    changed = api.patch(f"/api/users/{id_of(engine, anna)}", "admin", json={"role": "viewer"})

    assert changed.json is not None
    assert changed.json["role"] == "viewer"
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401
    fresh = cookie_of(sign_in(app, anna))
    shown = ask_by_cookie(app, "GET", "/api/session", fresh).json
    assert shown is not None
    assert shown["principal"]["role"] == "viewer"
    assert ask_by_cookie(app, "GET", "/api/dead-letters", fresh).status_code == 403


def test_a_change_that_changes_nothing_is_answered_ends_nothing_and_is_not_audited(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    path = f"/api/users/{id_of(engine, anna)}"

    for body in ({}, {"role": "operator"}, {"disabled": False}, {"role": "operator", "disabled": False}):
        assert api.patch(path, "admin", json=body).status_code == 200

    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200
    assert audited(api, f"user:{anna}") == []


def test_a_reset_ends_the_old_password_and_the_sessions_and_the_newest_one_holds(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    path = f"/api/users/{id_of(engine, anna)}/reset-password"
    first, second = (api.post(path, "admin").json for _ in range(2))
    assert first is not None
    assert second is not None

    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401
    assert sign_in(app, anna).status_code == 401
    assert sign_in(app, anna, first["one_time_password"]).status_code == 401
    answer = sign_in(app, anna, second["one_time_password"])
    assert answer.json is not None
    assert answer.json["must_change_password"]
    assert audited(api, f"user:{anna}") == [("user.reset_password", "token")] * 2


def test_a_handed_over_password_is_worth_nothing_after_its_time(api: Api, app: Flask, engine: Engine) -> None:
    handed = added(api)
    with transaction(engine) as connection:
        past = sa.func.now() - timedelta(seconds=1)
        connection.execute(sa.update(users).where(users.c.id == handed["user"]["id"]).values(one_time_until=past))

    assert sign_in(app, handed["user"]["username"], handed["one_time_password"]).status_code == 401


def test_somebody_removed_is_gone_and_their_name_is_free_again(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    path = f"/api/users/{id_of(engine, anna)}"

    assert api.delete(path).status_code == 204

    assert api.delete(path).status_code == 404
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401
    assert sign_in(app, anna).status_code == 401
    assert api.post("/api/users", "admin", json={"username": anna, "role": "viewer"}).status_code == 201
    assert audited(api, f"user:{anna}") == [("user.delete", "token"), ("user.create", "token")]


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


@pytest.mark.parametrize("role", Role)
def test_anybody_changes_their_own_password(app: Flask, engine: Engine, role: Role) -> None:
    name = new_name()
    add_user(engine, name, role)

    assert set_own(app, cookie_of(sign_in(app, name)), PASSWORD) == 204

    assert sign_in(app, name, OWN).status_code == 201


# --- what the time of an answer says ---


def test_a_wrong_password_takes_as_long_for_nobody_and_for_somebody_disabled(
    api: Api, app: Flask, engine: Engine, anna: str
) -> None:
    """Time of this thread on the processor: a busy machine does not change it."""
    gone, late = new_name(), added(api)["user"]
    add_user(engine, gone)
    api.patch(f"/api/users/{id_of(engine, gone)}", "admin", json={"disabled": True})
    with transaction(engine) as connection:
        over = sa.update(users).where(users.c.id == late["id"]).values(one_time_until=sa.func.now())
        connection.execute(over)

    def took(name: str) -> float:
        began = time.thread_time()
        assert sign_in(app, name, "not the password").status_code == 401
        return time.thread_time() - began

    names = {"somebody": anna, "nobody": new_name(), "disabled": gone, "handed over too long ago": late["username"]}
    times = {what: statistics.median(took(name) for _ in range(4)) for what, name in names.items()}

    for what, seconds in times.items():
        assert 0.6 < seconds / times["somebody"] < 1.6, (what, times)


def test_the_right_password_of_somebody_disabled_is_answered_as_a_wrong_one(
    api: Api, app: Flask, engine: Engine, anna: str
) -> None:
    api.patch(f"/api/users/{id_of(engine, anna)}", "admin", json={"disabled": True})

    answers = [sign_in(app, anna, PASSWORD).json, sign_in(app, anna, "not the password").json]

    for answer in answers:
        assert answer is not None
        del answer["request_id"]
    assert answers[0] == answers[1]
