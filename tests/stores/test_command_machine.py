"""The command machine, told by chance: publishers that die, ACKs in any order, sweeps, a display with a journal.

Virtual time, real Postgres. The model is a display that remembers what it was delivered and what it carried
out; the invariants are the promises of docs/reliability.md.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from sqlalchemy import Engine

from shared.commands import operations
from shared.commands.rules import LOCKING, Ack, Attempt, Claimed, Sighting
from shared.db import database_now
from shared.errors import CommandNotCancellable, StateConflict
from shared.tables import client_commands, client_heartbeats
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandAction, CommandSource, CommandState, PublishAnswer
from tests.stores.commands_world import TIMINGS, add_client, lockout, request

RESULTS = [CommandState.SUCCEEDED, CommandState.FAILED, CommandState.REJECTED]


@dataclass(frozen=True)
class Fate:
    """What becomes of one publish."""

    answer: int | None = None
    left: bool = False
    arrives: bool = False
    recorded: bool = True
    """False: the publisher is killed before it can write anything down."""


TAKEN = Fate(PublishAnswer.SUCCESS, left=True, arrives=True)
VANISHED = Fate(PublishAnswer.SUCCESS, left=True)  # taken, but the display is gone
NOBODY = Fate(PublishAnswer.NO_SUBSCRIBER, left=True)
LOST = Fate(left=True, arrives=True)  # it arrives, the answer does not
KILLED = Fate(left=True, arrives=True, recorded=False)
NO_BROKER = Fate()
REFUSED = Fate(0x97)  # quota exceeded: not now
DENIED = Fate(PublishAnswer.NOT_AUTHORIZED)
FATES = st.sampled_from([NOBODY, NOBODY, NOBODY, LOST, KILLED, KILLED, TAKEN, VANISHED, NO_BROKER, REFUSED, DENIED])


@dataclass
class Display:
    """What really happened on the device."""

    boot: int = 1
    delivered: dict[str, datetime] = field(default_factory=dict)
    """When each command first reached it."""
    carried_out: Counter[str] = field(default_factory=Counter)
    said: list[tuple[str, CommandState]] = field(default_factory=list)
    """Every ACK it ever sent: any of them may arrive at any time, more than once."""


class CommandMachine(RuleBasedStateMachine):
    """One client, its display, and everybody who works on its commands."""

    engine: Engine

    def __init__(self) -> None:
        super().__init__()
        self.connection = self.engine.connect()
        self.transaction = self.connection.begin()
        self.now = database_now(self.connection)
        self.client = add_client(self.connection, self.now)
        self.stranger = add_client(self.connection, self.now)
        self.display = Display()
        self.held: list[Claimed] = []
        self.seen: dict[str, tuple[int, str]] = {}
        self.asked: list[str] = []

    def teardown(self) -> None:
        self.transaction.rollback()
        self.connection.close()

    # --- what people and clocks do ---

    @rule(
        action=st.sampled_from(list(CommandAction)),
        source=st.sampled_from([CommandSource.RECOVERY, CommandSource.OPERATOR]),
        override=st.sampled_from([True, True, False]),
    )
    def ask(self, action: CommandAction, source: CommandSource, override: bool) -> None:
        wanted = request(self.client, action, source=source, override_lockout=override)
        open_before = self.open_commands()
        try:
            name = operations.issue(self.connection, self.now, wanted, TIMINGS)["id"]
        except StateConflict:
            assert open_before or self.is_locked()
        else:
            assert not open_before
            self.asked.append(name)

    @rule(passed=st.sampled_from([5, 31, 130, 601]))
    def wait(self, passed: float) -> None:
        self.now += timedelta(seconds=passed)

    @rule()
    def sweep(self) -> None:
        operations.expire(self.connection, self.now)

        for row in self.rows():
            assert row["rank"] >= 30 or row["expires_at"] > self.now
            assert row["rank"] not in {30, 40} or row["result_deadline"] > self.now

    @precondition(lambda self: self.asked)
    @rule()
    def withdraw(self) -> None:
        try:
            row = operations.cancel(self.connection, self.now, self.asked[-1], "anna")
        except CommandNotCancellable:
            return
        assert row["state"] == CommandState.CANCELLED

    # --- publishers, alive and dying ---

    @rule(first=FATES, second=FATES, online=st.booleans())
    def work(self, first: Fate, second: Fate, online: bool) -> None:
        """A publisher claims what is due and meets its fate; half a minute later another one does."""
        for fate in (first, second):
            for claimed in self.claim(online=online):
                self.meet(claimed, fate)
            self.now += timedelta(seconds=31)

    @rule()
    def hold(self) -> None:
        """A publisher claims what is due and is slow."""
        self.held += self.claim(online=False)

    @precondition(lambda self: self.held)
    @rule(fate=FATES)
    def go_on(self, fate: Fate) -> None:
        """The slow one goes on, perhaps after its lease."""
        self.meet(self.held.pop(0), fate)

    def claim(self, *, online: bool) -> list[Claimed]:
        return operations.claim_due(self.connection, self.now, client_uuids=[self.client] if online else None)

    def meet(self, claimed: Claimed, fate: Fate) -> None:
        if fate.arrives:
            self.deliver(claimed)
        if fate.recorded:
            self.answer(claimed, fate.answer, left=fate.left)

    def answer(self, claimed: Claimed, answer: int | None, *, left: bool) -> None:
        attempt = Attempt(claimed.id, claimed.lease_until, claimed.attempts, answer, left)
        operations.record_publish_answers(self.connection, self.now, [attempt], TIMINGS)

    def deliver(self, claimed: Claimed) -> None:
        """The display's side: expired messages are dropped by the broker, known ids by the journal.

        A publisher gives up long before its lease ends, so nothing is sent after it.
        """
        if self.now >= claimed.lease_until:
            return
        name = claimed.id
        if name in self.display.delivered:
            return
        self.display.delivered[name] = self.now
        self.display.carried_out[name] += 1
        self.display.said += [(name, CommandState.RECEIVED), (name, CommandState.RUNNING)]
        self.display.said += [(name, RESULTS[len(self.display.delivered) % 3])]

    # --- what the display says ---

    @precondition(lambda self: self.display.said)
    @rule(which=st.lists(st.integers(0, 99), min_size=1, max_size=4))
    def hear(self, which: list[int]) -> None:
        """ACKs arrive: any of those ever sent, in any order, any number of times."""
        said = self.display.said
        acks = [Ack(self.client, *said[number % len(said)]) for number in which]
        report = operations.record_acks(self.connection, self.now, acks, TIMINGS)
        assert not report.unknown
        assert not report.foreign

    @precondition(lambda self: self.asked)
    @rule(word=st.sampled_from([CommandState.RECEIVED, *RESULTS]))
    def forge(self, word: CommandState) -> None:
        """Another display speaks of this one's command."""
        before = self.rows()
        ack = Ack(self.stranger, self.asked[-1], word)
        assert operations.record_acks(self.connection, self.now, [ack], TIMINGS).foreign == (ack,)
        assert self.rows() == before

    @rule()
    def reboot(self) -> None:
        """The display boots, for whatever reason, and its heartbeat says so."""
        self.display.boot += 1
        boot, start = f"boot-{self.display.boot}", f"start-{self.display.boot}"
        operations.record_boot_evidence(self.connection, self.now, [Sighting(self.client, boot, start)])
        beats = sa.update(client_heartbeats).where(client_heartbeats.c.client_uuid == self.client)
        self.connection.execute(beats.values(boot_id=boot, app_instance=start))

    # --- what must hold, always ---

    @invariant()
    def every_promise_is_kept(self) -> None:
        rows, until = self.rows(), lockout(self.connection, self.client)
        assert sum(row["rank"] < TERMINAL_RANK for row in rows) <= 1
        assert all(times == 1 for times in self.display.carried_out.values())
        for row in rows:
            self.check_moves_go_up_and_ends_are_ends(row)
            self.check_stamps_tell_the_state(row)
            if row["id"] in self.display.delivered:
                self.check_what_the_display_has(row, until)

    def check_moves_go_up_and_ends_are_ends(self, row: dict[str, Any]) -> None:
        rank, state = self.seen.get(row["id"], (0, ""))
        assert row["rank"] >= rank
        assert rank < TERMINAL_RANK or row["state"] == state
        self.seen[row["id"]] = (row["rank"], row["state"])

    def check_stamps_tell_the_state(self, row: dict[str, Any]) -> None:
        assert (row["finished_at"] is not None) == (row["rank"] == TERMINAL_RANK)
        assert row["rank"] == COMMAND_RANKS[CommandState(row["state"])]
        assert row["late_state"] is None or row["state"] in {"expired", "timed_out"}

    def check_what_the_display_has(self, row: dict[str, Any], until: datetime | None) -> None:
        """It was not withdrawn on a false proof, and a display that restarts is spared."""
        assert not (row["outcome_reason"] or "").startswith(("cancelled by", "already", "never_published"))
        if row["action"] in LOCKING:
            assert until is not None
            assert until >= row["created_at"] + TIMINGS.lockout

    def rows(self) -> list[dict[str, Any]]:
        query = sa.select(client_commands).where(client_commands.c.client_uuid == self.client)
        return [dict(row) for row in self.connection.execute(query.order_by(client_commands.c.id)).mappings()]

    def open_commands(self) -> list[dict[str, Any]]:
        return [row for row in self.rows() if row["rank"] < TERMINAL_RANK]

    def is_locked(self) -> bool:
        until = lockout(self.connection, self.client)
        return until is not None and until > self.now


def test_no_interleaving_breaks_a_promise(engine: Engine) -> None:
    class Machine(CommandMachine):
        pass

    Machine.engine = engine
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=30,
            stateful_step_count=30,
            deadline=None,
            database=None,
            phases=[Phase.generate],  # shrinking one of these takes minutes and its steps are readable as they are
            suppress_health_check=list(HealthCheck),
        ),
    )
