"""The second factor, a code from an app: set up, requested, used once, lost, and required of admins."""

import base64
import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from functions.api.app import create_app
from functions.api.services import Services
from shared.access import second_factor_rules
from shared.config import Config
from shared.postgres.door import transaction
from shared.tables import audit_log, recovery_codes, second_factors
from shared.vocabulary import Role
from tests.api.people import OURS, PASSWORD, Api, add_user, ask_by_cookie, cookie_of, cookies, new_address, sign_in

PATH = "/api/users/me/second-factor"
KEY = secrets.token_hex(32)


def app_with(services: Services, **settings: Any) -> Flask:
    return create_app(Services(Config({**services.config.values, "SIGNING_KEY": KEY, **settings}), services.engine))


@pytest.fixture(scope="module")
def keyed(services: Services) -> Flask:
    """The app, with the key from which the secrets are derived."""
    return app_with(services)


@pytest.fixture
def session(keyed: Flask, anna: str) -> str:
    """Anna's session from before she has a second factor."""
    return cookie_of(sign_in(keyed, anna))


def post(app: Flask, path: str, cookie: str, **body: str) -> TestResponse:
    client = app.test_client(use_cookies=False)
    headers = {"Cookie": cookies(cookie), "X-Forwarded-For": new_address(), **OURS}
    return client.post(PATH + path, json=body, headers=headers)


def code_of(secret: bytes, steps_on: int = 0) -> str:
    return second_factor_rules.code_at(secret, second_factor_rules.step_at(datetime.now(UTC)) + steps_on)


def begin(app: Flask, cookie: str) -> bytes:
    answer = post(app, "", cookie, current_password=PASSWORD)
    assert answer.status_code == 201
    assert answer.json is not None
    secret = base64.b32decode(answer.json["secret"])
    assert answer.json["otpauth_url"].startswith("otpauth://totp/")
    return secret


def set_up(app: Flask, engine: Engine, cookie: str) -> tuple[bytes, list[str]]:
    """Set up a second factor. Returns the secret and the recovery codes.

    The code that confirmed it can be used once more, so that no test has to wait.
    """
    secret = begin(app, cookie)
    answer = post(app, "/confirm", cookie, code=code_of(secret))
    assert answer.status_code == 200
    with transaction(engine) as connection:
        connection.execute(sa.update(second_factors).values(last_step=None))
    return secret, list((answer.json or {})["recovery_codes"])


def sign_in_with(app: Flask, name: str, code: str, address: str | None = None) -> TestResponse:
    client = app.test_client(use_cookies=False)
    body = {"username": name, "password": PASSWORD, "code": code}
    return client.post("/api/session", json=body, headers={"X-Forwarded-For": address or new_address()})


