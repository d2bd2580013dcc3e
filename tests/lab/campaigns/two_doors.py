"""The two doors of a box, for a peer that trusts its CA."""

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import urllib3

from shared.outside import tls

HOST: Final = "signage.example.com"  # the box's name in the guides
CONNECT: Final = b"\x10\x10\x00\x04MQTT\x05\x02\x00\x0a\x00\x00\x03box"
CONNACK: Final = b"\x20"


@dataclass(frozen=True)
class TwoDoors:
    """The ports of the doors, and the file of the CA."""

    address: str
    gateway: int
    broker: int
    ca: Path

    def are_open(self) -> bool:
        """Whether the service is ready and the broker accepts a CONNECT."""
        request = f"GET /api/health/ready HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode()
        return self._answer(self.gateway, request, b"HTTP/1.1 200") and self._answer(self.broker, CONNECT, CONNACK)

    def _answer(self, port: int, said: bytes, expected: bytes) -> bool:
        trust = tls.trusting(self.ca.read_text(encoding="ascii"))
        try:
            with (
                socket.create_connection((self.address, port), 2) as plain,
                trust.wrap_socket(plain, server_hostname=HOST) as door,
            ):
                door.sendall(said)
                return door.recv(len(expected)) == expected
        except OSError:
            return False

    def serial_number(self, port: int) -> str:
        """The serial number of a door's certificate; empty if the door is closed."""
        trust = tls.trusting(self.ca.read_text(encoding="ascii"))
        try:
            with (
                socket.create_connection((self.address, port), 2) as plain,
                trust.wrap_socket(plain, server_hostname=HOST) as door,
            ):
                return str((door.getpeercert() or {})["serialNumber"])
        except OSError:
            return ""

    def ask(self, token: str, method: str, path: str, file: bytes | None = None) -> urllib3.BaseHTTPResponse:
        """Call the API with this token. Returns the answer."""
        ca = str(self.ca)
        door = urllib3.HTTPSConnectionPool(self.address, self.gateway, server_hostname=HOST, ca_certs=ca, timeout=30)
        fields = {"file": ("picture.png", file)} if file else None
        headers = {"Host": HOST, "Authorization": f"Bearer {token}"}
        return door.request(method, path, headers=headers, fields=fields, retries=False)
