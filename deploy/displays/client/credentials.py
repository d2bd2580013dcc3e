"""What a display is given when it is enrolled, and the file it keeps that in (mode 0600)."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from deploy.displays.client import durable


@dataclass(frozen=True, slots=True)
class Credentials:
    """One display's login, where its broker is, and how to know that it is the right one."""

    uuid: str
    username: str  # also the MQTT client id; equal to the uuid
    password: str
    host: str
    port: int
    tls: bool
    ca_pem: str | None  # the certificate authority to trust; None: the system's
    topic_root: str
    url: str = ""  # of the service, where it enrolled

    @classmethod
    def from_enrolment(cls, body: dict[str, Any], url: str = "") -> "Credentials":
        """From the answer of `POST /api/enroll`. Raises KeyError when a part of it is missing."""
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
        )

    @classmethod
    def load(cls, path: Path) -> "Credentials":
        """From the file that `save` wrote. Raises OSError, or ValueError and TypeError for another content."""
        return cls(**json.loads(path.read_bytes()))

    def save(self, path: Path) -> None:
        durable.replace_file(path, json.dumps(asdict(self), indent=2).encode())

    def at(self, mqtt_url: str) -> "Credentials":
        """The same login at another address, `mqtt://host:port` or `mqtts://host:port`."""
        parts = urlsplit(mqtt_url)
        tls = parts.scheme == "mqtts"
        port = parts.port or (8883 if tls else 1883)
        return replace(self, host=parts.hostname or self.host, port=port, tls=tls)

    def __repr__(self) -> str:
        """Without the password: a login that reaches a log is a login lost."""
        return f"Credentials({self.username} at {self.host}:{self.port})"
