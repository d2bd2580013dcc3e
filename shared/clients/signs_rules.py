"""Signs of life: whatever a display sends proves that it talks, also what is refused for its content.

A stored heartbeat is the sign that costs nothing. Anything else is written down only where heartbeats do not come.
`heard` is the arrival at the bridge in seconds of its monotonic clock.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from shared.clients.reports.rules import MUTE, stale_after
from shared.vocabulary import ClientStatus, DeadLetterReason

INTERVAL_SECONDS: Final = 30  # of a client that did not say its own
COUNTS_AFTER: Final = 1 / 2  # of its threshold without a heartbeat: three of 30 s, and never of one that is well
AGAIN_AFTER: Final = 1 / 6  # of its threshold: 30 s of 180


@dataclass
class SignsMemory:
    """When each client's last heartbeat and last other sign were heard. Only what is committed may be remembered."""

    heartbeats: dict[str, tuple[float, int]] = field(default_factory=dict)  # uuid -> heard, interval in seconds
    signs: dict[str, float] = field(default_factory=dict)  # uuid -> heard


def due(
    talked: Mapping[str, float], beats: Mapping[str, tuple[float, int]], known: SignsMemory, stale_seconds: int
) -> dict[str, float]:
    """Those who talked whose sign is to be stored, and when it was heard. `beats` are the heartbeats of this batch.

    Whose last heartbeat is not remembered is among them: the database knows it, and decides. To wait until it would
    have come let a display that talks seem silent, after each new beginning of a bridge.
    """
    found = {}
    for uuid, heard in talked.items():
        beat_at, interval = beats.get(uuid) or known.heartbeats.get(uuid) or (-math.inf, INTERVAL_SECONDS)
        threshold = stale_after(interval, stale_seconds).total_seconds()
        before = known.signs.get(uuid, -math.inf)
        if heard - before >= AGAIN_AFTER * threshold and heard - beat_at > COUNTS_AFTER * threshold:
            found[uuid] = heard
    return found


def last_sign(last_heartbeat_at: datetime, sign_at: datetime | None) -> datetime:
    """When the display gave its last sign of life, of whatever kind."""
    return last_heartbeat_at if sign_at is None else max(last_heartbeat_at, sign_at)


def is_silent(
    last_heartbeat_at: datetime,
    interval_seconds: int,
    sign_at: datetime | None,
    now: datetime,
    stale_seconds: int,
) -> bool:
    """Whether the display gave no sign for longer than its threshold, even if we did not listen."""
    return now - last_sign(last_heartbeat_at, sign_at) > stale_after(interval_seconds, stale_seconds)


def may_be_mute(status: str, last_heartbeat_at: datetime | None, sign_at: datetime | None) -> bool:
    """Whether it is shown as unknown and something else than a heartbeat came last."""
    if status != ClientStatus.UNKNOWN or sign_at is None:
        return False
    return last_heartbeat_at is not None and sign_at > last_heartbeat_at


REFUSED: Final[Mapping[DeadLetterReason, str]] = {
    DeadLetterReason.UNKNOWN_TOPIC: "sent to a topic that there is not",
    DeadLetterReason.BAD_UUID: "sent under a wrong uuid",
    DeadLetterReason.TOO_LARGE: "too large",
    DeadLetterReason.NOT_UTF8: "not UTF-8",
    DeadLetterReason.NOT_JSON: "not JSON",
    DeadLetterReason.NOT_AN_OBJECT: "not a JSON object",
    DeadLetterReason.TOO_DEEP: "nested too deep",
    DeadLetterReason.BAD_NUMBER: "spoilt by a number out of range",
    DeadLetterReason.BAD_FIELD: "spoilt by a field",
    DeadLetterReason.UNSUPPORTED_VERSION: "of a version that is not supported",
    DeadLetterReason.UNKNOWN_CLIENT: "sent when the display was not registered",
    DeadLetterReason.REFUSED_BY_DATABASE: "refused by the database",
}
"""What was wrong with a message, after "it was"."""
KINDS: Final[Mapping[str, tuple[str, str]]] = {
    "heartbeat": ("heartbeat", "heartbeats"),
    "health": ("health report", "health reports"),
    "logs": ("log line", "log lines"),
    "service_failed": ("service failure", "service failures"),
    "presence": ("presence message", "presence messages"),
    "acks": ("answer to a command", "answers to commands"),
}
MESSAGE: Final = ("message", "messages")


def why_mute(refused: Mapping[str, int]) -> str:
    """Why a display that talks has no heartbeat, by how many were put aside for which reason since its last one."""
    if not refused:
        return f"{MUTE}: look at what the broker lets it publish, and at whether it sends them."
    parts = [
        f"{count:,} {'of them ' if not at else ''}{'was' if count == 1 else 'were'} {REFUSED[DeadLetterReason(reason)]}"
        for at, (reason, count) in enumerate(sorted(refused.items(), key=lambda one: (-one[1], one[0])))
    ]
    return f"{MUTE}: {', '.join(parts)}."


def refused_in_words(kind: str, reason: str, count: int) -> str:
    """How many messages of this kind were put aside for this reason."""
    one, many = KINDS.get(kind, MESSAGE)
    return (
        f"{count:,} {one if count == 1 else many} {'was' if count == 1 else 'were'} {REFUSED[DeadLetterReason(reason)]}"
    )
