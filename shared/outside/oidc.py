"""Authenticate callers by signed tokens: of Cloud Tasks, Cloud Scheduler and Identity-Aware Proxy.

The same code verifies Google's tokens in the cloud and tokens of the local key. google-auth is not used, because its
verify_token accepts any issuer. The caller gets no reason for a refusal; the reason is logged.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from shared.errors import InvalidIdentity
from shared.http_proxy import HttpProxy
from shared.outside.bounded_http import ask
from shared.structured_log import event

GOOGLE: Final = "https://accounts.google.com"  # signs for Cloud Tasks and Cloud Scheduler
GOOGLE_KEYS_URL: Final = "https://www.googleapis.com/oauth2/v3/certs"
PROXY_ISSUER: Final = "https://cloud.google.com/iap"  # Identity-Aware Proxy
PROXY_KEYS_URL: Final = "https://www.gstatic.com/iap/verify/public_key-jwk"
SERVICES_ALGORITHM: Final = "RS256"  # of the tokens of queue and scheduler
PEOPLE_ALGORITHM: Final = "ES256"  # of Identity-Aware Proxy's assertions
CLOCK_LEEWAY = timedelta(seconds=60)
SMALLEST_KEY = 2048  # bits
FETCH_DEADLINE = timedelta(seconds=5)
LARGEST_KEY_SET = 256 * 1024  # bytes; Google's has 2,000
REFETCH_AFTER = timedelta(hours=1)
REFETCH_UNKNOWN_AFTER = timedelta(seconds=30)
RETRY_FAILED_FETCH_AFTER = timedelta(seconds=1)
if TYPE_CHECKING:
    import jwt

_Keys = dict[str, "jwt.PyJWK"]


class TokenForm(Struct, frozen=True):
    """What a token must look like before its claims are believed."""

    longest: int
    """Bytes."""
    header: frozenset[str]
    """The allowed fields of the header. Others (jku, jwk, x5u, x5c, crit) would let a caller bring an own key."""
    claims: tuple[str, ...]
    """The claims that it must have."""
    one_audience: bool
    may_lack_key_id: bool = False
    """Then the issuer's only key counts."""


OF_GOOGLE: Final = TokenForm(  # Google's tokens have under 1,500 bytes
    8192, frozenset({"alg", "kid", "typ"}), ("iss", "aud", "exp", "iat", "sub", "email"), one_audience=True
)


class KeySet:
    """The issuer's public keys by their id, fetched from a JWKS address and kept for an hour.

    An unknown id makes it fetch again, because the issuer may have rotated its keys; but at most once in 30 s, so that
    forged ids cause no flood of requests.
    """

    def __init__(
        self,
        url: str,
        algorithm: str = SERVICES_ALGORITHM,
        clock: Callable[[], float] = time.monotonic,
        proxy: HttpProxy | None = None,
    ) -> None:
        """Keys for one algorithm. `clock`: seconds; tests may replace it."""
        self.algorithm = algorithm
        self._url = url
        self._clock = clock
        self._proxy = proxy
        self._lock = threading.Lock()
        self._keys: _Keys = {}
        self._next_fetch_for_known = 0.0
        self._next_fetch_for_unknown = 0.0

    def find(self, key_id: str) -> "jwt.PyJWK | None":
        """The key of this id. None: the issuer does not have it, or is unreachable and the key is not cached."""
        if not self._is_fresh(key_id):
            with self._lock:  # one thread fetches, the others wait (at most FETCH_DEADLINE)
                if not self._is_fresh(key_id):
                    self._refresh()
        return self._keys.get(key_id)

    def lone(self) -> "jwt.PyJWK | None":
        """The issuer's only key, for tokens without an id. None when it has several."""
        self.find("")  # fetches keys that are missing or old
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    def _is_fresh(self, key_id: str) -> bool:
        known = key_id in self._keys
        return self._clock() < (self._next_fetch_for_known if known else self._next_fetch_for_unknown)

    def _refresh(self) -> None:
        try:
            self._keys = fetch_keys(self._url, self.algorithm, self._proxy)
        except Exception as error:  # noqa: BLE001 - an unreachable issuer must not end a request
            event(
                "oidc_keys_unavailable",
                "the issuer's keys could not be fetched",
                logging.ERROR,
                reason=f"{type(error).__name__}: {error}"[:500],
            )
            self._wait(RETRY_FAILED_FETCH_AFTER, RETRY_FAILED_FETCH_AFTER)
        else:
            self._wait(REFETCH_AFTER, REFETCH_UNKNOWN_AFTER)

    def _wait(self, for_known: timedelta, for_unknown: timedelta) -> None:
        now = self._clock()
        self._next_fetch_for_known = now + for_known.total_seconds()
        self._next_fetch_for_unknown = now + for_unknown.total_seconds()


def keys_url(issuer: str) -> str:
    """Where the issuer of tokens of queue and scheduler publishes its keys: Google, or our own on one machine."""
    return GOOGLE_KEYS_URL if issuer == GOOGLE else f"{issuer}/keys"


