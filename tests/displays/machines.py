"""A machine with its own systemd, journald and boot id: systemd-nspawn over a copy of the small Debian.

It shares the network of this machine, so that it reaches a stack on loopback.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import guardian
from tests.displays import debian
from tests.stack import eventually

BOOT: Final = 'while systemd-nspawn "$@"; [ $? = 133 ]; do :; done'  # it ends with 133 when its machine reboots
OPTIONS: Final = ("--quiet", "--register=no", "--keep-unit", "--console=pipe", "--link-journal=no", "--boot")

PLAYER: Final = """\
[Unit]
Description=A player that writes to its log whatever somebody appends to /run/kiosk
StartLimitIntervalSec=0

[Service]
ExecStart=/bin/sh -c ': >>/run/kiosk; exec tail -n 0 -f /run/kiosk'
Restart=on-failure
RestartSec=1

[Install]
WantedBy=multi-user.target
"""
BOOT_ID_IS_A_MOUNT: Final = """\
# Only in this container: its boot id is a mount over the host's, which these two options hide.
[Service]
ProtectControlGroups=no
ProtectKernelTunables=no
"""


@dataclass
class Machine:
    """One machine; `root` is its disk, seen from here."""

    root: Path
    output: Path
    runner: subprocess.Popen[bytes] | None = field(default=None)

    def boot(self) -> None:
        """Switch it on and wait until systemd says that everything runs."""
        with self.output.open("ab") as written:
            self.runner = subprocess.Popen(
                ["sh", "-c", BOOT, "sh", *OPTIONS, "-D", str(self.root), f"--machine={self.root.parent.name}"],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        self.wait_until_booted()

    def wait_until_booted(self, after: str = "") -> None:
        """Returns when systemd runs, in another boot than `after`."""

        def booted() -> bool:
            if self.runner is not None and self.runner.poll() is not None:
                pytest.fail(f"systemd-nspawn does not boot here:\n{self.output.read_text(errors='replace')[-3000:]}")
            said = self.try_to("systemctl", "is-system-running").stdout.strip()
            return said in {"running", "degraded"} and self.boot_id() != after

        eventually(booted, "the machine", 120)

    def boot_id(self) -> str:
        return self.try_to("cat", "/proc/sys/kernel/random/boot_id").stdout.strip()

    def cut_power(self) -> None:
        """Every process of it is gone at once; what was written to the disk stays."""
        assert self.runner is not None
        leader = self._leader()
        for each in guardian.descendants(int(leader)) if leader else ():
            guardian.send(each, signal.SIGSTOP)  # nobody sees the others go
        os.killpg(self.runner.pid, signal.SIGKILL)
        if leader:
            os.kill(int(leader), signal.SIGKILL)  # the first process of its namespace: the kernel ends all others
        self.runner.wait()
        eventually(lambda: not (leader and _runs(leader)), "the end of the machine")

    def try_to(self, *command: str, user: str = "") -> "subprocess.CompletedProcess[str]":
        """What a command in the machine says; code 255 where there is no machine just now."""
        leader = self._leader()
        if not leader:
            return subprocess.CompletedProcess(command, 255, "", "the machine is off")
        as_user = ("runuser", "-u", user, "--") if user else ()
        enter = ("nsenter", "--target", leader, "--all", *as_user, *command)
        return subprocess.run(enter, check=False, capture_output=True, text=True, errors="replace")

    def run(self, *command: str, user: str = "") -> str:
        """What a command says, that must succeed."""
        done = self.try_to(*command, user=user)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def shown(self, unit: str, name: str) -> str:
        """One property of a unit."""
        return self.run("systemctl", "show", f"--property={name}", "--value", unit).strip()

    def _leader(self) -> str:
        """The first process of the machine, as it is numbered here."""
        for nspawn in _children(self.runner.pid if self.runner else 0):
            for child in _children(int(nspawn)):
                return child
        return ""


def _runs(pid: str) -> bool:
    """Whether this process has not ended. Its new parent may leave the ended one in the list for a long time."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def _children(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []


def _add_a_player(units: Path) -> None:
    (units / "kiosk.service").write_text(PLAYER)
    (units / "multi-user.target.wants").mkdir(exist_ok=True)
    (units / "multi-user.target.wants/kiosk.service").symlink_to("../kiosk.service")
    (units / "signage-display.service.d").mkdir()
    (units / "signage-display.service.d/container.conf").write_text(BOOT_ID_IS_A_MOUNT)


@contextmanager
def machine(folder: Path) -> Iterator[Machine]:
    """A machine that runs for as long as the block lasts; nothing of it is left."""
    upper, work, root = folder / "upper", folder / "work", folder / "root"
    for one in (upper, work, root):
        one.mkdir(parents=True)
    layers = f"lowerdir={debian.root()},upperdir={upper},workdir={work}"
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", layers, str(root)], check=False, capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.fail(f"no overlay file system can be mounted here: {mounted.stderr.strip()}")
    _add_a_player(root / "etc/systemd/system")
    made = Machine(root, folder / "console.txt")
    try:
        made.boot()
        yield made
    finally:
        if made.runner is not None and made.runner.poll() is None:
            made.cut_power()
        subprocess.run(["umount", "--lazy", str(root)], check=False)
