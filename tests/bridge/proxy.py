"""A TCP proxy on loopback that simulates network faults: slow, silent or cut."""

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from deploy.parts.layout import LOOPBACK


class Proxy:
    """Forwards connections to `target`.

    While `hold_upward` is set no data go from the caller to the target; while `hold_downward` is set none come back.
    `delay_seconds` delays each piece of data. `most_downward`: after so many bytes none come back to a caller either.
    """

    def __init__(self, target: int, port: int = 0, host: str = LOOPBACK) -> None:
        """Listen on `port` of `host`, or on a free port."""
        self.hold_upward = threading.Event()
        self.hold_downward = threading.Event()
        self.delay_seconds = 0.0
        self.most_downward: int | None = None
        self._target = target
        self._listener = socket.create_server((host, port))
        self.port: int = self._listener.getsockname()[1]
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(OSError):
                caller, _ = self._listener.accept()
                target = socket.create_connection((LOOPBACK, self._target))
                self._pairs.append((caller, target))
                thread = threading.Thread(target=self._forward, args=(caller, target), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _forward(self, caller: socket.socket, target: socket.socket) -> None:
        with caller, target, selectors.DefaultSelector() as selector, contextlib.suppress(OSError):
            selector.register(target, selectors.EVENT_READ, caller)
            selector.register(caller, selectors.EVENT_READ, target)
            downward = 0
            while not self._stop.is_set():
                for key, _ in selector.select(0.02):
                    is_upward = key.fileobj is caller
                    is_full = not is_upward and self.most_downward is not None and downward >= self.most_downward
                    if is_full or (self.hold_upward if is_upward else self.hold_downward).is_set():
                        self._stop.wait(0.005)
                        continue
                    data = key.fileobj.recv(65536)  # type: ignore[union-attr]  # only sockets are registered
                    if not data:
                        return
                    downward += 0 if is_upward else len(data)
                    self._stop.wait(self.delay_seconds)
                    key.data.sendall(data)

    def cut(self) -> None:
        """End every connection at once; held data are lost."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """Like `cut`, but both ends get a reset."""
        for pair in self._pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.cut()

    def close(self) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join(60)


@contextmanager
def proxied(target: int, port: int = 0, host: str = LOOPBACK) -> Iterator[Proxy]:
    """A proxy in front of this local port."""
    proxy = Proxy(target, port, host)
    try:
        yield proxy
    finally:
        proxy.close()
