"""Which tokens are accepted, and that all others are refused with the same words."""

import base64
import hashlib
import hmac
import json
import logging
import stat
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from deploy.local import oidc
from deploy.local.probes import free_port
from shared.errors import InvalidIdentity
from shared.oidc import Caller, KeySet, verify

AUDIENCE = "http://127.0.0.1:8082"
ISSUER = "http://127.0.0.1:8124"
EMAIL = "tasks@signage.test"
OURS = rsa.generate_private_key(public_exponent=65537, key_size=2048)
FOREIGN = rsa.generate_private_key(public_exponent=65537, key_size=2048)
WEAK = rsa.generate_private_key(public_exponent=65537, key_size=1024)
CURVE = ec.generate_private_key(ec.SECP256R1())


class Issuer(ThreadingHTTPServer):
    """A real server of a key set that counts how often it is asked."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _IssuerHandler)
        self.answer: Any = oidc.key_set(OURS)
        self.status = 200
        self.asked = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/keys"


class _IssuerHandler(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        self.server.asked += 1
        body = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        pass


def serve(issuer: Issuer) -> None:
    threading.Thread(target=issuer.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    server = Issuer()
    serve(server)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def keys(issuer: Issuer) -> KeySet:
    return KeySet(issuer.url)


def claims(**changes: Any) -> dict[str, Any]:
    """Those of an acceptable token; None takes one away."""
    now = int(time.time())
    content = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "1",
        "email": EMAIL,
        "email_verified": True,
        "iat": now,
        "exp": now + 600,
        **changes,
    }
    return {name: value for name, value in content.items() if value is not None}


def signed(key: Any = OURS, algorithm: str = "RS256", header: Any = None, **changes: Any) -> str:
    """A token; `header` adds to, or replaces, the header's fields."""
    headers = {"kid": oidc.key_id(OURS), **(header or {})}
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


