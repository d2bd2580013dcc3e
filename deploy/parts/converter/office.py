"""One LibreOffice process for one document.

`soffice --headless` is started before its document is known and waits on its pipe. A second, short-lived
`soffice --convert-to` hands the document over, and both end. So each document has a fresh process without the time of
its start (0.22 s instead of 0.75 s for ten slides). soffice.bin runs without its start scripts: they would fork again
and survive the signal to their parent.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

from deploy.parts import guardian
from deploy.parts.converter.sandbox import Sandbox

FILTER = "pdf:impress_pdf_Export"
TEMPLATE_TIMEOUT_SECONDS = 60
TAIL_BYTES = 2000
NOT_LOADED = "source file could not be loaded"
BUSY: Final = 0.8  # of the time that a document had: then the document itself needs more
START_ME_AGAIN = 81  # exit code of soffice.bin after a change of its profile; its start scripts would restart it
MOST_STARTS = 3
# No macro of a deck may run, and no link out of the deck is fetched.
PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
 <prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
 <prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
 <prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop>
</item>
<item oor:path="/org.openoffice.Office.Recovery/RecoveryInfo">
 <prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop>
</item>
<item oor:path="/org.openoffice.Office.Recovery/AutoSave">
 <prop oor:name="Enabled" oor:op="fuse"><value>false</value></prop>
</item>
</oor:items>
"""


class ConversionFailed(Exception):
    """LibreOffice ended without a PDF; the message is its exit code and the end of its output."""

    @property
    def is_unreadable(self) -> bool:
        """Whether LibreOffice cannot read the document, so that a retry would fail too."""
        return NOT_LOADED in str(self)


class ConversionTimedOut(Exception):
    """The document was not finished by its deadline; LibreOffice was killed."""

    def __init__(self, *, was_busy: bool) -> None:
        """`was_busy`: LibreOffice computed nearly all the time, so that another try would end the same."""
        super().__init__()
        self.was_busy = was_busy


class OfficeUnusable(Exception):
    """LibreOffice cannot be started on this machine; the message says why."""


def find_program() -> Path:
    """The path of soffice.bin. Raises OfficeUnusable when LibreOffice Impress is not installed."""
    script = shutil.which("soffice") or shutil.which("libreoffice")
    program = Path(script).resolve().with_name("soffice.bin") if script else None
    if program is None or not program.is_file():
        raise OfficeUnusable(
            "LibreOffice is not installed (apt-get install --no-install-recommends libreoffice-impress-nogui)"
        )
    return program


