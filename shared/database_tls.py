"""TLS of connections to Postgres: `sslmode` and `sslrootcert` of the address have the meaning of libpq.

Without them a server on another machine must use TLS, and its certificate is not checked.
"""

import base64
import ssl
from typing import Final
from urllib.parse import parse_qsl, urlsplit

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
"""Hosts on this machine, without TLS: a TLS context would take three quarters of the time to connect."""
MODES: Final = ("require", "verify-ca", "verify-full")
OWN: Final = ("sslmode", "sslrootcert")
SYSTEM: Final = "system"  # the CAs that this machine trusts
INLINE: Final = "base64:"  # the PEM itself, where files are not possible


def stays_here(database_url: str) -> bool:
    """Whether a connection to this address stays on this machine."""
    address = urlsplit(database_url)
    return address.hostname in LOOPBACK or "unix_sock" in dict(parse_qsl(address.query))


def tls_parameters(database_url: str) -> dict[str, str]:
    """The TLS parameters of the address."""
    found = dict(parse_qsl(urlsplit(database_url).query, keep_blank_values=True))
    return {name: found[name] for name in OWN if name in found}


def context(database_url: str) -> ssl.SSLContext | bool:
    """The `ssl_context` for pg8000: one that checks, True for TLS that checks nothing, False for no TLS.

    Raises ValueError when a setting requires a check that is not possible.
    """
    parameters = tls_parameters(database_url)
    mode, authority = parameters.get("sslmode"), parameters.get("sslrootcert")
    if mode is not None and mode not in MODES:
        raise ValueError(f"sslmode is one of {', '.join(MODES)}")
    if mode in {None, "require"}:
        if authority is not None:
            raise ValueError("sslrootcert is looked at with sslmode=verify-full or verify-ca only")
        return mode is not None or not stays_here(database_url)
    if not authority:
        raise ValueError(f"sslmode={mode} needs sslrootcert: a file, {INLINE}… or {SYSTEM}")
    if authority == SYSTEM and mode != "verify-full":
        raise ValueError("sslrootcert=system needs sslmode=verify-full: anybody has a certificate of some name")
    return _checking(authority, check_name=mode == "verify-full")


def _checking(authority: str, *, check_name: bool) -> ssl.SSLContext:
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # which asks for a certificate that somebody trusted has signed
    made.check_hostname = check_name
    try:
        if authority == SYSTEM:
            made.load_default_certs(ssl.Purpose.SERVER_AUTH)
        elif authority.startswith(INLINE):
            made.load_verify_locations(cadata=base64.b64decode(authority.removeprefix(INLINE), validate=True).decode())
        else:
            made.load_verify_locations(authority)
    except (OSError, ValueError) as error:  # no file, no PEM, no certificate in it
        raise ValueError(f"sslrootcert holds no certificate that can be read ({type(error).__name__})") from None
    return made
