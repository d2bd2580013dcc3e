"""A machine's journald, disk and boots around the agent's log part, and a service that stores what it sends.

It runs in namespaces of its own: the real journald and journalctl, a boot id that changes, a disk that is cut, put back
or refuses. A boot takes a tenth of a second. As process 1 of its namespace it writes lines in the name of units.
"""

import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any, Final

from shared.client_logs import rules
from shared.client_logs.rules import Boot, Mark

REPOSITORY: Final = Path(__file__).parents[2]
JOURNALD: Final = "/usr/lib/systemd/systemd-journald"
SETTINGS: Final = (
    "[Journal]\nStorage=persistent\nReadKMsg=no\nAudit=no\nRateLimitIntervalSec=0\nMaxFileSec=0\nSystemMaxUse=1G\n"
)
KIOSK, OTHER = "kiosk.service", "other.service"
BOOT_ID: Final = "/proc/sys/kernel/random/boot_id"
LONGEST_WAIT: Final = 60.0
HEADER_SIZE, TAIL_OBJECT, ENTRY = 88, 136, 3
"""systemd.io/JOURNAL_FILE_FORMAT: where the header says its size and its last object; the type of entries."""


def must(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _number(content: bytes | bytearray, place: int) -> int:
    return int.from_bytes(content[place : place + 8], "little")


class Service:
    """What the bridge does with numbered lines, by the rules of the service."""

    def __init__(self) -> None:
        self.marks: dict[Boot, Mark] = {}
        self.stored: Counter[str] = Counter()
        self.kernels: dict[Boot, str] = {}
        self.reports_marks = True
        self.lock = threading.Lock()

    def started(self, install_id: str, boot_seq: int, kernel: str) -> None:
        """A heartbeat of a start: known numbers with another boot of the machine have ended."""
        boot = Boot("u", install_id, boot_seq)
        if self.kernels.get(boot, kernel) != kernel:
            for one in [one for one in self.kernels if rules.has_ended(one, boot)]:
                del self.kernels[one]
            for one, mark in self.marks.items():
                if rules.has_ended(one, boot):
                    self.marks[one] = Mark(mark.seq, mark.islands, is_over=True)
        self.kernels[boot] = kernel

    def take(self, body: dict[str, Any]) -> list[Any]:
        """Store a line once. Returns its boot's mark."""
        boot, seq = Boot("u", body["install_id"], body["boot_seq"]), body["seq"]
        with self.lock:
            known = self.marks.get(boot, Mark())
            if rules.begins_anew(known, [seq]):
                known = Mark()
            settled = rules.settle(known, [seq])
            self.marks[boot] = settled.mark
            self.stored.update([body["message"]] if settled.fresh else [])
        return [boot.install_id, boot.boot_seq, settled.mark.seq]


class World:
    """One machine. `folder` lies on a disk."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.folder, self.service = folder, Service()
        self.state, self.log = folder / "state", folder / "log"
        self.units = [KIOSK]
        self.agent: subprocess.Popen[bytes] | None = None
        self.written = 0
        for one in (self.state, self.log):
            one.mkdir(parents=True)
        must("mount", "-t", "tmpfs", "tmpfs", "/run")
        must("mount", "--bind", str(self.log), "/var/log")
        must("mount", "-t", "tmpfs", "tmpfs", "/etc/systemd")
        Path("/etc/systemd/journald.conf").write_text(SETTINGS, encoding="ascii")
        Path("/var/log/journal").mkdir()
        must("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(self.state))
        self.boot()

    # --- power ---

    def boot(self) -> None:
        """Another boot id, and another journald."""
        (self.folder / "boot_id").write_text(f"{uuid.uuid4()}\n", encoding="ascii")
        must("mount", "--bind", str(self.folder / "boot_id"), BOOT_ID)
        shutil.rmtree("/run/systemd", ignore_errors=True)
        Path("/run/systemd/journal").mkdir(parents=True)
        Path("/run/systemd/journal/flushed").touch()
        self.journald = subprocess.Popen([JOURNALD], stderr=subprocess.DEVNULL)
        self.door = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._wait(self._is_open, "journald")
        self._wait(self._has_an_entry, "journald's first entry")  # an agent's first start sends what comes after it

    def _is_open(self) -> bool:
        with contextlib.suppress(OSError):
            self.door.connect("/run/systemd/journal/socket")
            return True
        return False

    @staticmethod
    def _has_an_entry() -> bool:
        newest = ["journalctl", "--quiet", "--no-pager", "--lines=1", "--output=cat"]
        return bool(subprocess.run(newest, check=False, capture_output=True).stdout)

    def cut_power(self) -> None:
        self.kill()
        self.journald.kill()
        self.journald.wait()
        self.door.close()
        must("umount", BOOT_ID)

    def tear_the_newest_entry(self) -> None:
        """Of the journal that was written last: the file has its place, and the disk never got it."""
        newest = max(Path("/var/log/journal").glob("*/system.journal"), key=lambda one: one.stat().st_mtime_ns)
        content = bytearray(newest.read_bytes())
        place, last, entry = _number(content, HEADER_SIZE), _number(content, TAIL_OBJECT), 0
        while place <= last:
            entry = place if content[place] == ENTRY else entry
            place += (_number(content, place + 8) + 7) // 8 * 8
        content[entry : entry + 16] = bytes(16)
        newest.write_bytes(content)

    def sync(self) -> None:
        """Wait until journald has written all that it has got."""
        must("journalctl", "--sync")

    def copy(self, *folders: Path) -> Path:
        """A copy of the disk as it is now."""
        kept = self.folder / f"kept{time.monotonic_ns()}"
        for one in folders:
            shutil.copytree(one, kept / one.name)
        return kept

    def put_back(self, kept: Path, *folders: Path) -> None:
        """Let these folders be what they were at the copy."""
        for there in folders:
            for old in there.iterdir():
                shutil.rmtree(old) if old.is_dir() else old.unlink()
            shutil.copytree(kept / there.name, there, dirs_exist_ok=True)

    def end(self) -> None:
        self.kill()
        self.journald.kill()

    def vacuum(self) -> None:
        """Remove all that journald may remove."""
        must("journalctl", "--rotate", "--vacuum-time=1us", "--quiet")

    def disk(self, *, refuses: bool) -> None:
        must("mount", "-o", f"remount,bind,{'ro' if refuses else 'rw'}", str(self.state))

    # --- the agent ---

    def start(self) -> None:
        """Start an agent, and wait until it has begun."""
        command = [sys.executable, "-m", "tests.displays.journal_agent", str(self.state), *self.units]
        pipe = subprocess.PIPE
        self.agent = subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=REPOSITORY, start_new_session=True)
        begun = threading.Event()
        self.listener = threading.Thread(target=self._listen, args=(self.agent, begun), daemon=True)
        self.listener.start()
        assert begun.wait(LONGEST_WAIT), "the agent does not begin"

    def _listen(self, agent: "subprocess.Popen[bytes]", begun: threading.Event) -> None:
        assert agent.stdout is not None
        for line in agent.stdout:
            said = json.loads(line)
            if "start" in said:
                self.service.started(*said["start"])
            elif "begun" in said:
                begun.set()
            else:
                mark = self.service.take(said["body"])
                if self.service.reports_marks:
                    self.order({"mark": mark}, agent)

    def order(self, what: Any, agent: "subprocess.Popen[bytes] | None" = None) -> None:
        agent = agent or self.agent
        if agent is None or agent.stdin is None:
            return
        with contextlib.suppress(OSError, ValueError):  # it was killed
            agent.stdin.write(json.dumps(what).encode() + b"\n")
            agent.stdin.flush()

    def kill(self) -> None:
        """Kill -9 the agent and its journalctl, as systemd does."""
        if self.agent is None:
            return
        for pid in [self.agent.pid, *self._children(self.agent.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.agent.wait()
        self.listener.join()
        self.agent = None

    @staticmethod
    def _children(pid: int) -> list[int]:
        try:
            return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
        except OSError:
            return []

    # --- lines ---

    def write(self, count: int, unit: str = KIOSK, priority: int = 6, longer_by: int = 0) -> None:
        for _ in range(count):
            self.written += 1
            said = f"line {self.written} of {unit}{longer_by * '.'}"
            # The one field by which root of any namespace names a unit to journalctl, from systemd 252 to 257.
            about = f"UNIT={unit}\nOBJECT_SYSTEMD_UNIT={unit}\n"
            fields = f"MESSAGE={said}\nPRIORITY={priority}\n{about}SYSLOG_IDENTIFIER=test\n"
            self.door.sendall(fields.encode())

    def in_the_journal(self, *units: str) -> Counter[str]:
        """The lines that journald has."""
        chosen = [f"--unit={unit}" for unit in units or (KIOSK,)]
        command = ["journalctl", *chosen, "--output=cat", "--quiet", "--no-pager", "--priority=info"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return Counter(line for line in said.splitlines() if line.startswith("line "))

    def all_arrive(self) -> None:
        """Wait until the last line is stored."""
        self.write(1)
        last = f"line {self.written} of {KIOSK}"
        self._wait(lambda: last in self.service.stored, last)

    def _wait(self, is_so: Any, what: str) -> None:
        deadline = time.monotonic() + LONGEST_WAIT
        while not is_so():
            assert time.monotonic() < deadline, f"{what} does not come"
            time.sleep(0.01)

    def judged(self, *units: str) -> dict[str, Any]:
        """The lines that the journal has and the service lacks, those stored twice, and other words."""
        self.sync()
        here, stored = self.in_the_journal(*units), self.service.stored
        words = [one for one in stored if not one.startswith("line ")]
        twice = [one for one, count in stored.items() if count > 1 and one not in words]
        return {"written": here.total(), "lost": sorted(here - stored), "twice": sorted(twice), "words": words}
