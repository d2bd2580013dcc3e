"""A batch of messages -> one transaction. What the database refuses is found and put aside; the rest commits."""

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from bridge.budget import OverBudget
from bridge.inbox import PutAside, Taken, put_aside
from bridge.leader import LeadershipLost
from bridge.outcomes import REGISTERING, BatchOutcome, LeaderMemory, MessagesByKind
from bridge.status import Counters
from shared.client_logs import drops_operations
from shared.client_logs import operations as client_logs
from shared.client_logs.rules import LogLine, MarksMoved, boot_of
from shared.clients import failures_operations, signs_operations
from shared.clients.failures_rules import Failure
from shared.clients.logins_rules import sharing
from shared.clients.repeats import operations as repeats
from shared.clients.repeats.rules import likeness_of_health, likeness_of_heartbeat, remembered
from shared.clients.reports import operations as reports
from shared.clients.reports.operations import HeartbeatsRecorded
from shared.clients.reports.rules import Health, Heartbeat, PresenceSaid
from shared.commands.acks import operations as acks
from shared.commands.rules import Ack, Sighting, Timings
from shared.leadership import operations as leadership
from shared.leadership import store as leadership_store
from shared.postgres.door import database_now, sqlstate
from shared.structured_log import event
from shared.vocabulary import DeadLetterReason

POISON_CLASSES: Final = frozenset({"21", "22", "23", "54"})
"""SQLSTATE classes that blame the data: cardinality, data exception, integrity, program limit.

All others (connection, resources, operator, also 42: a schema that does not fit) blame the database: the batch
is kept and tried again.
"""
Message = Taken | PutAside | OverBudget


@dataclass(frozen=True)
class TransactionTime:
    """The time of a transaction by the database, and by the bridge's monotonic clock."""

    now: datetime
    clock: float


