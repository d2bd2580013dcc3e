"""The MQTT 5 session that the contract demands, by paho.

Username = client id = uuid, `clean_start=False`, session expiry 30 s: long enough to reconnect without losing a
command, and short enough that a lost display soon is no subscriber any more. The will is a retained `offline`, 20 s
after the connection is lost.
"""

from typing import Final

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from displays.client import contract
from displays.client.contract import Kind
from displays.client.credentials import Credentials
from shared.outside import tls

KEEPALIVE_SECONDS: Final = 30
SESSION_EXPIRY_SECONDS: Final = 30
WILL_DELAY_SECONDS: Final = 20
DOWNWARD: Final = (contract.COMMANDS, contract.LOGS_COMMITTED, contract.LOG_LEVEL, contract.HOURS, contract.LOOK)
OPTIONAL: Final = (contract.HOURS, contract.LOOK)  # a broker whose rights are older refuses them
LARGEST_PACKET_BYTES: Final = 65_536  # a broker drops what is larger; a command has 1 KiB


def new_client(login: Credentials) -> mqtt.Client:
    """A paho client without its will and its callbacks; `reconnect()` connects it."""
    client = mqtt.Client(
        CallbackAPIVersion.VERSION2,
        client_id=login.username,
        protocol=mqtt.MQTTv5,
        reconnect_on_failure=False,
    )
    client.username_pw_set(login.username, login.password)
    if login.tls:
        client.tls_set_context(tls.trusting(login.ca_pem))
    asked = {"SessionExpiryInterval": SESSION_EXPIRY_SECONDS, "MaximumPacketSize": LARGEST_PACKET_BYTES}
    properties = _properties(PacketTypes.CONNECT, **asked)
    client.connect_async(login.host, login.port, KEEPALIVE_SECONDS, clean_start=False, properties=properties)
    return client


def set_will(client: mqtt.Client, topic: str, payload: bytes) -> None:
    """Set the will for the next connect: the broker publishes it when the connection is lost."""
    delay = _properties(PacketTypes.WILLMESSAGE, WillDelayInterval=WILL_DELAY_SECONDS)
    client.will_set(topic, payload, 1, retain=True, properties=delay)


def subscribe(client: mqtt.Client, prefix: str) -> None:
    """Subscribe the downward topics below `prefix`, so that a retained message can be told from a live one."""
    options = SubscribeOptions(
        qos=1,
        retainAsPublished=True,  # otherwise a retained command looks live to a client that is already subscribed
        retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND,
    )
    client.subscribe([(prefix + name, options) for name in DOWNWARD])


def publish(client: mqtt.Client, kind: Kind, topic: str, payload: bytes) -> int:
    """Publish with QoS 1 and the properties of `kind`. Returns the packet id that the PUBACK will have."""
    expiry = {} if kind.expiry_seconds is None else {"MessageExpiryInterval": kind.expiry_seconds}
    properties = _properties(PacketTypes.PUBLISH, **expiry)
    return client.publish(topic, payload, 1, kind.retain, properties).mid


def leave(client: mqtt.Client) -> None:
    """DISCONNECT: the broker publishes no will, and the session ends now instead of 30 s later."""
    if client.socket() is not None:
        client.disconnect(properties=_properties(PacketTypes.DISCONNECT, SessionExpiryInterval=0))


def _properties(packet_type: int, **values: int) -> Properties:
    properties = Properties(packet_type)  # type: ignore[no-untyped-call]  # paho leaves it unannotated
    for name, value in values.items():
        setattr(properties, name, value)
    return properties
