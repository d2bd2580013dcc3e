"""The model of the command machine: one client, its display, and the promises that are checked after every step."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from hypothesis.stateful import RuleBasedStateMachine, invariant
from msgspec import Struct
from sqlalchemy import Connection

from displays.simulated.picture import draw
from extensions.screenshots.operations import store_asked
from extensions.screenshots.rules import read_jpeg
from shared.commands import operations
from shared.commands.acks.operations import record_acks
from shared.commands.outbox import operations as outbox
from shared.commands.rules import LOCKING, Ack, Attempt, Claimed
from shared.errors import CommandNotCancellable, ScreenshotNotWanted
from shared.postgres.door import database_now
from shared.postgres.query import Query
from shared.tables import client_commands, clients, screenshots
from shared.vocabulary import COMMAND_RANKS, TERMINAL_RANK, CommandAction, CommandState
from tests.stores.command_chances import NO_BROKER, Fate
from tests.stores.command_coverage import LEGAL, MOVES_OF, end_of
from tests.stores.command_display import Display, Message
from tests.stores.command_faults import Crash, Database, Died
from tests.stores.commands_world import TIMINGS, add_client

c = client_commands.c
AGE, PICTURE = timedelta(0), read_jpeg(draw("Lobby", "12:00", "running"))


class SeenCommand(Struct, frozen=True):
    """The present state of a command, with only the needed columns: decoding rows takes most of a step's time."""

    id: str
    action: str
    state: str
    rank: int
    outcome_reason: str | None
    confirmed_by: str | None
    late_state: str | None
    created_at: datetime
    expires_at: datetime
    result_deadline: datetime | None
    is_over: bool
    is_doubtful: bool
    was_begun: bool
    has_picture: bool
    lockout_until: datetime | None
    """The client's lockout."""


SEEN = Query(
    lambda: (
        sa.select(
            *(c.id, c.action, c.state, c.rank, c.outcome_reason, c.confirmed_by, c.late_state),
            *(c.created_at, c.expires_at, c.result_deadline),
            c.finished_at.is_not(None).label("is_over"),
            c.unanswered_at.is_not(None).label("is_doubtful"),
            (c.running_at.is_not(None)).label("was_begun"),
            sa.exists().where(screenshots.c.command_id == c.id).label("has_picture"),
            clients.c.lockout_until,
        )
        .where(clients.c.uuid == sa.bindparam("client"), c.client_uuid == clients.c.uuid)
        .order_by(c.id)
    ),
    SeenCommand,
)


