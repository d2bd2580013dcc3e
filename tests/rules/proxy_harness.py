"""What the tests of the proxy in front of people share: its key, its key set, and assertions to sign."""

import json
import time
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

AUDIENCE = "/projects/1/global/backendServices/2"
ISSUER = "https://cloud.google.com/iap"
KEY_ID = "proxy"
PROXY_KEY = ec.generate_private_key(ec.SECP256R1())


def key_set(key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
    """The public half as the proxy's key set."""
    entry = json.loads(ECAlgorithm.to_jwk(key.public_key()))
    return {"keys": [{**entry, "kid": KEY_ID, "use": "sig", "alg": "ES256"}]}


def asserted(key: ec.EllipticCurvePrivateKey = PROXY_KEY, header: Any = None, **changes: Any) -> str:
    """An assertion; None takes a claim away, `header` adds to or replaces the header's fields."""
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
