"""Two devices with one login: the name of one comes back after the other one was heard.

A device names itself in its heartbeats: by its boot, its player's start or its installation. A reboot or a new image
changes the name once and for good. Only two devices go back and forth.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

WITHIN: Final = timedelta(hours=2)
"""From one heartbeat of a device to its next one, at most: twice the longest interval of the contract."""
MANY: Final = 10_000  # clients remembered before those of long ago are dropped
NAMES: Final = 8  # of one client: one that takes another name each time costs no more


@dataclass(frozen=True, slots=True)
class Sight:
    """A heartbeat with another name than the one before."""

    uuid: str
    at: datetime
    name: str
    before: str
    """The name in the newest heartbeat that is stored."""
    before_at: datetime
    is_old: bool
    """It was not stored: by its stamp it is older."""


Name = tuple[str, bool]
"""How a device names itself, and whether that heartbeat was not stored."""


@dataclass
class Seen:
    """When devices were heard before another one was: by client and name, the latest NAMES of each."""

    last: dict[str, dict[Name, datetime]] = field(default_factory=dict)

    def note(self, uuid: str, name: Name, at: datetime) -> None:
        """This device was heard then."""
        names = self.last.setdefault(uuid, {})
        names.pop(name, None)
        names[name] = at
        if len(names) > NAMES:
            del names[next(iter(names))]

    def forget_long_ago(self) -> None:
        """Of very many clients, forget those whose devices beat no more in turns."""
        if len(self.last) > MANY:
            latest = {uuid: max(names.values()) for uuid, names in self.last.items()}
            since = max(latest.values()) - WITHIN
            self.last = {uuid: names for uuid, names in self.last.items() if latest[uuid] >= since}


def sharing(sights: Iterable[Sight], seen: Seen) -> set[str]:
    """The clients that these heartbeats, in their order, show to be two devices.

    A name comes back that had been replaced; or one that is never stored comes twice with the other one between. One
    old heartbeat after a reboot is neither: a library may send it again.
    """
    found = set()
    for sight in sights:
        last = seen.last.get(sight.uuid, {}).get((sight.name, sight.is_old))
        if last is not None and last < sight.before_at and sight.at - last <= WITHIN:
            found.add(sight.uuid)
        if sight.is_old:
            seen.note(sight.uuid, (sight.name, True), sight.at)
        else:
            seen.note(sight.uuid, (sight.before, False), sight.before_at)
    seen.forget_long_ago()
    return found
