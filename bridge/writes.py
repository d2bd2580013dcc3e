"""Write a batch of messages in one transaction. A message that the database refuses is put aside, the rest commits."""

import logging
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from bridge.batches import OverBudget, Weighed
from bridge.inbox import REGISTERING, MessagesByKind, PutAside, Taken, put_aside
from bridge.leader import LeadershipLost
from bridge.status import Counters
from bridge.storing import BatchOutcome, LeaderMemory, Storing
from shared.client_logs import drops_operations
from shared.client_logs import operations as client_logs
from shared.client_logs.rules import LogLine, boot_of
from shared.clients import signs_operations
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import PresenceReport
from shared.commands.rules import Timings
from shared.leadership import operations as leadership
from shared.leadership import store as leadership_store
from shared.postgres.door import database_now, sqlstate
from shared.structured_log import event, failure
from shared.vocabulary import DeadLetterReason

POISON_CLASSES: Final = frozenset({"21", "22", "23", "54"})
"""SQLSTATE classes that blame the data: cardinality, data exception, integrity, program limit.

All others (connection, resources, operator, also 42: a schema that does not fit) blame the database: the batch
is kept and tried again.
"""


class Writer(Struct, frozen=True):
    """Writes batches for one leader, under its epoch and the settings."""

    epoch: int
    instance: str  # this bridge: only its own canary counts
    auto_register: bool  # CLIENT_AUTO_REGISTER
    timings: Timings
    memory: LeaderMemory
    stale_seconds: int = 180  # HEARTBEAT_STALE_SECONDS
    patient_from: float | None = None
    """Urgent session only: presence of an unknown client can wait when it was heard after this (monotonic seconds)."""

    def write(self, connection: Connection, batch: Sequence[Weighed], counters: Counters, arrived: int) -> BatchOutcome:
        """Write the batch in one transaction, with the counters increased by it; `arrived` are new from the broker.

        1. Store all messages at once. 2. When the data are to blame, start again and halve the batch by savepoints
        until each guilty message stands alone. 3. Write dead letters, the canary and the bridge's own record; the
        record fails when another bridge leads.

        Raises:
            LeadershipLost: another bridge leads; nothing was written.
            SQLAlchemyError, OSError: the database is to blame; nothing was written, retry the batch.
        """
        try:
            return self._write_at_once(connection, batch, counters, arrived)
        except LeadershipLost:
            raise
        except Exception as error:
            if not is_poison(connection, error):
                raise
            _tell_of_batch(error)
        return self._write_in_halves(connection, batch, counters, arrived)

    def _write_at_once(
        self, connection: Connection, batch: Sequence[Weighed], counters: Counters, arrived: int
    ) -> BatchOutcome:
        with connection.begin():
            storing = Storing(connection, database_now(connection), time.monotonic(), self.memory)
            self._store(storing, [one for one in batch if isinstance(one, Taken)])
            self._conclude(storing, batch)
            self._record(storing, counters, arrived)
        self.memory.keep(storing.outcome)
        return storing.outcome

    def _write_in_halves(
        self, connection: Connection, batch: Sequence[Weighed], counters: Counters, arrived: int
    ) -> BatchOutcome:
        """Write without a memory of clients: it could remember reports that a savepoint rolled back."""
        taken = [one for one in batch if isinstance(one, Taken)]
        with connection.begin():
            forgetful = self.memory.without_clients()
            storing = Storing(connection, database_now(connection), time.monotonic(), forgetful)
            self._store_bisected(storing, taken)
            self._conclude(storing, batch)
            self._record(storing, counters, arrived)
        self.memory.reports.forget([one.message.uuid for one in taken if one.message.uuid])
        self.memory.keep(storing.outcome)
        return storing.outcome

    def _store_bisected(self, whole: Storing, taken: Sequence[Taken]) -> None:
        part = whole.part()
        try:
            with whole.connection.begin_nested():
                self._store(part, taken)
        except Exception as error:
            if not taken or not is_poison(whole.connection, error):
                raise
            if len(taken) == 1:
                whole.outcome.refused.append(_guilty(taken[0], error))
                return
        else:
            whole.outcome.absorb(part.outcome)
            return
        half = len(taken) // 2
        self._store_bisected(whole, taken[:half])
        self._store_bisected(whole, taken[half:])

    def _store(self, storing: Storing, taken: Sequence[Taken]) -> None:
        """Store the messages of known clients, and of clients that these messages register."""
        if self.patient_from is None:
            storing.forget_changed()
        storing.store(self._admit(storing, taken), self.timings)

    def _admit(self, storing: Storing, taken: Sequence[Taken]) -> MessagesByKind:
        """Sort by kind the messages of known clients and the canary. Messages of unknown clients are put aside."""
        outcome = storing.outcome
        strangers = storing.unknown({one.message.uuid for one in taken if one.message.uuid is not None})
        if strangers:
            messages = [one.message for one in taken]
            asking = [one.uuid for one in messages if one.uuid and isinstance(one.body, REGISTERING)]
            strangers -= reports.admit(
                storing.connection, storing.now, sorted(strangers), asking, auto_register=self.auto_register
            )
        if strangers:
            theirs = [one for one in taken if one.message.uuid in strangers]
            outcome.early = [one for one in theirs if self._can_wait(one)]
            unknown = [one.arrival for one in theirs if not self._can_wait(one)]
            outcome.refused += [put_aside(one, DeadLetterReason.UNKNOWN_CLIENT, None) for one in unknown]
            taken = [one for one in taken if one.message.uuid not in strangers]
        outcome.stored = len(taken)
        outcome.bad_fields = sum([one.message.bad_fields for one in taken])
        return MessagesByKind.of(taken)

    def _can_wait(self, one: Taken) -> bool:
        is_presence = isinstance(one.message.body, PresenceReport)
        return is_presence and self.patient_from is not None and one.arrival.heard > self.patient_from

    def _conclude(self, storing: Storing, batch: Sequence[Weighed]) -> None:
        """Write the dead letters, count the log lines over budget, and record signs of life."""
        connection, now, outcome = storing.connection, storing.now, storing.outcome
        outcome.refused += [one for one in batch if isinstance(one, PutAside)]
        letters = [(one.topic, one.payload, one.reason, one.detail) for one in outcome.refused]
        leadership.put_aside(connection, now, letters)
        numbers = [one.log_number for one in outcome.refused if one.log_number is not None]
        passed_over = client_logs.pass_over(connection, now, numbers)
        outcome.take_logs(passed_over, {boot[0]: storing.clock for boot, _ in numbers})
        if new := outcome.began_anew - outcome.went_back:
            reports.note_went_back(connection, now, sorted(new))
            outcome.went_back |= new
        over = [one for one in batch if isinstance(one, OverBudget)]
        self._record_over_budget(storing, over)
        self._record_signs(storing, over)

    def _record_over_budget(self, storing: Storing, over: Sequence[OverBudget]) -> None:
        """Count the log lines that are lost for good. The display's mark stays where it is."""
        outcome, dropped = storing.outcome, Counter(one.uuid for one in over if not one.is_numbered)
        outcome.dropped_logs = dropped.total()
        outcome.deferred_logs = len(over) - outcome.dropped_logs
        if dropped:
            outcome.drop_rows = drops_operations.record(storing.connection, storing.now, dropped, self.memory.drop_rows)

    def _record_signs(self, storing: Storing, over: Sequence[OverBudget]) -> None:
        """Record a sign of life of each client that sent a message, whether the message was stored or not."""
        outcome, clock = storing.outcome, storing.clock
        talked = outcome.talked
        talked |= dict([one.talker for one in outcome.refused if one.talker is not None])
        talked |= {one.uuid: clock for one in over}
        known, stale = self.memory.signs, self.stale_seconds
        outcome.signs = signs_operations.record(
            storing.connection, storing.now, clock, talked, outcome.beats, known, stale
        )

    def _record(self, storing: Storing, counters: Counters, arrived: int) -> None:
        """Write the bridge's own record. Raises LeadershipLost."""
        connection, outcome = storing.connection, storing.outcome
        counted = asdict(counters.with_outcome(outcome, arrived))
        if not leadership_store.mark_commit(connection, storing.now, self.epoch, counted):
            raise LeadershipLost
        if self.patient_from is not None:
            return  # heartbeats wait in the bulk queue: only a bulk canary tells how late they are
        if outcome.canary is not None and outcome.canary.instance == self.instance:
            back_at = storing.now - timedelta(seconds=storing.clock - outcome.canary.heard)
            leadership_store.record_canary(connection, self.epoch, back_at)


