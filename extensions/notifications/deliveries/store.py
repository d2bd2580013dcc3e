"""SQL of deliveries, which are an outbox. Each change of state is one UPDATE, guarded by the claim's token."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct
from sqlalchemy import Connection

from extensions.notifications.rules import Notice
from shared.postgres import query
from shared.postgres.driver import FOR_ITS_VALUES
from shared.postgres.many import ManyRows, as_json
from shared.postgres.query import NO_ROW, Query
from shared.vocabulary import DeliveryState, NotificationEvent, NotificationPhase
from shared.words.sentences import Sentence


class NewMessage(Struct, frozen=True):
    """A message to one channel, for the outbox."""

    channel_id: int
    root: str
    subject: str
    phase: NotificationPhase
    event: NotificationEvent
    message: dict[str, Any]
    standing: bool = False
    folded_into: int | None = None


class DueDelivery(NamedTuple):
    """A task to enqueue: a message and its try."""

    id: int
    generation: int


class ToldRoot(NamedTuple):
    """A trouble's root that a channel has a message about."""

    channel_id: int
    root: str


class ClaimedMessage(Struct, frozen=True):
    """A claimed message; `attempts` includes this try."""

    channel_id: int
    attempts: int
    created_at: datetime
    message: dict[str, Any]


class Try(Struct, frozen=True):
    """The state of a message, and the token of its claim."""

    state: DeliveryState
    generation: int
    claim: str | None


class ListedMessage(Struct, frozen=True):
    """A message in a list. `due_at` is the next try, while it is pending."""

    id: int
    channel_id: int
    channel_name: str
    subject: str
    phase: NotificationPhase
    event: NotificationEvent
    title: str
    text: str
    state: DeliveryState
    attempts: int
    created_at: datetime
    due_at: datetime | None
    finished_at: datetime | None
    error: Sentence | None


OWN_FACTS: Final = "coalesce(d.message -> 'own', d.message -> 'facts')"
"""SQL: the facts of the row's own trouble. One row may carry the message about many displays."""
MESSAGES: Final = ManyRows("said", NewMessage)


@query.rows(
    f"""
    INSERT INTO notification_deliveries (channel_id, root, subject, phase, event, message, created_at, due_at,
        standing, folded_into, state)
    SELECT channel_id, root, subject, phase, event, message, CAST(:now AS timestamptz), CAST(:now AS timestamptz),
        standing, folded_into, CASE WHEN folded_into IS NULL THEN 'pending' ELSE 'folded' END
    FROM {MESSAGES} ORDER BY subject
    ON CONFLICT (channel_id, subject, phase) DO NOTHING RETURNING subject, id
    """,
    MESSAGES,
)
def insert(connection: Connection, now: datetime, messages: Sequence[NewMessage]) -> dict[str, int]:
    """Insert messages to one channel. Returns ids by subject; a message that exists already is left out."""


STANDING = Query(
    f"""
    SELECT d.id, d.channel_id, d.root, d.subject, {OWN_FACTS} ->> 'event' AS event, d.state, d.created_at,
        {OWN_FACTS} AS facts, d.claimed_at IS NOT NULL AS claimed
    FROM notification_deliveries AS d WHERE d.standing AND {OWN_FACTS} ->> 'event' = ANY(:known) ORDER BY d.id
    """,
    Notice,
)


def standing(connection: Connection) -> list[Notice]:
    """The messages, sent or pending, about troubles that are not known to be over.

    Messages of unknown events are left out: newer code sent them, and will close them.
    """
    return STANDING.all(connection, known=list(NotificationEvent))


@query.rows(
    f"""
    SELECT DISTINCT d.channel_id FROM notification_deliveries AS d
    WHERE d.created_at > :since AND d.phase = 'opened' AND d.state <> 'dropped' AND {OWN_FACTS} ->> 'event' = :event
    """
)
def told_of_since(connection: Connection, event: NotificationEvent, since: datetime) -> set[int]:
    """The channels that have a message since `since` that a trouble with this event began."""


OPENED_SINCE = Query(
    """
    SELECT channel_id, root FROM notification_deliveries
    WHERE root = ANY(:roots) AND phase = 'opened' AND state <> 'dropped' AND created_at > :since
    """,
    ToldRoot,
)


def opened_since(connection: Connection, roots: Collection[str], since: datetime) -> set[tuple[int, str]]:
    """(channel, root) of each message since `since` that one of these troubles began."""
    return set(OPENED_SINCE.all(connection, roots=list(roots), since=since))


@query.run("UPDATE notification_deliveries SET standing = false WHERE id = ANY(:ids)")
def settle(connection: Connection, ids: Collection[int]) -> None:
    """Note that the troubles of these messages are over."""


DROP_UNSENT = Query(
    """
    UPDATE notification_deliveries AS d
    SET state = 'dropped', standing = false, finished_at = :now,
        error = CAST(CAST(:error AS text) AS jsonb)
    WHERE d.channel_id = :channel_id AND d.subject = :subject AND d.state = 'pending' AND d.claim IS NULL
        AND NOT EXISTS (SELECT FROM notification_deliveries AS other WHERE other.folded_into = d.id)
    """,
    NO_ROW,
)


