"""Which passwords are easily guessed. Pure.

A list of leaked passwords is not available everywhere. Leaked passwords of 12 characters or more have few forms:
frequent words, runs on the keyboard, of letters or digits, repetitions, years, the user's name, and few other
characters. So this module cuts a password into such pieces. Each piece counts as one, like each other character. A
password of few pieces is easily guessed, at any length.
"""

import re
from collections.abc import Collection
from typing import Final

from shared.errors import PasswordNotAccepted

SHORTEST: Final = 12  # characters
LONGEST: Final = 1024  # characters; longer ones only cost time
FEWEST_PARTS: Final = 5  # pieces and single characters
LOOKED_AT: Final = 64  # characters; the rest is ignored
SHORTEST_PIECE: Final = 3
LONGEST_PIECE: Final = 32
_WORDS: Final = """
abc access account admin administrator adobe aendern alexander alone always amanda amor andrea andrew angel anthony
apple april arsenal ashley asshole august austin autumn azerty baby babygirl bailey banana barcelona baseball
basketball batman battlefield bayern beautiful berlin best bieber birthday bitch biteme bitte blessed blink bond
bonjour boy boys brandon buster butter butterfly california caroline changeit changeme charlie cheerleader cheese
chelsea chicken chocolate chris christ christmas christopher cisco coffee company computer consola contrasena
cookie counter cowboys cutie daddy dance dancer daniel database david dead debian december default demo desktop
diamond doctor dolphin dragon eagles einstein einszweidrei eminem enter ericsson estrella estrellita evil facebook
family fantasy fender final flower football for forever france francisco frankfurt freedom friday friend friends
fuck fuckyou galaxy game games gateway geheim george germany gfhjkm ghbdtn ghjcnj ginger girl girls god golf google
green greenday guest guitar hallo hallohallo hamburg hammer hannah happy harley harry heart heather hello herbst
hockey hola hottie hunter iloveyou instagram internet jackson james january jasmine jennifer jessica jesus jordan
joseph joshua july june justin juventus kennwort killer king kiosk kisses kitten kombat lakers lantern leave
letmein liebe linkedin linkin linux little liverpool login london lord love lovely loveme loveyou lucky madrid
maggie manager manchester march marina marketing marlboro martin master matrix matthew maverick mercedes merlin
merry metal metallica michael michelle mickey microsoft midnight milan minecraft mobile monday money monitor monkey
monster morgan mortal mosquitto motdepasse mother mqtt much mucho muenchen munich music mustang my myself naruto
need network nicole ninja nirvana november october office oliver operator oracle orange paris park pass passport
passwd password passwort patrick peanut pepper phoenix pizza player playstation please pokemon porsche portal
postgres potter princess private puppy purple qwerty qwertz rainbow ranger raspberry raspberrypi resident richard
rings robert rock rome root samantha samsung samuel san saturday schalke schatz screen secret secure security senha
september server service shadow shop sicher silver skateboard slipknot smile soccer sommer somuch sonnenschein sony
speed spider spiderman spongebob spring squarepants starwars steelers store strike strong stuttgart summer sunday
sunflower sunshine superman support sweet sweetheart sysadmin system taylor teamo television temp tennis test
testing thomas thrones thunder thursday ticketmaster tigger tinkerbell tomorrow toor trust trustno trustnoone
tuesday twitter ubuntu undertaker united user valentina victoria vienna viewer vodafone warhammer wednesday
weihnachten weihnachtsbaum welcome whatever whos william willkommen windows wing winter wireless wizard world
yamaha yankees yellow you youtube zurich
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
    "741852963",
    "159753456852",
    "112233445566778899",
    "111222333444555666777888999",
    "122333444455555",
    "102030405060708090",
    "010203040506070809",
    "qwaszxerdfcvtyghbn",
    "qawsedrftgyhujikolp",
    "1qa2ws3ed4rf5tg6yh7uj8ik9ol",
    "z1x2c3v4b5n6m7",
    "!@#$%^&*()",
    '!"§$%&/()=',
)
_RUNS: Final = tuple(run for row in _ROWS for run in (row, row[::-1]))
_LEET: Final = str.maketrans("013457@$!", "oleastasi")
_SIGNS: Final = re.compile(r"[^\w]|_")


def check_new(new: str, current: str, username: str) -> None:
    """Raises PasswordNotAccepted when the person of this name may not choose `new` after `current`."""
    if not SHORTEST <= len(new) <= LONGEST:
        raise PasswordNotAccepted("password_length", facts={"shortest": SHORTEST, "longest": LONGEST})
    if new == current:
        raise PasswordNotAccepted("password_as_before")
    if is_easily_guessed(new, username):
        raise PasswordNotAccepted("password_guessed")


def is_easily_guessed(password: str, username: str = "") -> bool:
    """Whether it consists of few frequent pieces."""
    text = password.casefold()[:LOOKED_AT]
    names = {part for part in (*_SIGNS.split(username.casefold()), username.casefold()) if len(part) >= SHORTEST_PIECE}
    words = WORDS | PRODUCT | names
    return _is_repeated(text) or any(_parts(one, words) < FEWEST_PARTS for one in {text, _SIGNS.sub("", text)})


def _is_repeated(text: str) -> bool:
    """Whether it repeats one piece, or has at most three different characters."""
    return text in (text + text)[1:-1] or len(set(text)) <= 3


def _parts(text: str, words: Collection[str]) -> int:
    """The smallest number of pieces and single characters that it consists of."""
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
