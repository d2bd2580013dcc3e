"""Ways in which a display with a working player breaks the contract: it sends wrong messages."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Spoils = Callable[[bytes], bytes | None]
"""Makes the payload that is sent instead; None: nothing is sent."""


@dataclass(frozen=True)
class Conduct:
    """`spoils`: name of a topic -> how its payloads are spoiled; `rejects`: it refuses every command."""

    name: str = "sound"
    spoils: Mapping[str, Spoils] = field(default_factory=dict)
    rejects: bool = False

    @property
    def is_sound(self) -> bool:
        """Whether it keeps the contract."""
        return not self.spoils and not self.rejects


def _with(**values: Any) -> Spoils:
    return lambda payload: json.dumps({**json.loads(payload), **values}).encode()


def _torn(payload: bytes) -> bytes:
    return payload[:-3]


def _nothing(_payload: bytes) -> None:
    return None


SOUND: Final = Conduct()
TOO_LARGE: Final = Conduct("heartbeats too large", {"heartbeat": _with(padding="x" * 1100)})
NEWER: Final = Conduct("heartbeats of version 2", {"heartbeat": _with(v=2)})
TORN: Final = Conduct("heartbeats that are no JSON", {"heartbeat": _torn})
LONG: Final = Conduct("fields too long", {"heartbeat": _with(boot_id="b" * 300, app_instance="a" * 300)})
NO_HEARTBEAT: Final = Conduct("no heartbeats", {"heartbeat": _nothing})
NO_HEALTH: Final = Conduct("no health", {"health": _nothing})
BAD_HEALTH: Final = Conduct("health of version 2", {"health": _with(v=2)})
ALL_NEWER: Final = Conduct("everything of version 2", {name: _with(v=2) for name in ("heartbeat", "health", "acks")})
REJECTS: Final = Conduct("rejects commands", {}, rejects=True)

CONDUCTS: Final = (TOO_LARGE, NEWER, TORN, LONG, NO_HEARTBEAT, BAD_HEALTH, ALL_NEWER, REJECTS)
