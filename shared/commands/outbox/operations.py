"""The outbox: claim a command's row under a lease, publish the command, store the broker's answer.

The API and the tick call `publish_due`. The bridge has its own connection to the broker and calls the two halves,
`claim_due` and `record_publish_answers`. If a publisher dies in between, the lease ends and another one publishes the
same id again; the display's journal makes that harmless.
"""

import random
import time
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from shared.commands import store as commands_store
from shared.commands.outbox import store
from shared.commands.rules import Attempt, Claimed, Timings, is_accepted, next_publish_after, payload
from shared.errors import BrokerUnavailable, PublishUnanswered
from shared.postgres.door import database_now, transaction
from shared.structured_log import event, failure
from shared.trace import trace_id
from shared.vocabulary import REFUSED_FROM, PublishAnswer

if TYPE_CHECKING:
    from shared.outside.mqtt import Publisher  # a cold start without publishing does not load paho

CLAIM_AT_ONCE = 50  # of one claim of the bridge
CLAIM_IN_A_ROUND = 250  # of `publish_due`, whose publisher sends them a few at a time
BUDGET_SECONDS = 3.0


class PublishReport(Struct, frozen=True):
    """How many publishes ended in which way."""

    sent: int = 0
    """Accepted by the broker, also repeats of sent commands."""
    no_subscriber: int = 0
    """The display is not connected: an operator's command waits, recovery's is cancelled."""
    denied: int = 0
    """Failed: the broker's ACL forbids the topic."""
    unanswered: int = 0
    """Without an answer: may have arrived; tried again after a back-off."""
    waiting: int = 0
    """Not sent, or refused for now; tried again after a back-off."""

    def __add__(self, other: "PublishReport") -> "PublishReport":
        return PublishReport(*(getattr(self, name) + getattr(other, name) for name in self.__struct_fields__))


def claim_due(
    connection: Connection,
    now: datetime,
    only_ids: Collection[str] | None = None,
    client_uuids: Collection[str] | None = None,
    limit: int = CLAIM_AT_ONCE,
) -> list[Claimed]:
    """Claim due commands, the oldest first. Commit before sending: the claim is the proof of an attempt.

    `client_uuids`: displays that just came online; their waiting commands are due now.
    """
    claimed = store.claim(connection, now, limit, only_ids, client_uuids)
    return [
        Claimed(
            id=due.id,
            client_uuid=due.client_uuid,
            payload=payload(due),
            expires_in=due.expires_at - now,
            lease_until=due.publish_lease_until,
            attempts=due.publish_attempts,
            traceparent=due.traceparent,
        )
        for due in sorted(claimed, key=lambda due: (due.created_at, due.id))
    ]


def record_publish_answers(
    connection: Connection, now: datetime, attempts: Sequence[Attempt], timings: Timings
) -> PublishReport:
    """Store the broker's answers and their consequences.

    1. Lock the clients in the order of their uuids; end the leases and store what each attempt proved.
    2. 0x00: the command is `sent`, and its lockout counts from now, even if the answer came after the lease.
    3. 0x87: the command failed. 0x10: recovery's command is cancelled and its lockout undone; others wait.
    """
    if not attempts:
        return PublishReport()
    store.lock_clients_of(connection, [attempt.command_id for attempt in attempts])
    waits = {attempt: next_publish_after(attempt, random.random()) for attempt in attempts}  # noqa: S311 - jitter
    held = set(store.note(connection, now, waits))
    accepted = [attempt.command_id for attempt in attempts if is_accepted(attempt.answer)]
    if accepted:
        store.mark_sent(connection, now, accepted)
        commands_store.raise_lockouts(connection, store.open_among(connection, accepted), now + timings.lockout)
    denied = _answered(attempts, held, PublishAnswer.NOT_AUTHORIZED)
    if denied:
        store.deny(connection, now, denied)
    unheard = _answered(attempts, held, PublishAnswer.NO_SUBSCRIBER)
    if unheard:
        store.cancel_unheard_recovery(connection, now, unheard)
    return _report(attempts)


def _answered(attempts: Sequence[Attempt], held: Collection[str], answer: PublishAnswer) -> list[str]:
    return [a.command_id for a in attempts if a.answer == answer and a.command_id in held]


def _report(attempts: Sequence[Attempt]) -> PublishReport:
    answers = [attempt.answer for attempt in attempts]
    sent = sum(is_accepted(answer) for answer in answers)
    no_subscriber = answers.count(PublishAnswer.NO_SUBSCRIBER)
    denied = answers.count(PublishAnswer.NOT_AUTHORIZED)
    unanswered = sum(attempt.answer is None and attempt.may_have_left for attempt in attempts)
    waiting = len(attempts) - sent - no_subscriber - denied - unanswered
    return PublishReport(sent, no_subscriber, denied, unanswered, waiting)


def publish_due(
    engine: Engine,
    publisher: "Publisher",
    timings: Timings,
    budget_seconds: float = BUDGET_SECONDS,
    only_ids: Collection[str] | None = None,
    client_uuids: Collection[str] | None = None,
) -> PublishReport:
    """Claim and publish due commands until none is left, the broker fails or the budget is over.

    In transactions of its own; the caller's must be committed. Raises nothing that the commands could not
    survive: a fault of the broker or the database is logged, and the rows stay due for the next publisher.
    """
    deadline = time.monotonic() + budget_seconds
    report = PublishReport()
    try:
        while time.monotonic() < deadline:
            with transaction(engine) as connection:
                claimed = claim_due(connection, database_now(connection), only_ids, client_uuids, CLAIM_IN_A_ROUND)
            attempts = _publish_all(publisher, claimed, deadline)
            with transaction(engine) as connection:
                report += record_publish_answers(connection, database_now(connection), attempts, timings)
            if len(claimed) < CLAIM_IN_A_ROUND or any(attempt.answer is None for attempt in attempts):
                break
    except SQLAlchemyError:
        failure("outbox_interrupted", "the outbox could not be worked off; its commands stay due")
    return report


def _publish_all(publisher: "Publisher", claimed: Sequence[Claimed], deadline: float) -> list[Attempt]:
    """Publish each command once; the message expires in the broker together with its command."""
    if not claimed:
        return []
    now = time.monotonic()
    messages = [
        publisher.command(one.client_uuid, one.payload, now + one.expires_in.total_seconds()) for one in claimed
    ]
    answers = publisher.publish_many(messages, deadline)
    return [_attempt(command, answer) for command, answer in zip(claimed, answers, strict=True)]


def _attempt(command: Claimed, answer: int | BrokerUnavailable) -> Attempt:
    """The attempt for this command, from the publisher's answer."""
    if isinstance(answer, int):
        return attempted(command, answer, may_have_left=answer < REFUSED_FROM)
    if not isinstance(answer, PublishUnanswered):
        event("broker_unavailable", "a command waits for the broker", command_id=command.id, reason=answer.detail)
    return attempted(command, None, may_have_left=isinstance(answer, PublishUnanswered))


def attempted(command: Claimed, answer: int | None, *, may_have_left: bool) -> Attempt:
    """The attempt for this command, and its log line."""
    event(
        "command_published",
        "a command was given to the broker" if may_have_left else "a command did not get to the broker",
        command_id=command.id,
        client_uuid=command.client_uuid,
        trace_id=trace_id(command.traceparent),
        attempt=command.attempts,
        answer=None if answer is None else f"0x{answer:02x}",
    )
    return Attempt(command.id, command.lease_until, command.attempts, answer, may_have_left)
