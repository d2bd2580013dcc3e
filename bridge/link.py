"""How the connection to the broker fares over time: who may throw us out of it, and when another bridge should try."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bridge.granted import Lack
from bridge.lanes import Lanes
from shared.structured_log import event

GIVE_UP_SECONDS: Final = 30.0  # without a connection: then another bridge may try
ASIDE_SECONDS: Final = 30.0  # for which it may
SHORTEST_ASIDE_SECONDS: Final = 5.0  # where the broker can be reached again: a standby asks for the lead each second
STEADY_SECONDS: Final = 10.0  # a connection that has held for so long holds
FEW: Final = 3  # connections in a row that ended before: no accident
TAKEN_OVER: Final = "Session taken over"  # paho's words for MQTT's reason code 0x8E


@dataclass
class Link:
    """Times are monotonic seconds."""

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
        """There is a connection, or one is being made; whether it holds."""
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
        """What the broker does not grant, told once while it stays so: such a broker looks as if it worked."""
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