def problem(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["code"]


def test_from_its_confirmation_on_the_password_alone_is_not_enough(
    keyed: Flask, engine: Engine, session: str, anna: str
) -> None:
    elsewhere = cookie_of(sign_in(keyed, anna))
    secret = begin(keyed, session)
    assert sign_in(keyed, anna).status_code == 201  # nothing is confirmed yet

    assert problem(post(keyed, "/confirm", session, code="000000"[::-1] if code_of(secret) != "000000" else "1")) == (
        401,
        "second_factor_wrong",
    )
    secret, codes = set_up(keyed, engine, session)

    assert len(set(codes)) == second_factor_rules.RECOVERY_CODES
    assert problem(sign_in(keyed, anna)) == (401, "second_factor_required")
    assert "Set-Cookie" not in sign_in(keyed, anna).headers
    assert sign_in_with(keyed, anna, code_of(secret)).status_code == 201
    assert ask_by_cookie(keyed, "GET", "/api/session", session).status_code == 200
    assert ask_by_cookie(keyed, "GET", "/api/session", elsewhere).status_code == 401
    state = ask_by_cookie(keyed, "GET", PATH, session).json
    assert state is not None
    assert (state["since"] is not None, state["recovery_codes_left"]) == (True, second_factor_rules.RECOVERY_CODES)


def test_a_code_signs_in_once_also_for_many_at_once(keyed: Flask, engine: Engine, session: str, anna: str) -> None:
    secret, recovery = set_up(keyed, engine, session)
    code = code_of(secret)

    with ThreadPoolExecutor(6) as pool:
        by_app = list(pool.map(lambda _: sign_in_with(keyed, anna, code).status_code, range(6)))
        by_recovery = list(pool.map(lambda _: sign_in_with(keyed, anna, recovery[0]).status_code, range(6)))

    assert sorted(by_app) == sorted(by_recovery) == [201] + [401] * 5
    assert sign_in_with(keyed, anna, recovery[1].upper().replace("-", " ")).status_code == 201
    state = ask_by_cookie(keyed, "GET", PATH, session).json
    assert (state or {})["recovery_codes_left"] == second_factor_rules.RECOVERY_CODES - 2


def test_wrong_codes_count_as_wrong_passwords_do(keyed: Flask, engine: Engine, session: str, anna: str) -> None:
    secret, _ = set_up(keyed, engine, session)
    address = new_address()
    wrong = f"{(int(code_of(secret)) + 7) % 10**6:06d}"

    codes = [sign_in_with(keyed, anna, wrong, address).status_code for _ in range(6)]

    assert codes == [401] * 5 + [429]
    assert sign_in_with(keyed, anna, code_of(secret), address).status_code == 429
    assert sign_in_with(keyed, anna, code_of(secret)).status_code == 201


def test_a_right_code_does_not_help_a_wrong_password(keyed: Flask, engine: Engine, session: str, anna: str) -> None:
    secret, _ = set_up(keyed, engine, session)
    client = keyed.test_client(use_cookies=False)
    body = {"username": anna, "password": "wrong", "code": code_of(secret)}

    answer = client.post("/api/session", json=body, headers={"X-Forwarded-For": new_address()})

    assert problem(answer) == (401, "unauthenticated")
    assert sign_in_with(keyed, anna, code_of(secret)).status_code == 201  # it is not used up


def test_it_takes_the_password_to_begin_and_both_to_remove(
    keyed: Flask, engine: Engine, session: str, anna: str
) -> None:
    assert post(keyed, "", session, current_password="wrong").status_code == 401
    secret, _ = set_up(keyed, engine, session)

    assert problem(post(keyed, "", session, current_password=PASSWORD)) == (409, "second_factor_stands")
    assert post(keyed, "/remove", session, current_password=PASSWORD, code="1").status_code == 401
    assert post(keyed, "/remove", session, current_password="wrong", code=code_of(secret)).status_code == 401
    assert post(keyed, "/remove", session, current_password=PASSWORD, code=code_of(secret)).status_code == 204
    assert sign_in(keyed, anna).status_code == 201
    assert problem(post(keyed, "/confirm", session, code="123456")) == (404, "second_factor_unknown")


def test_the_database_alone_does_not_tell_the_secret_nor_the_log_a_code(
    keyed: Flask, engine: Engine, session: str, anna: str
) -> None:
    secret, recovery = set_up(keyed, engine, session)
    sign_in_with(keyed, anna, recovery[0])

    with engine.connect() as connection:
        kept = [
            str(tuple(row))
            for table in (second_factors, recovery_codes, audit_log)
            for row in connection.execute(sa.select(table))
        ]
    said = " ".join(kept)
    assert not any(part in said for part in (second_factor_rules.as_typed(secret), secret.hex(), *recovery))


def test_with_another_key_the_app_is_refused_and_a_recovery_code_is_not(
    services: Services, keyed: Flask, engine: Engine, session: str, anna: str
) -> None:
    secret, recovery = set_up(keyed, engine, session)
    rekeyed = app_with(services, SIGNING_KEY=secrets.token_hex(32))

    assert problem(sign_in_with(rekeyed, anna, code_of(secret))) == (401, "second_factor_wrong")
    assert sign_in_with(rekeyed, anna, recovery[0]).status_code == 201


def test_an_admin_resets_it_for_whoever_lost_the_phone(
    keyed: Flask, api: Api, engine: Engine, session: str, anna: str
) -> None:
    set_up(keyed, engine, session)
    [user] = [one for one in (api.get("/api/users?limit=100", "admin").json or {})["items"] if one["username"] == anna]
    path = f"/api/users/{user['id']}/reset-second-factor"
    assert user["second_factor"] is True

    assert api.post(path, "operator", json={"username": anna}).status_code == 403
    assert api.post(path, "admin", json={"username": "somebody else"}).status_code in {400, 409, 412, 422}
    answer = api.post(path, "admin", json={"username": anna})

    assert (answer.status_code, (answer.json or {})["second_factor"]) == (200, False)
    assert ask_by_cookie(keyed, "GET", "/api/session", session).status_code == 401
    assert sign_in(keyed, anna).status_code == 201
    assert api.post(path, "admin", json={"username": anna}).status_code == 404


def test_where_admins_must_have_one_they_do_nothing_else_first(services: Services, engine: Engine, anna: str) -> None:
    strict = app_with(services, SECOND_FACTOR_REQUIRED="admins")
    name = f"admin-{secrets.token_hex(4)}"
    add_user(engine, name, Role.ADMIN)
    answer = sign_in(strict, name)
    cookie = cookie_of(answer)
    assert (answer.json or {})["must_set_up_second_factor"] is True
    assert problem(ask_by_cookie(strict, "GET", "/api/users", cookie)) == (403, "second_factor_setup_required")
    assert ask_by_cookie(strict, "GET", "/api/settings", cookie_of(sign_in(strict, anna))).status_code == 200

    set_up(strict, engine, cookie)

    assert ask_by_cookie(strict, "GET", "/api/users", cookie).status_code == 200
    session = ask_by_cookie(strict, "GET", "/api/session", cookie).json
    assert (session or {})["must_set_up_second_factor"] is False


def test_without_the_key_nobody_can_begin_and_tokens_have_none(services: Services, api: Api, anna: str) -> None:
    keyless = app_with(services, SIGNING_KEY=None)
    assert post(keyless, "", cookie_of(sign_in(keyless, anna)), current_password=PASSWORD).status_code == 422
    assert api.get(PATH).status_code == 422
