"""The frame around every route: what comes in is checked by name, what goes out says no secret."""

import base64
import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from deploy.local.probes import free_port
from functions.api import problems
from functions.api.app import create_app
from functions.api.auth import client_address
from functions.api.services import Services
from shared import errors
from shared.db import engine_for
from tests.api import probe_routes


@pytest.fixture(scope="module")
def probe(services: Services) -> FlaskClient:
    """Asks an app that has the probe routes only."""
    return create_app(services, (probe_routes.routes,)).test_client()


def post(probe: FlaskClient, body: bytes, content_type: str = "application/json") -> Any:
    return probe.post("/probe/echo", data=body, content_type=content_type)


def test_a_body_is_parsed_and_times_leave_in_utc_with_z(probe: FlaskClient) -> None:
    body = {"text": "hi", "action": "restart_app", "at": "2026-01-01T02:00:00+02:00", "inner": [{"name": "x"}]}

    got = post(probe, json.dumps(body).encode()).json["got"]

    assert got["action"] == "restart_app"
    assert got["number"] == 1
    assert got["inner"] == [{"name": "x"}]


def test_nul_never_gets_past_the_door(probe: FlaskClient) -> None:
    assert post(probe, rb'{"text": "a\u0000b"}').json["got"]["text"] == "a\ufffdb"
    assert probe.get("/probe/query?q=a%00b").json["got"]["q"] == "a\ufffdb"  # type: ignore[index]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed_json"),
        (b"{", "malformed_json"),
        (b"[1, 2]", "malformed_json"),
        (b'"text"', "malformed_json"),
        (b"\xff\xfe", "malformed_json"),
        (rb'{"text": "\ud800"}', "malformed_json"),  # a lone surrogate
        (b'{"text": ' + b"[" * 100_000, "malformed_json"),
        (b'{"text": 1e999}', "malformed_json"),
        (b'{"text": NaN}', "malformed_json"),
    ],
)
def test_what_is_no_json_object_is_a_400(probe: FlaskClient, body: bytes, code: str) -> None:
    answer = post(probe, body)

    assert (answer.status_code, answer.json["code"]) == (400, code)


@pytest.mark.parametrize(
    ("body", "field", "expected"),
    [
        ({}, "text", "required"),
        ({"text": 5}, "text", "str"),
        ({"text": None}, "text", "str"),
        ({"text": "x" * 11}, "text", "<= 10"),
        ({"text": "x", "number": 6}, "number", "<= 5"),
        ({"text": "x", "number": "3"}, "number", "int"),
        ({"text": "x", "number": True}, "number", "int"),
        ({"text": "x", "number": 10**30}, "number", "int"),
        ({"text": "x", "action": "explode"}, "action", "enum"),
        ({"text": "x", "at": "yesterday"}, "at", "RFC3339"),
        ({"text": "x", "at": "2026-01-01T00:00:00"}, "at", "timezone"),
        ({"text": "x", "inner": [{"name": "a"}, {}]}, "inner[1].name", "required"),
        ({"text": "x", "inner": [{"name": "a", "odd": 1}]}, "inner[0].odd", "no such field"),
        ({"text": "x", "txet": "y"}, "txet", "no such field"),
    ],
)
def test_a_wrong_field_is_a_400_that_names_it_and_what_was_expected(
    probe: FlaskClient, body: dict[str, Any], field: str, expected: str
) -> None:
    answer = post(probe, json.dumps(body).encode())

    assert answer.status_code == 400
    assert answer.json["code"] == "invalid_field"
    (named,) = answer.json["errors"]
    assert named["field"].replace("[...]", "[1]" if "[1]" in field else "[0]") == field
    assert expected in named["expected"]
    assert field.split("[", maxsplit=1)[0] in answer.json["detail"]


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "", "application/xml"])
def test_a_body_that_does_not_say_it_is_json_is_a_415(probe: FlaskClient, content_type: str) -> None:
    answer = post(probe, b'{"text": "x"}', content_type)

    assert (answer.status_code, answer.json["code"]) == (415, "unsupported_media_type")


