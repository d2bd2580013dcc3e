"""What a receiver of OTLP is told of log lines, and how far the sender is after each answer."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from deploy.neighbours import otlp_rules as rules
from deploy.neighbours.api import Misconfigured
from deploy.neighbours.otlp import Settings
from deploy.neighbours.otlp_rules import Line

ONE, OTHER = "0b6f8c1e-5b0e-4a3c-9a53-5a8f1d2c3b4a", "1b6f8c1e-5b0e-4a3c-9a53-5a8f1d2c3b4a"
SAID: Final = Line(
    id=7,
    level="error",
    raw_level=None,
    message="screen went dark",
    truncated=False,
    logger="player",
    context={"item": 3},
    client_time="1970-01-01T00:00:05Z",
    received_at=datetime(2026, 11, 27, 12, 0, 0, 123456, tzinfo=UTC),
    client_uuid=ONE,
    client_name="Lobby",
    site="Basel",
)
SETTINGS: Final = {
    "SIGNAGE_API_URL": "http://127.0.0.1:8080/",
    "SIGNAGE_API_TOKEN": "a token",
    "OTLP_LOGS_URL": "https://logs.example.org/v1/logs",
    "OTLP_STATE_FILE": "/var/lib/x/place",
}


def told(*lines: Line) -> list[dict[str, Any]]:
    resources: list[dict[str, Any]] = json.loads(rules.request(lines))["resourceLogs"]
    return resources


def values(attributes: list[dict[str, Any]]) -> dict[str, str]:
    return {one["key"]: one["value"]["stringValue"] for one in attributes}


def test_a_line_has_the_time_of_its_receipt_and_what_the_display_said() -> None:
    (display,) = told(SAID)
    (record,) = display["scopeLogs"][0]["logRecords"]

    assert values(display["resource"]["attributes"]) == {
        "service.name": "signage-display",
        "service.instance.id": ONE,
        "host.name": "Lobby",
        "signage.site": "Basel",
    }
    assert record["timeUnixNano"] == record["observedTimeUnixNano"] == "1795780800123456000"
    assert (record["severityNumber"], record["severityText"]) == (17, "error")
    assert record["body"] == {"stringValue": "screen went dark"}
    assert values(record["attributes"]) == {
        "signage.log.id": "7",
        "signage.logger": "player",
        "signage.client_time": "1970-01-01T00:00:05Z",
        "signage.context": '{"item":3}',
    }


def test_each_display_is_a_resource_with_its_lines_in_their_order() -> None:
    lines = [msgspec.structs.replace(SAID, id=at, client_uuid=uuid) for at, uuid in ((3, OTHER), (4, ONE), (5, OTHER))]

    found = {
        values(one["resource"]["attributes"])["service.instance.id"]: [
            values(record["attributes"])["signage.log.id"] for record in one["scopeLogs"][0]["logRecords"]
        ]
        for one in told(*lines)
    }

    assert found == {ONE: ["4"], OTHER: ["3", "5"]}


def test_what_is_not_known_is_left_out_and_an_unknown_level_has_no_number() -> None:
    bare = msgspec.structs.replace(
        SAID, level="trace", raw_level="verbose", logger=None, context=None, client_time=None, site=None, truncated=True
    )
    (display,) = told(bare)
    (record,) = display["scopeLogs"][0]["logRecords"]

    assert "signage.site" not in values(display["resource"]["attributes"])
    assert (record["severityNumber"], record["severityText"]) == (0, "verbose")
    assert values(record["attributes"]) == {"signage.log.id": "7", "signage.truncated": "true"}


def test_the_settings_are_read_and_no_secret_of_them_is_shown() -> None:
    read = Settings.read({**SETTINGS, "OTLP_AUTHORIZATION": "Basic eHg="})

    assert (read.api_url, read.state, read.start) == ("http://127.0.0.1:8080", Path("/var/lib/x/place"), "now")
    assert "a token" not in repr(read)
    assert "eHg=" not in repr(read)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"OTLP_LOGS_URL": ""}, "OTLP_LOGS_URL is missing"),
        ({"OTLP_LOGS_URL": "grpc://x:4317"}, "OTLP_LOGS_URL: expected http:// or https:// with a host"),
        ({"SIGNAGE_API_TOKEN": " "}, "SIGNAGE_API_TOKEN is missing"),
        ({"OTLP_STATE_FILE": ""}, "OTLP_STATE_FILE is missing"),
        ({"OTLP_START": "never"}, "OTLP_START: expected now or oldest"),
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, str], named: str) -> None:
    with pytest.raises(Misconfigured, match=named):
        Settings.read(SETTINGS | wrong)
