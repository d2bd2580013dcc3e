"""A batch by kind, what writing it came to, and what the leader remembers of all batches before it."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from bridge.inbox import PutAside, Taken
from bridge.messages import Canary
from shared.client_logs.drops_rules import DropRow
from shared.client_logs.operations import LogsStored
from shared.client_logs.rules import Boot, LastMark
from shared.clients.logins_rules import Seen
from shared.clients.repeats import operations as repeats
from shared.clients.reports.rules import Heartbeat
from shared.clients.signs_rules import INTERVAL_SECONDS, SignsMemory
from shared.commands.rules import News
from shared.structured_log import event


@dataclass
class BatchOutcome:
    """What writing a batch came to. It takes effect outside the database only after the commit."""

    stored: int = 0
    bad_fields: int = 0
    duplicates: int = 0  # log lines that were stored before
    given_up: int = 0  # numbers of logs that never came and are not waited for any more
    dropped_logs: int = 0  # plain log lines over their client's budget
    deferred_logs: int = 0  # numbered ones over it
    unknown_acks: int = 0  # of commands never issued, or of another client's
    news: list[News] = field(default_factory=list)  # of commands, for the log
    refused: list[PutAside] = field(default_factory=list)
    early: list[Taken] = field(default_factory=list)  # of clients that may be registered soon: not stored, not refused
    committed: dict[Boot, int] = field(default_factory=dict)  # logs: everything up to this number is stored
    online: set[str] = field(default_factory=set)
    canary: Canary | None = None
    installs: dict[str, str] = field(default_factory=dict)
    acks: dict[str, int] = field(default_factory=dict)
    drop_rows: dict[str, DropRow] | None = None  # None: as before
    heartbeats: dict[str, tuple[int, int]] = field(default_factory=dict)  # see ReportsMemory
    health: dict[str, tuple[int, int]] = field(default_factory=dict)
    beats: dict[str, tuple[float, int]] = field(default_factory=dict)  # heartbeats that are stored; see SignsMemory
    talked: dict[str, float] = field(default_factory=dict)  # uuid -> when anything else of it was heard
    signs: dict[str, float] = field(default_factory=dict)  # those of them that are stored
    cursor: str | None = None  # None: as before
    marks: dict[str, LastMark | None] = field(default_factory=dict)  # None: to be read again
    doubts: dict[str, float] = field(default_factory=dict)  # uuid -> when lines came that may be told once it beats
    believed: set[str] = field(default_factory=set)  # doubted before, and no more
    over: set[Boot] = field(default_factory=set)  # these, and the later ones, may be numbered from 1 again
    went_back: set[str] = field(default_factory=set)  # clients whose counters did
    shared: set[str] = field(default_factory=set)  # clients of which two devices use the login
    began_anew: set[str] = field(default_factory=set)  # clients whose log lines number a boot from 1 again

    def take_logs(self, stored: LogsStored, heard: Mapping[str, float]) -> None:
        """Add the result of storing logs. A doubted mark is sent to nobody. `heard`: when its lines came, by client."""
        self.committed |= stored.committed
        for boot in stored.doubted:
            self.committed.pop(boot, None)
            self.doubts[boot[0]] = heard[boot[0]]
        self.marks |= stored.marks
        self.began_anew |= stored.began_anew

    def note_beats(self, heartbeats: Iterable[Heartbeat], old: Collection[str]) -> None:
        """Note whose heartbeats are stored: all but those of `old`, which are older than the stored ones."""
        for one in heartbeats:
            if one.uuid in old:
                self.talked[one.uuid] = one.heard
            else:
                self.beats[one.uuid] = (one.heard, one.interval_seconds or INTERVAL_SECONDS)

    def end(self, boots: Collection[Boot]) -> None:
        """End these boots. No mark is sent for them, nor for later boots of their installations."""
        self.over |= set(boots)
        for ended in boots:
            self.marks[ended[0]] = None
            for boot in [one for one in self.committed if is_over(one, ended)]:
                del self.committed[boot]

    def absorb(self, later: "BatchOutcome") -> "BatchOutcome":
        """Add the outcome of the messages that follow. Only what storing them sets is added."""
        self.stored += later.stored
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
        self.marks |= later.marks
        self.doubts |= later.doubts
        self.believed |= later.believed
        self.over |= later.over
        self.shared |= later.shared
        self.began_anew |= later.began_anew
        self.went_back |= later.went_back
        return self


def is_over(boot: Boot, ended: Boot) -> bool:
    """Is this the boot that ended, or a later one of its installation?"""
    return boot[:2] == ended[:2] and boot[2] >= ended[2]


def tell_of_counters(outcome: BatchOutcome) -> None:
    """Log each display whose counter went back, and each login that two devices use."""
    for uuid in sorted(outcome.went_back):
        event("counter_went_back", "a display numbers its messages from 1 again", client_uuid=uuid)
    for uuid in sorted(outcome.shared):
        event("shared_login", "two devices use one login", client_uuid=uuid)


@dataclass
class LeaderMemory:
    """What was committed before and need not be written again. It only saves work: losing it is harmless.

    Keeping it is not, once the database may have forgotten what was committed.
    """

    installs: dict[str, str] = field(default_factory=dict)  # uuid -> its installation
    acks: dict[str, int] = field(default_factory=dict)  # uuid and where it was said -> what was said, hashed
    drop_rows: dict[str, DropRow] = field(default_factory=dict)  # uuid -> its log line that counts what was dropped
    reports: repeats.ReportsMemory = field(default_factory=repeats.ReportsMemory)
    marks: dict[str, LastMark] = field(default_factory=dict)  # uuid -> of the boot that told something last
    signs: SignsMemory = field(default_factory=SignsMemory)
    doubts: dict[str, float] = field(default_factory=dict)  # uuid -> when lines came that wait for a heartbeat
    seen: Seen = field(default_factory=Seen)  # devices that were heard before another one was
    may_recall: bool = True
    """Whether what is stored of a client may be read into it; not once part of a transaction may be taken back."""

    def forget(self) -> None:
        """Forget everything, in place: several objects hold this memory."""
        vars(self).update(vars(LeaderMemory()))

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
        for uuid, mark in outcome.marks.items():
            if mark is None:
                self.marks.pop(uuid, None)
            else:
                self.marks[uuid] = mark
