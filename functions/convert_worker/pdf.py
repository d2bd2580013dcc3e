"""Examine a PDF in a process of its own: whether it can be shown, and the findings for the report.

PDFium and the readers of decks parse files of strangers. A crash, an endless loop or a decompression bomb ends the
examiner only, and its findings so far count. So a PDF is usable once its pages were counted, even if drawing the first
page fails.
"""

import base64
import json
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Self

from msgspec import Struct

from shared.event_media.contents.rules import Contents

EXAMINER: Final = "functions.convert_worker.examiner"
SECONDS: Final = 20  # the function's timeout has room for it besides the converter's time
REPOSITORY: Final = Path(__file__).parents[2]
NO_DECK: Final = "-"


class Examined(Struct, frozen=True):
    """The findings about a PDF with pages, and about its deck."""

    pages: int
    embedded_fonts: tuple[str, ...] | None = None
    """Names as the PDF spells them; None when not every page was examined."""
    thumbnail: bytes | None = None
    """A PNG of the first page."""
    contents: Contents | None = None
    """None when there was no deck or it could not be read."""
    letters_missing: tuple[str, ...] = ()
    """Letters that the pages show as empty boxes."""
    pages_read: int = 0
    """How many pages were read for them, and compared with the deck."""


class Examiner:
    """A process that starts while the converter works, and then examines one PDF."""

    def __enter__(self) -> Self:
        """Start the process early: its imports take longer than its work."""
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
        """Kill the process."""
        self._ours.close()
        self._process.kill()
        self._process.communicate()

    def examine(self, file: BinaryIO, deck: BinaryIO | None = None, kind: str = NO_DECK) -> Examined | None:
        """The findings about a PDF; None when it does not begin and end like a PDF or has no page. Call it once."""
        said = self._ask(file, deck, kind)
        pages = said.get("pages", 0)
        if not pages:
            return None
        fonts, contents, thumbnail = said.get("fonts"), said.get("contents"), said.get("thumbnail")
        letters = said.get("letters", {"missing": (), "pages": 0})
        return Examined(
            pages=pages,
            embedded_fonts=tuple(fonts["embedded"]) if fonts and fonts["pages"] == pages else None,
            thumbnail=base64.b64decode(thumbnail) if thumbnail else None,
            contents=_contents(contents) if contents else None,
            letters_missing=tuple(letters["missing"]),
            pages_read=letters["pages"],
        )

    def _ask(self, file: BinaryIO, deck: BinaryIO | None, kind: str) -> dict[str, Any]:
        """The findings that the process printed before it ended."""
        file.flush()
        files = [file.fileno()] if deck is None else [file.fileno(), deck.fileno()]
        with suppress(OSError):  # the process may be dead already; then it prints nothing
            socket.send_fds(self._ours, [(NO_DECK if deck is None else kind).encode()], files)
        try:
            output, _ = self._process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            output, _ = self._process.communicate()
        return _findings(output)


def examine(file: BinaryIO, deck: BinaryIO | None = None, kind: str = NO_DECK) -> Examined | None:
    """Start an examiner and examine this PDF, as `Examiner.examine` does."""
    with Examiner() as examiner:
        return examiner.examine(file, deck, kind)


def _contents(said: dict[str, Any]) -> Contents:
    sets = {name: None if said[name] is None else set(said[name]) for name in ("fonts", "listed_fonts")}
    return Contents(**{**said, **sets})


def _findings(output: bytes) -> dict[str, Any]:
    """The findings in the whole lines; the last line may be cut when the process was killed."""
    said: dict[str, Any] = {}
    for line in output.split(b"\n")[:-1]:
        said.update(json.loads(line))
    return said
