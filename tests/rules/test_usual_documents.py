"""The short way through a usual document says exactly what the long way says, and takes what displays send."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge import messages, usual
from bridge.messages import Said
from bridge.payloads import Refused
from shared.clients.reports.rules import Health
from tests.lab.bench.traffic import Traffic

UUID: Final = "11111111-1111-4111-8111-111111111111"
Reader = Callable[[str, float, bytes], Said | None]

ODD: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 130),
    st.sampled_from([2**31, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(["x" * 16, "x" * 17, "x" * 128, "x" * 129, "x" * 256, "x" * 257, "x" * 500, "x" * 501, "x" * 9000]),
    st.sampled_from(["running", "ok", "warn", "queued", "succeeded", "2026-01-02T03:04:05Z", "a\x00b", "\ud800"]),
    st.lists(st.one_of(st.text(max_size=2), st.integers()), max_size=3),
    st.dictionaries(st.sampled_from(["id", "state", "unit", "n"]), st.one_of(st.none(), st.text(max_size=3))),
)
MOMENTS: Final = st.sampled_from(["2026-01-02T03:04:05Z", "2026-01-02", 1767225600, 1767225600123, 0, 0.0, -1, "soon"])
ACK: Final = st.fixed_dictionaries(
    {"id": st.text(min_size=1, max_size=3), "state": st.sampled_from(["received", "running", "sent", "expired", "?"])},
    optional={"reason": st.one_of(st.none(), st.text(max_size=3)), "more": st.integers()},
)
STAMP: Final[dict[str, st.SearchStrategy[Any]]] = {
    "install_id": st.text(min_size=1, max_size=4),
    "boot_seq": st.integers(0, 3),
    "seq": st.integers(0, 3),
    "ts": MOMENTS,
    "v": st.sampled_from([1, 1, 1, 1.0, 2, True, None]),
}
PERCENT: Final = st.one_of(st.integers(-1, 101), st.floats(0, 100), st.sampled_from([0, 0.0, 1e-300]))
HEARTBEAT: Final[dict[str, st.SearchStrategy[Any]]] = {
    "process_status": st.sampled_from(["running", "crashed", "asleep"]),
    "interval_seconds": st.integers(4, 3601),
    "boot_id": st.text(min_size=1, max_size=3),
    "app_instance": st.text(min_size=1, max_size=3),
    "last_command": ACK,
}
HEALTH: Final[dict[str, st.SearchStrategy[Any]]] = {
    "screen_health": st.sampled_from(["ok", "black", "mauve"]),
    "log_level": st.sampled_from(["warn", "info", "verbose"]),
    "hostname": st.text(max_size=3),
    "cpu_percent": PERCENT,
    "memory_percent": PERCENT,
    "temperature_celsius": PERCENT,
    "capabilities": st.lists(st.text(max_size=3), max_size=34),
    "service_failed": st.one_of(st.none(), st.fixed_dictionaries({"unit": st.text(max_size=3)})),
    "recent_acks": st.lists(ACK, max_size=10),
    "broker_connection": st.fixed_dictionaries(
        {}, optional={"reconnect_count": st.integers(-1, 3), "last_disconnect_at": st.one_of(st.none(), MOMENTS, ODD)}
    ),
}
LOG: Final[dict[str, st.SearchStrategy[Any]]] = {
    "message": st.one_of(st.text(max_size=5), st.just("x" * 8193)),
    "logger": st.text(max_size=3),
    "truncated": st.booleans(),
    "context": st.dictionaries(st.text(max_size=3), ODD, max_size=3),
}


def documents(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[bytes]:
    """Mostly as the contract says; sometimes a field is odd, unknown, or there twice."""
    sound = st.fixed_dictionaries({}, optional={**STAMP, **fields})
    odd = st.dictionaries(st.sampled_from([*STAMP, *fields, "unknown"]), ODD, max_size=1)
    return st.builds(_encoded, sound, st.one_of(st.just({}), st.just({}), odd), st.booleans())


def _encoded(sound: dict[str, Any], odd: dict[str, Any], is_twice: bool) -> bytes:
    if not is_twice or not sound or not odd:
        return json.dumps({**sound, **odd}).encode()
    return (json.dumps(odd)[:-1] + ", " + json.dumps(sound)[1:]).encode()


def said(reader: Reader, document: bytes) -> Said | str | None:
    """What it says, in comparable form, or the reason of its refusal."""
    try:
        found = reader(UUID, 5.0, document)
    except Refused as refused:
        return refused.reason.value
    if found is not None and isinstance(found.body, Health) and isinstance(found.body.body, msgspec.Raw):
        return replace(found, body=replace(found.body, body=msgspec.json.decode(found.body.body)))
    return found


def a_log(reader: Callable[[str, float, bytes, str], Said | None]) -> Reader:
    return lambda uuid, heard, payload: reader(uuid, heard, payload, "info")


def check(short: Reader, whole: Reader, long: Reader, document: bytes) -> None:
    """The short way says the same or leaves it to the long one, which is then taken."""
    expected = said(long, document)
    assert said(short, document) in (None, expected)
    assert said(whole, document) == expected


@settings(max_examples=120)
@given(documents(HEARTBEAT))
def test_a_heartbeat_is_read_alike(document: bytes) -> None:
    check(usual.usual_heartbeat, usual.heartbeat, messages.heartbeat, document)


@settings(max_examples=120)
@given(documents(HEALTH))
def test_a_health_report_is_read_alike(document: bytes) -> None:
    check(usual.usual_health, usual.health, messages.health, document)


@settings(max_examples=120)
@given(documents(LOG))
def test_a_log_line_is_read_alike(document: bytes) -> None:
    check(a_log(usual.usual_log), a_log(usual.log), a_log(messages.log), document)


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"message": "\xff"}',
        b'{"hostname": "\xed\xa0\x80"}',
        b'{"cpu_percent": 1e999}',
        b'{"cpu_percent": NaN}',
        b'{"seq": 1.0}',
        b'{"seq": 1e0}',
        b'{"interval_seconds": 30.0}',
        b'{"context": {"a": ' + b"[" * 40 + b"]" * 40 + b"}}",
        b'{"context": {"a": 1e999}}',
        b'{"context": {"a": 18446744073709551616}}',
        b'{"message": "m", "message": 1}',
        b'{"message": 1, "message": "m"}',
        b'{"message": "m"} x',
    ],
)
def test_every_kind_reads_this_alike(document: bytes) -> None:
    check(usual.usual_heartbeat, usual.heartbeat, messages.heartbeat, document)
    check(usual.usual_health, usual.health, messages.health, document)
    check(a_log(usual.usual_log), a_log(usual.log), a_log(messages.log), document)


def test_a_number_that_is_nothing_for_postgres_does_not_reach_it_as_it_came() -> None:
    assert usual.usual_health(UUID, 5.0, b'{"cpu_percent": 1e-20000}') is None
    assert usual.usual_health(UUID, 5.0, b'{"broker_connection": {"last_disconnect_at": 1E-20000}}') is None
    assert usual.usual_health(UUID, 5.0, b'{"cpu_percent": 1e-2}') is not None


def test_what_displays_send_goes_the_short_way() -> None:
    sent = Traffic(clients=3).messages(60)

    for topic, payload in sent:
        kind = topic.split(b"/")[2]
        short = {b"heartbeat": usual.usual_heartbeat, b"health": usual.usual_health, b"logs": a_log(usual.usual_log)}
        assert short[kind](UUID, 5.0, payload) is not None
