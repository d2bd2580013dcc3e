"""The bridge's periodic duties, and its announcements to the database about the listening time."""

import itertools
import random
import time
from typing import Final

import msgspec
from msgspec import Struct, field
from sqlalchemy import Connection

from bridge.leader import FIRST_BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS, Leader, LeadershipLost
from shared.client_logs import operations as client_logs
from shared.client_logs.operations import LogsStored
from shared.clients import statuses_operations
from shared.clients.statuses_store import MOST_AT_ONCE
from shared.leadership import rules as leadership_rules
from shared.leadership import store as leadership_store
from shared.postgres.door import database_now
from shared.structured_log import event

CANARY_SECONDS: Final = 10.0
SWEEP_SECONDS: Final = 5.0
RESTS: Final = 50  # times as long as it looked, so that a sweep takes a fiftieth of the bridge's one thread
LONGEST_REST_SECONDS: Final = 30.0
GAPS_SECONDS: Final = 3600.0


class Due(Struct):
    """When each duty is due next, in monotonic seconds. In the beginning every duty is due."""

    connect: float = 0.0
    canary: float = 0.0
    sweep: float = 0.0
    looked_seconds: float = 0.0
    unswept: list[str] = field(default_factory=list)  # the rest of a sweep that is under way
    gaps: float = 0.0
    connect_failures: int = 0
    canary_number: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def connect_later(self) -> None:
        """The connection failed: make the next attempt later each time."""
        self.connect_failures += 1
        wait = min(FIRST_BACK_OFF_SECONDS * 2 ** min(self.connect_failures, 10), LONGEST_BACK_OFF_SECONDS)
        self.connect = time.monotonic() + wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter

    def connected(self) -> None:
        """The bridge is connected: the first canary is due."""
        self.canary = 0.0

    def steady(self) -> None:
        """The connection is stable: reset the back-off."""
        self.connect_failures = 0

    def takes_canary(self) -> bool:
        """Whether to send a canary now; then the next one is due a period later."""
        if time.monotonic() < self.canary:
            return False
        self.canary = time.monotonic() + CANARY_SECONDS
        return True

    @property
    def is_sweep(self) -> bool:
        """Whether to sweep now."""
        return time.monotonic() >= self.sweep

    def swept(self) -> None:
        """A sweep is done. The next begins after a rest."""
        self.sweep = time.monotonic() + rest_after(self.looked_seconds)

    @property
    def is_gaps(self) -> bool:
        """Whether to look for gaps in displays' logs now."""
        return time.monotonic() >= self.gaps

    def looks_for_gaps(self) -> None:
        """A look begins; the next is due a period later."""
        self.gaps = time.monotonic() + GAPS_SECONDS


def rest_after(looked_seconds: float) -> float:
    """The seconds until the next sweep, after the look at the fleet took so long."""
    return max(SWEEP_SECONDS, min(RESTS * looked_seconds, LONGEST_REST_SECONDS))


class Announcement:
    """The leader's announcement to the database that it listens.

    Its methods raise DatabaseAway (then retry) and LeadershipLost.
    """

    def __init__(self, leader: Leader) -> None:
        self.is_made = False
        self._leader = leader

    def make(self) -> None:
        """Record that the listening time begins now, by the database's clock."""
        with self._leader.database() as database, database.begin():
            if not leadership_store.connected(database, database_now(database), self._leader.epoch or 0):
                raise LeadershipLost
        self.is_made = True

    def take_back(self) -> None:
        """Record that the listening time is over, even if another process began it."""
        self.is_made = False
        with self._leader.database() as database, database.begin():
            leadership_store.disconnected(database, self._leader.epoch or 0)


def sweep(leader: Leader, due: Due, stale_seconds: int) -> None:
    """Update the shown states to now. Silence counts only while the canary was no older than CANARY_MAX_AGE.

    Between two parts, messages are stored. After the bridge was deaf all parts run at once: a stored message would
    hide that nobody was heard.
    """
    is_first = is_deaf = True
    while is_first or (due.unswept and is_deaf):
        with leader.database() as database, database.begin():
            now = database_now(database)
            heard = leadership_rules.listening(leadership_store.bridge_status(database), now)
            is_deaf = heard.deaf
            if is_first and (is_deaf or not due.unswept):  # between two parts it may have become deaf to every client
                began = time.monotonic()
                due.unswept = statuses_operations.candidates(database, now, stale_seconds, heard)
                due.looked_seconds = time.monotonic() - began
            part = due.unswept[:MOST_AT_ONCE]
            changed = statuses_operations.sweep(database, now, stale_seconds, heard, part)
        is_first = False
        del due.unswept[:MOST_AT_ONCE]
        if changed:
            event("statuses_swept", "shown states changed with time", changed=changed)
    if not due.unswept:  # only here: while the database is away, the sweep stays due
        due.swept()


def check_lead(database: Connection, leader: Leader) -> None:
    """Check in the database that this bridge leads. Raises LeadershipLost."""
    if leadership_store.leader(database).epoch != leader.epoch:
        raise LeadershipLost


def since_last_commit(leader: Leader) -> float:
    """Seconds since any bridge committed a batch; 0 before the first one."""
    with leader.database() as database, database.begin():
        last = leadership_store.bridge_status(database).last_commit_at
        return 0.0 if last is None else (database_now(database) - last).total_seconds()


def close_gaps(leader: Leader, due: Due) -> LogsStored:
    """Stop waiting for log messages that did not come in a day. Raises LeadershipLost.

    The tick must not do this: only the leading bridge, which stores the lines, moves marks.
    """
    with leader.database() as database, database.begin():
        due.looks_for_gaps()
        check_lead(database, leader)
        closed = client_logs.close_gaps(database, database_now(database))
    if closed.committed:
        counts = {"displays": len(closed.committed), "numbers": closed.given_up}
        event("log_gaps_closed", "numbers of log messages that did not come in a day are given up", **counts)
    return closed


def canary_of(instance: str, number: int) -> bytes:
    """The canary's payload: the time until it returns is the delay of displays' messages."""
    return msgspec.json.encode({"instance": instance, "number": number})