@dataclass(frozen=True)
class Writer:
    """How batches are written: the leader's epoch and the settings that rule it."""

    epoch: int
    instance: str  # whose canary counts
    auto_register: bool  # CLIENT_AUTO_REGISTER
    timings: Timings
    listening_gap: timedelta
    """After this long without a commit the listening time begins anew."""
    memory: LeaderMemory
    stale_seconds: int = 180  # HEARTBEAT_STALE_SECONDS
    patient_from: float | None = None
    """Of a batch of the urgent session only: what it says of unknown clients and was heard after this can wait."""

    def write(self, connection: Connection, batch: Sequence[Message], counters: Counters, arrived: int) -> BatchOutcome:
        """Write the batch in one transaction, with the counters as they are once `arrived` messages more are committed.

        1. Everything at once. 2. When the data are to blame: again, halving by savepoints until the guilty
        messages stand alone. 3. Dead letters, canary and the bridge's record, which fails for a deposed leader.

        Raises:
            LeadershipLost: nothing was written.
            SQLAlchemyError, OSError: the database is to blame; nothing was written, the batch can be tried again.
        """
        try:
            return self._write_at_once(connection, batch, counters, arrived)
        except LeadershipLost:
            raise
        except MarksMoved:
            event("marks_moved", "a mark was not where it was remembered; writing the batch without that memory")
            self.memory.marks.clear()
        except Exception as error:
            if not is_poison(connection, error):
                raise
            event("batch_refused", "the database refused a batch; looking for the message that is to blame")
        return self._write_in_halves(connection, batch, counters, arrived)

    def _write_at_once(
        self, connection: Connection, batch: Sequence[Message], counters: Counters, arrived: int
    ) -> BatchOutcome:
        with connection.begin():
            at = TransactionTime(database_now(connection), time.monotonic())
            outcome = self._store(connection, at, taken_of(batch), self.memory)
            self._conclude(connection, at, batch, outcome)
            self._record(connection, at, outcome, counters, arrived)
        self.memory.keep(outcome)
        return outcome

    def _write_in_halves(
        self, connection: Connection, batch: Sequence[Message], counters: Counters, arrived: int
    ) -> BatchOutcome:
        """Write without memory of clients: what a savepoint takes back was not stored."""
        with connection.begin():
            at = TransactionTime(database_now(connection), time.monotonic())
            outcome = self._store_bisected(connection, at, taken_of(batch), self.memory.without_clients())
            self._conclude(connection, at, batch, outcome)
            self._record(connection, at, outcome, counters, arrived)
        self.memory.reports.forget([one.said.uuid for one in taken_of(batch) if one.said.uuid])
        outcome.cursor = None  # what changed since the memory's own last look is still to be forgotten
        self.memory.keep(outcome)
        return outcome

    def _conclude(
        self, connection: Connection, at: TransactionTime, batch: Sequence[Message], outcome: BatchOutcome
    ) -> None:
        """Write what is not stored (dead letters, lines over their budget), and who gave a sign of life by it."""
        outcome.refused += [one for one in batch if isinstance(one, PutAside)]
        letters = [(one.topic, one.payload, one.reason, one.detail) for one in outcome.refused]
        leadership.put_aside(connection, at.now, letters)
        numbers = [one.log_number for one in outcome.refused if one.log_number is not None]
        passed_over = client_logs.pass_over(connection, at.now, numbers)
        outcome.take_logs(passed_over, {boot[0]: at.clock for boot, _ in numbers})
        if new := outcome.began_anew - outcome.went_back:
            reports.note_went_back(connection, at.now, sorted(new))
            outcome.went_back |= new
        over = [one for one in batch if isinstance(one, OverBudget)]
        self._record_over_budget(connection, at, outcome, over)
        self._record_signs(connection, at, outcome, over)

    def _record(
        self, connection: Connection, at: TransactionTime, outcome: BatchOutcome, counters: Counters, arrived: int
    ) -> None:
        """Write the bridge's own record. Raises LeadershipLost."""
        counted = asdict(counters.with_outcome(outcome, arrived))
        if not leadership_store.mark_commit(connection, at.now, self.epoch, counted, self.listening_gap):
            raise LeadershipLost
        if self.patient_from is not None:
            return  # an urgent canary says nothing of how late heartbeats are
        if outcome.canary is not None and outcome.canary.instance == self.instance:
            back_at = at.now - timedelta(seconds=at.clock - outcome.canary.heard)
            leadership_store.record_canary(connection, self.epoch, back_at)

    def _record_over_budget(
        self, connection: Connection, at: TransactionTime, outcome: BatchOutcome, over: Sequence[OverBudget]
    ) -> None:
        """A display learns nothing of what is not stored: its mark stays; what is lost for good is counted."""
        dropped = Counter(one.uuid for one in over if not one.is_numbered)
        outcome.dropped_logs = dropped.total()
        outcome.deferred_logs = len(over) - outcome.dropped_logs
        if dropped:
            outcome.drop_rows = drops_operations.record(connection, at.now, dropped, self.memory.drop_rows)

    def _record_signs(
        self, connection: Connection, at: TransactionTime, outcome: BatchOutcome, over: Sequence[OverBudget]
    ) -> None:
        """Whoever sent something is alive, whether it was stored or not."""
        talked = outcome.talked
        talked |= dict([one.talker for one in outcome.refused if one.talker is not None])
        talked |= {one.uuid: at.clock for one in over}
        known = self.memory.signs
        outcome.signs = signs_operations.record(
            connection, at.now, at.clock, talked, outcome.beats, known, self.stale_seconds
        )

    def _store_bisected(
        self, connection: Connection, at: TransactionTime, taken: Sequence[Taken], memory: LeaderMemory
    ) -> BatchOutcome:
        try:
            with connection.begin_nested():
                return self._store(connection, at, taken, memory)
        except Exception as error:
            if not is_poison(connection, error):
                raise
            if len(taken) == 1:
                return BatchOutcome(refused=[_guilty(taken[0], error)])
        half = len(taken) // 2
        first = self._store_bisected(connection, at, taken[:half], memory)
        return first.absorb(self._store_bisected(connection, at, taken[half:], memory))

    def _store(
        self, connection: Connection, at: TransactionTime, taken: Sequence[Taken], memory: LeaderMemory
    ) -> BatchOutcome:
        """Every kind set-wise; the order between kinds is the one in which they need each other."""
        outcome = BatchOutcome()
        if self.patient_from is None:
            outcome.cursor = repeats.forget_changed(connection, memory.reports)
        batch = self._admit(connection, at, taken, outcome, memory)
        outcome.canary, outcome.talked, beats = batch.canary, batch.talked, batch.heartbeats
        _store_logs(connection, at, batch, outcome, memory)
        _store_repetitions(connection, at, batch, outcome, memory)
        _note_installs(connection, at, batch, outcome, memory)
        sightings, old = self._store_reports(connection, at, batch, outcome, memory)
        outcome.note_beats(beats, old)
        _believe(connection, beats, outcome, memory)
        if batch.presence:
            outcome.online = reports.record_presence(connection, at.now, batch.presence)
        self._store_acks(connection, at, batch, outcome, memory)
        outcome.news += acks.record_boot_evidence(connection, at.now, sightings).news
        return outcome

    def _admit(
        self,
        connection: Connection,
        at: TransactionTime,
        taken: Sequence[Taken],
        outcome: BatchOutcome,
        memory: LeaderMemory,
    ) -> MessagesByKind:
        """Those of known clients, and our own canary; the others are put aside."""
        uuids = {one.said.uuid for one in taken if one.said.uuid is not None}
        strangers = uuids - memory.reports.clients
        if strangers and memory.may_recall:
            strangers -= repeats.recall(connection, strangers, memory.reports)
        if strangers:
            asking = [one.said.uuid for one in taken if one.said.uuid and isinstance(one.said.body, REGISTERING)]
            strangers -= reports.admit(connection, at.now, sorted(strangers), asking, auto_register=self.auto_register)
        if strangers:
            theirs = [one for one in taken if one.said.uuid in strangers]
            outcome.early = [one for one in theirs if self._can_wait(one)]
            unknown = [one.arrival for one in theirs if not self._can_wait(one)]
            outcome.refused += [put_aside(one, DeadLetterReason.UNKNOWN_CLIENT, None) for one in unknown]
            taken = [one for one in taken if one.said.uuid not in strangers]
        outcome.stored = len(taken)
        outcome.bad_fields = sum([one.said.bad_fields for one in taken])
        return MessagesByKind.of(taken)

    def _can_wait(self, one: Taken) -> bool:
        is_presence = isinstance(one.said.body, PresenceSaid)
        return is_presence and self.patient_from is not None and one.arrival.heard > self.patient_from

    def _store_acks(
        self,
        connection: Connection,
        at: TransactionTime,
        batch: MessagesByKind,
        outcome: BatchOutcome,
        memory: LeaderMemory,
    ) -> None:
        """ACKs of the topic always; what heartbeat and health repeat only when it is something else than before."""
        said: list[Ack] = []
        for one in batch.acking:
            if one.said.body is not None:
                place, told = f"{one.said.uuid} {type(one.said.body).__name__}", hash(one.said.acks)
                if memory.acks.get(place) == told:
                    continue
                outcome.acks[place] = told
            said += one.said.acks
        if said:
            report = acks.record_acks(connection, at.now, said, self.timings)
            outcome.unknown_acks = len(report.unknown) + len(report.foreign)
            outcome.news += report.news
            memory.reports.forget(report.corrected)  # what it knows of their heartbeats is not what is stored now
            for uuid in report.corrected:
                outcome.heartbeats.pop(uuid, None)

    def _store_reports(
        self,
        connection: Connection,
        at: TransactionTime,
        batch: MessagesByKind,
        outcome: BatchOutcome,
        memory: LeaderMemory,
    ) -> tuple[list[Sighting], Collection[str]]:
        """Heartbeats, health and failures; who started anew, and the clients of whom an old heartbeat came."""
        sightings, old, failures = [], set[str](), batch.failures
        if batch.heartbeats:
            heartbeats = reports.record_heartbeats(connection, at.now, at.clock, batch.heartbeats)
            outcome.heartbeats |= remembered(heartbeats.newest, likeness_of_heartbeat)
            sightings, old = _started(connection, at, heartbeats, outcome, memory), heartbeats.old
        if batch.health:
            health = reports.record_health(connection, at.now, at.clock, batch.health, batch.repeated_failures)
            outcome.health |= remembered(health.newest, likeness_of_health)
            failures = sorted([*failures, *health.failures], key=_heard)
        if failures:
            failures_operations.record(connection, at.now, at.clock, failures)
        return sightings, old


