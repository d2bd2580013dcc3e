"""No line of journald is lost or stored twice, whatever happens to the machine: on the real journald.

`make campaign ONLY=displays` has each life with many seeds.
"""

import asyncio
import contextlib
from pathlib import Path

import pytest

from displays.agent.journalctl import entries_from
from displays.agent.journald_rules import MISSING
from tests.displays.journal_lives import lived


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
        async with contextlib.aclosing(entries_from("", "", follow=True)) as entries:
            return await anext(entries)

    assert asyncio.run(asyncio.wait_for(first(), 60)) == b"y\n"


@pytest.mark.parametrize("life", ["power", "removed", "removed_and_committed"])
def test_lines_that_the_journal_has_forgotten_are_told_and_the_others_stored_once(tmp_path: Path, life: str) -> None:
    judged = lived(tmp_path, life)

    assert (judged["lost"], judged["twice"], judged["words"]) == ([], [], [MISSING])


@pytest.mark.parametrize("life", ["covered", "damaged"])
def test_a_folder_that_was_covered_or_damaged_loses_no_line(tmp_path: Path, life: str) -> None:
    assert lived(tmp_path, life)["lost"] == []


def test_each_line_is_stored_once_in_any_history(tmp_path: Path) -> None:
    judged = lived(tmp_path, "history")

    assert (judged["lost"], judged["twice"], judged["words"]) == ([], [], [])


def test_no_line_is_lost_in_a_history_in_which_disk_and_journal_go_back(tmp_path: Path) -> None:
    assert lived(tmp_path, "rough_history")["lost"] == []
