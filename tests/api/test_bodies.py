"""Bodies, parameters and cursors are checked field by field, and text that Postgres cannot store is refused."""

import base64
import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import msgspec
import pytest
from flask import Flask
from flask.testing import FlaskClient

from functions.api.app import body_limit_of
from functions.api.limits import BODY_LIMIT, PUBLIC_BODY_LIMIT, UPLOAD_ENVELOPE
from functions.api.routes.sessions import Credentials
from shared.access.passwords_rules import LONGEST


def post(probe: FlaskClient, body: bytes, content_type: str = "application/json") -> Any:
    return probe.post("/probe/echo", data=body, content_type=content_type)


def test_a_body_is_parsed_and_times_leave_in_utc_with_z(probe: FlaskClient) -> None:
    body = {"text": "hi", "action": "restart_app", "at": "2026-01-01T02:00:00+02:00", "inner": [{"name": "x"}]}

    got = post(probe, json.dumps(body).encode()).json["got"]

    assert got["action"] == "restart_app"
    assert got["number"] == 1
    assert got["inner"] == [{"name": "x"}]


def test_a_number_without_a_fraction_is_a_whole_one_however_it_is_written(probe: FlaskClient) -> None:
    assert post(probe, b'{"text": "x", "number": 3.0}').json["got"]["number"] == 3
    assert post(probe, b'{"text": "x", "number": 3.5}').status_code == 400


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
        (b'{"text": "x", "inner": [{"name": "' + b"[" * 100_000, "malformed_json"),
        (b'{"text": NaN}', "malformed_json"),
        (b'{"text": "\xff"}', "malformed_json"),
    ],
)
def test_what_is_no_json_object_is_a_400(probe: FlaskClient, body: bytes, code: str) -> None:
    answer = post(probe, body)

    assert (answer.status_code, answer.json["code"]) == (400, code)


@pytest.mark.parametrize(
    ("body", "field", "expected"),
    [
        ({}, "text", "required"),
        ({"text": 5}, "text", "a text of at most 10 characters"),
        ({"text": [[[[]]]]}, "text", "a text of at most 10 characters"),
        ({"text": None}, "text", "a text"),
        ({"text": "x" * 11}, "text", "at most 10"),
        ({"text": "x", "number": 6}, "number", "from 1 to 5"),
        ({"text": "x", "number": "3"}, "number", "a whole number"),
        ({"text": "x", "number": True}, "number", "a whole number"),
        ({"text": "x", "number": 10**30}, "number", "a whole number"),
        ({"text": "x", "action": "explode"}, "action", "one of restart_app, reboot_host, shutdown_host"),
        ({"text": "x", "at": "yesterday"}, "at", "RFC 3339"),
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
    assert expected in named["why"]
    assert not named["why"].startswith(("Expected", "Invalid"))
    assert field.split("[", maxsplit=1)[0] in answer.json["detail"]
    assert answer.json["detail"] == f"{named['field']}: {named['why']}."


def test_what_no_sentence_says_is_said_in_english(probe: FlaskClient) -> None:
    answer = post(probe, json.dumps({"text": "x", "share": []}).encode())

    assert (answer.status_code, answer.json["detail"]) == (400, "share: expected int | str, got array.")


LARGEST = 1_000_000


@pytest.mark.parametrize(
    ("head", "part", "tail"),
    [
        (b'{"text":[', b"[],", b"1]}"),
        (b'{"text":[', b'"x",', b"1]}"),
        (b'{"number":3.0,"text":[', b"[],", b"1]}"),
        (b'{"text":"\\u0000","inner":[', b"[],", b"1]}"),
        (b'{"text":', b"[", b"1"),
        (b'{"inner":[', b"{},", b"1]}"),
        (b'{"share":[', b"1.5,", b"1]}"),
        (b"[", b"{},", b"1]"),
        (b'{"x":{', b'"a":1,', b'"b":1}}'),
        (b"{", b'"a":1,', b'"b":1}'),
    ],
)
def test_a_body_that_fits_no_shape_is_refused_without_a_walk_through_it(
    probe: FlaskClient, head: bytes, part: bytes, tail: bytes
) -> None:
    post(probe, b'{"text": "x"}')  # imports and caches
    right = calls_of(lambda: post(probe, b'{"text": "x"}'))

    wrong = calls_of(lambda: post(probe, head + part * (LARGEST // len(part)) + tail))

    assert wrong < 3 * right


def calls_of(act: Callable[[], Any]) -> int:
    """How many functions, in Python or C, are called meanwhile."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [
        ("POST", "/api/session", PUBLIC_BODY_LIMIT),
        ("POST", "/api/session/provider", PUBLIC_BODY_LIMIT),
        ("POST", "/api/enroll", PUBLIC_BODY_LIMIT),
        ("POST", "/api/enroll/rotate", PUBLIC_BODY_LIMIT),
        ("POST", "/api/display/screenshots", BODY_LIMIT),
        ("POST", "/api/clients/mended", BODY_LIMIT),
        ("POST", "/api/event-media", 200_000_000 + UPLOAD_ENVELOPE),
    ],
)
def test_strangers_may_send_little(app: Flask, method: str, path: str, limit: int) -> None:
    assert body_limit_of(app)(method, path) == limit


def test_the_longest_sign_in_of_all_fits_into_what_strangers_may_send() -> None:
    letter = "\N{GRINNING FACE}"  # twelve bytes in ASCII
    longest = {"username": letter * 200, "password": letter * LONGEST, "code": letter * 40}

    assert len(json.dumps(longest)) <= PUBLIC_BODY_LIMIT
    assert msgspec.convert(longest, Credentials)


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
        ("limit=1e2", "limit"),
        ("limit=1.0", "limit"),
        ("limit=%2B5", "limit"),
        ("limit=%EF%BC%95", "limit"),  # digits of another script
        ("limit=", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("limit=5&limit=6", "limit"),
        ("stale=perhaps", "stale"),
        ("since=2026-01-01", "since"),
        ("since=2026-01-01T00:00:00", "since"),
        ("since=0.5", "since"),  # not a number of seconds since 1970
        ("since=1767225600", "since"),
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
