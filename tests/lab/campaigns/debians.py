"""README's two commands on a bare Debian 12 and 13: `make run` with the demo, Ctrl-C, the same again, `make test`.

Each Debian is the smallest that debootstrap makes, with what `.ci/run` wants before `make` (tests/debian.py). This
commit is cloned into it. The commands run as root with mounts and processes of their own, on this machine's network.
"""

import os
import re
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import requests

from deploy.parts import guardian
from deploy.parts.components import PORTS
from deploy.parts.layout import REPOSITORY, read_stack_env
from tests import debian
from tests.diary import progress
from tests.lab.campaigns.guides import block
from tests.lab.campaigns.ledger import RESULTS, Ledger, tell
from tests.stack import Api, enrolled, eventually, free_ports

RELEASES: Final = ("bookworm", "trixie")
PROGRAMS: Final = ("debootstrap", "unshare", "git")
SUITES: Final = ("rules", "stores", "tick", "api", "worker", "bridge", "local", "journeys", "deploy", "simulation")
"""For a share: the first of them; the whole campaign runs every suite of `make test`."""
PATIENCE_SECONDS: Final = 3 * 3600.0  # for packages and tests, on any machine
PLACE: Final = Path("root/signage-fleet")
LEFT: Final = "left-behind"
INSIDE: Final = f"""\
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=1777 tmpfs dev/shm
pivot_root . mnt
umount -l /mnt
cd /{PLACE}
trap : INT TERM
set +e
sh -c "$2"
code=$?
for second in $(seq 60); do
    python3 -c "$3" >/{LEFT} && break
    sleep 1
done
exit $code
"""
"""The first process of a Debian: (its root, command, OTHERS). Ctrl-C reaches the command.

`chroot` would forbid user namespaces.
"""
OTHERS: Final = """\
import os, pathlib, sys
others = [one for one in pathlib.Path("/proc").glob("[0-9]*") if one.name not in {"1", str(os.getpid())}]
states = [(one / "stat").read_text() for one in others]
left = [state for state in states if state.rpartition(")")[2].split()[0] not in "ZX"]
print(*left, sep="", end="")
sys.exit(bool(left))
"""
"""Print the processes that outlive the command; exit code 1 if there are some."""
NETWORK: Final = re.compile(
    r"(pip|npm_config)_\w+|(https?|no)_proxy|ssl_cert_(file|dir)|node_extra_ca_certs", re.IGNORECASE
)
"""Names of variables by which this machine reaches the registries of packages."""
VERSIONS: Final = (
    "echo Debian $(cat /etc/debian_version), $(python3 --version), Postgres $(ls /usr/lib/postgresql),"
    " LibreOffice $(dpkg-query -W -f '${source:Upstream-Version}' libreoffice-core-nogui 2>/dev/null || echo none)"
)


@dataclass(frozen=True)
class Plan:
    """Which Debians, made by what; the suites of `make test` (none: all), or another command as the tests.

    `settings` are those of `make run`, besides its ports.
    """

    releases: Sequence[str] = RELEASES
    suites: Sequence[str] = ()
    tests: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    displays: int = 50  # of the demo
    root: Callable[[str], Path] = debian.root_for_make
    seed: int = 1


