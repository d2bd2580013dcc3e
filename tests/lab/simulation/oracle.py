"""The judge of a history: it knows the truth about each display, and what the contract lets a tick do.

A breach is about an effect, not about how the code works: a command to a display that works, a forbidden action, a
missing action that the contract demands, a command that ran twice or never ended.
"""

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy import Engine

from tests.lab.simulation.agenda import Agenda, Clocks
from tests.lab.simulation.ailments import GLASS
from tests.lab.simulation.contract import (
    CLIENTS,
    COMMANDS,
    HEALTHY_FOR,
    LADDER,
    SMALL_FLEET,
    Duty,
    Facts,
    Ruling,
    is_healthy,
    rule,
    screen_fails,
    steps_of,
    threshold,
)
from tests.lab.simulation.contract_breakers import Breakers
from tests.lab.simulation.display import Display
from tests.lab.simulation.log_ledger import LogLedger
from tests.lab.simulation.truth import BLINDNESS, Truth, believed_of_glass

if TYPE_CHECKING:
    from datetime import datetime

REBOOT_TTL: Final = 120.0
NOTICE: Final = 90.0
"""Seconds within which a sound service knows what a display reports: two heartbeats, and some room."""
REPORTED: Final = 420.0
"""Further seconds for a screen: three health reports, of which one may be lost."""
DEAF: Final = 180.0
"""Seconds after which a sound service listens again after any fault."""
MOST_REFUSALS: Final = 8
"""How many commands of recovery a display may refuse in an hour; more would be a breach."""
COMMAND: Final = sa.text("SELECT source FROM client_commands WHERE id = :id")
STORED: Final = sa.text("SELECT message, count(*) AS times FROM client_logs GROUP BY message")


@dataclass(frozen=True)
class Breach:
    """A promise that a history broke."""

    kind: str
    at: float
    uuid: str
    words: str

    def __str__(self) -> str:
        return f"{self.kind} at {self.at:.1f} s, {self.uuid}: {self.words}"


