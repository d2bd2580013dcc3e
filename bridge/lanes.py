"""The bridge's two sessions at the broker (bulk and urgent), and the history of its link to the broker.

A session is a queue. In one queue an ACK would wait behind a flood of logs; on a session of its own it overtakes them.
Heartbeats and a canary share the bulk queue: a canary that returns in time proves that heartbeats come in time.
"""

import contextlib
import logging
import select
from collections.abc import Callable, Sequence
from typing import Final, Self

from msgspec import Struct

from bridge.connection import RECEIVE_MAXIMUM, BrokerConnection
from bridge.granted import Lack
from shared.config import Config
from shared.outside.topics import TopicKind, Topics
from shared.structured_log import event

URGENT: Final = (TopicKind.SERVICE_FAILED, TopicKind.PRESENCE, TopicKind.ACKS)
URGENT_SUFFIX: Final = "_urgent"
"""The urgent session's login is the bridge's user name with this suffix, and the same password."""


class Lanes:
    """Both sessions as one: a fault of either ends both."""

    def __init__(self, bulk: BrokerConnection, urgent: BrokerConnection) -> None:
        """`urgent` receives ACKs, presence and failures, and publishes commands; `bulk` receives everything else."""
        self.bulk = bulk
        self.urgent = urgent
        self._both = (bulk, urgent)

    @classmethod
    def of(cls, config: Config, topics: Topics) -> Self:
        """Two connections, not yet opened."""
        url, username, password = (config[f"MQTT_{name}"] for name in ("URL", "USERNAME", "PASSWORD"))
        urgent = tuple(topics.of(kind, "+") for kind in URGENT)
        bulk = tuple(topic for topic in topics.subscriptions() if topic not in urgent)
        return cls(
            BrokerConnection(url, username, password, bulk),
            BrokerConnection(url, username + URGENT_SUFFIX, password, (*urgent, topics.canary)),
        )

    def open(self) -> None:
        """Begin to connect both; `step` does the rest. A failure shows as `fault`."""
        for one in self._both:
            one.open()

    @property
    def fault(self) -> str | None:
        """Why the connections are over."""
        return self.urgent.fault or self.bulk.fault

    @property
    def is_open(self) -> bool:
        """Whether the broker accepted both connections, so that queued messages come."""
        return self.bulk.is_open and self.urgent.is_open

    @property
    def is_ready(self) -> bool:
        """Whether every topic is subscribed."""
        return self.bulk.is_ready and self.urgent.is_ready

    @property
    def lacks(self) -> list[Lack]:
        """The lacks of both sessions, each once."""
        return list(dict.fromkeys([*self.bulk.lacks, *self.urgent.lacks]))

    @property
    def waiting(self) -> int:
        """How many messages came and are not acknowledged."""
        return len(self.bulk.arrivals) + len(self.urgent.arrivals)

    @property
    def dropped(self) -> int:
        """How many messages of QoS 0 were dropped because too many messages waited."""
        return self.bulk.dropped + self.urgent.dropped

    @property
    def again(self) -> int:
        """The most log messages that the broker may deliver again from the connection before."""
        return RECEIVE_MAXIMUM if self.bulk.found_session else 0

    def step(self, seconds: float) -> None:
        """Wait up to `seconds` until either socket is ready, then read and write both."""
        if all(one.fault is None for one in self._both):
            reading = [raw for one in self._both if (raw := one.socket) is not None]
            writing = [raw for one in self._both if one.wants_to_write and (raw := one.socket) is not None]
            wait = 0.0 if any(one.has_more for one in self._both) else seconds
            with contextlib.suppress(OSError, ValueError):  # a socket is closed: its own step reports it
                select.select(reading, writing, [], wait)
        for one in self._both:
            one.step(0)

    def rest(self, seconds: float) -> None:
        """Wait `seconds`, or until the urgent session has data. Bulk messages do not end the wait."""
        if self.urgent.has_more:
            return
        raw = self.urgent.socket
        with contextlib.suppress(OSError, ValueError):  # the socket is closed: its own step reports it
            select.select([] if raw is None else [raw], [], [], seconds)

    def read_on(self, enough: int) -> None:
        """Read the messages that have come, until none is left or `enough` bulk messages wait.

        Always step once: pings must be answered, and the end of a connection noticed, however many messages wait.
        """
        before = -1
        while before < len(self.bulk.arrivals) and self.fault is None:
            before = len(self.bulk.arrivals)
            self.step(0)
            if len(self.bulk.arrivals) >= enough:
                return

    def forget_urgent_of_bulk(self, topics: Topics) -> None:
        """Unsubscribe urgent topics from the bulk session: a session of an older version would bring them twice."""
        self.bulk.unsubscribe([topics.of(kind, "+") for kind in URGENT])

    def leave(self, farewell: str, seconds: float) -> None:
        """DISCONNECT both in order; see BrokerConnection.leave."""
        for one in self._both:
            one.leave(farewell, seconds)

    def abort(self, why: str) -> None:
        """Close both at once. The broker will deliver unacknowledged messages again."""
        for one in self._both:
            one.abort(why)