def is_poison(connection: Connection, error: Exception) -> bool:
    """Whether the data are to blame: not when the connection broke, the SQLSTATE blames the database or memory ends."""
    if connection.invalidated:
        return False
    if isinstance(error, DBAPIError):
        return (sqlstate(error) or "")[:2] in POISON_CLASSES
    return not isinstance(error, OSError | MemoryError)


def _tell_of_batch(error: Exception) -> None:
    """The place in the code where it is our own code that failed. The database's own text may quote data."""
    line = "a batch could not be stored; looking for the message that is to blame"
    if isinstance(error, DBAPIError):
        event("batch_refused", line, logging.ERROR, detail=f"SQLSTATE {sqlstate(error)}")
    else:
        failure("batch_refused", line)


def _guilty(one: Taken, error: Exception) -> PutAside:
    """Put aside a message that cannot be stored: a fault of the service, because wrong messages are refused earlier.

    All other messages are stored, so the fleet is heard. The detail is the error's code, because its text may quote
    data.
    """
    state = sqlstate(error) if isinstance(error, DBAPIError) else None
    detail = f"SQLSTATE {state}" if state else type(error).__name__
    event("message_refused", "a message was put aside", logging.ERROR, client_uuid=one.message.uuid, detail=detail)
    body = one.message.body
    boot = boot_of(body) if isinstance(body, LogLine) else None
    number = (boot, body.seq) if isinstance(body, LogLine) and boot is not None and body.seq is not None else None
    return put_aside(one.arrival, DeadLetterReason.REFUSED_BY_DATABASE, detail, number)
