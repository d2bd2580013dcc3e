"""The notes of a release: the section of its version in CHANGELOG.md."""

import re
from datetime import date
from typing import Final

HEADING: Final = re.compile(r"^## \[(?P<version>\S+)\](?: - (?P<day>\S+))?$", re.MULTILINE)  # keepachangelog.com
UNRELEASED: Final = "## [Unreleased]\n"


class Unready(Exception):
    """No release can be made; the message says why."""


def cut(changelog: str, version: str) -> str:
    """The text below the heading `## [VERSION] - YYYY-MM-DD`, up to the next version's heading.

    Raises:
        Unready: the section is missing, has no date, or is empty.
    """
    headings = list(HEADING.finditer(changelog))
    place = next((n for n, heading in enumerate(headings) if heading["version"] == version), None)
    if place is None:
        raise Unready(f"CHANGELOG.md has no section of {version}: it begins with `## [{version}] - YYYY-MM-DD`.")
    try:
        date.fromisoformat(headings[place]["day"] or "")
    except ValueError:
        raise Unready(f"CHANGELOG.md: {version} needs its day, not `{headings[place]['day'] or ''}`.") from None
    end = headings[place + 1].start() if place + 1 < len(headings) else len(changelog)
    text = changelog[headings[place].end() : end].strip()
    if not text:
        raise Unready(f"CHANGELOG.md: the section of {version} is empty.")
    return text + "\n"


def dated(changelog: str, version: str, day: date) -> str:
    """The changelog in which what was not released is this version, of this day.

    Raises:
        Unready: nothing was written down since the last release.
    """
    head, mark, rest = changelog.partition(UNRELEASED)
    if not mark or not rest.partition("\n## ")[0].strip():
        raise Unready(f"CHANGELOG.md says nothing below `{UNRELEASED.strip()}`.")
    return f"{head}{mark}\n## [{version}] - {day.isoformat()}\n{rest}"
