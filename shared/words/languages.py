"""The languages. Another one is a folder beside this file and a line here."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct


class Language(Struct, frozen=True):
    """What a language does with numbers and lists."""

    own_name: str
    plural: Callable[[int], str]
    """The plural form of a whole number, as CLDR names it."""
    thousands: str
    between: str
    """Stands between the parts of a list."""
    space: str = " "
    """Stands between two sentences."""


def _one_or_other(n: int) -> str:
    return "one" if n == 1 else "other"


ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, Language]] = {
    ENGLISH: Language("English", _one_or_other, thousands=",", between=", "),
    "de": Language("Deutsch", _one_or_other, thousands=".", between=", "),
    "ja": Language("日本語", lambda _: "other", thousands=",", between="、", space=""),
}
