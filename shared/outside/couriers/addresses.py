"""Which addresses a channel may reach. The check is on the IP address that the connection uses.

A name may resolve to another address a moment after the check. So a courier looks the name up once, checks each
address and connects to a checked one.
"""

import ipaddress
import socket
from typing import Final

from msgspec import Struct

from shared.http_proxy import HttpProxy

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
EMBEDDING: Final = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""IPv6 networks whose last 32 bits are the reached IPv4 address: compatible, mapped, translated, NAT64."""
TUNNELS: Final = tuple(map(ipaddress.IPv6Network, ("2002::/16", "2001::/32", "64:ff9b:1::/48")))
"""6to4, Teredo, a network's own NAT64: whoever runs the relay decides which IPv4 address is reached."""
UNICAST: Final = ipaddress.IPv6Network("2000::/3")
"""All public IPv6 addresses are in it."""
NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "3fff::/20"),
    )
)
"""What IANA's registries of special addresses do not call globally reachable, and all of two blocks for protocols.

Not Python's `is_global`: it follows the registries of its own day, and 3.11 and 3.13 differ.
"""
METADATA: Final = tuple(
    ipaddress.ip_address(text)  # AWS and most others; AWS by IPv6; Oracle; Azure
    for text in ("169.254.169.254", "fd00:ec2::254", "192.0.0.192", "168.63.129.16")
)


class AddressRefused(Exception):
    """Channels may not reach this address."""


class Reach(Struct, frozen=True):
    """The allowed addresses besides public ones. Link-local ones, such as metadata servers, are never allowed."""

    loopback: bool
    private: bool
    proxy: HttpProxy | None = None
    """The way to public ones; None: they are reached directly."""


def may_reach(address: str, reach: Reach) -> bool:
    """Whether a channel may reach this IP address; False for invalid addresses."""
    try:
        parsed = _inner(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    if parsed in METADATA or parsed.is_link_local or parsed.is_multicast or parsed.is_unspecified:
        return False
    if parsed.is_loopback:
        return reach.loopback
    if _is_globally_reachable(parsed):
        return True
    return reach.private and not parsed.is_reserved and not any(parsed in network for network in TUNNELS)


def _inner(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address, or the address itself."""
    if int(address) > 1 and any(address in network for network in EMBEDDING):  # :: and ::1 embed nothing
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_public(address: str) -> bool:
    """Whether this IP address is one of the internet."""
    return _is_globally_reachable(_inner(ipaddress.ip_address(address.partition("%")[0])))


def _is_globally_reachable(address: Address) -> bool:
    if any(address in network for network in (*NOT_PUBLIC, *TUNNELS)):
        return False
    return address.version == 4 or address in UNICAST


def look_up(host: str, port: int, reach: Reach) -> list[str]:
    """The allowed addresses of this host, in the resolver's order.

    Raises AddressRefused when an address is not allowed, OSError for an unknown name.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not all(may_reach(address, reach) for address in addresses):  # one forbidden address refuses the host
        raise AddressRefused
    return addresses
