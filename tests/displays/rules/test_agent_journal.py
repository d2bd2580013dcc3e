"""Lines of the journal get the same numbers at every reading, one for each line."""

import json
from pathlib import Path
from typing import Any

import pytest

from displays.agent.journald_rules import (
    COREDUMP,
    GOES_ON,
    TOLD_OF,
    UNTOLD,
    Segment,
    as_content,
    body,
    boots_between,
    is_after,
    is_of,
    line_from,
    missing,
    segments_from,
)
from displays.agent.journald_spool import IN_MEMORY, SEGMENTS, JournaldSpool
from displays.client.contract import LogsCommitted
from displays.client.spool import SpooledLog

OWN = "signage-display.service"


def cursor(number: int) -> str:
    return f"s=abc;i={number:x};b=b;m={number:x};t={number:x};x=1"


def entry(**fields: Any) -> bytes:
    given = {"__CURSOR": cursor(1), "__REALTIME_TIMESTAMP": "1772323200000000", "MESSAGE": "playing"}
    given |= {"_UID": "0", "OBJECT_SYSTEMD_UNIT": "kiosk.service", **fields}
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
    line = line_from(text, OWN, ["kiosk.service", OWN])

    assert (line and (line.level, line.message, line.logger)) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"_SYSTEMD_UNIT": "kiosk.service", "_UID": "1000", "_PID": "7"}, True),
        ({"UNIT": "kiosk.service", "_PID": "1", "_SYSTEMD_UNIT": "init.scope"}, True),
        ({"UNIT": "kiosk.service", "_PID": "7", "_SYSTEMD_CGROUP": "/init.scope"}, True),
        ({"UNIT": "kiosk.service", "_PID": "7", "_SYSTEMD_CGROUP": "/user.slice", "_UID": "1000"}, False),
        ({"OBJECT_SYSTEMD_UNIT": "kiosk.service", "_UID": "0"}, True),
        ({"OBJECT_SYSTEMD_UNIT": "kiosk.service", "_UID": "1000"}, False),
        ({"COREDUMP_UNIT": "kiosk.service", "_UID": "0", "MESSAGE_ID": COREDUMP}, True),
        ({"COREDUMP_UNIT": "kiosk.service", "_UID": "0"}, False),
        ({"_SYSTEMD_UNIT": "cron.service", "_UID": "0"}, False),
        ({}, False),
    ],
)
def test_an_entry_is_of_a_unit_as_journalctl_says(fields: dict[str, str], expected: bool) -> None:
    assert is_of(fields, ["kiosk.service", OWN]) is expected


def test_a_line_read_twice_is_the_same_message() -> None:
    line, segment = line_from(entry(), OWN, ["kiosk.service"]), Segment("i", 3, 0, "")
    assert line is not None

    first, again = body(line, segment, 7), body(line, segment, 7)

    assert first == again
    assert list(first)[:4] == ["install_id", "boot_seq", "seq", "ts"], "the stamp stands before the message"
    assert first["ts"] == "2026-03-01T00:00:00.000+00:00"


def test_entries_of_a_boot_are_in_the_order_of_their_numbers_and_else_of_its_clock() -> None:
    assert is_after(cursor(16), cursor(15))
    assert not is_after(cursor(15), cursor(15))
    assert is_after(cursor(256), cursor(255)), "numbers, not texts"
    assert is_after("s=other;i=1;b=b;m=20;t=1", "s=abc;i=ff;b=b;m=1f;t=ff"), "the clock was set back meanwhile"
    assert not is_after("s=other;i=ff;b=b;m=1;t=ff", "s=abc;i=1;b=b;m=2;t=1")
    assert is_after("s=other;i=1;b=c;m=1;t=20", "s=abc;i=ff;b=b;m=ff;t=1f")


GOOD: dict[str, Any] = {"install_id": "i", "boot_seq": 1, "seq": 2, "cursor": cursor(1), "level": "info", "end": ""}
DAMAGED = [
    *(b"", b"{", b'[{"seq": 1}]', b'{"seq": 1}', b"[1]", b"1", b"[null]"),
    *(
        json.dumps([GOOD | wrong]).encode()
        for wrong in (
            {"cursor": "--help"},
            {"end": "x"},
            {"level": "loud"},
            {"seq": "2"},
            {"seq": True},
            {"units": 5},
            {"units": [1]},
            {"kernel_boot": None},
            {"from_first": 1},
            {"more": 1},
        )
    ),
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_file_of_segments_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "logs.json").write_bytes(content)

    spool = JournaldSpool(tmp_path / "logs.json")

    assert (spool.is_damaged, spool.segments) == (True, {})


