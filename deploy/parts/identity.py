"""The local issuer of identity tokens: one RS256 key, generated at the first start.

It replaces Google's issuer on one machine, so that `shared/outside/oidc.py` verifies the same kind of token everywhere.
The key file lets its readers call the functions: its mode is 0600, in a folder of 0700.
"""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from deploy.parts.layout import LOOPBACK, layout_from, ports_from

KEY_BITS = 2048


def key_path(environ: Mapping[str, str]) -> Path:
    """The local stack's file of the signing key."""
    return layout_from(environ).secrets / "oidc_key.pem"


def issuer(environ: Mapping[str, str]) -> str:
    """OIDC_ISSUER, by default the address of the server that publishes the keys."""
    keys_port = ports_from(environ)["TASK_QUEUE_KEYS_PORT"]
    return environ.get("OIDC_ISSUER") or f"http://{LOOPBACK}:{keys_port}"


def load_or_create_key(path: Path) -> rsa.RSAPrivateKey:
    """The private key at `path`; generated when there is none. Two starts at once get the same key.

    Raises PermissionError when users other than the owner may read it, and TypeError when it is not an RSA key.
    """
    if not path.exists():
        _create_key(path)
    if path.stat().st_mode & 0o077:
        raise PermissionError(f"{path} is readable by others; it must have mode 0600")
    key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError(f"{path} has no RSA key")
    return key


def _create_key(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    pem = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # fails if another process was first; a rename would replace its key
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def mint(key: rsa.RSAPrivateKey, audience: str, email: str, issuer: str, lifetime_seconds: int = 3600) -> str:
    """A signed identity token of `email` for `audience`, with the same claims as Google's."""
    now = int(time.time())
    claims = {
        "iss": issuer,
        "aud": audience,
        "sub": hashlib.sha256(email.encode()).hexdigest()[:21],
        "azp": email,
        "email": email,
        "email_verified": True,
        "iat": now,
        "exp": now + lifetime_seconds,
    }
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": key_id(key)})


def key_set(key: rsa.RSAPrivateKey) -> dict[str, Any]:
    """The public half as a JSON Web Key Set (RFC 7517)."""
    return {"keys": [{**_public_numbers(key), "kid": key_id(key), "alg": "RS256", "use": "sig"}]}


def key_id(key: rsa.RSAPrivateKey) -> str:
    """The key's thumbprint (RFC 7638, in hexadecimal): the same key has the same id after a restart."""
    canonical = json.dumps(_public_numbers(key), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def _public_numbers(key: rsa.RSAPrivateKey) -> dict[str, str]:
    numbers = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {name: str(numbers[name]) for name in ("e", "kty", "n")}
