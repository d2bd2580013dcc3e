"""How texts that identify are written, so that equal ones are equal: names are compared folded, with their case.

Names are those of sites, tags, units, displays, channels and people, and the values of claims. Keyboards and programs
write the same name in several ways (composed or not, with blanks that nobody sees). Passwords have a rule of their own.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

LONGEST: Final = 2_000
_BLANKS: Final = re.compile(r"[\s\u2800\u3164\uffa0]+")
"""White space, and letters and symbols that are blank."""
JOINERS: Final = "\u200c\u200d"
_JOINERS: Final = re.compile(f"([{JOINERS}])[{JOINERS}]*")
_JOINING_FROM: Final = "\u0590"
"""Scripts before this letter (Latin, Greek, Cyrillic) are written without joiners."""
_WIDE_BLANKS: Final = re.compile(r"[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")


def folded(text: str) -> str:
    """The name that this text means: composed (NFC), with single blanks inside, and without what nobody sees.

    Control characters and those for formatting go: with them two names look alike, or one looks like another. The two
    joiners stay between letters of scripts that are written with them, and in emoji. Nothing may be left. A text of
    more than LONGEST characters is no name, and stays as it is.
    """
    if len(text) > LONGEST:
        return text
    while text != (once := _once(text)):  # what goes may leave letters beside each other that compose
        text = once
    return text


def _once(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    seen = "".join(letter for letter in _BLANKS.sub(" ", text) if letter in JOINERS or not _is_unseen(letter))
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", _JOINERS.sub(_joiner, seen))).strip()


def folded_each(names: Iterable[str]) -> list[str]:
    """These names folded, each once, in their order; without those of which nothing is left."""
    return list(dict.fromkeys(name for name in map(folded, names) if name))


def hides(text: str) -> bool:
    """Whether the text has characters that nobody sees and that are no part of its name."""
    return folded(text) != _BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip()


def password_text(typed: str) -> str:
    """The password that was meant (OpaqueString of RFC 8265): composed, and every kind of blank is a plain one.

    Nothing is trimmed or joined: blanks and invisible characters of a password count.
    """
    return unicodedata.normalize("NFC", _WIDE_BLANKS.sub(" ", typed))


def _is_unseen(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Cf"}


def _joiner(found: re.Match[str]) -> str:
    """The joiner, if it is between letters that may need one."""
    before = found.string[max(0, found.start() - 1) : found.start()]
    after = found.string[found.end() : found.end() + 1]
    needed = before >= _JOINING_FROM and after >= _JOINING_FROM and not unicodedata.combining(after)
    return found[1] if needed else ""
