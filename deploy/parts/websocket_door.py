"""MQTT over WebSocket for displays in a browser: it stands between the gateway and the broker.

It listens on MQTT_BROWSERS_PORT, unpacks the WebSocket frames and forwards their bytes to the broker's listener on
MQTT_SERVICES_PORT. A display's login, rights and limits are the same at both listeners. Mosquitto's own WebSocket
listener is not used: it accepts packets of any size before the login (60 MB of memory from one stranger, 2.0.11), and
nginx does not inspect frames. The package `websockets` knows handshake and frames, and is given bytes: sockets and
limits stay here.

On a box the gateway and the broker are on the same machine, and everything stays on loopback without TLS. In the cloud
a load balancer stands before the door (MQTT_BROWSERS_LISTEN). There the door and the broker's listener speak TLS with
the certificate of MQTT_BROWSERS_CERTIFICATE_FILE and MQTT_BROWSERS_KEY_FILE. The load balancer asks `GET /healthz`.
"""

import asyncio
import contextlib
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

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
MQTT: Final = Subprotocol("mqtt")


class Refused(Exception):
    """The request does not ask for MQTT over WebSocket, or is too much; the text is the answer's status."""


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


def session_of(request: bytes) -> ServerProtocol:
    """A WebSocket session that carries MQTT; the answer to this request is still to be sent. Raises Refused."""
    session = ServerProtocol(subprotocols=[MQTT], max_size=(None, FRAME_BYTES))
    session.receive_data(request)
    match session.events_received():
        case [Request() as asked]:
            answer, hosts = session.accept(asked), [host.lower() for host in asked.headers.get_all("Host")]
            if session.origin is not None and hosts != [session.origin.partition("://")[2].lower()]:
                raise Refused("403 Forbidden")  # the page of another site
            if session.handshake_exc is None:
                session.send_response(answer)
                asked.headers.clear()  # the session keeps the request, and a stranger may have sent many headers
                return session
    raise Refused("400 Bad Request")


def received(session: ServerProtocol, pace: Pace) -> tuple[bytes, float]:
    """The bytes for the broker in what was received, and how long to wait before more is read. Ends a bad session."""
    content, pause = [], 0.0
    for frame in session.events_received():
        if isinstance(frame, Frame):
            pause = pace.pause_seconds(len(frame.data), time.monotonic())
            if frame.opcode is Opcode.TEXT:
                session.fail(CloseCode.UNSUPPORTED_DATA)
                break
            if frame.opcode in {Opcode.BINARY, Opcode.CONT}:
                content.append(frame.data)
    return b"".join(content), pause


def to_send(session: ServerProtocol) -> bytes:
    """What the session has to send: the answer to its request, frames, the close frame of a session that ends."""
    return b"".join(session.data_to_send())


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
        session = session_of(request)
        if len(self._displays) >= self._most_connections:
            raise Refused("503 Service Unavailable")
        try:
            from_broker, to_broker = await asyncio.open_connection(LOOPBACK, self._broker_port, ssl=self._broker_tls)
        except OSError:
            raise Refused("502 Bad Gateway") from None
        writer.write(to_send(session))
        sides = [
            asyncio.create_task(_upward(session, reader, to_broker, writer)),
            asyncio.create_task(_downward(session, from_broker, writer, self._welcome)),
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


async def _upward(
    session: ServerProtocol, reader: asyncio.StreamReader, broker: asyncio.StreamWriter, browser: asyncio.StreamWriter
) -> None:
    pace = Pace()
    until: float | None = asyncio.get_running_loop().time() + CONNECT_SECONDS
    while not (session.close_expected() or reader.at_eof()):
        async with asyncio.timeout_at(until):
            session.receive_data(await reader.read(CHUNK_BYTES))
        content, pause = received(session, pace)
        if content:
            until = None
            broker.write(content)
        browser.write(to_send(session))
        await browser.drain()
        await broker.drain()
        await asyncio.sleep(pause)


async def _downward(
    session: ServerProtocol,
    broker: asyncio.StreamReader,
    browser: asyncio.StreamWriter,
    answered: Callable[[asyncio.StreamWriter], None],
) -> None:
    seconds: float | None = ANSWER_SECONDS
    while True:
        async with asyncio.timeout(seconds):
            data = await broker.read(CHUNK_BYTES)
        if not data:
            session.send_close()
            browser.write(to_send(session))
            return
        seconds = None
        answered(browser)
        session.send_binary(data)
        browser.write(to_send(session))
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
