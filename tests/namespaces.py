"""Two network namespaces with a link that tests can cut: then all packets are lost without an error."""

import ctypes
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

NAMED: Final = Path("/run/netns")
HERE: Final = Path("/proc/thread-self/ns/net")
CLONE_NEWNET: Final = 0x40000000
NEAR, FAR = "198.18.0.1", "198.18.0.2"  # from a range that no network uses


@dataclass(frozen=True)
class Networks:
    """The names of the namespaces. `NEAR` is the address of `near` on the link, `FAR` that of `far`."""

    near: str
    far: str

    def cut(self) -> None:
        """Cut the link at its far end: packets from `near` are lost without an error."""
        _ip("-n", self.far, "link", "set", "wire", "down")

    def mend(self) -> None:
        _ip("-n", self.far, "link", "set", "wire", "up")


@contextmanager
def two_networks() -> Iterator[Networks]:
    """Two namespaces, removed afterwards. Needs root."""
    name = f"signage-{secrets.token_hex(3)}"
    made = Networks(f"{name}-near", f"{name}-far")
    try:
        for network in (made.near, made.far):
            _ip("netns", "add", network)
            _ip("-n", network, "link", "set", "lo", "up")
        _ip("-n", made.near, "link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", made.far)
        for network, address in ((made.near, NEAR), (made.far, FAR)):
            _ip("-n", network, "address", "add", f"{address}/30", "dev", "wire")
            _ip("-n", network, "link", "set", "wire", "up")
        yield made
    finally:
        for network in (made.near, made.far):
            subprocess.run(["ip", "netns", "delete", network], check=False, capture_output=True)


def _ip(*arguments: str) -> None:
    """Run `ip`. Fails the test with its output when the kernel or a container forbids it."""
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(f"no network namespace can be made here: ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def inside(network: str) -> Iterator[None]:
    """In this block, this thread and its new processes and threads are in that namespace."""
    with HERE.open() as before, (NAMED / network).open() as there:
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(before.fileno())


def _enter(network: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(network, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "this thread cannot enter a network namespace")


def unwatched(port: int) -> list[str]:
    """The connections of this namespace from or to `port` without keepalive probes soon."""
    lines = Path("/proc/thread-self/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    fields = [line.split() for line in lines]
    ours = [one for one in fields if f"{port:04X}" in (one[1].rpartition(":")[2], one[2].rpartition(":")[2])]
    return [" ".join(one) for one in ours if one[3] == ESTABLISHED and not _is_soon(*one[5].split(":"))]


def _is_soon(timer: str, ticks: str) -> bool:
    return timer != NO_TIMER and int(ticks, 16) <= SOON_TICKS


ESTABLISHED: Final = "01"
NO_TIMER: Final = "00"
SOON_TICKS: Final = 2_000  # of a hundredth of a second: 20 s
