"""Whether the broker refuses a CONNECT without a login."""

import socket
import ssl
import time
from typing import Any, Final
from urllib.parse import urlsplit

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode

from bridge.connection import DEFAULT_PORTS
from shared.outside.mqtt import connect_properties

PROBE_SECONDS: Final = 5.0
REACH_SECONDS: Final = 1.0


def can_be_reached(url: str) -> bool:
    """Whether somebody takes a connection there, within a second."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port or DEFAULT_PORTS[parts.scheme]), REACH_SECONDS).close()
    except OSError:
        return False
    return True


def refuses_anonymous(url: str) -> bool | None:
    """True or False as the broker answers; None when it does not answer at all."""
    answers: list[int] = []

    def answered(_client: Client, _data: Any, _flags: Any, code: ReasonCode, _properties: Any) -> None:
        answers.append(code.value)

    parts = urlsplit(url)
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5, reconnect_on_failure=False)
    if parts.scheme == "mqtts":
        client.tls_set_context(ssl.create_default_context())
    client.connect_timeout = PROBE_SECONDS
    client.on_connect = answered
    deadline = time.monotonic() + PROBE_SECONDS
    try:
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        client.connect(parts.hostname or "", port, properties=connect_properties())
    except (OSError, ValueError):
        return None
    while not answers and time.monotonic() < deadline:
        if client.loop(0.1) != MQTTErrorCode.MQTT_ERR_SUCCESS:
            break
    client.disconnect()
    return answers[0] != 0 if answers else None
