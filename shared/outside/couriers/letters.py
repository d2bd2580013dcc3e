"""What is sent to people, and what became of one try to send it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any


class Result(StrEnum):
    """What became of one try."""

    DELIVERED = "delivered"
    AGAIN = "again"  # it may work later
    REFUSED = "refused"  # it will not work until somebody changes something


@dataclass(frozen=True)
class DeliveryAttempt:
    """One try and what is known of it."""

    result: Result
    words: str
    """For people: "401 from hooks.example.org". Holds no secret."""
    retry_after: timedelta | None = None
    """What the receiver asked for."""


@dataclass(frozen=True)
class Letter:
    """What is sent: the same to every kind of channel, as facts and as words."""

    key: str
    """The same at each try of one delivery, so that a receiver can tell a repetition."""
    title: str
    text: str
    facts: Mapping[str, Any]
    """The JSON of a webhook."""
