"""Run a fleet for minutes of virtual time: the writes of the bridge, and the steps of each tick.

Displays send heartbeats every 30 s and health every 60 s and after connecting, like the reference client. Each step
stores the messages since the last one by the bridge's operations, with their times of arrival. Each minute the judging
and notifying steps of a tick run. Nothing waits: time is an argument.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection

from extensions.notifications import operations as notifications
from shared import config
from shared.clients import statuses_operations
from shared.clients.reports import operations as reports
from shared.clients.reports.rules import HealthReport, Heartbeat
from shared.incidents import operations as incidents
from shared.leadership import store as leadership_store
from shared.leadership.rules import Listening, listening
from shared.tables import bridge_status, clients, notification_deliveries
from shared.vocabulary import ProcessStatus
from tests.diary import progress

SETTINGS: Final = config.load({})
STEP: Final = 15.0  # seconds; messages of that time are one batch, and then the bridge sweeps
TICK: Final = 60.0
BEAT: Final = 30.0
REPORT: Final = 60.0
ANALYSE: Final = "ANALYZE clients, client_heartbeats, client_health, client_state_changes, client_losses"
"""ANALYZE as autovacuum does, which does not see uncommitted rows; without it queries get bad plans."""


@dataclass
class Display:
    """One display of the fleet: its next messages, and whether they arrive."""

    uuid: str
    site: str | None
    rng: random.Random
    next_beat: float
    next_report: float
    up: bool = True
    seq: int = 0
    reconnects: int = 0
    plans: list[tuple[float, Callable[["Display", float], None]]] = field(default_factory=list)
    """Its planned events, by time."""

    def at(self, moment: float, what: Callable[["Display", float], None]) -> None:
        self.plans.append((moment, what))
        self.plans.sort(key=lambda plan: plan[0])

    def lose(self, _moment: float) -> None:
        self.up = False

    def come_back(self, moment: float) -> None:
        """Reconnect, and report at once."""
        if not self.up:
            self.up, self.reconnects = True, self.reconnects + 1
            self.next_beat = self.next_report = moment

    def drop(self, moment: float) -> None:
        """Lose the connection briefly, by the display's own fault."""
        if self.up:
            self.lose(moment)
            self.at(moment + self.rng.uniform(0.3, 2.0), Display.come_back)

    def flap(self, moment: float) -> None:
        """Lose the connection now, and again every 20 to 90 s."""
        self.drop(moment)
        self.at(moment + self.rng.uniform(20.0, 90.0), Display.flap)

    def live(self, until: float) -> Iterable[tuple[float, bool]]:
        """(time, whether it is a heartbeat) of the messages that arrive before `until`, in order."""
        while True:
            moments = [self.next_beat, self.next_report, *(plan[0] for plan in self.plans[:1])]
            if (moment := min(moments)) >= until:
                return
            if self.plans and self.plans[0][0] == moment:
                self.plans.pop(0)[1](self, moment)
                continue
            is_beat = self.next_beat == moment
            if is_beat:
                self.next_beat += BEAT
            else:
                self.next_report += REPORT
            if self.up:
                yield moment, is_beat


class FleetRun:
    """Displays at sites, the service, and its messages."""

    def __init__(self, connection: Connection, start: datetime, shops: dict[str | None, int], seed: int) -> None:
        self.connection, self.start, self.time = connection, start, 0.0
        self.rng = random.Random(seed)
        self.displays = [self._display(site, n) for site, count in shops.items() for n in range(count)]
        self._listens_since = -86_400.0
        rows = [{"uuid": d.uuid, "site": d.site, "name": f"Display {n}"} for n, d in enumerate(self.displays)]
        values = [{**row, "registered_by": "enrolment", "created_at": start, "status_since": start} for row in rows]
        connection.execute(sa.insert(clients), values)
        reports.note_installs(connection, start, [(display.uuid, "i") for display in self.displays])

    def _display(self, site: str | None, number: int) -> Display:
        uuid = f"0b54ad5e-3a8b-4a3f-9d0e-{self.rng.getrandbits(48):012x}"
        rng = random.Random(f"{uuid}{number}")
        return Display(uuid, site, rng, rng.uniform(0, BEAT), rng.uniform(0, REPORT))

    def of(self, site: str | None) -> list[Display]:
        return [display for display in self.displays if display.site == site]

    def go_dark(self, site: str | None, moment: float, spread: float) -> None:
        """Cut the network of a site's displays one after the other; a third of them lose it briefly just before."""
        for display in self.of(site):
            end = moment + self.rng.uniform(0, spread)
            display.at(end, Display.lose)
            display.plans = [plan for plan in display.plans if plan[0] <= end]  # it no longer flaps either
            if self.rng.random() < 1 / 3:
                display.at(end - self.rng.uniform(4.0, 20.0), Display.drop)

    def come_back(self, site: str | None, moment: float) -> None:
        for display in self.of(site):
            display.at(moment + self.rng.uniform(0, 30), Display.come_back)

    def restart_broker(self, moment: float) -> None:
        """All displays and the bridge lose the broker, and reconnect after a back-off."""
        for display in self.displays:
            if display.up:
                display.at(moment, Display.lose)
                display.at(moment + self.rng.uniform(0.5, 30.0), Display.come_back)
        self._listens_since = moment + 2.0

    def run(self, until: float) -> None:
        """Run until `until`, in seconds since the start."""
        while self.time < until:
            self.time += STEP
            self._write(self.time)
            if self.time % (10 * TICK) == TICK:
                self.connection.execute(sa.text(ANALYSE))
            if self.time % TICK == 0:
                self._tick(self.now)
                progress(f"{self.time:.0f} s of virtual time")

    @property
    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.time)

    def _write(self, until: float) -> None:
        beats: list[tuple[float, Heartbeat]] = []
        told: list[tuple[float, HealthReport]] = []
        for display in self.displays:
            for moment, is_beat in display.live(until):
                display.seq += 1
                stamp: dict[str, Any] = {"install_id": "i", "boot_seq": 1, "seq": display.seq}
                if is_beat:
                    beat = Heartbeat(display.uuid, moment, ProcessStatus.RUNNING, 30, "b1", "a1", **stamp)
                    beats.append((moment, beat))
                else:
                    health = HealthReport(display.uuid, moment, {}, reconnect_count=display.reconnects, **stamp)
                    told.append((moment, health))
        by_time: Callable[[tuple[float, object]], float] = lambda pair: pair[0]  # noqa: E731 - a sort key
        reports.record_heartbeats(self.connection, self.now, until, [b for _, b in sorted(beats, key=by_time)])
        reports.record_health(self.connection, self.now, until, [h for _, h in sorted(told, key=by_time)], [])
        since = min(self._listens_since, until) if self._listens_since <= until else -86_400.0
        moments = {"connected_since": self.start + timedelta(seconds=since), "canary_at": self.now}
        self.connection.execute(sa.update(bridge_status).values(**moments))
        how = (self.connection, self.now, SETTINGS["HEARTBEAT_STALE_SECONDS"], self._heard())
        statuses_operations.sweep(*how, statuses_operations.candidates(*how))

    def _heard(self) -> Listening:
        status = leadership_store.bridge_status(self.connection)
        return listening(status, self.now)

    def _tick(self, now: datetime) -> None:
        incidents.observe(self.connection, now)
        notifications.decide(self.connection, now, SETTINGS)
        waits = notification_deliveries.c.state == "pending"
        done = {"state": "delivered", "finished_at": now}
        self.connection.execute(sa.update(notification_deliveries).where(waits).values(**done))
