"""Is it a PDF that can be shown, and how many pages does it have?"""

import threading
from typing import BinaryIO

TAIL_BYTES = 1024  # where readers look for the end mark
_PDFIUM = threading.Lock()  # PDFium may be used by one thread at a time


def count_pages(file: BinaryIO) -> int | None:
    """The pages of a PDF that begins and ends as one; None when it does not, or has no page."""
    size = file.seek(0, 2)
    file.seek(0)
    begins = file.read(5) == b"%PDF-"
    file.seek(max(0, size - TAIL_BYTES))
    if not begins or b"%%EOF" not in file.read():
        return None
    return _parsed_pages(file) or None


def _parsed_pages(file: BinaryIO) -> int:
    import pypdfium2  # noqa: PLC0415 - a job that needs no PDF looked at does not pay for it

    file.seek(0)
    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(file)
        except pypdfium2.PdfiumError:
            return 0
        try:
            return len(document)
        finally:
            document.close()