def is_poison(connection: Connection, error: Exception) -> bool:
    """Are the data to blame? Not when the connection broke, nor when the database says that it is itself."""
    if connection.invalidated:
        return False
    if isinstance(error, DBAPIError):
        return (sqlstate(error) or "")[:2] in POISON_CLASSES
    return not isinstance(error, OSError)


def taken_of(batch: Sequence[Message]) -> list[Taken]:
    """The messages of the batch that are to be stored."""
    return [one for one in batch if isinstance(one, Taken)]


def _store_logs(
    connection: Connection, at: TransactionTime, batch: MessagesByKind, outcome: BatchOutcome, memory: LeaderMemory
) -> None:
    if not batch.logs:
        return
    stored = client_logs.record(connection, at.now, at.clock, batch.logs, memory.marks)
    outcome.duplicates = stored.duplicates
    outcome.given_up = stored.given_up
    outcome.take_logs(stored, {line.uuid: line.heard for line in batch.logs} if stored.doubted else {})


def _store_repetitions(
    connection: Connection, at: TransactionTime, batch: MessagesByKind, outcome: BatchOutcome, memory: LeaderMemory
) -> None:
    """Write the reports that only repeat what is stored; the others stay in the batch."""
    heartbeats = repeats.heartbeats(batch.heartbeats, memory.reports)
    repeated = repeats.repeat_heartbeats(connection, at.now, at.clock, heartbeats, memory.reports)
    batch.heartbeats, outcome.heartbeats = repeated.others, repeated.known
    failed = {failure.uuid for failure in batch.repeated_failures}
    health = repeats.health(batch.health, memory.reports, failed)
    reported = repeats.repeat_health(connection, at.now, at.clock, health, memory.reports)
    batch.health, outcome.health = reported.others, reported.known


