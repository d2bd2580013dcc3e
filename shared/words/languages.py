"""The languages of the server and of the page. Another one is a folder beside this file and a line here."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

Forms: TypeAlias = Mapping[str, tuple[Callable[[int], bool], str]]
"""Plural forms by their names in CLDR: a test of a whole number in Python and in JavaScript. `other` is the rest."""
ONE: Final[Forms] = {"one": (lambda n: n == 1, "{} === 1")}


class Language(Struct, frozen=True):
    """What a language does with numbers and lists."""

    own_name: str
    forms: Forms
    thousands: str
    between: str
    space: str = " "
    """Stands between two sentences, as `between` between the parts of a list."""

    def plural(self, n: int) -> str:
        """The plural form of a whole number."""
        return next((form for form, (holds, _) in self.forms.items() if holds(n)), "other")


ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, Language]] = {
    ENGLISH: Language("English", ONE, thousands=",", between=", "),
    "de": Language("Deutsch", ONE, thousands=".", between=", "),
    "ja": Language("日本語", {}, thousands=",", between="、", space=""),
}
