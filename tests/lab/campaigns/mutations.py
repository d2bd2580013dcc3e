"""Payloads of a broken or hostile display: good ones, spoiled at random."""

import json
import random
from collections.abc import Callable
from typing import Any, Final

STAMP: Final = {"install_id": "fuzz", "boot_seq": 1, "seq": 1, "ts": "2026-01-02T03:04:05Z"}
TEMPLATES: Final[dict[str, dict[str, Any]]] = {
    "heartbeat": {
        "boot_id": "b",
        "app_instance": "a",
        "process_status": "running",
        "interval_seconds": 30,
        "last_command": {"id": "c", "state": "running"},
        **STAMP,
    },
    "health": {
        "screen_health": "ok",
        "cpu_percent": 12.5,
        "temperature_celsius": 41,
        "service_failed": {"unit": "player.service", **STAMP},
        "recent_acks": [{"id": "c", "state": "succeeded", "reason": None, **STAMP}],
        "capabilities": ["restart_app"],
        "broker_connection": {"reconnect_count": 3, "last_disconnect_at": 1_700_000_000},
    },
    "logs": {"message": "all is well", "logger": "player", "context": {"a": [1, 2.5, None]}},
    "service_failed": {"unit": "player.service", "result": "exit-code", "restarts": 5, **STAMP},
    "presence": {"state": "online", "session": "s", "reason": "start"},
    "acks": {"id": "c", "state": "succeeded", "reason": "done", "boot_id": "b", "app_instance": "a"},
}
LEVELS: Final = ("info", "debug", "error", "warn", "err", "fatal")
VALUES: Final = (
    *("null", "true", "false", "0", "-1", "1", "2", "1.5", "-0.0", "1e308", "1e400", "NaN", "-Infinity"),
    *(str(2**31), str(2**63), str(2**64), str(-(2**63) - 1), "1" * 400, "01", "+1", ".5", "1.", "0x10"),
    *('""', '"online"', '"\\ud800"', '"\\u0000"', '"\\udfff\\ud800"', '"\ud7ff"', '"' + "x" * 300 + '"', '"\t"'),
    *("[]", "{}", "[[[]]]", '{"a": {"a": {}}}', '{"": 1}', '{"a": 1, "a": 2}', "'x'", "undefined", "", "//"),
)
BYTES: Final = (b"\x00", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\u", b'"', b"}", b"{", b",", b"\\")

Mutation = Callable[[random.Random, bytes], bytes]


def mutated(chance: random.Random) -> tuple[str, bytes]:
    """A topic below the display's uuid, and a payload."""
    kind = chance.choice(list(TEMPLATES))
    payload = chance.choice((_with_value, _with_value, _with_field, _whole))(chance, TEMPLATES[kind])
    for _ in range(chance.choice((0, 1, 1, 1, 2, 5))):
        payload = chance.choice(MUTATIONS)(chance, payload)
    topic = f"logs/{chance.choice(LEVELS)}" if kind == "logs" else kind
    return topic, payload


def _whole(_chance: random.Random, template: dict[str, Any]) -> bytes:
    return json.dumps(template).encode()


def _with_value(chance: random.Random, template: dict[str, Any]) -> bytes:
    """Give one field an invalid value, or one at a limit."""
    marked = {**template, chance.choice(list(template)): "@@"}
    return json.dumps(marked).replace('"@@"', chance.choice(VALUES)).encode("utf-8", "surrogatepass")


def _with_field(chance: random.Random, template: dict[str, Any]) -> bytes:
    """Add or change a field, for instance the version."""
    name = chance.choice(("v", "v", "v", "extra", "seq", "x" * 200))
    return json.dumps({**template, name: "@@"}).replace('"@@"', chance.choice(VALUES)).encode("utf-8", "surrogatepass")


def _flip(chance: random.Random, payload: bytes) -> bytes:
    if not payload:
        return payload
    changed = bytearray(payload)
    changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _truncate(chance: random.Random, payload: bytes) -> bytes:
    return payload[: chance.randrange(len(payload) + 1)]


def _insert(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload) + 1)
    return payload[:at] + chance.choice((*BYTES, chance.randbytes(4))) + payload[at:]


def _cut_out(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload) + 1)
    return payload[:at] + payload[at + chance.randrange(1, 9) :]


def _repeat(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload) + 1)
    return payload[:at] + payload[at : at + chance.randrange(1, 30)] * chance.randrange(2, 5) + payload[at:]


def _nest(chance: random.Random, payload: bytes) -> bytes:
    depth = chance.choice((1, 5, 29, 30, 31, 32, 100, 3000))
    return payload.replace(b"}", b',"deep":' + b"[" * depth + b"]" * depth + b"}", 1)


def _inflate(chance: random.Random, payload: bytes) -> bytes:
    return payload.replace(b'"', b'"' + b"x" * chance.choice((100, 300, 600, 1100, 2100, 9000, 17_000)), 1)


def _replace(chance: random.Random, _payload: bytes) -> bytes:
    return chance.choice(
        (b"", b"null", b'"text"', b"[1]", b"  player  ", b"7", chance.randbytes(chance.randrange(1, 99)))
    )


MUTATIONS: Final[tuple[Mutation, ...]] = (
    _flip,
    _flip,
    _truncate,
    _insert,
    _cut_out,
    _repeat,
    _nest,
    _inflate,
    _replace,
)
