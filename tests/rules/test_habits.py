"""Habits of contributors that a machine can check: short names of tests, short subjects of commits."""

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from deploy.parts.layout import REPOSITORY

LONGEST_NAME: Final = 80
LONGEST_SUBJECT: Final = 72
LAST_WITHOUT_RULE: Final = "9492774ec"
"""The last commit before subjects were checked."""
HOOK: Final = REPOSITORY / ".ci" / "commit-msg"
TEST: Final = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)


def test_a_tests_name_is_a_short_sentence() -> None:
    names = {name for path in (REPOSITORY / "tests").rglob("*.py") for name in TEST.findall(path.read_text("utf-8"))}

    assert {name for name in names if len(name) > LONGEST_NAME} == set()


def subjects_since_the_rule() -> list[str]:
    """The subjects of the commits since `LAST_WITHOUT_RULE`; none without a history."""
    command = ["git", "log", "--format=%s", f"{LAST_WITHOUT_RULE}..HEAD"]
    return subprocess.run(command, cwd=REPOSITORY, check=False, capture_output=True, text=True).stdout.splitlines()


def test_a_commits_subject_is_short() -> None:
    assert [subject for subject in subjects_since_the_rule() if len(subject) > LONGEST_SUBJECT] == []


@pytest.mark.parametrize(("length", "code"), [(0, 1), (1, 0), (72, 0), (73, 1)])
def test_the_hook_refuses_a_long_or_empty_subject(tmp_path: Path, length: int, code: int) -> None:
    (tmp_path / "message").write_text("é" * length + "\n\nA body may be " + "long" * 30 + "\n", encoding="utf-8")

    done = subprocess.run([HOOK, tmp_path / "message"], check=False, capture_output=True, text=True)

    assert done.returncode == code
    assert ("The subject needs 1 to 72 characters" in done.stderr) == (code == 1)
