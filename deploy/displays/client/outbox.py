"""Messages that have to arrive: kept until the broker takes them, sent again in order after a reconnect.

Pure: it sends nothing itself. Used for ACKs and service_failed; heartbeat and health are never repeated
as they were, and logs have the spool.
"""

from dataclasses import dataclass
from typing import Final

from deploy.displays.client.contract import Kind

KEPT_MESSAGES: Final = 256  # the oldest goes when there are more
NO_MATCHING_SUBSCRIBERS: Final = 0x10


@dataclass(slots=True, eq=False)
class Kept:
    """One message; `mid` is its packet id while the broker's answer is awaited."""

    kind: Kind
    payload: bytes
    mid: int | None = None


class Outbox:
    """What has not arrived yet, oldest first."""

    def __init__(self) -> None:
        self._messages: list[Kept] = []

    def __len__(self) -> int:
        return len(self._messages)

    def keep(self, kind: Kind, payload: bytes) -> Kept:
        """Remember a message; tell its packet id in `mid` once it is sent."""
        message = Kept(kind, payload)
        self._messages = [*self._messages, message][-KEPT_MESSAGES:]
        return message

    def unsent(self) -> list[Kept]:
        """What is not on its way to the broker, in order."""
        return [message for message in self._messages if message.mid is None]

    def answered(self, mid: int, reason_code: int) -> None:
        """The broker's PUBACK for `mid`. 0x10 proves that nobody got it: it stays for another try.

        A refusal (0x80 and above) ends it as a success does: the same again would be refused again.
        """
        for message in [message for message in self._messages if message.mid == mid]:
            message.mid = None
            if reason_code != NO_MATCHING_SUBSCRIBERS:
                self._messages.remove(message)

    def connection_lost(self) -> None:
        """No answer will come any more: everything is unsent."""
        for message in self._messages:
            message.mid = None
