"""No line of journald is lost or stored twice, whatever happens to the machine: on the real journald."""

import asyncio
import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deploy.displays.agent.journalctl import entries_from
from deploy.displays.agent.journald_rules import MISSING
from tests.displays.journal_world import REPOSITORY

OWN = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--propagation", "private")


def lived(folder: Path, life: str, seed: int = 1) -> dict[str, Any]:
    """What the service has after this life."""
    program = (sys.executable, "-m", "tests.displays.journal_lives", str(folder), life, str(seed))
    done = subprocess.run((*OWN, *program), check=False, capture_output=True, text=True, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr
    judged: dict[str, Any] = json.loads(done.stdout)
    assert judged["written"] > 0
    return judged


@pytest.mark.parametrize(
    "life",
    ["kills", "image", "refusing", "refusing_level", "units", "unseen_boot", "torn", "waiting", "backlog", "offline"],
)
def test_each_line_is_stored_once(tmp_path: Path, life: str) -> None:
    judged = lived(tmp_path, life)

    assert (judged["lost"], judged["twice"], judged["words"]) == ([], [], [])


def test_a_journalctl_that_ends_only_once_it_has_written_all_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of systemd 257 does with SIGTERM."""
    (tmp_path / "journalctl").write_text("#!/bin/sh\ntrap '' TERM\nexec yes\n", encoding="ascii")
    (tmp_path / "journalctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    async def first() -> bytes:
        async with contextlib.aclosing(entries_from("", [], "", follow=True)) as entries:
            return await anext(entries)

    assert asyncio.run(asyncio.wait_for(first(), 60)) == b"y\n"


@pytest.mark.parametrize("life", ["power", "removed", "removed_and_committed"])
def test_lines_that_the_journal_has_forgotten_are_told_and_the_others_are_stored_once(
    tmp_path: Path, life: str
) -> None:
    judged = lived(tmp_path, life)

    assert (judged["lost"], judged["twice"], judged["words"]) == ([], [], [MISSING])


@pytest.mark.parametrize("life", ["covered", "damaged"])
def test_a_folder_that_was_covered_or_damaged_loses_no_line(tmp_path: Path, life: str) -> None:
    assert lived(tmp_path, life)["lost"] == []


@pytest.mark.parametrize("seed", range(3))
def test_each_line_is_stored_once_in_any_history(tmp_path: Path, seed: int) -> None:
    judged = lived(tmp_path, "history", seed)

    assert (judged["lost"], judged["twice"], judged["words"]) == ([], [], [])


@pytest.mark.parametrize("seed", range(3))
def test_no_line_is_lost_in_histories_in_which_disk_and_journal_go_back(tmp_path: Path, seed: int) -> None:
    assert lived(tmp_path, "rough_history", seed)["lost"] == []
