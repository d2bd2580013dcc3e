"""Boot the disk of a box with the kernel of its release, to check what systemd-nspawn cannot show.

In systemd-nspawn a unit may see more of /proc than on a machine, and units cannot be limited to this machine's address.
QEMU emulates the processor, so this campaign does not measure the speed of a box.
"""

import contextlib
import shutil
import subprocess
from collections.abc import Collection
from pathlib import Path
from typing import Final

from tests import debian
from tests.worker.decks import make_pptx

PATIENCE_SECONDS: Final = 900.0
DISK_BYTES: Final = 8 * 10**9
PROBE: Final = """\
#!/bin/bash
ask() { curl --silent --insecure --header 'Host: signage.example.com' "${@:2}" "https://127.0.0.1$1"; }
token="Authorization: Bearer $(cat /var/lib/signage/secrets/admin_token)"
until [[ $(ask /api/health/ready) == *'"status":"ready"'* ]]; do sleep 1; done
echo "PROBE ready"
until [[ $(curl --silent http://127.0.0.1:3000/health) =~ '"starting": false' ]]; do sleep 1; done
echo "PROBE converter $(curl --silent http://127.0.0.1:3000/health)"
[[ $(ask /api/event-media --header "$token" --form file=@/root/deck.pptx) =~ '"id":'([0-9]+) ]]
medium=${BASH_REMATCH[1]}
until [[ $(ask "/api/conversions/$medium/status" --header "$token") =~ '"status":"'(ready|failed) ]]; do sleep 1; done
echo "PROBE deck ${BASH_REMATCH[1]}"
far() { systemd-run --quiet --pipe --wait "$@" timeout 60 bash -c 'exec 3<>/dev/tcp/10.0.2.2/9' 2>&1 | tr '\n' ' '; }
echo "PROBE another machine: $(far)"
echo "PROBE another machine, by a unit that may reach this one alone: $(far --property=IPAddressDeny=any)"
systemctl poweroff
"""
UNIT: Final = """\
[Service]
Type=oneshot
ExecStart=/root/probe
StandardOutput=journal+console
[Install]
WantedBy=multi-user.target
"""
FAR: Final = "another machine:"
FAR_DENIED: Final = "another machine, by a unit that may reach this one alone:"
NETWORK: Final = "[Match]\nName=e*\n[Network]\nDHCP=yes\n"


def said_on_a_kernel(root: Path, release: str, folder: Path) -> list[str]:
    """The results of the probe on the box with the disk `root`, which is changed."""
    lower = debian.root_with_kernel(release)
    _prepare(root, lower, folder)
    disk, console = folder / "disk.img", folder / "console.txt"
    with disk.open("wb") as file:
        file.truncate(DISK_BYTES)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-d", str(root), str(disk)], check=True)
    _boot(lower / "boot", disk, console)
    lines = console.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line.partition("PROBE ")[2] for line in lines if "PROBE " in line]


def judged(said: Collection[str]) -> dict[str, bool]:
    """The conditions from the probe's results. The other machine has no open port, so it refuses connections."""
    answers = {start: one.removeprefix(start) for start in (FAR, FAR_DENIED) for one in said if one.startswith(start)}
    where = "on a kernel of its own"
    return {
        f"{where} all is ready": "ready" in said,
        f"{where} LibreOffice's sandbox works": any('"isolation": "bubblewrap"' in one for one in said),
        f"{where} a deck becomes a PDF": "deck ready" in said,
        f"{where} a unit that may reach this machine alone reaches no other": "refused" in answers.get(FAR, "")
        and "refused" not in answers.get(FAR_DENIED, "refused"),
    }


def _prepare(root: Path, lower: Path, folder: Path) -> None:
    for fetched in ("var/cache/apt/archives", debian.WHEELS):
        shutil.rmtree(root / fetched)
    shutil.copytree(lower / "usr/lib/modules", root / "usr/lib/modules", dirs_exist_ok=True)
    make_pptx(folder / "probe.pptx", 2, seed=3)
    shutil.copy(folder / "probe.pptx", root / "root/deck.pptx")
    (root / "root/probe").write_text(PROBE, encoding="ascii")
    (root / "root/probe").chmod(0o755)
    (root / "etc/systemd/system/probe.service").write_text(UNIT, encoding="ascii")
    (root / "etc/systemd/network/all.network").write_text(NETWORK, encoding="ascii")
    units = ("probe.service", "systemd-networkd.service")
    subprocess.run(["systemctl", f"--root={root}", "enable", *units], check=True, capture_output=True)
    subprocess.run(["systemctl", f"--root={root}", "disable", "like-a-machine"], check=True, capture_output=True)


def _boot(boot: Path, disk: Path, console: Path) -> None:
    """Boot, and wait until the machine has switched itself off; end it after a timeout."""
    machine = ("-machine", "q35,accel=tcg", "-cpu", "max", "-smp", "2", "-m", "3072", "-display", "none", "-no-reboot")
    network = ("-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net")
    parts = ("-drive", f"file={disk},if=virtio,format=raw", "-serial", f"file:{console}", "-monitor", "none", *network)
    kernel = ("-kernel", str(next(boot.glob("vmlinuz-*"))), "-initrd", str(next(boot.glob("initrd.img-*"))))
    words = ("-append", "root=/dev/vda rw console=ttyS0 quiet no_timer_check")
    command = ("qemu-system-x86_64", *machine, *parts, *kernel, *words)
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_SECONDS)
