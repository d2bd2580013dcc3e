"""One id from a click to the display's answer: W3C trace context, stored with requests and written in log lines.

A request, a command's row, its MQTT message and an ACK have a `traceparent`. Log lines have its trace id, 32
hexadecimal digits, as `trace_id`, for people to search. There are no spans.
"""

import re
import secrets
from typing import Final

TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def begin() -> str:
    """A traceparent with a new trace id."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def read(given: str | None) -> str | None:
    """A caller's traceparent; None when it is missing or invalid."""
    return given if given is not None and TRACEPARENT.fullmatch(given) else None


def trace_id(traceparent: str | None) -> str | None:
    """The trace id of a traceparent; None without one."""
    found = TRACEPARENT.fullmatch(traceparent or "")
    return found[1] if found else None
