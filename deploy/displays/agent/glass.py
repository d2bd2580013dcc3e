"""What the screen shows: the cable's and the panel's word from the kernel, the page's own word from Chromium."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.displays.agent.devtools import Crashed, NotThere, Page, look

SAME_LOOKS: Final = 2  # so many looks in a row without a frame are a frozen page, one alone is a busy machine


@dataclass(frozen=True, slots=True)
class Signal:
    """All connectors of the machine, as the kernel sees them."""

    known: int = 0
    connected: int = 0
    lit: int = 0


def signal(root: Path) -> Signal:
    """The connectors below /sys/class/drm; none on a machine without them, or in a container."""
    folders = [path.parent for path in root.glob("sys/class/drm/card*-*/status")]
    connected = [folder for folder in folders if _text(folder / "status") == "connected"]
    return Signal(len(folders), len(connected), sum(_text(folder / "dpms") != "Off" for folder in connected))


class Glass:
    """Looks at the screen once for each health report. `port` is that of Chromium's DevTools, 0 for none."""

    def __init__(self, root: Path, port: int) -> None:
        self._root, self._port = root, port
        self._without_frame = 0
        self.trouble = ""  # in words, for people

    async def health(self) -> str:
        """The contract's word for the screen."""
        seen = signal(self._root)
        self.trouble = ""
        if seen.known and not seen.connected:
            self.trouble = "no screen is connected"
            return "disconnected"
        if seen.known and not seen.lit:
            return "off"
        if not self._port:
            return "unknown"  # a signal is no picture
        try:
            return self._of_the_page(await look(self._port))
        except Crashed:
            self.trouble = "the page of the player has crashed"
            return "frozen"
        except NotThere as error:
            self.trouble = str(error)
            return "unknown"

    def _of_the_page(self, page: Page) -> str:
        self._without_frame = 0 if page.draws else self._without_frame + 1
        if self._without_frame >= SAME_LOOKS:
            self.trouble = "the page of the player draws no frame"
            return "frozen"
        if page.glimpse is None:
            return "unknown"
        if page.glimpse.is_black:
            self.trouble = "the page of the player is black"
            return "black"
        return "ok"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""
