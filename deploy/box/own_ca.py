"""A certificate authority of a box's own, for a box that was given no certificate.

Browsers do not know it until people tell them; displays get it at enrolment. It signs one certificate, and another one
when a third of that is left or the box has another name. It is gone as soon as there is a certificate by somebody else.
"""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deploy.parts.layout import write_file

YEARS: Final = timedelta(days=10 * 365)
LIFETIME: Final = timedelta(days=390)  # browsers refuse more than 398 days
BACK: Final = timedelta(days=1)  # a display's clock may be late


def certify(host: str, ca_file: Path, ca_key_file: Path, certificate_file: Path, key_file: Path) -> None:
    """Sign a certificate for this name if there is none, or ours is old or for another name."""
    ours = _kept(ca_file, ca_key_file)
    if certificate_file.exists():
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        if ours is None:
            return
        if not _is_by(certificate, ours[0]):
            ca_file.unlink()
            return
        if certificate.not_valid_after_utc - datetime.now(UTC) > LIFETIME / 3 and _named(host) in _names(certificate):
            return
    ca, ca_key = ours or _make(host, ca_file, ca_key_file)
    key = ec.generate_private_key(ec.SECP256R1())
    signed = (
        _builder(host, ca.subject, key.public_key(), LIFETIME)
        .add_extension(x509.SubjectAlternativeName([_named(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    write_file(key_file, _pem(key), 0o640)
    write_file(certificate_file, signed.public_bytes(serialization.Encoding.PEM).decode(), 0o644)


def _kept(ca_file: Path, ca_key_file: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None:
    """Our authority's certificate and key; None if it was not made, or somebody put another one in its place."""
    if not ca_file.exists() or not ca_key_file.exists():
        return None
    ca = x509.load_pem_x509_certificate(ca_file.read_bytes())
    key = serialization.load_pem_private_key(ca_key_file.read_bytes(), None)
    is_ours = isinstance(key, ec.EllipticCurvePrivateKey) and key.public_key() == ca.public_key()
    return (ca, key) if is_ours and isinstance(key, ec.EllipticCurvePrivateKey) else None


def _make(host: str, ca_file: Path, ca_key_file: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = f"Signage Fleet, {host}"
    usage = x509.KeyUsage(*(n in {5, 6} for n in range(9)))  # signs certificates and revocation lists, nothing else
    ca = (
        _builder(name, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key.public_key(), YEARS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_file(ca_key_file, _pem(key))
    write_file(ca_file, ca.public_bytes(serialization.Encoding.PEM).decode(), 0o644)
    return ca, key


def _builder(
    name: str, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey, lifetime: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACK)
        .not_valid_after(now + lifetime)
    )


def _is_by(certificate: x509.Certificate, ca: x509.Certificate) -> bool:
    """Whether this authority signed the certificate."""
    try:
        certificate.verify_directly_issued_by(ca)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _names(certificate: x509.Certificate) -> list[x509.GeneralName]:
    return list(certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)


def _named(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key: ec.EllipticCurvePrivateKey) -> str:
    form, closed = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, closed).decode()
