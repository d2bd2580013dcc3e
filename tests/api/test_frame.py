"""The frame around every route: requests are checked field by field, and answers reveal no secret."""

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy import Engine

from deploy.parts.probes import free_port
from functions import problems
from functions.api.app import create_app
from functions.api.auth import client_address
from functions.api.services import Services
from shared import errors
from shared.postgres.door import engine_for
from tests.api import probe_routes
from tests.problem_documents import check_problem


def test_an_unforeseen_error_says_nothing_but_the_request_id(
    probe: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    for path in ("/probe/boom", "/probe/database-error"):
        answer = probe.get(path)

        assert answer.status_code == 500
        assert answer.json is not None
        assert answer.json["code"] == "internal_error"
        assert answer.json["request_id"] == answer.headers["X-Request-Id"]
        assert probe_routes.SECRET not in answer.text
        assert "nowhere" not in answer.text
        assert "Traceback" not in answer.text
    assert probe_routes.SECRET in caplog.text  # but the log has it


def test_a_database_that_is_away_is_a_503_to_try_again(services: Services) -> None:
    unused_port = free_port()
    away = engine_for(f"postgresql://u:p@127.0.0.1:{unused_port}/x", "tests")
    app = create_app(Services(services.config, away), (probe_routes.routes,))

    answer = app.test_client().get("/probe/database")

    assert answer.status_code == 503
    assert answer.json is not None
    assert answer.json["code"] == "database_unavailable"
    assert int(answer.headers["Retry-After"]) > 0
    assert str(unused_port) not in answer.text


def test_a_used_up_pool_is_a_503_too(database_url: str, services: Services) -> None:
    engine = engine_for(database_url, "tests", pool_size=1)
    engine.pool._timeout = 0.1  # type: ignore[attr-defined]  # not wait 5 s in a test
    app = create_app(Services(services.config, engine), (probe_routes.routes,))
    with engine.connect():
        answer = app.test_client().get("/probe/database")
    engine.dispose()

    assert answer.status_code == 503


def test_a_lock_that_others_hold_is_a_503_and_a_slow_statement_too(probe: FlaskClient, engine: Engine) -> None:
    with engine.begin() as holder:
        holder.execute(sa.select(sa.func.pg_advisory_xact_lock(probe_routes.LOCK)))
        waited = probe.get("/probe/lock")
    slow = probe.get("/probe/slow-statement")

    assert (waited.status_code, slow.status_code) == (503, 503)


def test_extras_of_an_error_are_members_of_the_document(probe: FlaskClient) -> None:
    answer = probe.get("/probe/locked")

    assert answer.status_code == 409
    assert answer.content_type == "application/problem+json"
    assert answer.json == {
        "type": "urn:signage:problem:locked_out",
        "title": "Conflict with the present state",
        "status": 409,
        "detail": errors.CommandLockedOut().detail,
        "detail_code": "command_locked_out",
        "code": "locked_out",
        "request_id": answer.headers["X-Request-Id"],
        "lockout_until": "2026-01-01T00:00:00Z",
    }


def test_a_refusal_is_in_the_readers_language(probe: FlaskClient) -> None:
    answer = probe.get("/probe/locked", headers={"Accept-Language": "de-AT, en;q=0.5"})

    assert answer.json is not None
    assert (answer.json["code"], answer.json["title"]) == ("locked_out", "Im jetzigen Zustand nicht möglich")
    assert answer.json["detail"].startswith("Diesem Display wurde kürzlich ein Neustart gesendet")


def test_a_429_says_when_to_come_back(probe: FlaskClient) -> None:
    answer = probe.get("/probe/wait")

    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "17")
    assert answer.json is not None
    assert answer.json["retry_after_seconds"] == 17


def subclasses(kind: type[errors.ServiceError]) -> set[type[errors.ServiceError]]:
    return {kind, *(found for child in kind.__subclasses__() for found in subclasses(child))}