def test_parameters_are_parsed_by_kind(probe: FlaskClient) -> None:
    got = probe.get(
        "/probe/query?limit=100&stale=true&q=null&since=2026-01-01T00:00:00Z&level=restart_app&level=reboot_host"
    ).json["got"]  # type: ignore[index]

    assert got == {
        "limit": 100,
        "cursor": None,
        "q": "null",
        "stale": True,
        "since": "2026-01-01T00:00:00Z",
        "level": ["restart_app", "reboot_host"],
    }


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("limit=5&limit=6", "limit"),
        ("stale=perhaps", "stale"),
        ("since=2026-01-01", "since"),
        ("since=2026-01-01T00:00:00", "since"),
        ("level=explode", "level"),
        ("lmit=5", "lmit"),
        ("cursor=" + "x" * 2000, "cursor"),
    ],
)
def test_a_wrong_parameter_is_a_400_that_names_it(probe: FlaskClient, query: str, field: str) -> None:
    answer = probe.get(f"/probe/query?{query}")

    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["code"] == "invalid_field"
    assert answer.json["errors"][0]["field"].split("[")[0] == field


def test_a_route_without_parameters_takes_none(probe: FlaskClient) -> None:
    assert probe.get("/probe/address?x=1").status_code == 400


def test_a_cursor_leads_to_the_next_page(probe: FlaskClient) -> None:
    first = probe.get("/probe/numbers").json
    assert first is not None
    second = probe.get("/probe/numbers", query_string={"cursor": first["next_cursor"]}).json

    assert second is not None
    assert (first["items"], second["items"]) == ([0, 1], [2, 3])


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "!",
        "ÿ",
        "AAAA",
        encoded("{}"),
        encoded("[]"),
        encoded('["2026-01-01T00:00:00Z"]'),
        encoded('["2026-01-01T00:00:00Z", "1"]'),
        encoded('["2026-01-01T00:00:00", 1]'),
        encoded('["2026-01-01T00:00:00Z", 99999999999999999999]'),
        encoded('["2026-01-01T00:00:00Z", 1, 2]'),
        encoded("[" * 5000),
    ],
)
def test_a_cursor_that_this_list_did_not_make_is_a_400(probe: FlaskClient, cursor: str) -> None:
    answer = probe.get("/probe/numbers", query_string={"cursor": cursor})

    assert answer.status_code == 400
    assert answer.json is not None
    assert answer.json["errors"][0]["field"] == "cursor"


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
    assert probe_routes.SECRET in caplog.text  # we do see it


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


def test_extras_of_an_error_are_members_of_the_document(probe: FlaskClient) -> None:
    answer = probe.get("/probe/locked")

    assert answer.status_code == 409
    assert answer.content_type == "application/problem+json"
    assert answer.json == {
        "type": "urn:signage:problem:locked_out",
        "title": "Conflict with the present state",
        "status": 409,
        "detail": errors.CommandLockedOut().detail,
        "code": "locked_out",
        "request_id": answer.headers["X-Request-Id"],
        "lockout_until": "2026-01-01T00:00:00Z",
    }


def test_a_429_says_when_to_come_back(probe: FlaskClient) -> None:
    answer = probe.get("/probe/wait")

    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "17")
    assert answer.json is not None
    assert answer.json["retry_after_seconds"] == 17


def subclasses(kind: type[errors.ServiceError]) -> set[type[errors.ServiceError]]:
    return {kind, *(found for child in kind.__subclasses__() for found in subclasses(child))}


def test_every_domain_error_but_the_general_one_has_a_status_of_its_own() -> None:
    ours = {error for error in subclasses(errors.ServiceError) if error.__module__.startswith(("shared", "functions"))}
    at_500 = {error for error in ours if problems.status_of(error) == 500}

    assert at_500 == {errors.ServiceError, errors.ConfigurationError, problems.InternalError}


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
        (["1.1.1.1, 203.0.113.7"], 1, "203.0.113.7"),  # the caller put the first one there
        (["1.1.1.1", "203.0.113.7"], 1, "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7, 10.0.0.9"], 2, "203.0.113.7"),
        (["203.0.113.7"], 2, "10.0.0.1"),  # a proxy is missing: believe none of it
        (["203.0.113.7"], 0, "10.0.0.1"),
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

    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    assert ("Allow" in answer.headers) == (status == 405)


def test_one_request_id_stands_in_answer_and_log_line(probe: FlaskClient, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    answer = probe.get("/probe/locked?secret=hunter2")

    lines = [record.__dict__["fields"] for record in caplog.records if "fields" in record.__dict__]
    (line,) = [fields for fields in lines if fields["event"] == "request"]
    assert line["request_id"] == answer.headers["X-Request-Id"]
    assert line["route"] == "/probe/locked"
    assert "hunter2" not in str(line)
