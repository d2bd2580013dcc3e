"""Files that are not presentations, or harmful ones, made byte by byte."""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from tests.worker import decks

SECTOR = 512
FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
CUTOFF = 4096  # shorter streams would need the small-block file, so they are padded


def pptx_bytes(folder: Path, slides: int = 1, hidden: int = 0) -> bytes:
    """A good .pptx to spoil."""
    decks.make_pptx(folder / "good.pptx", slides, hidden)
    return (folder / "good.pptx").read_bytes()


def part_of(package: bytes, name: str) -> bytes:
    """One part of a package."""
    with zipfile.ZipFile(io.BytesIO(package)) as opened:
        return opened.read(name)


def with_parts(package: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The package with these parts replaced or added."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, content in parts.items():
            new.writestr(name, content)
    return out.getvalue()


def with_zeros(package: bytes, name: str, size: int) -> bytes:
    """The package with a part of `size` zeros, compressed a thousandfold."""
    out = io.BytesIO(package)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as new, new.open(name, "w", force_zip64=True) as part:
        block = bytes(1024 * 1024)
        for start in range(0, size, len(block)):
            part.write(block[: size - start])
    return out.getvalue()


def with_declared_size(package: bytes, name: str, size: int) -> bytes:
    """The package with a directory that gives `size` as the unpacked size of part `name`."""
    spoilt = bytearray(package)
    at = package.rindex(b"PK\x01\x02", 0, package.rindex(name.encode()))
    struct.pack_into("<L", spoilt, at + 24, size)
    return bytes(spoilt)


def png_of(width: int, height: int) -> bytes:
    """A PNG whose header claims this size, with a few bytes of data."""
    header = b"IHDR" + struct.pack(">LLBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">L", 13) + header + struct.pack(">L", zlib.crc32(header))


def compound_file(streams: Mapping[str, bytes], nested: bool = False) -> bytes:
    """An OLE compound file with these streams at the top level, or all in one storage.

    The streams form a list (each entry's right neighbour is the next), which readers must accept as a tree.
    """
    contents = [content.ljust(CUTOFF, b"\0") for content in streams.values()]
    names = [*streams]
    directory_sectors = (len(names) + 2 + 3) // 4
    fat, starts = [FAT, *_chain(1, directory_sectors)], []
    for content in contents:
        starts.append(len(fat))
        fat += _chain(len(fat), -(-len(content) // SECTOR))
    if len(fat) > SECTOR // 4:
        raise ValueError("one sector of table is all this makes")
    first = 2 if nested else 1
    entries = [_entry("Root Entry", 5, child=1, start=END)]
    entries += [_entry("Storage", 1, child=first)] if nested else []
    for number, name in enumerate(names):
        right = first + number + 1 if number + 1 < len(names) else FREE
        entries.append(_entry(name, 2, right=right, start=starts[number], size=len(contents[number])))
    directory = b"".join(entries).ljust(directory_sectors * SECTOR, b"\0")
    table = struct.pack(f"<{len(fat)}L", *fat).ljust(SECTOR, b"\xff")
    body = b"".join(content.ljust(-(-len(content) // SECTOR) * SECTOR, b"\0") for content in contents)
    return _header() + table + directory + body


def _chain(start: int, count: int) -> list[int]:
    return [*range(start + 1, start + count), END]


def _header() -> bytes:
    fixed = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    fixed += struct.pack("<9L", 0, 1, 1, 0, CUTOFF, END, 0, END, 0)
    return fixed + struct.pack("<109L", 0, *[FREE] * 108)


def _entry(name: str, kind: int, right: int = FREE, child: int = FREE, start: int = 0, size: int = 0) -> bytes:
    raw = (name + "\0").encode("utf-16-le")
    head = raw.ljust(64, b"\0") + struct.pack("<HBB", len(raw), kind, 1)
    return head + struct.pack("<3L", FREE, right, child) + bytes(36) + struct.pack("<LLL", start, size, 0)
