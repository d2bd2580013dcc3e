"""The source of the keys: the issuer's key set, cached and fetched again, or the local key."""

import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from deploy.parts import identity
from deploy.parts.probes import free_port
from shared.errors import InvalidIdentity
from shared.outside.oidc import KeySet, verify
from tests.rules.oidc_harness import AUDIENCE, EMAIL, FOREIGN, ISSUER, OURS, Issuer, issuing, signed

WEAK = rsa.generate_private_key(public_exponent=65537, key_size=1024)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as server:
        yield server


@pytest.mark.parametrize(
    "entry",
    [
        {**identity.key_set(WEAK)["keys"][0], "kid": "offered"},
        {**identity.key_set(FOREIGN)["keys"][0], "kid": "offered", "use": "enc"},
        {**identity.key_set(FOREIGN)["keys"][0], "kid": "offered", "alg": "RS512"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "offered", "alg": "RS256"},
        {"kty": "RSA", "kid": "offered"},
        {"kty": "RSA", "kid": "offered", "n": "!" * 400, "e": "AQAB"},
        {**identity.key_set(FOREIGN)["keys"][0], "kid": "offered", "e": "AA"},
        "offered",
        None,
    ],
    ids=[
        "1024 bits",
        "for encryption",
        "RS512",
        "a shared secret",
        "no numbers",
        "no base64",
        "no key",
        "text",
        "null",
    ],
)
def test_a_key_that_is_not_fit_is_left_out(entry: Any, issuer: Issuer) -> None:
    issuer.answer = {"keys": [entry, *identity.key_set(OURS)["keys"]]}
    keys = KeySet(issuer.url)

    assert keys.find("offered") is None
    assert keys.find(identity.key_id(OURS)) is not None


def test_unknown_keys_make_it_ask_the_issuer_once_in_30_seconds(issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, clock=lambda: clock[0])

    for number in range(50):
        assert keys.find(f"forged-{number}") is None
    assert issuer.asked == 1
    clock[0] += 29
    keys.find("forged")
    assert issuer.asked == 1
    clock[0] += 2
    keys.find("forged")
    assert issuer.asked == 2


def test_known_keys_are_fetched_again_after_an_hour(issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, clock=lambda: clock[0])
    known = identity.key_id(OURS)

    assert keys.find(known) is not None
    clock[0] += 3599
    assert keys.find(known) is not None
    assert issuer.asked == 1
    issuer.answer = identity.key_set(FOREIGN)  # the issuer withdrew the first key
    clock[0] += 2
    assert keys.find(known) is None
    assert issuer.asked == 2


def test_a_new_key_of_the_issuer_is_found(issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, clock=lambda: clock[0])
    keys.find(identity.key_id(OURS))

    issuer.answer = identity.key_set(FOREIGN)
    clock[0] += 31

    assert keys.find(identity.key_id(FOREIGN)) is not None


@pytest.mark.parametrize(("status", "answer"), [(500, {}), (302, {}), (200, {}), (200, {"keys": 3}), (200, ["keys"])])
def test_an_issuer_that_fails_does_not_take_away_the_known_keys(status: int, answer: Any, issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, clock=lambda: clock[0])
    known = identity.key_id(OURS)
    keys.find(known)

    issuer.status, issuer.answer = status, answer
    clock[0] += 7200

    assert keys.find(known) is not None
    assert issuer.asked == 2


def test_without_an_issuer_a_token_is_refused_and_soon_after_it_came_accepted() -> None:
    clock = [1000.0]
    port = free_port()
    keys = KeySet(f"http://127.0.0.1:{port}/keys", clock=lambda: clock[0])
    with pytest.raises(InvalidIdentity):
        verify(signed(), AUDIENCE, ISSUER, EMAIL, keys)

    with issuing(port):
        clock[0] += 1.1

        assert verify(signed(), AUDIENCE, ISSUER, EMAIL, keys)


def test_many_requests_at_once_ask_the_issuer_once(issuer: Issuer) -> None:
    keys = KeySet(issuer.url)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(keys.find(identity.key_id(OURS)))) for _ in range(16)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 16
    assert all(found)
    assert issuer.asked == 1


def test_the_local_key_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "oidc_key.pem"

    first = identity.load_or_create_key(path)
    second = identity.load_or_create_key(path)

    assert first.private_numbers() == second.private_numbers()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["oidc_key.pem"]


def test_starts_at_the_same_time_get_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "oidc_key.pem"
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.append(identity.key_id(identity.load_or_create_key(path))))
        for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 4
    assert len(set(made)) == 1


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "oidc_key.pem"
    identity.load_or_create_key(path)
    path.chmod(0o640)

    with pytest.raises(PermissionError):
        identity.load_or_create_key(path)


def test_the_key_set_holds_nothing_private() -> None:
    (entry,) = identity.key_set(OURS)["keys"]

    assert set(entry) == {"kty", "n", "e", "kid", "alg", "use"}
