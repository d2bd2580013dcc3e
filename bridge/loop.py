"""The bridge's one thread: take messages, write them, acknowledge them, and do what is due in between."""

import contextlib
import itertools
import math
import os
import random
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Final

import msgspec
from sqlalchemy import Engine

from bridge.batch import Memory, Outcome
from bridge.budget import LogBudgets, OverBudget
from bridge.connection import RECEIVE_MAXIMUM, BrokerConnection
from bridge.counters import Counters, Tally
from bridge.inbox import Arrival, Inbox, PutAside, Taken
from bridge.leader import FIRST_BACK_OFF_SECONDS, LONGEST_BACK_OFF_SECONDS, DatabaseAway, Leader
from bridge.outbox import Outbox
from bridge.snapshot import Snapshot, Snapshots
from bridge.writes import LeadershipLost, Writer
from shared.client_logs.rules import Budget
from shared.clients.reports import operations as reports
from shared.commands.operations import timings
from shared.config import Config
from shared.db import database_now
from shared.listening import rules as listening
from shared.listening import store as listening_store
from shared.mqtt import Topics
from shared.structured_log import event, failure

BATCH_MESSAGES: Final = 2_000  # half the window: 0.57 of bare paho became 0.63; larger ones bring nothing
BATCH_SECONDS: Final = 0.01  # a message waits no longer for company
IDLE_SECONDS: Final = 0.1  # one turn of the loop when nothing happens
STANDBY_SECONDS: Final = 1.0
CANARY_SECONDS: Final = 10.0
SWEEP_SECONDS: Final = 5.0
LOGS_COMMITTED_EXPIRY_SECONDS: Final = 300
LEAVE_SECONDS: Final = 2.0


@dataclass
class Due:
    """When each duty is due next, by the monotonic clock."""

    connect: float = 0.0
    canary: float = 0.0
    sweep: float = 0.0
    connect_failures: int = 0
    canary_number: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))