@dataclass(frozen=True)
class Bare:
    """One Debian with this commit in it."""

    root: Path
    environment: Mapping[str, str]

    @property
    def place(self) -> Path:
        return self.root / PLACE

    def start(self, line: str, output: Path, **settings: str) -> subprocess.Popen[bytes]:
        """Run a line in it, as somebody at a terminal does."""
        namespaces = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
        (self.root / LEFT).unlink(missing_ok=True)
        with output.open("wb") as written:
            return subprocess.Popen(
                [*namespaces, "sh", "-c", INSIDE, "sh", str(self.root), line, OTHERS],
                env={**self.environment, **settings},
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )

    @contextmanager
    def interrupted(self, line: str, output: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a line during the block, until it ends or Ctrl-C ends it."""
        running = self.start(line, output, **settings)
        try:
            yield running
        finally:
            guardian.send_group(running.pid, signal.SIGINT)
            _wait(running, output)

    def run(self, line: str, output: Path) -> int:
        """Run a line to its end, and tell its output as progress. Returns its exit code."""
        running = self.start(line, output)
        _wait(running, output)
        return running.returncode

    def left_behind(self) -> str:
        """The processes that outlived the last line."""
        noted = self.root / LEFT
        return noted.read_text(encoding="utf-8") if noted.exists() else "its first process died"


def is_possible() -> bool:
    """Whether this machine can make a Debian and give it mounts and processes of its own."""
    return os.geteuid() == 0 and all(map(shutil.which, PROGRAMS))


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> list[Ledger]:
    """Run the campaign. Returns a ledger for each Debian."""
    return [_run_on(release, plan, folder / release, say) for release in plan.releases]


def _run_on(release: str, plan: Plan, folder: Path, say: Callable[[str], None]) -> Ledger:
    began = time.monotonic()
    ledger = Ledger(f"debians-{release}", plan.seed, {"displays": plan.displays})
    run_line, test_line = commands()
    bare = _bare(release, plan, folder)
    try:
        known = str(uuid.uuid4())
        ports = [*PORTS, "BRIDGE_HEALTH_PORT"]
        settings = dict(zip(ports, map(str, free_ports(len(ports))), strict=True), **plan.settings)
        for what, line in (("stands", f"{run_line} DEMO=1"), ("stands again", f"{run_line} DEMO=1")):
            started, output = time.monotonic(), folder / f"{what}.txt"
            with bare.interrupted(line, output, DEMO_DISPLAYS=str(plan.displays), **settings) as running:
                stands = _stands(bare, running, output, plan.displays)
                ledger.counted[f"{what} after seconds"] = round(time.monotonic() - started, 1)
                if stands and what == "stands":
                    enrolled(_api(bare), known)
                elif stands:
                    ledger.conditions["the second start has the data of the first"] = _knows(bare, known)
            ledger.conditions[f"`{line}` {what}, with its sign-in and its displays"] = stands
            ledger.conditions[f"Ctrl-C leaves no process of what {what}"] = not bare.left_behind()
            say(f"{release}: {ledger.counted} {bare.left_behind()}")
            if not stands:
                say(output.read_text(encoding="utf-8", errors="replace")[-5000:])
        suites = f' SUITES="{" ".join(plan.suites)}"' if plan.suites else ""
        _test(ledger, bare, plan.tests or test_line + suites, say)
        bare.run(VERSIONS, folder / "versions.txt")
        ledger.note = (folder / "versions.txt").read_text(encoding="utf-8").strip()
    finally:
        shutil.rmtree(bare.root)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def commands() -> list[str]:
    """README's two commands."""
    return [line.partition("#")[0].strip() for line in block("../README.md", "make run ").strip().splitlines()]


def _test(ledger: Ledger, bare: Bare, line: str, say: Callable[[str], None]) -> None:
    output, began = bare.root.with_name("tests.txt"), time.monotonic()
    code = bare.run(line, output)
    said = output.read_text(encoding="utf-8", errors="replace")
    for count in ("passed", "failed"):
        found = re.findall(rf"\b(\d+) {count}", said)  # the last of them is of all suites; make's own words may follow
        ledger.counted[count] = int(found[-1]) if found else 0
    ledger.counted["tests took seconds"] = round(time.monotonic() - began, 1)
    ledger.conditions["the tests fail nothing"] = code == 0 and ledger.counted["passed"] > 0
    ledger.conditions["the tests leave no process behind"] = not bare.left_behind()
    if code:
        RESULTS.mkdir(exist_ok=True)
        kept = RESULTS / f"{ledger.name}.txt"
        kept.write_text(said, encoding="utf-8")
        failures = re.findall(r"^FAILED .*", said, re.MULTILINE)
        say("\n".join([f"the whole output is in {kept}", *failures, said[-3000:]]))


def _bare(release: str, plan: Plan, folder: Path) -> Bare:
    """A new one, with a clone of this commit."""
    environment = {
        "HOME": "/root",
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        **{name: value for name, value in os.environ.items() if NETWORK.fullmatch(name)},
    }
    folder.mkdir()
    bare = Bare(folder / "root", environment)
    subprocess.run(["cp", "-a", str(plan.root(release)), str(bare.root)], check=True)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(Path("/etc") / name, bare.root / "etc" / name)
    commit = folder / "commit"
    subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(commit)], check=True)
    shutil.copytree(commit, bare.place, symlinks=True, dirs_exist_ok=True)
    for stamp in (bare.place / ".venv").glob(".[dr]*"):  # made from the same locks, which are newer now
        stamp.touch()
    return bare


def _stands(bare: Bare, running: subprocess.Popen[bytes], output: Path, displays: int) -> bool:
    """Wait until it has printed a sign-in and most displays run; some are simulated to fail. False if it ends."""

    def stood_or_ended() -> str:
        if _ended(running, output):
            return "ended"
        if "first sign-in" not in output.read_text(encoding="utf-8", errors="replace"):
            return ""
        try:
            counts = _api(bare).get("/api/monitoring/overview")["counts"]
        except (OSError, requests.RequestException, AssertionError):
            return ""
        return "stands" if counts["running"] >= 0.8 * displays else ""

    return eventually(stood_or_ended, "the stack", PATIENCE_SECONDS) == "stands"


def _api(bare: Bare) -> Api:
    told = read_stack_env(bare.place / ".local/stack.env")
    return Api(told["SIGNAGE_API_URL"], told["SIGNAGE_ADMIN_TOKEN"])


def _knows(bare: Bare, client: str) -> bool:
    api = _api(bare)
    headers = {"Authorization": f"Bearer {api.token}"}
    return requests.get(f"{api.url}/api/clients/{client}", headers=headers, timeout=60).ok


def _wait(running: subprocess.Popen[bytes], output: Path) -> None:
    """Wait for its end, and tell its last line as progress."""
    while not _ended(running, output):
        with suppress(subprocess.TimeoutExpired):
            running.wait(2)


def _ended(running: subprocess.Popen[bytes], output: Path) -> bool:
    progress(output.read_text(encoding="utf-8", errors="replace").rpartition("\n")[2][-80:])
    return running.poll() is not None
