"""A small Debian of this machine's release, made once by debootstrap and kept: what test machines start from.

It has what a person's bare Debian has (systemd, apt with its lists, curl) and, fetched but not installed, the one
package that the agent depends on. Packages come from the mirror that apt uses here.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.diary import progress

PACKAGES: Final = ("systemd", "systemd-sysv", "dbus", "python3", "curl", "ca-certificates", "procps", "netbase")
TO_BE_INSTALLED: Final = "python3-jeepney"
KERNEL: Final = ("linux-image-cloud-amd64", "initramfs-tools", "zstd")
RELEASE: Final = platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def root() -> Path:
    """The folder, made now if it is not there. Fails the test where it cannot be."""
    return _kept(f"{RELEASE}-{_named(*PACKAGES, TO_BE_INSTALLED)}", _make)


def root_with_kernel() -> Path:
    """The same with a kernel of its own and the agent's dependency, for a machine under QEMU."""
    name = f"{RELEASE}-{_named(*PACKAGES, TO_BE_INSTALLED, *KERNEL)}"
    made_of = root()
    return _kept(name, lambda folder: _add_a_kernel(made_of, folder))


def _named(*packages: str) -> str:
    return hashlib.sha256(" ".join((*packages, RELEASE)).encode()).hexdigest()[:12]


def _kept(name: str, make: Callable[[Path], None]) -> Path:
    """What was made under this name; two suites at once make it once."""
    if os.geteuid() != 0:
        pytest.fail("only root can make and boot a machine: CI runs this suite as root")
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "signage-fleet"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (kept / name).exists():
            draft = kept / f"{name}.draft"
            shutil.rmtree(draft, ignore_errors=True)
            make(draft)
            draft.rename(kept / name)
    return kept / name


def _make(folder: Path) -> None:
    _must("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, str(folder), _mirror())
    _must("chroot", str(folder), "apt-get", "update", "-q")
    _must("chroot", str(folder), "apt-get", "install", "-q", "-y", "--download-only", TO_BE_INSTALLED)
    (folder / "etc/machine-id").write_text("")


def _add_a_kernel(made_of: Path, folder: Path) -> None:
    _must("cp", "-a", str(made_of), str(folder))
    _must("mount", "--bind", "/proc", str(folder / "proc"))
    try:
        install = ("apt-get", "install", "-q", "-y", "--no-install-recommends", *KERNEL, TO_BE_INSTALLED)
        _must("chroot", str(folder), "env", "DEBIAN_FRONTEND=noninteractive", *install)
    finally:
        _must("umount", str(folder / "proc"))


def _mirror() -> str:
    """Where apt gets this release's main part from."""
    told = _must("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")
    found = [line.split()[2] for line in told.splitlines() if line.split()[:2] == [RELEASE, "main"]]
    if not found:
        pytest.fail(f"apt knows no mirror of {RELEASE}: apt-get update")
    return found[0]


def _must(*command: str) -> str:
    """What the command says, while it says it: debootstrap may take minutes, and a mute test is ended."""
    said = list[str]()
    try:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
            for line in running.stdout or ():
                said.append(line)
                progress(line.strip()[:80])
    except OSError as error:
        pytest.fail(f"{command[0]} is missing here ({error.strerror}): deploy/local/prerequisites.py names its package")
    if running.returncode != 0:
        pytest.fail(f"{' '.join(command)}: {''.join(said)[-3000:]}")
    return "".join(said)
