"""Common parts of the tests of the proxy that identifies people: its key, its key set, and signed assertions."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from shared.outside import oidc
from tests.rules.oidc_harness import issuing

AUDIENCE = "/projects/1/global/backendServices/2"
ISSUER = "https://cloud.google.com/iap"
KEY_ID = "proxy"
PROXY_KEY = ec.generate_private_key(ec.SECP256R1())


@contextmanager
def proxy_keys() -> Iterator[str]:
    """A server with the proxy's keys, whom functions of this process believe meanwhile. Gives its address."""
    with issuing() as server, patch.object(oidc, "PROXY_KEYS_URL", server.url):
        server.answer = key_set(PROXY_KEY)
        yield server.url


def key_set(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    """The proxy's key set with the public key."""
    entry = json.loads(ECAlgorithm.to_jwk(key.public_key()))
    return {"keys": [{**entry, "kid": KEY_ID, "use": "sig", "alg": "ES256"}]}


def asserted(key: ec.EllipticCurvePrivateKey = PROXY_KEY, header: Any = None, **changes: Any) -> str:
    """A signed assertion; None removes a claim, `header` adds or replaces fields of the header."""
    now = int(time.time())
    content = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "accounts.google.com:1",
        "email": "anna@example.com",
        "iat": now,
        "exp": now + 600,
        **changes,
    }
    claims = {name: value for name, value in content.items() if value is not None}
    return jwt.encode(claims, key, algorithm="ES256", headers={"kid": KEY_ID, **(header or {})})
