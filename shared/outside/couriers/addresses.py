"""Which addresses a channel may reach: judged after the name was looked up, on the very address that is used.

A name that is harmless when it is checked may mean another address a moment later. So a courier looks the name up
once, judges each address and connects to that one.
"""

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
WRAPPED: Final = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("::ffff:0:0:0/96"), NAT64)
"""IPv6 networks whose last 32 bits are an IPv4 address."""
NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(text)
    for text in ("64:ff9b:1::/48", "fec0::/10", "3fff::/20", "5f00::/16", "192.0.0.0/24", "192.88.99.0/24")
)
"""A network's own NAT64, site-local addresses of before, documentation, segment routing, protocols, relays of before.

Python takes them for public ones.
"""
METADATA: Final = tuple(
    ipaddress.ip_address(text)  # AWS and most others; AWS by IPv6; Oracle; Azure
    for text in ("169.254.169.254", "fd00:ec2::254", "192.0.0.192", "168.63.129.16")
)
NEVER: Final = "That address may not be notified from here: it is a machine's own, or a private one."


class AddressRefused(Exception):
    """The address is one that channels may not reach."""


@dataclass(frozen=True)
class Reach:
    """What may be reached besides public addresses. Link-local ones, metadata servers among them, never are."""

    loopback: bool
    private: bool


def may_reach(address: str, reach: Reach) -> bool:
    """Whether a channel may be sent to this IP address; False for text that is no address."""
    try:
        parsed = _inner(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    if parsed in METADATA or parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified:
        return False
    if parsed.is_loopback:
        return reach.loopback
    if not parsed.is_global or any(parsed in network for network in NOT_PUBLIC):
        # Private, shared (100.64/10), documentation, benchmarks.
        return reach.private and not parsed.is_reserved
    return True


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one only wraps."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if int(address) > 1 and any(address in network for network in WRAPPED):  # :: and ::1 are themselves
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None) or address


def look_up(host: str, port: int, reach: Reach) -> list[str]:
    """The addresses of this host that may be reached, in the resolver's order.

    Raises AddressRefused where it has none that may be, OSError where the name is not known.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not all(may_reach(address, reach) for address in addresses):  # one such address already makes the host a trick
        raise AddressRefused(NEVER)
    return addresses
