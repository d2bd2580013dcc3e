"""A record of all messages between one client and the broker, in order; code can wait for more.

Times: seconds of the monotonic clock. Names: topics without `<root>/<uuid>/`.
"""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from displays.conformance.packets import Connect, Filter

T = TypeVar("T")
Body = dict[str, Any]
OUTCOMES: Final = ("succeeded", "failed", "rejected")


@dataclass(frozen=True, slots=True)
class Said:
    """A message from the client. `name`: None for a topic that is not its own; see `topic`."""

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
        """The JSON object; empty for other payloads."""
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
    """A message to the client. `ours`: from this check and not from the broker."""

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
    subscribed_at: float | None = None  # time of the last SUBACK
    refused: list[str] = field(default_factory=list)  # publishes that the broker refused, as texts
    offline_taken_at: float | None = None  # time of the PUBACK for its presence offline
    left_at: float | None = None  # time of its DISCONNECT
    left_expiry_seconds: int | None = None  # the session expiry of this DISCONNECT
    taken_over_at: float | None = None  # when the broker said that another connection took the session over
    ended_at: float | None = None
    cut: bool = False  # the check cut it


class Record:
    """All connections and messages of one client."""

    def __init__(self) -> None:
        self.connections: list[Connection] = []
        self.said: list[Said] = []
        self.heard: list[Heard] = []
        self.attempts: list[float] = []  # times of all connection attempts, also refused ones
        self.not_mqtt5: str | None = None  # why a CONNECT could not be read
        self._changed = asyncio.Event()

    def change(self) -> None:
        """Wake every waiting `until` after an addition."""
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
        """The client's ACKs of a command, in order; repeats count once."""
        found: list[Body] = []
        for one in self.of("acks", since=since):
            if one.at < before and one.body.get("id") == command_id and one.body not in found:
                found.append(one.body)
        return found

    def answered_at(self, command_id: str, since: float) -> float | None:
        """The time of the first ACK of a command after `since`; None without one."""
        return next((one.at for one in self.of("acks", since=since) if one.body.get("id") == command_id), None)

    def online_at(self, number: int) -> float | None:
        """The time of presence online on that connection; None without it."""
        return next((one.at for one in self.of("presence") if one.connection == number and is_online(one)), None)

    @property
    def last(self) -> Connection | None:
        return self.connections[-1] if self.connections else None


def is_online(one: Said) -> bool:
    return one.body.get("state") == "online"
