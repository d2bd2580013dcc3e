"""A machine with its own systemd, journald and boot id: systemd-nspawn on a copy of a Debian (tests/debian.py)."""

import contextlib
import os
import secrets
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import guardian
from tests.stack import eventually

BOOT: Final = """\
for group in $OWN_GROUPS; do echo $$ >$group/cgroup.procs; done
while systemd-nspawn "$@"; [ $? = 133 ]; do :; done
"""  # it ends with 133 when its machine reboots
OPTIONS: Final = ("--quiet", "--register=no", "--keep-unit", "--console=pipe", "--link-journal=no", "--boot")


@dataclass
class Machine:
    """One machine; `root` is the path of its root file system."""

    root: Path
    output: Path
    network: str = ""
    runner: subprocess.Popen[bytes] | None = field(default=None)
    groups: list[Path] = field(default_factory=lambda: _groups(f"machine-{secrets.token_hex(4)}"))

    def boot(self) -> None:
        """Switch it on, and wait until systemd has started everything."""
        self.switch_on()
        self.wait_until_booted()

    def switch_on(self) -> None:
        """Start the machine without waiting."""
        network = [f"--network-namespace-path=/run/netns/{self.network}"] if self.network else []
        place = ["-D", str(self.root), f"--machine={self.root.parent.name}"]
        for group in self.groups:
            group.mkdir(exist_ok=True)
        groups = {**os.environ, "OWN_GROUPS": " ".join(map(str, self.groups))}
        with self.output.open("ab") as written:
            self.runner = subprocess.Popen(
                ["sh", "-c", BOOT, "sh", *OPTIONS, *network, *place],
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
                env=groups,
            )

    def wait_until_booted(self, after: str = "") -> None:
        """Wait until systemd has started everything, in another boot than `after`."""

        def booted() -> bool:
            if self.runner is not None and self.runner.poll() is not None:
                said = self.output.read_text(errors="replace")[-3000:]
                raise AssertionError(f"systemd-nspawn does not boot here:\n{said}")
            said = self.try_to("systemctl", "is-system-running").stdout.strip()
            return said in {"running", "degraded"} and self.boot_id() != after

        eventually(booted, "the machine", 120)

    def boot_id(self) -> str:
        return self.try_to("cat", "/proc/sys/kernel/random/boot_id").stdout.strip()

    def cut_power(self) -> None:
        """Kill all its processes at once; its disk stays as it is."""
        assert self.runner is not None
        leader = self._leader()
        ending = _children(self.runner.pid)  # systemd-nspawn holds the lock of the machine's folder until its end
        for each in guardian.descendants(int(leader)) if leader else ():
            guardian.send(each, signal.SIGSTOP)  # the end of the others cannot be seen
        guardian.send_group(self.runner.pid, signal.SIGKILL)
        if leader:  # the first process of its namespace: the kernel ends all others; a reboot may have ended it
            guardian.send(int(leader), signal.SIGKILL)
            ending.append(leader)
        self.runner.wait()
        eventually(lambda: not any(map(_runs, ending)), "the end of the machine")

    def try_to(self, *command: str, user: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a command in the machine. Returns code 255 if the machine is off."""
        leader = self._leader()
        if not leader:
            return subprocess.CompletedProcess(command, 255, "", "the machine is off")
        as_user = ("runuser", "-u", user, "--") if user else ()
        enter = ("nsenter", "--target", leader, "--all", *as_user, *command)
        # In its own session: a `kill 0` in the machine would otherwise end this test's process group.
        return subprocess.run(
            enter, check=False, capture_output=True, text=True, errors="replace", start_new_session=True
        )

    def run(self, *command: str, user: str = "") -> str:
        """Run a command that must succeed. Returns its output."""
        done = self.try_to(*command, user=user)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def kill(self, unit: str) -> None:
        """Kill -9 the unit's main process, as soon as it has one."""
        kill = ("systemctl", "kill", "--signal=KILL", "--kill-whom=main", unit)
        eventually(lambda: self.try_to(*kill).returncode == 0, f"a main process of {unit}")

    def shown(self, unit: str, name: str) -> str:
        """One property of a unit."""
        return self.run("systemctl", "show", f"--property={name}", "--value", unit).strip()

    def _leader(self) -> str:
        """The process id, on this machine, of the machine's first process."""
        for nspawn in _children(self.runner.pid if self.runner else 0):
            for child in _children(int(nspawn)):
                return child
        return ""


def _groups(name: str) -> list[Path]:
    """The control groups of a machine, below those of this process. Two machines in one end each other's units."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()]
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()]
    unified = {place: "" for _, place, kind, *_ in mounts if kind == "cgroup2"}
    named = {
        place: "name=systemd"
        for _, place, kind, options, *_ in mounts
        if kind == "cgroup" and "name=systemd" in options
    }
    return [
        Path(place) / path.lstrip("/") / name
        for place, kind in (unified | named).items()
        for _, controllers, path in own
        if controllers == kind
    ]


def _remove(groups: list[Path]) -> None:
    """Remove the control groups of a machine that is off, the innermost first."""
    for group in groups:
        for folder in sorted(group.rglob("*/"), key=lambda one: len(one.parts), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()
        with contextlib.suppress(OSError):
            group.rmdir()


def _runs(pid: str) -> bool:
    """Whether this process still runs. Its new parent may leave an ended process in the list for a long time."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def _children(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []


@contextmanager
def machine(folder: Path, lower: Path, fill: Callable[[Path], None], network: str = "") -> Iterator[Machine]:
    """A machine on a copy of `lower` with the files that `fill` adds. It runs during the block, and leaves nothing.

    `network` is the name of a network namespace; without one it shares this machine's network.
    """
    upper, work, root = folder / "upper", folder / "work", folder / "root"
    for one in (upper, work, root):
        one.mkdir(parents=True)
    layers = f"lowerdir={lower},upperdir={upper},workdir={work}"
    mounted = subprocess.run(
        ["mount", "-t", "overlay", "overlay", "-o", layers, str(root)], check=False, capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.fail(f"no overlay file system can be mounted here: {mounted.stderr.strip()}")
    fill(root)
    made = Machine(root, folder / "console.txt", network)
    try:
        made.boot()
        yield made
    finally:
        if made.runner is not None and made.runner.poll() is None:
            made.cut_power()
        _remove(made.groups)
        subprocess.run(["umount", "--lazy", str(root)], check=False)
