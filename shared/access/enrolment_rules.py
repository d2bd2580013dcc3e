"""Enrolment codes: how they are written, read and typed. Pure."""

from datetime import datetime, timedelta
from typing import Final

CODE_BYTES: Final = 15  # 120 bits, 24 characters
_CODE_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # without I, L, O, U, which people confuse
_CODE_MISREADINGS: Final = str.maketrans({"O": "0", "I": "1", "L": "1", "-": None, " ": None})
CODE_LASTS: Final = timedelta(minutes=15)
DISPLAY_PASSWORD_BYTES: Final = 32
ROTATIONS_APART: Final = timedelta(minutes=1)  # after each the broker reads all logins again


def compose_code(random_bytes: bytes) -> str:
    """An enrolment code to be read and typed: groups of six characters without look-alikes."""
    number = int.from_bytes(random_bytes)
    letters = [_CODE_ALPHABET[number >> shift & 31] for shift in range(0, len(random_bytes) * 8, 5)]
    return "-".join("".join(letters[i : i + 6]) for i in range(0, len(letters), 6))


def normalise_code(typed: str) -> str:
    """The code that a person typed: case, dashes, blanks and look-alike letters do not matter."""
    return typed.upper().translate(_CODE_MISREADINGS)


def wait_after_rotation(rotated_at: datetime | None, now: datetime) -> timedelta | None:
    """How long until a display may replace its password again; None: at once."""
    if rotated_at is None or not timedelta() <= now - rotated_at < ROTATIONS_APART:  # ahead: the clock was set back
        return None
    return rotated_at + ROTATIONS_APART - now
