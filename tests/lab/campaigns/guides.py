"""The commands in the guides for people who run a box."""

import re

from deploy.parts.layout import REPOSITORY

COLUMNS = {"systemd": 1, "Docker": 2}  # columns of the table in operating.md


def block(guide: str, words: str) -> str:
    """The guide's shell block that contains `words`."""
    return next(str(lines) for lines in re.findall(r"```sh\n(.*?)```", _text(guide), re.DOTALL) if words in lines)


def backup_lines(kind: str) -> list[str]:
    """The backup commands of operating.md for this kind of box: database, media, secrets."""
    rows = re.findall(r"^\| (?:database|media|secrets) \|.*$", _text("operating.md"), re.MULTILINE)
    cells = [row.strip("| ").split(" | ")[COLUMNS[kind]] for row in rows]
    return [cell.split("`")[1] for cell in cells]


def restore_lines(kind: str) -> str:
    """The restore commands of operating.md for this kind of box."""
    both = block("operating.md", "# Docker\n")
    return next(part for part in both.split("\n\n") if part.startswith(f"# {kind}\n"))


def _text(guide: str) -> str:
    return (REPOSITORY / "docs" / guide).read_text(encoding="utf-8")
