"""A strict broker: a real one behind a proxy that grants less, and that ends connections as MQTT 5 demands.

The proxy rewrites the CONNACK and the SUBACK, delays each CONNACK and PUBACK, and disconnects a client (0x93) that has
more unanswered publishes than the CONNACK allowed. It can forget a session: nothing comes until its client connects
anew.
"""

import contextlib
import heapq
import selectors
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from deploy.parts.layout import LOOPBACK

CONNECT, CONNACK, PUBLISH, PUBACK, SUBACK = 1, 2, 3, 4, 9
RECEIVE_MAXIMUM_EXCEEDED: Final = b"\xe0\x01\x93"
READ_BYTES: Final = 65_536


@dataclass(frozen=True)
class Script:
    """What the broker grants."""

    properties: bytes = b""  # instead of the CONNACK's own
    receive_maximum: int = 65_535
    qos: int = 1  # of each subscription
    accepting_seconds: float = 0.0  # delay of each CONNACK
    answer_seconds: float = 0.0  # delay of each PUBACK
    forgets: bytes = b""  # the client id whose first connection gets no messages


def receive_maximum(most: int) -> bytes:
    return struct.pack("!BH", 0x21, most)


@dataclass
class StrictBroker:
    """A record of the clients' behaviour."""

    port: int
    thrown_out: int = 0
    most: int = 0  # the most unanswered publishes of a connection
    forgot: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)


@contextmanager
def strict_broker(target: int, script: Script) -> Iterator[StrictBroker]:
    """The proxy in front of the broker at this local port."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        listener.settimeout(0.1)
        door = StrictBroker(listener.getsockname()[1])
        accepting = threading.Thread(target=_accept, args=(listener, target, script, door))
        accepting.start()
        try:
            yield door
        finally:
            door._stop.set()
            accepting.join(10)


def _accept(listener: socket.socket, target: int, script: Script, door: StrictBroker) -> None:
    threads = []
    while not door._stop.is_set():
        try:
            caller, _ = listener.accept()
        except TimeoutError:
            continue
        try:
            broker = socket.create_connection((LOOPBACK, target))
        except OSError:
            caller.close()
            continue
        threads.append(threading.Thread(target=_Passage(caller, broker, script, door).run))
        threads[-1].start()
    for thread in threads:
        thread.join(10)


class _Passage:
    """One connection through the proxy."""

    def __init__(self, caller: socket.socket, broker: socket.socket, script: Script, door: StrictBroker) -> None:
        self._caller = caller
        self._broker = broker
        self._script = script
        self._door = door
        self._read = {caller: b"", self._broker: b""}
        self._unanswered = 0
        self._is_forgotten = False
        self._held: list[tuple[float, bytes]] = []

    def run(self) -> None:
        with self._caller, self._broker, selectors.DefaultSelector() as selector, contextlib.suppress(OSError):
            for end in (self._caller, self._broker):
                selector.register(end, selectors.EVENT_READ)
            while not self._door._stop.is_set():
                for key, _ in selector.select(0.001 if self._held else 0.05):
                    if not self._take(self._caller if key.fileobj is self._caller else self._broker):
                        return
                self._answer()

    def _take(self, end: socket.socket) -> bool:
        """Forward the data of this end. Returns False at the end of the connection."""
        came = end.recv(READ_BYTES)
        data = self._read[end] + came
        while (packet := _first_packet(data)) is not None:
            data = data[len(packet) :]
            if not (self._from_caller(packet) if end is self._caller else self._from_broker(packet)):
                return False
        self._read[end] = data
        return bool(came)

    def _from_caller(self, packet: bytes) -> bool:
        name = self._script.forgets
        if (
            packet[0] >> 4 == CONNECT
            and name
            and not self._door.forgot
            and struct.pack("!H", len(name)) + name in packet
        ):
            self._is_forgotten = self._door.forgot = True
        if packet[0] >> 4 == PUBLISH and packet[0] & 0x06:
            self._unanswered += 1
            self._door.most = max(self._door.most, self._unanswered)
            if self._unanswered > self._script.receive_maximum:
                self._door.thrown_out += 1
                self._caller.sendall(RECEIVE_MAXIMUM_EXCEEDED)
                return False
        self._broker.sendall(packet)
        return True

    def _from_broker(self, packet: bytes) -> bool:
        kind = packet[0] >> 4
        if kind == PUBLISH and self._is_forgotten:
            return True
        if kind == PUBACK:
            heapq.heappush(self._held, (time.monotonic() + self._script.answer_seconds, packet))
            return True
        if kind == CONNACK:
            body = packet[2:4] + bytes((len(self._script.properties),)) + self._script.properties
            packet = bytes((packet[0], len(body))) + body
            self._door._stop.wait(self._script.accepting_seconds)
        if kind == SUBACK:
            codes = packet[5 + packet[4] :]
            packet = packet[: -len(codes)] + bytes(min(code, self._script.qos) for code in codes)
        self._caller.sendall(packet)
        return True

    def _answer(self) -> None:
        while self._held and self._held[0][0] <= time.monotonic():
            self._unanswered -= 1
            self._caller.sendall(heapq.heappop(self._held)[1])


def _first_packet(data: bytes) -> bytes | None:
    """The first packet of `data`; None if it is incomplete."""
    length, shift = 0, 0
    for place in range(1, min(5, len(data))):
        length |= (data[place] & 0x7F) << shift
        shift += 7
        if not data[place] & 0x80:
            whole = place + 1 + length
            return data[:whole] if len(data) >= whole else None
    return None
