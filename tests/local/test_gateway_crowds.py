"""Strangers at the gateway: neither their open requests nor their number hold up anybody whom it knows."""

import http.client
import itertools
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest

from deploy.parts import gateway as nginx
from deploy.parts.gateway import Gateway
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, wait_until
from shared.access.rules import sealed
from tests.local.test_gateway import Answer, Upstream, ask

SHIPPED: Final = nginx.files
SOMEBODY, ANOTHER = "127.0.0.2", "127.0.0.3"  # addresses of this machine's loopback
STRANGERS = tuple(f"127.0.0.{number}" for number in range(9, 25))


class Guarded(Upstream):
    """Stands in for the api function: refuses a request without a token before it reads the body."""

    def answer(self) -> None:
        if "Authorization" in self.headers:
            super().answer()
            return
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_PATCH = answer  # noqa: N815 - the names that http.server looks for


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Run a gateway before an api that refuses strangers."""
    folder = tmp_path_factory.mktemp("crowded")
    with ThreadingHTTPServer((LOOPBACK, 0), Guarded) as upstream:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        (folder / "index.html").write_text("<!doctype html><title>Fleet</title>", encoding="utf-8")
        made = Gateway(folder, free_port(), upstream.server_port, 5_000_000, folder)
        with nginx.serve(made, folder / "log"):
            yield made
        upstream.shutdown()


def begin_upload(gateway: Gateway, address: str, authorization: str = "") -> socket.socket:
    """Connect from this address and send the head of an upload and one byte of its body."""
    connection = socket.create_connection((LOOPBACK, gateway.port), 60, source_address=(address, 0))
    head = f"POST /api/event-media HTTP/1.1\r\nHost: {LOOPBACK}\r\n{authorization}Content-Length: 4000000\r\n\r\n1"
    connection.sendall(head.encode())
    return connection


def status_of_upload(gateway: Gateway, address: str) -> int:
    connection = http.client.HTTPConnection(LOOPBACK, gateway.port, timeout=60, source_address=(address, 0))
    try:
        connection.request("POST", "/api/event-media", b"1", {"Authorization": "Bearer x"})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("addresses", [STRANGERS[:1], STRANGERS], ids=["one address", "many addresses"])
def test_strangers_whose_uploads_were_refused_leave_room_for_others(crowded: Gateway, addresses: list[str]) -> None:
    with ExitStack() as stack:
        senders = [address for address in addresses for _ in range(64 // len(addresses))]
        statuses = [
            stack.enter_context(begin_upload(crowded, address)).recv(65_536).split()[1]  # at once: it is cut after 2 s
            for address in senders
        ]
        # Their bodies continue: the gateway reads those that it has already refused, and counts them meanwhile.
        assert status_of_upload(crowded, SOMEBODY) == 200

    assert set(statuses) <= {b"401", b"429"}
    assert statuses.count(b"401") >= 1


def test_one_address_does_not_get_all_the_room_that_uploads_have(crowded: Gateway) -> None:
    with ExitStack() as stack:
        Upstream.arrived = threading.Semaphore(0)
        for _ in range(nginx.UPLOADS_OF_ONE_ADDRESS):
            stack.enter_context(begin_upload(crowded, SOMEBODY, "Authorization: Bearer x\r\n"))
            assert Upstream.arrived.acquire(timeout=60)

        assert status_of_upload(crowded, SOMEBODY) == 429
        assert status_of_upload(crowded, ANOTHER) == 200

    wait_until(lambda: status_of_upload(crowded, SOMEBODY) == 200, 60)


# --- one caller, whichever of its addresses it uses ---


def token_of(gateway: Gateway) -> dict[str, str]:
    """What a known caller sends."""
    return {"Authorization": f"Bearer {sealed('sgn_token', gateway.key)}"}


def status_for(gateway: Gateway, caller: str, method: str = "GET", path: str = "/api/status") -> int:
    return ask(gateway, method, path, {"X-Caller": caller, **token_of(gateway)}).status


@contextmanager
def believing(folder: Path, of_one: int) -> Iterator[Gateway]:
    """A gateway that takes a caller's address from a header, because this machine has no IPv6 network to call from.

    Beyond the first requests, `of_one` of each stranger, it takes one a minute, so that no machine is too slow to meet
    a limit.
    """

    def changed(*given: Any) -> dict[str, str]:
        real_ip = "http { real_ip_header X-Caller; set_real_ip_from 127.0.0.0/8;"
        texts = SHIPPED(*given)
        texts["nginx.conf"] = texts["nginx.conf"].replace("http {", real_ip)
        texts["nginx.conf"] = re.sub(r"rate=\d+r/s", "rate=1r/m", texts["nginx.conf"])
        texts["nginx.conf"] = re.sub(
            r"zone=(strangers\w*) burst=\d+ (nodelay|delay=\d+)",
            rf"zone=\1 burst={TOGETHER} nodelay",
            texts["nginx.conf"],
        )
        texts["nginx.conf"] = re.sub(r"strangers_by burst=\d+", f"strangers_by burst={of_one}", texts["nginx.conf"])
        return texts

    with ThreadingHTTPServer((LOOPBACK, 0), Guarded) as upstream, pytest.MonkeyPatch.context() as patch:
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        patch.setattr(nginx, "STATUS_PAGES_AT_ONCE", 20)
        patch.setattr(nginx, "STRANGERS_AT_ONCE", 20)
        patch.setattr(nginx, "files", changed)
        (folder / "index.html").write_text("<!doctype html><title>Fleet</title>", encoding="utf-8")
        made = Gateway(folder, free_port(), upstream.server_port, 5_000_000, folder)
        with nginx.serve(made, folder / "log"):
            yield made
        upstream.shutdown()


@pytest.fixture(scope="module")
def many_addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with believing(tmp_path_factory.mktemp("addresses"), TOGETHER) as gateway:
        yield gateway


@pytest.mark.parametrize(
    ("addresses", "is_one"),
    [
        ([f"2001:db8:1:2:{number:x}:{number:x}::1" for number in range(1, 31)], True),
        ([f"2001:db8::{number:x}:1:1:1" for number in range(1, 31)], True),
        ([f"::ffff:198.51.100.{number}" for number in range(1, 31)], False),
        ([f"198.51.100.{number}" for number in range(1, 31)], False),
        ([f"2001:db8:1:{number:x}::1" for number in range(16, 46)], False),
        (["::ffff:203.0.113.9", "203.0.113.9"] * 15, True),
    ],
    ids=["a /64", "a /64 with zeros", "mapped IPv4", "IPv4", "many /64", "one IPv4 in two forms"],
)
def test_a_caller_is_counted_once_by_all_its_addresses(
    many_addresses: Gateway, addresses: list[str], is_one: bool
) -> None:
    statuses = [status_for(many_addresses, address) for address in addresses]

    assert (429 in statuses) == is_one
    assert set(statuses) <= {200, 429}


@pytest.mark.parametrize("path", ["/api/session", "/api/enroll", "/api/enroll/rotate"])
def test_a_stranger_knocks_so_often_and_no_other_caller_or_request_is_counted(
    many_addresses: Gateway, path: str
) -> None:
    own = f"2001:db8:{len(path):x}"  # a network for each path: all three count together
    knocks = [status_for(many_addresses, f"{own}:1::{number:x}", "POST", path) for number in range(1, 31)]

    assert knocks == [200] * 21 + [429] * 9
    assert status_for(many_addresses, f"{own}:2::1", "POST", path) == 200
    assert status_for(many_addresses, f"{own}:1::1", "GET", path) == 200


# --- strangers together ---

TOGETHER = 30
DOORS = [
    ("POST", "/api/session"),
    ("GET", "/api/status"),
    ("GET", "/api/health/ready"),
    ("POST", "/api/display/screenshots"),
    ("GET", "/api/clients"),
    ("GET", "/api/event-media"),
]
SECRET = "of-a-browser-or-a-token"
_callers = itertools.count(1)


def ask_as_stranger(gateway: Gateway, method: str, path: str, headers: dict[str, str] | None = None) -> Answer:
    """Ask from an address that never asked before."""
    number = next(_callers)
    return ask(gateway, method, path, {"X-Caller": f"203.{number // 250}.0.{number % 250}", **(headers or {})})


def crowd(gateway: Gateway, method: str, path: str) -> list[int]:
    """The statuses of more strangers than a door takes, each from an address of its own."""
    return [ask_as_stranger(gateway, method, path).status for _ in range(TOGETHER + 10)]


def test_a_crowd_of_strangers_fills_one_door_and_holds_up_nobody_else(many_addresses: Gateway) -> None:
    for method, path in DOORS[:5]:
        assert crowd(many_addresses, method, path) == [401] * (TOGETHER + 1) + [429] * 9, path
        refused = ask_as_stranger(many_addresses, method, path)
        assert (refused.headers["Retry-After"], refused.problem["code"]) == ("5", "too_many_requests")

    for method, path in DOORS:
        assert ask_as_stranger(many_addresses, method, path).status == 429
        assert ask_as_stranger(many_addresses, method, path, token_of(many_addresses)).status == 200
    assert set(crowd(many_addresses, "GET", "/")) == {200}


@pytest.mark.parametrize(("method", "path"), DOORS[2:])
def test_one_stranger_alone_does_not_fill_a_door(tmp_path: Path, method: str, path: str) -> None:
    with believing(tmp_path, 5) as gateway:
        alone = [ask(gateway, method, path, {"X-Caller": SOMEBODY}).status for _ in range(3 * TOGETHER)]

        assert alone == [401] * 6 + [429] * (3 * TOGETHER - 6)
        assert ask_as_stranger(gateway, method, path).status == 401


@pytest.mark.parametrize(
    ("headers", "is_known"),
    [
        ({"Authorization": "Bearer {sealed}"}, True),
        ({"Authorization": "bearer  {sealed}"}, True),
        ({"Cookie": "signage_browser={sealed}"}, True),
        ({"Cookie": "a=b; __Host-signage_browser={sealed}; signage_session=over"}, True),
        ({"Authorization": "Basic eDp5", "Cookie": "signage_browser={sealed}"}, True),
        ({"Cookie": "signage_browser={good_for_long}"}, True),
        ({"Cookie": "signage_browser={over}"}, False),
        ({"Authorization": "Bearer {text}"}, False),
        ({"Authorization": "Bearer {text}.{made_up}"}, False),
        ({"Authorization": "Bearer {of_another_gateway}"}, False),
        ({"Authorization": "Bearer another-{sealed}"}, False),
        ({"Authorization": "Bearer {sealed}a"}, False),
        ({"Authorization": "Basic {sealed}"}, False),
        ({"Cookie": "signage_browser={text}.{made_up}"}, False),
        ({"Cookie": "signage_session={text}"}, False),
        ({"Cookie": "signage_session={sealed}"}, False),
        ({"Cookie": "not_signage_browser={sealed}"}, False),
        ({"Cookie": "signage_browser=.{made_up}"}, False),
        ({"X-Gateway-Key": "{sealed}"}, False),
    ],
    ids=str,
)
def test_only_the_gateways_own_seal_makes_a_caller_known(
    many_addresses: Gateway, headers: dict[str, str], is_known: bool
) -> None:
    texts = {
        "text": SECRET,
        "sealed": sealed(SECRET, many_addresses.key),
        "good_for_long": sealed(f"{SECRET}~4102444800", many_addresses.key),
        "over": sealed(f"{SECRET}~1700000000", many_addresses.key),
        "of_another_gateway": sealed(SECRET, "another key"),
        "made_up": "a" * 22,
    }
    wait_until(lambda: ask_as_stranger(many_addresses, "GET", "/api/clients").status == 429, 60)  # the door is full

    answer = ask_as_stranger(many_addresses, "GET", "/api/clients", {k: v.format(**texts) for k, v in headers.items()})

    assert (answer.status != 429) == is_known
