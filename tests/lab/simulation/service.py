"""The service in a history: the real bridge, the real tick and an operator, on a real database, in virtual time.

The code is that of production; only time and the socket to the broker are simulated. Each part can be away, slow, hung
or killed, at any statement and at any publish.
"""

import itertools
import random
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from unittest.mock import patch

from sqlalchemy import Engine

from bridge import batches, duties, lanes, loop
from bridge.connection import KEEPALIVE_SECONDS
from bridge.inbox import Arrival
from bridge.leader import DatabaseAway, LeadershipLost
from bridge.loop import BridgeLoop
from bridge.status import Snapshots
from shared.config import Config
from shared.errors import BrokerUnavailable, PublishUnanswered
from shared.outside.topics import Topics
from tests.lab.simulation.agenda import Agenda
from tests.lab.simulation.broker import KEEPALIVE_GRACE, Message, SimulatedBroker
from tests.lab.simulation.gate import Gate, Killed
from tests.lab.simulation.wire import ROOT

SESSION_EXPIRY: Final = 86_400.0
CALM_SECONDS: Final = 20.0  # between two turns of an idle bridge
STANDBY_SECONDS: Final = 5.0  # between two attempts to lead
CONNECT_SECONDS: Final = 0.5  # between two checks of a connection that is not ready
BUSY_SECONDS: Final = 5.0  # while commands are open
TICK: Final = 60.0  # the tick sweeps shown states too, and recovery does not use them
PUBLISHED_MAX: Final = 200  # the most publishes at a time
ANSWER_SECONDS: Final = 0.02  # of a strict broker for a PUBACK
HOT_SECONDS: Final = 0.3  # after a message that may matter
"""Messages that only repeat known state wait for the next turn; they are stored with their time of arrival."""


class ServiceConnection:
    """Replaces `bridge.connection.BrokerConnection`."""

    has_more = True  # so that the bridge waits for no socket
    wants_to_write = False
    socket = None

    def __init__(self, host: "BridgeHost", client_id: str, topics: Iterable[str]) -> None:
        self.is_open, self.is_ready, self.found_session = False, False, False
        self.lacks: list[object] = []  # the broker grants everything; only its Receive Maximum may be low
        self.is_cut = False
        self.fault: str | None = None
        self.arrivals: deque[Arrival] = deque()
        self.answers: dict[int, int] = {}
        self.dropped = 0
        self._host, self._id, self._topics = host, client_id, tuple(topics)
        self._unanswered = 0
        self.unread: deque[Message] = deque()  # while the process hangs
        self._messages: deque[Message] = deque()  # of the arrivals
        self._number = 0

    def open(self) -> None:
        broker = self._host.broker
        if not broker.is_up:
            self.fault = "cannot be reached"
            return
        self.found_session = broker.connect(self._id, self, SESSION_EXPIRY, None)
        broker.subscribe(self._id, self._topics)
        self.is_open = self.is_ready = True

    def room(self, kept_free: int = 0) -> int:
        """How many publishes the broker takes now, with `kept_free` reserved."""
        most = self._host.broker.receive_maximum
        if not self.is_ready or self.fault is not None:
            return 0
        return PUBLISHED_MAX if most is None else max(0, most - kept_free - self._unanswered)

    def step(self, _seconds: float) -> None:
        """Do nothing: the agenda delivers messages."""

    def acknowledge(self, count: int) -> None:
        for _ in range(count):
            self.arrivals.popleft()
            if self.fault is None:
                message = self._messages.popleft()
                self._host.broker.acknowledge(self._id, message)
                if not message.is_retained:
                    self._host.took(message.topic)

    def publish(self, topic: str, payload: bytes, expiry_seconds: int, *, watch: bool = False) -> int | None:
        if not self.is_ready or self.fault is not None:
            return None
        self._number += 1
        most = self._host.broker.receive_maximum
        if most is not None:
            return self._publish_to_a_strict_one(most, self._number, (topic, payload, expiry_seconds), watch=watch)
        code = self._host.broker.publish(topic, payload, expiry_seconds)
        if watch:
            self.answers[self._number] = code
        return self._number

    def _publish_to_a_strict_one(
        self, most: int, number: int, message: tuple[str, bytes, int], *, watch: bool
    ) -> int | None:
        """Publish to a broker whose PUBACKs take time, and which disconnects senders that exceed its maximum (0x93)."""
        if self._unanswered >= most:
            self._host.broker.drop(self._id, self)
            self.lost("disconnected: Receive Maximum exceeded")
            self._host.thrown_out()
            return number
        self._unanswered += 1
        code = self._host.broker.publish(*message)
        self._host.agenda.after(ANSWER_SECONDS, lambda: self._answered(number if watch else None, code))
        return number

    def _answered(self, number: int | None, code: int) -> None:
        self._unanswered -= 1
        if self.fault is None:
            if number is not None:
                self.answers[number] = code
            self._host.poke(HOT_SECONDS)

    def tell(self, messages: Iterable[tuple[str, bytes]], expiry_seconds: int) -> int:
        most = self._host.broker.receive_maximum
        room = None if most is None else max(0, most - self._unanswered)
        taken = itertools.islice(messages, room)
        return sum(self.publish(topic, payload, expiry_seconds) is not None for topic, payload in taken)

    def unsubscribe(self, topics: Iterable[str]) -> None:
        self._host.broker.unsubscribe(self._id, topics)

    def leave(self, _farewell: str, _seconds: float) -> None:
        self._host.broker.disconnect(self._id)
        self.lost("left")

    def abort(self, why: str) -> None:
        self._host.broker.drop(self._id, self)
        self.lost(why)

    # --- the broker's side ---

    def deliver(self, message: Message) -> None:
        if self._host.is_hung:
            self.unread.append(message)
            return
        self._number += 1
        self._messages.append(message)
        heard = self._host.clock()
        self.arrivals.append(Arrival(message.topic, message.payload, self._number, heard, message.is_retained))
        self._host.poke(HOT_SECONDS if self._host.is_news(message) else CALM_SECONDS)

    def lost(self, why: str) -> None:
        self.fault = self.fault or why
        self.is_open = self.is_ready = False
        self._host.poke(HOT_SECONDS)


