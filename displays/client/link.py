"""Keep one display's MQTT 5 session up: paho speaks the protocol, the event loop watches the socket.

There is no thread per display: the loop calls paho when the socket can be read or written. Only the blocking connect
(name, TCP, TLS) runs on one of asyncio's few worker threads.

The contract's rules for the link, besides the session itself (session.py):
- subscribe first, then publish a retained `online`: the service sends due commands as soon as it sees `online`;
- each connection has its own nonce in its `online`, its will and its `offline`;
- a clean end publishes `offline` and ends the session. Then a command for a display that is off is answered "no
  matching subscribers" and does not wait in the broker (`close`);
- retained messages are ignored (`_on_message`).
"""

import asyncio
import contextlib
import random
import secrets
import socket
import ssl
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

import paho.mqtt.client as mqtt
from paho.mqtt.reasoncodes import ReasonCode

from displays.client import contract, session
from displays.client.contract import Kind
from displays.client.credentials import Credentials, in_words
from displays.client.outbox import Kept, Outbox
from shared.structured_log import event, failure

if TYPE_CHECKING:
    from paho.mqtt.client import SocketLike

ANSWER_SECONDS: Final = 10.0  # for the broker's CONNACK and SUBACK
FAREWELL_SECONDS: Final = 2.0  # for the PUBACK of `offline` when leaving
MISC_SECONDS: Final = 5.0  # between two checks of the keepalive


class Hears(Protocol):
    """The user of a link."""

    def on_up(self) -> None: ...
    def on_down(self) -> None: ...
    def on_message(self, name: str, payload: bytes, expiry_seconds: int | None) -> None: ...


def backoff_seconds(attempt: int, rng: random.Random) -> float:
    """The back-off before attempt 1, 2, 3, ...: it doubles from 0.5 s to 30 s, and jitter cuts it by up to half.

    The jitter spreads the reconnects of a fleet that lost its broker.
    """
    return min(30.0, 0.25 * 2.0 ** min(attempt, 10)) * rng.uniform(0.5, 1.0)


