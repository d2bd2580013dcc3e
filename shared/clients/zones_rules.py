"""Time zones by their name in the IANA database, such as Europe/Rome."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shared.errors import TimeZoneUnknown


def known(name: str) -> ZoneInfo:
    """The time zone of this name. Raises TimeZoneUnknown."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a malformed name is a ValueError, a folder's an OSError
        raise TimeZoneUnknown("zone_unknown", facts={"name": name[:100]}) from None


def or_utc(name: str) -> ZoneInfo:
    """The same; UTC when this machine does not know the name, although the machine that stored it did."""
    try:
        return known(name)
    except TimeZoneUnknown:
        return ZoneInfo("UTC")
