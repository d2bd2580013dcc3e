"""The agent's files and folders, and the settings in `/etc/signage-display/display.conf`.

    [display]
    player = kiosk.service              the unit that shows the playlist
    units = nginx.service ssh.service   other units whose failures and logs the agent sends
    app_version_file = /opt/player/VERSION
    app_version_command = /usr/bin/chromium --version
    devtools_port = 9222                Chromium's --remote-debugging-port, to see what the page shows
    heartbeat_seconds = 30
    screen = x11                        how the screen is switched: x11, wayland or cec
    heal = off                          never restart the network or the machine of its own accord

The file belongs to root: the helper takes from it which unit it may restart.
"""

import configparser
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from displays.agent.screen_rules import PROGRAMS

UNIT: Final = re.compile(r"[A-Za-z0-9:_.@\\-]{1,240}\.(service|target|scope)")
HEALTH_SECONDS: Final = 60.0  # between two health reports
MACHINE: Final = "multi-user.target"
"""The name used instead of a player on a machine without one: then the machine itself counts as the player."""


class BadSetting(Exception):
    """The configuration cannot be used; the message names the setting."""


@dataclass(frozen=True)
class Places:
    """Files and folders. `root` is "/" except in tests."""

    root: Path = Path("/")

    @property
    def configuration(self) -> Path:
        return self.root / "etc/signage-display/display.conf"

    @property
    def state(self) -> Path:
        """The agent's folder for data that survives a reboot."""
        return self.root / "var/lib/signage-display"

    @property
    def credentials(self) -> Path:
        return self.state / "credentials.json"

    @property
    def status(self) -> Path:
        """The file that `signage-display status` reads; it lies in memory, not on the disk."""
        return self.root / "run/signage-display/status.json"

    @property
    def helper(self) -> Path:
        """The socket of the root helper."""
        return self.root / "run/signage-display-helper.sock"

    @property
    def refusal(self) -> Path:
        """The file in which the helper keeps the last request that nobody may make; it lies in memory."""
        return self.root / "run/signage-display-helper/refusal"


@dataclass(frozen=True)
class Settings:
    """The settings of the machine's owner."""

    player: str = MACHINE
    units: tuple[str, ...] = ()
    app_version_file: str = ""
    app_version_command: tuple[str, ...] = ()
    devtools_port: int = 0
    heartbeat_seconds: int = 30
    screen: str = ""
    heal: bool = True

    @property
    def has_player(self) -> bool:
        return self.player != MACHINE

    @property
    def watched(self) -> tuple[str, ...]:
        """The player and the other units, without repeats."""
        return tuple(dict.fromkeys((self.player, *self.units)))


def load(path: Path) -> Settings:
    """Read the settings; a missing file means the defaults. Raises BadSetting."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (OSError, ValueError, configparser.Error) as error:
        raise BadSetting(f"{path} cannot be read: {str(error).splitlines()[0]}") from None
    found = dict(parser["display"]) if parser.has_section("display") else {}
    if strange := set(found) - set(Settings.__dataclass_fields__):
        raise BadSetting(f"{path}: there is no setting {', '.join(sorted(strange))}.")
    return _settings(found)


def _settings(found: Mapping[str, str]) -> Settings:
    units = tuple(found.get("units", "").replace(",", " ").split())
    player = found.get("player", "").strip() or MACHINE
    for unit in (player, *units):
        check_unit(unit)
    try:
        command = tuple(shlex.split(found.get("app_version_command", "")))
    except ValueError as error:
        raise BadSetting(f"app_version_command: {error}") from None
    return Settings(
        player,
        units,
        found.get("app_version_file", "").strip(),
        command,
        _whole(found, "devtools_port", 0, 0, 65_535),
        _whole(found, "heartbeat_seconds", 30, 5, 3600),
        _means(found),
        _is_on(found, "heal", "on"),
    )


def _is_on(found: Mapping[str, str], name: str, default: str) -> bool:
    word = found.get(name, default).strip()
    if word not in {"on", "off"}:
        raise BadSetting(f"{name}: {word!r} is neither on nor off.")
    return word == "on"


def _means(found: Mapping[str, str]) -> str:
    means = found.get("screen", "").strip()
    if means and means not in PROGRAMS:
        raise BadSetting(f"screen: {means!r} is none of {', '.join(PROGRAMS)}.")
    return means


def _whole(found: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = found.get(name, str(default)).strip()
    if not text.isdecimal() or not low <= int(text) <= high:
        raise BadSetting(f"{name}: {text!r} is no whole number from {low} to {high}.")
    return int(text)


def check_unit(name: str) -> str:
    """Return `name` if it is valid for a unit. Raises BadSetting otherwise."""
    if not UNIT.fullmatch(name):
        raise BadSetting(f"{name!r} is no name of a unit, such as kiosk.service.")
    return name
