"""The languages of the server and of the page. Another one is a folder beside this file and a line here."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct


class Form(Struct, frozen=True):
    """Of which whole numbers a plural form is: here, and on the page."""

    holds: Callable[[int], bool]
    javascript: str
    """The condition with `{n}` as the number."""


ONE: Final = {"one": Form(lambda n: n == 1, "{n} === 1")}


class Language(Struct, frozen=True):
    """What a language does with numbers and lists."""

    own_name: str
    forms: Mapping[str, Form]
    """Its plural forms, as CLDR names them; any other number is `other`."""
    thousands: str
    between: str
    """Stands between the parts of a list."""
    space: str = " "
    """Stands between two sentences."""

    def plural(self, n: int) -> str:
        """The plural form of a whole number."""
        return next((name for name, form in self.forms.items() if form.holds(n)), "other")


ENGLISH: Final = "en"
LANGUAGES: Final[Mapping[str, Language]] = {
    ENGLISH: Language("English", ONE, thousands=",", between=", "),
    "de": Language("Deutsch", ONE, thousands=".", between=", "),
    "ja": Language("日本語", {}, thousands=",", between="、", space=""),
}
