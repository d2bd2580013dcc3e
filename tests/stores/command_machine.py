"""The command machine: random steps of publishers that die, ACKs in any order, sweeps, and a display with a journal.

Time is virtual. Postgres and the transactions are real, and connections die between any two statements. The model is
the reference display, which records what it received and what it did. After every step the promises of
docs/reliability.md are checked, and a trigger records every move of a command.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any, Final

import sqlalchemy as sa
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from sqlalchemy import Connection

from functions.api.idempotency import Keyed, once
from shared.commands import operations, store
from shared.commands.acks.operations import record_acks
from shared.commands.outbox import operations as outbox
from shared.commands.proofs_operations import record_new_starts
from shared.commands.rules import Ack, Sighting
from shared.errors import StateConflict
from shared.postgres.query import NO_ROW, Query, moment
from shared.tables import client_heartbeats, clients
from shared.vocabulary import CommandAction, CommandSource, CommandState
from tests.stores.command_chances import ALL, OPENINGS, SEEDS, TAKEN, Fate, step_of
from tests.stores.command_faults import Crash, Died
from tests.stores.command_model import CommandModel
from tests.stores.commands_world import TIMINGS, request

THREADS: Final = ThreadPoolExecutor(2)
OWN: Final = client_heartbeats.c.client_uuid == sa.bindparam("client")
STORED = Query(
    lambda: sa.select(client_heartbeats.c.boot_id, client_heartbeats.c.app_instance).where(OWN).with_for_update(),
    tuple,
)
STORE = Query(
    lambda: (
        sa.update(client_heartbeats)
        .where(OWN)
        .values(last_heartbeat_at=moment("now"), boot_id=sa.bindparam("boot"), app_instance=sa.bindparam("start"))
    ),
    NO_ROW,
)

APPLIES: Final[dict[str, Callable[["CommandMachine"], object]]] = {
    "withdraw": lambda machine: machine.open_rows(),
    "go_on": lambda machine: machine.held,
    "deliver": lambda machine: machine.bag,
    "forget": lambda machine: machine.display.disk,
    "hear": lambda machine: machine.display.said,
    "babble": lambda machine: machine.asked,
    "forge": lambda machine: machine.asked,
    "beat": lambda machine: machine.display.is_on,
    "come_back": lambda machine: machine.display.is_on,
}


class CommandMachine(CommandModel):
    """Every kind of step that can happen to the commands."""

    @initialize(seed=st.integers(0, SEEDS))
    def begin(self, seed: int) -> None:
        """Issue a first command, and usually publish it at once. Now and then its publisher is slow."""
        opening = OPENINGS[seed % len(OPENINGS)]
        if opening is not None:
            for _ in range(2 if opening[0] is CommandAction.RESTART_APP else 1):
                self.ask(opening[0], CommandSource.OPERATOR, True, 600, None)
                self.work([TAKEN], True, None, None, heard=ALL, delivered=True, how=opening[1], cut=opening[2])
                self.read()
                if opening[0] is CommandAction.RESTART_APP:
                    self.now += timedelta(seconds=130)
                    self.tick(None)
            if opening[0] is CommandAction.REBOOT_HOST and seed % 4:
                self.time_tells(185, silent=False, crash=None)
            return
        self.ask(**step_of(seed, 0, "ask")[1])
        if seed % 4:
            self.work(**step_of(seed, 0, "work")[1])
        elif seed % 8:
            self.hold()

    @rule(seed=st.integers(0, SEEDS))
    def step(self, seed: int) -> None:
        """Take one step. All kinds share one rule: Hypothesis would leave out separate rules in half of the runs."""
        self.steps += 1
        name, drawn = step_of(seed, self.steps)
        note(f"{name} {drawn}")
        if APPLIES.get(name, bool)(self):
            getattr(self, name)(**drawn)

    # --- what people and clocks do ---

    def ask(
        self,
        action: CommandAction,
        source: CommandSource,
        override: bool,
        seconds: int | None,
        crash: Crash | None,
    ) -> None:
        """Issue a command with a key; a caller who gets no answer repeats the request with the same key."""
        self.keys += 1
        wanted = request(
            self.client,
            action,
            source=source,
            override_lockout=override,
            ttl=None if seconds is None else timedelta(seconds=seconds),
        )

        key = Keyed(wanted.requested_by, f"{self.client}-{self.keys}", "the same request")

        def issue(connection: Connection) -> str:
            made = partial(operations.issue, connection, self.now, wanted, TIMINGS)
            return once(connection, key, "client_commands", made, store.get).id

        try:
            try:
                name = self.database.run(issue, crash)
            except Died:
                name = self.database.run(issue)
                if crash is not None and crash.committed:
                    self.reached["a command stored unheard, asked for again"] += 1
        except StateConflict:
            assert self.in_the_way(action) or (self.lockout is not None and self.lockout > self.now)
        else:
            assert not self.in_the_way(action)
            self.asked.append(name)

    def wait(self, passed: float) -> None:
        self.now += timedelta(seconds=passed)

    def tick(self, crash: Crash | None) -> None:
        try:
            report = self.database.run(self.sweep, crash)
        except Died:
            self.reached["a tick that dies"] += 1
            return
        if report.proven and not self.display.is_on:
            self.reached["a shutdown told by silence"] += 1
        for row in self.read():
            assert row.rank >= 30 or row.expires_at > self.now
            assert row.rank not in {30, 40} or (row.result_deadline is not None and row.result_deadline > self.now)

    def time_tells(self, passed: int, silent: bool, crash: Crash | None) -> None:
        """Let time pass; the display is heard, or reported as gone; then a tick runs."""
        self.now += timedelta(seconds=passed)
        if self.display.is_on and not silent:
            self.beat(crash)
        else:
            self.fall_silent(stale=passed > 180)
        self.tick(None)

    def withdraw(self, crash: Crash | None) -> None:
        self.survive(self.cancel, crash)

    def cancel(self, connection: Connection) -> None:
        if self.asked:
            operations.cancel(connection, self.now, self.asked[-1], "anna")

    # --- publishers, alive and dying ---

    def work(
        self, fates: list[Fate], online: bool, claims: Crash | None, records: Crash | None, **display: Any
    ) -> None:
        """A publisher claims what is due and meets its fate; half a minute later another publisher does the same."""
        for number, fate in enumerate(fates):
            self.now += timedelta(seconds=31 if number else 1)
            for claimed in self.claim(claims, online=online):
                self.put(claimed, self.now, fate)
                if fate.arrives and display["delivered"]:
                    self.deliver([0], display["how"], display["cut"])
                    self.store_acks(self.display.said[display["heard"]], None)
                self.record(claimed, fate, records)

    def hold(self) -> None:
        """A slow publisher claims what is due, and does not continue yet."""
        self.held += [(claimed, self.now) for claimed in self.claim(None, online=False)]

    def go_on(self, fate: Fate, late: bool) -> None:
        """The slow publisher continues, perhaps after its lease: it published long ago, and its answer comes now."""
        claimed, since = self.held.pop(0)
        self.put(claimed, since, fate)
        self.now += timedelta(seconds=21 if late else 0)
        if self.now >= claimed.lease_until and fate.recorded:
            self.reached["an answer after its lease"] += 1
        self.record(claimed, fate, None)

    # --- the device ---

    def deliver(self, which: list[int], how: str, cut: int | None) -> None:
        """Deliver the broker's messages, the latest first, perhaps again; power may fail between two effects."""
        for number in which:
            message = self.bag[-1 - number % len(self.bag)]
            before = self.display.received.copy(), self.display.boots
            self.display.take(message, self.now, how, cut)
            if self.display.received == before[0]:
                self.reached["a message delivered again"] += 1
            if cut is not None and self.display.boots > before[1]:
                self.reached["power lost between two steps"] += 1

    def forget(self) -> None:
        self.display.lose_journal()
        self.reached["a journal lost"] += 1

    def start_machine(self) -> None:
        """The machine boots again, for any reason."""
        self.display.start_machine(self.now)

    def hear(self, which: list[int], crash: Crash | None) -> None:
        """ACKs arrive: any that were ever sent, in any order, any number of times; the bridge may die meanwhile."""
        said = self.display.said
        acks = [said[-1 - number % len(said)] for number in which]
        self.store_acks(acks, crash)

    def babble(self, words: list[CommandState]) -> None:
        """The display breaks the contract and sends any ACK of its own command."""
        self.store_acks([Ack(self.client, self.asked[-1], word) for word in words], None)

    def forge(self, word: CommandState) -> None:
        """Another display sends an ACK of this display's command, on its own topic."""
        before = self.read()
        ack = Ack(self.stranger, self.asked[-1], word)
        report = self.database.run(lambda connection: record_acks(connection, self.now, [ack], TIMINGS))
        assert report.foreign == (ack,)
        assert self.read() == before
        self.reached["a forged ACK refused"] += 1

    def beat(self, crash: Crash | None) -> None:
        """Store a heartbeat, with its evidence and its last command, in one transaction as the bridge does."""
        self.survive(self.heartbeat, crash)

    def heartbeat(self, connection: Connection) -> None:
        boot, start = self.display.boot_id, self.display.app_instance
        before = STORED.one(connection, client=self.client)
        STORE.run(connection, client=self.client, now=self.now, boot=boot, start=start)
        record_acks(connection, self.now, self.display.last_command(self.now), TIMINGS)
        if before != (boot, start):
            record_new_starts(connection, self.now, [Sighting(self.client, boot, start)])

    def fall_silent(self, stale: bool) -> None:
        """The broker or the sweep of states reports that the display is gone; its next message brings it back."""
        gone = {"status": "stale", "status_since": self.now} if stale else {"presence": "offline"}
        self.know(**gone, presence_at=self.now)

    def come_back(self) -> None:
        self.know(presence="online", presence_at=self.now, status="running", status_since=self.now)

    def know(self, **facts: Any) -> None:
        change = sa.update(clients).where(clients.c.uuid == self.client).values(**facts)
        self.database.run(lambda connection: connection.execute(change))

    # --- concurrent steps ---

    def at_once(self, pair: list[str]) -> None:
        """Run two steps in threads at once, in whatever order Postgres allows."""
        jobs = {"tick": self.sweep, "claim": self.claim_at_once, "hear": self.hear_all, "beat": self.heartbeat}
        works: list[Callable[[Connection], Any]] = [jobs.get(name, self.cancel) for name in pair]
        for future in [THREADS.submit(self.survive, work, None) for work in works]:
            future.result(timeout=60)
        self.reached["two at once"] += 1

    def claim_at_once(self, connection: Connection) -> None:
        """Claim while another publisher does: each continues with its own commands, and no command is claimed twice."""
        self.held += [(claimed, self.now) for claimed in outbox.claim_due(connection, self.now)]

    def hear_all(self, connection: Connection) -> None:
        record_acks(connection, self.now, self.display.said[-6:], TIMINGS)
