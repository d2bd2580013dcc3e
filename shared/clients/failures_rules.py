"""When a service failure that a display tells is raised: once for each time that it happens."""

from dataclasses import dataclass

Stamp = tuple[str, int, int]
"""install_id, boot_seq, seq: the display's own numbering of what it says."""


@dataclass(frozen=True, slots=True)
class ServiceFailure:
    """A service of the display that failed."""

    uuid: str
    heard: float
    unit: str
    stamp: Stamp | None
    by_topic: bool  # said on the service_failed topic; otherwise repeated in a health report


@dataclass(frozen=True)
class Marker:
    """The failure that a client shows, and the one that was acknowledged last."""

    unit: str | None
    stamp: Stamp | None
    cleared_unit: str | None
    cleared_stamp: Stamp | None
    unacknowledged: frozenset[str] = frozenset()
    """The services that failed since they were acknowledged last, or never were."""


def is_raised(marker: Marker, failure: ServiceFailure) -> bool:
    """Does this message raise the failure (anew)?

    The topic always raises, but for a second delivery of the failure that is shown or was acknowledged: the
    broker or the display may send it again long after. A repeat in health raises what the topic may have lost,
    never what is shown or was acknowledged; without a stamp, the unit's name is all there is to know a repeat by.
    A repeat that is older than the failure shown was overtaken by it: the topic does not wait behind other reports.
    One that is older than the failure acknowledged last is raised only if it was never acknowledged itself.
    """
    if failure.by_topic:
        return failure.stamp is None or failure.stamp not in {marker.stamp, marker.cleared_stamp}
    if failure.stamp is None:
        return failure.unit not in {marker.unit, marker.cleared_unit}
    if failure.stamp in {marker.stamp, marker.cleared_stamp} or is_older(failure.stamp, marker.stamp):
        return False
    if is_older(failure.stamp, marker.cleared_stamp) and failure.unit not in marker.unacknowledged:
        return False
    return not is_named(marker, failure)


def is_older(stamp: Stamp, other: Stamp | None) -> bool:
    """Is the other failure later, in the same installation? Two installations cannot be compared."""
    return other is not None and other[0] == stamp[0] and stamp[1:] < other[1:]


def is_named(marker: Marker, failure: ServiceFailure) -> bool:
    """Does this repeat give a stamp to the failure that is shown without one?"""
    return marker.unit == failure.unit and marker.stamp is None and failure.stamp is not None
