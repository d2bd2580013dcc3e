"""Requests and queries for the tests of people's accounts."""

import secrets
from typing import Any

import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from shared.postgres.door import transaction
from shared.tables import users
from tests.api.people import OURS, Api, cookies, new_address

OWN = "a password of my own"


def new_name() -> str:
    return f"bert-{secrets.token_hex(4)}"


def added(api: Api, role: str = "operator") -> dict[str, Any]:
    """Add a person. Returns the answer."""
    answer = api.post("/api/users", "admin", json={"username": new_name(), "role": role})
    assert answer.status_code == 201
    assert answer.json is not None
    found: dict[str, Any] = answer.json
    return found


def id_of(engine: Engine, name: str) -> int:
    with transaction(engine) as connection:
        return int(connection.execute(sa.select(users.c.id).where(users.c.username == name)).scalar_one())


def by_cookie(app: Flask, method: str, path: str, cookie: str, **options: Any) -> TestResponse:
    """Send a change from the dashboard of a person who is signed in."""
    headers = {"Cookie": cookies(cookie), "X-Forwarded-For": new_address(), **OURS}
    return app.test_client(use_cookies=False).open(path, method=method, headers=headers, **options)


def set_own(app: Flask, cookie: str, current: str, new: str = OWN) -> int:
    body = {"current_password": current, "new_password": new}
    return by_cookie(app, "POST", "/api/users/me/password", cookie, json=body).status_code


def audited(api: Api, target: str) -> list[tuple[str, str]]:
    """(action, kind of actor) of the audit log for this target, the oldest first, without sign-ins."""
    answer = api.get("/api/audit", "admin", query_string={"target": target, "limit": 100})
    assert answer.json is not None
    lines = [(line["action"], line["actor"].split(":")[0]) for line in reversed(answer.json["items"])]
    return [line for line in lines if not line[0].startswith("session.")]
