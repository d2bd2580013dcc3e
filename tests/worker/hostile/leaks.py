"""Detect content of other files in a PDF: their words, or their picture."""

from typing import Final

import pypdfium2

from tests.worker.hostile.seeds import COLOUR, WORDS

OTHERS: Final = (WORDS, "root:x:0:0")
"""Words of the planted secrets and of /etc/passwd. The converter's environment has the first of them too."""
FIRST_PAGES: Final = 5  # every hostile deck acts on its first slide
NEAR: Final = 12  # of 255: pictures in a PDF are compressed by JPEG
A_PATCH: Final = 25  # pixels
WIDTH: Final = 240.0


def leaks(pdf: bytes) -> bool:
    """Whether the PDF has content of other files."""
    if any(word.encode() in pdf for word in OTHERS):
        return True
    try:
        document = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return False
    with document:
        texts = [document[number].get_textpage().get_text_range() for number in range(min(FIRST_PAGES, len(document)))]
        return any(word in text for text in texts for word in OTHERS) or _shows_the_colour(document)


def _shows_the_colour(document: pypdfium2.PdfDocument) -> bool:
    """Whether the first page has a patch of the secret picture's colour."""
    page = document[0]
    bitmap = page.render(scale=WIDTH / max(1.0, page.get_width()), rev_byteorder=True)
    raw, step = bytes(bitmap.buffer), bitmap.n_channels
    channels = zip(*(raw[offset::step] for offset in range(3)), strict=False)
    return sum(all(abs(a - b) <= NEAR for a, b in zip(pixel, COLOUR, strict=True)) for pixel in channels) >= A_PATCH