def fetch_keys(url: str, algorithm: str = SERVICES_ALGORITHM, proxy: HttpProxy | None = None) -> _Keys:
    """The usable keys at `url` for this algorithm; RSA keys of 2048 bits or more. Others are ignored.

    Raises NoAnswer, and ValueError, KeyError or TypeError without a valid key set.
    """
    answer = ask("GET", url, {"Accept": "application/json"}, None, FETCH_DEADLINE, LARGEST_KEY_SET, proxy)
    if answer.status != 200:
        raise ValueError(f"the key set answered {answer.status}")
    keys = msgspec.json.decode(answer.body)["keys"]
    found = [(entry.get("kid", ""), _key(entry, algorithm)) for entry in keys if _usable(entry, algorithm)]
    return {key_id: key for key_id, key in found if key is not None}


def _key(entry: Mapping[str, Any], algorithm: str) -> "jwt.PyJWK | None":
    """The key of this entry; None if it is invalid."""
    import jwt  # noqa: PLC0415 - it loads cryptography; see read_claims

    try:
        return jwt.PyJWK(dict(entry), algorithm)
    except (jwt.PyJWTError, ValueError, TypeError):
        return None


def _usable(entry: Any, algorithm: str) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("alg", algorithm) == algorithm
        and entry.get("use", "sig") == "sig"
        and isinstance(entry.get("kid", ""), str)
        and (_is_rsa(entry) if algorithm == SERVICES_ALGORITHM else _is_p256(entry))
    )


def _is_rsa(entry: Mapping[str, Any]) -> bool:
    return entry.get("kty") == "RSA" and len(str(entry.get("n", ""))) * 6 >= SMALLEST_KEY  # base64: 6 bits a character


def _is_p256(entry: Mapping[str, Any]) -> bool:
    return entry.get("kty") == "EC" and entry.get("crv") == "P-256"


class ServiceCaller(Struct, frozen=True):
    """The one service account that a function accepts, and the keys of its issuer."""

    audience: str
    """The function's URL; tokens for another function are refused."""
    issuer: str
    """The required issuer: `https://accounts.google.com` in the cloud."""
    email: str
    """The required service account."""
    keys: KeySet

    def authenticate(self, headers: Mapping[str, str]) -> dict[str, Any]:
        """The claims of the bearer token among a request's `headers`. Raises InvalidIdentity."""
        value = headers.get("Authorization") or headers.get("authorization") or ""
        scheme, _, token = value.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise refusal("no_bearer_token")
        return verify(token.strip(), self.audience, self.issuer, self.email, self.keys)


class Proxy(Struct, frozen=True):
    """Identity-Aware Proxy before the api function: it signs an assertion of the person's identity."""

    audience: str
    """`/projects/<number>/global/backendServices/<id>`: assertions for another backend are refused."""
    issuer: str
    keys: KeySet

    def email(self, assertion: str) -> tuple[str, int]:
        """The e-mail address of the person, and until when (Unix time) the assertion holds. Raises InvalidIdentity."""
        claims = read_claims(assertion, self.audience, self.issuer, self.keys)
        email = claims["email"]
        if not isinstance(email, str) or not email:
            raise refusal("no_email")
        return email, int(claims["exp"])


def verify(token: str, audience: str, issuer: str, email: str, keys: KeySet) -> dict[str, Any]:
    """The claims of `token`, if `issuer` signed it for `audience` and `email` and it is valid now.

    Raises InvalidIdentity otherwise, always with the same text.
    """
    if not email:
        raise refusal("not_configured")  # an empty expectation must not match an empty claim
    claims = read_claims(token, audience, issuer, keys)
    if claims.get("email_verified") is not True or claims["email"] != email:
        raise refusal("wrong_email")
    return claims


def read_claims(token: str, audience: str, issuer: str, keys: KeySet, form: TokenForm = OF_GOOGLE) -> dict[str, Any]:
    """The claims of `token`, if `issuer` signed it for `audience` and it is valid now. Raises InvalidIdentity."""
    if not audience or not issuer:
        raise refusal("not_configured")  # an empty expectation must not match an empty claim
    import jwt  # noqa: PLC0415 - it loads cryptography; only calls with a token need it

    key = _signing_key(token, keys, form)
    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[keys.algorithm],
            audience=audience,
            issuer=issuer,
            leeway=CLOCK_LEEWAY,
            options={"require": list(form.claims), "strict_aud": form.one_audience},
        )
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise refusal(type(error).__name__) from None
    return claims


def algorithm_of(token: str, form: TokenForm = OF_GOOGLE) -> str:
    """The algorithm that the header of `token` names; it is not verified. Raises InvalidIdentity."""
    return str(_header(token, form).get("alg"))


def _signing_key(token: str, keys: KeySet, form: TokenForm) -> "jwt.PyJWK":
    """The key that the token's header names. Raises InvalidIdentity."""
    header = _header(token, form)
    if header.get("alg") != keys.algorithm or not set(header) <= form.header:
        raise refusal("unacceptable_header")
    key_id = header.get("kid")
    key = keys.find(key_id) if isinstance(key_id, str) else None
    if key_id is None and form.may_lack_key_id:
        key = keys.lone()
    if key is None:
        raise refusal("unknown_key")
    return key


def _header(token: str, form: TokenForm) -> dict[str, Any]:
    import jwt  # noqa: PLC0415 - see read_claims

    if len(token) > form.longest:
        raise refusal("too_long")
    try:
        return dict(jwt.get_unverified_header(token))
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise refusal(type(error).__name__) from None


def refusal(reason: str) -> InvalidIdentity:
    """The error for the caller. The reason is only logged."""
    event("identity_refused", "an identity token was refused", logging.WARNING, reason=reason)
    return InvalidIdentity()