class Judge:
    """The judge. It sees every execution of a command, and the database before and after every tick."""

    def __init__(self, engine: Engine, agenda: Agenda, clocks: Clocks, displays: Mapping[str, Display]) -> None:
        self.breaches: list[Breach] = []
        self.figures: Counter[str] = Counter()
        self.waits: list[float] = []  # seconds from a fault to the first action on it
        self.sound_since = 0.0  # when the service's last fault ended; infinite while one lasts
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._agenda, self._clocks, self._displays = agenda, clocks, displays
        self.truth = Truth(displays, clocks.monotonic, lambda: agenda.now)
        self.ledger = LogLedger(lambda: agenda.now, clocks.database)
        self._kept: Any = None  # the ladders and breakers at the time of the copy, and that time
        self._sources: dict[str, str] = {}  # sources of commands, in case the database loses them
        self._for_dark: set[str] = set()  # recovery commands to displays without power or network
        self._breakers = Breakers()
        self._executed: Counter[tuple[int, str]] = Counter()  # by device, because two may share a uuid
        self._issued: dict[str, float] = {}  # command -> when it was seen first
        self._tick_at: float | None = None  # start of the running tick
        self._before: Facts | None = None
        self._rulings: dict[str, Ruling] = {}
        self._by_silence: set[str] = set()  # commands of recovery because of silence
        self._vouched_at: dict[str, set[float]] = {}  # ticks after a person released a breaker
        self._healthy_since: dict[str, datetime] = {}
        self._ladder_from: dict[str, datetime] = {}
        self._unsure_until: dict[str, datetime] = {}

    # --- what displays do ---

    def acted(self, display: Display, action: str, command_id: str) -> None:
        """A display begins to carry out a command."""
        self._executed[id(display), command_id] += 1
        self.figures[f"{action} carried out"] += 1
        if self._executed[id(display), command_id] > 1:
            self._breach("carried out twice", display.uuid, f"{action} {command_id}")
        issued = self._issued.setdefault(command_id, self._agenda.now if self._tick_at is None else self._tick_at)
        source = self._source(command_id)
        if source == "recovery" and issued in self._vouched_at.get(display.uuid, ()):
            self.figures["actions on silence that a person vouched for"] += 1
        elif source == "recovery":
            self._judge_execution(display, action, issued)

    def _source(self, command_id: str) -> str:
        """The command's source; the database may have lost it."""
        if command_id not in self._sources:
            with self._engine.connect() as connection:
                said = connection.execute(COMMAND, {"id": command_id}).scalar_one_or_none()
            self._sources[command_id] = said or "forgotten"
        return self._sources[command_id]

    def _judge_execution(self, display: Display, action: str, issued: float) -> None:
        why = self._needless(display, issued)
        if display.is_ill:
            self.waits.append(issued - display.ill_since)
        elif action != "reboot_host":
            self.figures["restarts of displays that were well"] += 1
        elif why is None:
            self.figures["reboots overtaken by the display's own recovery"] += 1
        if why is not None and action == "reboot_host":
            self._breach("needless reboot", display.uuid, why)

    def _needless(self, display: Display, issued: float) -> str | None:
        """Why this action was needless; None if it was not, or the service could not know."""
        if display.is_ill:
            return None
        well_since = display.last_ill_at
        if well_since is None:
            return "it was never ill"
        if well_since < issued - BLINDNESS - believed_of_glass(display):
            return f"it had been well for {issued - well_since:.0f} s when it was decided"
        if display.booted_at > issued:
            return "it had booted since it was decided"
        if self._agenda.now - well_since > REBOOT_TTL + BLINDNESS + believed_of_glass(display):
            return f"it had been well for {self._agenda.now - well_since:.0f} s when it was carried out"
        return None

    # --- what people do ---

    def resumed(self, uuid: str) -> None:
        """A person resumed recovery: the ladder is reset."""
        self._ladder_from[uuid] = self._clocks.database()
        self._healthy_since.pop(uuid, None)

    def released(self, now: "datetime", sites: Sequence[str | None]) -> None:
        """A person released the breakers of these sites; None is the fleet."""
        self._breakers.release(now, sites)

    # --- the database and the broker ---

    def thrown_out(self) -> None:
        """A broker ended a connection of the bridge, so the listening time begins again."""
        self._breach("thrown out", "-", "more publishes without an answer than the broker takes")

    def keeps(self) -> None:
        """A copy of the database was made."""
        mine = (self._breakers, self._healthy_since, self._ladder_from)
        self._kept = (copy.deepcopy(mine), self._agenda.now)

    def forgets(self) -> None:
        """The copy was restored: later decisions no longer count."""
        mine, since = self._kept
        self._breakers, self._healthy_since, self._ladder_from = copy.deepcopy(mine)
        self.ledger.forgotten.append((since, self._agenda.now))

    def ends(self) -> None:
        """The history is over: check the ledger of log lines."""
        if not self.ledger.lines:
            return
        with self._engine.connect() as connection:
            stored = Counter({row.message: row.times for row in connection.execute(STORED)})
        self.figures["log lines"] += len(self.ledger.lines)
        for kind, uuid, words in self.ledger.faults(stored, self.truth.heard_since(self.sound_since)):
            self._breach(kind, uuid, words)

    # --- what ticks do ---

    def tick_begins(self) -> None:
        """Rule on every client, from the database."""
        self._tick_at = self._agenda.now
        self._before = facts = self._read()
        self._breakers.look(facts)
        self._climb(facts)
        self._rulings = {uuid: self._rule(facts, client) for uuid, client in facts.clients.items()}
        for uuid, said in self._rulings.items():
            if said.by_silence and self._breakers.vouched_for(facts.clients[uuid]):
                self._vouched_at.setdefault(uuid, set()).add(self._tick_at)
        self._forgive()
        self._check_notice(facts)
        self._check_listening(facts)
        self._check_dark(facts)

    def _forgive(self) -> None:
        """Remove duties that the truth does not support.

        A failure stays recorded until a person acknowledges it, and the reports of some displays cannot be trusted.
        """
        for uuid, said in self._rulings.items():
            if uuid not in self._displays:
                continue
            ailment = self._displays[uuid].ailment
            is_over = said.why == "service failed" and (ailment is None or ailment.kind != "failed")
            if said.duty is Duty.MUST and (is_over or self.truth.is_unsure(uuid)):
                self._rulings[uuid] = replace(said, duty=Duty.MAY)

    def tick_ends(self, *, whole: bool, alone: bool) -> bool:
        """Returns whether commands are open. `whole`: the tick ended and no step failed; `alone`: it took no time."""
        before, began, self._tick_at = self._before, self._tick_at, None
        assert before is not None
        assert began is not None
        known = {command.id for command in before.commands}
        after = self._commands_after(before)
        new = [c for c in after.commands if c.source == "recovery" and c.id not in known]
        if new:
            after = self._read()
        for command in new:
            self._issued.setdefault(command.id, began)
            self._sources[command.id] = command.source
            self._check_action(command, after)
            self._check_need(command, after)
        if len(after.open_by_recovery) > after.cap:
            self._breach("cap", "-", f"{len(after.open_by_recovery)} recovery commands are open")
        if whole:
            self.figures["ticks"] += 1
            self._check_ends(before, after)
        if whole and alone:
            self._check_off()
        if whole and alone and not before.is_late and not before.is_deaf:
            self._check_omissions(before, after, {command.client_uuid for command in new})
        return any(command.rank < 90 for command in after.commands)

    def _check_action(self, command: Any, after: Facts) -> None:
        ruling = self._rulings.get(command.client_uuid)
        if ruling is None or command.client_uuid in self._unsure_until:
            return
        self.figures["recovery commands"] += 1
        self.figures["recovery commands for a screen"] += ruling.why == "its screen fails"
        assert self._before is not None
        if not self._before.is_late:  # lateness is decided when a tick begins; a slow tick does not become late
            after = replace(after, last_tick_at=after.now)
        now = self._rule(after, after.clients[command.client_uuid], besides=command)
        for said in (ruling, now):  # an event in the middle of the tick, as the end of a command, may have allowed it
            if said.duty is not Duty.NOT and said.action == command.action:
                if said.by_silence:
                    self._by_silence.add(command.id)
                return
        kind = "fifth action" if ruling.why == "suspended" else "forbidden action"
        self._breach(kind, command.client_uuid, f"{command.action} although: {ruling.why}")

    def _check_need(self, command: Any, after: Facts) -> None:
        """An automatic command is needless if the display really works, or the command cannot help."""
        uuid = command.client_uuid
        why = self.truth.why_needless(uuid, self.sound_since)
        if why is not None and self._issued[command.id] not in self._vouched_at.get(uuid, ()):
            self._breach("needless action", uuid, f"{command.action}: {why}")
        if self.truth.is_dark(uuid):
            self._for_dark.add(command.id)
        own = [c for c in after.commands if c.client_uuid == uuid and c.source == "recovery" and c.state == "rejected"]
        lately = [c for c in own if (after.now - c.created_at).total_seconds() < 3600]
        if len(lately) >= MOST_REFUSALS:
            self._breach("pestered", uuid, f"it refused {len(lately)} commands within the hour, and got another one")

    def _check_dark(self, facts: Facts) -> None:
        """A command to a display without power or network must be proven to reach nobody, and be undone."""
        for command in facts.commands:
            if command.id in self._for_dark and command.sent_at is not None:
                self._for_dark.discard(command.id)
                self._breach("needless action", command.client_uuid, f"{command.action} was sent to a dark display")

    def _check_listening(self, facts: Facts) -> None:
        """A service without a fault must soon listen again."""
        if facts.is_deaf and self._agenda.now - self.sound_since > DEAF:
            self._breach("deaf", "-", f"all is well for {self._agenda.now - self.sound_since:.0f} s, nobody listens")

    def _check_omissions(self, before: Facts, after: Facts, acted: set[str]) -> None:
        """Recovery must act now on every due client, up to the cap."""
        free = before.cap - len([c for c in before.open_by_recovery if not c.is_orphan])
        due = [u for u, said in self._rulings.items() if said.duty is Duty.MUST and u not in self._unsure_until]
        busy = acted | {command.client_uuid for command in after.commands if command.rank < 90}
        omitted = [uuid for uuid in due if uuid not in busy]
        if len(acted) >= free:
            return
        if len(before.clients) < SMALL_FLEET:
            is_busy = any(c.id in self._by_silence and not c.is_orphan for c in after.open_by_recovery)
            is_busy = is_busy or any(self._rulings[uuid].by_silence for uuid in acted)  # one a tick
            omitted = [uuid for uuid in omitted if not (self._rulings[uuid].by_silence and is_busy)]
        for uuid in omitted:
            self._breach("late", uuid, f"due ({self._rulings[uuid].why}) and not acted on, {free} free")

    def _check_ends(self, before: Facts, after: Facts) -> None:
        for command in after.commands:
            over = command.expires_at if command.rank < 30 else command.result_deadline
            if command.rank < 90 and over is not None and over <= before.now:
                self._breach("stuck", command.client_uuid, f"{command.action} is {command.state} since {over}")

    def _check_off(self) -> None:
        """A screen that is off by plan, or while its display is left alone, must not count as failing."""
        with self._engine.connect() as connection:
            rows = connection.execute(CLIENTS, {"now": self._clocks.database()}).all()
        for row in rows:
            if row.screen == "off" and (row.is_let_alone or row.screen_off_by) and screen_fails(row):
                self._breach("planned", row.uuid, "its screen fails, although it is off by plan")

    def _check_notice(self, facts: Facts) -> None:
        """A real fault must be known, unless a fault of the service prevented it."""
        now = self._agenda.now
        for uuid, display in self._displays.items():
            client = facts.clients.get(uuid)
            if client is None or display.ailment is None or not display.is_reachable or self.truth.is_unsure(uuid):
                continue
            since = max(display.ill_since, self.sound_since, display.up_since)
            quiet = threshold(client).total_seconds() + display.nature.interval
            unnoticed = {
                "crashed": now - since > NOTICE + display.nature.interval and client.process_status == "running",
                "failed": now - since > NOTICE and client.service_failed_at is None and not display.is_acknowledged,
                **dict.fromkeys(GLASS, self._is_unseen(display, client, since)),
                "frozen": now - since > quiet + NOTICE and self._rulings[uuid].why == "healthy",
            }
            if unnoticed.get(display.ailment.kind, False):
                self._breach("unnoticed", uuid, f"{display.ailment.kind} for {now - since:.0f} s")

    def _is_unseen(self, display: Display, client: Any, since: float) -> bool:
        """Whether the service does not know that the screen fails, although the screen is on and shows it."""
        seen_for = self._agenda.now - max(since, display.screen_since)
        is_on = display.screen == "ok" and display.off_by is None
        return is_on and seen_for > NOTICE + REPORTED and not screen_fails(client)

    @property
    def is_anything_due(self) -> bool:
        """Whether the last ruling demanded an action."""
        return any(said.duty is Duty.MUST for said in self._rulings.values())

    # --- the ladder, as in the contract ---

    def _climb(self, facts: Facts) -> None:
        """Reset the ladders of clients that were healthy for half an hour."""
        for uuid, client in facts.clients.items():
            if not is_healthy(facts, client):
                self._healthy_since.pop(uuid, None)
                continue
            since = self._healthy_since.setdefault(uuid, facts.now)
            if facts.now - since >= HEALTHY_FOR:
                self._ladder_from[uuid] = facts.now

    def _rule(self, facts: Facts, client: Any, besides: Any = None) -> Ruling:
        """The ruling; `besides`: without this command of the client."""
        if besides is not None:
            facts = replace(facts, commands=[c for c in facts.commands if c.id != besides.id])
        own = [c for c in facts.commands if c.client_uuid == client.uuid]
        steps = min(steps_of(own, self._ladder_from.get(client.uuid)), len(LADDER))
        if besides is not None:
            client = SimpleNamespace(**{**vars(client), "has_open": False, "lockout_until": besides.lockout_before})
        return rule(facts, client, steps, self._breakers)

    def _read(self) -> Facts:
        with self._engine.connect() as connection:
            return Facts.read(connection, self._clocks.database(), self.truth.quiet())

    def _commands_after(self, before: Facts) -> Facts:
        """The facts from before the tick, with the present commands."""
        with self._engine.connect() as connection:
            return replace(before, commands=connection.execute(COMMANDS).all())

    def _breach(self, kind: str, uuid: str, words: str) -> None:
        self.breaches.append(Breach(kind, self._agenda.now, uuid, words))
