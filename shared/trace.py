"""One id from a click to the display's answer: W3C trace context, kept with what was asked for and named in log lines.

A `traceparent` travels (with a request, a command's row, its MQTT message, an ACK); its trace id, 32 hexadecimal
digits, is what log lines carry as `trace_id` and what people search for. No spans are made.
"""

import re
import secrets
from typing import Final

TRACEPARENT: Final = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


def begin() -> str:
    """A traceparent with a new trace id."""
    return f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"


def read(given: str | None) -> str | None:
    """A caller's traceparent; None where there is none, or none that the standard allows."""
    return given if given is not None and TRACEPARENT.fullmatch(given) else None


def trace_id(traceparent: str | None) -> str | None:
    """The id to search for; None of none."""
    found = TRACEPARENT.fullmatch(traceparent or "")
    return found[1] if found else None
