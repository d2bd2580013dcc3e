"""The limits that a broker sets on a connection, and which of them keep the bridge from its work."""

from collections.abc import Iterable, Sequence
from typing import Final, Self

from msgspec import Struct
from paho.mqtt.properties import Properties

from shared.commands.outbox.operations import CLAIM_AT_ONCE

RECEIVE_MAXIMUM_UNSAID: Final = 65_535  # MQTT 5, 3.2.2.3.3: the default when the CONNACK names none
SESSION_EXPIRY_SECONDS: Final = 86_400  # the expiry that the bridge asks for
OF_A_COMMAND: Final = 2_048  # bytes of the largest packet that we send: a command of 1 KiB, its topic and its header
OF_A_LOG_LINE: Final = 20_480  # bytes of the largest packet that a display sends


class Lack(Struct, frozen=True):
    """A feature or limit that the bridge needs and the broker does not grant."""

    words: str
    stops: bool = False
    """Without it the bridge cannot work: /readyz fails."""


class Granted(Struct, frozen=True):
    """The limits in the broker's CONNACK, with MQTT 5's defaults (3.2.2.3)."""

    receive_maximum: int = RECEIVE_MAXIMUM_UNSAID
    maximum_qos: int = 2
    retain: bool = True
    wildcards: bool = True
    session_seconds: int = SESSION_EXPIRY_SECONDS
    maximum_packet_bytes: int | None = None
    client_id: str | None = None  # the client id that the broker assigned instead of ours

    @classmethod
    def of(cls, properties: Properties | None) -> Self:
        """Read the properties of a CONNACK."""
        return cls(
            receive_maximum=getattr(properties, "ReceiveMaximum", RECEIVE_MAXIMUM_UNSAID),
            maximum_qos=getattr(properties, "MaximumQoS", 2),
            retain=bool(getattr(properties, "RetainAvailable", 1)),
            wildcards=bool(getattr(properties, "WildcardSubscriptionAvailable", 1)),
            session_seconds=getattr(properties, "SessionExpiryInterval", SESSION_EXPIRY_SECONDS),
            maximum_packet_bytes=getattr(properties, "MaximumPacketSize", None),
            client_id=getattr(properties, "AssignedClientIdentifier", None),
        )

    @property
    def may_send(self) -> int:
        """How many publishes with QoS 1 may wait for an answer at a time."""
        return self.receive_maximum if self.maximum_qos else 0

    def lacks(self) -> list[Lack]:
        """The features and limits that the bridge misses."""
        found = []
        if not self.maximum_qos:
            found.append(Lack("it takes QoS 0 only (Maximum QoS): no command can be sent", stops=True))
        if not self.wildcards:
            found.append(Lack("it has no wildcards (Wildcard Subscription Available): no display is heard", stops=True))
        if not self.retain:
            found.append(Lack("it keeps no retained messages (Retain Available): presence may be unknown for long"))
        if self.receive_maximum < CLAIM_AT_ONCE:
            most = f"it takes {self.receive_maximum} messages at a time (Receive Maximum)"
            found.append(Lack(f"{most}: commands to many displays go out slowly"))
        if self.session_seconds < SESSION_EXPIRY_SECONDS:
            kept = f"it keeps our sessions for {self.session_seconds} s (Session Expiry Interval)"
            found.append(Lack(f"{kept}: messages are lost when no bridge is connected for longer"))
        if self.client_id is not None:
            found.append(Lack("it changes our client id (Assigned Client Identifier): no session is found again"))
        return found + self._lacks_of_size()

    def _lacks_of_size(self) -> list[Lack]:
        most = self.maximum_packet_bytes
        if most is None or most >= OF_A_LOG_LINE:
            return []
        words = f"it takes packets of {most} bytes at most (Maximum Packet Size)"
        if most < OF_A_COMMAND:
            return [Lack(f"{words}: some commands cannot be sent", stops=True)]
        return [Lack(f"{words}: long log lines do not pass")]


def lacks_of_subscriptions(topics: Sequence[str], codes: Iterable[int]) -> list[Lack]:
    """The lacks in a SUBACK that answers these topics with these reason codes. The bridge asks for QoS 1."""
    poor = [topic for topic, code in zip(topics, codes, strict=True) if code == 0]
    return [Lack(f"it grants QoS 0 for {', '.join(poor)}: messages are lost", stops=True)] if poor else []
