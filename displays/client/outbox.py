"""Messages that must arrive: kept until the broker takes them, and sent again in order after a reconnect.

It sends nothing itself. It is used for ACKs and service_failed. Heartbeat and health are never sent again, and logs
have the spool.
"""

from dataclasses import dataclass
from typing import Final

from displays.client.contract import Kind

KEPT_MESSAGES: Final = 256  # with more messages the oldest is dropped
NO_MATCHING_SUBSCRIBERS: Final = 0x10


@dataclass(slots=True, eq=False)
class Kept:
    """One message; `mid` is its packet id while the broker's answer is awaited."""

    kind: Kind
    payload: bytes
    mid: int | None = None


class Outbox:
    """The messages that have not arrived yet, the oldest first."""

    def __init__(self) -> None:
        self._messages: list[Kept] = []

    def __len__(self) -> int:
        return len(self._messages)

    def keep(self, kind: Kind, payload: bytes) -> Kept:
        """Keep a message. Set its `mid` to the packet id when it is sent."""
        message = Kept(kind, payload)
        self._messages = [*self._messages, message][-KEPT_MESSAGES:]
        return message

    def unsent(self) -> list[Kept]:
        """The messages that are not on their way to the broker, in order."""
        return [message for message in self._messages if message.mid is None]

    def answered(self, mid: int, reason_code: int) -> None:
        """Handle the broker's PUBACK for `mid`. After 0x10 nobody got the message: it stays for another try.

        After a refusal (0x80 and above) it is dropped, as after a success: the broker would refuse it again.
        """
        for message in [message for message in self._messages if message.mid == mid]:
            message.mid = None
            if reason_code != NO_MATCHING_SUBSCRIBERS:
                self._messages.remove(message)

    def connection_lost(self) -> None:
        """The connection is lost, so no answer will come: all messages are unsent."""
        for message in self._messages:
            message.mid = None
