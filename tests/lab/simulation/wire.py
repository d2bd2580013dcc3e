"""A display's network and MQTT session: connect, reconnect, presence, and messages that are kept until accepted."""

import random
from typing import Any, Final, Protocol

from displays.client import contract
from displays.client.contract import Kind
from displays.client.link import backoff_seconds
from displays.client.outbox import NO_MATCHING_SUBSCRIBERS, Outbox
from displays.client.session import KEEPALIVE_SECONDS, SESSION_EXPIRY_SECONDS, WILL_DELAY_SECONDS
from displays.client.spool import SpooledLog
from tests.lab.simulation.agenda import Agenda
from tests.lab.simulation.broker import Message, SimulatedBroker, Will

ROOT: Final = "signage"


class Hears(Protocol):
    """The display above a wire."""

    def on_up(self) -> None: ...
    def on_message(self, name: str, payload: bytes) -> None: ...
    def as_sent(self, name: str, payload: bytes) -> bytes | None: ...


class Connection:
    """One connection of a wire; events of an older connection are ignored."""

    def __init__(self, wire: "Wire") -> None:
        self.is_cut = False
        self._wire = wire

    def deliver(self, message: Message) -> None:
        """Receive a message, and acknowledge it at once, as client libraries do."""
        self._wire.came(self, message)

    def lost(self, _why: str) -> None:
        """The broker closed the connection, or has gone."""
        if not self.is_cut:
            self._wire.fell(self)


class Wire:
    """A display's link, open from boot to power-off. `has_network` may change at any time."""

    def __init__(self, uuid: str, broker: SimulatedBroker, agenda: Agenda, dice: random.Random, hears: Hears) -> None:
        self.up = False  # subscribed, and `online` published
        self.has_network = True
        self._uuid, self._broker, self._agenda, self._dice, self._hears = uuid, broker, agenda, dice, hears
        self._connection: Connection | None = None
        self._is_open = False
        self._nonce = ""
        self._attempt = 0
        self._outbox = Outbox()
        self._sent = 0

    def topic(self, name: str) -> str:
        """A topic of this display."""
        return f"{ROOT}/{self._uuid}/{name}"

    # --- from power-on to power-off ---

    def open(self) -> None:
        """Connect, and reconnect after every loss, until closed."""
        self._is_open = True
        self._retry(self._dice.uniform(0.2, 2.0))

    def close(self, reason: str) -> None:
        """Disconnect on purpose: publish `offline` and end the session."""
        self._is_open = False
        if self.up and self._can_talk():
            self.publish(contract.PRESENCE, self._presence("offline", reason))
            self._broker.disconnect(self._uuid, expiry=0)
            self.up, self._connection = False, None
        else:
            self.vanish()

    def vanish(self) -> None:
        """Vanish without DISCONNECT, as after a power cut or a kill of the host."""
        self._is_open = False
        self._cut()

    def lose_network(self) -> None:
        """Stop all packets; the display notices it when its keepalive gets no answer."""
        self.has_network = False
        if self._connection is not None:
            lost = self._connection
            self._cut()
            self._agenda.after(self._dice.uniform(1.0, 40.0), lambda: self._notice(lost))

    def find_network(self) -> None:
        """Let packets pass again."""
        self.has_network = True

    def reset(self) -> None:
        """Break the connection once; both sides notice it."""
        connection = self._connection
        if connection is not None and self._can_talk():
            self._broker.drop(self._uuid, connection)
            self.fell(connection)

    def hush(self) -> None:
        """Stop answering even pings."""
        self._cut()

    # --- sending ---

    def publish(self, kind: Kind, body: dict[str, Any]) -> int | None:
        """Publish. Returns the broker's answer, or None without a connection. Kept kinds are sent until accepted."""
        payload = contract.encode(body)
        if len(payload) > kind.max_bytes:
            raise ValueError(f"{kind.name}: {len(payload)} bytes, the limit is {kind.max_bytes}")
        if not kind.kept:
            return self._send(kind, payload)
        kept = self._outbox.keep(kind, payload)
        self._sent += 1
        kept.mid = self._sent
        return self._answered(self._sent, self._send(kind, payload))

    def send_kept_again(self) -> None:
        """Send again, in order, the kept messages that the broker has not accepted or could deliver to nobody."""
        for kept in self._outbox.unsent():
            self._sent += 1
            kept.mid = self._sent
            self._answered(self._sent, self._send(kept.kind, kept.payload))

    def _answered(self, mid: int, code: int | None) -> int | None:
        self._outbox.answered(mid, NO_MATCHING_SUBSCRIBERS if code is None else code)
        return code

    def _send(self, kind: Kind, payload: bytes) -> int | None:
        if not self.up or not self._can_talk():
            return None
        sent = self._hears.as_sent(kind.name, payload)
        if sent is None:
            return None
        return self._broker.publish(self.topic(kind.name), sent, kind.expiry_seconds, retain=kind.retain)

    def send_log(self, line: SpooledLog) -> None:
        """Send a line of the spool, where it stays whatever the broker answers."""
        if self.up and self._can_talk():
            self._broker.publish(self.topic(f"{contract.LOGS.name}/{line.level}"), contract.encode(line.body))

    # --- events of the connection ---

    def came(self, connection: Connection, message: Message) -> None:
        """A message arrived on this connection."""
        if connection is not self._connection:
            return
        self._broker.acknowledge(self._uuid, message)
        if not message.is_retained:
            self._hears.on_message(message.topic.rpartition("/")[2], message.payload)

    def fell(self, connection: Connection) -> None:
        """This connection ended, and the display knows it."""
        if connection is self._connection:
            self._connection, self.up = None, False
            if self._is_open:
                self._attempt = 1
                self._retry(backoff_seconds(1, self._dice))

    def _notice(self, lost: Connection) -> None:
        if self._connection is lost:
            self.fell(lost)

    def _cut(self) -> None:
        self.up = False
        if self._connection is not None and not self._connection.is_cut:
            self._connection.is_cut = True
            self._broker.silent(self._uuid, self._connection, KEEPALIVE_SECONDS)
        if not self._is_open:
            self._connection = None

    def _can_talk(self) -> bool:
        return self._connection is not None and not self._connection.is_cut and self._broker.is_up

    def _retry(self, wait: float) -> None:
        self._agenda.after(wait, self._connect)

    def _connect(self) -> None:
        if not self._is_open or self.up or self._connection is not None:
            return
        if not self.has_network or not self._broker.lets_in(self._uuid):
            self._attempt += 1
            self._retry(backoff_seconds(self._attempt, self._dice))
            return
        self._attempt = 0
        self._nonce = f"{self._dice.getrandbits(64):016x}"
        will = Will(
            self.topic(contract.PRESENCE.name),
            contract.encode(self._presence("offline", "connection_lost")),
            WILL_DELAY_SECONDS,
        )
        self._connection = Connection(self)
        self._broker.connect(self._uuid, self._connection, SESSION_EXPIRY_SECONDS, will)
        self._broker.subscribe(self._uuid, [self.topic(contract.COMMANDS), self.topic(contract.LOGS_COMMITTED)])
        self.up = True
        self.publish(contract.PRESENCE, self._presence("online", "connected"))
        self.send_kept_again()
        self._hears.on_up()

    def _presence(self, state: str, reason: str) -> dict[str, Any]:
        return {"state": state, "session": self._nonce, "reason": reason}