class Bridge:
    """Everything between the broker and the database."""

    def __init__(self, config: Config, engine: Engine, stop: threading.Event, snapshots: Snapshots) -> None:
        """`stop` ends `run` in order; `snapshots` is where others see how it goes."""
        self._config = config
        self._stop = stop
        self._snapshots = snapshots
        self._topics = Topics(config["MQTT_TOPIC_ROOT"])
        self._inbox = Inbox(self._topics.root, self._topics.canary)
        self._instance = f"{socket.gethostname()}-{os.getpid()}"
        self._leader = Leader(engine, self._instance)
        self._canary_max_age = timedelta(seconds=config["CANARY_MAX_AGE_SECONDS"])
        self._begin_anew()

    def _begin_anew(self) -> None:
        """The state of a bridge that does not lead (yet)."""
        self._broker: BrokerConnection | None = None
        self._budgets_of: BrokerConnection | None = None  # for whose messages the budgets have begun
        self._is_announced = False  # whether the database knows since when we listen
        self._batch: list[Taken | PutAside | OverBudget] = []  # read and not yet committed: the first of the arrivals
        self._counters = Counters()
        self._tally = Tally()
        self._budgets = LogBudgets(Budget(self._config["LOG_BUDGET_PER_SECOND"], self._config["LOG_BUDGET_BURST"]))
        self._memory = Memory()
        self._outbox = Outbox(self._topics.commands, timings(self._config))
        self._due = Due()
        self._committed_at = -math.inf
        self._canary_at = -math.inf

    def run(self) -> None:
        """Until `stop` is set: then finish the batch in hand, acknowledge it and leave the broker in order."""
        while not self._stop.is_set():
            try:
                self._turn()
            except LeadershipLost:
                self._stand_down()
            except DatabaseAway:
                self._stop.wait(IDLE_SECONDS)
            self._show()
        self._finish()

    def _turn(self) -> None:
        if self._leader.epoch is None:
            self._stand_by()
        elif self._broker is None:
            self._connect()
        elif self._broker.fault is not None:
            self._disconnected(self._broker)
        else:
            self._listen(self._broker)

    def _stand_by(self) -> None:
        if not self._leader.try_lead():
            self._stop.wait(STANDBY_SECONDS)

    def _stand_down(self) -> None:
        """Another bridge leads: leave without acknowledging anything."""
        event("lead_lost", "another bridge leads", instance=self._instance)
        if self._broker is not None:
            self._broker.abort("another bridge leads")
        self._leader.resign()
        self._begin_anew()

    def _connect(self) -> None:
        """Never without the lead: two bridges would throw each other out of the session."""
        if time.monotonic() < self._due.connect:
            self._stop.wait(IDLE_SECONDS)
            return
        _ = self._leader.connection()
        url, username, password = (self._config[f"MQTT_{name}"] for name in ("URL", "USERNAME", "PASSWORD"))
        self._broker = BrokerConnection(url, username, password, self._topics.subscriptions())
        self._broker.open()

    def _disconnected(self, broker: BrokerConnection) -> None:
        """Drop what is not acknowledged: the broker delivers it again."""
        event("broker_disconnected", "no connection to the broker", why=broker.fault)
        broker.abort("over")
        self._broker, self._batch = None, []
        self._counters.dropped += broker.dropped
        self._outbox.take_answers(broker)
        self._due.connect_failures += 1
        wait = min(FIRST_BACK_OFF_SECONDS * 2 ** min(self._due.connect_failures, 10), LONGEST_BACK_OFF_SECONDS)
        self._due.connect = time.monotonic() + wait * random.uniform(0.5, 1.0)  # noqa: S311 - jitter
        if self._is_announced:
            self._is_announced = False
            with self._leader.database() as database, database.begin():
                listening_store.disconnected(database, self._leader.epoch or 0)

    def _listen(self, broker: BrokerConnection) -> None:
        broker.step(BATCH_SECONDS / 2 if broker.arrivals else IDLE_SECONDS)
        if broker.fault is not None:
            return
        for duty in (
            self._announce,
            self._begin_budgets,
            self._store_batch,
            self._send_canary,
            self._work_outbox,
            self._sweep,
        ):
            try:
                duty(broker)
            except DatabaseAway:
                return  # the connection to the broker stays; nothing is acknowledged meanwhile
            except LeadershipLost:
                raise
            except Exception:  # noqa: BLE001 - a fault in one duty must not end the others
                failure("duty_failed", "a duty of the bridge failed", duty=duty.__name__)
                self._stop.wait(IDLE_SECONDS)

    def _announce(self, broker: BrokerConnection) -> None:
        """Once everything is subscribed: the listening time begins, and the first canary flies."""
        if self._is_announced or not broker.is_ready:
            return
        with self._leader.database() as database, database.begin():
            if not listening_store.connected(database, database_now(database), self._leader.epoch or 0):
                raise LeadershipLost
        self._is_announced = True
        self._due.connect_failures, self._due.canary = 0, 0.0

    def _begin_budgets(self, broker: BrokerConnection) -> None:
        """Before the first message of a connection: what gathered while nobody listened is nobody's flood."""
        if self._budgets_of is broker or not broker.arrivals:
            return
        with self._leader.database() as database, database.begin():
            now, last = database_now(database), listening_store.bridge_status(database).last_commit_at
        pause = 0.0 if last is None else (now - last).total_seconds()
        self._budgets.connected(time.monotonic(), pause, RECEIVE_MAXIMUM if broker.found_session else 0)
        self._budgets_of = broker

    def _store_batch(self, broker: BrokerConnection) -> None:
        """Write the first arrivals, commit, and only then acknowledge them, in their order."""
        if not self._batch:
            if not (_is_batch_due(broker.arrivals) or (self._stop.is_set() and broker.arrivals)):
                return
            first = itertools.islice(broker.arrivals, BATCH_MESSAGES)
            self._batch = [self._budgets.weigh(self._inbox.read(arrival)) for arrival in first]
        began = time.monotonic()
        with self._leader.database() as database:
            outcome = self._writer().write(database, self._batch, self._counted)
        self._counters = self._counters.with_outcome(outcome, len(self._batch))
        self._tally.committed(outcome, time.monotonic() - began)
        broker.acknowledge(len(self._batch))
        self._batch = []
        self._committed(broker, outcome)

    def _writer(self) -> Writer:
        return Writer(
            epoch=self._leader.epoch or 0,
            instance=self._instance,
            auto_register=self._config["CLIENT_AUTO_REGISTER"],
            timings=timings(self._config),
            listening_gap=self._canary_max_age,
            memory=self._memory,
        )

    def _counted(self, outcome: Outcome) -> dict[str, int]:
        return asdict(self._counters.with_outcome(outcome, len(self._batch)))

    def _committed(self, broker: BrokerConnection, outcome: Outcome) -> None:
        """What follows from a commit: tell displays how far their logs are safe, serve who came online."""
        self._committed_at = time.monotonic()
        self._budgets.took(self._committed_at, outcome.committed)
        if outcome.canary is not None and outcome.canary.instance == self._instance:
            self._canary_at = outcome.canary.heard
        for (uuid, install_id, boot_seq), seq in outcome.committed.items():
            mark = {"install_id": install_id, "boot_seq": boot_seq, "seq": seq}
            topic = self._topics.logs_committed(uuid)
            broker.publish(topic, msgspec.json.encode(mark), LOGS_COMMITTED_EXPIRY_SECONDS)
        self._outbox.came_online(outcome.online)

    def _send_canary(self, broker: BrokerConnection) -> None:
        if self._is_announced and time.monotonic() >= self._due.canary:
            self._due.canary = time.monotonic() + CANARY_SECONDS
            body = {"instance": self._instance, "number": next(self._due.canary_number)}
            broker.publish(self._topics.canary, msgspec.json.encode(body), int(CANARY_SECONDS))

    def _work_outbox(self, broker: BrokerConnection) -> None:
        self._outbox.take_answers(broker)
        if self._outbox.has_answers:
            with self._leader.database() as database:
                self._outbox.record(database)
        if self._is_announced and self._outbox.is_due:
            with self._leader.database() as database:
                self._outbox.publish(database, broker)

    def _sweep(self, _broker: BrokerConnection) -> None:
        if time.monotonic() < self._due.sweep:
            return
        self._due.sweep = time.monotonic() + SWEEP_SECONDS
        with self._leader.database() as database, database.begin():
            now = database_now(database)
            heard = listening.listening(listening_store.bridge_status(database), now, self._canary_max_age)
            changed = reports.sweep_statuses(database, now, self._config["HEARTBEAT_STALE_SECONDS"], heard)
        if changed:
            event("statuses_swept", "shown states changed with time", changed=changed)

    def _show(self) -> None:
        """Let the health answers know how it goes."""
        broker = self._broker
        self._snapshots.latest = Snapshot(
            at=time.monotonic(),
            epoch=self._leader.epoch,
            is_connected=broker is not None and broker.is_ready,
            committed_at=self._committed_at,
            canary_at=self._canary_at,
            waiting=len(broker.arrivals) if broker is not None else 0,
            counters=asdict(self._counters),
            dead_letters=dict(self._tally.dead_letters),
            batch_seconds=self._tally.batch_seconds.shown(),
        )

    def _finish(self) -> None:
        broker = self._broker
        if broker is not None and broker.fault is None:
            try:
                self._store_batch(broker)
            except (DatabaseAway, LeadershipLost):
                event("left_unacknowledged", "messages in hand stay with the broker", messages=len(broker.arrivals))
            broker.leave(self._topics.canary, LEAVE_SECONDS)
            self._say_goodbye()
        self._leader.resign()

    def _say_goodbye(self) -> None:
        with contextlib.suppress(DatabaseAway, LeadershipLost), self._leader.database() as database, database.begin():
            listening_store.disconnected(database, self._leader.epoch or 0)


def _is_batch_due(arrivals: Sequence[Arrival]) -> bool:
    if not arrivals:
        return False
    return len(arrivals) >= BATCH_MESSAGES or time.monotonic() - arrivals[0].heard >= BATCH_SECONDS
