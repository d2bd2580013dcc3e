"""One history from beginning to end: a fleet, a service, the events of both, and the judge's verdict."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast
from unittest.mock import patch

import sqlalchemy as sa
from sqlalchemy import Engine

from functions.scheduler_tick import steps
from functions.scheduler_tick.frame import World
from shared import config
from shared.client_logs import store as client_logs
from shared.commands import operations as commands
from shared.leadership import store as leadership_store
from shared.postgres.door import engine_for
from tests import migrated
from tests.conftest import at_any_speed
from tests.lab.simulation.agenda import Agenda, Clocks, virtual_time
from tests.lab.simulation.ailments import Nature
from tests.lab.simulation.broker import SimulatedBroker
from tests.lab.simulation.copies import Copies
from tests.lab.simulation.display import Display
from tests.lab.simulation.gate import Gate, Killed
from tests.lab.simulation.operator import Operator
from tests.lab.simulation.oracle import Breach, Judge
from tests.lab.simulation.service import BridgeHost, Host, SimulatedPublisher

if TYPE_CHECKING:
    from shared.config import Config
    from shared.outside.mqtt import Publisher
    from shared.outside.task_queue import TaskQueue

TICK: Final = 60.0
LOCK_TIMEOUT_MS: Final = 100  # a history has one thread, so nobody can release a lock while another one waits for it
NOT_ABOUT_COMMANDS: Final = ("conversions", "notifications", "health_history", "retention")
SETTINGS: Final = {
    "CRASH_RECOVERY_ENABLED": "true",
    "MQTT_USERNAME": "bridge",
    "MQTT_PASSWORD": "unused",
}
NOT_IN_A_LONG_ONE: Final = ("conversions", "notifications", "health_history")
EMPTY: Final = (
    """
    TRUNCATE clients, recovery_breakers, recovery_events, incidents, quiet_times,
        command_batches RESTART IDENTITY CASCADE
    """,
    "TRUNCATE dead_letters RESTART IDENTITY",
    "TRUNCATE users CASCADE",
    "INSERT INTO users (username, password_hash, role, created_at) VALUES ('anna', '', 'admin', 'epoch')",
    """
    UPDATE bridge_status SET epoch = 0, instance = NULL, connected_since = NULL, last_commit_at = NULL,
        canary_at = NULL, counters = '{}'
    """,
    "UPDATE scheduler_status SET last_tick_at = NULL, duration_ms = NULL, did = '{}'",
)


class Databases:
    """The components' engines on one database, which histories use one after another."""

    def __init__(self, url: str, superuser_url: str) -> None:
        """`url`: a migrated database, as its owner; `superuser_url`: the same database, as a superuser."""
        self.bridge = self._engine(migrated.address_for("bridge", url), "bridge")
        self.tick = self._engine(migrated.address_for("scheduler_tick", url), "tick")
        self.api = self._engine(migrated.address_for("api", url), "api")
        self.judge = self._engine(url, "judge")
        self.copies = Copies(superuser_url)

    @staticmethod
    def _engine(url: str, name: str) -> Engine:
        with at_any_speed():  # a history has virtual time, so the speed of the machine must not matter
            made = engine_for(url, f"simulated {name}", pool_size=6)

        @sa.event.listens_for(made, "connect")
        def _impatient(connection: Any, _record: Any) -> None:
            cursor = connection.cursor()
            cursor.execute(f"SET lock_timeout = {LOCK_TIMEOUT_MS}")
            connection.commit()

        return made

    def empty(self) -> None:
        """Empty the database, as after the migrations."""
        self.copies.exorcise()
        with self.judge.begin() as connection:
            for statement in EMPTY:
                connection.execute(sa.text(statement))

    def close(self) -> None:
        """End every session."""
        for engine in (self.bridge, self.tick, self.api, self.judge):
            engine.dispose()
        self.copies.close()


@dataclass
class Outcome:
    """The result of one history."""

    seed: int
    breaches: list[Breach] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    seconds: float = 0.0  # real time that it took


