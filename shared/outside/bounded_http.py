"""One HTTP request whose answer is bounded in size and in time.

The timeout of an ordinary client counts the time between two reads, so a peer that sends a byte now and then holds it
for ever. Here the socket is cut at the deadline. Redirects are not followed, and nothing is read from the environment
(no proxy of it, no .netrc). The one part without a bound of ours is looking up the host's name.
"""

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from shared.http_proxy import HttpProxy
from shared.outside import tls
from shared.outside.outbound import ProxyFault, connected_by_name

_BLOCK: Final = 1 << 16


class HttpAnswer(Struct, frozen=True):
    """The peer's whole answer."""

    status: int
    body: bytes


class NoAnswer(Exception):
    """The peer gave no whole answer within the bounds. The text has no address and no secret."""


def ask(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    deadline: timedelta,
    most_bytes: int,
    proxy: HttpProxy | None = None,
) -> HttpAnswer:
    """Send a request and read the answer, `deadline` in all and `most_bytes` of body. Raises NoAnswer."""
    until = time.monotonic() + deadline.total_seconds()
    try:
        return _exchange(method, url, headers, body, until, most_bytes, proxy)
    except ProxyFault as fault:
        raise NoAnswer(str(fault)) from fault
    except (OSError, http.client.HTTPException, ValueError) as error:
        if time.monotonic() >= until or isinstance(error, TimeoutError):
            raise NoAnswer(f"no answer within {deadline.total_seconds():g} s") from error
        raise NoAnswer(type(error).__name__) from error


def _exchange(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    until: float,
    most_bytes: int,
    proxy: HttpProxy | None,
) -> HttpAnswer:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    with (
        connected_by_name(parts.hostname or "", port, until, proxy) as raw,
        cut_at(until, raw) as is_cut,
    ):
        with contextlib.closing(over(parts.scheme, parts.hostname or "", port, raw)) as connection:
            connection.request(method, target, body, {**headers, "Connection": "close"})
            answer = connection.getresponse()
            content = _read(answer, most_bytes)
        if is_cut():  # http.client takes the end of the connection for the end of headers or body
            raise TimeoutError
        return HttpAnswer(answer.status, content)


def over(scheme: str, host: str, port: int, raw: socket.socket) -> http.client.HTTPConnection:
    """An HTTP connection over this socket. TLS checks the host name, not the address."""
    if scheme != "https":
        connection = http.client.HTTPConnection(host, port)
        connection.sock = raw
        return connection
    context = tls.trusting()
    connection = http.client.HTTPSConnection(host, port, context=context)
    connection.sock = context.wrap_socket(raw, server_hostname=host)
    return connection


@contextlib.contextmanager
def cut_at(until: float, raw: socket.socket) -> Iterator[Callable[[], bool]]:
    """Cut the connection at the monotonic time `until`. Yields whether it was cut.

    A slow peer would never reach the timeout of a single read.
    """
    mine = raw.dup()
    is_cut = threading.Event()

    def cut() -> None:
        is_cut.set()
        with contextlib.suppress(OSError):  # the other side was first
            mine.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, until - time.monotonic()), cut)
    timer.daemon = True
    timer.start()
    try:
        yield is_cut.is_set
    finally:
        timer.cancel()
        timer.join()
        mine.close()


def _read(answer: http.client.HTTPResponse, most_bytes: int) -> bytes:
    found = bytearray()
    while block := answer.read(min(_BLOCK, most_bytes + 1 - len(found))):
        found += block
        if len(found) > most_bytes:
            raise NoAnswer(f"the answer has more than {most_bytes} bytes")
    if answer.length:
        raise http.client.IncompleteRead(bytes(found))
    return bytes(found)
