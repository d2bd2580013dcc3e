"""Deliver one message: claim it, try it, then finish it, retry it later or give it up."""

import secrets
from datetime import datetime
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection

from extensions.notifications.channels import operations as channels
from extensions.notifications.deliveries import rules, store
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result
from shared.vocabulary import DeliveryState
from shared.words.sentences import Sentence, together


class Errand(Struct, frozen=True):
    """A claimed message with its receiver, and the token that guards later writes of this sender."""

    delivery_id: int
    channel_id: int
    token: str
    attempts: int
    """The number of tries, with this one."""
    created_at: datetime
    kind: str
    url: str
    signing_secret: str | None
    letter: Letter

    def __repr__(self) -> str:
        return f"Errand({self.delivery_id})"  # the address is a secret


class Next(Struct, frozen=True):
    """The state after a try, with `generation` and `due_at` of the retry; None when there is no retry."""

    state: DeliveryState
    generation: int | None = None
    due_at: datetime | None = None


def claim(connection: Connection, now: datetime, delivery_id: int, generation: int) -> Errand | None:
    """Claim a message for this sender; None when there is nothing to send, or another sender holds the claim."""
    token = secrets.token_hex(16)
    claimed = store.claim(connection, now, delivery_id, generation, token, now - rules.LEASE)
    if claimed is None:
        return None
    channel = channels.find(connection, claimed.channel_id)
    if not channel.enabled:
        store.finish(connection, now, delivery_id, token, DeliveryState.DROPPED, rules.channel_switched_off())
        return None
    return Errand(
        delivery_id=delivery_id,
        channel_id=channel.id,
        token=token,
        attempts=claimed.attempts,
        created_at=claimed.created_at,
        kind=channel.kind,
        url=channel.url,
        signing_secret=channel.signing_secret,
        letter=letter(delivery_id, claimed.message),
    )


def letter(delivery_id: int, message: dict[str, Any]) -> Letter:
    """The message to send. Its idempotency key is the same at each try."""
    key = f"signage-{delivery_id}"
    return Letter(key, message["title"], message["text"], {"id": key, **message["facts"]})


def is_in_other_hands(connection: Connection, delivery_id: int, generation: int) -> bool:
    """Whether another sender holds the claim of this very try. If it dies, the try is due after its lease."""
    row = store.get(connection, delivery_id)
    if row is None or row.state is not DeliveryState.PENDING:
        return False
    return row.generation == generation and row.claim is not None


def record(connection: Connection, now: datetime, errand: Errand, outcome: DeliveryAttempt) -> Next | None:
    """Record the outcome of a try. Returns what follows; None when another sender has taken over the message."""
    if outcome.result is Result.DELIVERED:
        return _end(connection, now, errand, DeliveryState.DELIVERED, None)
    if outcome.result is Result.REFUSED:
        return _end(connection, now, errand, DeliveryState.FAILED, outcome.sentence)
    if rules.is_given_up(errand.created_at, now):
        why = together([outcome.sentence, rules.given_up(tries=errand.attempts)])
        return _end(connection, now, errand, DeliveryState.FAILED, why)
    due_at = now + rules.wait(errand.attempts, outcome.retry_after)
    generation = store.release(connection, errand.delivery_id, errand.token, due_at, outcome.sentence)
    if generation is None:
        return None
    channels.note(connection, now, errand.channel_id, outcome.sentence)
    return Next(DeliveryState.PENDING, generation, due_at)


def _end(
    connection: Connection, now: datetime, errand: Errand, state: DeliveryState, error: Sentence | None
) -> Next | None:
    if not store.finish(connection, now, errand.delivery_id, errand.token, state, error):
        return None
    channels.note(connection, now, errand.channel_id, error)
    return Next(state)


def sweep(connection: Connection, now: datetime, limit: int) -> list[store.DueDelivery]:
    """Release messages whose task was lost or whose sender died. Returns the tasks to enqueue."""
    return store.requeue_forgotten(connection, now, now - rules.FORGOTTEN_AFTER, now - rules.LEASE, limit)
