"""Which tokens are accepted; all others are refused with the same text."""

import base64
import logging
import time
from collections.abc import Callable, Iterator

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from deploy.parts import identity
from shared.errors import InvalidIdentity
from shared.outside.oidc import KeySet, ServiceCaller, verify
from tests.rules.oidc_harness import (
    AUDIENCE,
    EMAIL,
    FOREIGN,
    ISSUER,
    OURS,
    by_hmac_with_the_public_key,
    claims,
    issuing,
    signed,
    unsigned,
    with_payload_of,
)

CURVE = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def keys() -> Iterator[KeySet]:
    with issuing() as server:
        yield KeySet(server.url)


FORGED: dict[str, Callable[[], str]] = {
    "no token at all": lambda: "",
    "not three parts": lambda: "a.b",
    "garbage": lambda: "ÿ.ÿ.ÿ",
    "a header that is a list": lambda: f"{base64.urlsafe_b64encode(b'[1]').decode()}.e30.AA",
    "unsigned (alg none)": lambda: unsigned(claims(), identity.key_id(OURS)),
    "signed with the public key as a secret": lambda: by_hmac_with_the_public_key(
        OURS, claims(), identity.key_id(OURS)
    ),
    "another's signature under our key's id": lambda: signed(FOREIGN),
    "a key that the issuer does not have": lambda: signed(FOREIGN, header={"kid": "theirs"}),
    "no key id": lambda: jwt.encode(claims(), OURS, algorithm="RS256"),
    "the address of a foreign key set (jku)": lambda: signed(
        FOREIGN, header={"jku": "http://127.0.0.1:1/keys", "kid": "theirs"}
    ),
    "our key, but with a jku": lambda: signed(header={"jku": "http://127.0.0.1:1/keys"}),
    "a foreign key inside (jwk)": lambda: signed(FOREIGN, header={"jwk": identity.key_set(FOREIGN)["keys"][0]}),
    "ES256": lambda: signed(CURVE, "ES256"),
    "our key with RS512": lambda: signed(algorithm="RS512"),
    "our key with PS256": lambda: signed(algorithm="PS256"),
    "a payload that was exchanged": lambda: with_payload_of(signed(), signed(email="scheduler@signage.test")),
    "a signature cut short": lambda: signed()[:-8],
    "expired": lambda: signed(iat=int(time.time()) - 4000, exp=int(time.time()) - 100),
    "from the future": lambda: signed(iat=int(time.time()) + 300),
    "no expiry": lambda: signed(exp=None),
    "no time of issue": lambda: signed(iat=None),
    "an expiry that is no number": lambda: signed(exp="tomorrow"),
    "for another function": lambda: signed(aud="http://127.0.0.1:8083"),
    "for a longer address": lambda: signed(aud=AUDIENCE + "/"),
    "for several audiences": lambda: signed(aud=[AUDIENCE, "http://127.0.0.1:8083"]),
    "for nobody": lambda: signed(aud=None),
    "from another issuer": lambda: signed(iss="https://accounts.example"),
    "from no issuer": lambda: signed(iss=None),
    "of another account": lambda: signed(email="scheduler@signage.test"),
    "of no account": lambda: signed(email=None),
    "of several accounts": lambda: signed(email=[EMAIL]),
    "of an account that is not verified": lambda: signed(email_verified=False),
    "verified only by word": lambda: signed(email_verified="true"),
    "too long to look at": lambda: signed(padding="x" * 9000),
}


def test_a_token_of_the_local_issuer_is_accepted(keys: KeySet) -> None:
    token = identity.mint(OURS, AUDIENCE, EMAIL, ISSUER)

    accepted = verify(token, AUDIENCE, ISSUER, EMAIL, keys)

    assert (accepted["aud"], accepted["iss"], accepted["email"]) == (AUDIENCE, ISSUER, EMAIL)


def test_clocks_may_differ_by_a_minute(keys: KeySet) -> None:
    now = int(time.time())

    verify(signed(iat=now + 50), AUDIENCE, ISSUER, EMAIL, keys)
    verify(signed(iat=now - 3650, exp=now - 50), AUDIENCE, ISSUER, EMAIL, keys)


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED.keys())
def test_a_token_is_refused_when_it_is(
    forge: Callable[[], str], keys: KeySet, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(InvalidIdentity) as refusal:
        verify(forge(), AUDIENCE, ISSUER, EMAIL, keys)

    assert refusal.value.detail == InvalidIdentity().detail  # the caller does not learn the reason
    assert refusal.value.extras == {}
    assert any(getattr(record, "fields", {}).get("reason") for record in caplog.records)


@pytest.mark.parametrize("missing", ["audience", "issuer", "email"])
def test_an_empty_expectation_matches_nothing(missing: str, keys: KeySet) -> None:
    expected = {"audience": AUDIENCE, "issuer": ISSUER, "email": EMAIL, missing: ""}
    name = {"audience": "aud", "issuer": "iss", "email": "email"}[missing]

    with pytest.raises(InvalidIdentity):
        verify(signed(**{name: ""}), keys=keys, **expected)


@pytest.mark.parametrize("value", ["Bearer {}", "bearer {}", "Bearer   {}"])
def test_a_request_is_authenticated_by_its_bearer_token(value: str, keys: KeySet) -> None:
    caller = ServiceCaller(AUDIENCE, ISSUER, EMAIL, keys)

    assert caller.authenticate({"Authorization": value.format(signed())})["email"] == EMAIL


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": ""}, {"Authorization": "Bearer"}, {"Authorization": "Basic {}"}, {"X": "Bearer {}"}],
    ids=str,
)
def test_a_request_without_a_bearer_token_is_refused(headers: dict[str, str], keys: KeySet) -> None:
    caller = ServiceCaller(AUDIENCE, ISSUER, EMAIL, keys)

    with pytest.raises(InvalidIdentity):
        caller.authenticate({name: value.format(signed()) for name, value in headers.items()})
