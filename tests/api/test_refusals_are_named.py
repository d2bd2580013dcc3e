"""Refused callers are named in the log, and in the audit log by a bounded number of lines."""

import io
import json
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import Engine

from shared import structured_log
from shared.access import operations
from shared.access.rules import REPEATS_ARE_ONE_LINE
from shared.postgres.door import database_now, transaction
from shared.tables import audit_log, audit_repeats
from tests.api.people import OURS, Api, ask_by_cookie


@pytest.fixture
def written() -> io.StringIO:
    """The log from now on."""
    stream = io.StringIO()
    structured_log.configure("test", stream)
    return stream


def refused_lines(engine: Engine, action: str) -> list[Any]:
    with engine.connect() as connection:
        mine = sa.select(audit_log).where(audit_log.c.action == action, audit_log.c.result == "refused")
        return list(connection.execute(mine.order_by(audit_log.c.id)))


def test_a_refused_change_is_a_line_and_its_repeats_are_one_more(api: Api, engine: Engine) -> None:
    for _ in range(20):
        assert api.post("/api/tokens", role="viewer", json={"name": "x", "role": "admin"}).status_code == 403

    [line] = refused_lines(engine, "POST /api/tokens")
    assert line.actor.startswith("token:test viewer#")
    assert (line.target, line.details["code"]) == ("/api/tokens", "forbidden")
    with transaction(engine) as connection:
        now = database_now(connection)
        assert operations.flush_repeats(connection, now) == 0  # within the same hour
        connection.execute(sa.update(audit_repeats).values(began_at=now - REPEATS_ARE_ONE_LINE))
        assert operations.flush_repeats(connection, now) >= 1
    [_, counted] = refused_lines(engine, "POST /api/tokens")
    assert (counted.actor, counted.details) == (line.actor, {"repeats": 19})


def test_the_next_refusal_after_an_hour_says_how_many_there_were(api: Api, engine: Engine) -> None:
    def post_forbidden() -> None:
        assert api.post("/api/users", role="operator", json={"username": "x", "role": "admin"}).status_code == 403

    for _ in range(3):
        post_forbidden()
    with transaction(engine) as connection:
        past = database_now(connection) - REPEATS_ARE_ONE_LINE
        connection.execute(sa.update(audit_repeats).values(began_at=past))
    for _ in range(3):
        post_forbidden()

    first, second = refused_lines(engine, "POST /api/users")
    assert "repeats" not in first.details
    assert second.details["repeats"] == 2


def test_a_refusal_inside_a_handler_is_a_line_too(api: Api, engine: Engine, app: Flask, cookie: str, anna: str) -> None:
    body = {"action": "shutdown_host", "clients": ["00000000-0000-4000-8000-000000000001"], "reason": "x"}
    assert api.post("/api/commands", json=body).status_code == 403
    assert ask_by_cookie(app, "DELETE", "/api/session", cookie, {}).status_code == 403  # another site's page

    assert [line.actor[:19] for line in refused_lines(engine, "POST /api/commands")] == ["token:test operator"]
    [forged] = refused_lines(engine, "DELETE /api/session")
    assert (forged.actor, forged.details["code"]) == (f"user:{anna}", "cross_site_request")


@pytest.mark.parametrize(("method", "path"), [("GET", "/api/users"), ("POST", "/api/tokens")])
def test_the_log_line_of_a_refusal_names_its_actor(api: Api, written: io.StringIO, method: str, path: str) -> None:
    assert api.ask(method, path, role="viewer").status_code == 403

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    [answered] = [line for line in lines if line["event"] == "request" and line["status"] == 403]
    assert answered["actor"].startswith("token:test viewer#")


def test_a_refused_read_and_a_stranger_are_no_line(api: Api, app: Flask, engine: Engine) -> None:
    assert api.get("/api/tokens", role="viewer").status_code == 403
    assert api.post("/api/quiet-times", role=None, json={}).status_code == 401

    assert refused_lines(engine, "GET /api/tokens") == refused_lines(engine, "POST /api/quiet-times") == []
    assert ask_by_cookie(app, "DELETE", "/api/session", "x", OURS).status_code == 401


def test_whoever_tries_with_a_token_that_has_ended_is_named(api: Api, engine: Engine, written: io.StringIO) -> None:
    revoked = api.post("/api/tokens", role="admin", json={"name": "of the old wall", "role": "admin"}).get_json()
    assert api.delete(f"/api/tokens/{revoked['id']}").status_code == 204

    for method in ("GET", "POST"):
        assert api.ask(method, "/api/users", token=revoked["token"], json={}).status_code == 401
    forged = revoked["token"][:-20] + "0" * 20
    assert api.post("/api/users", token=forged, json={}).status_code == 401

    expected = f"token:of the old wall#{revoked['id']}"
    [line] = [line for line in refused_lines(engine, "POST /api/users") if line.details["code"] == "unauthenticated"]
    assert line.actor == expected
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [line.get("actor") for line in lines if line.get("status") == 401] == [expected, expected, None]
