"""Configuration files of nginx and mosquitto: text files in their own language, with placeholders for what is decided
when they start, and the listeners that such a file opens.

A placeholder is `@{name}`: `$` is nginx's own sign.
"""

from dataclasses import dataclass
from pathlib import Path
from string import Template

from deploy.parts.layout import LOOPBACK


class BadTemplate(Exception):
    """A file and what it is filled with do not fit; the message names the file and the placeholders."""


class _Text(Template):
    delimiter = "@"


def filled(file: Path, **values: object) -> str:
    """The text of `file` with each placeholder replaced.

    Raises:
        BadTemplate: the file has a placeholder without a value, no place for a value, or an @ that is no placeholder.
    """
    text = _Text(file.read_text(encoding="utf-8"))
    if not text.is_valid():
        raise BadTemplate(f"{file} has an @ that begins no placeholder; write @@ for the sign itself.")
    if wrong := set(text.get_identifiers()) ^ values.keys():
        raise BadTemplate(f"{file} and its values differ in {', '.join(sorted(wrong))}.")
    return text.substitute(values)


@dataclass(frozen=True)
class Certificate:
    """What a server shows of itself by TLS: two PEM files."""

    chain: Path
    key: Path


@dataclass(frozen=True)
class Listener:
    """Where a server listens, whether by TLS, and the names that it answers to."""

    address: str = LOOPBACK
    tls: Certificate | None = None
    names: tuple[str, ...] = (LOOPBACK, "localhost")

    def tls_lines(self, file: Path) -> str:
        """`file`, a program's own lines about TLS, filled for this listener; empty without a certificate."""
        return "" if self.tls is None else filled(file, certificate=self.tls.chain, key=self.tls.key)


INSIDE = Listener()
"""On this machine alone."""
