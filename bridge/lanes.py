"""The bridge's two sessions at the broker: what must not wait has one of its own.

A session is a queue. Behind a flood of logs an ACK would wait for all of them; on a session of its own it
overtakes them. Heartbeats and the canary that speaks for them stay in one queue with the rest, so that a canary
that comes back in time proves that heartbeats do.
"""

import contextlib
import select
from typing import Final, Self

from bridge.connection import RECEIVE_MAXIMUM, BrokerConnection
from bridge.granted import Lack
from shared.config import Config
from shared.outside.mqtt import TopicKind, Topics

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
        """Up to how many log messages of the connection before may be delivered again."""
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
        """A bulk session of a time with one queue still has these subscriptions: they would bring all twice."""
        self.bulk.unsubscribe([topics.of(kind, "+") for kind in URGENT])

    def leave(self, farewell: str, seconds: float) -> None:
        """DISCONNECT both in order; see BrokerConnection.leave."""
        for one in self._both:
            one.leave(farewell, seconds)

    def abort(self, why: str) -> None:
        """Close both at once. What is not acknowledged the broker will deliver again."""
        for one in self._both:
            one.abort(why)
