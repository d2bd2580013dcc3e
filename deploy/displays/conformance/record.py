"""What passed between one client and the broker, in order, and a way to wait for more of it.

Times are seconds of the monotonic clock. Names are topics without `<root>/<uuid>/`.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from deploy.displays.conformance.packets import Connect, Filter

T = TypeVar("T")
Body = dict[str, Any]
OUTCOMES: Final = ("succeeded", "failed", "rejected")


@dataclass(frozen=True, slots=True)
class Said:
    """A message from the client. `name` is None for a topic outside of its own ones, which `topic` shows."""

    at: float
    connection: int
    topic: str
    name: str | None
    payload: bytes
    qos: int
    retain: bool
    expiry_seconds: int | None

    @property
    def kind(self) -> str:
        """The name without a log level."""
        return (self.name or "").partition("/")[0]

    @property
    def body(self) -> Body:
        """The document; empty when it is none."""
        try:
            found = json.loads(self.payload)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def boot(self) -> tuple[Any, Any]:
        body = self.body
        return str(body.get("install_id")), str(body.get("boot_seq"))


@dataclass(frozen=True, slots=True)
class Heard:
    """A message that was given to the client. `ours`: it came from this check and not from the broker."""

    at: float
    connection: int
    name: str
    payload: bytes
    retain: bool
    expiry_seconds: int | None
    ours: bool


@dataclass(slots=True)
class Connection:
    """One connection of the client."""

    number: int
    at: float
    connect: Connect
    filters: list[tuple[float, Filter]] = field(default_factory=list)
    subscribed_at: float | None = None  # of the last SUBACK
    refused: list[str] = field(default_factory=list)  # publishes that the broker refused, in words
    offline_taken_at: float | None = None  # of the PUBACK of its presence offline
    left_at: float | None = None  # of its DISCONNECT
    left_expiry_seconds: int | None = None  # the session expiry that this DISCONNECT asked for
    taken_over_at: float | None = None  # when the broker said that somebody else connected with this login
    ended_at: float | None = None
    cut: bool = False  # by us


class Record:
    """Everything that was seen of one client."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.said: list[Said] = []
        self.heard: list[Heard] = []
        self.attempts: list[float] = []  # of connecting, also those that were refused
        self.not_mqtt5: str | None = None  # why a CONNECT could not be read
        self._changed = asyncio.Event()

    def change(self) -> None:
        """Something was added: every waiting `until` looks again."""
        self._changed.set()

    async def until(self, look: Callable[[], T | None], seconds: float) -> T | None:
        """The first truthy answer of `look`; None when there is none within `seconds`."""
        deadline = time.monotonic() + seconds
        while not (found := look()):
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                return None
        return found

    def of(self, kind: str, *, since: float = 0.0) -> list[Said]:
        """The client's messages of one kind."""
        return [one for one in self.said if one.kind == kind and one.at >= since]

    def acks(self, command_id: str, *, since: float = 0.0, before: float = float("inf")) -> list[Body]:
        """What it answered about a command, in order; the same answer sent again counts once."""
        found: list[Body] = []
        for one in self.of("acks", since=since):
            if one.at < before and one.body.get("id") == command_id and one.body not in found:
                found.append(one.body)
        return found

    def answered_at(self, command_id: str, since: float) -> float | None:
        """When it first answered about a command after that."""
        return next((one.at for one in self.of("acks", since=since) if one.body.get("id") == command_id), None)

    def online_at(self, number: int) -> float | None:
        """When it said that it is online on that connection."""
        return next((one.at for one in self.of("presence") if one.connection == number and is_online(one)), None)

    @property
    def last(self) -> Connection | None:
        return self.connections[-1] if self.connections else None


def is_online(one: Said) -> bool:
    return one.body.get("state") == "online"
