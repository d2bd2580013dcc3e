"""Request targets that try to leave the served folders: a seeded sample of all combinations of spellings.

Each target consists of a served root, steps upwards in some spelling, a file that must not be served, and an ending.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

# Spellings of two dots: to decode once, twice, wrongly or not at all.
DOTS: Final = (
    b"..",
    b"%2e%2e",
    b"%2E.",
    b".%2e",
    b"%252e%252e",
    b"%25252e%25252e",
    b"%c0%ae%c0%ae",
    b"\xc0\xae\xc0\xae",
    b"%e0%80%ae%e0%80%ae",
    b"%ef%bc%8e%ef%bc%8e",
    b"%u002e%u002e",
    b"..;",
    b"..;x=1",
    b"..%00",
    b"..\x00",
    b"...",
    b"..%20",
    b"..%0d%0a",
    b"..%09",
    b".%00.",
)
SLASHES: Final = (
    b"/",
    b"%2f",
    b"%2F",
    b"%252f",
    b"\\",
    b"%5c",
    b"%255c",
    b"%c0%af",
    b"\xc0\xaf",
    b"%e0%80%af",
    b"%ef%bc%8f",
    b"%u2215",
    b"//",
    b"/./",
    b"/x/../",
)
ENDINGS: Final = (
    b"",
    b"",  # plain spellings twice as often
    b"%00",
    b"%00.css",
    b"\x00.html",
    b".",
    b"..",
    b"/",
    b"/.",
    b";.js",
    b"%20",
    b"%3f.png",
    b"?a=/..",
    b"#.html",
    b"~",
    b"%0d%0aX-Injected:%20yes",
)
DEPTHS: Final = (1, 2, 3, 4, 6, 9, 14)
WRAPS: Final = ("origin", "origin", "origin", "absolute", "foreign", "file", "doubled", "bare")
MIXED: Final = (False, False, True)
METHODS: Final = {
    b"/api/event-media/uploads/": (b"GET", b"HEAD", b"PATCH", b"DELETE"),
}


@dataclass(frozen=True)
class Attempt:
    """One request line; `target` as sent on the wire."""

    method: bytes
    target: bytes

    @property
    def is_for_the_api(self) -> bool:
        """Whether the path belongs to the API."""
        return b"/api" in self.target


def attempts(count: int, seed: int, roots: Sequence[bytes], targets: Sequence[bytes], host: bytes) -> Iterator[Attempt]:
    """`count` different attempts, decided by the seed. `targets` are paths of files without a leading slash."""
    chance = random.Random(seed)
    axes: tuple[Sequence[object], ...] = (roots, DOTS, SLASHES, DEPTHS, targets, ENDINGS, WRAPS, MIXED)
    for number in chance.sample(range(prod(map(len, axes))), count):
        yield _attempt(_of(number, axes), chance, host)


def _of(number: int, axes: Sequence[Sequence[object]]) -> list[object]:
    """The combination with this number: one value of each axis."""
    values = []
    for axis in axes:
        number, digit = divmod(number, len(axis))
        values.append(axis[digit])
    return values


def _attempt(values: list[object], chance: random.Random, host: bytes) -> Attempt:
    root, dots, slash, depth, target, ending, wrap, is_mixed = values
    assert isinstance(root, bytes)
    assert isinstance(dots, bytes)
    assert isinstance(slash, bytes)
    assert isinstance(depth, int)
    assert isinstance(target, bytes)
    assert isinstance(ending, bytes)
    steps = b"".join(
        (chance.choice(DOTS) if is_mixed else dots) + (chance.choice(SLASHES) if is_mixed else slash)
        for _ in range(depth)
    )
    path = root + steps + target.replace(b"/", slash) + ending
    return Attempt(chance.choice(METHODS.get(root, (b"GET",))), _wrapped(path, str(wrap), host))


def _wrapped(path: bytes, wrap: str, host: bytes) -> bytes:
    """The path as a request target, in the form of browsers, of proxies, or in an invalid form."""
    return {
        "origin": path,
        "absolute": b"http://" + host + path,
        "foreign": b"http://elsewhere.example" + path,
        "file": b"file://" + path,
        "doubled": b"/" + path,
        "bare": path.lstrip(b"/"),
    }[wrap]
