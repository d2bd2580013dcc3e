"""The command machine, told by chance: publishers that die, ACKs in any order, sweeps, a display with a journal.

Virtual time, real Postgres. The model is a display that remembers what it was delivered and what it carried
out; the invariants are the promises of docs/reliability.md.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from hypothesis import HealthCheck, settings
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
        self.actions: dict[str, CommandAction] = {}

    def teardown(self) -> None:
        self.transaction.rollback()
        self.connection.close()

    # --- what people and clocks do ---

    @rule(
        action=st.sampled_from(list(CommandAction)),
        source=st.sampled_from([CommandSource.OPERATOR, CommandSource.RECOVERY]),
        override=st.booleans(),
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
            self.actions[name] = action

    @rule(passed=st.sampled_from([0.5, 5, 21, 31, 61, 130, 601]))
    def wait(self, passed: float) -> None:
        self.now += timedelta(seconds=passed)

    @rule()
    def sweep(self) -> None:
        operations.expire(self.connection, self.now)

        for row in self.rows():
            assert row["rank"] >= 30 or row["expires_at"] > self.now
            assert row["rank"] not in {30, 40} or row["result_deadline"] > self.now

    @precondition(lambda self: self.actions)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.actions)))
        try:
            row = operations.cancel(self.connection, self.now, name, "anna")
        except CommandNotCancellable:
            return
        assert row["state"] == CommandState.CANCELLED

    # --- publishers, alive and dying ---

    @rule(online=st.booleans())
    def claim(self, online: bool) -> None:
        only = [self.client] if online else None
        self.held += operations.claim_due(self.connection, self.now, client_uuids=only)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), arrives=st.booleans())
    def publish(self, data: st.DataObject, arrives: bool) -> None:
        """The broker takes it; it may still not reach the display."""
        claimed = self.take(data)
        if arrives:
            self.deliver(claimed)
        self.answer(claimed, PublishAnswer.SUCCESS, left=True)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), answer=st.sampled_from([PublishAnswer.NO_SUBSCRIBER, PublishAnswer.NOT_AUTHORIZED, 0x97]))
    def be_refused(self, data: st.DataObject, answer: int) -> None:
        self.answer(self.take(data), answer, left=answer < 0x80)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), arrives=st.booleans())
    def lose_the_answer(self, data: st.DataObject, arrives: bool) -> None:
        claimed = self.take(data)
        if arrives:
            self.deliver(claimed)
        self.answer(claimed, None, left=True)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def find_no_broker(self, data: st.DataObject) -> None:
        self.answer(self.take(data), None, left=False)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), arrives=st.booleans())
    def die(self, data: st.DataObject, arrives: bool) -> None:
        """The publisher is killed before it can write anything down."""
        claimed = self.take(data)
        if arrives:
            self.deliver(claimed)

    def take(self, data: st.DataObject) -> Claimed:
        return self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))

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
    @rule(data=st.data())
    def hear(self, data: st.DataObject) -> None:
        """ACKs arrive: any of those ever sent, in any order, any number of times."""
        batch = data.draw(st.lists(st.sampled_from(self.display.said), min_size=1, max_size=4))
        acks = [Ack(self.client, name, word) for name, word in batch]
        report = operations.record_acks(self.connection, self.now, acks, TIMINGS)
        assert not report.unknown
        assert not report.foreign

    @precondition(lambda self: self.actions)
    @rule(data=st.data(), word=st.sampled_from([CommandState.RECEIVED, *RESULTS]))
    def forge(self, data: st.DataObject, word: CommandState) -> None:
        """Another display speaks of this one's command."""
        before = self.rows()
        ack = Ack(self.stranger, data.draw(st.sampled_from(list(self.actions))), word)
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
    def moves_go_up_and_ends_are_ends(self) -> None:
        for row in self.rows():
            rank, state = self.seen.get(row["id"], (0, ""))
            assert row["rank"] >= rank
            assert rank < TERMINAL_RANK or row["state"] == state
            self.seen[row["id"]] = (row["rank"], row["state"])

    @invariant()
    def one_is_open(self) -> None:
        assert len(self.open_commands()) <= 1

    @invariant()
    def nothing_is_carried_out_twice(self) -> None:
        assert all(times == 1 for times in self.display.carried_out.values())

    @invariant()
    def what_was_withdrawn_never_reached_the_display(self) -> None:
        for row in self.rows():
            by_proof = (row["outcome_reason"] or "").startswith(("cancelled by", "already", "never_published"))
            assert not by_proof or row["id"] not in self.display.delivered

    @invariant()
    def who_was_restarted_is_spared(self) -> None:
        until = lockout(self.connection, self.client)
        for row in self.rows():
            if row["id"] in self.display.delivered and row["action"] in LOCKING:
                assert until is not None
                assert until >= row["created_at"] + TIMINGS.lockout

    @invariant()
    def stamps_tell_the_state(self) -> None:
        for row in self.rows():
            assert (row["finished_at"] is not None) == (row["rank"] == TERMINAL_RANK)
            assert row["rank"] == COMMAND_RANKS[CommandState(row["state"])]
            assert row["late_state"] is None or row["state"] in {"expired", "timed_out"}

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
            stateful_step_count=25,
            deadline=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
