"""Displays' log lines as OTLP, in its JSON form. Pure.

https://opentelemetry.io/docs/specs/otlp/#otlphttp and https://opentelemetry.io/docs/specs/otel/logs/data-model/
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import msgspec

SEVERITIES: Final = {"debug": 5, "info": 9, "warning": 13, "error": 17, "critical": 21}
NOT_GIVEN: Final = 0


class Line(msgspec.Struct):
    """A log line as the API tells it."""

    id: int
    level: str
    raw_level: str | None
    message: str
    truncated: bool
    logger: str | None
    context: dict[str, Any] | None
    client_time: str | None
    received_at: datetime
    client_uuid: str
    client_name: str
    site: str | None


def request(lines: Sequence[Line]) -> bytes:
    """The body of an export request: a resource for each display.

    The time of a line is when we received it: receivers refuse lines that are old, and a display's clock may be wrong.
    """
    by_display = groupby(sorted(lines, key=lambda line: (line.client_uuid, line.id)), lambda line: line.client_uuid)
    return msgspec.json.encode({"resourceLogs": [_of_display(list(said)) for _, said in by_display]})


def _of_display(lines: Sequence[Line]) -> dict[str, Any]:
    newest = lines[-1]
    facts = {
        "service.name": "signage-display",
        "service.instance.id": newest.client_uuid,
        "host.name": newest.client_name,
        "signage.site": newest.site,
    }
    return {
        "resource": {"attributes": _attributes(facts)},
        "scopeLogs": [{"scope": {"name": "signage-fleet"}, "logRecords": [_record(line) for line in lines]}],
    }


def _record(line: Line) -> dict[str, Any]:
    at = _nanoseconds(line.received_at)
    facts = {
        "signage.log.id": str(line.id),
        "signage.logger": line.logger,
        "signage.client_time": line.client_time,
        "signage.context": msgspec.json.encode(line.context).decode() if line.context else None,
        "signage.truncated": "true" if line.truncated else None,
    }
    return {
        "timeUnixNano": at,
        "observedTimeUnixNano": at,
        "severityNumber": SEVERITIES.get(line.level, NOT_GIVEN),
        "severityText": line.raw_level or line.level,
        "body": {"stringValue": line.message},
        "attributes": _attributes(facts),
    }


def _attributes(facts: dict[str, str | None]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in facts.items() if value]


def _nanoseconds(at: datetime) -> str:
    """Since 1970; JSON's numbers are too short for it."""
    return str(int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1_000)
