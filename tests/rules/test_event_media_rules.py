"""Which files may be uploaded, by name and by content."""

import contextlib
import gzip
import io
import re
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.errors import (
    Encrypted,
    NoSlides,
    NotAPresentation,
    TooLargeUnpacked,
    UnsupportedMediaType,
)
from shared.event_media import pictures_rules, rules, zip_rules
from shared.event_media.zip_rules import Slides
from shared.vocabulary import MediaKind
from tests.worker import decks, hostile_decks

PPTX = MediaKind.PPTX


def inspect(content: bytes, named: MediaKind = PPTX) -> tuple[MediaKind, Slides | None]:
    return rules.inspect(io.BytesIO(content), named)


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A good .pptx of three slides, one of them hidden."""
    return hostile_decks.pptx_bytes(tmp_path_factory.mktemp("deck"), slides=3, hidden=1)


NAMES = [
    ("talk.pptx", MediaKind.PPTX),
    ("TALK.PPT", MediaKind.PPT),
    ("a.b.odp", MediaKind.ODP),
    ("photo.jpg", MediaKind.JPEG),
    ("photo.jpeg", MediaKind.JPEG),
    ("../../etc/clip.webm", MediaKind.WEBM),
]


@pytest.mark.parametrize(("name", "kind"), NAMES)
def test_the_name_says_which_kind_is_promised(name: str, kind: MediaKind) -> None:
    assert rules.kind_of_name(name) is kind


@pytest.mark.parametrize("name", ["talk", "talk.docx", "pptx", "talk.pptx.exe", "", "talk.pptx "])
def test_any_other_name_is_refused_with_the_list_of_good_ones(name: str) -> None:
    with pytest.raises(UnsupportedMediaType) as refusal:
        rules.kind_of_name(name)

    assert ".pptx" in refusal.value.extras["accepted"]


SHOWN = [
    ("Talk über München.pptx", "Talk über München.pptx", "people's own letters stay"),
    ("C:\\Users\\x\\talk.ppt", "talk.ppt", "old browsers send the whole path"),
    ("../../../etc/passwd.odp", "passwd.odp", "nobody walks upwards"),
    ("a\nb\x00c\x1b[31m.pptx", "abc[31m.pptx", "no control characters"),
    ("\x01.pptx", "unnamed.pptx", "no name that many programs would hide"),
    (" . .PPTX", "unnamed.PPTX", "nor one of dots"),
    (".profile.pptx", ".profile.pptx", "but dots may begin a name"),
    ("evil\u202extpp.exe.pptx", "evilxtpp.exe.pptx", "no mark that turns the writing direction"),
]


@pytest.mark.parametrize(("name", "shown", "why"), SHOWN)
def test_the_name_that_people_see_is_clean(name: str, shown: str, why: str) -> None:
    assert rules.shown_filename(name) == shown, why


def test_a_long_name_keeps_its_ending() -> None:
    shown = rules.shown_filename("x" * 1000 + ".pptx")

    assert (len(shown), shown[-5:]) == (255, ".pptx")


CONTENTS = [
    (b"%PDF-1.7\n%%EOF\n", MediaKind.PDF),
    (hostile_decks.png_of(1, 1), MediaKind.PNG),
    (b"\xff\xd8\xff\xc0\x00\x11\x08\x00\x01\x00\x01", MediaKind.JPEG),
    (b"RIFF\x00\x00\x00\x00WEBPVP8 ".ljust(26, b"\0") + b"\x01\x00\x01\x00", MediaKind.WEBP),
    (b"GIF89a\x01\x00\x01\x00", MediaKind.GIF),
    (b"\x00\x00\x00\x20ftypisom", MediaKind.MP4),
    (b"\x1a\x45\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1f\x42\x82\x84webm", MediaKind.WEBM),
]


@pytest.mark.parametrize(("content", "kind"), CONTENTS)
def test_media_are_what_their_first_bytes_say(content: bytes, kind: MediaKind) -> None:
    assert inspect(content, kind) == (kind, None)


@pytest.mark.parametrize(("content", "kind"), CONTENTS)
def test_media_of_another_family_than_the_name_says_are_refused(content: bytes, kind: MediaKind) -> None:
    named = MediaKind.PNG if kind is MediaKind.PDF else MediaKind.PDF

    with pytest.raises(UnsupportedMediaType):
        inspect(content, named)


@pytest.mark.parametrize(("place", "length"), [(1, 20), (2, 8), (3, 26), (4, 8)])
def test_a_picture_that_ends_before_its_size_is_none(place: int, length: int) -> None:
    content, kind = CONTENTS[place]

    with pytest.raises(UnsupportedMediaType, match="no size"):
        inspect(content[:length], kind)


def test_a_picture_may_be_named_after_another_kind_of_picture() -> None:
    assert inspect(hostile_decks.png_of(1, 1), MediaKind.JPEG) == (MediaKind.PNG, None)


def test_slides_are_counted_and_hidden_ones_apart(deck: bytes, tmp_path: Path) -> None:
    decks.make_odp(tmp_path / "deck.odp", 4, hidden=1)

    assert inspect(deck) == (MediaKind.PPTX, Slides(visible=2, hidden=1))
    assert inspect((tmp_path / "deck.odp").read_bytes(), MediaKind.ODP) == (MediaKind.ODP, Slides(visible=3, hidden=1))


def test_a_deck_named_after_another_kind_of_deck_is_what_its_content_says(deck: bytes) -> None:
    assert inspect(deck, MediaKind.PPT)[0] is MediaKind.PPTX


@pytest.mark.parametrize("hidden", [0, 2])
def test_a_deck_with_nothing_to_show_is_refused(tmp_path: Path, hidden: int) -> None:
    with pytest.raises(NoSlides):
        inspect(hostile_decks.pptx_bytes(tmp_path, slides=hidden, hidden=hidden))


NO_DECKS = [
    (b"", "nothing"),
    (b"hello", "text"),
    (b"%PDF-1.7", "a PDF"),
    (b"PK\x03\x04" + bytes(100), "a ZIP that ends after its first bytes"),
    (b"\x7fELF" + bytes(1000), "a program"),
    (hostile_decks.compound_file({"WordDocument": b"x"}), "a Word document"),
    (hostile_decks.compound_file({"PowerPoint Document": b"x"}, nested=True), "a deck inside of something else"),
    (hostile_decks.compound_file({"PowerPoint Document": b"x"})[:600], "a compound file without its directory"),
]


@pytest.mark.parametrize(("content", "what"), NO_DECKS)
def test_what_is_no_presentation_is_refused(content: bytes, what: str) -> None:
    with pytest.raises(NotAPresentation):
        inspect(content)


def test_a_zip_of_another_kind_is_no_presentation(deck: bytes) -> None:
    types = zipfile.ZipFile(io.BytesIO(deck)).read("[Content_Types].xml")
    as_word = types.replace(b"presentationml", b"wordprocessingml")
    spreadsheet = {"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}

    for package in (
        hostile_decks.with_parts(deck, {"[Content_Types].xml": as_word}),
        hostile_decks.with_parts(deck, spreadsheet),
    ):
        with pytest.raises(NotAPresentation):
            inspect(package)


def test_a_zip_inside_of_a_compound_file_does_not_fool_anybody(deck: bytes) -> None:
    """Real .ppt files contain whole packages, which zipfile finds from the file's end."""
    compound = hostile_decks.compound_file({"PowerPoint Document": b"records of an odd form"}) + deck

    assert zipfile.is_zipfile(io.BytesIO(compound))
    assert inspect(compound, MediaKind.PPT) == (MediaKind.PPT, None)


