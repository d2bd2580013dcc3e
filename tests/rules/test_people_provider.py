"""What is believed of a provider, and what is not: its metadata, its tokens, its keys, its answers' size and time."""

import base64
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm
from msgspec.structs import replace

from deploy.parts import identity
from deploy.parts.probes import free_port
from shared.access import provider_operations
from shared.access.provider_rules import SignInTry
from shared.errors import InvalidIdentity, ProviderUnavailable
from shared.outside import people_provider
from shared.outside.people_provider import AT_ONCE, PeopleProvider, ProviderClient
from tests.rules.oidc_harness import FOREIGN, OURS, by_hmac_with_the_public_key, unsigned
from tests.rules.provider_harness import CLIENT_ID, CLIENT_SECRET, DRIP, REDIRECT_URI, Claims, Provider, providing

SUBJECT: Final = "248289761001"
TRY: Final = SignInTry("s" * 43, int(time.time()))
CURVE: Final = ec.generate_private_key(ec.SECP256R1())


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing() as server:
        yield server


def client_of(provider: Provider, **changes: str) -> ProviderClient:
    client = ProviderClient(provider.issuer, CLIENT_ID, CLIENT_SECRET, "openid profile", REDIRECT_URI)
    return replace(client, **changes)


@pytest.fixture
def clock() -> list[float]:
    return [1000.0]


@pytest.fixture
def ours(provider: Provider, clock: list[float]) -> PeopleProvider:
    return PeopleProvider(client_of(provider), lambda: clock[0])


def arrive(ours: PeopleProvider, provider: Provider, begun: SignInTry = TRY, **claims: Any) -> Claims:
    """Sign in at the provider, and come back. Returns the claims that we believe."""
    returned = provider.sign_in(
        ours.sign_in_address(begun.state, begun.nonce, begun.challenge), **{"sub": SUBJECT, **claims}
    )
    return redeem(ours, returned["code"], begun)


def redeem(ours: PeopleProvider, code: str, begun: SignInTry = TRY, issuer: str | None = None) -> Claims:
    return ours.redeem(code, begun.verifier, begun.nonce, begun.began_at, issuer, ("groups",))[0]


def test_a_person_who_signs_in_is_who_the_provider_says(ours: PeopleProvider, provider: Provider) -> None:
    claims = arrive(ours, provider, groups=["admins"])

    assert (claims["iss"], claims["sub"], claims["groups"]) == (provider.issuer, SUBJECT, ["admins"])


def test_claims_that_the_token_lacks_come_from_the_userinfo_of_the_same_person(
    ours: PeopleProvider, provider: Provider
) -> None:
    provider.hidden = ("groups",)
    assert arrive(ours, provider, groups=["admins"])["groups"] == ["admins"]

    provider.lies.userinfo = {"sub": "another"}
    with pytest.raises(InvalidIdentity):
        arrive(ours, provider, groups=["admins"])


def test_the_userinfo_replaces_nothing_that_was_signed(ours: PeopleProvider, provider: Provider) -> None:
    provider.hidden = ("groups",)
    provider.lies.userinfo = {"iss": "https://elsewhere.example", "nonce": "another"}

    claims = arrive(ours, provider, groups=["admins"])

    assert (claims["iss"], claims["nonce"]) == (provider.issuer, TRY.nonce)


# --- identity tokens ---

SPOILED: Final[dict[str, dict[str, Any]]] = {
    "of another issuer": {"iss": "https://elsewhere.example"},
    "of no issuer": {"iss": None},
    "for another client": {"aud": "another"},
    "for nobody": {"aud": None},
    "for several, and does not say which of them asked": {"aud": [CLIENT_ID, "another"]},
    "for several, and another one asked": {"aud": [CLIENT_ID, "another"], "azp": "another"},
    "for us, and another one asked": {"azp": "another"},
    "with another nonce": {"nonce": "another"},
    "with a nonce that is no text": {"nonce": ["another"]},
    "without a nonce": {"nonce": None},
    "expired": {"iat": int(time.time()) - 400, "exp": int(time.time()) - 100},
    "without an end": {"exp": None},
    "from the future": {"iat": int(time.time()) + 86_400},
    "without a time": {"iat": None},
    "older than the try": {"iat": int(time.time()) - 400},
    "of nobody": {"sub": None},
    "of an empty subject": {"sub": ""},
    "of a number": {"sub": 1},
    "of a subject that is too long": {"sub": "x" * 256},
    "of a subject that Postgres cannot store": {"sub": "a\0b"},
    "for another access token": {"at_hash": "another"},
}


