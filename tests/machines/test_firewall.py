"""The firewall rule that the guide gives for a box that strangers can reach, in network namespaces."""

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import NamedTuple

import pytest

from deploy.local.prerequisites import PROGRAM_PATH
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import wait_until
from tests.namespaces import FAR, NEAR, Networks, inside, two_networks

DOOR, MOST = 8883, 200


class Addresses(NamedTuple):
    """The addresses of the box and of two callers, and another one of the first caller."""

    box: str
    stranger: str
    somebody: str
    strangers_too: str


IPV4 = Addresses(NEAR, FAR, "198.18.0.6", FAR)
IPV6 = Addresses("fd00::1", "fd00::2", "fd00:0:0:1::3", "fd00::ffff:1")  # a caller has a /64


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    """`near` is the box with the guide's rule, `far` are callers with two addresses of each kind."""
    with two_networks() as made:
        for network, address in ((made.near, IPV6.box), *((made.far, one) for one in IPV6[1:])):
            ip(network, "address", "add", f"{address}/64", "dev", "wire", "nodad")
        ip(made.near, "route", "add", f"{IPV6.somebody}/128", "dev", "wire")
        ip(made.far, "address", "add", f"{IPV4.somebody}/32", "dev", "wire")
        ip(made.near, "route", "add", IPV4.somebody, "dev", "wire")
        guide = (REPOSITORY / "docs" / "deploying.md").read_text(encoding="utf-8")
        [rule] = re.findall(r"```\n(table inet signage .*?)```", guide, re.DOTALL)
        with inside(made.near):
            nft = shutil.which("nft", path=PROGRAM_PATH)
            assert nft
            subprocess.run([nft, "-f", "-"], input=rule, check=True, text=True)
        yield made


def ip(network: str, *arguments: str) -> None:
    subprocess.run(["ip", "-n", network, *arguments], check=True)


def connected(addresses: Addresses, caller: str) -> socket.socket:
    return socket.create_connection((addresses.box, DOOR), 60, source_address=(caller, 0))


def is_let_in(addresses: Addresses, caller: str) -> bool:
    try:
        connected(addresses, caller).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize("addresses", [IPV4, IPV6], ids=["IPv4", "IPv6"])
def test_one_address_has_so_many_connections_and_others_have_theirs(networks: Networks, addresses: Addresses) -> None:
    family = socket.AF_INET6 if ":" in addresses.box else socket.AF_INET
    with ExitStack() as stack:
        with inside(networks.near):
            door = stack.enter_context(socket.create_server((addresses.box, DOOR), family=family, backlog=2 * MOST))
        with inside(networks.far):
            held = [stack.enter_context(connected(addresses, addresses.stranger)) for _ in range(MOST)]

            assert not is_let_in(addresses, addresses.stranger)
            assert not is_let_in(addresses, addresses.strangers_too)
            assert is_let_in(addresses, addresses.somebody)

            held[0].close()
            door.accept()[0].close()
            wait_until(lambda: is_let_in(addresses, addresses.stranger), 60)
