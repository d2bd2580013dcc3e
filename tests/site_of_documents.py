"""The site of documents, as `make docs` makes it."""

import subprocess
from pathlib import Path
from typing import Final

from deploy.parts.layout import REPOSITORY

DOCUMENTS: Final = sorted(
    path for folder in ("", "docs/", "docs/decisions/") for path in REPOSITORY.glob(f"{folder}*.md")
)


def make(folder: Path, source: Path = REPOSITORY) -> subprocess.CompletedProcess[str]:
    """Make the site of this source tree in `folder`, with the packages that are installed here."""
    packages = REPOSITORY / ".venv"
    installed = [f"VENV={packages}", f"--old-file={packages}/.development"]
    command = ["make", "--no-print-directory", *installed, f"TO={folder}", "docs"]
    return subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
