"""A display's payload becomes a message or is refused with a reason; only a bad field is dropped."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.inbox import IGNORED, Arrival, Inbox, PutAside, Taken
from bridge.messages import Canary, DecodedMessage
from bridge.reading import Unreadable, json_object
from shared.client_logs.rules import LogLine
from shared.clients.failures_rules import ServiceFailure
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceReport
from shared.commands.rules import Ack
from shared.vocabulary import (
    CommandState,
    DeadLetterReason,
    LogLevel,
    Presence,
    ProcessStatus,
    ScreenHealthStatus,
)

UUID = "0b54ad5e-3a8b-4a3f-9d0e-111111111111"
INBOX = Inbox("signage", "signage/service/canary")
STAMP = {"install_id": "installation-a", "boot_seq": 3, "seq": 7}
Reason = DeadLetterReason


def read(topic: str, body: Any, *, retained: bool = False) -> Taken | PutAside:
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    name = topic if topic.startswith("signage") else f"signage/{UUID}/{topic}"
    return INBOX.read(Arrival(name, payload, 1, 5.0, retained))


def said(topic: str, body: Any) -> DecodedMessage:
    taken = read(topic, body)
    assert isinstance(taken, Taken), taken
    return taken.message


def refused(topic: str, body: Any) -> DeadLetterReason:
    aside = read(topic, body)
    assert isinstance(aside, PutAside), aside
    return aside.reason


def health(**fields: Any) -> tuple[HealthReport, int]:
    """The report, and the number of its bad fields."""
    one = said("health", fields)
    assert isinstance(one.body, HealthReport)
    return one.body, one.bad_fields


# --- documents ---


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"", Reason.NOT_JSON),
        (b"hello", Reason.NOT_JSON),
        (b'{"a": 1', Reason.NOT_JSON),
        (b'{"a": 1} x', Reason.NOT_JSON),
        (b'{"a": "x\x00y"}', Reason.NOT_JSON),  # a bare NUL is no JSON
        (b"\xef\xbb\xbf{}", Reason.NOT_JSON),  # byte order mark
        (b'{"a": "\xff"}', Reason.NOT_UTF8),
        (b'{"a": "\xed\xa0\x80"}', Reason.NOT_UTF8),  # a surrogate in UTF-8
        (b'{"a": "\xc0\x80"}', Reason.NOT_UTF8),  # NUL, spelt too long
        (b"[]", Reason.NOT_AN_OBJECT),
        (b"null", Reason.NOT_AN_OBJECT),
        (b'"text"', Reason.NOT_AN_OBJECT),
        (b"7", Reason.NOT_AN_OBJECT),
        (b'{"a": NaN}', Reason.BAD_NUMBER),
        (b'{"a": [-Infinity]}', Reason.BAD_NUMBER),
        (b'{"a": 1e999}', Reason.BAD_NUMBER),
        (b'{"a": 18446744073709551616}', Reason.BAD_NUMBER),
        (b'{"a": {"b": [-9223372036854775809]}}', Reason.BAD_NUMBER),
        (b'{"a": ' + b"9" * 5000 + b"}", Reason.BAD_NUMBER),
        (b'{"a": "\\ud800", "b": 18446744073709551616}', Reason.BAD_NUMBER),  # by the slow path too
        (b'{"a":' * 33 + b"1" + b"}" * 33, Reason.TOO_DEEP),
        (b'{"a":' + b"[" * 32 + b"]" * 32 + b"}", Reason.TOO_DEEP),
        (b'{"a":' + b"[" * 3000 + b"]" * 3000 + b"}", Reason.TOO_DEEP),
        (b'{"v": 2}', Reason.UNSUPPORTED_VERSION),
        (b'{"v": 1.5}', Reason.UNSUPPORTED_VERSION),
        (b'{"v": "1"}', Reason.BAD_FIELD),
        (b'{"v": true}', Reason.BAD_FIELD),
        (b'{"v": 0}', Reason.BAD_FIELD),
    ],
)
def test_a_document_beyond_the_limits_is_refused_by_name(payload: bytes, reason: DeadLetterReason) -> None:
    with pytest.raises(Unreadable) as error:
        json_object(payload)

    assert error.value.reason is reason


@pytest.mark.parametrize(
    ("payload", "values"),
    [
        (b"{}", {}),
        (b' {"v": 1, "other": {"x": [1, 2.5, null, true]}} ', {"v": 1, "other": {"x": [1, 2.5, None, True]}}),
        (b'{"a": "\\u0000\\ud800x"}', {"a": "\ufffd\ufffdx"}),  # NUL and a lone surrogate
        (b'{"\\ud800": ["\\udfff"]}', {"\ufffd": ["\ufffd"]}),  # in names and deep inside
        (b'{"a": "\\ud83d\\ude00"}', {"a": "\N{GRINNING FACE}"}),  # a surrogate pair is a character
        (b'{"a": 18446744073709551615, "b": -9223372036854775808}', {"a": 2**64 - 1, "b": -(2**63)}),
        (b'{"a":' * 32 + b"1" + b"}" * 32, None),
        (b'{"a":' + b"[" * 31 + b"]" * 31 + b"}", None),
    ],
)
def test_a_document_within_the_limits_is_taken_and_scrubbed(payload: bytes, values: dict[str, Any] | None) -> None:
    taken = json_object(payload)

    if values is not None:
        assert taken == values


@pytest.mark.parametrize(
    ("topic", "limit"),
    [("heartbeat", 1024), ("health", 8192), ("logs/info", 16384), ("service_failed", 2048), ("presence", 512)],
)
def test_each_topic_has_its_own_size(topic: str, limit: int) -> None:
    start, end = b'{"message": "m", "unit": "u", "state": "online", "pad": "', b'"}'
    fitting = start + b"x" * (limit - len(start) - len(end)) + end

    assert len(fitting) == limit
    assert isinstance(read(topic, fitting), Taken)
    assert refused(topic, fitting + b" ") is Reason.TOO_LARGE


# --- topics ---


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        (f"signage/{UUID}/heartbeats", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID}/heartbeat/x", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID}", Reason.UNKNOWN_TOPIC),
        (f"other/{UUID}/heartbeat", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID}/commands", Reason.UNKNOWN_TOPIC),  # downward
        (f"signage/{UUID}/logs/ERROR", Reason.UNKNOWN_TOPIC),  # levels are lower case
        (f"signage/{UUID}/logs/{'x' * 17}", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID}/logs/", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID}/logs", Reason.UNKNOWN_TOPIC),  # no level
        (f"signage/{UUID}/logs/a/b", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID}/canary", Reason.UNKNOWN_TOPIC),  # a topic of the service
        ("", Reason.UNKNOWN_TOPIC),
        ("signage", Reason.UNKNOWN_TOPIC),
        (f"/signage/{UUID}/heartbeat", Reason.UNKNOWN_TOPIC),
        (f"signage/{UUID.upper()}/heartbeat", Reason.BAD_UUID),
        (f"signage/{UUID.replace('-', '')}/heartbeat", Reason.BAD_UUID),
        ("signage/lobby/heartbeat", Reason.BAD_UUID),
        (f"signage/{UUID}\n/heartbeat", Reason.BAD_UUID),
        ("signage//logs/info", Reason.BAD_UUID),
    ],
)
def test_a_topic_that_is_none_of_ours_is_put_aside(topic: str, reason: DeadLetterReason) -> None:
    assert refused(topic, {"message": "m"}) is reason


def test_only_presence_is_believed_when_it_is_an_old_retained_copy() -> None:
    heartbeat = read("heartbeat", {}, retained=True)
    presence = read("presence", {"state": "online"}, retained=True)

    assert isinstance(heartbeat, Taken)
    assert heartbeat.message is IGNORED
    assert isinstance(presence, Taken)
    assert isinstance(presence.message.body, PresenceReport)


def test_our_own_canary_is_known() -> None:
    assert said("signage/service/canary", {"instance": "i", "number": 3}).body == Canary(5.0, "i", 3)


# --- heartbeat ---


def test_a_heartbeat_says_all_of_it() -> None:
    one = said(
        "heartbeat",
        {
            "boot_id": "b",
            "app_instance": "a",
            "process_status": "crashed",
            "interval_seconds": 3600,
            "last_command": {"id": "c1", "state": "running"},
            "ts": 1,
            **STAMP,
        },
    )

    assert one == DecodedMessage(
        UUID,
        Heartbeat(UUID, 5.0, ProcessStatus.CRASHED, 3600, "b", "a", "installation-a", 3, 7),
        0,
        (Ack(UUID, "c1", CommandState.RUNNING),),
    )


@pytest.mark.parametrize(
    "bad",
    [
        {"process_status": "dead"},
        {"process_status": 5},
        {"process_status": ["running"]},
        {"interval_seconds": 4},
        {"interval_seconds": 3601},
        {"interval_seconds": True},
        {"interval_seconds": 30.0},
        {"interval_seconds": "30"},
        {"boot_id": 7},
        {"boot_id": ""},
        {"boot_id": "x" * 129},
        {"app_instance": {}},
        {"last_command": "c1"},
        {"last_command": {"id": "c1", "state": "sent"}},  # a display never sends `sent`
        {"last_command": {"state": "running"}},
    ],
)
def test_a_bad_field_becomes_null_and_is_counted(bad: dict[str, Any]) -> None:
    one = said("heartbeat", {**STAMP, **bad})

    assert one.bad_fields == 1
    assert one.body == Heartbeat(UUID, 5.0, install_id="installation-a", boot_seq=3, seq=7)
    assert one.acks == ()


@pytest.mark.parametrize(
    ("change", "bad_fields"),
    [
        ({"seq": None}, 0),
        ({"seq": 0}, 1),  # counts from 1
        ({"seq": True}, 1),
        ({"seq": 2**63}, 1),
        ({"boot_seq": -1}, 1),
        ({"install_id": ""}, 1),
        ({"install_id": "x" * 129}, 1),
    ],
)
def test_a_stamp_without_all_its_parts_is_none(change: dict[str, Any], bad_fields: int) -> None:
    one = said("heartbeat", {**STAMP, **change})

    assert one.body == Heartbeat(UUID, 5.0)
    assert one.bad_fields == bad_fields


# --- health ---


def test_a_health_report_keeps_its_whole_body() -> None:
    fields: dict[str, Any] = {
        "screen_health": "frozen",
        "log_level": "warn",
        "cpu_percent": 12,
        "memory_percent": 40.5,
        "disk_percent": 100,
        "temperature_celsius": -3.5,
        "certificate_ends_at": "2026-01-01T00:00:00Z",
        "under_voltage": False,
        "disk_writable": False,
        "refused": [{"what": "hours", "reason": "unknown_zone"}],
        "app_version": "1.2",
        "os": "Debian 12",
        "ip": "10.0.0.7",
        "hostname": "lobby",
        "capabilities": ["restart_app", "dance"],
        "broker_connection": {"reconnect_count": 4, "last_disconnect_at": "2026-01-01T00:00:00Z"},
        "extra": {"deep": [1]},
        **STAMP,
    }

    report, bad = health(**fields)

    assert report.body == fields
    assert report == HealthReport(
        UUID,
        5.0,
        fields,
        ScreenHealthStatus.FROZEN,
        "warning",
        "1.2",
        "Debian 12",
        "10.0.0.7",
        "lobby",
        12.0,
        40.5,
        100.0,
        -3.5,
        ["restart_app", "dance"],
        4,
        True,
        1767225600.0,
        "installation-a",
        3,
        7,
        None,
        None,
        1767225600.0,
        False,
        disk_writable=False,
        refused="hours:unknown_zone",
    )
    assert bad == 0


SEEN = ["page", "5f0c91aa", "0f1e3c78f0e1c387", 41, 1]
PAGE = {"kind": "page", "name": "5f0c91aa"}
PAGES: list[tuple[dict[str, Any], dict[str, Any] | None, int]] = [
    ({"glass": SEEN}, PAGE, 0),
    ({"glass": SEEN, "address": "a:b", "title": ""}, {**PAGE, "address": "a:b", "title": ""}, 0),
    ({"glass": ["nothing", None, None, None, None]}, {"kind": "nothing"}, 0),
    ({"glass": [*SEEN[:3], 101, 2]}, PAGE, 2),
    ({"glass": ["page", "no hash", None, 0, None], "address": 7}, {"kind": "page"}, 2),
    ({"glass": SEEN, "title": "x" * 513}, PAGE, 1),
    ({"glass": ["cake", *SEEN[1:]], "title": "Menu"}, None, 1),
    ({"glass": SEEN[:4], "title": "Menu"}, None, 1),
    ({"glass": {}, "title": "Menu"}, None, 1),
    ({"glass": "page"}, None, 1),
    ({"title": "Menu"}, None, 0),
]


@pytest.mark.parametrize(("fields", "page", "bad"), PAGES)
def test_what_is_on_the_screen_is_read_and_nothing_bad_drops_the_report(
    fields: dict[str, Any], page: dict[str, Any] | None, bad: int
) -> None:
    report, dropped = health(hostname="lobby", **fields)

    assert (report.page and json.loads(report.page), report.hostname) == (page, "lobby")
    assert (dropped > 0) is (bad > 0)


@pytest.mark.parametrize(("ts", "said_at"), [("2026-01-01T00:00:00Z", 1767225600.0), ("noon", None), (None, None)])
def test_a_health_report_says_when_it_was_written(ts: str | None, said_at: float | None) -> None:
    report, _ = health(ts=ts)

    assert report.said_at == said_at


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-01-01T00:00:00Z", 1767225600.0),
        ("2026-01-01T01:00:00+01:00", 1767225600.0),
        ("2026-01-01 00:00:00", 1767225600.0),  # without a zone: UTC
        ("2026-01-01T00:00:00.250Z", 1767225600.25),
        (1767225600, 1767225600.0),
        (1767225600.5, 1767225600.5),
        (1767225600500, 1767225600.5),  # milliseconds
        (0, 0.0),
    ],
)
def test_the_last_disconnect_is_iso_or_epoch_seconds_or_milliseconds(value: Any, seconds: float) -> None:
    report, bad = health(broker_connection={"last_disconnect_at": value})

    assert (report.last_disconnect_at, report.tells_disconnect, bad) == (seconds, True, 0)


@pytest.mark.parametrize(
    "value",
    [True, -1, 5e15, "yesterday", "", "2026", "20260101", "2026-13-01T00:00:00Z", "9999-12-31T23:59:59-23:00", [], {}],
)
def test_a_last_disconnect_that_is_no_time_is_left_as_it_was(value: Any) -> None:
    report, bad = health(broker_connection={"reconnect_count": 1, "last_disconnect_at": value})

    assert (report.reconnect_count, report.last_disconnect_at, report.tells_disconnect, bad) == (1, None, False, 1)


@pytest.mark.parametrize(
    ("block", "tells"),
    [({"last_disconnect_at": None}, True), ({}, False), ({"reconnect_count": 3}, False)],
)
def test_null_says_never_and_a_missing_one_says_nothing(block: dict[str, Any], tells: bool) -> None:
    report, bad = health(broker_connection=block)

    assert (report.tells_disconnect, report.last_disconnect_at, bad) == (tells, None, 0)


@pytest.mark.parametrize(("count", "taken"), [(0, True), (2**31 - 1, True), (2**31, False), (-1, False)])
def test_the_reconnect_count_fits_its_column(count: int, taken: bool) -> None:
    report, bad = health(broker_connection={"reconnect_count": count})

    assert (report.reconnect_count, bad) == ((count, 0) if taken else (None, 1))


@pytest.mark.parametrize("count", [True, False, 1.0, "1", [1]])
def test_a_reconnect_count_that_is_no_whole_number_is_refused(count: Any) -> None:
    report, bad = health(broker_connection={"reconnect_count": count})

    assert (report.reconnect_count, bad) == (None, 1)


@pytest.mark.parametrize(
    ("orders", "stored"),
    [
        ([], ""),
        ([{"what": "log_level", "reason": "a"}, {"what": "hours", "reason": "b"}], "hours:b,log_level:a"),
        ([{"what": "hours", "reason": "a"}, {"what": "hours", "reason": "b"}], "hours:b"),
        ([{"what": "hours", "reason": 'No, "such": zone'}], "hours:_o___such___zone"),
        ([None], ""),
    ],
)
def test_refused_orders_are_one_text_with_each_kind_once(orders: list[Any], stored: str) -> None:
    report, bad = health(refused=orders)

    assert (report.refused, bad) == (stored, 0)


@pytest.mark.parametrize(
    "fields",
    [
        {"cpu_percent": 101},
        {"cpu_percent": "12"},
        {"memory_percent": True},
        {"temperature_celsius": -300},
        {"certificate_ends_at": "soon"},
        {"certificate_ends_at": -1},
        {"certificate_ends_at": 1e15},
        {"certificate_ends_at": True},
        {"under_voltage": 1},
        {"under_voltage": "no"},
        {"disk_writable": 1},
        {"refused": "hours"},
        {"refused": [{"what": "hours", "reason": "odd"}] * 5},
        {"refused": [{"what": "interval", "reason": "odd"}]},  # of an older display
        {"screen_health": "broken"},
        {"capabilities": "all"},
        {"capabilities": [1]},
        {"capabilities": ["x"] * 33},
        {"broker_connection": []},
        {"log_level": 3},
        {"recent_acks": {}},
        {"recent_acks": ["c1"]},
        {"service_failed": "player"},
        {"service_failed": {}},
        {"service_failed": {"unit": ""}},
        {"service_failed": {"unit": "\u200b"}},
        {"service_failed": {"unit": "x" * 257}},
    ],
)
def test_a_bad_field_of_health_costs_only_itself(fields: dict[str, Any]) -> None:
    one = said("health", {"hostname": "lobby", **fields})

    assert one.bad_fields == 1
    assert isinstance(one.body, HealthReport)
    assert one.body.hostname == "lobby"
    assert (one.acks, one.repeated_failure) == ((), None)


def test_health_repeats_the_standing_failure_and_the_last_eight_acks() -> None:
    acks = [{"id": f"c{n}", "state": "succeeded", "reason": None, **STAMP} for n in range(10)]

    one = said("health", {"service_failed": {"unit": "player", "ts": 1, **STAMP}, "recent_acks": acks})

    assert one.repeated_failure == ServiceFailure(UUID, 5.0, "player", ("installation-a", 3, 7), by_topic=False)
    assert [ack.command_id for ack in one.acks] == [f"c{n}" for n in range(2, 10)]
    assert one.bad_fields == 0


# --- logs ---


def test_a_log_line_says_all_of_it() -> None:
    one = said("logs/err", {"message": "m", "logger": "player", "context": {"a": [1]}, "ts": 1767225600, **STAMP})

    assert one.body == LogLine(
        UUID, 5.0, LogLevel.ERROR, None, "m", False, "player", {"a": [1]}, 1767225600.0, "installation-a", 3, 7
    )


def test_an_unknown_level_is_kept_beside_info() -> None:
    body = said("logs/shout", {"message": "m"}).body

    assert isinstance(body, LogLine)
    assert (body.level, body.raw_level) == (LogLevel.INFO, "shout")


@pytest.mark.parametrize(("length", "truncated"), [(8192, False), (8193, True)])
def test_a_long_message_is_cut_and_says_so(length: int, truncated: bool) -> None:
    body = said("logs/info", {"message": "x" * length}).body

    assert isinstance(body, LogLine)
    assert (len(body.message), body.truncated) == (8192, truncated)


@pytest.mark.parametrize("body", [{}, {"message": None}, {"message": 5}, {"message": ["m"]}])
def test_a_log_without_a_message_means_nothing(body: dict[str, Any]) -> None:
    assert refused("logs/info", body) is Reason.BAD_FIELD


def test_a_bad_context_costs_only_itself() -> None:
    one = said("logs/info", {"message": "m", "context": "c", "logger": 1, "ts": "soon"})

    assert one.bad_fields == 3
    assert one.body == LogLine(UUID, 5.0, LogLevel.INFO, None, "m")


# --- service_failed, presence, ACKs ---


@pytest.mark.parametrize(
    ("body", "unit", "stamp"),
    [
        ({"unit": "player.service", "result": "exit-code", "restarts": 3, **STAMP}, "player.service", True),
        (b"player.service", "player.service", False),
        (b"  player.service\n", "player.service", False),
        (b'"player.service"', "player.service", False),
        (b"Wiedergabe", "Wiedergabe", False),
        ({"unit": "x" * 256}, "x" * 256, False),
        ({"unit": " Pla\u0308yer\u200b  1"}, "Pläyer 1", False),
        ("Pla\u0308yer".encode(), "Pläyer", False),
    ],
)
def test_a_failure_has_a_unit_and_a_bare_text_is_one(body: Any, unit: str, stamp: bool) -> None:
    assert said("service_failed", body).body == ServiceFailure(
        UUID, 5.0, unit, ("installation-a", 3, 7) if stamp else None, by_topic=True
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", Reason.BAD_FIELD),
        (b"   ", Reason.BAD_FIELD),
        (b"x" * 257, Reason.BAD_FIELD),
        ({}, Reason.BAD_FIELD),
        ({"unit": 7}, Reason.BAD_FIELD),
        ({"unit": ""}, Reason.BAD_FIELD),
        ({"unit": "\u200b"}, Reason.BAD_FIELD),
        (b"\xff", Reason.NOT_UTF8),
        (b"[1]", Reason.NOT_AN_OBJECT),
        (b"7", Reason.NOT_AN_OBJECT),
        (b"null", Reason.NOT_AN_OBJECT),
        (b'{"unit": ', Reason.NOT_JSON),
        ({"unit": "x", "v": 2}, Reason.UNSUPPORTED_VERSION),
    ],
)
def test_a_failure_without_a_unit_is_put_aside(body: Any, reason: DeadLetterReason) -> None:
    assert refused("service_failed", body) is reason


def test_presence_carries_its_session() -> None:
    assert said("presence", {"state": "offline", "session": "s", "reason": "will"}).body == PresenceReport(
        UUID, Presence.OFFLINE, "s"
    )


@pytest.mark.parametrize("body", [{}, {"state": "unknown"}, {"state": True}])
def test_presence_is_online_or_offline(body: dict[str, Any]) -> None:
    assert refused("presence", body) is Reason.BAD_FIELD


def test_an_ack_names_its_command() -> None:
    one = said("acks", {"id": "c1", "state": "failed", "reason": "no player", "boot_id": "b", "app_instance": "a"})

    ack = Ack(UUID, "c1", CommandState.FAILED, "no player", boot_id="b", app_instance="a")
    assert (one.body, one.acks) == (None, (ack,))


@pytest.mark.parametrize("boot", [7, "", "x" * 1000, None, {"a": 1}])
def test_an_ack_whose_boot_is_unreadable_counts_without_it(boot: object) -> None:
    one = said("acks", {"id": "c1", "state": "received", "boot_id": boot})

    assert (one.acks, one.bad_fields) == ((Ack(UUID, "c1", CommandState.RECEIVED),), int(boot is not None))


def test_an_ack_brings_the_trace_of_its_command_and_nothing_else_under_that_name() -> None:
    trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    [ack] = said("acks", {"id": "c1", "state": "running", "traceparent": trace}).acks
    [other] = said("acks", {"id": "c1", "state": "running", "traceparent": "}\n{forged"}).acks

    assert ack.traceparent == trace
    assert other.traceparent is None


@pytest.mark.parametrize("body", [{}, {"id": "c1"}, {"id": "", "state": "failed"}, {"id": "c1", "state": "expired"}])
def test_an_ack_that_says_nothing_is_put_aside(body: dict[str, Any]) -> None:
    assert refused("acks", body) is Reason.BAD_FIELD


# --- any payload ---

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(st.characters(exclude_categories=[])),
        st.sampled_from(["running", "online", "failed", "error"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=20,
)
NAMES = st.sampled_from(
    [
        *("v", "install_id", "boot_seq", "seq", "ts", "process_status", "interval_seconds", "boot_id", "last_command"),
        *("screen_health", "capabilities", "recent_acks", "service_failed", "broker_connection", "message", "context"),
        *("unit", "state", "session", "id", "reason", "logger", "cpu_percent", "log_level"),
    ]
)
KINDS = st.sampled_from(["heartbeat", "health", "logs/info", "service_failed", "presence", "acks"])


@given(KINDS, st.dictionaries(NAMES, JSON, max_size=8))
def test_whatever_a_document_holds_is_taken_or_refused_and_leaves_clean(kind: str, body: dict[str, Any]) -> None:
    result = read(kind, json.dumps(body).encode("utf-8", "surrogatepass"))

    if isinstance(result, PutAside):
        assert result.detail is None or "parser failed" not in result.detail
    else:
        assert "\x00" not in repr(result.message)
        repr(result.message).encode("utf-8")  # no lone surrogate is left


@given(KINDS, st.binary(max_size=200))
def test_whatever_bytes_come_never_raise(kind: str, payload: bytes) -> None:
    result = read(kind, payload)

    assert not isinstance(result, PutAside) or "parser failed" not in (result.detail or "")
