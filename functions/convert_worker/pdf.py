"""Can this PDF be shown, and what does a report say of it? A process of its own answers.

PDFium and the readers of decks read what strangers made. A crash, a loop or a bomb ends the examiner alone; what it
reported before counts. So a PDF whose pages could be counted is usable, whatever happens when its first page is drawn.
"""

import base64
import json
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from shared.event_media.contents.rules import Contents

EXAMINER: Final = "functions.convert_worker.examiner"
SECONDS: Final = 20  # beside the converter's time there is room for it in the function's
REPOSITORY: Final = Path(__file__).parents[2]
NO_DECK: Final = "-"


@dataclass(frozen=True)
class Examined:
    """What the examiner could say of a PDF with pages, and of the deck that it was made from."""

    pages: int
    embedded_fonts: tuple[str, ...] | None = None
    """Names as the PDF spells them; None where not every page was looked at."""
    thumbnail: bytes | None = field(default=None, repr=False)
    """A PNG of the first page."""
    contents: Contents | None = None
    """None where the deck was not there or could not be read."""
    letters_missing: tuple[str, ...] = ()
    """Letters that the pages show as empty boxes."""


class Examiner:
    """A process that gets ready while the converter works, and then looks at one PDF."""

    def __enter__(self) -> Self:
        """Start it; its imports take longer than its look."""
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", EXAMINER, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                env={"PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8"},
            )
        return self

    def __exit__(self, *_error: object) -> None:
        """End it, whatever it does."""
        self._ours.close()
        self._process.kill()
        self._process.communicate()

    def examine(self, file: BinaryIO, deck: BinaryIO | None = None, kind: str = NO_DECK) -> Examined | None:
        """What is worth knowing of a PDF; None when it does not begin and end as one, or has no page. Once."""
        said = self._ask(file, deck, kind)
        pages = said.get("pages", 0)
        if not pages:
            return None
        fonts, contents, thumbnail = said.get("fonts"), said.get("contents"), said.get("thumbnail")
        return Examined(
            pages=pages,
            embedded_fonts=tuple(fonts["embedded"]) if fonts and fonts["pages"] == pages else None,
            thumbnail=base64.b64decode(thumbnail) if thumbnail else None,
            contents=_contents(contents) if contents else None,
            letters_missing=tuple(said.get("letters", ())),
        )

    def _ask(self, file: BinaryIO, deck: BinaryIO | None, kind: str) -> dict[str, Any]:
        """Every finding that it came to say."""
        file.flush()
        files = [file.fileno()] if deck is None else [file.fileno(), deck.fileno()]
        with suppress(OSError):  # it may have been killed already; then it says nothing
            socket.send_fds(self._ours, [(NO_DECK if deck is None else kind).encode()], files)
        try:
            output, _ = self._process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
        return _findings(output)


def examine(file: BinaryIO, deck: BinaryIO | None = None, kind: str = NO_DECK) -> Examined | None:
    """As `Examiner.examine`, by one that is started for it."""
    with Examiner() as examiner:
        return examiner.examine(file, deck, kind)


def _contents(said: dict[str, Any]) -> Contents:
    sets = {name: None if said[name] is None else set(said[name]) for name in ("fonts", "listed_fonts")}
    return Contents(**{**said, **sets})


def _findings(output: bytes) -> dict[str, Any]:
    """The whole lines; the last one may be cut where the process was killed."""
    said: dict[str, Any] = {}
    for line in output.split(b"\n")[:-1]:
        said.update(json.loads(line))
    return said