class History:
    """All parts of one history. Stories use its public names."""

    def __init__(self, databases: Databases, seed: int, settings: Mapping[str, str] | None = None) -> None:
        """Build the world before the first event."""
        self.seed = seed
        self.dice = random.Random(f"{seed} story")
        self.agenda = Agenda()
        self.clocks = Clocks(self.agenda)
        self.config: Config = config.load({**SETTINGS, **(settings or {})})
        self.databases = databases
        wire_dice = random.Random(f"{seed} wire")
        self.broker = SimulatedBroker(self.agenda, lambda: wire_dice.uniform(0.005, 0.2))
        self.displays: dict[str, Display] = {}
        self.sites: dict[str, str | None] = {}  # by uuid
        self.twins: list[Display] = []  # second devices that use a display's login
        self._chorus = 0
        self.is_long = False  # it lasts for days, so retention runs too
        self.judge = Judge(databases.judge, self.agenda, self.clocks, self.displays)
        self.judge.ledger.kept_for = timedelta(days=self.config["LOG_RETENTION_DAYS"])
        self.bridge_gate = Gate(databases.bridge, self.agenda.pass_by)
        self.tick_gate = Gate(databases.tick, self.agenda.pass_by)
        clock = self.clocks.monotonic
        self.publisher = SimulatedPublisher(self.broker, self.agenda, clock, random.Random(f"{seed} publisher"))
        told = (self.judge.truth.took, self.judge.thrown_out)
        host = Host(self.config, databases.bridge, self.bridge_gate, self.broker, self.agenda, clock, *told)
        self.bridges = [BridgeHost(host, f"bridge-{number}", self._is_busy) for number in (1, 2)]
        self.operator = Operator(self)
        self.tick_is_missing = False
        self._commands_open = False
        self._faults = self._patient_faults = 0
        self._ticks_running = 0
        self.timings = commands.timings(self.config)
        self.mqtt_publisher = cast("Publisher", self.publisher)
        self._world = World(
            config=self.config,
            engine=databases.tick,
            publisher=self.mqtt_publisher,
            queue=cast("TaskQueue", None),  # without the step that enqueues conversions
            timings=self.timings,
        )

    def add_display(self, nature: Nature, site: str | None = None) -> Display:
        """Add an enrolled display, switched off."""
        dice = random.Random(f"{self.seed} display {len(self.displays)}")
        uuid = f"{self.seed % 2**32:08x}-0000-4000-8000-{len(self.displays):012x}"
        display = Display(uuid, self.broker, self.agenda, dice, nature, self.judge.acted)
        with self.databases.judge.begin() as connection:
            connection.execute(ENROL, {"uuid": uuid, "site": site, "now": self.clocks.database()})
        self.displays[uuid], self.sites[uuid] = display, site
        return display

    def add_twin(self, display: Display) -> Display:
        """Add a second device with this display's login, switched off, with its own disk and counters."""
        dice = random.Random(f"{self.seed} twin {len(self.twins)}")
        twin = Display(display.uuid, self.broker, self.agenda, dice, display.nature, self.judge.acted)
        self.twins.append(twin)
        self.judge.truth.twins[display.uuid] = twin
        return twin

    def add_chorus(self, count: int) -> None:
        """Add rows of `count` further clients that are always well and heard."""
        self._chorus = count
        with self.databases.judge.begin() as connection:
            connection.execute(sa.text(CHORUS), {"count": count, "now": self.clocks.database()})
        self._chorus_sings()

    def _chorus_sings(self) -> None:
        if self._chorus:
            with self.databases.judge.begin() as connection:
                connection.execute(sa.text(HEARD), {"now": self.clocks.database()})

    def keep_logs(self) -> None:
        """Let displays log into a spool from now on, and keep a ledger."""
        with self.databases.judge.begin() as connection:
            client_logs.ensure_partitions(connection, self.clocks.database(), steps.WEEKS_AHEAD)
        for display in self.displays.values():
            display.ledger = self.judge.ledger

    # --- running ---

    def run(self, until: float, enough: Callable[[], bool] = lambda: False) -> Outcome:
        """Run the history until `until`, or until `enough` is true, which is checked each minute."""
        began = time.monotonic()
        with self._code_under_test():
            self.bridges[0].start()
            try:
                while self.agenda.now < until and not enough():
                    self.agenda.run_until(min(until, self.agenda.now + TICK))
            finally:
                for bridge in self.bridges:
                    bridge.kill()
        self.judge.ends()
        judge = self.judge
        return Outcome(self.seed, judge.breaches, judge.figures, judge.waits, time.monotonic() - began)

    @contextmanager
    def _code_under_test(self) -> Iterator[None]:
        left_out = NOT_IN_A_LONG_ONE if self.is_long else NOT_ABOUT_COMMANDS
        about = {name: step for name, step in steps.STEPS.items() if name not in left_out}
        sweeps = {name: step for name, step in steps.LATE_STEPS.items() if name not in left_out}
        with ExitStack() as patched:
            patched.enter_context(virtual_time(self.clocks, self.seed))
            patched.enter_context(patch.object(steps, "STEPS", about))
            patched.enter_context(patch.object(steps, "LATE_STEPS", sweeps))
            life = patch.object(leadership_store, "life", lambda _connection: self.databases.copies.life)
            patched.enter_context(life)
            patched.callback(self.bridge_gate.remove)
            patched.callback(self.tick_gate.remove)
            yield

    def _is_busy(self) -> bool:
        return self._commands_open

    # --- the tick ---

    def plan_ticks(self, until: float, first: float) -> None:
        """Plan a tick each minute."""
        moment = first
        while moment < until:
            self.agenda.at(moment, self.tick)
            moment += TICK

    def tick(self) -> None:
        """Run a tick, whatever else runs."""
        if self.tick_is_missing:
            return
        if self._ticks_running:  # the other tick holds the lock, or will get it
            self._overlap()
            return
        for bridge in self.bridges:
            bridge.turn()
        self._chorus_sings()
        self._ticks_running += 1
        began, sound = self.agenda.now, self._faults == 0
        self.judge.tick_begins()
        report: dict[str, Any] | None = None
        try:
            report = steps.run(self._world)
        except (Killed, sa.exc.SQLAlchemyError):
            self.judge.figures["ticks that died"] += 1
        self._ticks_running -= 1
        self.tick_gate.calm()
        self.publisher.kill_after = None
        sound = sound and self.judge.sound_since <= began  # a fault may have begun and ended meanwhile
        self._judge_tick(report, sound=sound, seconds=self.agenda.now - began)

    def _judge_tick(self, report: dict[str, Any] | None, *, sound: bool, seconds: float) -> None:
        failed = report.get("failed", []) if report is not None else []
        if failed and sound and self._faults == 0:
            self.judge.breaches.append(Breach("failed step", self.agenda.now, "-", ", ".join(failed)))
        whole = report is not None and not failed and "skipped" not in report
        self._commands_open = self.judge.tick_ends(whole=whole, alone=seconds < 2.0)
        for bridge in self.bridges:
            bridge.poke(0.1)

    def _overlap(self) -> None:
        """Run a second tick in the middle of a first one, or while that one waits for its lock."""
        self.judge.figures["overlapping ticks"] += 1
        is_locked = self._tick_lock_is_held()
        try:
            report = steps.run(self._world)
        except (Killed, sa.exc.SQLAlchemyError):
            return
        if is_locked and "skipped" not in report:
            self.judge.breaches.append(Breach("two ticks at once", self.agenda.now, "-", str(report)))

    def _tick_lock_is_held(self) -> bool:
        with self.databases.judge.connect() as connection:
            return bool(connection.execute(LOCKED, {"key": steps.TICK_LOCK}).scalar_one())

    def commands_went_out(self) -> None:
        """Commands were issued: let the bridge work at once, and often from now on."""
        self._commands_open = True
        for bridge in self.bridges:
            bridge.poke(0.1)

    # --- faults of the service ---

    def fault_begins(self, *, patient: bool = False) -> None:
        """A fault of the service begins; `patient`: it may last for days."""
        self._faults += 1
        self._patient_faults += patient
        self.judge.sound_since = float("inf")

    def fault_ends(self, *, patient: bool = False) -> None:
        """One fault ends; others may last."""
        self._faults -= 1
        self._patient_faults -= patient
        if not self._faults:
            self.judge.sound_since = self.agenda.now

    @property
    def is_calm(self) -> bool:
        """Whether there is no fault, except those that may last for days."""
        is_busy = self._commands_open or self._ticks_running or self._faults > self._patient_faults
        return not is_busy and not any(bridge.is_turning for bridge in self.bridges)


ENROL: Final = sa.text(
    "INSERT INTO clients (uuid, site, registered_by, created_at, status_since)"
    " VALUES (:uuid, :site, 'enrolment', :now, :now)"
)
CHORUS: Final = """
    WITH made AS (INSERT INTO clients (uuid, site, registered_by, created_at, status, process_status, status_since)
        SELECT '00000000-0000-4000-9000-' || lpad(to_hex(number), 12, '0'), 'Rome', 'enrolment', :now, 'running',
            'running', :now
        FROM generate_series(1, :count) AS number RETURNING uuid)
    INSERT INTO client_heartbeats (client_uuid, last_heartbeat_at) SELECT uuid, :now FROM made
"""
HEARD: Final = (
    "UPDATE client_heartbeats SET last_heartbeat_at = :now WHERE client_uuid LIKE '00000000-0000-4000-9000-%'"
)
LOCKED: Final = sa.text(
    """
    SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = :key AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    """
)
