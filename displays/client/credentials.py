"""A display's login from the enrolment, and the file that stores it (mode 0600)."""

import json
import ssl
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from displays.client import durable
from shared.outside import tls

DATES: Final = {9, 10}  # OpenSSL's codes for a certificate that is not yet valid, and for one that has expired
LAST_TIME: Final = 4_102_444_799  # the last second of 2099; the contract knows no later time


@dataclass(frozen=True, slots=True)
class Credentials:
    """One display's login, the address of its broker, and the CA that signs the broker's certificate."""

    uuid: str
    username: str  # also the MQTT client id; equal to the uuid
    password: str
    host: str
    port: int
    tls: bool
    ca_pem: str | None  # the certificate authority to trust; None: the system's
    topic_root: str
    url: str = ""  # the service's address, at which it enrolled
    url_ca_pem: str | None = None  # the certificate authority of that address that a person named

    def __post_init__(self) -> None:
        """Raises TypeError for what comes from outside and is no login."""
        texts = (self.uuid, self.username, self.password, self.host, self.topic_root, self.url)
        optional = (self.ca_pem or "", self.url_ca_pem or "")
        if not all(isinstance(text, str) for text in (*texts, *optional)) or type(self.port) is not int:
            raise TypeError("a part of the login has another type")
        if not 0 < self.port < 65_536:
            raise TypeError(f"the login has no port {self.port}")

    @classmethod
    def from_enrolment(cls, body: dict[str, Any], url: str = "", url_ca_pem: str | None = None) -> "Credentials":
        """From the answer of `POST /api/enroll`. Raises KeyError or TypeError when it is no such answer."""
        mqtt = body["mqtt"]
        return cls(
            uuid=body["uuid"],
            username=body["username"],
            password=body["password"],
            host=mqtt["host"],
            port=mqtt["port"],
            tls=mqtt["tls"],
            ca_pem=mqtt["ca_pem"],
            topic_root=body["topic_root"],
            url=url,
            url_ca_pem=url_ca_pem,
        )

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """Read the file that `save` wrote. Raises OSError, ValueError or TypeError."""
        return cls(**json.loads(durable.read_file(path)))

    def save(self, path: Path) -> None:
        durable.replace_file(path, json.dumps(asdict(self), indent=2).encode())

    def at(self, mqtt_url: str) -> "Credentials":
        """The same login at another address, `mqtt://host:port` or `mqtts://host:port`."""
        parts = urlsplit(mqtt_url)
        tls = parts.scheme == "mqtts"
        port = parts.port or (8883 if tls else 1883)
        return replace(self, host=parts.hostname or self.host, port=port, tls=tls)

    def trust(self) -> ssl.SSLContext:
        """Trust in the service's address: the system's authorities, and those of this login."""
        return trusting(self.ca_pem, self.url_ca_pem)

    def authority_ends_at(self) -> str | None:
        """When the authority that this login names expires, in ISO 8601; the last one of several.

        None for the system's authorities. Raises ValueError or OSError when it is no certificate.
        """
        if not self.ca_pem:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cadata=self.ca_pem)
        ends = [ssl.cert_time_to_seconds(str(one["notAfter"])) for one in context.get_ca_certs()]
        return datetime.fromtimestamp(min(max(ends), LAST_TIME), UTC).isoformat() if ends else None

    def __repr__(self) -> str:
        """Show no password, which must never reach a log."""
        return f"Credentials({self.username} at {self.host}:{self.port})"


def in_words(error: OSError) -> str:
    """Why a connection failed, for people. Where the certificate's dates are the reason, it names this clock too."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return str(error)
    said = f"its certificate is not trusted: {error.verify_message}"
    return f"{said} (it is {datetime.now(UTC):%Y-%m-%d %H:%M} UTC here)" if error.verify_code in DATES else said


def trusting(*more: str | None) -> ssl.SSLContext:
    """The system's authorities, and these in PEM. Raises ValueError or OSError for one that is none."""
    context = tls.trusting()
    for authority in more:
        if authority:
            context.load_verify_locations(cadata=authority)
    return context
