"""PDFs written byte by byte: a plain one, and ones that try to harm their reader."""

import zlib

PDF = (
    b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n"
    b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 50]>>\nendobj\ntrailer\n<</Root 1 0 R>>\n%%EOF\n"
)


def pdf_with(page: bytes, *others: bytes) -> bytes:
    """A PDF of one page with these entries, and further objects from number 4 on."""
    body = PDF.replace(b"/MediaBox[0 0 100 50]", page)
    more = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, other) for number, other in enumerate(others, 4))
    return body.replace(b"trailer", more + b"trailer")


def stream(entries: bytes, content: bytes) -> bytes:
    return b"<<%s/Length %d>>\nstream\n%s\nendstream" % (entries, len(content), content)


SPINNING = b"/MediaBox[0 0 100 50]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>"
FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F 5 0 R>>>>"
HUGE = (
    b"/Type/XObject/Subtype/Image/Width 60000/Height 60000/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode"
)
HOSTILE = {
    "a page as large as a country": pdf_with(b"/MediaBox[0 0 9e9 9e9]"),
    "a page without an extent": pdf_with(b"/MediaBox[0 0 0 0]"),
    "a form that draws itself": pdf_with(SPINNING, stream(b"", b"/F Do " * 50), stream(FORM, b"/F Do " * 50)),
    "a picture of ten gigabytes": pdf_with(
        b"/MediaBox[0 0 100 50]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>",
        stream(b"", b"100 0 0 50 0 0 cm /F Do"),
        stream(HUGE, zlib.compress(bytes(10_000_000))),
    ),
    "a page with a million operators": pdf_with(
        b"/MediaBox[0 0 100 50]/Contents 4 0 R",
        stream(b"/Filter/FlateDecode", zlib.compress(b"0 0 m 100 50 l S " * 1_000_000)),
    ),
}
