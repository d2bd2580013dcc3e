"""Files that the doors must not serve: planted files and files of this machine; and the check of an answer."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from deploy.parts.gateway import FILES
from deploy.parts.layout import REPOSITORY
from tests.lab.campaigns.peers import status_of

DASHBOARD: Final = REPOSITORY / "dashboard"
SMUGGLED: Final = b"\r\nx-injected"
OF_THE_API: Final = re.compile(rb"\r\ncontent-type: (?:application/(?:problem\+)?json|image/png)", re.IGNORECASE)


@dataclass(frozen=True)
class Secrets:
    """Files outside the served folders, each with a line by which it is recognised."""

    FAULTS: ClassVar = (
        "came from outside",
        "was answered with 5xx",
        "went unanswered",
        "was served that is no file of the dashboard",
        "was smuggled into the headers",
    )
    lines: Mapping[Path, bytes]
    planted: tuple[Path, ...]

    @property
    def targets(self) -> tuple[bytes, ...]:
        """The paths to request: each file's whole path, and its name alone for few steps upwards."""
        whole = (str(path).lstrip("/").encode() for path in self.lines)
        return (*whole, *sorted({path.name.encode() for path in self.lines}), b"etc/passwd", b"etc/passwd")

    def is_untouched(self) -> bool:
        """Whether all planted files are unchanged."""
        return all(path.read_bytes() == self.lines[path] + b"\n" for path in self.planted)


def plant(folder: Path, media_root: Path) -> Secrets:
    """Plant files beside and above the served folders, and on the media volume without a row."""
    places = (folder, media_root.parent, media_root, media_root / "converted")
    planted = {place / "canary.txt": f"canary {secrets.token_hex(16)}".encode() for place in places}
    for path, line in planted.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(line + b"\n")
        path.chmod(0o644)  # the server could read it
    others = (Path("/etc/passwd"), REPOSITORY / "pyproject.toml", REPOSITORY / "dashboard" / "package.json")
    return Secrets({**planted, **{path: _longest_line(path) for path in others}}, tuple(planted))


def _longest_line(path: Path) -> bytes:
    return max(path.read_bytes().splitlines(), key=len)


def dashboard_files() -> set[bytes]:
    """The files that the gateway may serve."""
    hidden = re.search(r"location ~ (\S+) \{ return 404; \}", (FILES / "nginx.conf").read_text(encoding="utf-8"))
    assert hidden is not None
    found = (path for path in DASHBOARD.rglob("*") if path.is_file())
    return {path.read_bytes() for path in found if not re.search(hidden[1], f"/{path.relative_to(DASHBOARD)}")}


def wrong(answer: bytes | None, outside: Secrets, files: set[bytes]) -> list[str]:
    """The faults of this answer."""
    if not answer:
        return [Secrets.FAULTS[2]]
    head, _, body = answer.partition(b"\r\n\r\n")
    status = status_of(answer)
    faults = (
        any(line in answer for line in outside.lines.values()),
        status >= 500,
        status == 0,
        200 <= status < 300 and body not in files and not OF_THE_API.search(head),
        SMUGGLED in head.lower(),
    )
    return [name for name, is_so in zip(Secrets.FAULTS, faults, strict=True) if is_so]
