"""Store the messages of a batch kind by kind, inside a transaction that the writer opened."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Connection

from bridge.inbox import Taken
from bridge.messages import Canary
from bridge.outcomes import BatchOutcome, LeaderMemory
from shared.client_logs import operations as client_logs
from shared.client_logs.rules import LogLine
from shared.clients import failures_operations
from shared.clients.failures_rules import ServiceFailure
from shared.clients.logins_rules import sharing
from shared.clients.repeats import operations as repeats
from shared.clients.repeats.rules import likeness_of_health, likeness_of_heartbeat, remembered
from shared.clients.reports import operations as reports
from shared.clients.reports.operations import HeartbeatsRecorded
from shared.clients.reports.rules import HealthReport, Heartbeat, PresenceSaid
from shared.commands.acks import operations as acks
from shared.commands.rules import Ack, Sighting, Timings
from shared.vocabulary import Presence

REGISTERING = (Heartbeat, HealthReport, LogLine, ServiceFailure)
"""What makes an unknown uuid a client; a retained presence or an ACK does not."""


@dataclass
class MessagesByKind:
    """Messages of one batch by kind, each in order of arrival."""

    heartbeats: list[Heartbeat] = field(default_factory=list)
    health: list[HealthReport] = field(default_factory=list)
    logs: list[LogLine] = field(default_factory=list)
    failures: list[ServiceFailure] = field(default_factory=list)
    repeated_failures: list[ServiceFailure] = field(default_factory=list)
    presence: list[PresenceSaid] = field(default_factory=list)
    acking: list[Taken] = field(default_factory=list)  # whatever carries ACKs
    brief: list[Taken] = field(default_factory=list)  # presence, and what is nothing but an ACK
    canary: Canary | None = None  # the last one
    talked: dict[str, float] = field(default_factory=dict)  # uuid -> when anything but a heartbeat of it was heard

    @classmethod
    def of(cls, taken: Iterable[Taken]) -> "MessagesByKind":
        """Sort these messages."""
        batch = cls()
        for one in taken:
            batch.add(one)
        told: list[HealthReport | LogLine | ServiceFailure] = [*batch.health, *batch.logs, *batch.failures]
        batch.talked = {one.uuid: one.heard for one in told}
        batch.talked |= {one.said.uuid: one.arrival.heard for one in batch.brief if one.said.uuid and _is_sign(one)}
        return batch

    def add(self, one: Taken) -> None:
        """Add a message to the list of its kind."""
        match one.said.body:
            case Heartbeat() as body:
                self.heartbeats.append(body)
            case HealthReport() as body:
                self.health.append(body)
            case LogLine() as body:
                self.logs.append(body)
            case ServiceFailure() as body:
                self.failures.append(body)
            case PresenceSaid() as body:
                self.presence.append(body)
                self.brief.append(one)
            case Canary() as body:
                self.canary = body
            case None:
                self.brief.append(one)
        if one.said.acks:
            self.acking.append(one)
        if one.said.repeated_failure is not None:
            self.repeated_failures.append(one.said.repeated_failure)


def _is_sign(one: Taken) -> bool:
    """Did the display send it just now? `offline` may be its will, and the broker may have kept an old presence."""
    body = one.said.body
    return not isinstance(body, PresenceSaid) or (body.state is Presence.ONLINE and not one.arrival.is_retained)


@dataclass
class Storing:
    """One transaction, or a part of it that a savepoint may take back, and what storing messages in it came to."""

    connection: Connection
    now: datetime  # of the transaction, by the database
    clock: float  # the same moment in monotonic seconds
    memory: LeaderMemory
    outcome: BatchOutcome = field(default_factory=BatchOutcome)

    def part(self) -> "Storing":
        """A part of this transaction, with an outcome of its own."""
        return Storing(self.connection, self.now, self.clock, self.memory)

    def forget_changed(self) -> None:
        """Forget the clients that somebody else changed since the last look."""
        self.outcome.cursor = repeats.forget_changed(self.connection, self.memory.reports)

    def unknown(self, uuids: set[str]) -> set[str]:
        """The uuids that the memory does not know as clients. What is stored of them is recalled first."""
        strangers = uuids - self.memory.reports.clients
        if strangers and self.memory.may_recall:
            strangers -= repeats.recall(self.connection, strangers, self.memory.reports)
        return strangers

    def store(self, batch: MessagesByKind, timings: Timings) -> None:
        """Store each kind as a set, in the order in which the kinds need each other."""
        outcome, beats = self.outcome, batch.heartbeats
        outcome.canary, outcome.talked = batch.canary, batch.talked
        self._store_logs(batch)
        self._store_repetitions(batch)
        self._note_installs(batch)
        sightings, old = self._store_reports(batch)
        outcome.note_beats(beats, old)
        self._believe(beats)
        if batch.presence:
            outcome.online = reports.record_presence(self.connection, self.now, batch.presence)
        self._store_acks(batch, timings)
        outcome.news += acks.record_boot_evidence(self.connection, self.now, sightings).news

    def _store_logs(self, batch: MessagesByKind) -> None:
        if not batch.logs:
            return
        stored = client_logs.record(self.connection, self.now, self.clock, batch.logs, self.memory.marks)
        self.outcome.duplicates = stored.duplicates
        self.outcome.given_up = stored.given_up
        self.outcome.take_logs(stored, {line.uuid: line.heard for line in batch.logs} if stored.doubted else {})

    def _store_repetitions(self, batch: MessagesByKind) -> None:
        """Write the reports that only repeat what is stored. The others stay in the batch."""
        known, failed = self.memory.reports, {failure.uuid for failure in batch.repeated_failures}
        heartbeats = repeats.heartbeats(batch.heartbeats, known)
        repeated = repeats.repeat_heartbeats(self.connection, self.now, self.clock, heartbeats, known)
        batch.heartbeats, self.outcome.heartbeats = repeated.others, repeated.known
        health = repeats.health(batch.health, known, failed)
        reported = repeats.repeat_health(self.connection, self.now, self.clock, health, known)
        batch.health, self.outcome.health = reported.others, reported.known

    def _note_installs(self, batch: MessagesByKind) -> None:
        """Make a new installation of a client its newest: in order of arrival, before reports are compared."""
        told: list[Heartbeat | HealthReport] = [*batch.heartbeats, *batch.health]
        known = self.memory.installs
        new: dict[tuple[str, str], None] = {}  # a dict for its order
        for report in sorted(told, key=_heard):
            if report.install_id is not None and known.get(report.uuid) != report.install_id:
                new[report.uuid, report.install_id] = None
        if new:
            reports.note_installs(self.connection, self.now, list(new))
            self.outcome.installs = dict(new.keys())

    def _store_reports(self, batch: MessagesByKind) -> tuple[list[Sighting], Collection[str]]:
        """Store heartbeats, health and failures. Returns who started anew, and the clients of an old heartbeat."""
        sightings, old, failures = [], set[str](), batch.failures
        if batch.heartbeats:
            heartbeats = reports.record_heartbeats(self.connection, self.now, self.clock, batch.heartbeats)
            self.outcome.heartbeats |= remembered(heartbeats.newest, likeness_of_heartbeat)
            sightings, old = self._started(heartbeats), heartbeats.old
        if batch.health:
            repeated = batch.repeated_failures
            health = reports.record_health(self.connection, self.now, self.clock, batch.health, repeated)
            self.outcome.health |= remembered(health.newest, likeness_of_health)
            failures = sorted([*failures, *health.failures], key=_heard)
        if failures:
            failures_operations.record(self.connection, self.now, self.clock, failures)
        return sightings, old

    def _started(self, heartbeats: HeartbeatsRecorded) -> list[Sighting]:
        """What starts mean for log lines and commands. Where two devices share a login they mean nothing."""
        if heartbeats.lives:
            boots = [(life.uuid, life.install_id, life.boot_seq) for life in heartbeats.lives]
            client_logs.end_lives(self.connection, self.now, boots)
            self.outcome.end(boots)
        shared = sharing(heartbeats.sights, self.memory.seen) if heartbeats.sights else set()
        self.outcome.went_back |= {life.uuid for life in heartbeats.lives if life.went_back} - shared
        if shared:
            self.outcome.shared |= reports.note_shared_logins(self.connection, self.now, sorted(shared))
        started = [start for start in heartbeats.started if start.uuid not in shared]
        return [Sighting(start.uuid, start.boot_id, start.app_instance) for start in started]

    def _believe(self, beats: Sequence[Heartbeat]) -> None:
        """Believe doubted log lines whose boot still sends heartbeats: they were the same lines, sent again."""
        outcome, doubts = self.outcome, self.memory.doubts | self.outcome.doubts
        if not doubts:
            return
        later = {beat.uuid for beat in beats if beat.uuid in doubts and beat.heard > doubts[beat.uuid]}
        later &= outcome.heartbeats.keys() - {boot[0] for boot in outcome.over}
        if later:
            outcome.committed |= client_logs.believe(self.connection, later)
            outcome.believed |= later
            for uuid in later & outcome.doubts.keys():
                del outcome.doubts[uuid]

    def _store_acks(self, batch: MessagesByKind, timings: Timings) -> None:
        """Record the ACKs of the topic. What heartbeat or health repeats is recorded when it says something new."""
        said: list[Ack] = []
        for one in batch.acking:
            if one.said.body is not None:
                place, told = f"{one.said.uuid} {type(one.said.body).__name__}", hash(one.said.acks)
                if self.memory.acks.get(place) == told:
                    continue
                self.outcome.acks[place] = told
            said += one.said.acks
        if said:
            report = acks.record_acks(self.connection, self.now, said, timings)
            self.outcome.unknown_acks = len(report.unknown) + len(report.foreign)
            self.outcome.news += report.news
            self.memory.reports.forget(report.corrected)  # their heartbeats are stored otherwise now
            for uuid in report.corrected:
                self.outcome.heartbeats.pop(uuid, None)


def _heard(report: Heartbeat | HealthReport | ServiceFailure) -> float:
    return report.heard
