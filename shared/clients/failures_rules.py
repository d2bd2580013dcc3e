"""Whether a message raises a service failure: each failure is raised once."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

Stamp = tuple[str, int, int]
"""install_id, boot_seq, seq: the display's own numbering of its messages."""


class ServiceFailure(Struct, frozen=True):
    """A service of the display that failed."""

    uuid: str
    heard: float
    unit: str
    stamp: Stamp | None
    by_topic: bool  # from the topic service_failed; False: repeated in a health report


class Marker(Struct, frozen=True):
    """A client's open failure, and the one acknowledged last."""

    unit: str | None
    stamp: Stamp | None
    cleared_unit: str | None
    cleared_stamp: Stamp | None
    unacknowledged: frozenset[str] = frozenset()
    """The services whose last failure nobody has acknowledged."""
    mended: bool = False
    """The open failure is over, but nobody has acknowledged it."""


def service_fails(failed_at: datetime | None, mended_at: datetime | None) -> bool:
    """Whether a service fails now: the recorded failure is not mended."""
    return failed_at is not None and mended_at is None


def is_raised(marker: Marker, failure: ServiceFailure) -> bool:
    """Whether this message raises a failure, the first time or again.

    - A message of the topic raises one, unless it is a second delivery of the open failure or of the one acknowledged
      last: the broker or the display may deliver late again.
    - A repeat in a health report raises a failure whose topic message was lost; never the open one or the one
      acknowledged last. Without a stamp, only the unit's name identifies a repeat.
    - A repeat older than the open failure raises nothing: the topic's message has overtaken the health report.
    - A repeat older than the failure acknowledged last raises one only if nobody acknowledged it.
    - A repeat of a failure that was mended raises it again: a report in between said that none stood.
    """
    if failure.by_topic:
        return failure.stamp is None or failure.stamp not in {marker.stamp, marker.cleared_stamp}
    if marker.mended:
        marker = replace(marker, unit=None, stamp=None)
    if failure.stamp is None:
        return failure.unit not in {marker.unit, marker.cleared_unit}
    if failure.stamp in {marker.stamp, marker.cleared_stamp} or is_older(failure.stamp, marker.stamp):
        return False
    if is_older(failure.stamp, marker.cleared_stamp) and failure.unit not in marker.unacknowledged:
        return False
    return not is_named(marker, failure)


def is_older(stamp: Stamp, other: Stamp | None) -> bool:
    """Whether the other failure is later, in the same installation. Two installations cannot be compared."""
    return other is not None and other[0] == stamp[0] and stamp[1:] < other[1:]


def is_named(marker: Marker, failure: ServiceFailure) -> bool:
    """Whether this repeat adds the stamp that the open failure lacks."""
    return not marker.mended and marker.unit == failure.unit and marker.stamp is None and failure.stamp is not None
