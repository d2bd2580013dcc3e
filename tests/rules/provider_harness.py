"""A real OpenID Connect provider on loopback that checks what it is asked, and that can be told to lie."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import jwt

from deploy.parts import identity
from tests.rules.oidc_harness import OURS
from tests.serving import serving

CLIENT_ID: Final = "signage fleet"  # with a blank: it must be encoded in a Basic login
CLIENT_SECRET: Final = "the secret of a client"
OUR_ADDRESS: Final = "https://signage.test"
REDIRECT_URI: Final = f"{OUR_ADDRESS}/api/session/provider/callback"
DRIP: Final = "drip"
"""Instead of an answer: a byte now and then, without an end."""

Claims = dict[str, Any]


@dataclass
class Code:
    """What a code was given for."""

    nonce: str
    challenge: str
    claims: Claims
    used: bool = False


@dataclass
class Lies:
    """What the provider does otherwise than it should."""

    metadata: dict[str, Any] = field(default_factory=dict)
    """Fields that replace those of the metadata; None removes one."""
    claims: dict[str, Any] = field(default_factory=dict)
    """Claims that replace those of identity tokens; None removes one."""
    userinfo: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[Claims], str] | None = None
    """Signs identity tokens in another way."""
    answers: dict[str, tuple[int, bytes] | str] = field(default_factory=dict)
    """Path -> the answer instead, or DRIP."""
    redeems_again: bool = False


class Provider(ThreadingHTTPServer):
    """The provider. `lies` tell it to do wrong; `asked` has the paths of its requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ProviderHandler)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.lies = Lies()
        self.key = OURS
        self.key_id: str | None = identity.key_id(OURS)
        self.codes: dict[str, Code] = {}
        self.access: dict[str, Claims] = {}
        self.asked: list[str] = []
        self.hidden: tuple[str, ...] = ()
        """Claims that stand in the userinfo only."""

    @property
    def metadata(self) -> dict[str, Any]:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=1",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "end_session_endpoint": f"{self.issuer}/end",
            "code_challenge_methods_supported": ["S256"],
            **self.lies.metadata,
        }
        return {name: value for name, value in found.items() if value is not None}

    @property
    def key_set(self) -> dict[str, Any]:
        [entry] = identity.key_set(self.key)["keys"]
        return {"keys": [{name: value for name, value in {**entry, "kid": self.key_id}.items() if value is not None}]}

    def sign_in(self, address: str, **claims: Any) -> dict[str, str]:
        """Do what a browser and a person do at the address to which we sent them. Returns what comes back."""
        assert address.startswith(f"{self.issuer}/authorize?tenant=1&"), address
        asked = {name: value for name, [value] in parse_qs(urlsplit(address).query).items()}
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT_ID
        assert asked["redirect_uri"] == REDIRECT_URI
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = Code(asked["nonce"], asked["code_challenge"], claims)
        return {"code": code, "state": asked["state"]}

    def tokens(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Redeem a code, once, for who began and knows the secret."""
        scheme, _, pair = authorization.partition(" ")
        login = base64.b64decode(pair).decode().split(":") if scheme == "Basic" else []
        if [unquote_plus(part) for part in login] != [CLIENT_ID, CLIENT_SECRET]:
            return 401, {"error": "invalid_client"}
        code = self.codes.get(form.get("code", ""))
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            code is None
            or (code.used and not self.lies.redeems_again)
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != REDIRECT_URI
            or base64.urlsafe_b64encode(challenge).rstrip(b"=").decode() != code.challenge
        ):
            return 400, {"error": "invalid_grant"}
        code.used = True
        access_token = secrets.token_urlsafe(16)
        self.access[access_token] = code.claims
        return 200, {
            "id_token": self.id_token(code, access_token),
            "access_token": access_token,
            "token_type": "Bearer",
        }

    def id_token(self, code: Code, access_token: str) -> str:
        now = int(time.time())
        half = hashlib.sha256(access_token.encode()).digest()[:16]
        shown = {name: value for name, value in code.claims.items() if name not in self.hidden}
        claims = {
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": code.nonce,
            "at_hash": base64.urlsafe_b64encode(half).rstrip(b"=").decode(),
            **shown,
            **self.lies.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return self.lies.sign(claims) if self.lies.sign else self.signed(claims)

    def signed(self, claims: Claims, algorithm: str = "RS256", **header: Any) -> str:
        named = {} if self.key_id is None else {"kid": self.key_id}
        return jwt.encode(claims, self.key, algorithm=algorithm, headers={**named, **header})


class _ProviderHandler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        provider = self.server
        path = urlsplit(self.path).path
        provider.asked.append(path)
        if path == "/.well-known/openid-configuration":
            self._answer(path, 200, provider.metadata)
        elif path == "/keys":
            self._answer(path, 200, provider.key_set)
        elif path == "/userinfo":
            claims = provider.access.get(self.headers["Authorization"].removeprefix("Bearer "))
            self._answer(path, 200 if claims else 401, {**(claims or {}), **provider.lies.userinfo})
        else:
            self._answer(path, 404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {name: value for name, [value] in parse_qs(body).items()}
        self.server.asked.append(self.path)
        self._answer(self.path, *self.server.tokens(form, self.headers.get("Authorization", "")))

    def _answer(self, path: str, status: int, document: Any) -> None:
        lie = self.server.lies.answers.get(path)
        if isinstance(lie, str):
            self._drip()
            return
        status, body = (status, json.dumps(document).encode()) if lie is None else lie
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        """Send a byte now and then until the other side is gone."""
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(0.02)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


@contextmanager
def providing() -> Iterator[Provider]:
    """A provider that serves during the block."""
    with serving(Provider()) as server:
        yield server


def callback(returned: dict[str, str]) -> str:
    """Our path to which the provider sends the browser back."""
    return f"{urlsplit(REDIRECT_URI).path}?{urlencode(returned)}"
