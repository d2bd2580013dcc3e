"""Where LibreOffice runs: bubblewrap without network and without sight of anybody else's files.

A deck may link to `file:///` and `http://` and LibreOffice follows such links (measured: another file's text
ended up in the PDF). Here there is nothing to follow: only programs, fonts and the document's own folder.
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
INSIDE = Path("/work")  # the work folder as seen from inside
STAND_INS = Path(__file__).parent / "fontconfig" / "fonts.conf"  # fontconfig reads it in its user's place for settings
CONFIG_INSIDE = Path("/config")
VISIBLE = ("/etc/fonts", "/etc/libreoffice", "/etc/ld.so.cache", "/var/cache/fontconfig")
MERGED = (("usr/lib", "/lib"), ("usr/lib64", "/lib64"), ("usr/bin", "/bin"), ("usr/sbin", "/sbin"))
NAMESPACES = ("user", "ipc", "pid", "net", "uts", "cgroup-try")
NOBODY = "65534"
# bubblewrap refuses to start with capabilities that it did not expect, such as inherited ones.
TIED_AND_POWERLESS = ("setpriv", "--pdeathsig", "KILL", "--inh-caps=-all", "--ambient-caps=-all")
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


@dataclass(frozen=True)
class Sandbox:
    """How programs are started; `isolated` False is for CONVERTER_ALLOW_UNSANDBOXED=1 alone."""

    isolated: bool

    def inside(self, work: Path) -> Path:
        """The path under which a program sees its work folder."""
        return INSIDE if self.isolated else work

    def command(self, work: Path, program: list[str]) -> list[str]:
        """The command that runs `program` with the limits, on the folder `work` (with `tmp/` in it).

        It dies with the *thread* that starts it (PR_SET_PDEATHSIG counts threads), so that not even
        kill -9 of the converter leaves a LibreOffice behind. No --new-session: killpg must reach all.
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

        LibreOffice names it after the profile's address: MD5 of its UTF-16 form, bytes in hexadecimal
        without leading zeros. It always lies in /tmp, which inside the sandbox is the work folder's `tmp/`.
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
    """LibreOffice's whole environment: none of our secrets, not the operator's language."""
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
    """The option that closes the kernel's user namespaces to the inside, where bubblewrap (>= 0.8) has it."""
    said = subprocess.run(
        ["bwrap", "--help"], capture_output=True, text=True, timeout=PROBE_TIMEOUT_SECONDS, check=False
    )
    return ["--disable-userns"] if "--disable-userns" in said.stdout + said.stderr else []


def why_not() -> str | None:
    """Why programs cannot be isolated on this machine, in words; None when they can."""
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
    """Let orphans come to this process instead of to init, which in a container may be none.

    bubblewrap ends without waiting for the process inside, so that each run leaves one.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(own: set[int]) -> None:
    """Bury every ended child but `own`, for which somebody here waits."""
    with contextlib.suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in own:
                return  # only the first one can be seen; the others when this one is gone
            os.waitpid(ended.si_pid, os.WNOHANG)
