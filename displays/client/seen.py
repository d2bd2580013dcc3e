"""What a health report says of the page on the screen, in the contract's words. Pure.

`glass` goes with each report. Address and title are for people; they go with a report only now and then, because most
pages stay for days.
"""

import hashlib
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from displays.client.contract import HEALTH, PAGE_MAX_CHARS, encode

SECRET_CHARS: Final = 64  # a longer value in an address may be a secret
TOLD_AT_LEAST_EACH: Final = 30  # reports
PAGE_FIELDS: Final = ("glass", "address", "title")


def public(text: str) -> str:
    """A text of a page, cut, and on one line."""
    return "".join(sign if sign.isprintable() else " " for sign in text[:PAGE_MAX_CHARS])


def public_address(address: str) -> str:
    """The address of a page without a login, and without long values, which may be secrets."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    query, fragment = (_without_secrets(part) for part in (parts.query, parts.fragment))
    host = parts.netloc.rpartition("@")[2]
    return public(urlunsplit(parts._replace(netloc=host, query=query, fragment=fragment)))


def _without_secrets(query: str) -> str:
    pairs = (pair.partition("=") for pair in query.split("&"))
    return "&".join(
        name[:SECRET_CHARS] + equals + ("" if len(value) > SECRET_CHARS else value) for name, equals, value in pairs
    )


def page(
    kind: str, address: str, title: str, picture: str | None, common: int | None, changed: bool | None
) -> dict[str, Any]:
    """The fields of a health report about one page, as seen."""
    address, title = public_address(address), public(title)
    name = hashlib.sha256(f"{address}\n{title}".encode("utf-8", "replace")).hexdigest()[:8] if address else None
    glass = [kind, name, picture, common, None if changed is None else int(changed)]
    return {"glass": glass, "address": address, "title": title} if address else {"glass": glass}


class PageTold:
    """Which page the service has the address of."""

    def __init__(self) -> None:
        self._told: str | None = None
        self._reports = 0  # since then

    def forget(self) -> None:
        """The next report is the first of a connection."""
        self._told = None

    def due(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body of a report. Address and title stay if they fit and are due: another page, or long not told."""
        name = (body.get("glass") or [None, None])[1]
        self._reports += 1
        is_old = name == self._told and self._reports < TOLD_AT_LEAST_EACH
        if name is None or is_old or len(encode(body)) > HEALTH.max_bytes:
            return {field: value for field, value in body.items() if field not in {"address", "title"}}
        self._told, self._reports = name, 0
        return body
