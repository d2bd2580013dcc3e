"""What leaves the network by OUTBOUND_PROXY, with a real proxy on loopback that counts."""

import socket
import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from shared import config, http_proxy
from shared.errors import ConfigurationError, ProviderUnavailable
from shared.outside import couriers
from shared.outside.bounded_http import NoAnswer, ask
from shared.outside.couriers import words
from shared.outside.couriers.addresses import Reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result
from shared.outside.oidc import KeySet
from shared.outside.people_provider import PeopleProvider, ProviderClient
from tests.deploy.certificates import Authority
from tests.receivers import ConnectProxy, Receiver, connect_proxy, mailbox, receiver

PUBLIC: Final = "198.96.0.1"
"""A public address; the proxy of the test leads it to a receiver on loopback."""
LETTER: Final = Letter("signage-7", "Lobby is silent", "Since noon.", {"id": "signage-7", "url": None})
PASSWORD: Final = "hunter2-and-more"
LOGIN: Final = "Basic ZmxlZXQ6aHVudGVyMi1hbmQtbW9yZQ=="  # fleet and the password


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


@pytest.fixture
def proxy(hook: Receiver) -> Iterator[ConnectProxy]:
    with connect_proxy(hook) as running:
        yield running


def reach(proxy: ConnectProxy | None, *, private: bool = False) -> Reach:
    """As the service makes it of its settings."""
    address = f"http://fleet:{PASSWORD}@127.0.0.1:{proxy.port if proxy else 1}"
    settings = {"OUTBOUND_PROXY": address, "NOTIFICATION_PRIVATE_ADDRESSES": "allow" if private else "refuse"}
    return couriers.reach_of(config.load(settings))


def send(kind: str, url: str, way: Reach) -> DeliveryAttempt:
    return couriers.send(kind, url, None, LETTER, way)


WAYS: Final = [("webhook", f"http://{PUBLIC}/hook"), ("apprise", f"json://{PUBLIC}/hook")]


@pytest.mark.parametrize(("kind", "url"), WAYS)
def test_a_message_to_a_public_address_goes_by_the_proxy(
    hook: Receiver, proxy: ConnectProxy, kind: str, url: str
) -> None:
    outcome = send(kind, url, reach(proxy))

    assert outcome.result is Result.DELIVERED
    assert (proxy.asked, proxy.logins) == ([f"{PUBLIC}:80"], [LOGIN])
    assert [posted.headers["host"] for posted in hook.posted] == [PUBLIC]


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.0.0.7", "169.254.169.254", "localhost", "[::1]", "[::ffff:10.0.0.7]"]
)
@pytest.mark.parametrize("kind", ["webhook", "apprise"])
def test_no_proxy_is_asked_for_a_forbidden_address(proxy: ConnectProxy, kind: str, address: str) -> None:
    scheme = "http" if kind == "webhook" else "json"

    outcome = send(kind, f"{scheme}://{address}/hook", reach(proxy))

    assert (outcome, proxy.asked) == (DeliveryAttempt(Result.REFUSED, words.receiver_forbidden()), [])


