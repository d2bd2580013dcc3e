"""A network for one machine, in which this machine's loopback ports are reached, and which can be taken away."""

import contextlib
import secrets
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.namespaces import inside

CHUNK_BYTES = 65_536


@dataclass
class OwnNetwork:
    """A network namespace. Its loopback is all that it has."""

    name: str
    doors: list[socket.socket] = field(default_factory=list)

    def open(self, port: int) -> int:
        """Let this port lead to the same one of this machine. Returns the port."""
        with inside(self.name):
            door = socket.create_server(("127.0.0.1", port), backlog=64)
        self.doors.append(door)
        threading.Thread(target=_serve, args=(door, port), daemon=True).start()
        return port

    def take_away(self) -> None:
        """All packets are lost until it is brought back."""
        _ip("-n", self.name, "link", "set", "lo", "down")

    def bring_back(self) -> None:
        _ip("-n", self.name, "link", "set", "lo", "up")


@contextmanager
def own_network(ports: Sequence[int]) -> Iterator[OwnNetwork]:
    """A namespace with these ports, gone when the block ends."""
    made = OwnNetwork(f"signage-{secrets.token_hex(3)}")
    _ip("netns", "add", made.name)
    try:
        made.bring_back()
        for port in ports:
            made.open(port)
        yield made
    finally:
        for door in made.doors:
            with contextlib.suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
            door.close()
        _ip("netns", "delete", made.name)


def _serve(door: socket.socket, port: int) -> None:
    with contextlib.suppress(OSError):  # the door was closed
        while True:
            near, _ = door.accept()
            try:
                far = socket.create_connection(("127.0.0.1", port))
            except OSError:
                near.close()
                continue
            for pair in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=pair, daemon=True).start()


def _pump(one: socket.socket, other: socket.socket) -> None:
    """Pass on what comes until one side ends; a reset ends both."""
    end = socket.SHUT_WR
    try:
        while data := one.recv(CHUNK_BYTES):
            other.sendall(data)
    except OSError:
        end = socket.SHUT_RDWR
    with contextlib.suppress(OSError):
        other.shutdown(end)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
