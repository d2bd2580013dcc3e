"""The bridge's main loop, in one thread: take messages, write them, acknowledge them, and do the duties that are due.

The way of a heartbeat: `FastClient.take` reads it off the socket and adds it to the `Arrivals` of its connection.
`Bulk.take` puts it into a batch. `Inbox.read` finds its kind by the topic, and `messages.heartbeat` reads it by
`contract.HeartbeatDocument`. `Writer.write` opens the transaction, and `Storing.store` stores it by
`reports.record_heartbeats`, or by `repeats.repeat_heartbeats` when it only repeats the stored one. It is acknowledged
after the commit.
"""

import contextlib
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace
from sqlalchemy import Engine

from bridge import duties
from bridge.batches import COMPANY_SECONDS, PAUSE_SECONDS, Bulk, LogBudgets, Pace, Urgent, Weighed
from bridge.duties import Announcement, Due
from bridge.inbox import Inbox
from bridge.lanes import BrokerLink, Lanes
from bridge.leader import DatabaseAway, Leader, LeadershipLost
from bridge.outbox import HoursTeller, Outbox, Receipts
from bridge.probes import can_be_reached
from bridge.status import BridgeProgress, Counters, Snapshot, Snapshots, Tally
from bridge.storing import BatchOutcome, LeaderMemory, tell_of_counters
from bridge.writes import Writer
from shared.client_logs.rules import LOG_BUDGET
from shared.commands.news_operations import log_news
from shared.commands.operations import timings
from shared.config import Config
from shared.outside.topics import Topics
from shared.structured_log import event, failure

IDLE_SECONDS: Final = 0.1  # one turn of the loop when nothing happens
STANDBY_SECONDS: Final = 1.0
LEAVE_SECONDS: Final = 2.0
MOST_UNHEARD: Final = 4  # canaries that were sent and did not come, nor anything else


