"""The bridge's two sessions at the broker, and how its link to the broker fares over time.

A session is a queue. Behind a flood of logs an ACK would wait for all of them; on a session of its own it
overtakes them. Heartbeats and the canary that speaks for them stay in one queue with the rest, so that a canary
that comes back in time proves that heartbeats do.
"""

import contextlib
import logging
import select
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from bridge.connection import RECEIVE_MAXIMUM, BrokerConnection, Lack
from shared.config import Config
from shared.outside.mqtt import TopicKind, Topics
from shared.structured_log import event

URGENT: Final = (TopicKind.SERVICE_FAILED, TopicKind.PRESENCE, TopicKind.ACKS)
URGENT_SUFFIX: Final = "_urgent"
"""The urgent session's login: the bridge's user name with this, and the same password."""


class Lanes:
    """Both sessions as one: a fault of either ends both."""

    def __init__(self, bulk: BrokerConnection, urgent: BrokerConnection) -> None:
        """`urgent` brings ACKs, presence and failures, and publishes; `bulk` brings everything else."""
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
        """Whether the broker has let us in, and what it held for us comes."""
        return self.bulk.is_open and self.urgent.is_open

    @property
    def is_ready(self) -> bool:
        """Whether every topic is subscribed."""
        return self.bulk.is_ready and self.urgent.is_ready

    @property
    def lacks(self) -> list[Lack]:
        """What the broker does not grant to either."""
        return list(dict.fromkeys([*self.bulk.lacks, *self.urgent.lacks]))

    @property
    def waiting(self) -> int:
        """Messages that came and are not acknowledged."""
        return len(self.bulk.arrivals) + len(self.urgent.arrivals)

    @property
    def dropped(self) -> int:
        """Messages without acknowledgement that came while too much waited."""
        return self.bulk.dropped + self.urgent.dropped

    @property
    def again(self) -> int:
        """How many log messages of the connection before may be delivered again, at most."""
        return RECEIVE_MAXIMUM if self.bulk.found_session else 0

    def step(self, seconds: float) -> None:
        """Wait up to `seconds` for something to happen on either, and take what came."""
        if all(one.fault is None for one in self._both):
            reading = [raw for one in self._both if (raw := one.socket) is not None]
            writing = [raw for one in self._both if one.wants_to_write and (raw := one.socket) is not None]
            wait = 0.0 if any(one.has_more for one in self._both) else seconds
            with contextlib.suppress(OSError, ValueError):  # one of them is closed: its own step says so
                select.select(reading, writing, [], wait)
        for one in self._both:
            one.step(0)

    def rest(self, seconds: float) -> None:
        """Wait so long, or until the urgent session brings something. Bulk messages do not end it."""
        if self.urgent.has_more:
            return
        raw = self.urgent.socket
        with contextlib.suppress(OSError, ValueError):  # it is closed: its own step says so
            select.select([] if raw is None else [raw], [], [], seconds)

    def read_on(self, enough: int) -> None:
        """Take what has come, until nothing is left or so many bulk messages wait.

        Once in any case: however much waits for the database, pings are answered and an end is noticed.
        """
        before = -1
        while before < len(self.bulk.arrivals) and self.fault is None:
            before = len(self.bulk.arrivals)
            self.step(0)
            if len(self.bulk.arrivals) >= enough:
                return

    def forget_urgent_of_bulk(self, topics: Topics) -> None:
        """Unsubscribe urgent topics from the bulk session: one of an older version would bring messages twice."""
        self.bulk.unsubscribe([topics.of(kind, "+") for kind in URGENT])

    def leave(self, farewell: str, seconds: float) -> None:
        """DISCONNECT both in order; see BrokerConnection.leave."""
        for one in self._both:
            one.leave(farewell, seconds)

    def abort(self, why: str) -> None:
        """Close both at once. What is not acknowledged the broker will deliver again."""
        for one in self._both:
            one.abort(why)


GIVE_UP_SECONDS: Final = 30.0  # without a connection: then another bridge may try
ASIDE_SECONDS: Final = 30.0  # for which it may
SHORTEST_ASIDE_SECONDS: Final = 5.0  # where the broker can be reached again: a standby asks for the lead each second
STEADY_SECONDS: Final = 10.0  # a connection that has held for so long holds
FEW: Final = 3  # connections in a row that ended before: no accident
TAKEN_OVER: Final = "Session taken over"  # paho's words for MQTT's reason code 0x8E


@dataclass
class BrokerLink:
    """How long the leader has been without a connection, and why. Times are monotonic seconds."""

    lacks: tuple[Lack, ...] = ()  # what the broker does not grant
    fault: str | None = None  # why the last connection ended, until one holds
    short_ones: int = 0  # connections in a row that ended after seconds
    lost_at: float | None = None  # since when the leader has had no connection
    ready_at: float | None = None  # since when this one is of use
    aside: str | None = None  # why this bridge does not want to lead now
    aside_at: float = 0.0

    def began(self, now: float) -> None:
        """This bridge begins to lead; it has no connection yet."""
        self.lost_at, self.aside = now, None

    def goes_on(self, broker: Lanes, now: float) -> bool:
        """Note that there is a connection, or that one is being made. Returns whether it has held for a while."""
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
        """Log what the broker does not grant, once while it stays so: such a broker looks as if it worked."""
        if lacks and tuple(lacks) != self.lacks:
            words = [lack.words for lack in lacks]
            event("broker_lacks", "the broker does not grant all that is asked of it", logging.WARNING, lacks=words)
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
        """Whether another bridge should try."""
        return self.lost_at is not None and now - self.lost_at > GIVE_UP_SECONDS

    def stands_aside(self, now: float, reaches: Callable[[], bool]) -> bool:
        """Whether to leave the lead to others still; `reaches` asks whether the broker can be reached again."""
        if self.aside is None or now - self.aside_at >= ASIDE_SECONDS:
            return False
        return now - self.aside_at < SHORTEST_ASIDE_SECONDS or not reaches()

    def faults(self) -> list[str]:
        """Why this bridge is not ready though it may be connected, in words."""
        found = [lack.words for lack in self.lacks if lack.stops]
        if self.short_ones >= FEW:
            ended = f"{self.short_ones} connections in a row ended after seconds ({self.fault})"
            found.append(f"{ended}: does another deployment use the same MQTT_USERNAME at this broker?")
        return found
