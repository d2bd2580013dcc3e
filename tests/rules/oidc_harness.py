"""Common parts of the tests of identity tokens: a real issuer on loopback, keys, and signed tokens."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from deploy.parts import identity
from tests.serving import serving

AUDIENCE = "http://127.0.0.1:8082"
ISSUER = "http://127.0.0.1:8124"
EMAIL = "tasks@signage.test"
OURS = rsa.generate_private_key(public_exponent=65537, key_size=2048)
FOREIGN = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Issuer(ThreadingHTTPServer):
    """A real server of a key set that counts its requests."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _IssuerHandler)
        self.answer: Any = identity.key_set(OURS)
        self.status = 200
        self.asked = 0

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.issuer}/keys"


class _IssuerHandler(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        self.server.asked += 1
        body = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def issuing(port: int = 0) -> Iterator[Issuer]:
    """An issuer that serves during the block."""
    with serving(Issuer(port)) as server:
        yield server


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a valid token; None removes one."""
    now = int(time.time())
    content = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "1",
        "email": EMAIL,
        "email_verified": True,
        "iat": now,
        "exp": now + 600,
        **changes,
    }
    return {name: value for name, value in content.items() if value is not None}


def signed(key: Any = OURS, algorithm: str = "RS256", header: Any = None, **changes: Any) -> str:
    """A signed token; `header` adds or replaces fields of the header."""
    headers = {"kid": identity.key_id(OURS), **(header or {})}
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


def encoded(part: dict[str, Any]) -> str:
    """A part of a token."""
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def unsigned(content: dict[str, Any], key_id: str) -> str:
    """A token that says it needs no signature (alg none)."""
    return f"{encoded({'alg': 'none', 'kid': key_id})}.{encoded(content)}."


def by_hmac_with_the_public_key(key: Any, content: dict[str, Any], key_id: str) -> str:
    """The classic confusion of algorithms: a token signed with the public key as a shared secret."""
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    said = f"{encoded({'alg': 'HS256', 'kid': key_id})}.{encoded(content)}"
    mark = hmac.new(public, said.encode(), hashlib.sha256).digest()
    return f"{said}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"


def with_payload_of(other: str, token: str) -> str:
    """A token whose payload was exchanged for that of another one."""
    head, _, mark = token.split(".")
    return f"{head}.{other.split('.')[1]}.{mark}"
