"""Whether a health report tells something new: while a display is well, the others can wait. Pure."""

from collections.abc import Mapping
from typing import Any, Final

RESTLESS: Final = "cpu_percent"  # it jumps from report to report, and has no limit
MEASURES: Final = ("memory_percent", "disk_percent", "temperature_celsius")
STEP: Final = 10.0  # so far a measure must move to be news


def is_news(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> bool:
    """Whether a report with these fields tells something that the report before did not tell, or is the first."""
    if before is None or before.keys() != now.keys():
        return True
    return any(_differs(name, before[name], value) for name, value in now.items() if name != RESTLESS)


def _differs(name: str, before: Any, now: Any) -> bool:
    if name in MEASURES and isinstance(before, int | float) and isinstance(now, int | float):
        return abs(now - before) >= STEP
    return bool(before != now)
