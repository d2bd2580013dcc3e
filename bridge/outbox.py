"""Publish to displays: commands from the outbox, receipts of logs, and opening hours.

A command is claimed in Postgres, published without waiting, and its answer from the broker is recorded. The bridge has
one thread, so it collects the answers over several turns of its loop. A receipt (`logs_committed`) tells a display how
far its logs are stored, `hours` when its screen is meant to be on; their answers are not awaited.
"""

import itertools
import time
from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from sqlalchemy import Connection

from bridge.connection import BrokerConnection
from bridge.lanes import Lanes
from bridge.leader import Leader
from shared.client_logs.rules import Boot, has_ended
from shared.clients import hours_store
from shared.clients.hours_rules import message
from shared.commands.outbox import operations as outbox
from shared.commands.outbox.operations import attempted
from shared.commands.rules import Attempt, Claimed, Timings
from shared.outside.topics import Topics
from shared.postgres.door import database_now
from shared.vocabulary import REFUSED_FROM

EVERY_SECONDS: Final = 1.0
ANSWER_SECONDS: Final = 3.0  # the broker must answer in this time; below the lease of 20 s
CANARY: Final = 1  # one publish is always kept free, for the canary


class Outbox:
    """The claimed commands whose answers from the broker are awaited."""

    def __init__(self, topics: Topics, timings: Timings) -> None:
        """No answer is awaited."""
        self._topics = topics
        self._timings = timings
        self._awaited: dict[int, Claimed] = {}  # by the number of the publish
        self._attempts: list[Attempt] = []
        self._online: set[str] = set()  # displays that came online since the last claim
        self._due_at = 0.0
        self._give_up_at = 0.0

    def came_online(self, uuids: set[str]) -> None:
        """Make the commands of these displays due now."""
        self._online |= uuids
        if uuids:
            self._due_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether to claim now. Not before every answer to the last claim is recorded."""
        return not self._awaited and not self._attempts and time.monotonic() >= self._due_at

    @property
    def has_answers(self) -> bool:
        """Whether every publish is answered or given up, and the answers are not recorded yet."""
        return bool(self._attempts) and not self._awaited

    def work(self, leader: Leader, broker: BrokerConnection) -> None:
        """Take answers, record them once all are there, and publish the commands that are due."""
        self.take_answers(broker)
        if self.has_answers:
            with leader.database() as database:
                self.record(database)
        if broker.is_ready and self.is_due:
            with leader.database() as database:
                self.publish(database, broker)

    def publish(self, database: Connection, broker: BrokerConnection) -> None:
        """Claim the commands that are due, commit, and publish them. Then do so for displays that came online.

        Publish no more than the broker takes at once: at one more it ends the connection, and nobody knows which
        commands arrived. The other commands stay queued and can be cancelled.
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
        """Publish for displays that came online. Of a display's two open commands one may wait for its next time."""
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
            topic = self._topics.commands(command.client_uuid)
            number = broker.publish(topic, command.payload, expiry, watch=True) if expiry >= 1 else None
            if number is None:
                self._attempts.append(attempted(command, None, may_have_left=False))
            else:
                self._awaited[number] = command
        if len(claimed) >= most:
            self._due_at = 0.0
        return [command.client_uuid for command in claimed]

    def take_answers(self, broker: BrokerConnection) -> None:
        """Take the broker's answers. At the timeout, or when the connection is over, the rest counts as unanswered."""
        for number in list(broker.answers):
            answer = broker.answers.pop(number)
            if (command := self._awaited.pop(number, None)) is not None:
                self._attempts.append(attempted(command, answer, may_have_left=answer < REFUSED_FROM))
        if self._awaited and (broker.fault is not None or time.monotonic() >= self._give_up_at):
            self._attempts += [attempted(command, None, may_have_left=True) for command in self._awaited.values()]
            self._awaited.clear()

    def record(self, database: Connection) -> None:
        """Record in the database how publishing went."""
        with database.begin():
            outbox.record_publish_answers(database, database_now(database), self._attempts, self._timings)
        self._attempts = []


RECEIPT_EXPIRY_SECONDS: Final = 300


class Receipts:
    """Receipts that are still to be sent: the newest committed mark of each boot."""

    def __init__(self, topics: Topics) -> None:
        """No mark waits."""
        self._topics = topics
        self._unsent: dict[Boot, int] = {}

    def committed(self, marks: Mapping[Boot, int]) -> None:
        """Queue a receipt for each boot: its log lines up to this number are committed."""
        self._unsent |= marks

    def forget_all(self) -> None:
        """Drop all receipts: the database may have lost commits. Displays without a receipt send their logs again."""
        self._unsent = {}

    def forget(self, ended: Collection[Boot]) -> None:
        """Drop the receipts of ended boots, and of later boots of the same installations.

        Their displays may number log lines from 1 again.
        """
        if ended:
            gone = [boot for boot in self._unsent if any(has_ended(boot, one) for one in ended)]
            for boot in gone:
                del self._unsent[boot]

    def tell(self, broker: Lanes) -> None:
        """Send as many receipts as the broker takes now. A display that misses its receipt sends its logs again."""
        if self._unsent:
            sent = broker.bulk.tell(map(self._message, self._unsent.items()), RECEIPT_EXPIRY_SECONDS)
            for boot in list(itertools.islice(self._unsent, sent)):
                del self._unsent[boot]

    def _message(self, mark: tuple[Boot, int]) -> tuple[str, bytes]:
        (uuid, install_id, boot_seq), seq = mark
        told = {"install_id": install_id, "boot_seq": boot_seq, "seq": seq}
        return self._topics.logs_committed(uuid), msgspec.json.encode(told)


HOURS_EVERY_SECONDS: Final = 5.0
HOURS_EXPIRY_SECONDS: Final = 300
HOURS_AGAIN_SECONDS: Final = 60.0  # until then a display may say that it keeps what was sent
HOURS_AT_ONCE: Final = 200


class HoursTeller:
    """Sends opening hours to the displays that keep other ones, again each minute until they say that they keep them.

    What was sent is remembered only here: after a restart it is sent once more, which changes nothing on a display.
    """

    def __init__(self, topics: Topics) -> None:
        """Nothing was sent."""
        self._topics = topics
        self._sent: dict[str, tuple[str | None, float]] = {}  # uuid -> version, and when it was sent
        self._due_at = 0.0

    def came_online(self, uuids: Collection[str]) -> None:
        """Send again to these displays: what was sent before may be lost."""
        for uuid in uuids:
            self._sent.pop(uuid, None)

    def tell(self, leader: Leader, broker: Lanes) -> None:
        """Send what is due, as much as the broker takes now."""
        now = time.monotonic()
        if now < self._due_at or not broker.bulk.room():
            return
        self._due_at = now + HOURS_EVERY_SECONDS
        self._sent = {uuid: sent for uuid, sent in self._sent.items() if now - sent[1] < HOURS_AGAIN_SECONDS}
        lately = [hours_store.Kept(uuid, version) for uuid, (version, _) in self._sent.items()]
        with leader.database() as database, database.begin():
            untold = hours_store.untold(database, lately, HOURS_AT_ONCE)
        messages = [(self._topics.hours(one.uuid), message(one.version, one.hours)) for one in untold]
        sent = broker.bulk.tell(messages, HOURS_EXPIRY_SECONDS)
        self._sent |= {one.uuid: (one.version, now) for one in untold[:sent]}
