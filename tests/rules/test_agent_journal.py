"""Lines of the journal get the same numbers at every reading, one for each line."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.displays.agent.journald_rules import Segment, body, is_after, line_from, removed, segments_from
from deploy.displays.agent.journald_spool import IN_MEMORY, JournaldSpool
from deploy.displays.client.contract import LogsCommitted
from deploy.displays.client.spool import SpooledLog

OWN = "signage-display.service"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def cursor(number: int) -> str:
    return f"s=abc;i={number:x};b=b;m={number:x};t={number:x};x=1"


def entry(**fields: Any) -> bytes:
    given = {"__CURSOR": cursor(1), "__REALTIME_TIMESTAMP": "1772323200000000", "MESSAGE": "playing", **fields}
    return json.dumps({name: value for name, value in given.items() if value is not None}).encode()


def told(name: str, severity: str = "WARNING") -> str:
    return json.dumps({"event": name, "message": "Trouble: the disk is full.", "severity": severity})


LINES = [  # an entry, and the expected level, message and logger
    (entry(_SYSTEMD_UNIT="kiosk.service"), ("info", "playing", "kiosk.service")),
    (entry(PRIORITY="0", SYSLOG_IDENTIFIER="sh"), ("critical", "playing", "sh")),
    (entry(PRIORITY="3"), ("error", "playing", "journal")),
    (entry(PRIORITY="7"), ("debug", "playing", "journal")),
    (entry(PRIORITY="eight"), ("info", "playing", "journal")),
    (entry(MESSAGE=[112, 255, 108]), ("info", "p\ufffdl", "journal")),
    (entry(MESSAGE=None), None),
    (entry(MESSAGE=""), None),
    (entry(__CURSOR=None), None),
    (b"{torn", None),
    (b"[1]", None),
    (entry(_SYSTEMD_UNIT=OWN, MESSAGE=told("connect_retry")), None),
    (entry(_SYSTEMD_UNIT=OWN, MESSAGE="no document"), None),
    (entry(_SYSTEMD_UNIT=OWN, MESSAGE=told("machine_trouble")), ("warning", "Trouble: the disk is full.", OWN)),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_an_entry_becomes_a_line_or_nothing(text: bytes, expected: tuple[str, str, str] | None) -> None:
    line = line_from(text, OWN)

    assert (line and (line.level, line.message, line.logger)) == expected


def test_a_line_read_twice_is_the_same_message() -> None:
    line, segment = line_from(entry(), OWN), Segment("i", 3, 0, "")
    assert line is not None

    first, again = body(line, segment, 7), body(line, segment, 7)

    assert first == again
    assert list(first)[:4] == ["install_id", "boot_seq", "seq", "ts"], "the stamp stands before the message"
    assert first["ts"] == "2026-03-01T00:00:00.000+00:00"


def test_entries_are_in_the_order_of_their_numbers_and_else_of_their_times() -> None:
    assert is_after(cursor(16), cursor(15))
    assert not is_after(cursor(15), cursor(15))
    assert is_after(cursor(256), cursor(255)), "numbers, not texts"
    assert is_after("s=other;i=1;t=20", "s=abc;i=ff;t=1f")
    assert not is_after("s=other;i=ff;t=1", "s=abc;i=1;t=1f")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'[{"seq": 1}]', b'{"seq": 1}', b"[1]"])
def test_a_damaged_file_of_segments_is_none(content: bytes) -> None:
    assert segments_from(content) == []


def message(boot: int, seq: int) -> SpooledLog:
    return SpooledLog("info", {"install_id": "i", "boot_seq": boot, "seq": seq, "message": "x"})


def test_what_is_committed_moves_the_segment_on_and_ends_those_before_it(tmp_path: Path) -> None:
    spool = JournaldSpool(tmp_path / "logs.json")
    spool.begin(Segment("i", 1, 0, cursor(1)), "")
    spool.begin(Segment("i", 2, 0, cursor(10)), cursor(10))
    for boot, seq, at in ((1, 1, 4), (1, 2, 9), (2, 1, 12), (2, 2, 13)):
        spool.keep(message(boot, seq), cursor(at))

    assert spool.commit(LogsCommitted("i", 1, 1)) == 1
    assert (spool.segments[0].seq, spool.segments[0].cursor) == (1, cursor(4))
    assert spool.commit(LogsCommitted("i", 2, 1)) == 0, "an earlier line is not committed yet"
    assert spool.commit(LogsCommitted("i", 1, 2)) == 1
    assert spool.commit(LogsCommitted("i", 2, 1)) == 1
    assert [(one.boot_seq, one.seq, one.cursor) for one in spool.segments] == [(2, 1, cursor(12))]
    spool.save()
    assert JournaldSpool(tmp_path / "logs.json").segments == spool.segments


def test_lines_of_another_level_belong_to_their_own_segment(tmp_path: Path) -> None:
    spool = JournaldSpool(tmp_path / "logs.json")
    spool.begin(Segment("i", 1, 0, cursor(1)), "")
    spool.keep(message(1, 1), cursor(2))
    spool.begin(Segment("i", 1, 1, cursor(2), "debug"), cursor(2))
    spool.keep(message(1, 2), cursor(3))

    spool.commit(LogsCommitted("i", 1, 2))

    assert [(one.level, one.seq, one.cursor) for one in spool.segments] == [("debug", 2, cursor(3))]


def test_the_spool_holds_few_lines_and_asks_for_more_when_there_is_room(tmp_path: Path) -> None:
    spool = JournaldSpool(tmp_path / "logs.json")
    spool.begin(Segment("i", 1, 0, cursor(1)), "")
    for number in range(1, IN_MEMORY + 1):
        spool.keep(message(1, number), cursor(number))

    assert not spool.room.is_set()
    spool.commit(LogsCommitted("i", 1, IN_MEMORY // 2))
    assert spool.room.is_set()


def test_it_is_written_at_most_once_a_minute_and_never_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "logs.json"
    spool = JournaldSpool(file)
    spool.begin(Segment("i", 1, 0, cursor(1)), "")
    written = []
    for second in range(300):
        if second < 120:
            spool.keep(message(1, second + 1), cursor(second + 2))
            spool.commit(LogsCommitted("i", 1, second + 1))
        before = file.stat().st_ino
        spool.save_when_due(float(second))
        written += [second] if file.stat().st_ino != before else []

    assert written == [0, 60, 120]


def test_a_quiet_machine_begins_at_a_newer_entry_unless_a_line_waits(tmp_path: Path) -> None:
    spool = JournaldSpool(tmp_path / "logs.json")
    spool.begin(Segment("i", 1, 0, cursor(1)), "")
    spool.keep(message(1, 1), cursor(2))

    spool.anchor(cursor(5))
    assert spool.segments[0].cursor == cursor(1)
    spool.commit(LogsCommitted("i", 1, 1))
    spool.anchor(cursor(5))
    assert (spool.segments[0].seq, spool.segments[0].cursor) == (1, cursor(5))


def test_lines_that_were_removed_are_one_line_that_can_be_stored() -> None:
    said = removed(Segment("i", 4, 11, cursor(1)), NOW)

    assert (said["install_id"], said["boot_seq"], said["seq"]) == ("i", 4, 12)
    assert "how many is not known" in said["message"]


def test_a_disk_that_takes_nothing_loses_no_line_that_is_in_memory(tmp_path: Path) -> None:
    spool = JournaldSpool(tmp_path / "no such folder" / "logs.json")
    spool.begin(Segment("i", 1, 0, cursor(1)), "")
    spool.keep(message(1, 1), cursor(2))

    assert spool.next() == message(1, 1)
