"""Signs of life: each message of a display proves that it works, even a message with refused content.

A stored heartbeat is a sign at no extra cost. Other messages are stored as signs only when heartbeats are missing.
`heard` is the arrival at the bridge in seconds of its monotonic clock.
"""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct, field

from shared.clients.reports.rules import USUAL_SECONDS, stale_after
from shared.vocabulary import DeadLetterReason
from shared.words.sentences import Sentence, sentence

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


TopicKind: TypeAlias = Literal["heartbeat", "health", "logs", "service_failed", "presence", "acks"]


@sentence
def messages_refused(*, kind: TopicKind, reason: DeadLetterReason, n: int) -> Sentence: ...
@sentence
def heartbeats_missing(*, refused: list[Sentence]) -> Sentence: ...
@sentence
def heartbeats_refused(*, reason: DeadLetterReason, n: int, first: bool) -> Sentence: ...


def why_mute(refused: Mapping[str, int]) -> Sentence:
    """Why a display that sends has no heartbeats. `refused`: how many were since its last one, for each reason."""
    most = sorted(refused.items(), key=lambda one: (-one[1], one[0]))
    told = [
        heartbeats_refused(reason=cast("DeadLetterReason", reason), n=n, first=not at)
        for at, (reason, n) in enumerate(most)
    ]
    return heartbeats_missing(refused=told)