class BridgeLoop:
    """Everything between the broker and the database."""

    def __init__(self, config: Config, engine: Engine, stop: threading.Event, snapshots: Snapshots) -> None:
        """`stop` ends `run` in order; `snapshots` receives the state of the bridge for the probes."""
        self._config = config
        self._stop = stop
        self._snapshots = snapshots
        self._topics = Topics(config["MQTT_TOPIC_ROOT"])
        self._inbox = Inbox(self._topics.root, self._topics.canary)
        self._instance = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"  # in containers alike otherwise
        self._leader = Leader(engine, self._instance, self._regained)
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Reset to the state of a bridge that does not lead."""
        self._broker: Lanes | None = None
        self._link = BrokerLink()
        self._unheard = 0  # canaries sent since a bulk message was last committed
        self._budgets_of: Lanes | None = None  # the connection for which the log budgets were reset
        self._announcement = Announcement(self._leader)
        self._urgent = Urgent()
        self._counters = Counters()
        self._tally = Tally()
        self._budgets = LogBudgets(LOG_BUDGET)
        self._bulk = Bulk(self._inbox, self._budgets)
        self._memory = LeaderMemory()
        self._receipts = Receipts(self._topics)
        self._outbox = Outbox(self._topics, timings(self._config))
        self._hours = HoursTeller(self._topics)
        self._due = Due()
        self._pace = Pace()
        self._progress = BridgeProgress()

    def _regained(self, may_have_lost: bool) -> None:
        """Forget what was committed: the database may have lost it.

        No receipt may be sent for lost logs, because its display would delete them. After a restart of Postgres the
        listening time begins anew, so that no display counts as silent because its reports were lost.
        """
        self._memory.forget()
        self._receipts.forget_all()
        if may_have_lost:
            self._announcement.is_made = False

    def run(self) -> None:
        """Work until `stop` is set. Then finish and acknowledge the batch, and disconnect from the broker in order."""
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
        elif self._link.gives_up(time.monotonic()):
            self._stand_aside()
        elif self._broker is None:
            self._connect()
        elif self._broker.fault is not None:
            self._disconnected(self._broker)
        else:
            if self._link.goes_on(self._broker, time.monotonic()):
                self._due.steady()
            self._listen(self._broker)

    def _stand_by(self) -> None:
        if self._link.stands_aside(time.monotonic(), lambda: can_be_reached(self._config["MQTT_URL"])):
            self._stop.wait(STANDBY_SECONDS)
        elif self._leader.try_lead():
            self._link.began(time.monotonic())
        else:
            self._link.aside = None  # another bridge leads
            self._stop.wait(STANDBY_SECONDS)

    def _stand_aside(self) -> None:
        """Give up the lead: another bridge may reach the broker. Without another one, this bridge leads again later."""
        why = f"gave up the lead: no connection to the broker ({self._link.fault or 'it does not answer'})"
        event("lead_given_up", "no connection to the broker: another bridge may lead", logging.WARNING, why=why)
        if self._broker is not None:
            self._broker.abort("gave up the lead")
        self._leader.resign()
        self._begin_anew()
        self._link = BrokerLink(aside=why, aside_at=time.monotonic())

    def _stand_down(self) -> None:
        """Another bridge leads: close the connection without acknowledging anything."""
        event("lead_lost", "another bridge leads", instance=self._instance)
        if self._broker is not None:
            self._broker.abort("another bridge leads")
        self._leader.resign()
        self._begin_anew()

    def _connect(self) -> None:
        """Connect, but only as the leader: two bridges would take the broker's session from each other."""
        if time.monotonic() < self._due.connect:
            self._stop.wait(IDLE_SECONDS)
            return
        with self._leader.database() as database, database.begin():
            duties.check_lead(database, self._leader)
        self._broker = Lanes.of(self._config, self._topics)
        self._broker.open()

    def _disconnected(self, broker: Lanes) -> None:
        """Drop the messages that are not acknowledged: the broker delivers them again."""
        event("broker_disconnected", "no connection to the broker", why=broker.fault)
        self._link.note(broker.lacks)
        self._link.ended(broker.fault or "", time.monotonic())
        broker.abort("over")
        self._broker, self._unheard = None, 0
        self._bulk.dropped()
        self._urgent.dropped()
        self._counters.dropped += broker.dropped
        self._outbox.take_answers(broker.urgent)
        self._due.connect_later()
        if self._announcement.is_made:
            self._announcement.take_back()

    def _listen(self, broker: Lanes) -> None:
        if not broker.bulk.arrivals:
            broker.step(IDLE_SECONDS)
        broker.read_on(self._pace.most)
        self._wait_for_company(broker)
        if broker.fault is None:
            self._do_duties(broker)

    def _wait_for_company(self, broker: Lanes) -> None:
        """Wait until the batch is due, in steps that double. Read messages meanwhile; an urgent one ends the wait.

        A quiet batch waits longer: then the duties are done in between.
        """
        step, ends = PAUSE_SECONDS, time.monotonic() + COMPANY_SECONDS
        while broker.bulk.arrivals and not broker.urgent.arrivals and not self._stop.is_set() and broker.fault is None:
            now = time.monotonic()
            rest = min(self._pace.wait_seconds(len(broker.bulk.arrivals), now), ends - now)
            if rest <= 0:
                return
            broker.rest(min(rest, step))
            broker.read_on(self._pace.most)
            step *= 2

    def _do_duties(self, broker: Lanes) -> None:
        for duty in (
            self._announce,
            self._sweep,
            self._begin_budgets,
            self._store_urgent,
            self._store_batch,
            self._end_still_session,
            self._close_gaps,
            self._receipts.tell,
            self._send_canary,
            self._work_outbox,
            self._tell_hours,
        ):
            try:
                duty(broker)
            except DatabaseAway:  # the broker's connection stays open; nothing is acknowledged meanwhile
                self._stop.wait(PAUSE_SECONDS)
                return
            except LeadershipLost:
                raise
            except Exception:  # noqa: BLE001 - a fault in one duty must not end the others
                failure("duty_failed", "a duty of the bridge failed", duty=duty.__name__)
                self._stop.wait(IDLE_SECONDS)

    def _announce(self, broker: Lanes) -> None:
        """Once every topic is subscribed, tell the database that the listening time begins."""
        if self._announcement.is_made or not broker.is_ready:
            return
        self._link.note(broker.lacks)
        self._announcement.make()
        broker.forget_urgent_of_bulk(self._topics)
        self._due.connected()

    def _begin_budgets(self, broker: Lanes) -> None:
        """Give each client a whole log budget before a connection's first message: a backlog is not a flood."""
        if self._budgets_of is broker or not broker.waiting:
            return
        self._budgets.connected(time.monotonic(), duties.since_last_commit(self._leader), broker.again)
        self._budgets_of = broker

    def _store_urgent(self, broker: Lanes) -> None:
        """Write urgent messages in a transaction of their own, before the bulk batch."""
        batch = self._urgent.batch(broker.urgent.arrivals, self._inbox)
        if batch:
            began, arrived, writer = time.monotonic(), self._urgent.arrived, self._writer(self._urgent.patient_from)
            with self._leader.database() as database:
                outcome = writer.write(database, batch, self._counters, arrived)
            self._stored(outcome, began, arrived)
            broker.urgent.acknowledge(arrived)
            self._urgent.committed(outcome)
            self._committed(outcome, is_urgent=True)

    def _store_batch(self, broker: Lanes) -> None:
        """Write the first arrivals, commit, and only then acknowledge them, in their order."""
        arrivals = broker.bulk.arrivals
        if not self._bulk.batch:
            if not arrivals:
                self._progress.bulk_at = time.monotonic()
            if not arrivals or (self._pace.wait_seconds(len(arrivals), time.monotonic()) and not self._stop.is_set()):
                return
        self._urgent.bulk_came()
        batch = self._bulk.take(arrivals, self._pace.most)
        try:
            outcome = self._store_bulk(broker, batch)
        except DatabaseAway:
            self._pace.failed(len(batch))
            raise
        self._bulk.committed()
        self._unheard = 0
        self._committed(outcome)

    def _end_still_session(self, broker: Lanes) -> None:
        """Connect again when not even a canary comes: a broker, killed, may hold back what waits for a session."""
        if self._unheard > MOST_UNHEARD and not broker.bulk.arrivals:
            broker.abort("nothing comes to the session of heartbeats, not even a canary")

    def _store_bulk(self, broker: Lanes, batch: Sequence[Weighed]) -> BatchOutcome:
        """Write, commit, acknowledge."""
        began = time.monotonic()
        with self._leader.database() as database:
            outcome = self._writer().write(database, batch, self._counters, len(batch))
        self._stored(outcome, began, len(batch))
        broker.bulk.acknowledge(len(batch))
        return outcome

    def _stored(self, outcome: BatchOutcome, began: float, arrived: int) -> None:
        """Count a committed batch, and adapt the pace to it."""
        ended = time.monotonic()
        self._counters = self._counters.with_outcome(outcome, arrived)
        self._tally.committed(outcome, ended - began)
        self._pace.wrote(began, ended, arrived, has_news=outcome.has_news)

    def _writer(self, patient_from: float | None = None) -> Writer:
        return Writer(
            epoch=self._leader.epoch or 0,
            instance=self._instance,
            auto_register=self._config["CLIENT_AUTO_REGISTER"],
            timings=timings(self._config),
            memory=self._memory,
            stale_seconds=self._config["HEARTBEAT_STALE_SECONDS"],
            patient_from=patient_from,
        )

    def _committed(self, outcome: BatchOutcome, *, is_urgent: bool = False) -> None:
        """Act on a commit: queue receipts of logs, make commands of displays that came online due, log the news."""
        now, canary = time.monotonic(), outcome.canary
        heard = canary.heard if canary is not None and canary.instance == self._instance else None
        self._progress.committed(now, heard, is_urgent=is_urgent)
        self._budgets.took(now, outcome.committed)
        self._receipts.forget(outcome.over)
        self._receipts.committed(outcome.committed)
        tell_of_counters(outcome)
        self._outbox.came_online(outcome.online)
        self._hours.came_online(outcome.online)
        log_news(outcome.news)

    def _send_canary(self, broker: Lanes) -> None:
        if broker.urgent.is_ready and broker.urgent.room() and self._due.takes_canary():
            canary = duties.canary_of(self._instance, next(self._due.canary_number))
            broker.urgent.publish(self._topics.canary, canary, int(duties.CANARY_SECONDS))
            self._unheard += 1

    def _work_outbox(self, broker: Lanes) -> None:
        """Record how publishing went, and publish the commands that are due."""
        self._outbox.work(self._leader, broker.urgent)

    def _tell_hours(self, broker: Lanes) -> None:
        self._hours.tell(self._leader, broker)

    def _sweep(self, _broker: Lanes) -> None:
        """Sweep before messages are written: after an outage the sweep stores since when the states were unknown."""
        if self._due.is_sweep:
            duties.sweep(self._leader, self._due, self._config["HEARTBEAT_STALE_SECONDS"])

    def _close_gaps(self, _broker: Lanes) -> None:
        """Give up numbers of log lines that never come."""
        if self._due.is_gaps:
            closed = duties.close_gaps(self._leader, self._due)
            self._counters = replace(self._counters, missing_logs=self._counters.missing_logs + closed.given_up)
            self._receipts.committed(closed.committed)

    def _show(self) -> None:
        """Leave a snapshot for the probes."""
        link = replace(self._link, aside=self._leader.refusal or self._link.aside)
        self._snapshots.latest = Snapshot.taken(
            self._leader.epoch, self._broker, self._progress, self._counters, self._tally, link
        )

    def _finish(self) -> None:
        broker = self._broker
        if broker is not None and broker.fault is None:
            try:
                self._store_urgent(broker)
                self._store_batch(broker)
            except (DatabaseAway, LeadershipLost):
                event("left_unacknowledged", "messages in hand stay with the broker", messages=broker.waiting)
            broker.leave(self._topics.canary, LEAVE_SECONDS)
            with contextlib.suppress(DatabaseAway, LeadershipLost):
                self._announcement.take_back()
        self._leader.resign()
