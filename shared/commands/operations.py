"""Use cases of commands: issue, cancel, end, and end overdue ones.

`outbox` publishes, `acks` stores ACKs, `proofs_operations` proves effects, `endings_store` ends commands.
"""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import Connection

from shared import trace
from shared.commands import endings_store, rules, store
from shared.commands.news_operations import news_of
from shared.commands.proofs_operations import settle_by_proof
from shared.commands.rules import CommandRequest, News, Timings
from shared.commands.store import CommandRow
from shared.config import Config
from shared.errors import (
    CommandInFlight,
    CommandNotCancellable,
    CommandNotFound,
    ServiceError,
)
from shared.postgres.door import scrub
from shared.vocabulary import CommandState


class ExpiryReport(Struct, frozen=True):
    """How many commands a sweep ended."""

    expired: int
    timed_out: int
    proven: int = 0
    """Succeeded by a proof: a new boot, a new start of the player, silence after a shutdown, or a screen's report."""
    disproved: int = 0
    """Failed by a proof: the machine did not reboot, or the screen did not switch."""
    overtaken: int = 0
    """Cancelled reboots that no display had, of machines that booted by themselves."""
    withdrawn: int = 0
    """Cancelled commands that no display had, whose maker may not send them any more."""
    news: tuple[News, ...] = ()
    """For the log, after the commit."""


def timings(config: Config) -> Timings:
    """The times of commands; the lockout is a setting."""
    lockout = timedelta(seconds=config["COMMAND_LOCKOUT_SECONDS"])
    return Timings(ttl=rules.USUAL_TTL, result=rules.RESULT_WITHIN, lockout=lockout)


def find(connection: Connection, command_id: str) -> CommandRow:
    """One command. Raises CommandNotFound."""
    row = store.get(connection, command_id)
    if row is None:
        raise CommandNotFound
    return row


def issue(connection: Connection, now: datetime, request: CommandRequest, timings: Timings) -> CommandRow:
    """Add a `queued` command.

    Publish it after the commit (`outbox.operations.publish_due`). One statement inserts the row and starts the lockout.
    Of concurrent requests exactly one wins; the others get an error.

    Raises:
        ClientNotFound: there is no such client.
        CommandInFlight: the client has an open command, or an open screenshot where one is asked for; checked before
            the others.
        NotCapable: the display says that it cannot do this.
        CommandLockedOut: a restart or reboot ran recently; `lockout_until` is the end.
        Refused: the time to live is out of bounds.
    """
    request = replace(request, reason=scrub(request.reason), traceparent=request.traceparent or trace.begin())
    rules.lifetime(request, timings)
    for row in store.insert(connection, now, {str(uuid.uuid4()): request}, timings):
        return row
    target = store.targets(connection, [request.client_uuid]).get(request.client_uuid)
    # another command was first and is over already; the caller may ask again
    raise rules.refusal(request, target, now) or CommandInFlight()


def issue_many(
    connection: Connection, now: datetime, requests: Sequence[CommandRequest], timings: Timings
) -> dict[str, CommandRow | ServiceError]:
    """Issue commands, each for another client. Returns by uuid the command or the error.

    One statement makes all commands, another finds the errors. The rules are those of `issue`.
    """
    traced = [replace(request, traceparent=request.traceparent or trace.begin()) for request in requests]
    made = store.insert(connection, now, {request.id or str(uuid.uuid4()): request for request in traced}, timings)
    answers: dict[str, CommandRow | ServiceError] = {command.client_uuid: command for command in made}
    refused = [request for request in requests if request.client_uuid not in answers]
    targets = store.targets(connection, [request.client_uuid for request in refused]) if refused else {}
    for request in refused:
        refusal = rules.refusal(request, targets.get(request.client_uuid), now)
        answers[request.client_uuid] = refusal or CommandInFlight()
    return answers


def cancel(connection: Connection, now: datetime, command_id: str, by: str) -> CommandRow:
    """Cancel a command that provably no display has, and restore the lockout. A cancelled one does not change.

    Raises:
        CommandNotFound: there is no such command.
        CommandNotCancellable: it is over, or a display may have it.
    """
    command = find(connection, command_id)
    store.lock_clients(connection, [command.client_uuid])
    if not endings_store.cancel(connection, now, command_id, rules.cancelled(by)):
        command = find(connection, command_id)
        if command.state != CommandState.CANCELLED:
            raise CommandNotCancellable(state=command.state)
    return find(connection, command_id)


def end(connection: Connection, now: datetime, command_id: str, by: str, reason: str) -> CommandRow:
    """End a command that a display may have; like `cancel` if provably no display has it.

    The service stops publishing it, but the broker or the display may hold it, and it may still run: the lockout
    stays, and a late result is stored. A repetition changes nothing.

    Raises:
        CommandNotFound: there is no such command.
        CommandNotCancellable: it is over already.
    """
    command = find(connection, command_id)
    store.lock_clients(connection, [command.client_uuid])
    ended = endings_store.cancel(connection, now, command_id, rules.cancelled(by))
    why = rules.ended(by, scrub(reason))
    if not ended and not endings_store.give_up(connection, now, command_id, why):
        command = find(connection, command_id)
        if not _is_withdrawn(command):
            raise CommandNotCancellable(state=command.state)
    return find(connection, command_id)


def _is_withdrawn(command: CommandRow) -> bool:
    why = rules.why_ended(command.state, command.outcome_reason)
    return command.state == CommandState.CANCELLED or (why is not None and why.code == "command_ended")


def abandon(connection: Connection, now: datetime, client_uuid: str, why: str) -> tuple[News, ...]:
    """End the open commands of a client whose row or login was deleted: no display will answer.

    Call it after that write, in the same transaction: a command issued before is ended here, a later one is refused.
    Log the news after the commit.
    """
    ended = endings_store.abandon(connection, now, client_uuid, why)
    return news_of("command_ended", connection, [one.id for one in ended])


def expire(connection: Connection, now: datetime) -> ExpiryReport:
    """End every command whose outcome is proven, that is past its deadline, or whose maker lost the right to it.

    Evidence comes first: a command that is proven done does not time out.
    """
    settled = settle_by_proof(connection, now)
    counts = (settled.proven, settled.disproved, settled.overtaken)
    theirs = {*endings_store.clients_overdue(connection, now), *endings_store.clients_lost(connection)}
    if not theirs:
        return ExpiryReport(0, 0, *counts, news=settled.news)
    store.lock_clients(connection, theirs)
    withdrawn = endings_store.withdraw(connection, now)
    expired, timed_out = endings_store.expire(connection, now), endings_store.time_out(connection, now)
    ended = news_of("command_ended", connection, [one.id for one in (*withdrawn, *expired, *timed_out)])
    return ExpiryReport(len(expired), len(timed_out), *counts, len(withdrawn), settled.news + ended)
