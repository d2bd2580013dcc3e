"""Callers of the API in tests: a live token for each role, users, and sessions."""

import itertools
import json
import re
from functools import cache
from typing import Any

from flask import Flask
from sqlalchemy import Engine
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from deploy.parts.layout import REPOSITORY
from functions.api.tus import method_of
from shared.access import operations as access
from shared.access.people import store
from shared.postgres.door import database_now, transaction
from shared.vocabulary import Role

PASSWORD = "correct horse battery"
OURS = {"X-Requested-With": "signage"}  # the dashboard sends it with every change
_addresses = itertools.count(1)


def new_address() -> str:
    """A network address without failed sign-ins."""
    number = next(_addresses)
    return f"198.18.{number // 256}.{number % 256}"


def issue_token(engine: Engine, role: Role, **times: Any) -> str:
    """Issue a token of this role. Returns its text."""
    with transaction(engine) as connection:
        expires_at = times.get("expires_at")
        _, text = access.issue_token(connection, database_now(connection), f"test {role}", role, "tests", expires_at)
    return text


def add_user(engine: Engine, username: str, role: Role = Role.OPERATOR, *, must_change_password: bool = False) -> None:
    """Add a user with PASSWORD."""
    with transaction(engine) as connection:
        now = database_now(connection)
        assert store.insert_user(connection, now, username, _hashed(), role, must_change_password) is not None


@cache
def _hashed() -> str:
    """The hash of PASSWORD, computed once because it is slow on purpose."""
    return access.hash_password(PASSWORD)


def forget_hashes() -> None:
    """Compute the hash again with the present parameters."""
    _hashed.cache_clear()
    access._hasher.cache_clear()
    access._hash_of_nobody.cache_clear()


class Api:
    """Calls the real app with a role, or without a login (`role=None`)."""

    def __init__(self, app: Flask, engine: Engine) -> None:
        self.app = app
        self.tokens = {role.value: issue_token(engine, role) for role in Role}

    def ask(self, method: str, path: str, role: str | None = "admin", **options: Any) -> TestResponse:
        """Send a request without cookies; `token` replaces the role's token.

        The OpenAPI document must list the status of the answer.
        """
        headers = dict(options.pop("headers", {}))
        token = options.pop("token", None) or (self.tokens[role] if role else None)
        if token is not None:
            headers.setdefault("Authorization", f"Bearer {token}")
        answer = self.app.test_client(use_cookies=False).open(path, method=method, headers=headers, **options)
        assert is_announced(self.app, answer), f"docs/openapi.json does not say that it may be {answer.status}"
        return answer

    def get(self, path: str, role: str | None = "viewer", **options: Any) -> TestResponse:
        return self.ask("GET", path, role, **options)

    def post(self, path: str, role: str | None = "operator", **options: Any) -> TestResponse:
        return self.ask("POST", path, role, **options)

    def patch(self, path: str, role: str | None = "operator", **options: Any) -> TestResponse:
        return self.ask("PATCH", path, role, **options)

    def delete(self, path: str, role: str | None = "admin", **options: Any) -> TestResponse:
        return self.ask("DELETE", path, role, **options)


def is_announced(app: Flask, answer: TestResponse) -> bool:
    """Whether docs/openapi.json lists this status for the request; True for paths outside the API."""
    asked = answer.request
    method = method_of(asked.environ).replace("HEAD", "GET")
    try:
        rule, _ = app.url_map.bind("localhost").match(asked.path, method, return_rule=True)
    except HTTPException:
        return True
    template = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
    operation = _document()["paths"].get(template, {}).get(method.lower())
    return operation is None or str(answer.status_code) in operation["responses"]


@cache
def _document() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((REPOSITORY / "docs" / "openapi.json").read_text(encoding="utf-8"))
    return read


def sign_in(app: Flask, username: str, password: str = PASSWORD, address: str | None = None) -> TestResponse:
    """Try to sign in, from a new address unless one is given. Returns the answer, with the cookie in Set-Cookie."""
    client = app.test_client(use_cookies=False)
    body = {"username": username, "password": password}
    return client.post("/api/session", json=body, headers={"X-Forwarded-For": address or new_address()})


def cookie_of(answer: TestResponse) -> str:
    """The value of the session cookie in an answer."""
    name, _, rest = answer.headers["Set-Cookie"].partition("=")
    assert name in {"signage_session", "__Host-signage_session"}
    return rest.split(";")[0]


def ask_by_cookie(
    app: Flask, method: str, path: str, cookie: str, headers: dict[str, str] | None = None
) -> TestResponse:
    """Send a request with the session cookie and only these headers."""
    client = app.test_client(use_cookies=False)
    return client.open(path, method=method, headers={"Cookie": cookies(cookie), **(headers or {})})


def cookies(cookie: str) -> str:
    """The Cookie header of a session, with both cookie names; each mode reads one of them."""
    return f"signage_session={cookie}; __Host-signage_session={cookie}"