class Link:
    """The session of one display from power-on to power-off: `open`, then `close` or `cut`, and again."""

    def __init__(self, credentials: Credentials, hears: Hears, rng: random.Random) -> None:
        self.up = False  # subscribed, and `online` published
        self.trouble = ""  # why it is not up, for people
        self._credentials = credentials
        self._prefix = f"{credentials.topic_root}/{credentials.uuid}/"
        self._hears = hears
        self._rng = rng
        self._closing = asyncio.Event()
        self._outbox = Outbox()
        self._answers: dict[int, asyncio.Future[int | None]] = {}
        self._sessions = 0  # how often it came up
        self._nonce = ""
        self._why = ""
        self._task: asyncio.Task[None] | None = None
        self._client = self._new_client()

    def open(self) -> None:
        """Connect, and reconnect after every loss, until closed. Does nothing when it is open."""
        if self._task is not None and not self._task.done():
            return
        self._closing.clear()
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._stay_connected())

    async def close(self, reason: str) -> None:
        """Publish `offline`, end the session, and wait until the socket is closed."""
        self._closing.set()
        if self.up:
            farewell = self.publish(contract.PRESENCE, self._presence("offline", reason))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(farewell, FAREWELL_SECONDS)
        session.leave(self._client)
        await self._end(FAREWELL_SECONDS)

    async def cut(self) -> None:
        """Close the connection like a pulled cable: without DISCONNECT, so that the broker publishes the will."""
        self._closing.set()
        await self._end(0.0)

    def drop(self) -> None:
        """Close the connection; it comes back after the back-off."""
        self._drop_socket()

    def publish(self, kind: Kind, body: dict[str, Any], level: str = "") -> "asyncio.Future[int | None]":
        """Send `body`, or keep it for later when its kind is kept and the link is down.

        The future holds the reason code of the broker's PUBACK, or None when there was none.
        """
        payload = contract.encode(body)
        if len(payload) > kind.max_bytes:
            raise ValueError(f"{kind.name}: {len(payload)} bytes, the limit is {kind.max_bytes}")
        kept = self._outbox.keep(kind, payload) if kind.kept else None
        return self._send(kind, payload, level, kept)

    def send_kept_again(self) -> None:
        """Send again the kept messages that the broker has not taken or could give to nobody, in order."""
        for kept in self._outbox.unsent():
            self._send(kept.kind, kept.payload, "", kept)

    # --- the life of the connection ---

    async def _stay_connected(self) -> None:
        attempt = 0
        while not self._closing.is_set():
            sessions = self._sessions
            self.trouble = why = await self._one_connection()
            attempt = 1 if self._sessions > sessions else attempt + 1
            wait = backoff_seconds(attempt, self._rng)
            if not self._closing.is_set():
                self._tell("connect_retry", "connecting again after a pause", why=why, seconds=round(wait, 2))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), wait)

    async def _one_connection(self) -> str:
        """Connect, and wait until the connection ends. Returns why it ended, for people."""
        self._why, self._nonce = "", secrets.token_hex(8)
        will = contract.encode(self._presence("offline", "connection_lost"))
        session.set_will(self._client, self._prefix + contract.PRESENCE.name, will)
        self._ended = asyncio.Event()
        try:
            await asyncio.to_thread(self._client.reconnect)
        except OSError as error:
            return f"no connection to {self._credentials.host}:{self._credentials.port}: {in_words(error)}"
        self._attend()
        deadline = self._loop.time() + ANSWER_SECONDS
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), MISC_SECONDS)
            self._client.loop_misc()
            if not self.up and self._loop.time() > deadline:
                self._why = self._why or "the broker does not answer"
                self._drop_socket()
        return self._why

    def _attend(self) -> None:
        """Let the loop read and write the new socket. Disconnect at once if `close` was called meanwhile."""
        connection = self._client.socket()
        if connection is None:
            self._ended.set()
            return
        self._loop.add_reader(connection.fileno(), self._read)
        self._write()
        if self._closing.is_set():
            session.leave(self._client)

    async def _end(self, seconds: float) -> None:
        """Wait up to `seconds` for the connection to end, then close it: the broker may have stopped reading."""
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=seconds)
            self._drop_socket()
            await self._task

    def _drop_socket(self) -> None:
        connection = self._client.socket()
        if isinstance(connection, socket.socket):
            with contextlib.suppress(OSError):  # the peer may have closed it
                connection.shutdown(socket.SHUT_RDWR)

    def _read(self) -> None:
        self._client.loop_read()
        connection = self._client.socket()
        while isinstance(connection, ssl.SSLSocket) and connection.pending():  # unseen by the selector
            self._client.loop_read()
            connection = self._client.socket()

    def _write(self) -> None:
        connection = self._client.socket()
        if connection is None:
            return
        self._client.loop_write()
        if self._client.want_write() and self._client.socket() is connection:
            self._loop.add_writer(connection.fileno(), self._write)

    # --- paho's side ---

    def _new_client(self) -> mqtt.Client:
        client = session.new_client(self._credentials)
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        client.on_socket_register_write = self._on_write_wanted
        client.on_socket_unregister_write = self._on_written
        client.on_socket_close = self._on_socket_close
        return client

    def _presence(self, state: str, reason: str) -> dict[str, Any]:
        return {"state": state, "session": self._nonce, "reason": reason}

    def _on_write_wanted(self, *_: Any) -> None:
        self._loop.call_soon_threadsafe(self._write)  # the connect on its worker thread asks, too

    def _on_written(self, _client: mqtt.Client, _data: Any, connection: "SocketLike") -> None:
        self._loop.remove_writer(connection.fileno())

    def _on_socket_close(self, _client: mqtt.Client, _data: Any, connection: "SocketLike") -> None:
        self._loop.remove_reader(connection.fileno())

    def _on_connect(self, _client: mqtt.Client, _data: Any, _flags: Any, reason: ReasonCode, _p: Any) -> None:
        if reason.is_failure:
            self._why = f"the broker refuses the login: {reason}"
            return
        session.subscribe(self._client, self._prefix)

    def _on_subscribe(
        self, _client: mqtt.Client, _data: Any, _mid: int, reasons: Iterable[ReasonCode], _p: Any
    ) -> None:
        answers = zip(session.DOWNWARD, reasons, strict=False)
        refused = [str(reason) for name, reason in answers if reason.is_failure and name not in session.OPTIONAL]
        if refused:
            self._why = f"the broker refuses a subscription: {refused[0]}"
            self._drop_socket()
            return
        self.up, self.trouble = True, ""
        self._sessions += 1
        self.publish(contract.PRESENCE, self._presence("online", "connected"))
        self.send_kept_again()
        self._hears.on_up()

    def _on_disconnect(self, _client: mqtt.Client, _data: Any, flags: Any, reason: ReasonCode, _p: Any) -> None:
        was_up, self.up = self.up, False
        by_broker = flags.is_disconnect_packet_from_server
        self._why = self._why or (f"the broker disconnected: {reason}" if by_broker else "the connection was lost")
        self._client.drop_out_messages()  # paho would send old heartbeats again as if they were new
        self._outbox.connection_lost()
        for mid in list(self._answers):
            self._answer(mid, None)
        self._ended.set()
        if was_up and not self._closing.is_set():
            self._hears.on_down()

    def _on_message(self, _client: mqtt.Client, _data: Any, message: mqtt.MQTTMessage) -> None:
        name = message.topic.removeprefix(self._prefix)
        if message.retain:
            self._tell("retained_ignored", "a retained message was ignored", topic=message.topic)
            return
        try:
            expiry = getattr(message.properties, "MessageExpiryInterval", None)  # what is left of it
            self._hears.on_message(name, bytes(message.payload), expiry)
        except contract.BadMessage as error:
            self._tell("bad_message", "a message was refused", topic=message.topic, why=str(error))
        except Exception:  # noqa: BLE001 - out of a paho callback it would leave the socket unread for ever
            failure("display_fault", "handling a message failed", client_uuid=self._credentials.uuid)

    def _on_publish(self, _client: mqtt.Client, _data: Any, mid: int, reason: ReasonCode, _p: Any) -> None:
        if reason.is_failure:
            self._tell("publish_refused", "the broker refused a message", why=str(reason))
        self._outbox.answered(mid, reason.value)
        self._answer(mid, reason.value)

    def _answer(self, mid: int, reason_code: int | None) -> None:
        answer = self._answers.pop(mid, None)
        if answer is not None and not answer.done():  # done: the caller has given up waiting
            answer.set_result(reason_code)

    def _send(self, kind: Kind, payload: bytes, level: str, kept: Kept | None) -> "asyncio.Future[int | None]":
        answer: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        if not self.up:
            answer.set_result(None)
            return answer
        topic = self._prefix + (f"{kind.name}/{level}" if level else kind.name)
        mid = session.publish(self._client, kind, topic, payload)
        self._answers[mid] = answer
        if kept:
            kept.mid = mid
        return answer

    def _tell(self, name: str, message: str, **fields: Any) -> None:
        event(name, message, client_uuid=self._credentials.uuid, **fields)
