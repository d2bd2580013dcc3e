"""Being somebody else for a test: root becomes an ordinary user."""

import pwd
import stat
from collections.abc import Sequence
from pathlib import Path

from deploy.local.layout import REPOSITORY


def as_ordinary_user(command: Sequence[str]) -> list[str]:
    """`command` as the user `nobody`, with the one capability of reading the checkout and its Python.

    Reading alone: what it writes must be its own, and it has no power over anything else.
    """
    nobody = pwd.getpwnam("nobody")
    who = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    reach = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    environment = ["env", "--chdir=/tmp", f"PYTHONPATH={REPOSITORY}", "PYTHONDONTWRITEBYTECODE=1"]
    return ["setpriv", *who, *reach, *environment, *command]


def process_owner(pid_file: Path) -> str:
    """The user of the process whose id is on the file's first line."""
    pid = pid_file.read_text().split()[0]
    return pwd.getpwuid(Path(f"/proc/{pid}").stat().st_uid).pw_name


def mode(path: Path) -> int:
    """The permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)