GIVE_UP_SECONDS: Final = 30.0  # after so long without a connection the leader gives up the lead
ASIDE_SECONDS: Final = 30.0  # the longest time that it then leaves the lead to other bridges
SHORTEST_ASIDE_SECONDS: Final = 5.0  # the shortest: a standby asks for the lead each second
STEADY_SECONDS: Final = 10.0  # a connection that has lasted so long is stable
FEW: Final = 3  # so many short connections in a row are no accident
TAKEN_OVER: Final = "Session taken over"  # paho's words for MQTT's reason code 0x8E


class BrokerLink(Struct):
    """How long the leader has been without a connection, and why. Times are monotonic seconds."""

    lacks: tuple[Lack, ...] = ()
    fault: str | None = None  # why the last connection ended, until a connection is stable
    short_ones: int = 0  # connections in a row that ended within seconds
    lost_at: float | None = None  # since when the leader has had no connection
    ready_at: float | None = None  # since when this connection is ready
    aside: str | None = None  # why this bridge does not want to lead now
    aside_at: float = 0.0

    def began(self, now: float) -> None:
        """This bridge begins to lead; it has no connection yet."""
        self.lost_at, self.aside = now, None

    def goes_on(self, broker: Lanes, now: float) -> bool:
        """Note the state of the connection. Returns whether it is stable."""
        if broker.is_open:
            self.lost_at = None
        if not broker.is_ready:
            return False
        self.ready_at = self.ready_at or now
        if now - self.ready_at < STEADY_SECONDS:
            return False
        self.fault, self.short_ones = None, 0
        return True

    def note(self, lacks: Sequence[Lack]) -> None:
        """Log the broker's lacks when they change: a broker with lacks looks as if it worked."""
        if lacks and tuple(lacks) != self.lacks:
            words = [lack.words for lack in lacks]
            event("broker_lacks", "the broker does not grant all that the bridge needs", logging.WARNING, lacks=words)
        self.lacks = tuple(lacks) or self.lacks

    def ended(self, why: str, now: float) -> None:
        """The connection is over."""
        was_ready, self.ready_at = self.ready_at, None
        self.fault, self.lost_at = why, self.lost_at or now
        if was_ready is None and TAKEN_OVER not in why:
            return
        self.short_ones = 0 if was_ready is not None and now - was_ready >= STEADY_SECONDS else self.short_ones + 1
        if self.short_ones == FEW:
            event("thrown_out", "the broker ends each connection", logging.WARNING, why=self.faults()[-1])

    def gives_up(self, now: float) -> bool:
        """Whether this bridge should give up the lead, so that another bridge can try."""
        return self.lost_at is not None and now - self.lost_at > GIVE_UP_SECONDS

    def stands_aside(self, now: float, reaches: Callable[[], bool]) -> bool:
        """Whether to leave the lead to other bridges still. `reaches` tells whether the broker can be reached again."""
        if self.aside is None or now - self.aside_at >= ASIDE_SECONDS:
            return False
        return now - self.aside_at < SHORTEST_ASIDE_SECONDS or not reaches()

    def faults(self) -> list[str]:
        """Why this bridge is not ready, though it may be connected, as texts for people."""
        found = [lack.words for lack in self.lacks if lack.stops]
        if self.short_ones >= FEW:
            ended = f"{self.short_ones} connections in a row ended after seconds ({self.fault})"
            login = "does another deployment use the same MQTT_USERNAME at this broker"
            found.append(f"{ended}: {login}, or may its displays use any client id?")
        return found
