"""Every route of the app, called by every kind of caller."""

import re
import secrets
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from deploy.parts import identity
from functions.api.app import create_app
from functions.api.auth import PROXY_ASSERTION
from functions.api.routes import ALL
from functions.api.routing import Endpoint
from functions.api.services import Services
from shared.access import operations as access
from shared.access import store
from shared.access.people import store as people_store
from shared.access.rules import compose_token, digest, parse_token
from shared.config import Config
from shared.postgres.door import database_now, transaction
from shared.vocabulary import Role
from tests.api.people import Api, add_user, cookie_of, cookies, issue_token, sign_in
from tests.api.role_matrix import EXPECTED, PUBLIC
from tests.rules.proxy_harness import AUDIENCE, asserted, proxy_keys

ENDPOINTS = {f"{endpoint.method} {endpoint.path}": endpoint for routes in ALL for endpoint in routes.endpoints}
FILLED_IN = {"uuid": "00000000-0000-4000-8000-000000000001", "id": "999999999", "path": "aa/none.pdf"}
ROLES = ("viewer", "operator", "admin")
AUTOMATIC = {"HEAD", "OPTIONS"}


def path_of(endpoint: Endpoint) -> str:
    """A well-formed path of the endpoint, with ids that do not exist."""
    return re.sub(r"<(?:(\w+):)?\w+>", lambda match: FILLED_IN.get(match[1] or "", "nothing"), endpoint.path)


def test_every_route_has_its_row_and_every_row_its_route() -> None:
    declared = {name: endpoint.role.value if endpoint.role else PUBLIC for name, endpoint in ENDPOINTS.items()}

    assert declared == EXPECTED


def test_the_app_answers_nothing_that_is_not_declared(app: Flask) -> None:
    routed = {
        f"{method} {rule.rule}" for rule in app.url_map.iter_rules() for method in (rule.methods or set()) - AUTOMATIC
    }

    assert routed == set(ENDPOINTS)


Refused = Callable[[str, str], TestResponse]


@pytest.fixture(scope="module")
def proxied(services: Services) -> Iterator[Flask]:
    """The same app behind a proxy that identifies people."""
    with proxy_keys():
        behind = {"IAP_AUDIENCE": AUDIENCE}
        yield create_app(Services(Config({**services.config.values, **behind}), services.engine))


@pytest.fixture(scope="module")
def refused_callers(
    api: Api, app: Flask, proxied: Flask, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Refused]:
    """Fault -> a caller whose credentials no route may accept."""
    key = identity.load_or_create_key(Path(tmp_path_factory.mktemp("keys")) / "key.pem")
    tokens = {
        "no token at all": "",
        "one that nobody issued": compose_token(secrets.token_hex(6), secrets.token_hex(32)),
        "another secret": another_secret(issue_token(engine, Role.ADMIN)),
        "a wrong checksum": issue_token(engine, Role.ADMIN)[:-1] + "g",
        "expired": expired_token(engine),
        "revoked": revoked_token(engine),
        "an identity token of the scheduler": identity.mint(
            key, "http://127.0.0.1:8083", "tick@signage.test", "http://127.0.0.1:8124"
        ),
    }
    callers: dict[str, Refused] = {
        name: lambda method, path, token=token: api.ask(method, path, None, token=token or None)  # type: ignore[misc]
        for name, token in tokens.items()
    }
    for name, cookie in {
        "ended session": ended_session(app, engine),
        "expired session": expired_session(engine),
    }.items():
        callers[name] = lambda method, path, cookie=cookie: by_cookie(app, method, path, cookie)  # type: ignore[misc]
    add_user(engine, "admin@example.com", Role.ADMIN)
    for name, said in {
        "the proxy's word for another audience": asserted(email="admin@example.com", aud=AUDIENCE + "0"),
        "the proxy's word of yesterday": asserted(email="admin@example.com", exp=int(time.time()) - 86_400),
        "a word that the proxy did not sign": asserted(
            ec.generate_private_key(ec.SECP256R1()), email="admin@example.com"
        ),
    }.items():
        callers[name] = lambda method, path, said=said: by_proxy(proxied, method, path, said)  # type: ignore[misc]
    callers["basic authentication"] = lambda method, path: api.ask(
        method, path, None, headers={"Authorization": "Basic YWRtaW46YWRtaW4="}
    )
    return callers


@pytest.mark.parametrize("name", ENDPOINTS)
def test_without_an_accepted_identity_only_public_routes_answer(name: str, refused_callers: dict[str, Refused]) -> None:
    endpoint = ENDPOINTS[name]

    for what, ask in refused_callers.items():
        answer = ask(endpoint.method, path_of(endpoint))
        if endpoint.role is None:
            assert answer.status_code not in {401, 403}, what
        else:
            assert answer.status_code == 401, what
            assert answer.json is not None, what
            assert answer.json["code"] == "unauthenticated", what
            assert answer.headers["WWW-Authenticate"].startswith("Bearer"), what


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ENDPOINTS)
def test_a_role_may_call_what_is_its_own_or_below_and_nothing_above(name: str, role: str, api: Api) -> None:
    endpoint = ENDPOINTS[name]
    may = endpoint.role is None or ROLES.index(role) >= ROLES.index(endpoint.role.value)

    answer = api.ask(endpoint.method, path_of(endpoint), role)

    if may:
        assert answer.status_code not in {401, 403, 405, 500}
    else:
        assert answer.status_code == 403
        assert answer.json is not None
        assert answer.json["code"] == "forbidden"


