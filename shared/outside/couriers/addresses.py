"""Which addresses a channel may reach. The check is on the IP address that the connection uses.

A name may resolve to another address a moment after the check. So a courier looks the name up once, checks each
address and connects to a checked one.
"""

import ipaddress
import socket
from typing import Final

from msgspec import Struct

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
WRAPPED: Final = (ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("::ffff:0:0:0/96"), NAT64)
"""IPv6 networks whose last 32 bits are an IPv4 address."""
NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(text)
    for text in ("64:ff9b:1::/48", "fec0::/10", "3fff::/20", "5f00::/16", "192.0.0.0/24", "192.88.99.0/24")
)
"""Local NAT64, old site-local addresses, documentation, segment routing, protocols, old relays.

Python treats them as public.
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
    if not parsed.is_global or any(parsed in network for network in NOT_PUBLIC):
        # Private, shared (100.64/10), documentation, benchmarks.
        return reach.private and not parsed.is_reserved
    return True


def _inner(address: Address) -> Address:
    """The IPv4 address inside an IPv6 address, or the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if int(address) > 1 and any(address in network for network in WRAPPED):  # :: and ::1 wrap nothing
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None) or address


def look_up(host: str, port: int, reach: Reach) -> list[str]:
    """The allowed addresses of this host, in the resolver's order.

    Raises AddressRefused when an address is not allowed, OSError for an unknown name.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not all(may_reach(address, reach) for address in addresses):  # one forbidden address refuses the host
        raise AddressRefused
    return addresses
