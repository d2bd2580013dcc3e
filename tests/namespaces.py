"""Two networks of the kernel's own with a link between them that can be cut: no packet passes, nobody is told."""

import ctypes
import os
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
NEAR, FAR = "198.18.0.1", "198.18.0.2"  # of a range that no network uses


@dataclass(frozen=True)
class Networks:
    """Their names. `NEAR` is the address of `near` on the link, `FAR` that of `far`."""

    near: str
    far: str

    def cut(self) -> None:
        """The link is down at its far end: what `near` sends is lost without a word."""
        _ip("-n", self.far, "link", "set", "wire", "down")

    def mend(self) -> None:
        _ip("-n", self.far, "link", "set", "wire", "up")


@contextmanager
def two_networks() -> Iterator[Networks]:
    """Gone afterwards. Only root can make them; for anybody else the test is skipped and the summary says why."""
    if os.geteuid() != 0:
        pytest.skip("only root can make network namespaces: CI runs this test as root")
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
    """Fails the test, with what `ip` says, where the kernel or a container's rules forbid it."""
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(f"root cannot make network namespaces here: ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextmanager
def inside(network: str) -> Iterator[None]:
    """This thread, and every process and thread that it starts, is in that network for as long as the block lasts."""
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
    """The connections of this network from or to `port` whose other end is not asked soon whether it is there."""
    lines = Path("/proc/thread-self/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    fields = [line.split() for line in lines]
    ours = [one for one in fields if f"{port:04X}" in (one[1].rpartition(":")[2], one[2].rpartition(":")[2])]
    return [" ".join(one) for one in ours if one[3] == ESTABLISHED and not _is_soon(*one[5].split(":"))]


def _is_soon(timer: str, ticks: str) -> bool:
    return timer != NO_TIMER and int(ticks, 16) <= SOON_TICKS


ESTABLISHED: Final = "01"
NO_TIMER: Final = "00"
SOON_TICKS: Final = 2_000  # of a hundredth of a second: 20 s