Asks = Callable[[str, str], TestResponse]


@pytest.fixture(scope="module")
def people(app: Flask, proxied: Flask, engine: Engine) -> dict[tuple[str, str], Asks]:
    """People of each role, with a session of their own or by the proxy."""
    found: dict[tuple[str, str], Asks] = {}
    for role in ROLES:
        email = f"{role}-{secrets.token_hex(4)}@example.com"
        add_user(engine, email, Role(role))
        word = asserted(email=email)
        found["cookie", role] = lambda method, path, email=email: by_cookie(  # type: ignore[misc]
            app, method, path, new_session(engine, email, timedelta(hours=1))
        )
        found["proxy", role] = lambda method, path, word=word: by_proxy(proxied, method, path, word)  # type: ignore[misc]
    return found


@pytest.mark.parametrize("name", [name for name, endpoint in ENDPOINTS.items() if endpoint.role])
def test_the_same_holds_for_people_whichever_way_they_come(name: str, people: dict[tuple[str, str], Asks]) -> None:
    endpoint = ENDPOINTS[name]
    assert endpoint.role is not None

    for (way, role), ask in people.items():
        status = ask(endpoint.method, path_of(endpoint)).status_code
        if ROLES.index(role) >= ROLES.index(endpoint.role.value):
            assert status not in {401, 403, 405, 500}, (way, role)
        else:
            assert status == 403, (way, role)


@pytest.mark.parametrize("name", [name for name, endpoint in ENDPOINTS.items() if endpoint.role])
def test_a_first_admin_may_do_nothing_before_setting_a_password(name: str, boxed: Flask, boxed_cookie: str) -> None:
    endpoint = ENDPOINTS[name]

    answer = by_cookie(boxed, endpoint.method, path_of(endpoint), boxed_cookie)

    if name in {"GET /api/session", "DELETE /api/session", "POST /api/users/me/password"}:
        assert answer.status_code in {200, 204, 415}
    else:
        assert answer.status_code == 403
        assert answer.json is not None
        assert answer.json["code"] == "password_change_required"


@pytest.fixture(scope="module")
def boxed(services: Services) -> Flask:
    """The same app in mode `box`."""
    values = {**services.config.values, "DEPLOYMENT_MODE": "box"}
    return create_app(Services(Config(values), services.engine))


@pytest.fixture(scope="module")
def first_admin(engine: Engine) -> str:
    """The name of an admin who must change the given password."""
    add_user(engine, "first", Role.ADMIN, must_change_password=True)
    return "first"


@pytest.fixture
def boxed_cookie(engine: Engine, first_admin: str) -> str:
    """The cookie of a session of that admin."""
    return new_session(engine, first_admin, timedelta(hours=1))


def by_cookie(app: Flask, method: str, path: str, cookie: str) -> TestResponse:
    client = app.test_client(use_cookies=False)
    return client.open(path, method=method, headers={"Cookie": cookies(cookie), "X-Requested-With": "signage"})


def by_proxy(app: Flask, method: str, path: str, word: str) -> TestResponse:
    headers = {PROXY_ASSERTION: word, "X-Requested-With": "signage"}
    return app.test_client(use_cookies=False).open(path, method=method, headers=headers)


def another_secret(token: str) -> str:
    parsed = parse_token(token)
    assert parsed is not None
    return compose_token(parsed[0], secrets.token_hex(32))


def expired_token(engine: Engine) -> str:
    """A token that was issued an hour ago for half an hour."""
    with transaction(engine) as connection:
        then = database_now(connection) - timedelta(hours=1)
        _, text = access.issue_token(connection, then, "expired", Role.ADMIN, "tests", then + timedelta(minutes=30))
    return text


def revoked_token(engine: Engine) -> str:
    text = issue_token(engine, Role.ADMIN)
    parsed = parse_token(text)
    assert parsed is not None
    with transaction(engine) as connection:
        access.revoke_token(connection, database_now(connection), parsed[0])
    return text


def ended_session(app: Flask, engine: Engine) -> str:
    """The cookie of a session after its sign-out."""
    add_user(engine, "gone", Role.ADMIN)
    cookie = cookie_of(sign_in(app, "gone"))
    assert by_cookie(app, "GET", "/api/session", cookie).status_code == 200
    assert by_cookie(app, "DELETE", "/api/session", cookie).status_code == 204
    return cookie


def expired_session(engine: Engine) -> str:
    add_user(engine, "late", Role.ADMIN)
    return new_session(engine, "late", timedelta(seconds=-1))


def new_session(engine: Engine, username: str, left: timedelta) -> str:
    """The cookie of a new session that ends after `left`."""
    cookie = secrets.token_urlsafe(32)
    with transaction(engine) as connection:
        now = database_now(connection)
        user = people_store.user_by_name(connection, username)
        assert user is not None
        store.insert_session(connection, digest(cookie), user.id, now - timedelta(hours=2), now + left)
    return cookie