def drop_unsent(connection: Connection, now: datetime, channel_id: int, subject: str, why: Sentence) -> int:
    """Drop unsent messages about this subject, unless a sender has claimed them. Returns how many.

    A message that carries other displays' troubles too is not dropped.
    """
    return DROP_UNSENT.run(connection, now=now, channel_id=channel_id, subject=subject, error=as_json(why))


REQUEUE_FORGOTTEN = Query(
    """
    UPDATE notification_deliveries SET generation = generation + 1, claim = NULL, claimed_at = NULL, due_at = :now
    WHERE id IN (
        SELECT id FROM notification_deliveries
        WHERE state = 'pending' AND (claim IS NULL AND due_at <= :due_before
            OR claim IS NOT NULL AND claimed_at <= :claimed_before)
        ORDER BY due_at, id LIMIT :limit FOR UPDATE SKIP LOCKED)
    RETURNING id, generation
    """,
    DueDelivery,
)


def requeue_forgotten(
    connection: Connection, now: datetime, due_before: datetime, claimed_before: datetime, limit: int
) -> list[DueDelivery]:
    """Release messages that were due by `due_before` or claimed by `claimed_before`. Returns the tasks to enqueue."""
    bounds = {"due_before": due_before, "claimed_before": claimed_before, "limit": limit}
    return REQUEUE_FORGOTTEN.all(connection, now=now, **bounds)


CLAIM = Query(
    """
    UPDATE notification_deliveries SET claim = :token, claimed_at = :now, attempts = attempts + 1
    WHERE id = :id AND generation = :generation AND state = 'pending'
        AND (claim IS NULL OR claimed_at <= :lease_began)
    RETURNING channel_id, attempts, created_at, message
    """,
    ClaimedMessage,
)


def claim(
    connection: Connection, now: datetime, delivery_id: int, generation: int, token: str, lease_began: datetime
) -> ClaimedMessage | None:
    """Claim a message; None when it is done, deleted, of another generation, or claimed by another sender."""
    values = {"id": delivery_id, "generation": generation, "token": token, "lease_began": lease_began}
    return CLAIM.one_or_none(connection, now=now, **values)


@query.one_or_none("SELECT state, generation, claim FROM notification_deliveries WHERE id = :delivery_id")
def get(connection: Connection, delivery_id: int) -> Try | None:
    """The state of one message, or None."""


FINISH = Query(
    """
    UPDATE notification_deliveries
    SET state = :state, finished_at = :now, claim = NULL, claimed_at = NULL,
        error = CAST(CAST(:error AS text) AS jsonb)
    WHERE id = :id AND claim = :token AND state = 'pending'
    """,
    NO_ROW,
)


def finish(
    connection: Connection, now: datetime, delivery_id: int, token: str, state: DeliveryState, error: Sentence | None
) -> bool:
    """Finish a message; False when the claim was lost."""
    return FINISH.run(connection, now=now, id=delivery_id, token=token, state=state, error=as_json(error)) == 1


RELEASE = Query(
    """
    UPDATE notification_deliveries
    SET claim = NULL, claimed_at = NULL, due_at = :due_at,
        error = CAST(CAST(:error AS text) AS jsonb), generation = generation + 1
    WHERE id = :id AND claim = :token AND state = 'pending' RETURNING generation
    """,
    int,
)


def release(connection: Connection, delivery_id: int, token: str, due_at: datetime, error: Sentence) -> int | None:
    """Release the claim for a retry at `due_at`. Returns the next generation; None when the claim was lost."""
    return RELEASE.one_or_none(connection, id=delivery_id, token=token, due_at=due_at, error=as_json(error))


@query.run(
    """
    UPDATE notification_deliveries
    SET state = 'pending', finished_at = NULL, error = NULL, due_at = :now,
        generation = generation + 1
    WHERE channel_id = :channel_id AND state = 'failed' AND standing
    """
)
def revive(connection: Connection, now: datetime, channel_id: int) -> int:
    """Retry failed messages whose trouble is not over. Returns how many. The next sweep enqueues them."""


@query.rows(
    f"""
    SELECT d.id, d.channel_id, c.name AS channel_name, d.subject, d.phase,
        d.event, d.message ->> 'title' AS title, d.message ->> 'text' AS text, d.state, d.attempts, d.created_at,
        CASE d.state WHEN 'pending' THEN d.due_at END AS due_at, d.finished_at, d.error
    FROM notification_deliveries AS d JOIN notification_channels AS c ON c.id = d.channel_id
    WHERE (CAST(:channel_id AS bigint) IS NULL OR d.channel_id = :channel_id)
        AND (CAST(:state AS text) IS NULL OR d.state = :state)
        AND (CAST(:before AS bigint) IS NULL OR d.id < :before)
    ORDER BY d.id DESC LIMIT :limit {FOR_ITS_VALUES}
    """
)
def page(
    connection: Connection, channel_id: int | None, state: DeliveryState | None, limit: int, before: int | None
) -> list[ListedMessage]:
    """Up to `limit` messages with an id below `before`, the newest first."""


@query.run("DELETE FROM notification_deliveries WHERE created_at < :before AND NOT standing AND state <> 'pending'")
def drop_history(connection: Connection, before: datetime) -> int:
    """Delete messages from before then that are finished and whose trouble is over. Returns how many."""