@pytest.mark.parametrize("lie", SPOILED.values(), ids=SPOILED)
def test_a_signed_token_is_refused_when_it_is(lie: dict[str, Any], ours: PeopleProvider, provider: Provider) -> None:
    provider.lies.claims = lie

    with pytest.raises(InvalidIdentity) as refusal:
        arrive(ours, provider)

    assert refusal.value.detail == InvalidIdentity().detail


FORGED: Final[dict[str, Callable[[Claims], str]]] = {
    "unsigned (alg none)": lambda claims: unsigned(claims, identity.key_id(OURS)),
    "signed with the client's secret (HS256)": lambda claims: jwt.encode(
        claims, CLIENT_SECRET * 2, algorithm="HS256", headers={"kid": identity.key_id(OURS)}
    ),
    "signed with the public key as a secret": lambda claims: by_hmac_with_the_public_key(
        OURS, claims, identity.key_id(OURS)
    ),
    "signed by somebody else": lambda claims: jwt.encode(
        claims, FOREIGN, algorithm="RS256", headers={"kid": identity.key_id(OURS)}
    ),
    "signed with a key that the provider does not have": lambda claims: jwt.encode(
        claims, FOREIGN, algorithm="RS256", headers={"kid": "theirs"}
    ),
    "RS512": lambda claims: jwt.encode(claims, OURS, algorithm="RS512", headers={"kid": identity.key_id(OURS)}),
    "with a foreign key inside (jwk)": lambda claims: jwt.encode(
        claims, FOREIGN, algorithm="RS256", headers={"jwk": identity.key_set(FOREIGN)["keys"][0]}
    ),
    "with the address of foreign keys (jku)": lambda claims: jwt.encode(
        claims, FOREIGN, algorithm="RS256", headers={"kid": "theirs", "jku": "http://127.0.0.1:1/keys"}
    ),
    "too long": lambda claims: jwt.encode(
        {**claims, "padding": "x" * 40_000}, OURS, algorithm="RS256", headers={"kid": identity.key_id(OURS)}
    ),
    "no token": lambda _: "a.b",
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_token_is_refused(forge: Callable[[Claims], str], ours: PeopleProvider, provider: Provider) -> None:
    provider.lies.sign = forge

    with pytest.raises(InvalidIdentity):
        arrive(ours, provider)


GOOD: Final[dict[str, dict[str, Any]]] = {
    "for us in a list": {"aud": [CLIENT_ID]},
    "for several, and we asked": {"aud": ["another", CLIENT_ID], "azp": CLIENT_ID},
    "without a mark of the access token": {"at_hash": None},
}


@pytest.mark.parametrize("odd", GOOD.values(), ids=GOOD)
def test_a_token_is_accepted_when_it_is(odd: dict[str, Any], ours: PeopleProvider, provider: Provider) -> None:
    provider.lies.claims = odd

    assert arrive(ours, provider)["sub"] == SUBJECT


def test_es256_is_accepted_too(ours: PeopleProvider, provider: Provider) -> None:
    entry = {**json.loads(ECAlgorithm.to_jwk(CURVE.public_key())), "kid": "curve", "use": "sig"}
    provider.lies.answers["/keys"] = 200, json.dumps({"keys": [entry]}).encode()
    provider.lies.sign = lambda claims: jwt.encode(claims, CURVE, algorithm="ES256", headers={"kid": "curve"})

    assert arrive(ours, provider)["sub"] == SUBJECT


def test_without_a_key_id_the_only_key_counts_and_of_several_none(
    ours: PeopleProvider, provider: Provider, clock: list[float]
) -> None:
    provider.key_id = None
    assert arrive(ours, provider)["sub"] == SUBJECT

    both = [*identity.key_set(OURS)["keys"], *identity.key_set(FOREIGN)["keys"]]
    provider.lies.answers["/keys"] = 200, json.dumps({"keys": both}).encode()
    clock[0] += 3601
    with pytest.raises(InvalidIdentity):
        arrive(ours, provider)


def test_a_new_key_of_the_provider_is_fetched_once(
    ours: PeopleProvider, provider: Provider, clock: list[float]
) -> None:
    arrive(ours, provider)
    provider.key, provider.key_id = FOREIGN, "next"
    clock[0] += 31

    assert arrive(ours, provider)["sub"] == SUBJECT
    provider.lies.sign = lambda claims: jwt.encode(claims, OURS, algorithm="RS256", headers={"kid": "none"})
    for _ in range(5):
        with pytest.raises(InvalidIdentity):
            arrive(ours, provider)
    assert provider.asked.count("/keys") == 2


# --- codes ---


def test_a_code_is_redeemed_once_and_by_its_own_try_alone(ours: PeopleProvider, provider: Provider) -> None:
    returned = provider.sign_in(ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge), sub=SUBJECT)
    other = provider_operations.begin(datetime.now(UTC))

    with pytest.raises(InvalidIdentity):
        redeem(ours, returned["code"], other)
    assert redeem(ours, returned["code"])["sub"] == SUBJECT
    with pytest.raises(InvalidIdentity):
        redeem(ours, returned["code"])
    with pytest.raises(InvalidIdentity):
        redeem(ours, "made up")


