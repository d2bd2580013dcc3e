"""Time zones by their name in the IANA database, such as Europe/Rome."""

import re
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.errors import TimeZoneUnknown

NO_NAME: Final = re.compile(r"localtime|posixrules|Factory|(?:right|posix)/.*")
"""Files beside the zones: this machine's own zone, a placeholder, and zones that count leap seconds."""


def known(name: str) -> ZoneInfo:
    """The time zone of this name. Raises TimeZoneUnknown."""
    try:
        if not NO_NAME.fullmatch(name):
            return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a malformed name is a ValueError, a folder's an OSError
        pass
    raise TimeZoneUnknown("zone_unknown", facts={"name": name[:100]})


def or_utc(name: str) -> ZoneInfo:
    """The same; UTC when this machine does not know the name, although the machine that stored it did."""
    try:
        return known(name)
    except TimeZoneUnknown:
        return ZoneInfo("UTC")
