"""Signs of life: each message of a display proves that it works, even a message with refused content.

A stored heartbeat is a sign at no extra cost. Other messages are stored as signs only when heartbeats are missing.
`heard` is the arrival at the bridge in seconds of its monotonic clock.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct, field

from shared.clients.reports.rules import MUTE, USUAL_SECONDS, stale_after
from shared.sentences import Phrases
from shared.vocabulary import DeadLetterReason

COUNTS_AFTER: Final = 1 / 2  # of the stale threshold without a heartbeat: three missing ones of 30 s
AGAIN_AFTER: Final = 1 / 6  # of the stale threshold: 30 s of 180 s


class SignsMemory(Struct):
    """When each client's last heartbeat and last other sign were heard. Remember only committed ones."""

    heartbeats: dict[str, tuple[float, int]] = field(default_factory=dict)  # uuid -> heard, interval in seconds
    signs: dict[str, float] = field(default_factory=dict)  # uuid -> heard


def due(
    talked: Mapping[str, float], beats: Mapping[str, tuple[float, int]], known: SignsMemory, stale_seconds: int
) -> dict[str, float]:
    """The clients whose sign must be stored, and when it was heard. `beats` are the heartbeats of this batch.

    A client without a remembered heartbeat is included: the database knows its heartbeat and decides. If a new bridge
    waited for it instead, a display that sends messages would seem silent.
    """
    found = {}
    for uuid, heard in talked.items():
        beat_at, interval = beats.get(uuid) or known.heartbeats.get(uuid) or (-math.inf, USUAL_SECONDS)
        threshold = stale_after(interval, stale_seconds).total_seconds()
        before = known.signs.get(uuid, -math.inf)
        if heard - before >= AGAIN_AFTER * threshold and heard - beat_at > COUNTS_AFTER * threshold:
            found[uuid] = heard
    return found


def last_sign(last_heartbeat_at: datetime, sign_at: datetime | None) -> datetime:
    """The time of the display's last sign of life of any kind."""
    return last_heartbeat_at if sign_at is None else max(last_heartbeat_at, sign_at)


def is_silent_by_age(
    last_heartbeat_at: datetime,
    interval_seconds: int,
    sign_at: datetime | None,
    now: datetime,
    stale_seconds: int,
) -> bool:
    """Whether the last sign is older than the stale threshold, even if the bridge did not listen."""
    return now - last_sign(last_heartbeat_at, sign_at) > stale_after(interval_seconds, stale_seconds)


REFUSED: Final[Mapping[str, str]] = {
    DeadLetterReason.UNKNOWN_TOPIC: "sent to an unknown topic",
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
    DeadLetterReason.REFUSED_BY_DATABASE: "lost by a fault of this service",
}
"""What was wrong with a message; continues "it was"."""
ANOTHER: Final = "refused for another reason"
"""The same for a reason that only newer code knows."""
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
    """Why a display that sends has no heartbeats. `refused`: reason -> refused heartbeats since its last."""
    if not refused:
        return f"{MUTE}: look at what the broker lets it publish, and at whether it sends them."
    parts = [
        f"{count:,} {'of them ' if not at else ''}{'was' if count == 1 else 'were'} {REFUSED.get(reason, ANOTHER)}"
        for at, (reason, count) in enumerate(sorted(refused.items(), key=lambda one: (-one[1], one[0])))
    ]
    return f"{MUTE}: {', '.join(parts)}."


REFUSALS: Final = Phrases()


@REFUSALS.phrase
def messages_refused(*, kind: str, reason: str, count: int) -> str:
    """`kind`: of the topic; `reason`: of DeadLetterReason."""
    one, many = KINDS.get(kind, MESSAGE)
    return f"{count:,} {one if count == 1 else many} {'was' if count == 1 else 'were'} {REFUSED.get(reason, ANOTHER)}"
