"""Use cases of the bridge: lead, lead again after a lost session, and store dead letters."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import Connection

from shared.leadership import dead_letters_store as letters_store
from shared.leadership import store
from shared.leadership.dead_letters_store import LetterKey, NewDeadLetter
from shared.leadership.rules import KEPT_DIFFERENT, NO_PAYLOAD, Beginning
from shared.postgres.door import scrub
from shared.vocabulary import DeadLetterReason


def lead(connection: Connection, instance: str) -> int | None:
    """Become the leader for the length of this session. Returns the new epoch; None while another bridge leads."""
    return store.next_epoch(connection, instance) if store.try_lead(connection) else None


def lead_again(connection: Connection, leader_epoch: int, instance: str) -> bool | None:
    """Lead again after the session ended. Returns True if no other bridge led meanwhile, None while undecided.

    False: another bridge leads, or did. Undecided: the lock is held and the epoch is unchanged, so the holder is the
    own old session that Postgres has not ended yet, or a successor that is just beginning.
    """
    locked = store.try_lead(connection)
    if store.leader(connection) != (leader_epoch, instance):
        return False
    return True if locked else None


def put_aside(
    connection: Connection, now: datetime, refused: Iterable[tuple[str, bytes, DeadLetterReason, str | None]]
) -> int:
    """Store (topic, payload, reason, detail) of refused messages as dead letters, repeats as one. Returns how many.

    A payload may already be a `Beginning`. KEPT_DIFFERENT of each sender are stored; further ones are only counted by
    kind and reason.
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
    """The letters; those beyond their sender's limit become rows that only count."""
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
    """The row that counts a sender's letters beyond the limit, by kind (all log levels as one) and reason."""
    kind = "/".join(letter.topic.split("/")[:3])
    return NewDeadLetter(kind, "", 0, NO_PAYLOAD, letter.reason, None, letter.count)


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
