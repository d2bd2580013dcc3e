"""Check a password against a local list of leaked passwords."""

import hashlib
import os
from bisect import bisect_left
from pathlib import Path
from typing import BinaryIO, Final

from shared.errors import ConfigurationError, PasswordNotAccepted

DIGITS: Final = 40  # of a SHA-1 in hexadecimal
AFTER_ALL: Final = b"~"  # sorts behind every hexadecimal digit


def check_not_leaked(password: str, list_file: str) -> None:
    """Raises PasswordNotAccepted for a password in the list; ConfigurationError when the file is missing."""
    if list_file and is_listed(password, Path(list_file)):
        raise PasswordNotAccepted("password_leaked")


def is_listed(password: str, list_file: Path) -> bool:
    """Whether the file has the password's SHA-1. Lines are sorted, in capitals; text after the hash is ignored.

    This is the format of Have I Been Pwned. The file has 40 GB, so the search reads only parts of it.
    """
    wanted = hashlib.sha1(password.encode(), usedforsecurity=False).hexdigest().upper().encode()
    try:
        with list_file.open("rb") as lines:
            size = lines.seek(0, os.SEEK_END)
            place = bisect_left(range(size), wanted, key=lambda at: _line_from(lines, at))
            return _line_from(lines, place) == wanted
    except OSError as error:
        raise ConfigurationError(f"LEAKED_PASSWORDS_FILE cannot be read ({type(error).__name__}).") from None


def _line_from(lines: BinaryIO, at: int) -> bytes:
    """The hash of the first line that begins at `at` or later."""
    lines.seek(max(0, at - 1))
    if at:
        lines.readline()
    return lines.readline()[:DIGITS] or AFTER_ALL