@dataclass
class Host:
    """The environment of a bridge: the settings, a database behind a gate, the broker, the agenda.

    `clock` is monotonic, in seconds; `took` is called with the topic of each message that the bridge reads;
    `thrown_out` is called when a broker ends a connection.
    """

    config: Config
    engine: Engine
    gate: Gate
    broker: SimulatedBroker
    agenda: Agenda
    clock: Callable[[], float]
    took: Callable[[str], None]
    thrown_out: Callable[[], None]


class BridgeHost:
    """One bridge process: it runs, hangs, or is down. It takes a turn when something is due."""

    def __init__(self, host: Host, name: str, is_busy: Callable[[], bool]) -> None:
        """`is_busy`: whether commands are being delivered."""
        self.broker, self.agenda, self.gate = host.broker, host.agenda, host.gate
        self.clock, self.took, self.thrown_out = host.clock, host.took, host.thrown_out
        self.is_hung = False
        self._host, self._name, self._is_busy = host, name, is_busy
        self._bridge: BridgeLoop | None = None
        self._connections: list[ServiceConnection] = []
        self._told: dict[str, bytes] = {}  # topic of a heartbeat -> the last reported state of the player
        self._is_turning = False
        self._stops_after_turn = False
        self._turn_at: float | None = None

    def connection(self, _url: str, username: str, _password: str, topics: Iterable[str]) -> ServiceConnection:
        """Make a simulated connection instead of `BrokerConnection(...)`."""
        if username.endswith(lanes.URGENT_SUFFIX):
            topics = [topic for topic in topics if not topic.endswith("/canary")]  # only for /metrics
        made = ServiceConnection(self, username, topics)
        self._connections = [one for one in self._connections if one.fault is None] + [made]
        return made

    def is_news(self, message: Message) -> bool:
        """Whether this message has more than known state."""
        kind = message.topic.rpartition("/")[2]
        if kind == "heartbeat":
            told = message.payload.partition(b'"boot_id"')[2].partition(b'"interval_seconds"')[0]
            before, self._told[message.topic] = self._told.get(message.topic), told
            return told != before
        return kind not in {"health", "canary"}

    def start(self) -> None:
        """Start, or start again after a kill; a pending stop is cancelled."""
        self._stops_after_turn = False
        if self._bridge is None:
            self._bridge = BridgeLoop(self._host.config, self._host.engine, _Stop(), Snapshots())
            self._bridge._instance = self._name
            self._bridge._leader.instance = self._name
            self.poke(0.0)

    def kill(self) -> None:
        """Kill -9: its sessions at broker and database end; in the middle of a turn at its next statement."""
        if self._is_turning:
            self.gate.kill_at = 0
            return
        bridge, self._bridge = self._bridge, None
        if bridge is not None:
            if bridge._broker is not None:
                bridge._broker.abort("killed")
            bridge._leader.resign()

    def stop(self) -> None:
        """SIGTERM: finish the batch and disconnect in order; in the middle of a turn at its end."""
        if self._is_turning:
            self._stops_after_turn = True
            return
        bridge, self._bridge = self._bridge, None
        if bridge is not None:
            try:
                bridge._finish()
            except Killed:
                bridge._leader.resign()

    @property
    def is_turning(self) -> bool:
        """Whether it is in the middle of a turn."""
        return self._is_turning

    @property
    def has_unread(self) -> bool:
        """Whether messages wait to be read."""
        return any(one.fault is None and (one.arrivals or one.unread) for one in self._connections)

    @property
    def leads(self) -> bool:
        """Whether it assumes that it leads."""
        return self._bridge is not None and self._bridge._leader.epoch is not None

    def hang(self) -> None:
        """Stop the process: messages wait unread, and after a while the broker drops its connection."""
        self.is_hung = True
        for one in self._connections:
            self.agenda.after(KEEPALIVE_GRACE * KEEPALIVE_SECONDS, partial(self._give_up, one))

    def _give_up(self, connection: ServiceConnection) -> None:
        if self.is_hung and connection.fault is None:
            connection.abort("keepalive")

    def awake(self) -> None:
        """Continue the process: it reads what waits, and takes it for new."""
        self.is_hung = False
        for one in self._connections:
            while one.unread:
                one.deliver(one.unread.popleft())
        self.poke(0.0)

    def poke(self, seconds: float) -> None:
        """Take a turn within `seconds`."""
        at = self.agenda.now + seconds
        if self._turn_at is None or at < self._turn_at:
            self._turn_at = at
            self.agenda.at(at, lambda: self._turn_if(at))

    def _turn_if(self, at: float) -> None:
        if self._turn_at == at:
            self.turn()

    def turn(self) -> None:
        """Run one turn of the bridge's loop, unless one is running."""
        self._turn_at = None
        bridge = self._bridge
        if bridge is None or self.is_hung or self._is_turning:
            return
        self._is_turning = True
        try:
            with (
                patch.object(lanes, "BrokerConnection", self.connection),
                patch.object(duties, "SWEEP_SECONDS", TICK),
                patch.multiple(batches, COMPANY_SECONDS=0.0, QUIET_SECONDS=0.0, PAUSE_SECONDS=0.0),  # another clock
                patch.object(loop, "can_be_reached", lambda _url: self.broker.is_up),
            ):
                _one_turn(bridge)
        except Killed:
            self._is_turning = False
            self.kill()
        finally:
            self._is_turning = False
        if self._stops_after_turn:
            self._stops_after_turn = False
            self.stop()
        if self._bridge is bridge:
            self.poke(self._next(bridge))

    def _next(self, bridge: BridgeLoop) -> float:
        if bridge._leader.epoch is None:
            return STANDBY_SECONDS
        if not bridge._announcement.is_made or bridge._broker is None or bridge._broker.fault is not None:
            return CONNECT_SECONDS
        return BUSY_SECONDS if self._is_busy() else CALM_SECONDS


