"""A certificate authority for a test, its certificates, and a door that uses one."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs certificates for names; its own certificate is in `ca_file`."""

    def __init__(self, folder: Path, lifetime: timedelta = timedelta(days=1)) -> None:
        """Make a new authority with its files in `folder`."""
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Test CA")])
        usage = x509.KeyUsage(*(name in {5, 6} for name in range(9)))  # only signs certificates and revocation lists
        builder = _builder(self._name, self._name, self._key.public_key(), lifetime)
        own = (
            builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.ca_file = folder / "ca.pem"
        self.ca_file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

    def sign(
        self, host: str, lifetime: timedelta = timedelta(hours=1), age: timedelta = timedelta(days=2)
    ) -> tuple[Path, Path]:
        """Sign a certificate for this name and 127.0.0.1. Returns the files of certificate and key."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host), x509.IPAddress(ip_address("127.0.0.1"))])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        signed = (
            _builder(subject, self._name, key.public_key(), lifetime, age)
            .add_extension(names, critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        certificate_file, key_file = self._folder / f"{host}.pem", self._folder / f"{host}.key"
        certificate_file.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        key_file.chmod(0o600)
        return certificate_file, key_file


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    lifetime: timedelta,
    age: timedelta = timedelta(days=2),
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - age)
        .not_valid_after(now + lifetime)
    )


class Listener:
    """A door on loopback with the certificate that it loaded last."""

    def __init__(self, folder: Path, lifetime: timedelta, age: timedelta) -> None:
        self._authority, self._context = Authority(folder), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._socket.getsockname()
        self.load(lifetime, age)

    def load(self, lifetime: timedelta, age: timedelta = timedelta(days=2)) -> None:
        self._context.load_cert_chain(*self._authority.sign("door.test", lifetime, age))

    def serve(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                return
            with accepted, suppress(OSError), self._context.wrap_socket(accepted, server_side=True) as one:
                one.recv(1)

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def listening(folder: Path, lifetime: timedelta, age: timedelta = timedelta(days=2)) -> Iterator[Listener]:
    """A door that is open during the block."""
    door = Listener(folder, lifetime, age)
    thread = threading.Thread(target=door.serve)
    thread.start()
    try:
        yield door
    finally:
        door.close()
        thread.join()
