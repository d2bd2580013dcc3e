"""Whether we hear the fleet: silence of a display counts only while somebody listened."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Self

CERTIFICATE_OLD: Final = timedelta(days=14)  # left of a door's certificate: time to renew it
CERTIFICATE_ENDING: Final = timedelta(days=3)  # left: nobody has
CERTIFICATE_SEEN_FOR: Final = timedelta(hours=2)  # after the last look, of which there is one an hour
CERTIFICATE_KNOWN_FOR: Final = timedelta(days=2)  # after the last look: who looks may be gone, and another one came


class Beginning(bytes):
    """The first bytes of a payload of which no more is kept."""

    whole_bytes: int
    sha256: str  # of the whole, in hexadecimal

    @classmethod
    def of(cls, payload: bytes, most: int) -> Self:
        """At most so many of its bytes."""
        made = cls(payload[:most])
        made.whole_bytes, made.sha256 = len(payload), hashlib.sha256(payload).hexdigest()
        return made


@dataclass(frozen=True)
class BridgeStatus:
    """What the leading bridge last wrote about itself."""

    epoch: int  # grows with each leader; 0 before the first
    instance: str | None  # which process leads, for people
    connected_since: datetime | None  # null while not connected to the broker
    last_commit_at: datetime | None
    canary_at: datetime | None  # last round trip bridge -> broker -> bridge -> database
    counters: dict[str, Any]


@dataclass(frozen=True)
class Listening:
    """Since when displays are heard, and whether they are heard at all now."""

    silent: bool
    since: datetime | None  # start of the present listening time; None before the first
    silent_since: datetime | None  # last sign of the bridge when it is silent; None when it never gave one


def is_bridge_silent(status: BridgeStatus, now: datetime, max_age: timedelta) -> bool:
    """Whether the canary has not come back for longer than `max_age`: what we then see proves nothing.

    One that came back so far ahead of now came by a clock that was set back since: it says nothing of the bridge.
    """
    return status.canary_at is None or abs(now - status.canary_at) > max_age


def listening(status: BridgeStatus, now: datetime, max_age: timedelta) -> Listening:
    """The listening time that the rules on silent displays reckon with."""
    silent = is_bridge_silent(status, now, max_age)
    last_sign = None if status.canary_at is None else min(status.canary_at, now)
    return Listening(silent, status.connected_since, last_sign if silent else None)
