"""What an address of our own says, with a MAC over it: who has the address has the permission, until its end."""

import base64
import binascii
import hmac
import json
from datetime import datetime
from typing import Any, Final

from shared.errors import LinkInvalid

LONGEST_TOKEN: Final = 2048


class Seal:
    """Makes and opens the last part of such addresses. One made for another purpose does not open."""

    def __init__(self, key: str, purpose: str) -> None:
        """`key` is a secret of every process that signs or checks."""
        self._key = hmac.digest(key.encode(), purpose.encode(), "sha256")

    def close(self, said: dict[str, Any], until: datetime) -> str:
        """The token that says this, until then."""
        raw = json.dumps({**said, "until": int(until.timestamp())}, separators=(",", ":")).encode()
        return f"{_text(raw)}.{_text(self._mac(raw))}"

    def open(self, token: str, now: datetime) -> dict[str, Any]:
        """What a token says. Raises LinkInvalid, also when it has expired."""
        if len(token) > LONGEST_TOKEN:
            raise LinkInvalid
        said, _, mac = token.partition(".")
        try:
            raw, given = _bytes(said), _bytes(mac)
        except (binascii.Error, ValueError):
            raise LinkInvalid from None
        if not hmac.compare_digest(given, self._mac(raw)):
            raise LinkInvalid
        found: dict[str, Any] = json.loads(raw)
        if now.timestamp() > found.pop("until"):
            raise LinkInvalid
        return found

    def _mac(self, raw: bytes) -> bytes:
        return hmac.digest(self._key, raw, "sha256")


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
