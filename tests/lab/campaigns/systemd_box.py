"""A box with systemd: a Debian in its own network, set up and operated with the commands of the guides.

It runs in systemd-nspawn (tests/nspawn.py) with this machine's kernel, so data that the kernel has not yet written to
the disk survive a power cut.
"""

import contextlib
import ctypes
import os
import re
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests import debian
from tests.lab.campaigns.disk import CLONE_NEWNS
from tests.lab.campaigns.guides import block
from tests.lab.campaigns.two_doors import HOST, TwoDoors
from tests.namespaces import FAR, inside, two_networks
from tests.nspawn import Machine, machine
from tests.stack import Api

UNITS: Final = REPOSITORY / "deploy" / "systemd"
ALL: Final = re.findall(r"signage-[\w-]+\.service", (UNITS / "signage.target").read_text(encoding="utf-8"))
STAY: Final = [name for name in ALL if "Restart=always" in (UNITS / name).read_text(encoding="utf-8")]
START: Final = "systemctl enable --now signage.target"
SOURCE: Final = "/srv/signage.git"
CERTIFICATES: Final = "/root/certificates"
SECRETS: Final = "/var/lib/signage/secrets"
ENVIRONMENT: Final = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INDEX": "1",
    "PIP_FIND_LINKS": f"/{debian.WHEELS}",
    "EDITOR": "sed -i s,^DISPLAYS_CA_FILE=.*,DISPLAYS_CA_FILE=/etc/signage/ca.pem,",
}
LIKE_A_MACHINE: Final = """\
# nspawn shows /proc/sys read-only, as no machine does; LibreOffice's sandbox writes there.
[Unit]
DefaultDependencies=no
After=systemd-sysctl.service
Before=sysinit.target

[Service]
Type=oneshot
ExecStart=umount --lazy /proc/sys

[Install]
WantedBy=sysinit.target
"""


def packages() -> list[str]:
    """The packages that deploying.md tells people to install."""
    found = re.search(r"apt-get install --no-install-recommends ((?:.*\\\n)*.*)", _guide())
    assert found
    return found[1].replace("\\", "").split()


def set_up_lines() -> tuple[str, str]:
    """The commands of deploying.md: until everything is started, and after that."""
    lines = _guide().replace("git clone …", f"git clone {SOURCE}").replace("…/", f"{CERTIFICATES}/")
    before, start, after = lines.partition(START)
    return before, start + after


def certificate_lines(*, again: bool = False) -> str:
    """The commands of deploying.md for a trial certificate: with the authority, or `again` only the certificate."""
    commands = block("deploying.md", "openssl req -x509").replace("\\\n", "").splitlines()
    return "\n".join(commands[1:] if again else commands)


def renewal_line(lineage: str) -> str:
    """The command of deploying.md that brings a renewed certificate to the doors."""
    return block("deploying.md", "RENEWED_LINEAGE").strip().replace("FOLDER", lineage)


def _guide() -> str:
    return block("deploying.md", "systemctl start signage-setup")


@dataclass(frozen=True)
class Box:
    """The machine and its doors."""

    machine: Machine

    @property
    def doors(self) -> TwoDoors:
        return TwoDoors(HOST, 443, 8883, self.machine.root / CERTIFICATES[1:] / "ca.pem")

    def api(self) -> Api:
        """A caller with the admin's token."""
        return Api(f"https://{HOST}", self.secret("admin_token"), str(self.doors.ca))

    def secret(self, name: str) -> str:
        return (self.machine.root / SECRETS[1:] / name).read_text(encoding="utf-8").strip()

    def run(self, lines: str) -> str:
        """Run commands as root in the machine. Returns their output. Raises RuntimeError with it if one fails."""
        told = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        done = self.machine.try_to("env", "-i", *told, "bash", "-e", "-o", "pipefail", "-c", lines)
        if done.returncode:
            raise RuntimeError(f"{lines}\nended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
        return done.stdout

    def lives(self, units: Collection[str] = ()) -> dict[str, str]:
        """Active unit -> id of its present start."""
        shown = self.run(f"systemctl show --property=Id,InvocationID,ActiveState {' '.join(units or self.units)}")
        found = [dict(line.split("=", 1) for line in one.splitlines()) for one in shown.strip().split("\n\n")]
        return {one["Id"]: one["InvocationID"] for one in found if one["ActiveState"] == "active"}

    @property
    def units(self) -> list[str]:
        """The units of the product, and Debian's Postgres."""
        clusters = (self.machine.root / "etc/postgresql").glob("*/*")
        return [*ALL, *(f"postgresql@{one.parent.name}-{one.name}.service" for one in clusters)]

    def is_whole(self, gone: Collection[str] = ()) -> bool:
        """Whether both doors are open and every unit is active, in another start than those in `gone`."""
        try:
            lives = self.lives()
        except RuntimeError:  # the machine is off
            return False
        return set(lives) == set(self.units) and not set(gone) & set(lives.values()) and self.doors.are_open()


@contextlib.contextmanager
def box_of_its_own(folder: Path, release: str) -> Iterator[Box]:
    """An empty machine, removed after the block. From then on this process has its own mount namespace."""
    root = debian.root_for_a_box(release, packages(), REPOSITORY / "requirements.lock")
    _name(folder / "hosts", f"{FAR} {HOST}\n")
    with two_networks() as networks, inside(networks.near), machine(folder / "box", root, _fill, networks.far) as made:
        yield Box(made)


def _fill(root: Path) -> None:
    """Add what a person brings: the code, the answer to apt's question, folders for certificates and backups."""
    source = root / SOURCE[1:]
    subprocess.run(["git", "clone", "--quiet", "--bare", "--depth=1", f"file://{REPOSITORY}", str(source)], check=True)
    (root / "etc/apt/apt.conf.d/90yes").write_text('APT::Get::Assume-Yes "true";\n', encoding="ascii")
    for name in (CERTIFICATES, "/backup"):
        (root / name[1:]).mkdir(mode=0o700)
    unit = root / "etc/systemd/system/like-a-machine.service"
    unit.write_text(LIKE_A_MACHINE, encoding="ascii")
    subprocess.run(["systemctl", f"--root={root}", "enable", unit.name], check=True, capture_output=True)


def _name(hosts: Path, line: str) -> None:
    """Let this thread and its processes resolve the box's name."""
    hosts.write_text(f"127.0.0.1 localhost\n{line}", encoding="ascii")
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
