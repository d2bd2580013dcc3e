"""The site of documents, as `make docs` makes it: made once."""

import fcntl
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY
from tests import volatile

DOCUMENTS: Final = sorted(
    path for folder in ("", "docs/", "docs/decisions/") for path in REPOSITORY.glob(f"{folder}*.md")
)


@cache
def built() -> Path:
    """The folder of the site. The first caller makes it, without a warning; all others wait."""
    folder = volatile.kept() / "site"
    with (volatile.kept() / "site.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            draft = folder.with_name("site.draft")
            made = _make(draft)
            assert (made.returncode, made.stderr) == (0, "")
            draft.rename(folder)
    return folder


def _make(folder: Path) -> subprocess.CompletedProcess[str]:
    """Make the site in `folder`, with the packages that are installed here."""
    packages = REPOSITORY / ".venv"
    installed = [f"VENV={packages}", f"--old-file={packages}/.development"]
    command = ["make", "--no-print-directory", *installed, f"TO={folder}", "docs"]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