def test_an_answer_that_names_another_issuer_is_not_looked_at(ours: PeopleProvider, provider: Provider) -> None:
    returned = provider.sign_in(ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge), sub=SUBJECT)

    with pytest.raises(InvalidIdentity):
        redeem(ours, returned["code"], issuer="https://elsewhere.example")
    assert "/token" not in provider.asked
    assert redeem(ours, returned["code"], issuer=provider.issuer)["sub"] == SUBJECT


def test_an_answer_must_name_its_issuer_where_the_provider_says_that_it_does(
    ours: PeopleProvider, provider: Provider
) -> None:
    provider.lies.metadata = {"authorization_response_iss_parameter_supported": True}

    with pytest.raises(InvalidIdentity):
        arrive(ours, provider)


def test_a_wrong_secret_of_ours_is_our_fault_and_is_logged(
    provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    ours = PeopleProvider(client_of(provider, secret="another secret"))

    with caplog.at_level(logging.ERROR), pytest.raises(ProviderUnavailable):
        arrive(ours, provider)

    assert "SSO_CLIENT_SECRET" in str([vars(record) for record in caplog.records])
    assert "another secret" not in str([vars(record) for record in caplog.records])


def test_a_secret_goes_into_the_form_where_the_provider_takes_no_other_way(provider: Provider) -> None:
    provider.lies.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    forms: list[dict[str, str]] = []
    tokens = provider.tokens

    def by_form(form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        assert authorization == ""
        forms.append(form)
        pair = base64.b64encode(f"{form['client_id']}:{form['client_secret']}".encode()).decode()
        return tokens(form, f"Basic {pair}")

    provider.tokens = by_form  # type: ignore[method-assign]

    assert arrive(PeopleProvider(client_of(provider)), provider)["sub"] == SUBJECT
    assert forms[0]["client_secret"] == CLIENT_SECRET


# --- metadata ---

WRONG_METADATA: Final[dict[str, dict[str, Any]]] = {
    "another issuer": {"issuer": "https://elsewhere.example"},
    "the issuer with a slash": {"issuer": "http://127.0.0.1/"},
    "no issuer": {"issuer": None},
    "no address of keys": {"jwks_uri": None},
    "an address that is no text": {"token_endpoint": 3},
    "an address that runs a script": {"authorization_endpoint": "javascript:alert(1)"},
    "an address of a file": {"jwks_uri": "file:///etc/passwd"},
    "an address without a host": {"userinfo_endpoint": "https:///userinfo"},
    "an address that is none": {"end_session_endpoint": "https://[::1"},
}


@pytest.mark.parametrize("lie", WRONG_METADATA.values(), ids=WRONG_METADATA)
def test_a_provider_is_not_used_that_says_of_itself(
    lie: dict[str, Any], ours: PeopleProvider, provider: Provider
) -> None:
    provider.lies.metadata = lie

    with pytest.raises(ProviderUnavailable):
        ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge)


def test_a_provider_with_tls_names_no_address_without_it(provider: Provider) -> None:
    ours = PeopleProvider(client_of(provider, issuer=provider.issuer.replace("http://", "https://")))

    assert not ours.may_use("http://127.0.0.1/token")
    assert ours.may_use("https://elsewhere.example/token")


def test_what_the_provider_says_is_kept_for_an_hour_and_longer_while_it_is_silent(
    ours: PeopleProvider, provider: Provider, clock: list[float]
) -> None:
    for _ in range(3):
        arrive(ours, provider)
    assert provider.asked.count("/.well-known/openid-configuration") == 1

    clock[0] += 3601
    provider.lies.answers["/.well-known/openid-configuration"] = 500, b""
    arrive(ours, provider)
    assert provider.asked.count("/.well-known/openid-configuration") == 2


# --- a provider that does not answer as it should ---

BAD_ANSWERS: Final[dict[str, tuple[int, bytes] | str]] = {
    "an error": (500, b"{}"),
    "a redirect": (302, b""),
    "no JSON": (200, b"<html>"),
    "a list": (200, b"[]"),
    "nothing": (200, b""),
    "no UTF-8": (200, b'{"issuer": "\xff"}'),
    "very deep JSON": (200, b"[" * 100_000),
    "a huge answer": (200, b" " * 300_000 + b"{}"),
    "a slow answer": DRIP,
}


@pytest.mark.parametrize("answer", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/token", "/userinfo", "/keys"])
def test_a_bad_answer_lets_nobody_in(
    path: str,
    answer: tuple[int, bytes] | str,
    ours: PeopleProvider,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if answer == DRIP:
        deadline = "oidc.FETCH_DEADLINE" if path == "/keys" else "people_provider.DEADLINE"
        monkeypatch.setattr(f"shared.outside.{deadline}", timedelta(seconds=0.3))
    provider.hidden = ("groups",)
    provider.lies.answers[path] = answer

    with pytest.raises(InvalidIdentity if path == "/keys" else ProviderUnavailable):
        arrive(ours, provider, groups=["admins"])


def test_a_provider_that_fails_is_asked_again_after_a_second(
    ours: PeopleProvider, provider: Provider, clock: list[float]
) -> None:
    provider.lies.answers["/.well-known/openid-configuration"] = 500, b""

    for moment, asked in ((0, 1), (0.9, 1), (1.1, 2)):
        clock[0] = 1000 + moment
        with pytest.raises(ProviderUnavailable):
            ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge)
        assert provider.asked.count("/.well-known/openid-configuration") == asked


def test_a_provider_that_is_away_is_unavailable() -> None:
    client = ProviderClient(f"http://127.0.0.1:{free_port()}", CLIENT_ID, "", "openid", REDIRECT_URI)

    with pytest.raises(ProviderUnavailable):
        PeopleProvider(client).sign_in_address(TRY.state, TRY.nonce, TRY.challenge)


def test_a_slow_provider_holds_a_few_threads_and_no_more(
    ours: PeopleProvider, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge)
    holding, go_on = threading.Semaphore(0), threading.Event()
    tokens = provider.tokens

    def slow(form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        holding.release()
        go_on.wait()
        return tokens(form, authorization)

    monkeypatch.setattr(provider, "tokens", slow)
    monkeypatch.setattr(people_provider, "DEADLINE", timedelta(seconds=60))
    refused: list[bool] = []

    def come_back() -> None:
        with pytest.raises(InvalidIdentity):
            redeem(ours, "made up")
        refused.append(True)

    threads = [threading.Thread(target=come_back) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for _ in threads:
        holding.acquire()

    with pytest.raises(ProviderUnavailable):
        ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge)
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(refused) == AT_ONCE
    assert ours.sign_in_address(TRY.state, TRY.nonce, TRY.challenge)


# --- signing out ---


def test_the_way_out_names_the_session_and_our_page(ours: PeopleProvider, provider: Provider) -> None:
    address = ours.sign_out_address("a.b.c", "https://signage.test/")

    assert address is not None
    assert address.startswith(f"{provider.issuer}/end?")
    assert parse_qs(urlsplit(address).query) == {
        "id_token_hint": ["a.b.c"],
        "client_id": [CLIENT_ID],
        "post_logout_redirect_uri": ["https://signage.test/"],
    }


def test_a_provider_may_have_no_way_out(ours: PeopleProvider, provider: Provider) -> None:
    provider.lies.metadata = {"end_session_endpoint": None}

    assert ours.sign_out_address("a.b.c", "https://signage.test/") is None
