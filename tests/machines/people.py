"""Run a program as an ordinary user."""

import os
import pwd
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from deploy.parts.layout import REPOSITORY


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
    """Return the user that owns the process whose id is on the file's first line."""
    pid = pid_file.read_text().split()[0]
    return pwd.getpwuid(Path(f"/proc/{pid}").stat().st_uid).pw_name


def ordinary_python(home: Path) -> list[str]:
    """A command that runs our Python as `nobody`, without any capability; `home` becomes its own.

    Skips the test where nobody may not pass to `home`, the checkout or its packages.
    """
    nobody = pwd.getpwnam("nobody")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    who = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    settings = [f"HOME={home}", f"PYTHONPATH={REPOSITORY}:{packages}", "PYTHONDONTWRITEBYTECODE=1"]
    for python in (sys.executable, "/usr/bin/python3"):
        command = [*who, "env", *settings, python]
        if subprocess.run([*command, "-c", "import pg8000, deploy"], check=False, capture_output=True).returncode == 0:
            return command
    pytest.skip("nobody may not read this checkout and its Python packages")
