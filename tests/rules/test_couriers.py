"""Sending messages: real receivers on loopback, and all forbidden addresses."""

import hashlib
import hmac
import ipaddress
import json
import re
import socket
import subprocess
import sys
import time
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.parts.layout import REPOSITORY
from shared import config
from shared.outside import couriers
from shared.outside.couriers import messenger, webhook, words
from shared.outside.couriers.addresses import METADATA, AddressRefused, Reach, look_up, may_reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter, Result
from shared.words.reader import english
from tests.receivers import receiver

HERE = Reach(loopback=True, private=True)
CLOUD = Reach(loopback=False, private=False)
LETTER = Letter("signage-7", "Lobby is silent", "Since noon.\nhttps://signage.test/", {"id": "signage-7", "version": 1})
SECRET = "a secret of 16+ characters"
TOKEN = "T0K3N-that-nobody-may-see"


def post(url: str, reach: Reach = HERE, seconds: float = 60, secret: str | None = None) -> DeliveryAttempt:
    return webhook.post(url, secret, LETTER, reach, timedelta(seconds=seconds))


def test_a_webhook_gets_the_facts_signed_and_with_a_key_of_its_own() -> None:
    before = int(time.time())
    with receiver() as hook:
        outcome = post(f"{hook.url}?key={TOKEN}", secret=SECRET)

    [posted] = hook.posted
    assert outcome == DeliveryAttempt(Result.DELIVERED, words.receiver_answered(receiver="127.0.0.1", status=200))
    assert (posted.path, posted.json) == (f"/hook?key={TOKEN}", LETTER.facts)
    assert posted.headers["content-type"] == "application/json"
    assert posted.headers["idempotency-key"] == "signage-7"
    stamp, _, digest = posted.headers["signage-signature"].partition(",v1=")
    signed = f"{stamp.removeprefix('t=')}.".encode() + posted.body
    assert hmac.compare_digest(digest, hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest())
    assert before <= int(stamp.removeprefix("t=")) <= time.time()


def test_a_chat_room_that_reads_a_webhooks_words_gets_them_as_text() -> None:
    """Slack, Mattermost and Teams accept JSON with `text` and `title`."""
    url, unit = "https://signage.test/?d=1", "<!channel> @all [pay now](http://evil.example)"
    facts = {"title": f"Lobby: {unit}", "text": f"It failed: {unit}\n{url}", "cause": f"{unit} failed", "url": url}
    with receiver() as hook:
        webhook.post(hook.url, None, Letter("signage-8", "x", "x", facts), HERE, timedelta(seconds=5))

    [posted] = hook.posted
    text, link = posted.json["text"].split("\n")
    assert (link, posted.json["cause"]) == (url, facts["cause"])
    for said in (text, posted.json["title"]):
        assert "pay now" in said
        assert not any(sign in said for sign in ("<", "@", "[", "//", "evil.example"))


def test_a_name_and_password_in_the_address_are_sent_as_such() -> None:
    with receiver() as hook:
        post(hook.url.replace("http://", "http://anna:p%40ss@"))

    [posted] = hook.posted
    assert posted.headers["authorization"] == "Basic YW5uYTpwQHNz"
    assert "anna" not in posted.headers["host"]


@pytest.mark.parametrize(
    ("status", "headers", "result", "wait"),
    [
        (204, {}, Result.DELIVERED, None),
        (301, {"Location": "http://127.0.0.1:1/"}, Result.REFUSED, None),  # it could redirect to any address
        (400, {}, Result.REFUSED, None),
        (401, {}, Result.REFUSED, None),
        (410, {}, Result.REFUSED, None),
        (429, {"Retry-After": "120"}, Result.AGAIN, timedelta(seconds=120)),
        (500, {}, Result.AGAIN, None),
        (503, {"Retry-After": "9" * 30}, Result.AGAIN, timedelta(hours=1)),
        (503, {"Retry-After": "nonsense"}, Result.AGAIN, None),
    ],
)
def test_what_an_answer_means(status: int, headers: dict[str, str], result: Result, wait: timedelta | None) -> None:
    with receiver() as hook:
        hook.answer = lambda _posted: (status, headers)
        outcome = post(f"{hook.url}/{TOKEN}")

    assert (outcome.result, outcome.retry_after) == (result, wait)
    assert english(outcome.sentence).startswith(f"{status} from 127.0.0.1")
    assert TOKEN not in str(outcome.sentence)
    assert len(hook.posted) == 1


def test_a_receiver_that_trickles_is_left_at_the_deadline() -> None:
    with receiver() as hook:
        hook.answer = lambda _posted: None
        outcome = post(hook.url, seconds=0.5)  # it would be endless

    assert outcome == DeliveryAttempt(Result.AGAIN, words.receiver_slow(receiver="127.0.0.1"))


def test_a_receiver_that_is_not_there_may_come_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    away = words.receiver_refused_connection(receiver="127.0.0.1")
    nowhere = words.receiver_unknown(receiver="no-such-name.invalid")
    assert post(f"http://127.0.0.1:{port}/{TOKEN}") == DeliveryAttempt(Result.AGAIN, away)
    assert post(f"http://no-such-name.invalid/{TOKEN}") == DeliveryAttempt(Result.AGAIN, nowhere)


def test_plain_http_where_tls_is_expected_is_said_without_the_address() -> None:
    with receiver() as hook:
        outcome = post(hook.url.replace("http://", "https://") + TOKEN)

    assert outcome == DeliveryAttempt(Result.AGAIN, words.receiver_without_tls(receiver="127.0.0.1"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "2130706433"])
