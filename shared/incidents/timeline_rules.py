"""The titles of an incident's events."""

from collections.abc import Mapping
from typing import Any, Final

from shared.vocabulary import IncidentEventKind

ACTIONS: Final = {
    "restart_app": "Restart",
    "reboot_host": "Reboot",
    "shutdown_host": "Shutdown",
    "screen_on": "Screen on",
    "screen_off": "Screen off",
    "screenshot": "Screenshot",
}


def title(kind: IncidentEventKind, count: int | None, details: Mapping[str, Any]) -> str:
    """The title of an event, for people. `count` is how many displays it concerns, if it is about displays."""
    match kind:
        case IncidentEventKind.JOINED:
            return f"{displays(count)} failed"
        case IncidentEventKind.LEFT:
            return f"{displays(count)} well again"
        case IncidentEventKind.COMMAND:
            what = ACTIONS.get(details["action"], details["action"])
            because = f" ({details['reason']})" if details["reason"] else ""
            return f"{what} for {displays(count)} asked for by {details['requested_by']}{because}"
        case IncidentEventKind.RECOVERY:
            done = "does nothing" if details["decision"] == "none" else f"asks for {details['decision']}"
            return f"Recovery {done} for {displays(count)}: {details['why']}"
        case _:
            return str(details["words"])


def displays(count: int | None) -> str:
    """The number with its noun: `1 display`, `3 displays`."""
    return "1 display" if count == 1 else f"{count or 0} displays"