def encoded(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def by_hmac_with_the_public_key() -> str:
    """The classic confusion of algorithms: the public key, which everybody has, as a shared secret."""
    public = OURS.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    content = f"{encoded({'alg': 'HS256', 'kid': oidc.key_id(OURS)})}.{encoded(claims())}"
    mark = hmac.new(public, content.encode(), hashlib.sha256).digest()
    return f"{content}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"


def unsigned() -> str:
    return f"{encoded({'alg': 'none', 'kid': oidc.key_id(OURS)})}.{encoded(claims())}."


def with_another_payload() -> str:
    head, _, mark = signed(email="scheduler@signage.test").split(".")
    return f"{head}.{encoded(claims())}.{mark}"


def of_the_foreign_key_with_its_own_address() -> str:
    return signed(FOREIGN, header={"jku": "http://127.0.0.1:1/keys", "kid": "theirs"})


def of_the_foreign_key_inside() -> str:
    return signed(FOREIGN, header={"jwk": oidc.key_set(FOREIGN)["keys"][0]})


FORGED: dict[str, Callable[[], str]] = {
    "no token at all": lambda: "",
    "not three parts": lambda: "a.b",
    "garbage": lambda: "ÿ.ÿ.ÿ",
    "a header that is a list": lambda: f"{base64.urlsafe_b64encode(b'[1]').decode()}.e30.AA",
    "unsigned (alg none)": unsigned,
    "signed with the public key as a secret": by_hmac_with_the_public_key,
    "another's signature under our key's id": lambda: signed(FOREIGN),
    "a key that the issuer does not have": lambda: signed(FOREIGN, header={"kid": "theirs"}),
    "no key id": lambda: jwt.encode(claims(), OURS, algorithm="RS256"),
    "the address of a foreign key set (jku)": of_the_foreign_key_with_its_own_address,
    "our key, but with a jku": lambda: signed(header={"jku": "http://127.0.0.1:1/keys"}),
    "a foreign key inside (jwk)": of_the_foreign_key_inside,
    "ES256": lambda: signed(CURVE, "ES256"),
    "our key with RS512": lambda: signed(algorithm="RS512"),
    "our key with PS256": lambda: signed(algorithm="PS256"),
    "a payload that was exchanged": with_another_payload,
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
    token = oidc.mint(OURS, AUDIENCE, EMAIL, ISSUER)

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

    assert refusal.value.detail == InvalidIdentity().detail  # the caller learns nothing of the reason
    assert refusal.value.extras == {}
    assert any(getattr(record, "fields", {}).get("reason") for record in caplog.records)


@pytest.mark.parametrize("missing", ["audience", "issuer", "email"])
def test_an_empty_expectation_matches_nothing(missing: str, keys: KeySet) -> None:
    expected = {"audience": AUDIENCE, "issuer": ISSUER, "email": EMAIL, missing: ""}
    name = {"audience": "aud", "issuer": "iss", "email": "email"}[missing]

    with pytest.raises(InvalidIdentity):
        verify(signed(**{name: ""}), keys=keys, **expected)


@pytest.mark.parametrize(
    "entry",
    [
        {**oidc.key_set(WEAK)["keys"][0], "kid": "offered"},
        {**oidc.key_set(FOREIGN)["keys"][0], "kid": "offered", "use": "enc"},
        {**oidc.key_set(FOREIGN)["keys"][0], "kid": "offered", "alg": "RS512"},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "offered", "alg": "RS256"},
        {"kty": "RSA", "kid": "offered"},
    ],
    ids=["1024 bits", "for encryption", "for RS512", "a shared secret", "without numbers"],
)
def test_a_key_that_is_not_fit_is_left_out(entry: dict[str, str], issuer: Issuer) -> None:
    issuer.answer = {"keys": [entry, *oidc.key_set(OURS)["keys"]]}
    keys = KeySet(issuer.url)

    assert keys.find("offered") is None
    assert keys.find(oidc.key_id(OURS)) is not None


def test_unknown_keys_make_it_ask_the_issuer_once_in_30_seconds(issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, lambda: clock[0])

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
    keys = KeySet(issuer.url, lambda: clock[0])
    known = oidc.key_id(OURS)

    assert keys.find(known) is not None
    clock[0] += 3599
    assert keys.find(known) is not None
    assert issuer.asked == 1
    issuer.answer = oidc.key_set(FOREIGN)  # the issuer withdrew the first
    clock[0] += 2
    assert keys.find(known) is None
    assert issuer.asked == 2


def test_a_new_key_of_the_issuer_is_found(issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, lambda: clock[0])
    keys.find(oidc.key_id(OURS))

    issuer.answer = oidc.key_set(FOREIGN)
    clock[0] += 31

    assert keys.find(oidc.key_id(FOREIGN)) is not None


@pytest.mark.parametrize(("status", "answer"), [(500, {}), (302, {}), (200, {}), (200, {"keys": 3}), (200, ["keys"])])
def test_an_issuer_that_fails_does_not_take_away_the_known_keys(status: int, answer: Any, issuer: Issuer) -> None:
    clock = [1000.0]
    keys = KeySet(issuer.url, lambda: clock[0])
    known = oidc.key_id(OURS)
    keys.find(known)

    issuer.status, issuer.answer = status, answer
    clock[0] += 7200

    assert keys.find(known) is not None
    assert issuer.asked == 2


def test_without_an_issuer_a_token_is_refused_and_soon_after_it_came_accepted() -> None:
    clock = [1000.0]
    port = free_port()
    keys = KeySet(f"http://127.0.0.1:{port}/keys", lambda: clock[0])
    with pytest.raises(InvalidIdentity):
        verify(signed(), AUDIENCE, ISSUER, EMAIL, keys)

    server = Issuer(port)
    serve(server)
    clock[0] += 1.1

    assert verify(signed(), AUDIENCE, ISSUER, EMAIL, keys)
    server.shutdown()
    server.server_close()


def test_many_requests_at_once_ask_the_issuer_once(issuer: Issuer) -> None:
    keys = KeySet(issuer.url)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(keys.find(oidc.key_id(OURS)))) for _ in range(16)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 16
    assert all(found)
    assert issuer.asked == 1


@pytest.mark.parametrize("value", ["Bearer {}", "bearer {}", "Bearer   {}"])
def test_a_request_is_authenticated_by_its_bearer_token(value: str, keys: KeySet) -> None:
    caller = Caller(AUDIENCE, ISSUER, EMAIL, keys)

    assert caller.authenticate({"Authorization": value.format(signed())})["email"] == EMAIL


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": ""}, {"Authorization": "Bearer"}, {"Authorization": "Basic {}"}, {"X": "Bearer {}"}],
    ids=str,
)
def test_a_request_without_a_bearer_token_is_refused(headers: dict[str, str], keys: KeySet) -> None:
    caller = Caller(AUDIENCE, ISSUER, EMAIL, keys)

    with pytest.raises(InvalidIdentity):
        caller.authenticate({name: value.format(signed()) for name, value in headers.items()})


def test_the_local_key_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "oidc_key.pem"

    first = oidc.load_or_create_key(path)
    second = oidc.load_or_create_key(path)

    assert first.private_numbers() == second.private_numbers()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["oidc_key.pem"]


def test_starts_at_the_same_time_get_the_same_key(tmp_path: Path) -> None:
    path = tmp_path / "oidc_key.pem"
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.append(oidc.key_id(oidc.load_or_create_key(path)))) for _ in range(4)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 4
    assert len(set(made)) == 1


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "oidc_key.pem"
    oidc.load_or_create_key(path)
    path.chmod(0o640)

    with pytest.raises(PermissionError):
        oidc.load_or_create_key(path)


def test_the_key_set_holds_nothing_private() -> None:
    (entry,) = oidc.key_set(OURS)["keys"]

    assert set(entry) == {"kty", "n", "e", "kid", "alg", "use"}