def test_in_the_cloud_nothing_goes_to_the_machine_itself(host: str) -> None:
    with receiver() as hook:
        outcome = post(f"http://{host}:{hook.server_address[1]}/", CLOUD)

    assert outcome.result is Result.REFUSED
    assert hook.posted == []


@pytest.mark.parametrize(
    ("address", "here", "cloud"),
    [
        ("169.254.169.254", False, False),  # the metadata service of a cloud
        ("192.0.0.192", False, False),  # of another cloud
        ("168.63.129.16", False, False),  # and of a third
        ("::a9fe:a9fe", False, False),  # the first one in an old form of IPv6 address
        ("::ffff:0:a9fe:a9fe", False, False),
        ("::ffff:0:10.0.0.1", True, False),
        ("64:ff9b:1::a9fe:a9fe", False, False),  # a network's own NAT64
        ("fec0::1", True, False),  # an old site-local address
        ("192.0.0.8", True, False),  # reserved for protocols
        ("192.88.99.1", True, False),  # old relays
        ("3fff::1", True, False),  # documentation
        ("5f00::1", False, False),  # segment routing
        ("::2", True, False),  # 0.0.0.2
        ("::ffff:169.254.169.254", False, False),
        ("64:ff9b::a9fe:a9fe", False, False),  # the same by NAT64
        ("2002:a9fe:a9fe::", False, False),  # and by 6to4
        ("2002:5db8:d822::", False, False),  # a public one by 6to4: its relay may be anybody's
        ("2001:0:5db8:d822::a247:27dd", False, False),  # and by Teredo
        ("2001:0:0:0:0:0:5601:5601", False, False),  # the metadata service by Teredo
        ("64:ff9b:1::5db8:d822", False, False),
        ("64:ff9b::5db8:d822", True, True),  # a public one by NAT64
        ("::ffff:93.184.216.34", True, True),
        ("2001:2::1", True, False),  # benchmarks
        ("2001:db8::1", True, False),  # documentation
        ("100::1", False, False),  # discarded
        ("4000::1", False, False),  # not assigned
        ("198.18.0.1", True, False),  # benchmarks
        ("203.0.113.1", True, False),  # documentation
        ("240.0.0.1", False, False),  # not assigned
        ("fd00:ec2::254", False, False),
        ("fe80::1%eth0", False, False),
        ("0.0.0.0", False, False),
        ("::", False, False),
        ("224.0.0.1", False, False),
        ("127.0.0.1", True, False),
        ("::1", True, False),
        ("10.0.0.1", True, False),
        ("192.168.1.1", True, False),
        ("100.64.0.1", True, False),  # shared address space of providers
        ("fd12::1", True, False),
        ("255.255.255.255", False, False),
        ("93.184.216.34", True, True),
        ("2606:2800:220:1::1", True, True),
        ("not an address", False, False),
    ],
)
def test_which_addresses_may_be_reached(address: str, here: bool, cloud: bool) -> None:
    assert (may_reach(address, HERE), may_reach(address, CLOUD)) == (here, cloud)


@given(st.ip_addresses())
def test_in_the_cloud_only_global_addresses_are_reached_and_metadata_never(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if may_reach(str(address), CLOUD):
        assert address.is_global or address in ipaddress.ip_network("::/96")  # which are IPv4 addresses
        assert may_reach(str(address), HERE)
    assert address not in METADATA or not may_reach(str(address), HERE)


@given(st.ip_addresses(v=4), st.sampled_from(("::ffff:0:0", "64:ff9b::", "::ffff:0:0:0")))
def test_an_ipv4_address_inside_an_ipv6_one_is_judged_as_itself(address: ipaddress.IPv4Address, prefix: str) -> None:
    wrapped = str(ipaddress.IPv6Address(prefix) + int(address))

    for reach in (HERE, CLOUD):
        assert may_reach(wrapped, reach) == may_reach(str(address), reach)


@given(st.sampled_from(("2002::/16", "2001::/32", "64:ff9b:1::/48")).flatmap(lambda net: st.ip_addresses(network=net)))
def test_no_tunnel_to_an_ipv4_address_is_taken(address: ipaddress.IPv6Address) -> None:
    assert not may_reach(str(address), HERE)
    assert not may_reach(str(address), CLOUD)


def test_a_name_that_leads_to_a_good_and_a_bad_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, 80)) for a in ("93.184.216.34", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_kw: found)

    with pytest.raises(AddressRefused):
        look_up("two-faced.test", 80, CLOUD)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, HERE),
        ({"NOTIFICATION_PRIVATE_ADDRESSES": "refuse"}, CLOUD),
        ({"DEPLOYMENT_MODE": "cloud"}, CLOUD),
        ({"DEPLOYMENT_MODE": "cloud", "NOTIFICATION_PRIVATE_ADDRESSES": "allow"}, Reach(loopback=False, private=True)),
    ],
)
def test_how_far_channels_reach_where(environment: dict[str, str], expected: Reach) -> None:
    assert couriers.reach_of(config.load(environment)) == expected


def test_the_functions_import_no_messenger_library() -> None:
    program = "import shared.outside.couriers, sys; print('apprise' in sys.modules, 'http.client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert json.loads(f'["{done.stdout.strip()}"]') == ["False False"]


def test_the_page_waits_longer_for_a_channel_than_the_service_does() -> None:
    page = (REPOSITORY / "dashboard/lib/api/notifications.js").read_text(encoding="utf-8")
    limits = re.findall(r"const LIMIT = ([\d_]+);", page)
    asking = re.findall(r'call\("(?:POST|PATCH)".*', page)

    assert [line for line in asking if "limit: LIMIT" not in line] == []
    assert [timedelta(milliseconds=int(one)) for one in limits] > [
        messenger.CHECK_DEADLINE + couriers.MESSENGER_DEADLINE
    ]
