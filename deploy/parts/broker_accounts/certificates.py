"""Check once an hour when the TLS certificates of our own servers ("doors") began and expire.

It connects like a display or a person. So it sees the certificate that a server has loaded, not a newer file that the
server has not read yet. It runs in the process of `broker_accounts`, in a thread of its own: a server that does not
answer must not delay the revocation of a login.
"""

import socket
import ssl
import threading
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final

from cryptography import x509
from sqlalchemy import Engine

from shared.errors import ConfigurationError
from shared.leadership import rules, store
from shared.leadership.store import SeenCertificate
from shared.postgres.door import is_away, transaction
from shared.structured_log import event, failure
from shared.vocabulary import Door

LOOK_SECONDS: Final = 3600.0
AGAIN_SECONDS: Final = 60.0  # after a look that missed a certificate or could not store the result
TIMEOUT_SECONDS: Final = 5.0

Address = tuple[str, int]


def doors(setting: str) -> dict[Door, Address]:
    """Parse CERTIFICATE_DOORS, like `door=host:port`, separated by blanks. Raises ConfigurationError."""
    found: dict[Door, Address] = {}
    for one in setting.split():
        name, _, address = one.partition("=")
        host, _, port = address.rpartition(":")
        if name not in set(Door) or not host or not port.isdecimal() or not 0 < int(port) < 65_536:
            raise ConfigurationError(f"CERTIFICATE_DOORS: {one!r} does not look like door=host:port.")
        found[Door(name)] = (host.strip("[]"), int(port))
    return found


def certificate_of(door: Door, address: Address) -> SeenCertificate:
    """The certificate that this server shows, valid or not. Raises OSError, ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # an expired certificate must be seen too; no data is sent
    with (
        socket.create_connection(address, TIMEOUT_SECONDS) as plain,
        context.wrap_socket(plain) as server,
    ):
        shown = server.getpeercert(binary_form=True)
    if shown is None:
        raise ValueError("no certificate")
    certificate = x509.load_der_x509_certificate(shown)
    return SeenCertificate(door, certificate.not_valid_before_utc, certificate.not_valid_after_utc)


class Certificates:
    """Reads the certificates of our doors and stores their lifetimes."""

    def __init__(self, engine: Engine, addresses: Mapping[Door, Address]) -> None:
        """`addresses` are those of `doors`."""
        self._engine = engine
        self._addresses = addresses
        self._unseen: set[Door] = set()

    def look(self) -> bool:
        """Store each door's certificate, and log each end that is near. False: a door showed no certificate.

        Raises:
            SQLAlchemyError: the database cannot be used; retry later.
        """
        seen: list[SeenCertificate] = []
        for door, address in self._addresses.items():
            try:
                seen.append(certificate_of(door, address))
            except (OSError, ValueError) as error:
                if door not in self._unseen:
                    event("certificate_unseen", "a door shows no certificate", door=door, error=type(error).__name__)
        self._unseen = set(self._addresses) - {certificate.door for certificate in seen}
        with transaction(self._engine) as connection:
            store.note_certificates(connection, seen, self._addresses)
        _warn(seen, datetime.now(UTC))
        return not self._unseen

    def watch(self, stop: threading.Event) -> None:
        """Look again and again until `stop` is set. While the database is away, retry."""
        is_whole = True
        while not stop.is_set():
            try:
                is_whole = self.look()
            except Exception as error:  # noqa: BLE001 - after any fault the next look tries again
                if not is_away(error) and is_whole:
                    failure("certificates_stuck", "the expiry of certificates cannot be stored")
                is_whole = False
            stop.wait(LOOK_SECONDS if is_whole else AGAIN_SECONDS)


def _warn(seen: Collection[SeenCertificate], now: datetime) -> None:
    """Log each certificate that expires soon. The cloud's alerts count these lines."""
    for certificate in seen:
        left = certificate.ends_at - now
        rests = rules.certificate_rests(certificate.begins_at, certificate.ends_at)
        if left <= rests.old:
            word = "certificate_ending" if left <= rests.ending else "certificate_old"
            ends_at = certificate.ends_at.isoformat()
            event(word, "a certificate has to be renewed", door=certificate.door, ends_at=ends_at)
