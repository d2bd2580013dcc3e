"""What the bridge does about its own listening: lead, be told apart from its successor, put messages aside."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from shared.leadership import dead_letters_store as letters_store
from shared.leadership import store
from shared.leadership.dead_letters_store import LetterKey, NewDeadLetter
from shared.leadership.rules import Beginning
from shared.postgres.door import scrub
from shared.vocabulary import DeadLetterReason

KEPT_DIFFERENT: Final = 200  # dead letters of one sender, each with up to 4 KiB: a hostile one fills no disk
NO_PAYLOAD: Final = "many"  # in the place of a sha256: the row counts messages that are not kept


def lead(connection: Connection, instance: str) -> int | None:
    """Become the leader for as long as this session lasts: the new epoch, or None while another one leads."""
    return store.next_epoch(connection, instance) if store.try_lead(connection) else None


def lead_again(connection: Connection, leader_epoch: int, instance: str) -> bool | None:
    """Take the lead back after the session ended: True when nobody led in between, None while undecided.

    False means that another bridge leads, or did. Undecided: the lock is held but the epoch is still
    ours, so the holder is our own old session that Postgres has not given up yet, or a successor that
    is just beginning.
    """
    locked = store.try_lead(connection)
    if store.leader(connection) != (leader_epoch, instance):
        return False
    return True if locked else None


def put_aside(
    connection: Connection, now: datetime, refused: Iterable[tuple[str, bytes, DeadLetterReason, str | None]]
) -> int:
    """Keep (topic, payload, reason, detail) of what was not stored, alike ones as one; how many there were.

    A payload may be a `Beginning` already. Of one sender KEPT_DIFFERENT are kept; what else it sends is counted by kind
    and reason.
    """
    said = [_letter(topic, payload, reason, detail) for topic, payload, reason, detail in refused]
    letters = _as_one(said)
    if letters:
        letters_store.add(connection, now, _as_one(_bounded(connection, letters)))
    return len(said)


def _as_one(letters: Iterable[NewDeadLetter]) -> list[NewDeadLetter]:
    found: dict[LetterKey, NewDeadLetter] = {}
    for letter in letters:
        first = found.setdefault(letter.key, letter)
        if first is not letter:
            first.count += letter.count
    return list(found.values())


def _bounded(connection: Connection, letters: Sequence[NewDeadLetter]) -> list[NewDeadLetter]:
    """The letters; a letter beyond its sender's room becomes a row that only counts."""
    kept = letters_store.kept_of_senders(connection, sorted({letter.sender for letter in letters}))
    new = Counter(letter.sender for letter in letters)
    full = {sender for sender, count in new.items() if kept.get(sender, 0) + count > KEPT_DIFFERENT}
    if not full:
        return list(letters)
    known = letters_store.kept_already(connection, [letter.key for letter in letters if letter.sender in full])
    room = {sender: KEPT_DIFFERENT - kept.get(sender, 0) for sender in full}
    bounded = []
    for letter in letters:
        if letter.sender not in full or letter.key in known:
            bounded.append(letter)
            continue
        room[letter.sender] -= 1
        bounded.append(letter if room[letter.sender] >= 0 else _counted_only(letter))
    return bounded


def _counted_only(letter: NewDeadLetter) -> NewDeadLetter:
    """The row that counts a sender's surplus letters of one kind (all log levels as one) and reason."""
    kind = "/".join(letter.topic.split("/")[:3])
    detail = f"beyond {KEPT_DIFFERENT} different ones of this sender: only counted"
    return NewDeadLetter(kind, "", 0, NO_PAYLOAD, letter.reason, detail, letter.count)


def _letter(topic: str, payload: bytes, reason: DeadLetterReason, detail: str | None) -> NewDeadLetter:
    beginning = payload if isinstance(payload, Beginning) else Beginning.of(payload, letters_store.KEPT_PAYLOAD_BYTES)
    return NewDeadLetter(
        topic=scrub(topic)[: letters_store.KEPT_TOPIC_CHARS],
        payload=beginning[: letters_store.KEPT_PAYLOAD_BYTES].hex(),
        payload_bytes=beginning.whole_bytes,
        sha256=beginning.sha256,
        reason=reason.value,
        detail=scrub(detail)[: letters_store.KEPT_DETAIL_CHARS] if detail else None,
        count=1,
    )