def test_every_domain_error_but_the_general_one_has_a_status_of_its_own() -> None:
    ours = {
        error
        for error in subclasses(errors.ServiceError)
        if error.__module__.startswith(("shared", "extensions", "functions"))
    }
    at_500 = {error for error in ours if problems.status_of(error) == 500}

    general = {errors.ServiceError, errors.ForOperators}
    assert at_500 == {*general, errors.ConfigurationError, errors.AuthorityUnreadable, problems.InternalError}


def test_every_answer_carries_the_headers_that_keep_browsers_careful(probe: FlaskClient) -> None:
    for answer in (probe.get("/probe/address"), probe.get("/none"), probe.get("/probe/boom")):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert len(answer.headers["X-Request-Id"]) >= 8


@pytest.mark.parametrize(
    ("given", "kept"), [("abc-123-def", True), ("short", False), ("x" * 65, False), ("bad\tone-here", False)]
)
def test_a_request_id_is_taken_over_only_when_it_is_a_plain_word(probe: FlaskClient, given: str, kept: bool) -> None:
    answer = probe.get("/probe/address", headers={"X-Request-Id": given})

    assert (answer.headers["X-Request-Id"] == given) == kept


@pytest.mark.parametrize(
    ("forwarded", "hops", "address"),
    [
        ([], 1, "10.0.0.1"),
        (["203.0.113.7"], 1, "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7"], 1, "203.0.113.7"),  # the caller wrote the first address
        (["1.1.1.1", "203.0.113.7"], 1, "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7, 10.0.0.9"], 2, "203.0.113.7"),
        (["203.0.113.7"], 2, "10.0.0.1"),  # a proxy is missing, so no address is trusted
        (["203.0.113.7"], 0, "10.0.0.1"),
        (["203.0.113.7:40001"], 1, "203.0.113.7"),  # some proxies add the caller's port
        (["[2001:db8::7]:40001"], 1, "2001:db8::7"),
        (["[2001:DB8::7]"], 1, "2001:db8::7"),
        (["2001:db8::7"], 1, "2001:db8::7"),
        (["fe80::7%eth0"], 1, "fe80::7"),
        (["[fe80::7%eth0]:1"], 1, "fe80::7"),
        (["unknown"], 1, "10.0.0.1"),  # no address: the proxy's own
        (["_hidden7"], 1, "10.0.0.1"),
        (["203.0.113.7:4:5"], 1, "10.0.0.1"),
        (["999.0.113.7:40001"], 1, "10.0.0.1"),
    ],
)
def test_the_callers_address_is_what_our_own_proxy_saw(forwarded: list[str], hops: int, address: str) -> None:
    assert client_address(forwarded, "10.0.0.1", hops) == address


def test_the_app_finds_the_address_behind_the_gateway(probe: FlaskClient) -> None:
    got = probe.get("/probe/address", headers={"X-Forwarded-For": "203.0.113.7"}).json

    assert got is not None
    assert got["got"][0] == "203.0.113.7"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/probe/none", 404),
        ("GET", "/probe//address", 404),
        ("GET", "/probe/address/", 404),
        ("GET", "/", 404),
        ("DELETE", "/probe/address", 405),
        ("PUT", "/probe/echo", 405),
        ("TRACE", "/probe/echo", 405),
        ("BREW", "/probe/echo", 405),
    ],
)
def test_unknown_addresses_and_methods_are_problem_documents(
    probe: FlaskClient, method: str, path: str, status: int
) -> None:
    answer = probe.open(path, method=method)

    check_problem(answer, status, "not_found" if status == 404 else "method_not_allowed")
    assert ("Allow" in answer.headers) == (status == 405)


def test_one_request_id_stands_in_answer_and_log_line(probe: FlaskClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    answer = probe.get("/probe/locked?secret=hunter2")

    lines = [record.__dict__["fields"] for record in caplog.records if "fields" in record.__dict__]
    (line,) = [fields for fields in lines if fields["event"] == "request"]
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert line["route"] == "/probe/locked"
    assert "hunter2" not in str(line)
