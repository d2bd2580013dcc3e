"""Payloads that no topic takes: what waits for the database may be a window of them."""

from typing import Final

from bridge.messages import MAX_BYTES
from bridge.stamps import legible_stamp
from shared.clients.failures_rules import Stamp
from shared.leadership.rules import Beginning

LARGEST_BYTES: Final = max(MAX_BYTES.values())
"""What a topic takes at most; a broker lets four times as much through."""


class Oversized(Beginning):
    """One byte more than any topic takes, so that it is refused as it would be whole, and what is told of the rest."""

    stamp: Stamp | None  # where it can be read


def bounded(payload: bytes) -> bytes:
    """The payload, or as much as is kept of one that is too large."""
    if len(payload) <= LARGEST_BYTES:
        return payload
    beginning = Oversized.of(payload, LARGEST_BYTES + 1)
    beginning.stamp = legible_stamp(payload)
    return beginning