def test_presentations_with_a_password_are_told_apart(deck: bytes, tmp_path: Path) -> None:
    current_user = struct.pack("<HHLLLL", 0, 0x0FF6, 20, 20, 0xF3D1C4DF, 0)
    decks.make_odp(tmp_path / "deck.odp", 1)
    manifest = (
        b'<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry '
        b'm:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>'
    )
    flagged = bytearray(deck)
    flagged[deck.rindex(b"PK\x01\x02") + 8] |= 1

    for content in (
        hostile_decks.compound_file({"EncryptionInfo": b"x", "EncryptedPackage": b"x"}),
        hostile_decks.compound_file({"PowerPoint Document": b"x", "Current User": current_user}),
        hostile_decks.with_parts((tmp_path / "deck.odp").read_bytes(), {"META-INF/manifest.xml": manifest}),
        bytes(flagged),
    ):
        with pytest.raises(Encrypted):
            inspect(content)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("part", ["ppt/slides/slide1.xml", "ppt/presentation.xml", "customXml/item1.xml"])
def test_a_document_type_is_refused_in_every_part(deck: bytes, part: str, encoding: str) -> None:
    bomb = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'

    with pytest.raises(NotAPresentation, match="document type"):
        inspect(hostile_decks.with_parts(deck, {part: bomb.encode(encoding)}))


