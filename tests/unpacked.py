"""A decoder of the overview's packed form, written from its description (`functions/api/routes/monitoring.py`)."""

from base64 import b64decode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

TIMES = (
    "status_since",
    "last_heartbeat_at",
    "screen_failed_since",
    "service_failed_at",
    "service_mended_at",
    "mqtt_last_disconnect_at",
    "shared_login_seen_at",
    "lockout_until",
)


def unpacked(packed: Mapping[str, Any], server_time: str) -> list[dict[str, Any]]:
    """The clients in the unpacked form. Raises ValueError when a column has too many or too few values."""
    second = datetime.fromisoformat(server_time).replace(microsecond=0)
    others = {name: _plain(told) for name, told in packed.items() if name != "uuid"}
    columns = {name: [_value(name, value, second) for value in values] for name, values in others.items()}
    rows = zip(uuids_of(packed["uuid"]), *columns.values(), strict=True)
    return [dict(zip(("uuid", *columns), row, strict=True)) for row in rows]


def uuids_of(text: str) -> list[str]:
    """The uuids of a packed column."""
    data = b64decode(text, validate=True)
    return [str(UUID(bytes=data[at : at + 16])) for at in range(0, len(data), 16)]


def _plain(told: Any) -> list[Any]:
    return told if isinstance(told, list) else [told["words"][place] for place in told["places"]]


def _value(name: str, value: Any, second: datetime) -> Any:
    if name not in TIMES or value is None:
        return value
    seconds, _, fraction = str(value).partition(".")
    moment = (second - timedelta(seconds=int(seconds))).astimezone(UTC).replace(tzinfo=None)
    return f"{moment.isoformat()}{'.' if fraction else ''}{fraction}Z"
