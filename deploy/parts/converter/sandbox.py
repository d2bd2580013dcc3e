"""The sandbox of LibreOffice: bubblewrap without network and without other files.

A deck may link to `file:///` and `http://`, and LibreOffice follows such links (measured: another file's text was in
the PDF). In the sandbox there are only programs, fonts and the document's own folder.
"""

import contextlib
import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ADDRESS_SPACE_BYTES = 4 * 1024**3
LARGEST_FILE_BYTES = 1024**3
PROBE_TIMEOUT_SECONDS = 10
INSIDE = Path("/work")  # the work folder's path in the sandbox
STAND_INS = Path(__file__).parent / "fontconfig" / "fonts.conf"  # fontconfig reads it as the user's settings
CONFIG_INSIDE = Path("/config")
VISIBLE = ("/etc/fonts", "/etc/libreoffice", "/etc/ld.so.cache", "/var/cache/fontconfig")
MERGED = (("usr/lib", "/lib"), ("usr/lib64", "/lib64"), ("usr/bin", "/bin"), ("usr/sbin", "/sbin"))
NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup-try")
NOBODY = "65534"
# bubblewrap refuses to start with unexpected capabilities, such as inherited ones.
TIED_AND_POWERLESS = ("setpriv", "--pdeathsig", "KILL", "--inh-caps=-all", "--ambient-caps=-all")
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


@dataclass(frozen=True)
class Sandbox:
    """Makes the command lines of programs; `isolated` is False only with CONVERTER_ALLOW_UNSANDBOXED=1."""

    isolated: bool

    def inside(self, work: Path) -> Path:
        """The path of the work folder as the program sees it."""
        return INSIDE if self.isolated else work

    def command(self, work: Path, program: list[str]) -> list[str]:
        """The command that runs `program` with its limits in the folder `work`, which must contain `tmp/`.

        The program dies with the *thread* that starts it (PR_SET_PDEATHSIG counts threads). So even kill -9 of the
        converter leaves no LibreOffice behind. There is no --new-session, because killpg must reach every process.
        """
        start = [*TIED_AND_POWERLESS, "prlimit", f"--as={ADDRESS_SPACE_BYTES}", f"--fsize={LARGEST_FILE_BYTES}"]
        start += ["--core=0", "--"]
        if self.isolated:
            return [*start, *_bubblewrap(work), *program]
        environment = [
            f"{name}={value}" for name, value in _environment(work, str(work / "tmp"), STAND_INS.parents[1]).items()
        ]
        return [*start, "env", "-i", *environment, *program]

    def pipe(self, work: Path, profile_url: str) -> Path:
        """The socket on which a LibreOffice with this profile waits for a document.

        Its name is the MD5 of the profile's address in UTF-16, each byte in hexadecimal without a leading zero. It is
        always in /tmp, which in the sandbox is the work folder's `tmp/`.
        """
        digest = hashlib.md5(profile_url.encode("utf-16-le"), usedforsecurity=False).digest()
        name = "".join(f"{byte:x}" for byte in digest)
        folder = work / "tmp" if self.isolated else Path("/tmp")  # noqa: S108 - LibreOffice's choice
        found = folder.glob(f"OSL_PIPE_*SingleOfficeIPC_{name}")
        return next(found, folder / f"OSL_PIPE_SingleOfficeIPC_{name}")


def _bubblewrap(work: Path) -> list[str]:
    command = ["bwrap", "--die-with-parent", *(f"--unshare-{namespace}" for namespace in NAMESPACES)]
    command += ["--cap-drop", "ALL", "--uid", NOBODY, "--gid", NOBODY, *_no_nested_namespaces()]
    command += ["--ro-bind", "/usr", "/usr"]
    for target, link in MERGED:
        command += ["--symlink", target, link]
    for path in VISIBLE:
        command += ["--ro-bind-try", path, path]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--bind", str(work), str(INSIDE), "--bind", str(work / "tmp"), "/tmp"]  # noqa: S108 - its own
    command += ["--ro-bind", str(STAND_INS), str(CONFIG_INSIDE / "fontconfig" / STAND_INS.name)]
    command += ["--chdir", str(INSIDE), "--clearenv"]
    for name, value in _environment(INSIDE, "/tmp", CONFIG_INSIDE).items():  # noqa: S108 - as above
        command += ["--setenv", name, value]
    return [*command, "--"]


def _environment(home: Path, temporary: str, config: Path) -> dict[str, str]:
    """LibreOffice's whole environment, without our secrets and the operator's language."""
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TMPDIR": temporary,
        "XDG_CONFIG_HOME": str(config),
        "SAL_USE_VCLPLUGIN": "svp",
    }


@functools.cache
def _no_nested_namespaces() -> list[str]:
    """The option that forbids user namespaces in the sandbox; empty before bubblewrap 0.8, which has none."""
    usage = subprocess.run(
        ["bwrap", "--help"], capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False
    )
    return ["--disable-userns"] if "--disable-userns" in usage.stdout + usage.stderr else []


def why_not() -> str | None:
    """Why programs cannot be isolated on this machine, for people; None when they can."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (apt-get install bubblewrap)"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tmp").mkdir()
        command = Sandbox(isolated=True).command(Path(folder), ["/usr/bin/true"])
        try:
            tried = subprocess.run(command, capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not start ({type(error).__name__})"
    if tried.returncode == 0:
        return None
    return f"bubblewrap cannot isolate here ({tried.stderr.strip()[:300] or tried.returncode})"


def become_reaper() -> None:
    """Make this process the parent of orphans, in place of init, which a container may not have.

    bubblewrap ends without waiting for the process inside it, so each run leaves an orphan.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(own: set[int]) -> None:
    """Reap every ended child except `own`, which other code waits for."""
    with contextlib.suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in own:
                return  # waitid shows only the first one; the others show after it is reaped
            os.waitpid(ended.si_pid, os.WNOHANG)
