"""Listeners to compare the bridge with: `python -m tests.lab.bench.peers bare|each PORT PASSWORD COUNT [URL]`.

Both use the bridge's session, window and acknowledgements. `bare` does nothing with a message; `each` commits every
message separately before it acknowledges it. Prints the seconds from the first message to the last.
"""

import socket
import sys
import time
from collections.abc import Callable, Sequence

import pg8000.native
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from bridge.connection import RECEIVE_MAXIMUM
from bridge.granted import SESSION_EXPIRY_SECONDS
from deploy.parts.layout import LOOPBACK

Keep = Callable[[MQTTMessage], None]


def listen(port: int, password: str, count: int, keep: Keep) -> float:
    """Read `count` messages. Returns the seconds from the first to the last."""
    client = Client(
        CallbackAPIVersion.VERSION2, client_id="bridge", protocol=MQTTProtocolVersion.MQTTv5, manual_ack=True
    )
    client.username_pw_set("bridge", password)
    taken, began = 0, 0.0

    def take(_client: Client, _data: object, message: MQTTMessage) -> None:
        nonlocal taken, began
        began = began or time.monotonic()
        keep(message)
        client.ack(message.mid, message.qos)
        taken += 1

    client.on_message = take
    properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho leaves it without types
    properties.SessionExpiryInterval = SESSION_EXPIRY_SECONDS
    properties.ReceiveMaximum = RECEIVE_MAXIMUM
    client.connect(LOOPBACK, port, clean_start=False, properties=properties)
    raw = client.socket()
    if isinstance(raw, socket.socket):
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while taken < count:
        client.loop(1.0)
    seconds = time.monotonic() - began
    client.disconnect()
    return seconds


def committing_each(url: str) -> Keep:
    """A function that stores topic and payload of each message in its own transaction."""
    user, _, rest = url.removeprefix("postgresql://").partition(":")
    password, _, place = rest.partition("@")
    address, _, database = place.partition("/")
    host, _, port = address.partition(":")
    connection = pg8000.native.Connection(user, host, database, int(port), password)
    connection.run("CREATE TABLE IF NOT EXISTS bench_each (topic text, payload text)")

    def keep(message: MQTTMessage) -> None:
        connection.run(
            "INSERT INTO bench_each VALUES (:topic, :payload)", topic=message.topic, payload=message.payload.decode()
        )

    return keep


def main(arguments: Sequence[str]) -> int:
    kind, port, password, count, *url = arguments
    keep = committing_each(url[0]) if kind == "each" else lambda _message: None
    print(listen(int(port), password, int(count), keep))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