class Office:
    """One LibreOffice: its processes and its folder. One thread must make, use and close it.

    In the folder, `work/` is visible to LibreOffice (`profile/`, `tmp/`, `in/`, `out/`); `log` has its output.
    """

    def __init__(self, sandbox: Sandbox, program: Path, folder: Path) -> None:
        """Make the folder. No process is started yet."""
        self.folder = folder
        self.work = folder / "work"
        self._sandbox = sandbox
        self._program = program
        self._profile_url = (sandbox.inside(self.work) / "profile").as_uri()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._conversion: tuple[str, ...] = ()
        self._began = 0.0
        self._spent_before = 0.0
        for name in ("tmp", "in", "out"):
            (self.work / name).mkdir(parents=True)

    def make_template(self) -> Path:
        """Let LibreOffice initialise a profile, which the other offices copy. Raises OfficeUnusable."""
        settings = self.work / "profile" / "user" / "registrymodifications.xcu"
        settings.parent.mkdir(parents=True)
        settings.write_text(PROFILE, encoding="utf-8")
        first_start = ("--terminate_after_init",)
        self.start(*first_start)
        try:
            code = self._ended(first_start, time.monotonic() + TEMPLATE_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            raise OfficeUnusable("LibreOffice does not finish its first start") from None
        finally:
            self.kill()
        if code != 0:
            raise OfficeUnusable(f"LibreOffice does not start: {self.said() or code}")
        return self.work / "profile"

    def warm_up(self, template: Path) -> None:
        """Start LibreOffice on a copy of the template profile, so that it waits for a document."""
        shutil.copytree(template, self.work / "profile")
        self.start()

    def begin(self, source: Path, suffix: str) -> None:
        """Move the document into the folder and hand it to the waiting LibreOffice.

        LibreOffice sees it as `in/document<suffix>`, never by its own name. If the waiting process has died, the one
        started here converts the document itself, only slower.
        """
        source.rename(self.work / "in" / f"document{suffix}")
        inside = self._sandbox.inside(self.work)
        document = str(inside / "in" / f"document{suffix}")
        self._conversion = ("--convert-to", FILTER, "--outdir", str(inside / "out"), document)
        self._began, self._spent_before = time.monotonic(), self._processor_seconds()
        self.start(*self._conversion)

    def finish(self, deadline: float) -> Path:
        """Wait for the PDF until `deadline` (monotonic seconds). Returns its path.

        Raises ConversionTimedOut, or ConversionFailed when LibreOffice ended without a whole PDF; its exit code may
        be 0 even then.
        """
        try:
            code = self._ended(self._conversion, deadline)
        except subprocess.TimeoutExpired:
            spent = self._processor_seconds() - self._spent_before
            raise ConversionTimedOut(was_busy=spent > BUSY * (time.monotonic() - self._began)) from None
        self.kill()  # the PDF is written; no process may change it while it is checked
        result = self.work / "out" / "document.pdf"
        if code != 0 or not _is_whole_pdf(result):
            raise ConversionFailed(f"exit code {code}; {self.said() or 'it said nothing'}")
        return result

    def _ended(self, arguments: tuple[str, ...], deadline: float) -> int:
        """Wait for the process that was started last, with `arguments`. Returns its exit code.

        It is started again when its exit code asks for that. Raises subprocess.TimeoutExpired.
        """
        for _ in range(MOST_STARTS - 1):
            code = self._processes[-1].wait(max(0.0, deadline - time.monotonic()))
            if code != START_ME_AGAIN:
                return code
            self.start(*arguments)
        return self._processes[-1].wait(max(0.0, deadline - time.monotonic()))

    def _processor_seconds(self) -> float:
        """The processor time of its processes that run."""
        ours = {below for pid in self.pids() for below in (pid, *guardian.descendants(pid))}
        return sum(map(_processor_seconds, ours))

    def pids(self) -> list[int]:
        """The ids of the processes that were started here and not yet reaped."""
        return [process.pid for process in self._processes if process.returncode is None]

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start one soffice.bin on this profile, in a process group of its own."""
        program = [str(self._program), "--headless", "--norestore", "--nologo", "--nodefault"]
        program += [f"-env:UserInstallation={self._profile_url}", *arguments]
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                self._sandbox.command(self.work, program),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def kill(self) -> None:
        """Kill every process group that is left, and reap it. Another thread may call this."""
        for process in list(self._processes):
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def close(self) -> None:
        """Kill the remaining processes, and remove the folder and the pipe."""
        self.kill()
        with contextlib.suppress(OSError):
            self._sandbox.pipe(self.work, self._profile_url).unlink()
        shutil.rmtree(self.folder, ignore_errors=True)

    def said(self) -> str:
        """The end of LibreOffice's output."""
        return _tail(self.folder / "log").decode("utf-8", "replace").strip()


def _processor_seconds(pid: int) -> float:
    """The processor time of a process; 0 when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime


def _is_whole_pdf(path: Path) -> bool:
    """Whether it is a regular file that begins and ends like a PDF. The sandbox may have left a link instead."""
    if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(5) == b"%PDF-" and b"%%EOF" in _tail(path)


def _tail(path: Path) -> bytes:
    """The last bytes of a file; nothing when there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return file.read()
    except OSError:
        return b""
