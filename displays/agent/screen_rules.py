"""How a screen is switched, by the means that the machine's owner named. Pure: these are the commands of the helper.

X11 and Wayland: the program runs as the player's user, in the environment of the player's unit, by systemd. CEC: the
television itself is told by the cable.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

X11, WAYLAND, CEC = "x11", "wayland", "cec"
PROGRAMS: Final[Mapping[str, str]] = {X11: "xset", WAYLAND: "wlr-randr", CEC: "cec-ctl"}
"""The means, and the program of each."""
ON, OFF, STATE = "on", "off", "state"
_ENVIRONMENT: Final = ("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
_TELEVISION: Final = ("cec-ctl", "--playback", "--to", "0")
_RUN: Final = ("systemd-run", "--quiet", "--wait", "--pipe", "--collect")


class NoMeans(Exception):
    """The screen cannot be switched so; the message says why."""


@dataclass(frozen=True, slots=True)
class PlayerUnit:
    """The user of the player's unit, with its number, and the environment that the unit sets."""

    user: str
    uid: int
    environment: Mapping[str, str]


def environment_of(shown: str) -> dict[str, str]:
    """The variables that a unit sets, as `systemctl show --property=Environment --value` prints them."""
    try:
        words = shlex.split(shown)
    except ValueError:
        return {}
    return {name: value for name, equals, value in (word.partition("=") for word in words) if equals}


def command(means: str, word: str, player: PlayerUnit, outputs: Sequence[str]) -> tuple[str, ...]:
    """The command that switches the screen `on` or `off`, or asks a television for its state. Raises NoMeans."""
    if means == CEC:
        action = {ON: "--image-view-on", OFF: "--standby", STATE: "--give-device-power-status"}.get(word)
        if action is None:
            raise NoMeans(f"there is no screen {word[:20]!r}")
        return (*_RUN, *_TELEVISION, action)
    if means not in PROGRAMS or word not in {ON, OFF}:
        raise NoMeans(f"{means or 'no means'} knows no screen {word[:20]!r}")
    return (*_RUN, f"--uid={player.user}", *_variables(means, player), *_program(means, word, outputs))


def _variables(means: str, player: PlayerUnit) -> list[str]:
    usual = {"XDG_RUNTIME_DIR": f"/run/user/{player.uid}"}
    usual |= {"DISPLAY": ":0"} if means == X11 else {"WAYLAND_DISPLAY": "wayland-0"}
    given = usual | {name: player.environment[name] for name in _ENVIRONMENT if name in player.environment}
    return [f"--setenv={name}={value}" for name, value in given.items()]


def _program(means: str, word: str, outputs: Sequence[str]) -> tuple[str, ...]:
    if means == X11:
        return ("xset", "dpms", "0", "0", "0", "dpms", "force", word)
    if not outputs:
        raise NoMeans("no screen is connected")
    return ("wlr-randr", *(part for output in outputs for part in ("--output", output, f"--{word}")))


def power_of(said: str) -> str:
    """`ok`, `off` or `failed: …`, by what cec-ctl prints."""
    state = next((line.split(":", 1)[1] for line in said.splitlines() if "pwr-state" in line), "")
    if "standby" in state:
        return "off"
    return "ok" if "on" in state else "failed: the television does not say whether it is on"
