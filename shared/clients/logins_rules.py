"""Two devices with one login: the name of one comes back after the other one was heard.

A device names itself in its heartbeats: by its boot, its player's start or its installation. A reboot or a new image
changes the name once and for good. Only two devices go back and forth.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

WITHIN: Final = timedelta(minutes=10)  # from one heartbeat of a device to its next one
MANY: Final = 10_000  # devices remembered before those of long ago are dropped


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


@dataclass
class Seen:
    """When devices were heard before another one was: by client, name, and whether that heartbeat was stored."""

    last: dict[tuple[str, str, bool], datetime] = field(default_factory=dict)


def sharing(sights: Iterable[Sight], seen: Seen) -> set[str]:
    """The clients that these heartbeats, in their order, show to be two devices.

    A name comes back that had been replaced; or one that is never stored comes twice with the other one between. One
    old heartbeat after a reboot is neither: a library may send it again.
    """
    found = set()
    for sight in sights:
        last = seen.last.get((sight.uuid, sight.name, sight.is_old))
        if last is not None and last < sight.before_at and sight.at - last <= WITHIN:
            found.add(sight.uuid)
        if sight.is_old:
            seen.last[sight.uuid, sight.name, True] = sight.at
        else:
            seen.last[sight.uuid, sight.before, False] = sight.before_at
    if len(seen.last) > MANY:
        newest = max(seen.last.values())
        seen.last = {key: at for key, at in seen.last.items() if newest - at <= WITHIN}
    return found
