"""Decide whether a payload must become a dead letter, by docs/protocol.md and with the standard library alone.

It shares no code with the bridge's parser, so that both cannot have the same mistake.
"""

import json
import math
import re
from typing import Any, Final

MAX_BYTES: Final = {
    "heartbeat": 1024,
    "health": 8192,
    "logs": 16_384,
    "service_failed": 2048,
    "presence": 512,
    "acks": 4096,
}
DEPTH: Final = 32
ACK_STATES: Final = ("received", "running", "succeeded", "failed", "rejected")


class _Bad(Exception):
    pass


def is_dead(topic: str, payload: bytes) -> bool:
    """Whether the message must become a dead letter. `topic` is the part after the display's uuid."""
    kind, _, level = topic.partition("/")
    if kind == "logs" and re.fullmatch("[a-z]{1,16}", level, re.ASCII) is None:
        return True
    if len(payload) > MAX_BYTES[kind]:
        return True
    try:
        text = payload.decode()
        return not _means_something(kind, text)
    except (UnicodeDecodeError, _Bad):
        return True


def _means_something(kind: str, text: str) -> bool:
    if kind == "service_failed":
        return _names_a_unit(text.strip())
    values = _object(text)
    if kind == "logs":
        return isinstance(values.get("message"), str)
    if kind == "presence":
        return values.get("state") in ("online", "offline")
    if kind == "acks":
        return _is_text(values.get("id"), 128) and values.get("state") in ACK_STATES
    return True


def _names_a_unit(text: str) -> bool:
    if text.startswith(("{", "[")):
        return _is_text(_object(text).get("unit"), 256)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return _is_text(value, 256)


def _is_text(value: Any, longest: int) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= longest


def _object(text: str) -> dict[str, Any]:
    try:
        values = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise _Bad from None
    if not isinstance(values, dict):
        raise _Bad
    _check(values, 1)
    version = values.get("v")
    if version is not None and (isinstance(version, bool) or version != 1):
        raise _Bad
    return values


def _no_number(_word: str) -> None:
    raise _Bad


def _check(value: Any, depth: int) -> None:
    if isinstance(value, dict | list):
        if depth > DEPTH:
            raise _Bad
        for inner in value.values() if isinstance(value, dict) else value:
            _check(inner, depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise _Bad
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise _Bad
