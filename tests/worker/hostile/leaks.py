"""Does a PDF hold what is not its deck's own: words of other files, or a picture of theirs?"""

from typing import Final

import pypdfium2

from tests.worker.hostile.seeds import COLOUR, WORDS

OTHERS: Final = (WORDS, "root:x:0:0")
"""Of our secrets, and of /etc/passwd. The converter's own environment holds the first of them too."""
FIRST_PAGES: Final = 5  # every hostile deck does what it does on its first slide
NEAR: Final = 12  # of 255: pictures go through JPEG on their way into a PDF
A_PATCH: Final = 25  # pixels
WIDTH: Final = 240.0


def leaks(pdf: bytes) -> bool:
    """Does it?"""
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
    """Is there a patch of the secret picture's colour on the first page?"""
    page = document[0]
    bitmap = page.render(scale=WIDTH / max(1.0, page.get_width()), rev_byteorder=True)
    raw, step = bytes(bitmap.buffer), bitmap.n_channels
    channels = zip(*(raw[offset::step] for offset in range(3)), strict=False)
    return sum(all(abs(a - b) <= NEAR for a, b in zip(pixel, COLOUR, strict=True)) for pixel in channels) >= A_PATCH