@pytest.mark.parametrize(("kind", "scheme"), [("webhook", "http"), ("apprise", "json")])
def test_what_stands_inside_is_reached_directly(hook: Receiver, proxy: ConnectProxy, kind: str, scheme: str) -> None:
    outcome = send(kind, f"{scheme}://127.0.0.1:{hook.server_address[1]}/hook", reach(proxy, private=True))

    assert (outcome.result, len(hook.posted), proxy.asked) == (Result.DELIVERED, 1, [])


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name that leads to PUBLIC."""
    real = socket.getaddrinfo

    def resolve(host: str, *rest: Any, **more: Any) -> Any:
        return real(PUBLIC if host == "hooks.example" else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return "hooks.example"


def test_the_proxy_gets_the_judged_address_and_never_the_name(proxy: ConnectProxy, named: str) -> None:
    """Otherwise the proxy would look it up again, and whoever owns the name could answer otherwise then."""
    assert send("webhook", f"http://{named}/hook", reach(proxy)).result is Result.DELIVERED
    assert proxy.asked == [f"{PUBLIC}:80"]


@pytest.mark.parametrize(
    ("signed_for", "result"), [("hooks.example", Result.DELIVERED), ("other.example", Result.AGAIN)]
)
def test_tls_is_spoken_with_the_receiver_by_its_name(
    hook: Receiver,
    proxy: ConnectProxy,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    signed_for: str,
    result: Result,
) -> None:
    authority, context = Authority(tmp_path), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.sign(signed_for))
    hook.socket = context.wrap_socket(hook.socket, server_side=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca_file))

    assert send("webhook", f"https://{named}/hook", reach(proxy)).result is result
    assert proxy.asked == [f"{PUBLIC}:443"]


def test_mail_is_direct(proxy: ConnectProxy) -> None:
    with mailbox() as box:
        url = f"mailto://127.0.0.1:{box.port}/?mode=insecure&from=fleet@signage.test&to=anna@signage.test"
        outcome = send("apprise", url, reach(proxy, private=True))

    assert (outcome.result, len(box.mails), proxy.asked) == (Result.DELIVERED, 1, [])


@pytest.mark.parametrize(("kind", "url"), WAYS)
@pytest.mark.parametrize("status", [403, 407, None])
def test_a_proxy_that_refuses_is_named_without_its_password(
    proxy: ConnectProxy, kind: str, url: str, status: int | None
) -> None:
    proxy.status = b"odd" if status is None else b"%d Not for you" % status
    host = PUBLIC if kind == "webhook" else "json"

    outcome = send(kind, url, reach(proxy))

    assert outcome == DeliveryAttempt(Result.AGAIN, words.proxy_fault(receiver=host, status=status))
    assert PASSWORD not in str(outcome)


@pytest.mark.parametrize(("kind", "url"), WAYS)
def test_a_proxy_that_is_away_is_named(kind: str, url: str) -> None:
    host = PUBLIC if kind == "webhook" else "json"

    assert send(kind, url, reach(None)) == DeliveryAttempt(Result.AGAIN, words.proxy_silent(receiver=host))


def test_a_sign_in_service_that_only_the_proxy_knows_is_asked_by_name(hook: Receiver, proxy: ConnectProxy) -> None:
    way = http_proxy.read(f"http://127.0.0.1:{proxy.port}")

    def answer(url: str) -> int:
        return ask("POST", url, {}, b"code=1", timedelta(seconds=60), 1000, way).status

    assert answer("http://accounts.invalid/token") == 200
    assert answer(hook.url) == 200, "one inside is asked directly"
    assert (proxy.asked, proxy.logins) == (["accounts.invalid:80"], [None])
    proxy.status = b"403 Forbidden"
    with pytest.raises(NoAnswer, match=r"^OUTBOUND_PROXY answers 403$"):
        answer("http://accounts.invalid/token")


def test_whatever_is_asked_of_a_sign_in_service_goes_by_the_proxy(proxy: ConnectProxy) -> None:
    way = http_proxy.read(f"http://127.0.0.1:{proxy.port}")
    keys = KeySet("http://accounts.invalid/keys", proxy=way)
    provider = PeopleProvider(ProviderClient("http://accounts.invalid", "signage", "", "openid", "", way))

    with pytest.raises(ProviderUnavailable):  # the receiver is no sign-in service
        provider.sign_in_address("state", "nonce", "challenge")
    assert keys.find("any") is None
    assert proxy.asked == ["accounts.invalid:80"] * 2


def test_the_login_of_the_proxy_is_shown_nowhere() -> None:
    given = f"http://fleet:{PASSWORD}@proxy.example:8080"
    settings = config.load({"OUTBOUND_PROXY": given})

    assert settings.describe()["OUTBOUND_PROXY"]["value"] == "http://proxy.example:8080"
    assert PASSWORD not in f"{settings} {settings['OUTBOUND_PROXY']!r}"
    with pytest.raises(ConfigurationError) as refused:
        config.load({"OUTBOUND_PROXY": f"socks5://fleet:{PASSWORD}@proxy.example"})
    assert PASSWORD not in refused.value.detail


@pytest.mark.parametrize("text", ["proxy.example:3128", "https://proxy.example", "http://proxy.example/way", "http://"])
def test_an_address_that_is_no_proxy_stops_the_start(text: str) -> None:
    with pytest.raises(ConfigurationError, match="OUTBOUND_PROXY"):
        config.load({"OUTBOUND_PROXY": text})
