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
from pathlib import Path
from typing import Final

import pytest

PACKAGES: Final = ("systemd", "systemd-sysv", "dbus", "python3", "curl", "ca-certificates", "procps", "netbase")
TO_BE_INSTALLED: Final = "python3-jeepney"
RELEASE: Final = platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def root() -> Path:
    """The folder, made now if it is not there; two suites at once make it once. Fails the test where it cannot be."""
    if os.geteuid() != 0:
        pytest.fail("only root can make and boot a machine: CI runs this suite as root")
    told = " ".join((*PACKAGES, TO_BE_INSTALLED, RELEASE))
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "signage-fleet"
    kept.mkdir(parents=True, exist_ok=True)
    made = kept / f"{RELEASE}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            draft = made.with_suffix(".draft")
            shutil.rmtree(draft, ignore_errors=True)
            _make(draft)
            draft.rename(made)
    return made


def _make(folder: Path) -> None:
    _must("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", RELEASE, str(folder), _mirror())
    _must("chroot", str(folder), "apt-get", "update", "-q")
    _must("chroot", str(folder), "apt-get", "install", "-q", "-y", "--download-only", TO_BE_INSTALLED)
    (folder / "etc/machine-id").write_text("")


def _mirror() -> str:
    """Where apt gets this release's main part from."""
    told = _must("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")
    found = [line.split()[2] for line in told.splitlines() if line.split()[:2] == [RELEASE, "main"]]
    if not found:
        pytest.fail(f"apt knows no mirror of {RELEASE}: apt-get update")
    return found[0]


def _must(*command: str) -> str:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError as error:
        pytest.fail(f"{command[0]} is missing here ({error.strerror}): deploy/local/prerequisites.py names its package")
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout
