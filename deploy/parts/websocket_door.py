"""MQTT over WebSocket for displays in a browser: it stands between the gateway and the broker.

It listens on MQTT_BROWSERS_PORT, unpacks the WebSocket frames and forwards their bytes to the broker's listener on
MQTT_SERVICES_PORT. A display's login, rights and limits are the same at both listeners. Mosquitto's own WebSocket
listener is not used: it accepts packets of any size before the login (60 MB of memory from one stranger, 2.0.11), and
nginx does not inspect frames.

On a box the gateway and the broker are on the same machine, and everything stays on loopback without TLS. In the cloud
a load balancer stands before the door (MQTT_BROWSERS_LISTEN). There the door and the broker's listener speak TLS with
the certificate of MQTT_BROWSERS_CERTIFICATE_FILE and MQTT_BROWSERS_KEY_FILE. The load balancer asks `GET /healthz`.
"""

import asyncio
import base64
import contextlib
import hashlib
import os
import ssl
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.parts.config_file import INSIDE, Certificate, Listener
from deploy.parts.layout import LOOPBACK

MOST_CONNECTIONS: Final = 1_500  # that are signed in
MOST_STRANGERS: Final = 300  # that are not: the oldest goes first
REQUEST_BYTES: Final = 8_192
FRAME_BYTES: Final = 65_536
CHUNK_BYTES: Final = 16_384
CONNECT_SECONDS: Final = 3.0  # for the request, and again from its answer to the first bytes of MQTT
ANSWER_SECONDS: Final = 10.0  # for the broker's first answer
BYTES_A_SECOND: Final = 2_000_000
BYTES_AT_ONCE: Final = 16_000_000
FRAME_COSTS_BYTES: Final = 1_024  # each frame counts as so many more bytes: small frames cost time too
HEALTH: Final = b"GET /healthz HTTP/1."
ALIVE: Final = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
ACCEPT_SUFFIX: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 4.2.2
CONTINUATION, BINARY, CLOSE, PING, PONG = 0x0, 0x2, 0x8, 0x9, 0xA
PROTOCOL_ERROR, NOT_BINARY, TOO_LARGE = 1002, 1003, 1009


class Refused(Exception):
    """The request does not ask for MQTT over WebSocket, or is too much; the text is the answer's status."""


class BrokenRule(Exception):
    """A frame breaks the protocol or a limit; `code` is the WebSocket close code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass(slots=True)
class Pace:
    """The rate limit of one connection: a token bucket of bytes."""

    at: float = field(default_factory=time.monotonic)
    left: float = BYTES_AT_ONCE

    def pause_seconds(self, size: int, now: float) -> float:
        """How long to wait before the next frame is read."""
        self.left = min(BYTES_AT_ONCE, self.left + (now - self.at) * BYTES_A_SECOND) - size - FRAME_COSTS_BYTES
        self.at = now
        return max(0.0, -self.left / BYTES_A_SECOND)


def accepted(request: bytes) -> bytes:
    """The answer to a request for MQTT over WebSocket (RFC 6455, 4.2.2). Raises Refused."""
    first, *lines = request.split(b"\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    asked = [one.strip() for one in headers.get(b"sec-websocket-protocol", b"").split(b",")]
    key = headers.get(b"sec-websocket-key", b"")
    if not first.startswith(b"GET ") or headers.get(b"upgrade", b"").lower() != b"websocket" or len(key) != 24:
        raise Refused("400 Bad Request")
    if headers.get(b"sec-websocket-version") != b"13" or b"mqtt" not in asked:
        raise Refused("400 Bad Request")
    origin = headers.get(b"origin")
    if origin is not None and origin.partition(b"://")[2].lower() != headers.get(b"host", b"").lower():
        raise Refused("403 Forbidden")  # the page of another site
    digest = hashlib.sha1(key + ACCEPT_SUFFIX, usedforsecurity=False).digest()
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    answer = b"Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Accept: " + base64.b64encode(digest)
    return head + answer + b"\r\n\r\n"


def framed(payload: bytes, opcode: int = BINARY) -> bytes:
    """One whole frame from the server."""
    size = len(payload)
    if size < 126:
        return bytes([0x80 | opcode, size]) + payload
    return bytes([0x80 | opcode, 126]) + struct.pack(">H", size) + payload


async def frame_from(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Opcode and content of the next frame. Raises BrokenRule, asyncio.IncompleteReadError."""
    first, second = await reader.readexactly(2)
    opcode, size = first & 0x0F, second & 0x7F
    if first & 0x70 or not second & 0x80:
        raise BrokenRule(PROTOCOL_ERROR)
    if opcode >= CLOSE and (size > 125 or not first & 0x80):
        raise BrokenRule(PROTOCOL_ERROR)
    if opcode not in {CONTINUATION, BINARY, CLOSE, PING, PONG}:
        raise BrokenRule(NOT_BINARY)
    if size >= 126:
        size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
    if size > FRAME_BYTES:
        raise BrokenRule(TOO_LARGE)
    mask = await reader.readexactly(4)
    return opcode, unmasked(await reader.readexactly(size), mask)


