"""Presentations for tests, made with the usual libraries and programs."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from odf.draw import Frame, Page, TextBox
from odf.opendocument import OpenDocumentPresentation
from odf.style import DrawingPageProperties, MasterPage, PageLayout, PageLayoutProperties, Style
from odf.text import P
from pptx import Presentation

SOFFICE_SECONDS = 240  # for LibreOffice on a busy machine


def make_pptx(path: str | Path, slides: int, hidden: int = 0, seed: int = 0) -> None:
    """Make a .pptx with this many slides, the last `hidden` of them hidden. Another seed gives other bytes."""
    deck = Presentation()
    for number in range(slides):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number + 1} of {slides} (deck {seed})"
        slide.placeholders[1].text = "\n".join(f"Line {line} of slide {number + 1}" for line in range(5))
        if number >= slides - hidden:
            slide._element.set("show", "0")
    deck.save(str(path))


def make_odp(path: str | Path, slides: int, hidden: int = 0) -> None:
    """Make an .odp with this many slides, the last `hidden` of them hidden."""
    deck = OpenDocumentPresentation()
    layout = PageLayout(name="Layout")
    layout.addElement(PageLayoutProperties(pagewidth="28cm", pageheight="21cm", printorientation="landscape"))
    deck.automaticstyles.addElement(layout)
    master = MasterPage(name="Master", pagelayoutname=layout)
    deck.masterstyles.addElement(master)
    styles = [_page_style(deck, name, name == "Hidden") for name in ("Shown", "Hidden")]
    for number in range(slides):
        page = Page(name=f"Page {number + 1}", masterpagename=master, stylename=styles[number >= slides - hidden])
        frame = Frame(width="20cm", height="4cm", x="2cm", y="2cm")
        box = TextBox()
        box.addElement(P(text=f"Slide {number + 1} of {slides}"))
        frame.addElement(box)
        page.addElement(frame)
        deck.presentation.addElement(page)
    deck.save(str(path))


def make_ppt(path: str | Path, slides: int, hidden: int = 0) -> None:
    """Let LibreOffice write a .ppt with this many slides, the last `hidden` of them hidden."""
    Path(path).write_bytes(_ppt(slides, hidden))


@cache
def _ppt(slides: int, hidden: int) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "deck.pptx"
        make_pptx(source, slides, hidden)
        convert(source, "ppt", Path(folder))
        return (Path(folder) / "deck.ppt").read_bytes()


def convert(source: Path, suffix: str, folder: Path) -> None:
    """Convert `source` to another format in `folder`, by a plain LibreOffice with its own profile."""
    profile = (folder / "profile").as_uri()
    command = ["soffice", "--headless", "--norestore", f"-env:UserInstallation={profile}"]
    command += ["--convert-to", suffix, "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=SOFFICE_SECONDS)


def _page_style(deck: OpenDocumentPresentation, name: str, hidden: bool) -> Style:
    style = Style(name=name, family="drawing-page")
    style.addElement(DrawingPageProperties(visibility="hidden" if hidden else "visible"))
    deck.automaticstyles.addElement(style)
    return style
