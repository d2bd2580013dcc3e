"""Is it a PDF that can be shown, and what is worth knowing of it? Asked of a process of its own.

PDFium and the readers of decks are given what strangers made. A crash, a loop or a bomb in there ends the examiner;
what it had said until then counts. So a PDF whose pages could be counted is usable, whatever its first page does to
whoever draws it.
"""

import base64
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

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


def examine(file: BinaryIO, deck: BinaryIO | None = None, kind: str = NO_DECK) -> Examined | None:
    """What is worth knowing of a PDF; None when it does not begin and end as one, or has no page."""
    said = _ask(file, deck, kind)
    pages = said.get("pages", 0)
    if not pages:
        return None
    fonts, contents, thumbnail = said.get("fonts"), said.get("contents"), said.get("thumbnail")
    return Examined(
        pages=pages,
        embedded_fonts=tuple(fonts["embedded"]) if fonts and fonts["pages"] == pages else None,
        thumbnail=base64.b64decode(thumbnail) if thumbnail else None,
        contents=_contents(contents) if contents else None,
    )


def _contents(said: dict[str, Any]) -> Contents:
    fonts = said["fonts"]
    return Contents(**{**said, "fonts": None if fonts is None else set(fonts)})


def _ask(file: BinaryIO, deck: BinaryIO | None, kind: str) -> dict[str, Any]:
    """Every finding that the examiner came to say."""
    file.flush()
    descriptors = () if deck is None else (deck.fileno(),)
    command = [sys.executable, "-m", EXAMINER, NO_DECK if deck is None else kind, str(*descriptors or (0,))]
    with subprocess.Popen(
        command,
        stdin=file.fileno(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=descriptors,
        cwd="/",
        env={"PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8"},
    ) as process:
        try:
            output, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
    return _findings(output)


def _findings(output: bytes) -> dict[str, Any]:
    """The whole lines; the last one may be cut where the process was killed."""
    said: dict[str, Any] = {}
    for line in output.split(b"\n")[:-1]:
        said.update(json.loads(line))
    return said
