"""Whether the bridge hears the fleet: silence of a display counts only while a bridge listened. Pure.

Also what the bridge keeps of a payload that it put aside, and how old a door's certificate may become.
"""

import hashlib
from datetime import datetime, timedelta
from typing import Any, Final, Self

from msgspec import Struct

from shared.words.sentences import Sentence, sentence

CANARY_MAX_AGE: Final = timedelta(seconds=45)  # of the last canary that returned; then the bridge counts as silent
CERTIFICATE_SEEN_FOR: Final = timedelta(hours=2)  # age of a check that still counts; checks run each hour
CERTIFICATE_KNOWN_FOR: Final = timedelta(days=2)  # age of a check at which the door counts as removed
KEPT_DIFFERENT: Final = 200  # dead letters of a sender, up to 4 KiB each: a hostile one cannot fill the disk
NO_PAYLOAD: Final = "many"  # instead of a sha256: the row only counts messages


@sentence
def only_counted(*, limit: int) -> Sentence: ...


class Beginning(bytes):
    """The first bytes of a payload, when only these are kept."""

    whole_bytes: int
    sha256: str  # of the whole payload, in hexadecimal

    @classmethod
    def of(cls, payload: bytes, most: int) -> Self:
        """The first bytes of `payload`, `most` at most."""
        made = cls(payload[:most])
        made.whole_bytes, made.sha256 = len(payload), hashlib.sha256(payload).hexdigest()
        return made


class BridgeStatus(Struct, frozen=True):
    """The record of the leading bridge."""

    epoch: int  # grows with each leader; 0 before the first
    instance: str | None  # which process leads, for people
    connected_since: datetime | None  # None while it is not connected to the broker
    last_commit_at: datetime | None
    canary_at: datetime | None  # time of the last canary that returned: bridge -> broker -> bridge -> database
    counters: dict[str, Any]


class CertificateRests(Struct, frozen=True):
    """The rests of a certificate's lifetime that begin its last stages."""

    old: timedelta
    """People are notified; whatever renews by itself should have done so before."""
    ending: timedelta
    """The notification escalates."""


def certificate_rests(begins_at: datetime, ends_at: datetime) -> CertificateRests:
    """The last third and the last tenth of the lifetime, but at most 14 and 3 days."""
    lifetime = ends_at - begins_at
    return CertificateRests(min(lifetime / 3, timedelta(days=14)), min(lifetime / 10, timedelta(days=3)))


class Listening(Struct, frozen=True):
    """Since when displays are heard, and whether they are heard at all now."""

    deaf: bool
    since: datetime | None  # start of the present listening time; None before the first
    deaf_since: datetime | None  # last sign of the bridge when it is deaf; None when it never gave one


def is_bridge_silent(status: BridgeStatus, now: datetime) -> bool:
    """Whether no canary has returned for longer than CANARY_MAX_AGE, so that silence proves nothing.

    A time that lies so far in the future is from before the clock was set back, and does not count.
    """
    return status.canary_at is None or abs(now - status.canary_at) > CANARY_MAX_AGE


def listening(status: BridgeStatus, now: datetime) -> Listening:
    """The listening time, for the rules on silent displays."""
    deaf = is_bridge_silent(status, now)
    last_sign = None if status.canary_at is None else min(status.canary_at, now)
    return Listening(deaf, status.connected_since, last_sign if deaf else None)