def test_the_words_of_a_document_type_in_a_slides_text_are_no_document_type(deck: bytes) -> None:
    slide = zipfile.ZipFile(io.BytesIO(deck)).read("ppt/slides/slide1.xml")
    talk = slide.replace(b"Line 0", b"&lt;!DOCTYPE html><![CDATA[<!DOCTYPE html>]]>")
    assert talk != slide

    assert inspect(hostile_decks.with_parts(deck, {"ppt/slides/slide1.xml": talk}))[0] is PPTX


def test_a_part_that_unpacks_to_too_much_is_refused(deck: bytes) -> None:
    with pytest.raises(TooLargeUnpacked):
        inspect(hostile_decks.with_zeros(deck, "ppt/bomb.xml", zip_rules.MAX_XML_BYTES + 1))


def test_a_package_that_says_it_unpacks_to_too_much_is_refused(deck: bytes) -> None:
    with pytest.raises(TooLargeUnpacked):
        inspect(hostile_decks.with_declared_size(deck, "docProps/thumbnail.jpeg", zip_rules.MAX_UNPACKED_BYTES + 1))


def test_a_package_with_too_many_parts_is_refused_before_they_are_listed(
    deck: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    crowded = io.BytesIO(deck)
    with zipfile.ZipFile(crowded, "a") as package:
        for number in range(zip_rules.MAX_ENTRIES):
            package.writestr(f"{number}", b"")
    monkeypatch.setattr(zipfile, "ZipFile", None)

    with pytest.raises(TooLargeUnpacked):
        inspect(crowded.getvalue())


@pytest.mark.parametrize(("width", "height", "refused"), [(15_000, 10_000, False), (15_000, 10_001, True)])
def test_a_picture_beyond_150_megapixels_is_refused(deck: bytes, width: int, height: int, refused: bool) -> None:
    package = hostile_decks.with_parts(deck, {"ppt/media/image1.png": hostile_decks.png_of(width, height)})

    if refused:
        with pytest.raises(TooLargeUnpacked, match="megapixels"):
            inspect(package)
    else:
        assert inspect(package)[0] is PPTX


HUGE = [
    (hostile_decks.png_of(15_000, 10_001), MediaKind.PNG),
    (b"GIF89a" + struct.pack("<HH", 15_000, 10_001), MediaKind.GIF),
    (b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x97\x3a\0\x10\x27\0", MediaKind.WEBP),
]


@pytest.mark.parametrize(("content", "kind"), HUGE)
def test_a_picture_beyond_all_screens_is_refused(content: bytes, kind: MediaKind) -> None:
    with pytest.raises(TooLargeUnpacked, match="megapixels"):
        inspect(content, kind)


def test_what_only_begins_as_a_pdf_is_none() -> None:
    with pytest.raises(UnsupportedMediaType):
        inspect(b"%PDF-1.4 junk", MediaKind.PDF)


JPEG_HEAD = b"\xff\xd8\xff\xe1\x00\x06Exif" + b"\xff\xff\xdb\x00\x04qq"
PICTURES = [
    (hostile_decks.png_of(640, 480), "PNG"),
    (b"GIF89a" + struct.pack("<HH", 640, 480), "GIF"),
    (b"BM" + bytes(16) + struct.pack("<ll", 640, -480), "BMP, top-down"),
    (JPEG_HEAD + b"\xff\xc2\x00\x11\x08" + struct.pack(">HH", 480, 640), "JPEG, progressive, behind other segments"),
    (b"II*\x00\x08\x00\x00\x00\x02\x00" + struct.pack("<HHLLHHLL", 256, 3, 1, 640, 257, 4, 1, 480), "TIFF, Intel"),
    (
        b"MM\x00*\x00\x00\x00\x08\x00\x02" + struct.pack(">HHLHHHHLL", 256, 3, 1, 640, 0, 257, 4, 1, 480),
        "TIFF, Motorola",
    ),
    (b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0", "an extended WebP"),
    (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + (639 | 479 << 14).to_bytes(4, "little"), "a lossless WebP"),
    (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01", "a lossy WebP"),
]


@pytest.mark.parametrize(("head", "what"), PICTURES)
def test_a_pictures_size_is_read_from_its_head(head: bytes, what: str) -> None:
    assert pictures_rules.pixels(io.BytesIO(head)) == 640 * 480, what


@given(head=st.sampled_from([head for head, _ in PICTURES]), cut=st.integers(0, 64), noise=st.binary(max_size=64))
def test_no_head_of_a_picture_is_too_odd_to_be_looked_at(head: bytes, cut: int, noise: bytes) -> None:
    assert pictures_rules.pixels(io.BytesIO(head[:cut] + noise)) >= 0


@given(data=st.data())
def test_a_damaged_deck_is_accepted_or_refused_by_name_and_never_worse(deck: bytes, data: st.DataObject) -> None:
    spoilt = bytearray(data.draw(st.sampled_from([deck, COMPOUND]), label="deck"))
    for place, value in data.draw(
        st.lists(st.tuples(st.integers(0, len(spoilt) - 1), st.integers(0, 255)), max_size=20), label="damage"
    ):
        spoilt[place] = value
    cut = data.draw(st.integers(0, len(spoilt)), label="cut")

    for content in (bytes(spoilt), bytes(spoilt[:cut])):
        with contextlib.suppress(NotAPresentation, Encrypted, TooLargeUnpacked, NoSlides):
            assert inspect(content)[0] in {MediaKind.PPTX, MediaKind.PPT}


def _records() -> bytes:
    """The stream of a small deck: an edit, its directory, a document with two slides; the second slide is hidden."""

    def record(kind: int, body: bytes, instance: int = 0, container: bool = False) -> bytes:
        return struct.pack("<HHL", instance << 4 | (0xF if container else 0), kind, len(body)) + body

    def slide(flags: int) -> bytes:
        return record(0x03EE, record(0x03F9, bytes(10) + struct.pack("<HL", flags, 0)), container=True)

    persists = [record(0x03F3, struct.pack("<LLLLL", reference, 0, 0, 256, 0)) for reference in (2, 3)]
    masters = record(0x0FF0, persists[0], instance=1, container=True)
    document = record(0x03E8, masters + record(0x0FF0, b"".join(persists), container=True), container=True)
    parts, places = b"", []
    for part in (document, slide(0), slide(4)):
        places.append(len(parts))
        parts += part
    directory = record(0x1772, struct.pack("<LLLL", 3 << 20 | 1, *places))
    edit = record(0x0FF5, struct.pack("<LLLLLLL", 0, 0, 0, len(parts), 1, 3, 0))
    return parts + directory + edit


RECORDS = _records()
CURRENT_USER = struct.pack("<HHLLLL", 0, 0x0FF6, 20, 20, 0xE391C05F, len(RECORDS) - 36)
COMPOUND = hostile_decks.compound_file({"Current User": CURRENT_USER, "PowerPoint Document": RECORDS})


def test_slides_of_a_compound_file_are_those_of_its_newest_edit() -> None:
    assert inspect(COMPOUND, MediaKind.PPT) == (MediaKind.PPT, Slides(visible=1, hidden=1))


def test_a_compound_file_whose_chain_goes_round_in_circles_is_refused() -> None:
    looped = bytearray(COMPOUND)
    struct.pack_into("<L", looped, 512 + 4 * 1, 1)  # the directory's first sector follows itself

    with pytest.raises(NotAPresentation):
        inspect(bytes(looped), MediaKind.PPT)


BOMB = '<!ENTITY a0 "lol">' + "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
NAMED = '<!ENTITY ns_svg "http://www.w3.org/2000/svg">'
PLAIN = '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"{}>'
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>{}</text></svg>'


def svg(entities: str, text: str = "") -> str:
    return PLAIN.format(f" [{entities}]" if entities else "") + SVG.format(text)


SVGS = [
    (svg("").encode(), True, "of a drawing program"),
    (svg(NAMED).encode(), True, "of a drawing program that gives addresses a name"),
    (SVG.format("plain").encode(), True, "without a document type"),
    (b"<svg not even XML", True, "damaged: LibreOffice shows nothing of it"),
    (svg(BOMB, "&a9;").encode(), False, "entities of entities"),
    (svg(BOMB, "&a9;").encode("utf-16"), False, "in another encoding"),
    (gzip.compress(svg(BOMB, "&a9;").encode()), False, "compressed"),
    (svg('<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;").encode(), False, "another file"),
    (svg(f'<!ENTITY a "{"x" * 100_000}">', "&a;" * 1000).encode(), False, "a long one many times"),
    (svg('<!ENTITY % a "b">').encode(), False, "a parameter"),
    (b"<svg>" + b"<g>" * 5000, False, "groups in groups"),
]


@pytest.mark.parametrize("name", ["ppt/media/image1.svg", "ppt/media/image1.png"])
@pytest.mark.parametrize(("content", "passes", "why"), SVGS, ids=[case[2] for case in SVGS])
def test_an_svg_whose_entities_grow_is_refused_by_its_content(
    deck: bytes, name: str, content: bytes, passes: bool, why: str
) -> None:
    package = hostile_decks.with_parts(deck, {name: content})
    if passes:
        assert inspect(package)[0] is PPTX, why
    else:
        with pytest.raises((NotAPresentation, TooLargeUnpacked)):
            inspect(package)


def nested(deck: bytes, depth: int) -> bytes:
    slide = hostile_decks.part_of(deck, "ppt/slides/slide1.xml")
    groups = b"<p:grpSp>" * depth + b"</p:grpSp>" * depth
    deeper = slide.replace(b"</p:spTree>", groups + b"</p:spTree>")
    return hostile_decks.with_parts(deck, {"ppt/slides/slide1.xml": deeper})


def test_elements_that_are_nested_too_deep_or_too_many_are_refused(
    deck: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert inspect(nested(deck, zip_rules.MAX_DEPTH - 10))[0] is PPTX
    with pytest.raises(TooLargeUnpacked, match="deeper than 1,000"):
        inspect(nested(deck, zip_rules.MAX_DEPTH))

    monkeypatch.setattr(zip_rules, "MAX_ELEMENTS", 100)
    with pytest.raises(TooLargeUnpacked):
        inspect(deck)


@pytest.mark.parametrize("slides", [1, 3])
def test_a_slide_that_ends_in_the_middle_makes_its_deck_a_damaged_one(tmp_path: Path, slides: int) -> None:
    deck = hostile_decks.pptx_bytes(tmp_path, slides)
    name = f"ppt/slides/slide{slides}.xml"
    half = hostile_decks.part_of(deck, name)
    package = hostile_decks.with_parts(deck, {name: half[: len(half) // 2]})

    with pytest.raises(NotAPresentation, match="damaged"):
        inspect(package)


def test_a_damaged_part_that_no_slide_shows_is_let_pass(deck: bytes) -> None:
    assert inspect(hostile_decks.with_parts(deck, {"docProps/app.xml": b"<Properties"}))[0] is PPTX


@pytest.mark.parametrize(("width", "passes"), [(-9144000, False), (0, False), (1, False), (914400, True)])
def test_a_slide_without_an_extent_is_refused(deck: bytes, width: int, passes: bool) -> None:
    main = hostile_decks.part_of(deck, "ppt/presentation.xml")
    sized = re.sub(rb'cx="\d+"', b'cx="%d"' % width, main, count=1)
    package = hostile_decks.with_parts(deck, {"ppt/presentation.xml": sized})

    assert b"sldSz" in main
    if passes:
        assert inspect(package)[0] is PPTX
    else:
        with pytest.raises(NotAPresentation, match="damaged"):
            inspect(package)
