"""The reader of the system journal gives each line the number that an earlier start of the agent gave it."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final

import pytest

from displays.agent import journalctl
from displays.agent.journald_reader import JournaldReader
from displays.agent.journald_rules import Segment, as_content
from displays.agent.journald_spool import JournaldSpool
from displays.client.state import Boot

KIOSK, OTHER = "kiosk.service", "other.service"
BOOT: Final = Boot("i", 2, "b")


def cursor(number: int) -> str:
    return f"s=abc;i={number:x};b=b;m={number:x};t={number:x}"


class Journal:
    """Entries of units, as journalctl shows them."""

    def __init__(self) -> None:
        self.units: list[str] = []

    async def entries(self, start: str, _boot: str, **_follow: bool) -> AsyncGenerator[bytes, None]:
        begin = int(start.partition("i=")[2].partition(";")[0], 16) if start else 1
        for number, unit in enumerate(self.units, 1):
            if number >= begin:
                fields = {"_SYSTEMD_UNIT": unit, "_UID": "0", "MESSAGE": f"{number}"}
                yield json.dumps({"__CURSOR": cursor(number), "__REALTIME_TIMESTAMP": "1", **fields}).encode()

    async def newest(self, _boot: str) -> str:
        return cursor(len(self.units))

    async def exists(self, _cursor: str, _boot: str) -> bool:
        return True


@pytest.fixture
def journal(monkeypatch: pytest.MonkeyPatch) -> Journal:
    made = Journal()
    monkeypatch.setattr(journalctl, "entries_from", made.entries)
    monkeypatch.setattr(journalctl, "newest_cursor", made.newest)
    monkeypatch.setattr(journalctl, "exists", made.exists)
    return made


def numbers(spool: JournaldSpool) -> dict[str, int]:
    """Message -> number of each line that waits."""
    bodies: list[dict[str, Any]] = []
    while (one := spool.next()) is not None:
        bodies.append(one.body)
    return {one["message"]: one["seq"] for one in bodies}


@pytest.mark.parametrize("change", ["units", "level"])
def test_a_disk_that_works_again_does_not_number_old_lines_anew(tmp_path: Path, journal: Journal, change: str) -> None:
    """The disk refused at a start, so the last segment went on. Its lines were sent under their numbers already."""
    state, away = tmp_path / "state", tmp_path / "away"
    state.mkdir()
    segment = Segment("i", 1, 0, cursor(1), kernel_boot="b", units=(KIOSK, "signage-display.service"))
    (state / "logs.json").write_bytes(as_content([segment]))
    spool = JournaldSpool(state / "logs.json")
    journal.units = [KIOSK, KIOSK, OTHER, OTHER, KIOSK, KIOSK, OTHER]
    units, level = ([KIOSK, OTHER], "info") if change == "units" else ([KIOSK], "error")
    reader = JournaldReader(spool, BOOT, units, lambda: level, lambda *_: None)
    state.rename(away)  # the disk refuses
    assert asyncio.run(reader.begin())
    away.rename(state)  # it works again before the first line is read
    journal.units += [OTHER, KIOSK]

    for _ in range(3):  # a change of units begins another segment
        asyncio.run(reader._read())

    old = {"2": 1, "5": 2, "6": 3}  # what the earlier start sent
    given = numbers(spool)
    assert {line: given[line] for line in old} == old
    new = set(given) - set(old)
    assert new == ({"7", "8", "9"} if change == "units" else set())