def test_the_segments_of_an_earlier_agent_are_taken_over() -> None:
    [one] = segments_from(json.dumps([GOOD]).encode())

    assert one == Segment("i", 1, 2, cursor(1))
    assert segments_from(as_content([one])) == [one]
    full = Segment("i", 1, GOES_ON, "", "debug", cursor(9), "b", ("a.service",), True, UNTOLD)
    assert segments_from(as_content([full])) == [full]


def test_boots_without_a_segment_are_those_between_two_that_have_one() -> None:
    def at(boot: str) -> Segment:
        return Segment("i", 1, 0, "", kernel_boot=boot)

    assert boots_between(["a", "b", "c", "d", "e"], [at("b"), at("e")]) == ["c", "d"]
    assert boots_between(["c", "d", "e"], [at("b"), at("e")]) == []
    assert boots_between(["a", "e"], [at(""), at("e")]) == []
    assert boots_between([], [at("b"), at("e")]) == []


def message(boot: int, seq: int) -> SpooledLog:
    return SpooledLog("info", {"install_id": "i", "boot_seq": boot, "seq": seq, "message": "x"})


def spool_with(path: Path, *segments: Segment) -> tuple[JournaldSpool, list[int]]:
    spool = JournaldSpool(path)
    for one in segments:
        assert spool.begin([one], one.cursor)
    return spool, list(spool.segments)


def two_starts(path: Path) -> tuple[JournaldSpool, int, int]:
    """A spool with two lines of start 1 and two of start 2, and the keys of their segments."""
    spool, [one, two] = spool_with(path, Segment("i", 1, 0, cursor(1)), Segment("i", 2, 0, cursor(10)))
    for boot, key, seq, at in ((1, one, 1, 4), (1, one, 2, 9), (2, two, 1, 12), (2, two, 2, 13)):
        spool.keep(message(boot, seq), key, cursor(at))
    return spool, one, two


def test_what_is_committed_moves_the_segment_on_and_ends_those_before_it(tmp_path: Path) -> None:
    spool, one, two = two_starts(tmp_path / "logs.json")

    assert spool.commit(LogsCommitted("i", 1, 1)) == 1
    assert (spool.segments[one].seq, spool.segments[one].cursor) == (1, cursor(4))
    assert spool.commit(LogsCommitted("i", 1, 2)) == 1
    assert spool.commit(LogsCommitted("i", 2, 1)) == 1
    assert spool.segments == {two: Segment("i", 2, 1, cursor(12))}
    spool.save()
    assert list(JournaldSpool(tmp_path / "logs.json").segments.values()) == list(spool.segments.values())


def test_a_mark_counts_once_the_mark_of_each_earlier_start_has_come(tmp_path: Path) -> None:
    spool, one, two = two_starts(tmp_path / "logs.json")

    assert spool.commit(LogsCommitted("i", 2, 1)) == 1
    assert (len(spool), spool.segments[one].seq) == (4, 0), "an earlier line is not committed yet"
    assert spool.commit(LogsCommitted("i", 1, 2)) == 2
    assert spool.segments == {two: Segment("i", 2, 1, cursor(12))}
    assert len(spool) == 1


def test_the_word_about_a_gap_is_told_until_it_is_committed_and_not_again(tmp_path: Path) -> None:
    spool, [one] = spool_with(tmp_path / "logs.json", Segment("i", 1, 0, cursor(1), gap=UNTOLD))
    spool.keep(message(1, 1), one, cursor(1))
    spool.keep(message(1, 2), one, cursor(5))
    assert spool.segments[one].gap == UNTOLD

    spool.commit(LogsCommitted("i", 1, 1))
    assert spool.segments[one] == Segment("i", 1, 1, cursor(1), gap=TOLD_OF)
    spool.commit(LogsCommitted("i", 1, 2))
    assert spool.segments[one] == Segment("i", 1, 2, cursor(5))


