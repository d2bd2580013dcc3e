"""SQL of dead letters, the messages that were not stored."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query, columns

KEPT_PAYLOAD_BYTES: Final = 4096
KEPT_TOPIC_CHARS: Final = 400  # a unique index takes 2,700 bytes a row
KEPT_DETAIL_CHARS: Final = 500


class LetterKey(NamedTuple):
    """The fields that are equal in repeats of a dead letter."""

    topic: str
    sha256: str
    reason: str


class NewDeadLetter(Struct):
    """A message that was not stored, with the number of its repeats."""

    topic: str
    payload: str  # the first 4 KiB, in hexadecimal
    payload_bytes: int  # of the whole
    sha256: str  # of the whole
    reason: str
    detail: str | None
    count: int

    @property
    def key(self) -> LetterKey:
        """The fields that are equal in repeats."""
        return LetterKey(self.topic, self.sha256, self.reason)

    @property
    def sender(self) -> str:
        """The second level of the topic; the broker lets each display publish only below its own name."""
        return self.topic.split("/")[1] if "/" in self.topic else ""


class DeadLetterRow(Struct, frozen=True):
    """A stored dead letter: `payload` is the first 4 KiB of `payload_bytes`."""

    id: int
    topic: str
    reason: str
    detail: str | None
    count: int
    first_at: datetime
    last_at: datetime
    payload: bytes
    payload_bytes: int
    sha256: str


LETTERS: Final = ManyRows("said", NewDeadLetter)


@query.run(
    f"""
    INSERT INTO dead_letters AS d (topic, payload, payload_bytes, sha256, reason, detail, count, first_at, last_at)
    SELECT topic, decode(payload, 'hex'), payload_bytes, sha256, reason, detail, count,
        CAST(:now AS timestamptz), CAST(:now AS timestamptz)
    FROM {LETTERS} ORDER BY topic, sha256, reason
    ON CONFLICT (topic, sha256, reason) DO UPDATE SET count = d.count + EXCLUDED.count, last_at = EXCLUDED.last_at
    """,
    LETTERS,
)
def add(connection: Connection, now: datetime, letters: Sequence[NewDeadLetter]) -> None:
    """Store dead letters; a repeat with the same reason is only counted."""


@query.rows(
    """
    SELECT sender, count(*) AS letters FROM dead_letters
    WHERE sender = ANY(CAST(:senders AS text[])) GROUP BY sender
    """
)
def kept_of_senders(connection: Connection, senders: Sequence[str]) -> dict[str, int]:
    """How many different dead letters of each of these senders are stored, without senders that have none."""


KEYS: Final = ManyRows("said", LetterKey)


@query.rows(
    f"SELECT topic, sha256, reason FROM dead_letters JOIN {KEYS} USING (topic, sha256, reason)",
    KEYS,
)
def kept_already(connection: Connection, keys: Collection[LetterKey]) -> set[LetterKey]:
    """The keys among these that are already stored."""


@query.run("DELETE FROM dead_letters WHERE last_at < :before")
def drop(connection: Connection, before: datetime) -> int:
    """Delete dead letters whose last repeat came before `before`. Returns how many."""


def _page(which: str) -> Query[DeadLetterRow]:
    return Query(
        f"""
        SELECT {columns(DeadLetterRow, "d")} FROM dead_letters AS d
        WHERE {which} AND (last_at, id)
            < (coalesce(CAST(:after AS timestamptz), 'infinity'), coalesce(CAST(:after_id AS bigint), 0))
        ORDER BY last_at DESC, id DESC LIMIT CAST(:most AS int)
        """,
        DeadLetterRow,
    )


PAGE, PAGE_OF_SENDER = _page("true"), _page("sender = :sender")


def page(
    connection: Connection, limit: int, cursor: tuple[datetime, int] | None, sender: str | None = None
) -> list[DeadLetterRow]:
    """Up to `limit` dead letters, the latest first, that come after the pair (last_at, id) `cursor`.

    `sender`: only those of this uuid.
    """
    after, after_id = cursor or (None, None)
    query = PAGE if sender is None else PAGE_OF_SENDER
    return query.all(connection, most=limit, after=after, after_id=after_id, sender=sender)
