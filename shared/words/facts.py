"""Types of facts that a catalogue gets in parts: it chooses among words and numbers, and never computes.

Of each fact `x` it also gets `x_is`: none, empty or some. Whether something holds is `yes` or `no`. A list is joined,
and `x_n` is its length.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypeAlias
from zoneinfo import ZoneInfo

Parts: TypeAlias = Mapping[str, str | int]
Divide: TypeAlias = Callable[[str, Any], Parts]
"""The parts of the fact of this name and value."""

_LENGTHS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def lasting(name: str, seconds: int | None) -> Parts:
    """`x_n` and `x_unit`: second, minute, hour or day; rounded down."""
    if seconds is None:
        return {}
    unit, length = next((each for each in _LENGTHS if seconds >= 2 * each[1]), ("second", 1))
    return {f"{name}_n": seconds // length, f"{name}_unit": unit}


def rounded(duration: timedelta) -> int:
    """Seconds, rounded down to the unit that a reader sees. So two durations that read alike are equal."""
    seconds = int(duration.total_seconds())
    length = next((length for _, length in _LENGTHS if seconds >= 2 * length), 1)
    return seconds - seconds % length


def actor(name: str, by: str | None) -> Parts:
    """Of an actor of the audit log: `x`, the name of a person or token, and `x_kind`.

    `x_kind`: person, nobody, recovery, display or service. `x_ends`: latin or other, its last letter.
    """
    kind, _, rest = (by or "").partition(":")
    if by is None or kind in {"recovery", "display", "service"}:
        return {name: by or "", f"{name}_kind": kind or "nobody", f"{name}_ends": "other"}
    shown = {"user": rest, "token": rest.rpartition("#")[0] or rest}.get(kind, by)
    return {name: shown, f"{name}_kind": "person", f"{name}_ends": "latin" if "!" <= shown[-1:] <= "~" else "other"}


def moment(name: str, told: str | None) -> Parts:
    """Of what `in_zone` made: `x_weekday`, `x_day`, `x_month`, `x_year`, `x_clock` and `x_zone`."""
    if told is None:
        return {}
    text, _, zone = told.removesuffix("]").partition("[")
    at = datetime.fromisoformat(text)
    return {
        f"{name}_weekday": at.isoweekday(),
        f"{name}_day": at.day,
        f"{name}_month": at.month,
        f"{name}_year": at.year,
        f"{name}_clock": f"{at:%H:%M}",
        f"{name}_zone": zone,
    }


def in_zone(at: datetime, zone: str) -> str:
    """A time of a zone as a fact `Moment`: `2026-11-29T09:00:00+01:00[Europe/Berlin]`."""
    return f"{at.astimezone(ZoneInfo(zone)).isoformat(timespec='seconds')}[{zone}]"


Lasting: TypeAlias = Annotated[int, lasting]
"""A duration in seconds."""
By: TypeAlias = Annotated[str | None, actor]
"""Who did it, as the audit log names actors."""
Moment: TypeAlias = Annotated[str, moment]
"""A time: what `in_zone` answers."""