def test_a_segment_that_goes_on_keeps_the_numbers_of_the_dropped_one_before_it(tmp_path: Path) -> None:
    before = Segment("i", 2, GOES_ON, "", kernel_boot="a")
    spool, [one, two] = spool_with(tmp_path / "logs.json", before, Segment("i", 2, GOES_ON, "", kernel_boot="b"))

    spool.finished(one, 7)

    assert spool.segments == {two: Segment("i", 2, 7, "", kernel_boot="b")}


def test_a_segment_is_kept_as_long_as_a_line_waits_in_it_or_before_it(tmp_path: Path) -> None:
    spool, [one, two, _] = spool_with(tmp_path / "logs.json", *(Segment("i", boot, 0, "") for boot in (1, 2, 3)))
    spool.keep(message(1, 1), one, cursor(4))

    spool.finished(one, 1)
    spool.finished(two, 0)

    assert len(spool.segments) == 3


def test_where_the_disk_refuses_or_too_many_wait_the_last_segment_goes_on(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    spool, [one] = spool_with(tmp_path / "state/logs.json", Segment("i", 1, 0, cursor(1)))
    before = spool.segments

    (tmp_path / "state").rename(tmp_path / "away")
    assert not spool.begin([Segment("i", 2, 0, cursor(9))], cursor(9))
    assert spool.segments == before
    (tmp_path / "away").rename(tmp_path / "state")
    for boot in range(2, SEGMENTS + 5):
        spool.begin([Segment("i", boot, 0, cursor(boot))], cursor(boot))
    assert len(spool.segments) == SEGMENTS
    assert next(iter(spool.segments)) == one
    assert spool.begin([Segment("i", 9999, 0, "", kernel_boot="another")], must=True)


def test_the_spool_holds_few_lines_and_asks_for_more_when_there_is_room(tmp_path: Path) -> None:
    spool, [one] = spool_with(tmp_path / "logs.json", Segment("i", 1, 0, cursor(1)))
    for number in range(1, IN_MEMORY + 1):
        spool.keep(message(1, number), one, cursor(number))

    assert not spool.room.is_set()
    spool.commit(LogsCommitted("i", 1, IN_MEMORY // 2))
    assert spool.room.is_set()


def test_it_is_written_at_most_once_a_minute_and_never_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "logs.json"
    spool, [one] = spool_with(file, Segment("i", 1, 0, cursor(1)))
    written = []
    for second in range(300):
        if second < 120:
            spool.keep(message(1, second + 1), one, cursor(second + 2))
            spool.commit(LogsCommitted("i", 1, second + 1))
        before = file.stat().st_ino
        spool.save_when_due(float(second))
        written += [second] if file.stat().st_ino != before else []

    assert written == [0, 60, 120]


def test_a_quiet_machine_begins_at_a_newer_entry_unless_a_line_waits(tmp_path: Path) -> None:
    spool, [one, two] = spool_with(
        tmp_path / "logs.json", Segment("i", 1, 0, cursor(1)), Segment("i", 2, GOES_ON, cursor(2))
    )
    spool.keep(message(1, 1), one, cursor(2))

    spool.anchor(cursor(5), 0)
    assert len(spool.segments) == 2
    spool.commit(LogsCommitted("i", 1, 1))
    spool.anchor(cursor(5), 0)
    assert spool.segments == {two: Segment("i", 2, 0, cursor(5))}


def test_the_word_about_missing_lines_is_the_same_at_every_reading() -> None:
    said = missing(Segment("i", 4, 11, cursor(1)), 12)

    assert (said["install_id"], said["boot_seq"], said["seq"]) == ("i", 4, 12)
    assert said == missing(Segment("i", 4, 11, cursor(1)), 12)
    assert "may be missing" in said["message"]
    assert "ts" not in missing(Segment("i", 4, 0, ""), 1), "nobody knows when"


def test_a_disk_that_takes_nothing_loses_no_line_that_is_in_memory(tmp_path: Path) -> None:
    spool = JournaldSpool(tmp_path / "no such folder" / "logs.json")
    spool.begin([Segment("i", 1, 0, cursor(1))], must=True)
    spool.keep(message(1, 1), next(iter(spool.segments)), cursor(2))

    assert spool.next() == message(1, 1)
