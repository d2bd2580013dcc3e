"""The video connectors of the machine, as the kernel shows them below /sys/class/drm."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Signal:
    """How many video connectors the kernel knows, how many have a screen, and how many of these are lit."""

    known: int = 0
    connected: int = 0
    lit: int = 0


def signal(root: Path) -> Signal:
    """Count the connectors below /sys/class/drm; all are 0 on a machine without them, and in a container."""
    folders = _folders(root)
    connected = [folder for folder in folders if _text(folder / "status") == "connected"]
    return Signal(len(folders), len(connected), sum(_text(folder / "dpms") != "Off" for folder in connected))


def outputs(root: Path) -> list[str]:
    """The names of the connectors with a screen, such as HDMI-A-1."""
    connected = [folder for folder in _folders(root) if _text(folder / "status") == "connected"]
    return sorted(folder.name.partition("-")[2] for folder in connected)


def _folders(root: Path) -> list[Path]:
    return [path.parent for path in root.glob("sys/class/drm/card*-*/status")]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
