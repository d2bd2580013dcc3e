"""Which passwords are among the first that somebody would try. Pure.

A list of leaked passwords would be out of date and cannot be had everywhere; what such lists hold above 11 characters
has few forms: words that everybody uses, runs on the keyboard, of letters and digits, repetitions, years, one's own
name, and few signs more. So a password is cut into such pieces. Each piece counts as one, and so does each character
in no piece: few of them are a password that can be guessed, however long it is.
"""

import re
from collections.abc import Collection
from typing import Final

from shared.errors import PasswordNotAccepted

SHORTEST: Final = 12  # characters
LONGEST: Final = 1024  # characters; a longer one only costs work
FEWEST_PARTS: Final = 5  # pieces and single characters
LOOKED_AT: Final = 64  # characters; what is longer is cut
SHORTEST_PIECE: Final = 3
LONGEST_PIECE: Final = 32
_WORDS: Final = """
abc access account admin administrator adobe alexander amanda andrea andrew angel anthony apple april arsenal ashley
asshole august austin autumn azerty baby bailey banana barcelona baseball basketball batman beautiful berlin biteme
blessed bonjour brandon buster butterfly caroline changeit changeme charlie cheese chelsea chicken chocolate chris
christ computer consola contrasena cookie cowboys daniel database david december default demo desktop diamond doctor
dolphin dragon eagles einstein enter family fender flower football forever france freedom friday friend fuckyou
galaxy gateway geheim george germany ginger golf google guest guitar hallo hammer hannah harley heather hello herbst
hockey hola hunter iloveyou internet jackson james january jasmine jennifer jessica jesus jordan joseph joshua july
june justin kennwort killer king kiosk lakers letmein liebe linux liverpool login london love lovely loveme loveyou
lucky maggie manager manchester march marina marlboro martin master matrix matthew maverick mercedes merlin michael
michelle mickey microsoft midnight minecraft mobile monday money monitor monkey monster morgan motdepasse mother
mustang my naruto network nicole ninja november october office oliver operator oracle orange pass passport passwd
password passwort patrick peanut pepper phoenix player please pokemon porsche portal princess private purple qwerty
qwertz rainbow ranger richard robert root samantha samsung samuel saturday schalke schatz screen secret secure
security senha september server service shadow shop silver slipknot soccer sommer spider spiderman spring starwars
steelers store strong sunday sunflower sunshine superman support sweet sysadmin system taylor teamo temp tennis test
testing thomas thunder thursday tigger tomorrow toor trustno trustnoone tuesday united user valentina victoria
viewer vodafone wednesday welcome whatever william windows winter wireless wizard world yamaha yankees yellow you
"""
WORDS: Final = frozenset(_WORDS.split())
PRODUCT: Final = frozenset({"signage", "signagefleet", "fleet", "display", "displays", "digitalsignage"})
_ROWS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "qwertzuiop",
    "azertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "yxcvbnm",
    "qazwsxedcrfvtgbyhnujmikolp",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "1a2b3c4d5e6f7g8h9i",
    "a1b2c3d4e5f6g7h8i9",
    "a1s2d3f4g5h6j7k8l9",
    "147258369",
    "!@#$%^&*()",
    '!"§$%&/()=',
)
_RUNS: Final = tuple(run for row in _ROWS for run in (row, row[::-1]))
_LEET: Final = str.maketrans("013457@$!", "oleastasi")
_SIGNS: Final = re.compile(r"[^\w]|_")


def check_new(new: str, current: str, username: str) -> None:
    """Raises PasswordNotAccepted when the person of this name may not choose `new` after `current`."""
    if not SHORTEST <= len(new) <= LONGEST:
        raise PasswordNotAccepted(f"A password has {SHORTEST} to {LONGEST} characters.")
    if new == current:
        raise PasswordNotAccepted("The new password is the same as the present one.")
    if is_easily_guessed(new, username):
        raise PasswordNotAccepted(
            "That password is among the first that somebody would try: it is little more than frequent words, your own"
            " name, years, repetitions or neighbours on the keyboard. Add words of your own."
        )


def is_easily_guessed(password: str, username: str = "") -> bool:
    """Whether it consists of few pieces that everybody would try."""
    text = password.casefold()[:LOOKED_AT]
    names = {part for part in (*_SIGNS.split(username.casefold()), username.casefold()) if len(part) >= SHORTEST_PIECE}
    words = WORDS | PRODUCT | names
    return _is_repeated(text) or any(_parts(one, words) < FEWEST_PARTS for one in {text, _SIGNS.sub("", text)})


def _is_repeated(text: str) -> bool:
    """Whether it is one thing again and again, or of three different characters at most."""
    return text in (text + text)[1:-1] or len(set(text)) <= 3


def _parts(text: str, words: Collection[str]) -> int:
    """Of how many pieces and single characters it consists at least."""
    fewest = [0] * (len(text) + 1)
    for end in range(1, len(text) + 1):
        fewest[end] = fewest[end - 1] + 1
        for begin in range(max(0, end - LONGEST_PIECE), end - SHORTEST_PIECE + 1):
            if fewest[begin] + 1 < fewest[end] and _is_piece(text[begin:end], text[:begin], words):
                fewest[end] = fewest[begin] + 1
    return fewest[-1]


def _is_piece(piece: str, before: str, words: Collection[str]) -> bool:
    return (
        piece in words
        or piece[::-1] in words
        or piece.translate(_LEET) in words
        or len(set(piece)) == 1
        or any(piece in run for run in _RUNS)
        or (len(piece) == 4 and piece.isdecimal() and piece[:2] in {"19", "20"})
        or piece in before
        or piece[::-1] in before
    )
