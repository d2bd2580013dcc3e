"""Detect two devices with one login: a device's name returns after another device was heard.

A device's name is the boot_id, app_instance or install_id of its heartbeats. After a reboot or a new image the old
name never returns. With two devices the names alternate.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field

WITHIN: Final = timedelta(hours=2)
"""The longest time between two heartbeats of a device: twice the longest interval that the contract allows."""
SHARED_FOR: Final = timedelta(hours=1)
"""How long two devices count as using one login after they were seen to."""
SEEN_APART: Final = timedelta(seconds=30)
"""The shortest time between two notes that a login is shared. A single note may be a machine put back to a snapshot."""
LOGIN_TAKES: Final = timedelta(seconds=10)
"""How long after a new login a device with the old one may still be heard: the broker takes logins within 2 s."""
MANY: Final = 10_000  # above this many remembered clients the oldest are dropped
NAMES: Final = 8  # remembered for a client, even if it changes its name each time


class OtherName(Struct, frozen=True):
    """A heartbeat whose device name differs from the stored heartbeat's."""

    uuid: str
    at: datetime
    name: str
    before: str
    """The name in the stored heartbeat."""
    before_at: datetime
    is_old: bool
    """It was not stored, because its stamp is older."""


class SharedLogin(Struct, frozen=True):
    """A client that is two devices; `other_at`: when the one before the last one was heard."""

    uuid: str
    other_at: datetime


Name = tuple[str, bool]
"""A device's name, and whether its heartbeat was not stored."""


class Seen(Struct):
    """When each device was heard last, by client and name; the latest NAMES of each client."""

    last: dict[str, dict[Name, datetime]] = field(default_factory=dict)

    def note(self, uuid: str, name: Name, at: datetime) -> None:
        """Remember when this device was heard."""
        names = self.last.setdefault(uuid, {})
        names.pop(name, None)
        names[name] = at
        if len(names) > NAMES:
            del names[next(iter(names))]

    def forget_long_ago(self) -> None:
        """With more than MANY clients, forget those whose names no longer alternate."""
        if len(self.last) > MANY:
            latest = {uuid: max(names.values()) for uuid, names in self.last.items()}
            since = max(latest.values()) - WITHIN
            self.last = {uuid: names for uuid, names in self.last.items() if latest[uuid] >= since}


def sharing(other_names: Iterable[OtherName], seen: Seen) -> dict[str, SharedLogin]:
    """The clients that are two devices, by uuid and by these heartbeats in their order.

    Either a replaced name returns; or a name whose heartbeats are not stored comes twice with the other name between.
    One old heartbeat after a reboot is neither: a library may send it again.
    """
    found = {}
    for other in other_names:
        last = seen.last.get(other.uuid, {}).get((other.name, other.is_old))
        if last is not None and last < other.before_at and other.at - last <= WITHIN:
            found[other.uuid] = SharedLogin(other.uuid, other.before_at)
        if other.is_old:
            seen.note(other.uuid, (other.name, True), other.at)
        else:
            seen.note(other.uuid, (other.before, False), other.before_at)
    seen.forget_long_ago()
    return found
