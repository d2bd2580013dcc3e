"""Fill the placeholders in the configuration files of nginx and mosquitto, and describe their listeners.

A placeholder is `@{name}`, because nginx uses `$` itself.
"""

from dataclasses import dataclass
from pathlib import Path
from string import Template

from deploy.parts.layout import LOOPBACK


class BadTemplate(Exception):
    """A file and the given values do not match; the message names the file and the placeholders."""


class _Text(Template):
    delimiter = "@"


def filled(file: Path, **values: object) -> str:
    """The text of `file` with each placeholder replaced.

    Raises:
        BadTemplate: a placeholder has no value, a value has no placeholder, or an @ is not a placeholder.
    """
    text = _Text(file.read_text(encoding="utf-8"))
    if not text.is_valid():
        raise BadTemplate(f"{file} has an @ that begins no placeholder; write @@ for the sign itself.")
    if wrong := set(text.get_identifiers()) ^ values.keys():
        raise BadTemplate(f"{file} and its values differ in {', '.join(sorted(wrong))}.")
    return text.substitute(values)


@dataclass(frozen=True)
class Certificate:
    """A server's TLS certificate and key: two PEM files."""

    chain: Path
    key: Path


@dataclass(frozen=True)
class Listener:
    """A server's listener: its address, its TLS certificate, and the host names that it answers to."""

    address: str = LOOPBACK
    tls: Certificate | None = None
    names: tuple[str, ...] = (LOOPBACK, "localhost")

    def tls_lines(self, file: Path) -> str:
        """The lines about TLS from `file`, filled for this listener; empty without a certificate."""
        return "" if self.tls is None else filled(file, certificate=self.tls.chain, key=self.tls.key)


INSIDE = Listener()
"""A listener on loopback."""
