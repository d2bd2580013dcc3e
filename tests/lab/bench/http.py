"""Requests over persistent connections, with as little overhead in this process as possible."""

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from deploy.parts.layout import LOOPBACK

CONNECTIONS = 4
WARM_UP = 20


@dataclass
class Caller:
    """A connection to a function, and a request that it repeats."""

    port: int
    path: str
    token: str = ""
    _socket: socket.socket | None = field(default=None, repr=False)

    def ask(self, path: str | None = None) -> bytes:
        """Send the request. Returns the body of the answer, whose status must be 200."""
        connection, data = self._asked(self._request(path or self.path))
        while b"\r\n\r\n" not in data:
            data += self._received(connection)
        head, _, body = data.partition(b"\r\n\r\n")
        assert b" 200 " in head.split(b"\r\n", 1)[0], data[:500]
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        parts, got = [body], len(body)
        while got < length:
            parts.append(self._received(connection))
            got += len(parts[-1])
        if b"connection: close" in head.lower():
            self.close()
        return b"".join(parts)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    def _request(self, path: str) -> bytes:
        bearer = f"Authorization: Bearer {self.token}\r\n" if self.token else ""
        return f"GET {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\n{bearer}\r\n".encode()

    def _asked(self, request: bytes) -> tuple[socket.socket, bytes]:
        """Send a request. Returns the connection and the beginning of the answer; reconnects after an idle timeout."""
        for _ in range(2):
            connection = self._connected()
            with contextlib.suppress(OSError):
                connection.sendall(request)
                if begun := connection.recv(1 << 20):
                    return connection, begun
            self.close()
        raise ConnectionResetError("closed before an answer")

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket = socket.create_connection((LOOPBACK, self.port), 60)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._socket

    def _received(self, connection: socket.socket) -> bytes:
        data = connection.recv(1 << 20)
        if not data:
            raise ConnectionResetError("closed in the middle of an answer")
        return data


def request_rate(port: int, path: str, token: str = "", seconds: float = 2.0) -> float:
    """Requests a second over a few concurrent connections."""
    callers = [Caller(port, path, token) for _ in range(CONNECTIONS)]
    for one in callers:
        for _ in range(WARM_UP // CONNECTIONS):
            one.ask()
    deadline = time.monotonic() + seconds

    def work(caller: Caller) -> int:
        count = 0
        while time.monotonic() < deadline:
            caller.ask()
            count += 1
        return count

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        count = sum(pool.map(work, callers))
    for one in callers:
        one.close()
    return count / seconds


def milliseconds(caller: Caller, path: str, times: int) -> list[float]:
    """Send `times` requests. Returns the milliseconds of each."""
    took = []
    for _ in range(times):
        began = time.monotonic()
        caller.ask(path)
        took.append(1000 * (time.monotonic() - began))
    return took
