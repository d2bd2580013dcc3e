"""MQTT 5 with QoS 1 over a bare socket: a few microseconds a message, and nothing automatic.

Faults and benches need senders that are far faster than the tested parts, and that know which messages the broker has
answered. It implements just enough of the protocol for that.
"""

import contextlib
import select
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from deploy.parts.layout import LOOPBACK

CONNACK, PUBLISH, PUBACK, SUBACK, PINGRESP, DISCONNECT = 2, 3, 4, 9, 13, 14
TIMEOUT_SECONDS: Final = 60.0
KEEPALIVE_SECONDS: Final = 600
READ_BYTES: Final = 262_144


class WireBroken(Exception):
    """The connection was refused, closed or reset."""


@dataclass(slots=True)
class Puback:
    """The broker accepted the publish with this packet id, or refused it (code from 0x80)."""

    mid: int
    code: int


@dataclass(slots=True)
class Received:
    """A received message."""

    topic: str
    payload: bytes
    mid: int


Event = Puback | Received


class Wire:
    """One connection, made by `connect`. Published messages wait in `outgoing` until `flush`."""

    def __init__(self, connection: socket.socket, answer_seconds: float = TIMEOUT_SECONDS) -> None:
        """`answer_seconds`: how long it waits for an answer."""
        self.outgoing = bytearray()
        self.unanswered: set[int] = set()
        self._connection = connection
        self._answer_seconds = answer_seconds
        self._incoming = bytearray()
        self._mid = 0
        self._early: list[Event] = []  # received while waiting for an answer

    @classmethod
    def connect(
        cls,
        port: int,
        username: str,
        password: str,
        *,
        clean_start: bool = True,
        expiry_seconds: int = 0,
        will_seconds: int | None = None,
        source: str | None = None,
        answer_seconds: float = TIMEOUT_SECONDS,
    ) -> "Wire":
        """Connect; the client id is the user name. Raises WireBroken.

        With `will_seconds` it has a will with that delay, like a display. `source` is an own address, of loopback.
        """
        try:
            connection = socket.create_connection((LOOPBACK, port), answer_seconds, source and (source, 0))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wire = cls(connection, answer_seconds)
            wire.outgoing += _connect_packet(username, password, clean_start, expiry_seconds, will_seconds)
            wire.settle(CONNACK)
        except OSError as error:
            raise WireBroken(str(error)) from error
        connection.setblocking(False)
        return wire

    def settle(self, kind: int) -> None:
        """Send all that waits, and read until an answer of this kind. Raises WireBroken."""
        self._connection.setblocking(True)
        self._connection.settimeout(self._answer_seconds)
        try:
            self._connection.sendall(self.outgoing)
            self.outgoing.clear()
            while True:
                answers = {found: body for found, flags, body in self._packets() if not self._keep(found, flags, body)}
                if DISCONNECT in answers:
                    raise ConnectionResetError("the broker disconnects")
                if kind in answers:
                    _check(kind, answers[kind])
                    return
                self._read()
        except OSError as error:
            self.close()
            raise WireBroken(str(error)) from error
        finally:
            with contextlib.suppress(OSError):
                self._connection.setblocking(False)

    def settle_pubacks(self) -> None:
        """Send all that waits, and read until all publishes are answered. Raises WireBroken."""
        until = time.monotonic() + TIMEOUT_SECONDS
        while self.outgoing or self.unanswered:
            self.flush()
            waits_to_write = [self] if self.outgoing else []
            if not any(select.select([self], waits_to_write, [], max(0.0, until - time.monotonic()))):
                raise WireBroken(f"no answer within {TIMEOUT_SECONDS:g} s")
            self._early = self.take()

    def fileno(self) -> int:
        return self._connection.fileno()

    def subscribe(self, *topics: str) -> None:
        """Subscribe with QoS 1 and wait for the answer. Raises WireBroken."""
        filters = b"".join(string(topic) + b"\x01" for topic in topics)
        self.outgoing += packet(0x82, struct.pack("!HB", self._next_mid(), 0) + filters)
        self.settle(SUBACK)

    def publish(self, topic: bytes, payload: bytes, expiry_seconds: int | None = None) -> int:
        """Queue a message. Returns its packet id."""
        mid = self._next_mid()
        properties = b"\0" if expiry_seconds is None else struct.pack("!BBI", 5, 2, expiry_seconds)
        head = struct.pack("!H", len(topic)) + topic + struct.pack("!H", mid) + properties
        self.outgoing += b"\x32" + length_of(len(head) + len(payload)) + head + payload
        self.unanswered.add(mid)
        return mid

    def flush(self) -> None:
        """Send as much as the socket takes. Raises WireBroken."""
        if not self.outgoing:
            return
        try:
            sent = self._connection.send(self.outgoing)
        except BlockingIOError:
            return
        except OSError as error:
            raise WireBroken(str(error)) from error
        del self.outgoing[:sent]

    def take(self) -> list[Event]:
        """Return the received events; messages are acknowledged. Raises WireBroken."""
        try:
            self._read()
        except BlockingIOError:
            pass
        except OSError as error:
            raise WireBroken(str(error)) from error
        for kind, flags, body in self._packets():
            if not self._keep(kind, flags, body) and kind == DISCONNECT:
                raise WireBroken("the broker disconnects")
        events, self._early = self._early, []
        return events

    def _keep(self, kind: int, flags: int, body: bytes) -> bool:
        """Keep a packet for `take` if it is an event. Returns whether it is."""
        if kind == PUBACK:
            (mid,) = struct.unpack_from("!H", body)
            self.unanswered.discard(mid)
            self._early.append(Puback(mid, body[2] if len(body) > 2 else 0))
        elif kind == PUBLISH:
            self._early.append(self._received(flags, body))
        return kind in {PUBACK, PUBLISH}

    def _received(self, flags: int, body: bytes) -> Received:
        (length,) = struct.unpack_from("!H", body)
        topic, at, mid = body[2 : 2 + length].decode(), 2 + length, 0
        if flags & 0x06:
            (mid,) = struct.unpack_from("!H", body, at)
            at += 2
            self.outgoing += struct.pack("!BBH", 0x40, 2, mid)
        properties, at = _read_length(body, at)
        return Received(topic, body[at + properties :], mid)

    def acknowledge(self, mid: int) -> None:
        """Acknowledge this packet id, whatever it is in this session."""
        self.outgoing += struct.pack("!BBH", 0x40, 2, mid)

    def close(self) -> None:
        """Close without DISCONNECT, like a display whose power fails."""
        self._connection.close()

    def _next_mid(self) -> int:
        self._mid = self._mid % 65_535 + 1
        return self._mid

    def _read(self) -> None:
        data = self._connection.recv(READ_BYTES)
        if not data:
            raise ConnectionResetError("closed by the broker")
        self._incoming += data

    def _packets(self) -> Iterator[tuple[int, int, bytes]]:
        """The complete received packets: kind, flags, body."""
        at, buffer = 0, self._incoming
        try:
            while True:
                length, start = _read_length(buffer, at + 1)
                if start + length > len(buffer):
                    return
                first, at = buffer[at], start + length
                yield first >> 4, first & 0x0F, bytes(buffer[start:at])
        except IndexError:
            return
        finally:
            del buffer[:at]


def _check(kind: int, body: bytes) -> None:
    code = body[1] if kind == CONNACK else body[-1]
    if code >= 0x80:
        raise ConnectionRefusedError(f"refused with {code:#x}")


def _connect_packet(
    username: str, password: str, clean_start: bool, expiry_seconds: int, will_seconds: int | None
) -> bytes:
    flags = 0xC0 | (0x02 if clean_start else 0) | (0 if will_seconds is None else 0x2C)  # retained, QoS 1
    properties = struct.pack("!BBI", 5, 17, expiry_seconds)
    head = struct.pack("!H4sBBH", 4, b"MQTT", 5, flags, KEEPALIVE_SECONDS) + properties
    will = b""
    if will_seconds is not None:
        will = struct.pack("!BBI", 5, 24, will_seconds) + string(f"signage/{username}/presence") + string("{}")
    return packet(0x10, head + string(username) + will + string(username) + string(password))


def packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + length_of(len(body)) + body


def string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("!H", len(data)) + data


def length_of(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _read_length(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """The length at this position, and the start of the body. Raises IndexError if it is incomplete."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
