"""/api/users: people are added, changed and removed; a lost right ends at once."""

from typing import Any
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from flask import Flask
from sqlalchemy import Engine

from shared.postgres.door import transaction
from shared.tables import users
from tests.api.accounts import OWN, added, audited, id_of, new_name, set_own
from tests.api.people import PASSWORD, Api, add_user, ask_by_cookie, cookie_of, sign_in

# --- adding people ---


def test_somebody_new_signs_in_once_with_a_given_password_then_with_their_own(api: Api, app: Flask) -> None:
    """Also in mode `local`, where the first admin may keep their password."""
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


# --- changing and removing people ---


def test_disabling_ends_all_at_once_and_who_is_back_has_the_new_role(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str
) -> None:
    path = f"/api/users/{id_of(engine, anna)}"
    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 200

    disabled = api.patch(path, "admin", json={"disabled": True})

    assert disabled.status_code == 200
    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 401
    assert sign_in(app, anna).status_code == 401
    changed = api.patch(path, "admin", json={"disabled": False, "role": "viewer"})
    assert changed.json is not None
    assert changed.json["role"] == "viewer"
    assert ask_by_cookie(app, "GET", "/api/clients", cookie).status_code == 401
    fresh = sign_in(app, anna)
    assert fresh.json is not None
    assert fresh.json["principal"]["role"] == "viewer"
    assert ask_by_cookie(app, "GET", "/api/dead-letters", cookie_of(fresh)).status_code == 403
    actions = [action for action, _ in audited(api, f"user:{anna}")]
    assert (actions[0], set(actions[1:])) == ("user.disable", {"user.enable", "user.role"})


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
    first, second = (api.post(path, "admin", json={"username": anna}).json for _ in range(2))
    assert first is not None
    assert second is not None

    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 401
    assert sign_in(app, anna).status_code == 401
    assert sign_in(app, anna, first["one_time_password"]).status_code == 401
    answer = sign_in(app, anna, second["one_time_password"])
    assert answer.json is not None
    assert answer.json["must_change_password"]
    assert audited(api, f"user:{anna}") == [("user.reset_password", "token")] * 2


@pytest.mark.parametrize(
    ("body", "status"), [(None, 415), ({}, 400), ({"username": ["admin"]}, 400), ({"username": "admin"}, 409)]
)
def test_a_reset_names_the_account_or_changes_nothing(
    api: Api, app: Flask, engine: Engine, anna: str, cookie: str, body: dict[str, object] | None, status: int
) -> None:
    answer = api.post(f"/api/users/{id_of(engine, anna)}/reset-password", "admin", json=body)

    assert answer.status_code == status
    assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200
    assert audited(api, f"user:{anna}") == []


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


# --- neither an answer nor its time reveals who is there ---


def test_a_wrong_password_is_told_and_costs_the_same_whoever_is_meant(
    api: Api, app: Flask, engine: Engine, anna: str
) -> None:
    """Each of them costs one comparison with a hash of the same parameters."""
    gone, late = new_name(), added(api)["user"]
    add_user(engine, gone)
    api.patch(f"/api/users/{id_of(engine, gone)}", "admin", json={"disabled": True})
    with transaction(engine) as connection:
        over = sa.update(users).where(users.c.id == late["id"]).values(one_time_until=sa.func.now())
        connection.execute(over)

    def told(name: str, password: str = "not the password") -> tuple[list[str], dict[str, Any]]:
        """The parameters of each hash that the password was compared with, and the answer."""
        with patch.object(PasswordHasher, "verify", autospec=True, side_effect=PasswordHasher.verify) as compared:
            answer = sign_in(app, name, password)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (401, False)
        costs = [call.args[1].rsplit("$", 2)[0] for call in compared.call_args_list]
        return costs, {**(answer.json or {}), "request_id": ""}

    expected = told(anna)
    others = {
        "nobody": told(new_name()),
        "disabled": told(gone),
        "disabled, with the right password": told(gone, PASSWORD),
        "handed over too long ago": told(late["username"]),
    }

    assert others == dict.fromkeys(others, expected)
    assert expected[0] == ["$argon2id$v=19$m=8,t=1,p=1"]
