"""What the bridge sends to displays over its own connection: commands, and receipts of logs.

Commands: claim, publish without waiting, write down the answers. One thread does it all, so the wait for the broker's
answers is spread over the turns of the loop. Receipts (`logs_committed`) say how far logs are stored; nobody waits for
their answers.
"""

import itertools
import time
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec
from sqlalchemy import Connection

from bridge.connection import REFUSED, BrokerConnection
from bridge.lanes import Lanes
from bridge.leader import Leader
from shared.client_logs.rules import Boot, has_ended
from shared.commands.outbox import operations as outbox
from shared.commands.outbox.operations import attempted
from shared.commands.rules import Attempt, Claimed, Timings
from shared.postgres.door import database_now

EVERY_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 3.0  # below the lease of 20 s
CANARY: Final = 1  # message for which there must be room at any time


class Outbox:
    """Holds the claims whose answers are awaited. `is_due` says when to claim again."""

    def __init__(self, topic_of: Callable[[str], str], timings: Timings) -> None:
        """`topic_of` gives the command topic of a client's uuid."""
        self._topic_of = topic_of
        self._timings = timings
        self._awaited: dict[int, Claimed] = {}  # by the number of the publish
        self._attempts: list[Attempt] = []
        self._online: set[str] = set()  # who came online since the last claim
        self._due_at = 0.0
        self._give_up_at = 0.0

    def came_online(self, uuids: set[str]) -> None:
        """The commands that wait for these displays are due now, however many they are."""
        self._online |= uuids
        if uuids:
            self._due_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether to claim: not while answers are awaited or to be written down."""
        return not self._awaited and not self._attempts and time.monotonic() >= self._due_at

    @property
    def has_answers(self) -> bool:
        """Whether everything published is answered, or given up, and waits to be written down."""
        return bool(self._attempts) and not self._awaited

    def work(self, leader: Leader, broker: BrokerConnection) -> None:
        """Take answers, write them down once all are there, and publish what is due."""
        self.take_answers(broker)
        if self.has_answers:
            with leader.database() as database:
                self.record(database)
        if broker.is_ready and self.is_due:
            with leader.database() as database:
                self.publish(database, broker)

    def publish(self, database: Connection, broker: BrokerConnection) -> None:
        """Claim what is due, commit that, and publish it; then what waited for displays that came online.

        No more than the broker takes at once: it ends the connection at one more, and every command is in doubt then.
        What is not claimed waits, and may be cancelled.
        """
        room = min(broker.room(CANARY), outbox.CLAIM_AT_ONCE)
        if not room:
            return
        self._due_at = time.monotonic() + EVERY_SECONDS
        self._give_up_at = time.monotonic() + ANSWER_SECONDS
        self._publish_claimed(database, broker, max(1, room // 2) if self._online else room, None)
        if self._online and (room := min(broker.room(CANARY), outbox.CLAIM_AT_ONCE)):
            self._publish_online(database, broker, room)

    def _publish_online(self, database: Connection, broker: BrokerConnection, most: int) -> None:
        """Publish for displays that came online. Each of them has one open command at most."""
        claimed = self._publish_claimed(database, broker, most, self._online)
        self._online = self._online - set(claimed) if len(claimed) >= most else set()

    def _publish_claimed(
        self, database: Connection, broker: BrokerConnection, most: int, online: set[str] | None
    ) -> list[str]:
        """Claim and publish. Returns the clients whose commands were claimed."""
        with database.begin():
            claimed = outbox.claim_due(database, database_now(database), client_uuids=online, limit=most)
        for command in claimed:
            expiry = int(command.expires_in.total_seconds())
            topic = self._topic_of(command.client_uuid)
            number = broker.publish(topic, command.payload, expiry, watch=True) if expiry >= 1 else None
            if number is None:
                self._attempts.append(attempted(command, None, may_have_left=False))
            else:
                self._awaited[number] = command
        if len(claimed) >= most:
            self._due_at = 0.0
        return [command.client_uuid for command in claimed]

    def take_answers(self, broker: BrokerConnection) -> None:
        """Take the broker's answers; after a while, or when the connection is over, the rest is unanswered."""
        for number in list(broker.answers):
            answer = broker.answers.pop(number)
            if (command := self._awaited.pop(number, None)) is not None:
                self._attempts.append(attempted(command, answer, may_have_left=answer < REFUSED))
        if self._awaited and (broker.fault is not None or time.monotonic() >= self._give_up_at):
            self._attempts += [attempted(command, None, may_have_left=True) for command in self._awaited.values()]
            self._awaited.clear()

    def record(self, database: Connection) -> None:
        """Write down how publishing went."""
        with database.begin():
            outbox.record_publish_answers(database, database_now(database), self._attempts, self._timings)
        self._attempts = []


RECEIPT_EXPIRY_SECONDS: Final = 300


class Receipts:
    """Marks that are committed and not told yet. Of each boot only the newest waits."""

    def __init__(self, topic_of: Callable[[str], str]) -> None:
        """`topic_of` gives the topic of a client's uuid on which its display listens."""
        self._topic_of = topic_of
        self._untold: dict[Boot, int] = {}

    def committed(self, marks: Mapping[Boot, int]) -> None:
        """Everything up to these numbers is stored for good."""
        self._untold |= marks

    def forget_all(self) -> None:
        """The database may have lost what was stored: displays send it again, and are told then."""
        self._untold = {}

    def forget(self, ended: Collection[Boot]) -> None:
        """The displays of these boots may number them, and the later ones of their installations, from 1 again."""
        if ended:
            gone = [boot for boot in self._untold if any(has_ended(boot, one) for one in ended)]
            for boot in gone:
                del self._untold[boot]

    def tell(self, broker: Lanes) -> None:
        """Send as many marks as the broker takes now. A display that misses its mark sends its logs again."""
        if self._untold:
            told = broker.bulk.tell(map(self._message, self._untold.items()), RECEIPT_EXPIRY_SECONDS)
            for boot in list(itertools.islice(self._untold, told)):
                del self._untold[boot]

    def _message(self, mark: tuple[Boot, int]) -> tuple[str, bytes]:
        (uuid, install_id, boot_seq), seq = mark
        return self._topic_of(uuid), msgspec.json.encode({"install_id": install_id, "boot_seq": boot_seq, "seq": seq})
