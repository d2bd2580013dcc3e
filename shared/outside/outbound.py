"""TCP connections that leave this machine: directly, or through the proxy of OUTBOUND_PROXY.

Public addresses go through the proxy, others directly: the proxy is the way out of the network, and not a way to what
stands inside. It gets the address that was looked up and judged here, so a name cannot lead it elsewhere. Nothing is
read from the environment: a proxy that somebody set there must not see secrets.
"""

import socket
import time
from collections.abc import Sequence
from typing import Final

from shared.http_proxy import HttpProxy
from shared.outside.couriers.addresses import is_public

MOST_TRIED: Final = 4
LONGEST_HEAD: Final = 8192  # bytes of the proxy's answer


class ProxyFault(OSError):
    """The proxy gave no connection. The text has no secret."""

    def __init__(self, status: int | None) -> None:
        """`status`: its answer; None: it does not answer as a proxy."""
        super().__init__("OUTBOUND_PROXY " + ("does not answer" if status is None else f"answers {status}"))
        self.status = status


def connected(addresses: Sequence[str], port: int, until: float, proxy: HttpProxy | None) -> socket.socket:
    """A connection to the first of these addresses that accepts one, before the monotonic time `until`.

    Raises OSError: the last fault.
    """
    last: OSError = TimeoutError()
    for address in addresses[:MOST_TRIED]:
        left = until - time.monotonic()
        if left <= 0:
            break
        try:
            if proxy is None or not is_public(address):
                return socket.create_connection((address, port), timeout=left)
            return _through(proxy, address, port, until)
        except OSError as error:
            last = error
    raise last


def connected_by_name(host: str, port: int, until: float, proxy: HttpProxy | None) -> socket.socket:
    """A connection to a host that the deployer named. A name that is not known here is left to the proxy."""
    if proxy is None:
        return socket.create_connection((host, port), timeout=max(0.001, until - time.monotonic()))
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror:
        return _through(proxy, host, port, until)
    return connected(list(dict.fromkeys(str(entry[4][0]) for entry in found)), port, until, proxy)


def _through(proxy: HttpProxy, host: str, port: int, until: float) -> socket.socket:
    """A connection that the proxy made. Raises ProxyFault, TimeoutError."""
    try:
        raw = socket.create_connection((proxy.host, proxy.port), timeout=max(0.001, until - time.monotonic()))
    except OSError:
        raise ProxyFault(None) from None
    try:
        status = _asked(raw, proxy, proxy.authority(host, port), until)
    except OSError as error:
        raw.close()
        raise error if isinstance(error, TimeoutError) else ProxyFault(None) from None
    if status is None or not 200 <= status < 300:
        raw.close()
        raise ProxyFault(status)
    return raw


def _asked(raw: socket.socket, proxy: HttpProxy, target: str, until: float) -> int | None:
    """The status with which the proxy answers; None: it does not answer as a proxy."""
    login = f"Proxy-Authorization: {proxy.authorization}\r\n" if proxy.authorization else ""
    raw.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{login}\r\n".encode())
    return _status_of(_head(raw, until))


def _head(raw: socket.socket, until: float) -> bytes:
    """The head of the proxy's answer. What follows is the receiver's, so no byte more is read."""
    head = bytearray()
    while not head.endswith(b"\r\n\r\n") and len(head) < LONGEST_HEAD:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        raw.settimeout(left)
        if not (byte := raw.recv(1)):
            break
        head += byte
    return bytes(head)


def _status_of(head: bytes) -> int | None:
    words = head.split(b"\r\n", 1)[0].split(b" ")
    is_answer = words[0].startswith(b"HTTP/1.") and len(words) > 1 and head.endswith(b"\r\n\r\n")
    return int(words[1]) if is_answer and words[1].isdigit() else None
