"""A machine with a kernel, a boot id and a disk of its own: QEMU, by emulation alone.

Its disk keeps what the machine has flushed when the power is cut, and nothing else. Loopback's ports in the machine are
those of this one, so that it reaches a stack here.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import display_package as package
from deploy.parts.probes import free_port
from displays.client.credentials import Credentials
from tests import debian
from tests.machines.displays.bare import PLAYER
from tests.machines.displays.lines import WRITER, WRITTEN, lines_lost_and_twice, writer
from tests.stack import eventually

FORWARD: Final = """\
import contextlib, socket, sys, threading

def pump(one, other):
    with contextlib.suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    with contextlib.suppress(OSError):
        other.shutdown(socket.SHUT_WR)

def carry(here, port):
    with here, contextlib.suppress(OSError), socket.create_connection(("10.0.2.2", port)) as there:
        back = threading.Thread(target=pump, args=(there, here))
        back.start()
        pump(here, there)
        back.join()

def serve(port):
    door = socket.create_server(("127.0.0.1", port), backlog=64)
    while True:
        here, _ = door.accept()
        threading.Thread(target=carry, args=(here, port), daemon=True).start()

for port in map(int, sys.argv[1:]):
    threading.Thread(target=serve, args=(port,)).start()
"""
FORWARD_UNIT: Final = """\
[Service]
ExecStart=/usr/bin/python3 /root/forward.py {}
Restart=always
[Install]
WantedBy=multi-user.target
"""
SHELL_SOCKET: Final = "[Socket]\nListenStream=7000\nAccept=yes\n[Install]\nWantedBy=sockets.target\n"
SHELL_UNIT: Final = "[Service]\nExecStart=/bin/sh\nStandardInput=socket\nStandardOutput=socket\nStandardError=socket\n"
CONFIGURATION: Final = f"[display]\nplayer = kiosk.service\nunits = {WRITER}\nheartbeat_seconds = 5\n"
NETWORK: Final = "[Match]\nName=e*\n[Network]\nDHCP=yes\n"
AT_ANY_SPEED: Final = "[Manager]\nDefaultTimeoutStartSec=infinity\n"  # beside other suites a boot takes many minutes
JOURNAL_TO_CONSOLE: Final = "systemd.journald.forward_to_console=1"
RUN_SECONDS: Final = 120.0
UNITS: Final = (
    *("kiosk.service", "forward.service", "shell.socket"),
    *("signage-display.service", "signage-display-helper.socket"),
)


@dataclass
class Emulated:
    """One machine; `disk` is its disk, `console` its journal since it was switched on."""

    disk: Path
    kernel: Path
    initrd: Path
    console: Path
    process: subprocess.Popen[bytes] | None = field(default=None)
    shell: int = field(default_factory=free_port)

    def boot(self, *options: str) -> None:
        """Switch it on. Its console begins anew."""
        self.console.unlink(missing_ok=True)
        monitor = f"unix:{self._monitor},server,nowait"
        machine = ("-machine", "q35,accel=tcg", "-m", "512", "-display", "none", "-qmp", monitor)
        disk = ("-drive", f"file={self.disk},if=virtio,format=raw,cache=writeback")
        shell = f"hostfwd=tcp:127.0.0.1:{self.shell}-:7000"
        network = ("-netdev", f"user,id=net,{shell}", "-device", "virtio-net-pci,netdev=net,id=nic")
        kernel = ("-kernel", str(self.kernel), "-initrd", str(self.initrd))
        words = ("-append", f"root=/dev/vda rw console=ttyS0 quiet no_timer_check {JOURNAL_TO_CONSOLE}")
        serial = ("-serial", f"file:{self.console}")
        command = ("qemu-system-x86_64", *machine, *disk, *network, *kernel, *words, *serial, *options)
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    @property
    def _monitor(self) -> Path:
        return self.disk.with_name("monitor")

    def run(self, lines: str) -> str:
        """What lines for a shell of root say in there. The machine must be up, and its network too."""
        with socket.create_connection(("127.0.0.1", self.shell), timeout=RUN_SECONDS) as door:
            door.sendall(lines.encode())
            door.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: door.recv(65_536), b"")).decode("utf-8", "replace")

    def found_no_connection(self) -> bool:
        """Whether its agent has said so since it was switched on. The machine needs no network for this answer."""
        return self.console.exists() and b'"event": "connect_retry"' in self.console.read_bytes()

    def begin_to_write(self) -> None:
        """Start the writer, now and at each boot. What stood in journald before the agent's first start is not sent."""
        self.run(f"systemctl enable --quiet --now {WRITER}")

    def lines_lost_and_twice(self, stored: Callable[[], list[str]]) -> tuple[int, int, int]:
        """Stop the writer; how many lines journald has, how many are not stored, and how many are stored twice."""
        return lines_lost_and_twice(self.run(f"systemctl stop {WRITER}; {' '.join(WRITTEN)}"), stored)

    def plug_network(self, *, into: bool) -> None:
        """Plug its cable into the network, or pull it; it is done when this returns."""
        pull_or_plug = {"execute": "set_link", "arguments": {"name": "nic", "up": into}}
        with self._open_monitor() as door, door.makefile("rw", encoding="utf-8") as lines:
            door.settimeout(RUN_SECONDS)
            for order in ({"execute": "qmp_capabilities"}, pull_or_plug):
                lines.write(json.dumps(order))
                lines.flush()
                answer = next(said for said in map(json.loads, lines) if said.keys() & {"return", "error"})
                assert "return" in answer, answer

    def _open_monitor(self) -> socket.socket:
        """A machine that has just been switched on opens it a moment later."""

        def opened() -> socket.socket | None:
            door = socket.socket(socket.AF_UNIX)
            try:
                door.connect(str(self._monitor))
            except OSError:
                door.close()
                return None
            return door

        return eventually(opened, "the monitor of the machine")

    def cut_power(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def file(self, path: str) -> str:
        """A file as a machine that boots now would find it; its disk is left as it is."""
        copy = self.disk.with_name("copy.img")
        _must("cp", "--sparse=always", str(self.disk), str(copy))
        subprocess.run(["e2fsck", "-p", str(copy)], check=False, capture_output=True)  # what a mount does: the log
        command = ("debugfs", "-R", f"cat {path}", str(copy))
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def emulated(
    folder: Path, login: Credentials, ports: Sequence[int], release: str = debian.RELEASE
) -> Iterator[Emulated]:
    """A machine with the agent and this login, off; nothing of it is left after the block."""
    if shutil.which("qemu-system-x86_64") is None:
        pytest.fail("qemu-system-x86_64 is missing here: deploy/local/prerequisites.py names its package")
    root = debian.root_with_kernel(release)
    boot = root / "boot"
    kernel, initrd = (next(boot.glob(pattern)) for pattern in ("vmlinuz-*", "initrd.img-*"))
    made = Emulated(folder / "disk.img", kernel, initrd, folder / "console.txt")
    _make_the_disk(folder, root, made.disk, login, ports)
    try:
        yield made
    finally:
        if made.process is not None and made.process.poll() is None:
            made.cut_power()


def _make_the_disk(folder: Path, lower: Path, disk: Path, login: Credentials, ports: Sequence[int]) -> None:
    upper, work, root = folder / "upper", folder / "work", folder / "root"
    for one in (upper, work, root):
        one.mkdir(parents=True)
    layers = f"lowerdir={lower},upperdir={upper},workdir={work}"
    _must("mount", "-t", "overlay", "overlay", "-o", layers, str(root))
    try:
        _fill(root, login, ports)
        with disk.open("wb") as file:
            file.truncate(2_000_000_000)
        _must("mkfs.ext4", "-q", "-F", "-d", str(root), str(disk))
    finally:
        _must("umount", "--lazy", str(root))


def _fill(root: Path, login: Credentials, ports: Sequence[int]) -> None:
    package.build(root / "root")
    _must("chroot", str(root), "dpkg", "--install", "/root/signage-display.deb")
    state = root / "var/lib/signage-display"
    login.save(state / "credentials.json")
    owner = state.stat()
    os.chown(state / "credentials.json", owner.st_uid, owner.st_gid)
    files = {
        "etc/signage-display/display.conf": CONFIGURATION,
        "etc/systemd/system/kiosk.service": PLAYER,
        f"etc/systemd/system/{WRITER}": writer(1),
        "etc/systemd/system/forward.service": FORWARD_UNIT.format(" ".join(map(str, ports))),
        "etc/systemd/system/shell.socket": SHELL_SOCKET,
        "etc/systemd/system/shell@.service": SHELL_UNIT,
        "etc/systemd/network/all.network": NETWORK,
        "etc/systemd/system.conf.d/speed.conf": AT_ANY_SPEED,
        "root/forward.py": FORWARD,
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    _must("systemctl", f"--root={root}", "enable", *UNITS, "systemd-networkd.service")


def _must(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
