"""How a message reaches people: our own JSON to a webhook, or anything that Apprise has an address for.

A sender waits a bounded time and gets an `Outcome` in our own words. The words of a receiver, a library or an
exception may hold the channel's secrets and are not passed on.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from shared.config import Config
from shared.outside.couriers.addresses import Reach

WEBHOOK_DEADLINE: Final = timedelta(seconds=10)  # for all of it: looking up, connecting, sending, the answer
MESSENGER_DEADLINE: Final = timedelta(seconds=30)  # mail servers take their time


class Result(StrEnum):
    """How one try ended."""

    DELIVERED = "delivered"
    AGAIN = "again"  # it may work later
    REFUSED = "refused"  # it will not work until somebody changes something


@dataclass(frozen=True)
class Outcome:
    """One try, its result and words for people."""

    result: Result
    words: str
    """For people: "401 from hooks.example.org". Holds no secret."""
    retry_after: timedelta | None = None
    """What the receiver asked for."""


@dataclass(frozen=True)
class Letter:
    """A message, the same for every kind of channel: as facts and as words."""

    key: str
    """The same at each try of one delivery, so that a receiver can tell a repetition."""
    title: str
    text: str
    facts: Mapping[str, Any]
    """The JSON of a webhook."""


def reach_of(config: Config) -> Reach:
    """What addresses channels may reach here: in the cloud neither loopback nor, unless allowed, private ones."""
    is_cloud = config["DEPLOYMENT_MODE"] == "cloud"
    wanted: str = config["NOTIFICATION_PRIVATE_ADDRESSES"]
    private = wanted == "allow" or (wanted == "auto" and not is_cloud)
    return Reach(loopback=private and not is_cloud, private=private)


def send(kind: str, url: str, signing_secret: str | None, letter: Letter, reach: Reach) -> Outcome:
    """Try once, within a deadline; raises nothing that the receiver or the network can cause."""
    if kind == "webhook":
        from shared.outside.couriers import webhook  # noqa: PLC0415 - cold start

        return webhook.post(url, signing_secret, letter, reach, WEBHOOK_DEADLINE)
    from shared.outside.couriers import messenger  # noqa: PLC0415 - cold start

    return messenger.notify(url, letter, reach, MESSENGER_DEADLINE)