class _Stop(threading.Event):
    """An event that never waits: the agenda lets time pass."""

    def wait(self, timeout: float | None = None) -> bool:
        del timeout
        return self.is_set()


def _one_turn(bridge: BridgeLoop) -> None:
    """Do what `BridgeLoop.run` does between two checks of `stop`."""
    try:
        bridge._turn()
    except LeadershipLost:
        bridge._stand_down()
    except DatabaseAway:
        pass


@dataclass(frozen=True)
class _Message:
    """Like `shared.outside.mqtt.Message`."""

    topic: str
    payload: bytes
    expires_at: float


class SimulatedPublisher:
    """Replaces `shared.outside.mqtt.Publisher` in the tick and in the API."""

    def __init__(
        self, broker: SimulatedBroker, agenda: Agenda, clock: Callable[[], float], dice: random.Random
    ) -> None:
        """`clock` is monotonic; deadlines refer to it."""
        self.topics = Topics(ROOT)
        self.loses_answers = 0  # how many of the next publishes are delivered and not answered
        self.kill_after: int | None = None  # killed after the n-th publish from now
        self._broker, self._agenda, self._clock, self._dice = broker, agenda, clock, dice

    def publish(self, topic: str, payload: bytes, expiry_seconds: int | None, deadline: float) -> int:
        """Like `Publisher.publish`."""
        self._agenda.pass_by(self._dice.uniform(0.005, 0.05))
        if not self._broker.is_up:
            raise BrokerUnavailable
        code = self._broker.publish(topic, payload, expiry_seconds)
        if self.kill_after is not None:
            self.kill_after -= 1
            if self.kill_after < 0:
                self.kill_after = None
                raise Killed
        if self.loses_answers:
            self.loses_answers -= 1
            self._agenda.pass_by(max(0.0, deadline - self._clock()))
            raise PublishUnanswered
        return code

    def command(self, client_uuid: str, payload: bytes, expires_at: float) -> _Message:
        """Like `Publisher.command`."""
        return _Message(self.topics.commands(client_uuid), payload, expires_at)

    def publish_many(self, messages: Sequence[_Message], deadline: float) -> list[int | BrokerUnavailable]:
        """Like `Publisher.publish_many`, but one after another; after the first fault the rest are not sent."""
        found: list[int | BrokerUnavailable] = []
        fault: BrokerUnavailable | None = None
        for message in messages:
            expiry_seconds = int(message.expires_at - self._clock())
            if fault is not None or expiry_seconds < 1:
                found.append(BrokerUnavailable("no_time_to_publish"))
                continue
            try:
                found.append(self.publish(message.topic, message.payload, expiry_seconds, deadline))
            except BrokerUnavailable as error:  # PublishUnanswered is a subclass
                fault = error
                found.append(error)
        return found