def unmasked(content: bytes, mask: bytes) -> bytes:
    """The content without the browser's mask (RFC 6455, 5.3)."""
    size = len(content)
    stretched = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(content, "big") ^ int.from_bytes(stretched, "big")).to_bytes(size, "big")


class Door:
    """A server that forwards connections to a listener of the broker on this machine."""

    def __init__(
        self,
        broker_port: int,
        most_connections: int = MOST_CONNECTIONS,
        most_strangers: int = MOST_STRANGERS,
        listener: Listener = INSIDE,
    ) -> None:
        """With a certificate in `listener` the broker's listener speaks TLS with the same one.

        Raises:
            OSError: the certificate or its key cannot be used.
        """
        self._broker_port = broker_port
        self._most_connections = most_connections
        self._most_strangers = most_strangers
        self._address = listener.address
        self._own_tls = None if listener.tls is None else _server_tls(listener.tls)
        self._broker_tls = None if listener.tls is None else _client_tls(listener.tls)
        self._strangers: dict[asyncio.StreamWriter, None] = {}  # without an answer of the broker, the oldest first
        self._displays: set[asyncio.StreamWriter] = set()

    async def serve(self, port: int) -> asyncio.Server:
        """Start to listen on this port."""
        seconds = None if self._own_tls is None else ANSWER_SECONDS
        return await asyncio.start_server(
            self._came, self._address, port, limit=REQUEST_BYTES, ssl=self._own_tls, ssl_handshake_timeout=seconds
        )

    async def _came(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._strangers[writer] = None
        if len(self._strangers) > self._most_strangers:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.transport.abort()
        try:
            await self._pass_on(reader, writer)
        except Refused as error:
            writer.write(f"HTTP/1.1 {error}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode())
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._strangers.pop(writer, None)
            self._displays.discard(writer)
            writer.close()

    def _welcome(self, writer: asyncio.StreamWriter) -> None:
        if writer in self._strangers:
            del self._strangers[writer]
            self._displays.add(writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(CONNECT_SECONDS):
            request = await reader.readuntil(b"\r\n\r\n")
        if request.startswith(HEALTH):
            writer.write(ALIVE)
            return
        answer = accepted(request)
        if len(self._displays) >= self._most_connections:
            raise Refused("503 Service Unavailable")
        try:
            from_broker, to_broker = await asyncio.open_connection(LOOPBACK, self._broker_port, ssl=self._broker_tls)
        except OSError:
            raise Refused("502 Bad Gateway") from None
        writer.write(answer)
        sides = [
            asyncio.create_task(_upward(reader, to_broker, writer)),
            asyncio.create_task(_downward(from_broker, writer, self._welcome)),
        ]
        try:
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for side in sides:
                side.cancel()
            to_broker.close()  # before anything that another cancellation could skip
            await asyncio.gather(*sides, return_exceptions=True)


def _server_tls(certificate: Certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate.chain, certificate.key)
    return context


def _client_tls(certificate: Certificate) -> ssl.SSLContext:
    """Of a client that believes this certificate alone, whatever its name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    own, end, _ = certificate.chain.read_text(encoding="ascii").partition("-----END CERTIFICATE-----")
    context.load_verify_locations(cadata=own + end)
    return context


async def _upward(reader: asyncio.StreamReader, broker: asyncio.StreamWriter, browser: asyncio.StreamWriter) -> None:
    pace = Pace()
    until: float | None = asyncio.get_running_loop().time() + CONNECT_SECONDS
    try:
        while True:
            async with asyncio.timeout_at(until):
                opcode, content = await frame_from(reader)
            if opcode == CLOSE:
                browser.write(framed(content[:2], CLOSE))
                return
            if opcode == PING:
                browser.write(framed(content, PONG))
                await browser.drain()
            elif opcode != PONG:
                until = None
                broker.write(content)
                await broker.drain()
            if pause := pace.pause_seconds(len(content), time.monotonic()):
                await asyncio.sleep(pause)
    except BrokenRule as error:
        browser.write(framed(struct.pack(">H", error.code), CLOSE))


async def _downward(
    broker: asyncio.StreamReader, browser: asyncio.StreamWriter, answered: Callable[[asyncio.StreamWriter], None]
) -> None:
    seconds: float | None = ANSWER_SECONDS
    while True:
        async with asyncio.timeout(seconds):
            data = await broker.read(CHUNK_BYTES)
        if not data:
            browser.write(framed(b"", CLOSE))
            return
        seconds = None
        answered(browser)
        browser.write(framed(data))
        await browser.drain()


def listener_from(environ: Mapping[str, str]) -> Listener:
    """Where the door listens: on loopback, unless MQTT_BROWSERS_LISTEN names another address, which needs TLS."""
    address = environ.get("MQTT_BROWSERS_LISTEN")
    if not address:
        return INSIDE
    files = (Path(environ[f"MQTT_BROWSERS_{name}_FILE"]) for name in ("CERTIFICATE", "KEY"))
    return Listener(address, Certificate(*files))


async def _run(environ: Mapping[str, str]) -> None:
    door = Door(int(environ["MQTT_SERVICES_PORT"]), listener=listener_from(environ))
    async with await door.serve(int(environ["MQTT_BROWSERS_PORT"])) as server:
        await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_run(os.environ))
