"""What the bridge does about its own listening: lead, be told apart from its successor, put messages aside."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from sqlalchemy import Connection

from shared.db import scrub
from shared.listening import store
from shared.listening.store import DeadLetter
from shared.vocabulary import DeadLetterReason


def lead(connection: Connection, instance: str) -> int | None:
    """Become the leader for as long as this session lasts: the new epoch, or None while another one leads."""
    return store.next_epoch(connection, instance) if store.try_lead(connection) else None


def lead_again(connection: Connection, leader_epoch: int) -> bool | None:
    """Take the lead back after the session ended: True when nobody led in between, None while undecided.

    False means that another bridge leads, or did. Undecided: the lock is held but the epoch is still
    ours, so the holder is our own old session that Postgres has not given up yet, or a successor that
    is just beginning.
    """
    locked = store.try_lead(connection)
    if store.epoch(connection) != leader_epoch:
        return False
    return True if locked else None


def put_aside(
    connection: Connection, now: datetime, refused: Iterable[tuple[str, bytes, DeadLetterReason, str | None]]
) -> int:
    """Keep (topic, payload, reason, detail) of what was not stored, alike ones as one; how many there were."""
    letters: dict[tuple[str, str, str], DeadLetter] = {}
    count = 0
    for topic, payload, reason, detail in refused:
        count += 1
        letter = _letter(topic, payload, reason, detail)
        first = letters.setdefault((letter.topic, letter.sha256, letter.reason), letter)
        if first is not letter:
            first.count += 1
    if letters:
        store.put_aside(connection, now, list(letters.values()))
    return count


def _letter(topic: str, payload: bytes, reason: DeadLetterReason, detail: str | None) -> DeadLetter:
    return DeadLetter(
        topic=scrub(topic)[: store.KEPT_TOPIC_CHARS],
        payload=payload[: store.KEPT_PAYLOAD_BYTES].hex(),
        payload_bytes=len(payload),
        sha256=hashlib.sha256(payload).hexdigest(),
        reason=reason.value,
        detail=scrub(detail)[: store.KEPT_DETAIL_CHARS] if detail else None,
        count=1,
    )
