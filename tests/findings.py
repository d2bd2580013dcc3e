"""Run bandit on the shipped code. Part of `make check`.

    python -m tests.findings

Exceptions are at their lines, once: `# noqa: S…` with a reason is ruff's mark. ruff's rules S are bandit's rules B with
the same number, so the mark counts here, too, and so does ruff's one exception for files: SQL in stores. `# nosec B…`
marks findings that ruff does not have. Exceptions for the whole project are in pyproject.toml, `[tool.bandit]`.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from deploy.parts.layout import REPOSITORY

SHIPPED: Final = ("functions", "bridge", "extensions", "shared", "migrations", "deploy", "displays", "dashboard")


def findings(folders: Sequence[str] = SHIPPED) -> list[dict[str, Any]]:
    """All findings of bandit in these folders, of any severity and confidence, without marked ones."""
    command = [sys.executable, "-m", "bandit", "-q", "-c", "pyproject.toml", "-f", "json", "-r", *folders]
    done = subprocess.run(command, check=False, cwd=REPOSITORY, capture_output=True, text=True)
    said = json.loads(done.stdout)
    if said["errors"]:
        raise SystemExit(f"bandit could not read: {said['errors']}")
    return [one for one in said["results"] if not is_marked(one, REPOSITORY / one["filename"])]


def is_marked(finding: Mapping[str, Any], source: Path) -> bool:
    """Whether one of the finding's lines has ruff's mark of the same number, or it is SQL in a store."""
    if finding["test_id"] == "B608" and source.stem.endswith("store"):
        return True
    lines = source.read_text(encoding="utf-8").splitlines()
    mark = re.compile(rf"# noqa: .*\bS{finding['test_id'][1:]}\b")
    return any(mark.search(lines[number - 1]) for number in finding["line_range"])


def main() -> int:
    """Print each finding. Returns exit code 1 with any."""
    found = findings()
    for one in found:
        where = f"{one['filename']}:{one['line_number']}"
        print(f"{where}: {one['test_id']} {one['issue_text']} (severity {one['issue_severity'].lower()})")
    print(f"bandit: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