class CommandModel(RuleBasedStateMachine):
    """One client, its display, and the components that work on its commands."""

    database: Database
    reached: Counter[str]
    display: Display
    bag: list[Message]
    held: list[tuple[Claimed, datetime]]
    asked: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.now, self.client, self.stranger = self.database.run(_set_up)
        self.display = Display(self.client, self.store_picture)
        self.bag = []
        self.held = []
        self.asked = []
        self.keys = self.steps = 0
        self.rows: list[SeenCommand] = []
        self.lockout: datetime | None = None

    def claim(self, crash: Crash | None, *, online: bool) -> list[Claimed]:
        uuids = [self.client] if online else None
        try:
            return self.database.run(lambda connection: outbox.claim_due(connection, self.now, None, uuids), crash)
        except Died:
            heard = crash is not None and crash.committed
            self.reached["a claim that nobody heard of" if heard else "a claim lost"] += 1
            return []

    def put(self, claimed: Claimed, sent_at: datetime, fate: Fate) -> None:
        """Publish: the broker keeps the message for the rest of the command's time to live."""
        if fate.arrives:
            left = int(claimed.expires_in.total_seconds())
            self.bag.append(Message(claimed.payload, sent_at + timedelta(seconds=left)))

    def record(self, claimed: Claimed, fate: Fate, crash: Crash | None) -> None:
        """Record the broker's answer, if the publisher survives."""
        if not fate.recorded:
            self.reached["a publisher that dies before it records"] += 1
            return
        if fate is NO_BROKER:
            self.reached["the broker is down"] += 1
        attempt = Attempt(claimed.id, claimed.lease_until, claimed.attempts, fate.answer, fate.left)
        try:
            self.database.run(
                lambda connection: outbox.record_publish_answers(connection, self.now, [attempt], TIMINGS), crash
            )
        except Died:
            heard = crash is not None and crash.committed
            self.reached["answers recorded unheard" if heard else "answers lost after the publish"] += 1

    def store_acks(self, acks: list[Ack], crash: Crash | None) -> None:
        try:
            report = self.database.run(lambda connection: record_acks(connection, self.now, acks, TIMINGS), crash)
        except Died:
            heard = crash is not None and crash.committed
            self.reached["ACKs stored unheard" if heard else "ACKs lost"] += 1
        else:
            assert not report.unknown
            assert not report.foreign

    def store_picture(self, name: str) -> str | None:
        """Store the display's picture. Returns why it is refused; None if it is stored."""
        try:
            self.database.run(lambda connection: store_asked(connection, self.now, self.client, name, AGE, PICTURE))
        except ScreenshotNotWanted as refusal:
            self.reached["a picture that nobody waited for any more"] += 1
            return refusal.code
        return None

    def sweep(self, connection: Connection) -> operations.ExpiryReport:
        return operations.expire(connection, self.now)

    def survive(self, work: Callable[[Connection], Any], crash: Crash | None) -> None:
        """Do the work, and continue after a death or a legitimate refusal."""
        try:
            self.database.run(work, crash)
        except (Died, CommandNotCancellable):
            return

    # --- what must hold, always ---

    @invariant()
    def every_promise_is_kept(self) -> None:
        self.read()
        assert len(self.open_rows()) == len({row.action == "screenshot" for row in self.open_rows()})
        assert all(times == 1 for times in self.display.effects.values())
        assert all(times <= 1 + self.display.journals_lost for times in self.display.attempts.values())
        for row in self.rows:
            assert row.is_over == (row.rank == TERMINAL_RANK)
            assert row.rank == COMMAND_RANKS[CommandState(row.state)]
            assert row.late_state is None or row.state in {"expired", "timed_out"}
            if row.action == "screenshot":
                assert row.has_picture == (row.state == "succeeded")
                assert row.late_state != "succeeded"
            if row.id in self.display.received:
                self.check_what_the_display_has(row)

    def check_what_the_display_has(self, row: SeenCommand) -> None:
        """Check that no false proof withdrew a command that the display has, and that a restarting display is spared.

        A display that reported that it did not begin is not spared: nothing about it has changed.
        """
        assert not (row.outcome_reason or "").startswith(("cancelled by", "already", "never_published"))
        refused = "rejected" in {row.state, row.late_state}
        if row.action in LOCKING and not refused and (row.state != "failed" or row.was_begun):
            assert self.lockout is not None
            assert self.lockout >= row.created_at + TIMINGS.lockout

    def read(self) -> list[SeenCommand]:
        """Read the client's commands and its lockout."""
        found = self.database.look(SEEN, client=self.client)
        before, self.rows = self.lockout, found
        self.lockout = self.rows[0].lockout_until if self.rows else None
        if before is not None and (self.lockout is None or self.lockout < before):
            self.reached["a lockout given back"] += 1
        return self.rows

    def open_rows(self) -> list[SeenCommand]:
        return [row for row in self.rows if row.rank < TERMINAL_RANK]

    def in_the_way(self, action: str) -> list[SeenCommand]:
        """The open commands beside which this one may not begin."""
        return [row for row in self.open_rows() if (row.action == "screenshot") == (action == "screenshot")]

    def teardown(self) -> None:
        """Check that no command is stuck after its deadline and one tick, and that every move is in the table."""
        deadlines = [row.result_deadline or row.expires_at for row in self.open_rows()]
        self.now = max([self.now, *deadlines])
        self.database.run(self.sweep)
        self.read()
        assert self.open_rows() == []
        moves = self.database.look(MOVES_OF, client=self.client)
        assert set(moves) <= LEGAL
        self.reached.update(f"{source} -> {target}" for source, target in moves)
        self.reached.update(end_of(row.state, row.confirmed_by, row.outcome_reason) for row in self.rows)
        self.reached["kept late"] += sum(row.late_state is not None for row in self.rows)
        self.reached["unanswered"] += sum(row.is_doubtful for row in self.rows)
        self.reached["commands"] += len(self.rows)
        self.reached["effects"] += len(self.display.effects)
        self.reached["interleavings"] += 1


def _set_up(connection: Connection) -> tuple[datetime, str, str]:
    now = database_now(connection)
    able = {"capabilities": [str(action) for action in CommandAction]}
    return now, add_client(connection, now, **able), add_client(connection, now)
