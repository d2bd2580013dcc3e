"""A proxy between one client and the broker. It forwards all packets unchanged and records them.

Exceptions:
- `give` sends a message of the check to the client, like the broker; the ACKs of its commands stay here.
- While `holding_marks`, it holds back `logs_committed` and delivers it later.
- `cut` ends the connection like a pulled cable; the next `refuse` connection attempts are closed at once.
"""

import asyncio
import contextlib
import itertools
import ssl
import time
from typing import Final, Self

from paho.mqtt.packettypes import PacketTypes

from displays.conformance import packets
from displays.conformance.packets import Frame, Malformed
from displays.conformance.record import Connection, Heard, Record, Said, is_online

OUR_PACKET_IDS: Final = (60_000, 65_535)  # the broker counts from 1
CHUNK_BYTES: Final = 65_536


class Tap:
    """A listening port on loopback that forwards to the broker. Use with `async with`."""

    def __init__(
        self, uuid: str, root: str, broker: tuple[str, int], port: int = 0, trust: ssl.SSLContext | None = None
    ) -> None:
        """`trust` is for a broker with TLS; to the tap itself the client connects without."""
        self.record = Record()
        self.uuid = uuid
        self.prefix = f"{root}/{uuid}/"
        self.port = port
        self.holding_marks = True
        self.refuse = 0
        self.own_commands: set[str] = set()  # ids of the check's own commands
        self.held: dict[tuple[str, str], bytes] = {}  # the newest mark of each boot
        self._broker, self._trust = broker, trust
        self._passing: Passing | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[asyncio.StreamWriter] = set()
        self._packet_ids = itertools.cycle(range(*OUR_PACKET_IDS))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._server.close()
        for client in self._open:
            client.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def give(self, name: str, payload: bytes, *, retain: bool = False, expiry_seconds: int | None = 60) -> float:
        """Send a message to the client. Returns the time. Raises ConnectionError while it is not connected."""
        if self._passing is None:
            raise ConnectionError("the client is not connected")
        packet_id = next(self._packet_ids)
        self._passing.own_ids.add(packet_id)
        self.write_down(name, payload, retain, expiry_seconds, ours=True)
        self._passing.client.write(
            packets.made_publish(self.prefix + name, payload, packet_id, retain=retain, expiry_seconds=expiry_seconds)
        )
        return self.record.heard[-1].at

    def release_marks(self) -> None:
        """Forward `logs_committed` again, and deliver the held marks if the client is connected."""
        self.holding_marks = False
        while self.held and self.connected:
            self.give("logs_committed", self.held.popitem()[1], expiry_seconds=300)

    def cut(self, refuse: int = 0) -> float:
        """Cut the connection. Returns the time."""
        self.refuse = refuse
        if self._passing is not None:
            self._passing.seen.cut = True
            self._passing.drop()
        return time.monotonic()

    @property
    def connected(self) -> bool:
        return self._passing is not None

    def write_down(self, name: str, payload: bytes, retain: bool, expiry: int | None, *, ours: bool) -> None:
        """Record a message to the client."""
        number = len(self.record.connections) - 1
        self.record.heard.append(Heard(time.monotonic(), number, name, payload, retain, expiry, ours))
        self.record.change()

    async def _accepted(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a server calls this in a task of its own
        self._tasks.add(task)
        self._open.add(to_client)
        try:
            await self._pass_on(client, to_client)
        except (OSError, Malformed) as error:
            self.record.not_mqtt5 = str(error) if isinstance(error, Malformed) else self.record.not_mqtt5
        finally:
            self._tasks.discard(task)
            self._open.discard(to_client)
            to_client.transport.abort()
            self.record.change()

    async def _pass_on(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        self.record.attempts.append(time.monotonic())
        if self.refuse:
            self.refuse -= 1
            return
        buffer = bytearray()
        while not (frames := packets.split(buffer)):
            if not (data := await client.read(CHUNK_BYTES)):
                return
            buffer += data
        seen = Connection(len(self.record.connections), time.monotonic(), packets.connect(frames[0]))
        if self.uuid not in {seen.connect.client_id, seen.connect.username}:
            return  # another client: only one is checked
        self.record.connections.append(seen)
        from_broker, to_broker = await asyncio.open_connection(*self._broker, ssl=self._trust)
        passing = self._passing = Passing(self, seen, to_client, to_broker)
        try:
            await passing.run(client, from_broker, frames, buffer)
        finally:
            seen.ended_at = time.monotonic()
            to_broker.transport.abort() if seen.left_at is None else to_broker.close()
            self._passing = None if self._passing is passing else self._passing


class Passing:
    """One connection of the client, and its connection to the broker."""

    def __init__(self, tap: Tap, seen: Connection, client: asyncio.StreamWriter, broker: asyncio.StreamWriter) -> None:
        self.seen = seen
        self.client = client
        self.broker = broker
        self.own_ids: set[int] = set()  # packet ids of the check's messages
        self._tap = tap
        self._record = tap.record
        self._topics: dict[int, str] = {}  # aliases
        self._waiting: dict[int, Said] = {}  # messages without a PUBACK yet

    def drop(self) -> None:
        """Abort both connections."""
        self.client.transport.abort()
        self.broker.transport.abort()

    async def run(
        self, client: asyncio.StreamReader, broker: asyncio.StreamReader, first: list[Frame], rest: bytearray
    ) -> None:
        """Forward frames until either side ends."""
        for frame in first:
            self._upward(frame)
        sides = [
            asyncio.create_task(self._side(client, rest, upward=True)),
            asyncio.create_task(self._side(broker, bytearray(), upward=False)),
        ]
        try:
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for side in sides:
                side.cancel()
            await asyncio.gather(*sides, return_exceptions=True)
            with contextlib.suppress(OSError):
                await self.broker.drain()

    async def _side(self, reader: asyncio.StreamReader, buffer: bytearray, *, upward: bool) -> None:
        while data := await reader.read(CHUNK_BYTES):
            buffer += data
            for frame in packets.split(buffer):
                self._upward(frame) if upward else self._downward(frame)
            self._record.change()
            await (self.broker if upward else self.client).drain()

    def _upward(self, frame: Frame) -> None:
        if frame.type == PacketTypes.PUBLISH and self._is_ours_to_keep(frame):
            return
        if frame.type == PacketTypes.PUBACK:
            packet_id, _ = packets.answer(frame)
            if packet_id in self.own_ids:
                self.own_ids.discard(packet_id)
                return
        if frame.type == PacketTypes.SUBSCRIBE:
            self.seen.filters += [(time.monotonic(), one) for one in packets.filters(frame)]
        if frame.type == PacketTypes.DISCONNECT:
            self.seen.left_at, self.seen.left_expiry_seconds = time.monotonic(), packets.farewell(frame)
        self.broker.write(frame.raw)

    def _is_ours_to_keep(self, frame: Frame) -> bool:
        """Record the message. True for an ACK of the check's own command, which gets its PUBACK here."""
        message = packets.publish(frame)
        topic = self._topic(message)
        name = topic.removeprefix(self._tap.prefix) if topic.startswith(self._tap.prefix) else None
        said = Said(
            time.monotonic(),
            self.seen.number,
            topic,
            name,
            message.payload,
            message.qos,
            message.retain,
            message.expiry_seconds,
        )
        self._record.said.append(said)
        if message.packet_id is None:
            return False
        if said.kind == "acks" and said.body.get("id") in self._tap.own_commands:
            self.client.write(packets.made_puback(message.packet_id))
            return True
        self._waiting[message.packet_id] = said
        return False

    def _topic(self, message: packets.Publish) -> str:
        if message.alias is None:
            return message.topic
        if message.topic:
            self._topics[message.alias] = message.topic
        return self._topics.get(message.alias, "")

    def _downward(self, frame: Frame) -> None:
        if frame.type == PacketTypes.SUBACK:
            self.seen.subscribed_at = time.monotonic()
        if frame.type == PacketTypes.DISCONNECT and packets.is_taken_over(frame):
            self.seen.taken_over_at = time.monotonic()
        if frame.type == PacketTypes.PUBACK:
            self._taken(*packets.answer(frame))
        if frame.type == PacketTypes.PUBLISH and self._is_held(packets.publish(frame)):
            return
        self.client.write(frame.raw)

    def _taken(self, packet_id: int, reason: int) -> None:
        said = self._waiting.pop(packet_id, None)
        if said is None:
            return
        if reason >= 0x80:
            self.seen.refused.append(f"{said.topic} was refused with 0x{reason:02x}")
        elif said.kind == "presence" and not is_online(said):
            self.seen.offline_taken_at = time.monotonic()

    def _is_held(self, message: packets.Publish) -> bool:
        """Record the message. True for a held mark; the broker still gets a PUBACK for it."""
        name = message.topic.removeprefix(self._tap.prefix)
        if name == "logs_committed" and self._tap.holding_marks and message.packet_id is not None:
            said = Said(0.0, 0, message.topic, name, message.payload, 1, message.retain, None)
            self._tap.held[said.boot] = message.payload
            self.broker.write(packets.made_puback(message.packet_id))
            return True
        self._tap.write_down(name, message.payload, message.retain, message.expiry_seconds, ours=False)
        return False
