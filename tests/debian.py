"""Root file systems of small Debians, for test machines. debootstrap makes each once, and it is kept.

One has the packages of a minimal Debian (systemd, apt with its lists, curl). Another one has the files of all packages
that a box installs, so that a box needs no network. Others are the smallest Debian on which `make` runs, alone and with
what `make run` installs but the converter. Packages come from this machine's mirror.
"""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from deploy.local import prerequisites
from tests.diary import progress

PACKAGES: Final = ("systemd", "systemd-sysv", "dbus", "python3", "curl", "ca-certificates", "procps", "netbase")
WHEELS: Final = "var/cache/wheels"
PLATFORMS: Final = ("manylinux2014_x86_64", "manylinux_2_28_x86_64", "manylinux_2_34_x86_64")
BROKERS: Final = ("rabbitmq-server", "mosquitto")
FOR_MAKE: Final = ("ca-certificates", "git", "make", "python3")  # .ci/run has them installed, too
AUTHORITIES: Final = Path("usr/local/share/ca-certificates")
KERNEL: Final = ("linux-image-cloud-amd64", "initramfs-tools", "zstd")
RELEASE: Final = platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def root(release: str = RELEASE) -> Path:
    """The folder of the file system, made now if it is missing. Fails the test if it cannot be made."""
    name = f"{release}-{_named(release, *PACKAGES)}"
    return _kept(name, lambda folder: _make(release, folder))


def root_with_kernel(release: str = RELEASE) -> Path:
    """The same with a kernel, for a machine in QEMU."""
    name = f"{release}-{_named(release, *PACKAGES, *KERNEL)}"
    made_of = root(release)
    return _kept(name, lambda folder: _add_a_kernel(made_of, folder))


def root_with_brokers(release: str) -> Path:
    """The same with RabbitMQ and Mosquitto, installed; neither runs."""
    name = f"{release}-{_named(release, *PACKAGES, *BROKERS)}"
    made_of = root(release)
    return _kept(name, lambda folder: _add_installed(made_of, folder, BROKERS))


def root_for_a_box(release: str, packages: Sequence[str], lock: Path) -> Path:
    """The minimal Debian with the files of these packages and of the lock file's wheels, none installed."""
    name = f"{release}-{_named(release, *PACKAGES, *packages, lock.read_text(encoding='utf-8'))}"
    made_of = root(release)
    return _kept(name, lambda folder: _add_packages_and_wheels(made_of, folder, packages, lock))


def root_for_make(release: str) -> Path:
    """The smallest Debian on which `make` runs, trusting whom this machine trusts."""
    return _kept(f"{release}-{_named(release, *FOR_MAKE)}", lambda folder: _make_for_make(release, folder))


def root_for_make_run(release: str, place: Path, locks: tuple[Path, Path], tools: Sequence[str]) -> Path:
    """The same with what `make run` installs where CONVERTER_URL names a converter, and with `tools` for tests.

    The locks are those of the service and of the tools; the virtual environment is below `place`.
    """
    needs = [one.package for one in prerequisites.RUN if not one.instead or one.package == "postgresql"]
    lock, tools_lock = (path.read_text(encoding="utf-8") for path in locks)
    kept = "".join(re.findall(rf"^(?:{'|'.join(tools)})==.*\n(?: .*\n)*", tools_lock, re.MULTILINE))
    made_of = root_for_make(release)
    name = f"{release}-{_named(release, *FOR_MAKE, *needs, lock, kept, str(place))}"
    return _kept(name, lambda folder: _add_the_service(made_of, folder, needs, lock + kept, place))


def _named(release: str, *words: str) -> str:
    return hashlib.sha256(" ".join((*words, release)).encode()).hexdigest()[:12]


def _kept(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of this name, made once even if two suites ask for it at once."""
    kept = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "signage-fleet"
    kept.mkdir(parents=True, exist_ok=True)
    if (kept / name).exists():
        return kept / name
    with (kept / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (kept / name).exists():
            draft = kept / f"{name}.draft"
            shutil.rmtree(draft, ignore_errors=True)
            make(draft)
            draft.rename(kept / name)
    return kept / name


def _make(release: str, folder: Path) -> None:
    _must("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", release, str(folder), _mirror())
    _must("chroot", str(folder), "apt-get", "update", "-q")
    (folder / "etc/machine-id").write_text("")


def _make_for_make(release: str, folder: Path) -> None:
    _must("debootstrap", "--variant=minbase", f"--include={','.join(FOR_MAKE)}", release, str(folder), _mirror())
    if (Path("/") / AUTHORITIES).exists():
        shutil.copytree(Path("/") / AUTHORITIES, folder / AUTHORITIES, dirs_exist_ok=True)
    _must("chroot", str(folder), "update-ca-certificates")
    _must("chroot", str(folder), "apt-get", "update", "-q")


def _add_the_service(made_of: Path, folder: Path, packages: Sequence[str], lock: str, place: Path) -> None:
    _add_installed(made_of, folder, packages)
    written, environment = folder / place / ".lock", f"/{place}/.venv"
    written.parent.mkdir(parents=True)
    written.write_text(lock, encoding="utf-8")
    _must("chroot", str(folder), "python3", "-m", "venv", environment)
    install = (f"{environment}/bin/pip", "install", "--quiet", "--require-hashes", f"--requirement=/{place}/.lock")
    _must("chroot", str(folder), *install)
    written.unlink()
    for stamp in (".runtime", ".development"):  # the Makefile's
        (folder / place / ".venv" / stamp).touch()


def _add_a_kernel(made_of: Path, folder: Path) -> None:
    _add_installed(made_of, folder, KERNEL)


def _add_installed(made_of: Path, folder: Path, packages: Sequence[str]) -> None:
    """A copy with these packages installed. Their services are not started."""
    _must("cp", "-a", str(made_of), str(folder))
    refuse = folder / "usr/sbin/policy-rc.d"
    refuse.write_text("#!/bin/sh\nexit 101\n")
    refuse.chmod(0o755)
    _must("mount", "--bind", "/proc", str(folder / "proc"))
    try:
        install = ("apt-get", "install", "-q", "-y", "--no-install-recommends", *packages)
        _must("chroot", str(folder), "env", "DEBIAN_FRONTEND=noninteractive", *install)
    finally:
        _must("umount", str(folder / "proc"))
        refuse.unlink()


def _add_packages_and_wheels(made_of: Path, folder: Path, packages: Sequence[str], lock: Path) -> None:
    _must("cp", "-a", str(made_of), str(folder))
    fetch = ("apt-get", "install", "-q", "-y", "--download-only", "--no-install-recommends", *packages)
    _must("chroot", str(folder), *fetch)
    version = (folder / "usr/bin/python3").readlink().name.removeprefix("python")
    kind = ("--only-binary=:all:", "--require-hashes", f"--python-version={version}")
    places = [f"--platform={platform}" for platform in PLATFORMS]
    into = ("--quiet", f"--dest={folder / WHEELS}", f"--requirement={lock}")
    _must(sys.executable, "-m", "pip", "download", *kind, *places, *into)


def _mirror() -> str:
    """The mirror from which apt gets this machine's release; it has the other releases too."""
    told = _must("apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages")
    found = [line.split()[2] for line in told.splitlines() if line.split()[:2] == [RELEASE, "main"]]
    if not found:
        pytest.fail(f"apt knows no mirror of {RELEASE}: apt-get update")
    return found[0]


def _must(*command: str) -> str:
    """Run a command that must succeed. Returns its output, and notes progress: debootstrap may take minutes."""
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
