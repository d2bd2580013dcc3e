"""The OpenID Connect provider at which people sign in: code flow with PKCE, discovery, sign-out.

Each answer is bounded in size and time, and so are the conversations at once: a slow provider takes no thread from
sign-ins by password. The person gets no reason for a refusal; the reason is logged.
"""

import base64
import hashlib
import hmac
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final, TypeVar
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec
from msgspec import Struct

from shared import typed
from shared.errors import InvalidIdentity, ProviderUnavailable
from shared.http_proxy import HttpProxy
from shared.outside.bounded_http import HttpAnswer, NoAnswer, ask
from shared.outside.oidc import (
    CLOCK_LEEWAY,
    PEOPLE_ALGORITHM,
    SERVICES_ALGORITHM,
    KeySet,
    TokenForm,
    algorithm_of,
    read_claims,
    refusal,
)
from shared.structured_log import event

T = TypeVar("T")
DEADLINE: Final = timedelta(seconds=5)  # of one answer
LARGEST_ANSWER: Final = 256 * 1024  # bytes
AT_ONCE: Final = 8  # conversations of one process: it has 64 threads
KEPT: Final = timedelta(hours=1)  # what discovery found
RETRY_AFTER: Final = timedelta(seconds=1)
LONGEST_SUBJECT: Final = 255
ALGORITHMS: Final = (SERVICES_ALGORITHM, PEOPLE_ALGORITHM)
ID_TOKEN: Final = TokenForm(
    32 * 1024,  # some providers put 200 groups into it
    frozenset({"alg", "kid", "typ", "x5t", "x5t#S256"}),
    ("iss", "aud", "exp", "iat", "sub", "nonce"),
    one_audience=False,
    may_lack_key_id=True,
)


class ProviderMetadata(msgspec.Struct, frozen=True):
    """What the provider says about itself (OpenID Connect Discovery)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class ProviderTokens(msgspec.Struct, frozen=True):
    """What a code was redeemed for."""

    id_token: str
    access_token: str = ""


class _Fault(msgspec.Struct, frozen=True):
    error: str = ""


class ProviderClient(Struct, frozen=True):
    """This service, as the provider knows it."""

    issuer: str
    client_id: str
    secret: str
    """Empty: a public client."""
    scopes: str
    redirect_uri: str
    proxy: HttpProxy | None = None
    """The way to a provider on the internet; None: directly."""


class PeopleProvider:
    """The provider. Every method may raise ProviderUnavailable."""

    def __init__(self, client: ProviderClient, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock`: seconds; tests may replace it."""
        self.client = client
        self._clock = clock
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(AT_ONCE)
        self._metadata: ProviderMetadata | None = None
        self._keys: dict[str, KeySet] = {}
        self._next_look = 0.0

    def sign_in_address(self, state: str, nonce: str, challenge: str) -> str:
        """Where the browser goes to sign in."""
        with self._turn():
            metadata = self._look_up()
        asked = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": self.client.redirect_uri,
            "scope": self.client.scopes,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return _with(metadata.authorization_endpoint, asked)

    def sign_out_address(self, id_token: str, back: str) -> str | None:
        """Where the browser goes to sign out there, too; None when the provider has no such address."""
        with self._turn():
            end = self._look_up().end_session_endpoint
        asked = {"id_token_hint": id_token, "client_id": self.client.client_id, "post_logout_redirect_uri": back}
        return None if end is None else _with(end, asked)

    def redeem(
        self, code: str, verifier: str, nonce: str, began_at: int, issuer: str | None, wanted: tuple[str, ...]
    ) -> tuple[dict[str, Any], str]:
        """The verified claims of the person who came back with this code, and their identity token.

        `issuer`: as the address said on which they came back. Claims of `wanted` that the token does not have come from
        the provider's userinfo. Raises InvalidIdentity.
        """
        with self._turn():
            metadata = self._look_up()
            if issuer is None and metadata.authorization_response_iss_parameter_supported:
                raise refusal("no_issuer_in_the_answer")
            if issuer is not None and issuer != self.client.issuer:
                raise refusal("another_issuer_in_the_answer")
            tokens = self._tokens(metadata, code, verifier)
            claims = self._verified(tokens, nonce, began_at)
            is_missing = any(not {name, name.split(".")[0]} & claims.keys() for name in wanted)
            if is_missing and metadata.userinfo_endpoint is not None and tokens.access_token:
                claims = {**self._userinfo(metadata.userinfo_endpoint, tokens.access_token, claims["sub"]), **claims}
        return claims, tokens.id_token

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(blocking=False):
            raise ProviderUnavailable
        try:
            yield
        finally:
            self._turns.release()

    # --- discovery ---

    def _look_up(self) -> ProviderMetadata:
        """What the provider says about itself, at most an hour old, or older while it does not answer."""
        with self._lock:  # one thread fetches, the others wait (at most DEADLINE)
            if self._clock() >= self._next_look:
                wait = KEPT if self._refresh() else RETRY_AFTER
                self._next_look = self._clock() + wait.total_seconds()
            if self._metadata is None:
                raise ProviderUnavailable
            return self._metadata

    def _refresh(self) -> bool:
        """Ask the provider about itself. Returns whether its answer can be used."""
        where = self.client.issuer.rstrip("/") + "/.well-known/openid-configuration"
        try:
            found = _decoded(self._asked("GET", where, {}, None), ProviderMetadata)
        except ProviderUnavailable:
            return False
        if found.issuer != self.client.issuer:
            _unusable("the provider names itself otherwise than SSO_ISSUER does", found.issuer[:200])
            return False
        wrong = [address for address in _addresses(found) if not self.may_use(address)]
        if wrong:
            _unusable("the provider names an address without TLS", wrong[0][:200])
            return False
        if self._metadata is None or self._metadata.jwks_uri != found.jwks_uri:
            self._keys = {
                algorithm: KeySet(found.jwks_uri, algorithm, self._clock, self.client.proxy) for algorithm in ALGORITHMS
            }
        self._metadata = found
        return True

    def may_use(self, address: str) -> bool:
        """Whether this address has TLS as the issuer has, and can be asked."""
        try:
            parts = urlsplit(address)
            has_host = bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            return False
        schemes = {"https", urlsplit(self.client.issuer).scheme}
        return parts.scheme in schemes and has_host and not parts.fragment

    # --- the code and what it brings ---

    def _asked(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, may_refuse: bool = False
    ) -> HttpAnswer:
        """The provider's answer of status 200; with `may_refuse` also 400 and 401. Raises ProviderUnavailable."""
        try:
            answer = ask(
                method,
                url,
                {"Accept": "application/json", **headers},
                body,
                DEADLINE,
                LARGEST_ANSWER,
                self.client.proxy,
            )
        except NoAnswer as error:
            raise _unavailable(url, str(error)) from None
        if answer.status != 200 and not (may_refuse and answer.status in {400, 401}):
            raise _unavailable(url, f"status {answer.status}")
        return answer

    def _tokens(self, metadata: ProviderMetadata, code: str, verifier: str) -> ProviderTokens:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.client.redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        name, secret = self.client.client_id, self.client.secret
        if secret and "client_secret_basic" in metadata.token_endpoint_auth_methods_supported:
            pair = f"{quote_plus(name)}:{quote_plus(secret)}"
            headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        else:
            form |= {"client_id": name, **({"client_secret": secret} if secret else {})}
        answer = self._asked("POST", metadata.token_endpoint, headers, urlencode(form).encode(), may_refuse=True)
        if answer.status != 200:
            raise _refused_code(answer)
        return _decoded(answer, ProviderTokens)

    def _verified(self, tokens: ProviderTokens, nonce: str, began_at: int) -> dict[str, Any]:
        client_id, token = self.client.client_id, tokens.id_token
        keys = self._keys.get(algorithm_of(token, ID_TOKEN))
        if keys is None:  # none and HS256, above all
            raise refusal("unacceptable_algorithm")
        claims = read_claims(token, client_id, self.client.issuer, keys, ID_TOKEN)
        fault = _fault_of(claims, client_id, nonce, began_at, tokens.access_token)
        if fault is not None:
            raise refusal(fault)
        return claims

    def _userinfo(self, address: str, access_token: str, subject: str) -> dict[str, Any]:
        answer = self._asked("GET", address, {"Authorization": f"Bearer {access_token}"}, None)
        claims = _decoded(answer, dict[str, Any])
        if claims.get("sub") != subject:
            raise refusal("userinfo_of_another_person")
        return claims


def _fault_of(claims: Mapping[str, Any], client_id: str, nonce: str, began_at: int, access_token: str) -> str | None:
    """What is wrong with the claims of a token that the provider signed for us; None: nothing."""
    many = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    subject = claims["sub"]
    checks = {
        "wrong_party": claims.get("azp", None if many else client_id) == client_id,
        "wrong_nonce": hmac.compare_digest(str(claims["nonce"]).encode("utf-8", "replace"), nonce.encode()),
        "older_than_the_try": int(claims["iat"]) >= began_at - CLOCK_LEEWAY.total_seconds(),
        "wrong_subject": 0 < len(subject) <= LONGEST_SUBJECT and subject.isascii() and subject.isprintable(),
        "wrong_access_token": claims.get("at_hash", _half_hash(access_token)) == _half_hash(access_token),
    }
    return next((fault for fault, is_right in checks.items() if not is_right), None)


def _half_hash(access_token: str) -> str:
    """The claim `at_hash` of this access token: the left half of its SHA-256, for RS256 and ES256."""
    half = hashlib.sha256(access_token.encode("utf-8", "replace")).digest()[:16]
    return base64.urlsafe_b64encode(half).rstrip(b"=").decode()


def _addresses(metadata: ProviderMetadata) -> list[str]:
    named = (
        metadata.authorization_endpoint,
        metadata.token_endpoint,
        metadata.jwks_uri,
        metadata.userinfo_endpoint,
        metadata.end_session_endpoint,
    )
    return [address for address in named if address is not None]


def _with(address: str, asked: Mapping[str, str]) -> str:
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(asked)}"


def _decoded(answer: HttpAnswer, shape: type[T]) -> T:
    """The JSON of an answer. Raises ProviderUnavailable."""
    try:
        return typed.decode(answer.body, shape)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise _unavailable("", f"unexpected JSON: {error}"[:200]) from None


def _refused_code(answer: HttpAnswer) -> InvalidIdentity | ProviderUnavailable:
    """The error for a refused code: of the person's try, or (`invalid_client`) of our settings."""
    fault = _decoded(answer, _Fault).error
    if answer.status == 401 or fault in {"invalid_client", "unauthorized_client"}:
        return _unavailable("", f"it does not accept SSO_CLIENT_ID and SSO_CLIENT_SECRET: {fault[:100]}")
    return refusal(f"code_refused: {fault[:100]}")


def _unavailable(url: str, reason: str) -> ProviderUnavailable:
    """The error for the person. The reason is only logged."""
    _unusable(reason, urlsplit(url).path[:200])
    return ProviderUnavailable()


def _unusable(reason: str, what: str) -> None:
    event(
        "provider_unavailable",
        "the sign-in provider does not answer as it should",
        logging.ERROR,
        reason=reason,
        what=what,
    )
