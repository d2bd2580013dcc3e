"""What sentences call a command."""

from collections.abc import Mapping
from typing import Final

from shared.vocabulary import CommandAction

_TITLES: Final[Mapping[str, str]] = {
    CommandAction.RESTART_APP: "Restart",
    CommandAction.REBOOT_HOST: "Reboot",
    CommandAction.SHUTDOWN_HOST: "Shutdown",
    CommandAction.SCREENSHOT: "Screenshot",
    CommandAction.SCREEN_ON: "Screen on",
    CommandAction.SCREEN_OFF: "Screen off",
}


def name_of(action: str) -> str:
    """At the beginning of a sentence. An action that only newer code knows stays as it is."""
    return _TITLES.get(action, action)


def one(action: str) -> str:
    """Within a sentence, with its article."""
    known = _TITLES.get(action)
    return action if known is None else f"a {known.lower()}"
