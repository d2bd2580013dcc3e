"""Opening hours: when the screen of a display is meant to be on. The display keeps them and switches by itself."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from shared.clients import zones_rules
from shared.errors import Refused
from shared.vocabulary import Weekday

MOST_TIMES: Final = 21  # three times for each day
_CLOCK: Final = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
MIDNIGHT: Final = "24:00"


class OpenTime(Struct, frozen=True):
    """A time on these days. If `until` is not later than `opens`, it ends on the day after."""

    days: tuple[Weekday, ...]
    opens: str
    """Local time, HH:MM."""
    until: str
    """Local time, HH:MM, or 24:00."""


class OpeningHours(Struct, frozen=True):
    """Weekly hours in a time zone. Outside of them the screen is off; with no time at all it is always off."""

    zone: str
    """A name of the IANA database, such as Europe/Berlin."""
    open: tuple[OpenTime, ...]


def check(hours: OpeningHours) -> None:
    """Raises Refused when a display could not follow these hours, TimeZoneUnknown when there is no such zone."""
    zones_rules.known(hours.zone)
    if len(hours.open) > MOST_TIMES:
        raise Refused("too_many_opening_hours", facts={"most": MOST_TIMES})
    for one in hours.open:
        if not one.days or len(set(one.days)) < len(one.days):
            raise Refused("opening_hours_need_days")
        if not _CLOCK.fullmatch(one.opens) or not (_CLOCK.fullmatch(one.until) or one.until == MIDNIGHT):
            raise Refused("opening_hours_are_times")
        if one.opens == one.until:
            raise Refused("opening_hours_have_length")


def document(hours: OpeningHours) -> dict[str, Any]:
    """The hours as the database and displays have them."""
    times = [{"days": [day.value for day in one.days], "from": one.opens, "until": one.until} for one in hours.open]
    return {"zone": hours.zone, "open": times}


def version_of(hours: OpeningHours) -> str:
    """A name for these hours: the same hours have the same one, also after the database was restored."""
    return hashlib.sha256(json.dumps(document(hours), sort_keys=True).encode()).hexdigest()[:16]


def message(version: str | None, hours: Mapping[str, Any] | None) -> bytes:
    """The message to a display. None and None: it keeps no hours any more."""
    return json.dumps({"v": 1, "version": version, "hours": hours}, separators=(",", ":")).encode()
