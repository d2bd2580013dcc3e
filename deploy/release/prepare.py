"""`make version VERSION=1.2.0`: states a version in the files of a release, for one commit.

    python -m deploy.release.prepare VERSION

It writes pyproject.toml, which all else asks, and the day of the version into CHANGELOG.md. `make version` then writes
what follows from them: docs/openapi.json, compose.yaml, and the database from which the tests upgrade.
"""

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from deploy.parts.layout import REPOSITORY, write_file
from deploy.release import notes
from deploy.release.notes import Unready
from shared.version import STATED_IN

VERSION: Final = re.compile(r"\d+\.\d+\.\d+")
LINE: Final = re.compile(r'^version = "[^"]+"$', re.MULTILINE)


def prepare(version: str) -> None:
    """Write the version and its day. Repeated, it changes nothing more. Raises Unready."""
    if not VERSION.fullmatch(version):
        raise Unready(f"{version!r} is no version such as 1.2.0")
    changelog = REPOSITORY / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if version not in {heading["version"] for heading in notes.HEADING.finditer(text)}:
        write_file(changelog, notes.dated(text, version, datetime.now(UTC).date()), 0o644)
    stated = LINE.sub(f'version = "{version}"', STATED_IN.read_text(encoding="utf-8"), count=1)
    write_file(STATED_IN, stated, 0o644)


def main(given: Sequence[str]) -> int:
    """Prepare a version. Returns 0, or 2 when something is not ready, which is printed."""
    try:
        prepare(*given)
    except (Unready, OSError, TypeError) as error:
        print(f"version: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
