"""Faults of the screen all the way: from the glass by the installed agent to the display's page."""

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from displays.agent.settings import HEALTH_SECONDS
from tests.lab.campaigns.display_glass import EXPECTED, Screen, Seen
from tests.lab.campaigns.display_lab import BACK_SECONDS, PLAYER, Lab
from tests.machines.displays.handling import configure
from tests.stack import eventually

DRM: Final = "/sys/class/drm/card0-HDMI-A-1"
CONNECTORS: Final = f"mount -t tmpfs tmpfs /sys/class && mkdir -p {DRM}"


def told_after(lab: Lab, folder: Path, chance: random.Random, say: Callable[[str], None]) -> list[float]:
    """The seconds from one fault of each kind to its word on the page."""
    lab.there.run("sh", "-c", CONNECTORS)
    took = [_told_after(lab, folder / str(number), kind, chance) for number, kind in enumerate(EXPECTED)]
    lab.there.run("umount", "/sys/class")
    say(f"told on the page after {took} s")
    return took


def _told_after(lab: Lab, folder: Path, kind: str, chance: random.Random) -> float:
    screen = Screen(folder, "moving", Seen(), chance)
    _connect(lab, "connected", "On")
    with screen.on():
        lab.network.open(screen.port)
        configure(lab.there, f"player = {PLAYER}\ndevtools_port = {screen.port}\n")
        _wait_for(lab, "ok")
        time.sleep(chance.uniform(0, HEALTH_SECONDS))
        began = time.monotonic()
        screen.begin(kind)
        if kind in {"disconnected", "off"}:
            _connect(lab, "disconnected" if kind == "disconnected" else "connected", "Off")
        _wait_for(lab, EXPECTED[kind])
        return round(time.monotonic() - began, 1)


def _wait_for(lab: Lab, word: str) -> None:
    eventually(lambda: lab.display.client()["screen_health"] == word, f"the word {word}", BACK_SECONDS)


def _connect(lab: Lab, status: str, dpms: str) -> None:
    lab.there.run("sh", "-c", f"echo {status} >{DRM}/status; echo {dpms} >{DRM}/dpms")
