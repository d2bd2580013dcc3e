"""Store the messages of a batch kind by kind, inside a transaction that the writer opened, and return the outcome.

The leader may remember an outcome only after the commit.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import asdict, replace
from sqlalchemy import Connection

from bridge.inbox import MessagesByKind, PutAside, Taken
from bridge.messages import Canary
from shared.client_logs import operations as client_logs
from shared.client_logs.drops_rules import DropRow
from shared.client_logs.operations import LogsStored
from shared.client_logs.rules import Boot, has_ended
from shared.clients import failures_operations
from shared.clients.failures_rules import ServiceFailure
from shared.clients.logins_rules import Seen, sharing
from shared.clients.repeats import operations as repeats
from shared.clients.repeats.rules import likeness_of_health, likeness_of_heartbeat, remembered
from shared.clients.reports import operations as reports
from shared.clients.reports.operations import HeartbeatsRecorded
from shared.clients.reports.rules import USUAL_SECONDS, HealthReport, Heartbeat
from shared.clients.signs_rules import SignsMemory
from shared.commands.acks import operations as acks
from shared.commands.proofs_operations import record_new_starts, record_screens
from shared.commands.rules import Ack, News, Sighting, Timings
from shared.expectations import operations as expectations
from shared.structured_log import event
from shared.vocabulary import BAD_SCREENS


class BatchOutcome(Struct):
    """The outcome of writing a batch. It takes effect outside the database only after the commit."""

    stored: int = 0
    changes: int = 0  # reports that do more than repeat the stored one; presence and failures
    bad_fields: int = 0
    duplicates: int = 0  # log lines that were stored before
    given_up: int = 0  # numbers of log lines that never came: the bridge stops waiting for them
    dropped_logs: int = 0  # plain log lines over their client's budget
    deferred_logs: int = 0  # numbered log lines over their client's budget
    unknown_acks: int = 0  # ACKs of commands never issued, or of another client's commands
    news: list[News] = field(default_factory=list)  # changes of commands, for the log
    refused: list[PutAside] = field(default_factory=list)
    early: list[Taken] = field(default_factory=list)  # presence of unknown clients, to retry: not stored, not refused
    committed: dict[Boot, int] = field(default_factory=dict)  # log lines up to this number are stored
    online: set[str] = field(default_factory=set)
    canary: Canary | None = None
    installs: dict[str, str] = field(default_factory=dict)
    acks: dict[str, int] = field(default_factory=dict)
    drop_rows: dict[str, DropRow] | None = None  # None: as before
    heartbeats: dict[str, tuple[int, int]] = field(default_factory=dict)  # see ReportsMemory
    health: dict[str, tuple[int, int]] = field(default_factory=dict)
    beats: dict[str, tuple[float, int]] = field(default_factory=dict)  # heartbeats that are stored; see SignsMemory
    talked: dict[str, float] = field(default_factory=dict)  # uuid -> when its last message, not a heartbeat, was heard
    signs: dict[str, float] = field(default_factory=dict)  # uuid -> sign of life that is stored; see SignsMemory
    cursor: str | None = None  # None: unchanged
    doubts: dict[str, float] = field(default_factory=dict)  # uuid -> when doubted log lines came; see `_believe`
    believed: set[str] = field(default_factory=set)  # clients whose log lines are no longer doubted
    over: set[Boot] = field(default_factory=set)  # ended boots: they and later boots may be numbered from 1 again
    went_back: set[str] = field(default_factory=set)  # clients whose counters went back
    shared: set[str] = field(default_factory=set)  # clients whose login is used by two devices
    began_anew: set[str] = field(default_factory=set)  # clients whose log lines number a boot from 1 again

    @property
    def has_news(self) -> bool:
        """Whether a display told something new, other than in its logs."""
        return bool(self.changes or self.news)

    def take_logs(self, stored: LogsStored, heard: Mapping[str, float]) -> None:
        """Add the result of storing logs. A doubted mark is sent to nobody. `heard`: when its lines came, by client."""
        self.committed |= stored.committed
        for boot in stored.doubted:
            self.committed.pop(boot, None)
            self.doubts[boot[0]] = heard[boot[0]]
        self.began_anew |= stored.began_anew

    def note_beats(self, heartbeats: Iterable[Heartbeat], old: Collection[str]) -> None:
        """Note whose heartbeats are stored: all but those of `old`, which are older than the stored ones."""
        for one in heartbeats:
            if one.uuid in old:
                self.talked[one.uuid] = one.heard
            else:
                self.beats[one.uuid] = (one.heard, one.interval_seconds or USUAL_SECONDS)

    def end(self, boots: Collection[Boot]) -> None:
        """End these boots. No mark is sent for them, nor for later boots of their installations."""
        self.over |= set(boots)
        for ended in boots:
            for boot in [one for one in self.committed if has_ended(one, ended)]:
                del self.committed[boot]

    def absorb(self, later: "BatchOutcome") -> "BatchOutcome":
        """Add the outcome of the messages that follow.

        Not added is what `bridge.writes` sets once for the whole batch, nor `cursor`: a part forgets changed clients in
        a memory of its own, so with its cursor the leader's memory would skip their changes.
        """
        self.stored += later.stored
        self.changes += later.changes
        self.bad_fields += later.bad_fields
        self.duplicates += later.duplicates
        self.given_up += later.given_up
        self.unknown_acks += later.unknown_acks
        self.news += later.news
        self.refused += later.refused
        self.early += later.early
        self.committed |= later.committed
        self.online |= later.online
        self.canary = later.canary or self.canary
        self.installs |= later.installs
        self.acks |= later.acks
        self.heartbeats |= later.heartbeats
        self.health |= later.health
        self.beats |= later.beats
        self.talked |= later.talked
        self.doubts |= later.doubts
        self.believed |= later.believed
        self.over |= later.over
        self.shared |= later.shared
        self.began_anew |= later.began_anew
        self.went_back |= later.went_back
        return self


def tell_of_counters(outcome: BatchOutcome) -> None:
    """Log each display whose counter went back, and each login that two devices use."""
    for uuid in sorted(outcome.went_back):
        event("counter_went_back", "a display numbers its messages from 1 again", client_uuid=uuid)
    for uuid in sorted(outcome.shared):
        event("shared_login", "two devices use one login", client_uuid=uuid)


class LeaderMemory(Struct):
    """A cache of committed data that need not be written again. Losing it is harmless.

    It must be forgotten when the database may have lost commits (a failover, a restored backup).
    """

    installs: dict[str, str] = field(default_factory=dict)  # uuid -> its installation
    acks: dict[str, int] = field(default_factory=dict)  # "uuid kind-of-report" -> hash of the ACKs that it repeated
    drop_rows: dict[str, DropRow] = field(default_factory=dict)  # uuid -> the log line that counts dropped messages
    reports: repeats.ReportsMemory = field(default_factory=repeats.ReportsMemory)
    signs: SignsMemory = field(default_factory=SignsMemory)
    doubts: dict[str, float] = field(default_factory=dict)  # uuid -> when lines came that wait for a heartbeat
    seen: Seen = field(default_factory=Seen)  # devices, to find two that share a login
    may_recall: bool = True
    """Whether stored reports may be read into this memory. False inside savepoints: they may be rolled back."""

    def forget(self) -> None:
        """Forget everything, in place: several objects hold this memory."""
        for name, value in asdict(LeaderMemory()).items():
            setattr(self, name, value)

    def without_clients(self) -> "LeaderMemory":
        """A memory that knows no client and learns of none."""
        return LeaderMemory(drop_rows=self.drop_rows, signs=self.signs, may_recall=False)

    def keep(self, outcome: BatchOutcome) -> None:
        """Remember what a committed batch wrote."""
        self.installs |= outcome.installs
        self.acks |= outcome.acks
        if outcome.drop_rows is not None:
            self.drop_rows = outcome.drop_rows
        self.reports.heartbeats |= outcome.heartbeats
        self.reports.health |= outcome.health
        self.reports.cursor = outcome.cursor or self.reports.cursor
        self.signs.heartbeats |= outcome.beats
        self.signs.signs |= outcome.signs
        for uuid in outcome.believed:
            self.doubts.pop(uuid, None)
        self.doubts |= outcome.doubts


class Storing(Struct):
    """One transaction, or one savepoint in it, and the outcome of storing messages there."""

    connection: Connection
    now: datetime  # the transaction's time, by the database
    clock: float  # the same time in monotonic seconds
    memory: LeaderMemory
    outcome: BatchOutcome = field(default_factory=BatchOutcome)

    def part(self) -> "Storing":
        """A part of this transaction, with an outcome of its own."""
        return Storing(self.connection, self.now, self.clock, self.memory)

    def forget_changed(self) -> None:
        """Forget the clients that another process changed since the last call."""
        self.outcome.cursor = repeats.forget_changed(self.connection, self.memory.reports)

    def unknown(self, uuids: set[str]) -> set[str]:
        """The uuids that are no clients, by the memory. Stored clients are first read into the memory."""
        strangers = uuids - self.memory.reports.clients
        if strangers and self.memory.may_recall:
            strangers -= repeats.recall(self.connection, strangers, self.memory.reports)
        return strangers

    def store(self, batch: MessagesByKind, timings: Timings) -> None:
        """Store each kind as a set, in the order in which the kinds need each other."""
        outcome = self.outcome
        outcome.canary, outcome.talked = batch.canary, batch.talked
        self._store_logs(batch)
        batch = replace(batch, health=expectations.judge(self.connection, batch.health)) if batch.health else batch
        rest = self._store_repetitions(batch)
        outcome.changes = len(rest.heartbeats) + len(rest.health) + len(batch.presence) + len(batch.failures)
        self._note_installs(rest)
        sightings, old = self._store_reports(rest)
        outcome.note_beats(batch.heartbeats, old)
        self._believe(batch.heartbeats)
        if batch.presence:
            outcome.online = reports.record_presence(self.connection, self.now, batch.presence)
        answered = self._store_acks(batch, timings)
        outcome.news += record_new_starts(self.connection, self.now, sightings).news
        outcome.news += record_screens(self.connection, self.now, answered | {one.uuid for one in rest.health})

    def _store_logs(self, batch: MessagesByKind) -> None:
        if not batch.logs:
            return
        stored = client_logs.record(self.connection, self.now, self.clock, batch.logs)
        self.outcome.duplicates = stored.duplicates
        self.outcome.given_up = stored.given_up
        self.outcome.take_logs(stored, {line.uuid: line.heard for line in batch.logs} if stored.doubted else {})

    def _store_repetitions(self, batch: MessagesByKind) -> MessagesByKind:
        """Write the heartbeats and health reports that only repeat what is stored. Returns the batch without them."""
        known, failed = self.memory.reports, {failure.uuid for failure in batch.repeated_failures}
        heartbeats = repeats.sorted_heartbeats(batch.heartbeats, known)
        repeated = repeats.repeat_heartbeats(self.connection, self.now, self.clock, heartbeats, known)
        self.outcome.heartbeats = repeated.known
        health = repeats.sorted_health(batch.health, known, failed)
        reported = repeats.repeat_health(self.connection, self.now, self.clock, health, known)
        self.outcome.health = reported.known
        return replace(batch, heartbeats=repeated.others, health=reported.others)

    def _note_installs(self, batch: MessagesByKind) -> None:
        """Make a new installation of a client its newest: in order of arrival, before reports are compared."""
        stamped: list[Heartbeat | HealthReport] = [*batch.heartbeats, *batch.health]
        known = self.memory.installs
        new: dict[tuple[str, str], None] = {}  # a dict for its order
        for report in sorted(stamped, key=_heard):
            if report.install_id is not None and known.get(report.uuid) != report.install_id:
                new[report.uuid, report.install_id] = None
        if new:
            reports.note_installs(self.connection, self.now, list(new))
            self.outcome.installs = dict(new.keys())

    def _store_reports(self, batch: MessagesByKind) -> tuple[list[Sighting], Collection[str]]:
        """Store heartbeats, health and failures. Returns the displays that started, and clients with an old heartbeat.

        A heartbeat is old when the stored one is newer.
        """
        sightings, old, failures = [], set[str](), batch.failures
        if batch.heartbeats:
            heartbeats = reports.record_heartbeats(self.connection, self.now, self.clock, batch.heartbeats)
            self.outcome.heartbeats |= remembered(heartbeats.newest, likeness_of_heartbeat)
            sightings, old = self._started(heartbeats), heartbeats.old
        if batch.health:
            repeated = batch.repeated_failures
            health = reports.record_health(self.connection, self.now, self.clock, batch.health, repeated)
            sure = [report for report in health.newest if report.screen_health not in BAD_SCREENS]  # KNOWN_HEALTH
            self.outcome.health |= remembered(sure, likeness_of_health)
            failures = sorted([*failures, *health.failures], key=_heard)
        if failures:
            failures_operations.record(self.connection, self.now, self.clock, failures)
        return sightings, old

    def _started(self, heartbeats: HeartbeatsRecorded) -> list[Sighting]:
        """End the log numbering of boots that are over, and return the starts that may prove commands.

        A start of a login that two devices share proves nothing: it may be the other device.
        """
        if heartbeats.lives:
            boots = [Boot(life.uuid, life.install_id, life.boot_seq) for life in heartbeats.lives]
            client_logs.end_lives(self.connection, self.now, boots)
            self.outcome.end(boots)
        shared = sharing(heartbeats.other_names, self.memory.seen) if heartbeats.other_names else {}
        self.outcome.went_back |= {life.uuid for life in heartbeats.lives if life.went_back} - shared.keys()
        if shared:
            self.outcome.shared |= reports.note_shared_logins(self.connection, self.now, list(shared.values()))
        started = [start for start in heartbeats.started if start.uuid not in shared]
        return [Sighting(start.uuid, start.boot_id, start.app_instance) for start in started]

    def _believe(self, beats: Sequence[Heartbeat]) -> None:
        """Stop doubting log lines when their client sent a heartbeat after them and its boot has not ended.

        The doubted lines were then the same lines, sent again.
        """
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

    def _store_acks(self, batch: MessagesByKind, timings: Timings) -> set[str]:
        """Record the ACKs. Returns their clients.

        ACKs repeated in a heartbeat or health report are recorded only when they changed, or came too soon before.
        """
        new: list[Ack] = []
        for one in batch.acking:
            if one.message.body is not None:
                key, digest = f"{one.message.uuid} {type(one.message.body).__name__}", hash(one.message.acks)
                if self.memory.acks.get(key) == digest:
                    continue
                self.outcome.acks[key] = digest
            new += one.message.acks
        if new:
            report = acks.record_acks(self.connection, self.now, new, timings)
            if report.postponed:
                for key in [key for key in self.outcome.acks if key.partition(" ")[0] in report.postponed]:
                    del self.outcome.acks[key]
            self.outcome.unknown_acks = len(report.unknown) + len(report.foreign)
            self.outcome.news += report.news
            self.memory.reports.forget(report.corrected)  # recording the ACKs changed the stored heartbeats
            for uuid in report.corrected:
                self.outcome.heartbeats.pop(uuid, None)
        return {ack.client_uuid for ack in new}


def _heard(report: Heartbeat | HealthReport | ServiceFailure) -> float:
    return report.heard