def _note_installs(
    connection: Connection, at: TransactionTime, batch: MessagesByKind, outcome: BatchOutcome, memory: LeaderMemory
) -> None:
    """A new installation of a client becomes its newest: in order of arrival, before reports are compared."""
    told: list[Heartbeat | Health] = [*batch.heartbeats, *batch.health]
    known = memory.installs
    new: dict[tuple[str, str], None] = {}  # a dict for its order
    for report in sorted(told, key=_heard):
        if report.install_id is not None and known.get(report.uuid) != report.install_id:
            new[report.uuid, report.install_id] = None
    if new:
        reports.note_installs(connection, at.now, list(new))
        outcome.installs = dict(new.keys())


def _started(
    connection: Connection,
    at: TransactionTime,
    heartbeats: HeartbeatsRecorded,
    outcome: BatchOutcome,
    memory: LeaderMemory,
) -> list[Sighting]:
    """What starts mean for log lines and commands; of two devices with one login they mean nothing."""
    if heartbeats.lives:
        boots = [(life.uuid, life.install_id, life.boot_seq) for life in heartbeats.lives]
        client_logs.end_lives(connection, at.now, boots)
        outcome.end(boots)
    shared = sharing(heartbeats.sights, memory.seen) if heartbeats.sights else set()
    outcome.went_back |= {life.uuid for life in heartbeats.lives if life.went_back} - shared
    if shared:
        outcome.shared |= reports.note_shared_logins(connection, at.now, sorted(shared))
    started = [start for start in heartbeats.started if start.uuid not in shared]
    return [Sighting(start.uuid, start.boot_id, start.app_instance) for start in started]


def _believe(connection: Connection, beats: Sequence[Heartbeat], outcome: BatchOutcome, memory: LeaderMemory) -> None:
    """A heartbeat of the same boot came after lines that came again: they were the same lines."""
    doubts = memory.doubts | outcome.doubts
    if not doubts:
        return
    later = {beat.uuid for beat in beats if beat.uuid in doubts and beat.heard > doubts[beat.uuid]}
    later &= outcome.heartbeats.keys() - {boot[0] for boot in outcome.over}
    if later:
        outcome.committed |= client_logs.believe(connection, later)
        outcome.believed |= later
        for uuid in later & outcome.doubts.keys():
            del outcome.doubts[uuid]


def _heard(report: Heartbeat | Health | Failure) -> float:
    return report.heard


def _guilty(one: Taken, error: Exception) -> PutAside:
    """The message that the database refused; the detail names the error, never its text, which may quote data."""
    state = sqlstate(error) if isinstance(error, DBAPIError) else None
    detail = f"SQLSTATE {state}" if state else type(error).__name__
    event("message_refused", "the database refused a message", client_uuid=one.said.uuid, detail=detail)
    body = one.said.body
    boot = boot_of(body) if isinstance(body, LogLine) else None
    number = (boot, body.seq) if isinstance(body, LogLine) and boot is not None and body.seq is not None else None
    return put_aside(one.arrival, DeadLetterReason.REFUSED_BY_DATABASE, detail, number)
