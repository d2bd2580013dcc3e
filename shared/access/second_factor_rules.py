"""Time-based one-time passwords, as common apps make them (RFC 6238: HMAC-SHA-1, 30 s, six digits). Pure."""

import base64
import hashlib
import hmac
import re
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import quote, urlencode

from shared.access.rules import digest
from shared.vocabulary import Role

STEP_SECONDS: Final = 30
DIGITS: Final = 6
STEPS_OFF: Final = 1  # a phone's clock may be wrong by so many steps
SECRET_BYTES: Final = 20
NONCE_BYTES: Final = 32
RECOVERY_CODES: Final = 10
RECOVERY_LETTERS: Final = 16  # of `people.rules.ONE_TIME_ALPHABET`: 79 bits
ISSUER: Final = "Signage Fleet"
_PURPOSE: Final = b"second factor\0"
_CODE: Final = re.compile(rf"\d{{{DIGITS}}}", re.ASCII)
_BLANKS: Final = re.compile(r"[\s-]+")


class SecondFactorProof(StrEnum):
    """The proof besides the password."""

    NOT_NEEDED = "not_needed"
    MISSING = "missing"
    WRONG = "wrong"
    APP = "app"
    RECOVERY_CODE = "recovery_code"


def secret_of(key: str, nonce: str) -> bytes:
    """The secret of app and service. The database alone does not reveal it."""
    return hmac.new(key.encode(), _PURPOSE + nonce.encode(), hashlib.sha256).digest()[:SECRET_BYTES]


def as_typed(secret: bytes) -> str:
    """The secret in the form that people type into an app."""
    return base64.b32encode(secret).decode()


def address_of(secret: bytes, username: str) -> str:
    """The `otpauth:` address that apps read from a QR code."""
    label = quote(f"{ISSUER}:{username}", safe="")
    return f"otpauth://totp/{label}?{urlencode({'secret': as_typed(secret), 'issuer': ISSUER}, quote_via=quote)}"


def code_at(secret: bytes, step: int) -> str:
    """The six digits of one step of 30 seconds (RFC 4226)."""
    mac = hmac.new(secret, step.to_bytes(8, "big"), hashlib.sha1).digest()
    at = mac[-1] & 15
    return f"{(int.from_bytes(mac[at : at + 4], 'big') & 0x7FFFFFFF) % 10**DIGITS:0{DIGITS}d}"


def step_at(now: datetime) -> int:
    """The step of a time."""
    return int(now.timestamp()) // STEP_SECONDS


def step_of(secret: bytes, code: str, now: datetime, last_step: int | None) -> int | None:
    """The step of the typed code. None: wrong, too old, or not after the last used step."""
    typed = _BLANKS.sub("", code)
    if not _CODE.fullmatch(typed):
        return None
    present = step_at(now)
    steps = range(present - STEPS_OFF, present + STEPS_OFF + 1)
    fitting = [step for step in steps if hmac.compare_digest(code_at(secret, step), typed)]
    return next((step for step in fitting if last_step is None or step > last_step), None)


def hash_of_recovery_code(typed: str) -> str:
    """The stored hash of a recovery code; case, dashes and blanks do not matter."""
    return digest(_BLANKS.sub("", typed).lower())


def is_required(who: str, role: Role) -> bool:
    """Whether this role needs a second factor; `who` is SECOND_FACTOR_REQUIRED."""
    return who == "everybody" or (who == "admins" and role is Role.ADMIN)
