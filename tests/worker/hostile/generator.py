"""Every kind of hostile deck in turn, decided by a seed. All variants of a kind come before a repeat."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from tests.worker.hostile import bombs, damaged, locked, reaching
from tests.worker.hostile.seeds import Seeds

Make = Callable[[Seeds, random.Random, str, Any], bytes]
PACKAGES: Final = ("pptx", "odp")
ALL: Final = ("pptx", "odp", "ppt")


@dataclass(frozen=True)
class Hostile:
    """A hostile deck."""

    kind: str
    suffix: str
    how: Any
    content: bytes

    @property
    def name(self) -> str:
        return f"{self.kind} ({self.suffix}, {self.how})"


@dataclass(frozen=True)
class Kind:
    """A kind of decks: its maker, formats and ways."""

    make: Make
    variants: tuple[tuple[str, Any], ...]


def every(make: Make, formats: tuple[str, ...], ways: tuple[Any, ...]) -> Kind:
    """A kind with each of these formats in each of these ways."""
    return Kind(make, tuple(product(formats, ways)))


KINDS: Final[dict[str, Kind]] = {
    "truncated": every(damaged.truncated, ALL, (None,)),
    "bit-flipped": every(damaged.bit_flipped, ALL, (1, 10, 100)),
    "flipped inside": every(damaged.flipped_inside, PACKAGES, (1, 5, 50)),
    "zip bomb": every(bombs.zip_bomb, PACKAGES, tuple(product(("slide", "unused part"), (140, 300, 1100)))),
    "XML bomb": every(bombs.xml_bomb, PACKAGES, (5, 9, 12)),
    "foreign entity": every(reaching.foreign_entity, PACKAGES, ("http", "file")),
    "password": every(locked.password, PACKAGES, (None,)),
    "macro": Kind(reaching.macro, (("pptx", "VBA"), ("odp", "Basic"), ("odp", "Python"))),
    "wrong magic": every(damaged.wrong_magic, ALL, tuple(damaged.STRANGERS)),
    "many parts": every(bombs.many_parts, PACKAGES, (5_000, 21_000)),
    "deep": every(damaged.deep, PACKAGES, (1_000, 20_000)),
    "many shapes": every(bombs.many_shapes, PACKAGES, (1_000, 20_000)),
    "many slides": every(bombs.many_slides, PACKAGES, (100, 5_000)),
    "huge picture": every(bombs.huge_picture, PACKAGES, (2_000, 5_000, 12_000, bombs.CLAIM)),
    "link": every(reaching.linking, PACKAGES, tuple(product(reaching.TARGETS, reaching.PLACES))),
}
TURNS: Final = (
    *("truncated", "link", "bit-flipped", "flipped inside", "link", "zip bomb", "XML bomb", "link", "foreign entity"),
    *("password", "link", "macro", "wrong magic", "many parts", "link", "deep", "many shapes", "many slides"),
    *("huge picture", "bit-flipped", "wrong magic"),
)
"""The order of the kinds: links come most often, because they have the most variants."""
ALL_VARIANTS: Final = frozenset((name, *variant) for name, kind in KINDS.items() for variant in kind.variants)


def order(seed: int, count: int) -> Iterator[tuple[str, str, Any]]:
    """Kind, format and way of the first `count` decks of a seed."""
    orders = {name: _shuffled(kind.variants, f"{seed}-{name}") for name, kind in KINDS.items()}
    met = dict.fromkeys(KINDS, 0)
    for number in range(count):
        name = TURNS[number % len(TURNS)]
        suffix, how = orders[name][met[name] % len(orders[name])]
        met[name] += 1
        yield name, suffix, how


def generate(good: Seeds, seed: int, count: int, skip: int = 0) -> Iterator[Hostile]:
    """The decks `skip` + 1 to `count` of a seed, made one by one. Equal good decks give equal hostile ones."""
    for number, (name, suffix, how) in enumerate(order(seed, count)):
        if number >= skip:
            content = KINDS[name].make(good, random.Random(f"{seed}-{number}"), suffix, how)
            yield Hostile(name, suffix, how, content)


def _shuffled(variants: tuple[tuple[str, Any], ...], seed: str) -> list[tuple[str, Any]]:
    return random.Random(seed).sample(variants, len(variants))
