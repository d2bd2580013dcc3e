"""Which assertions of the proxy are accepted; all others are refused with the same text."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from shared.errors import InvalidIdentity
from shared.outside.oidc import PEOPLE_ALGORITHM, KeySet, Proxy
from tests.rules.oidc_harness import FOREIGN, OURS, by_hmac_with_the_public_key, issuing, unsigned, with_payload_of
from tests.rules.proxy_harness import AUDIENCE, ISSUER, KEY_ID, PROXY_KEY, asserted, key_set

FOREIGN_CURVE = ec.generate_private_key(ec.SECP256R1())
ANOTHER_CURVE = ec.generate_private_key(ec.SECP384R1())


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with issuing() as server:
        server.answer = key_set(PROXY_KEY)
        yield Proxy(AUDIENCE, ISSUER, KeySet(server.url, PEOPLE_ALGORITHM))


def said(assertion: str) -> dict[str, Any]:
    """The claims of an assertion."""
    claims: dict[str, Any] = jwt.decode(assertion, options={"verify_signature": False})
    return claims


FORGED: dict[str, Callable[[], str]] = {
    "nothing": lambda: "",
    "not three parts": lambda: "a.b",
    "unsigned (alg none)": lambda: unsigned(said(asserted()), KEY_ID),
    "signed with the public key as a secret": lambda: by_hmac_with_the_public_key(PROXY_KEY, said(asserted()), KEY_ID),
    "another's signature under the proxy's key id": lambda: asserted(FOREIGN_CURVE),
    "a key that the proxy does not have": lambda: asserted(FOREIGN_CURVE, header={"kid": "theirs"}),
    "the address of a foreign key set (jku)": lambda: asserted(
        FOREIGN_CURVE, header={"kid": "theirs", "jku": "http://127.0.0.1:1/keys"}
    ),
    "a foreign key inside (jwk)": lambda: asserted(FOREIGN_CURVE, header={"jwk": key_set(FOREIGN_CURVE)["keys"][0]}),
    "RS256, as the services' tokens are": lambda: jwt.encode(
        {"iss": ISSUER, "aud": AUDIENCE}, OURS, algorithm="RS256", headers={"kid": KEY_ID}
    ),
    "RS256 of a foreign key": lambda: jwt.encode({"iss": ISSUER}, FOREIGN, algorithm="RS256", headers={"kid": KEY_ID}),
    "ES384": lambda: jwt.encode({"iss": ISSUER}, ANOTHER_CURVE, algorithm="ES384", headers={"kid": KEY_ID}),
    "a payload that was exchanged": lambda: with_payload_of(asserted(), asserted(email="eve@example.com")),
    "expired": lambda: asserted(iat=int(time.time()) - 4000, exp=int(time.time()) - 100),
    "from the future": lambda: asserted(iat=int(time.time()) + 300),
    "no expiry": lambda: asserted(exp=None),
    "for another backend": lambda: asserted(aud="/projects/1/global/backendServices/3"),
    "for several backends": lambda: asserted(aud=[AUDIENCE, "/projects/1/global/backendServices/3"]),
    "for nobody": lambda: asserted(aud=None),
    "from another issuer": lambda: asserted(iss="https://accounts.google.com"),
    "from no issuer": lambda: asserted(iss=None),
    "of nobody": lambda: asserted(email=None),
    "of an empty address": lambda: asserted(email=""),
    "of several people": lambda: asserted(email=["anna@example.com", "eve@example.com"]),
    "too long to look at": lambda: asserted(padding="x" * 9000),
}


def test_the_proxys_word_is_believed_until_it_ends(proxy: Proxy) -> None:
    until = int(time.time()) + 300

    assert proxy.email(asserted(email="anna@example.com", exp=until)) == ("anna@example.com", until)


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_an_assertion_is_refused_when_it_is(forge: Callable[[], str], proxy: Proxy) -> None:
    with pytest.raises(InvalidIdentity) as refusal:
        proxy.email(forge())

    assert refusal.value.detail == InvalidIdentity().detail


@pytest.mark.parametrize("missing", ["audience", "issuer"])
def test_an_empty_expectation_matches_nothing(missing: str, proxy: Proxy) -> None:
    expected: dict[str, Any] = {"audience": AUDIENCE, "issuer": ISSUER, missing: ""}
    claim = {"audience": "aud", "issuer": "iss"}[missing]

    with pytest.raises(InvalidIdentity):
        Proxy(expected["audience"], expected["issuer"], proxy.keys).email(asserted(PROXY_KEY, None, **{claim: ""}))


def test_a_key_of_another_kind_is_left_out() -> None:
    with issuing() as server:
        wrong = [
            {**key_set(PROXY_KEY)["keys"][0], "kid": "offered", "crv": "P-384"},
            {"kty": "oct", "k": "c2VjcmV0", "kid": "offered", "alg": "ES256"},
        ]
        server.answer = {"keys": [*wrong, *key_set(PROXY_KEY)["keys"]]}
        keys = KeySet(server.url, PEOPLE_ALGORITHM)

        assert keys.find("offered") is None
        assert keys.find(KEY_ID) is not None
