"""What a simulated display stores on its disk: the journal, the spool, the counter file."""

import errno
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from displays.client import durable
from displays.client import journal as journal_module
from displays.client.contract import LogsCommitted
from displays.client.credentials import Credentials
from displays.client.installation import next_boot
from displays.client.journal import Journal
from displays.client.spool import Spool, SpooledLog
from displays.client.state import JOURNAL_SIZE, JournalEntry


def an_entry(identity: str, state: str = "received") -> JournalEntry:
    return JournalEntry(identity, "restart_app", state, None, "boot-1", "app-1", "installation-a", 1, 1)


def a_log(seq: int, boot_seq: int = 1) -> SpooledLog:
    stamp = {"install_id": "installation-a", "boot_seq": boot_seq, "seq": seq}
    return SpooledLog("info", stamp | {"message": f"line {seq}\nwith \N{SNOWMAN}"})


def rest(spool: Spool) -> list[tuple[int, int]]:
    numbers = []
    while (message := spool.next()) is not None:
        numbers.append((message.body["boot_seq"], message.body["seq"]))
    return numbers


def test_the_journal_says_after_a_restart_where_each_command_stands(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    for entry in [an_entry("c1"), an_entry("c2"), an_entry("c1", "succeeded")]:
        journal.write(entry)
    journal.close()

    again = Journal(tmp_path / "journal")

    assert again.entries() == [an_entry("c1", "succeeded"), an_entry("c2")]
    again.close()


def test_a_journal_from_before_there_were_traces_forgets_no_command(tmp_path: Path) -> None:
    before = asdict(an_entry("c1", "succeeded"))
    del before["traceparent"]
    (tmp_path / "journal").write_bytes(durable.as_lines([before]))

    journal = Journal(tmp_path / "journal")

    assert journal.entries() == [an_entry("c1", "succeeded")]
    journal.close()


def test_an_entry_is_on_the_disk_when_write_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    real_fsync = os.fsync

    def fsync(file: int) -> None:
        real_fsync(file)
        synced.append((tmp_path / "journal").read_bytes())

    journal = Journal(tmp_path / "journal")
    monkeypatch.setattr(os, "fsync", fsync)
    journal.write(an_entry("c1"))
    journal.close()

    assert b'"c1"' in synced[-1]


def test_a_line_torn_by_a_power_cut_is_no_entry_and_spoils_no_other(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.write(an_entry("c1"))
    journal.close()
    with (tmp_path / "journal").open("ab") as file:
        file.write(b'{"id": "c2", "act')

    again = Journal(tmp_path / "journal")
    again.write(an_entry("c3"))
    again.close()

    third = Journal(tmp_path / "journal")
    assert [entry.id for entry in third.entries()] == ["c1", "c3"]
    third.close()


def test_the_journal_keeps_256_ids_and_its_file_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "COMPACT_AT_LINES", 300)
    journal = Journal(tmp_path / "journal")
    for number in range(JOURNAL_SIZE + 100):
        journal.write(an_entry(f"c{number}"))
    journal.close()

    again = Journal(tmp_path / "journal")

    assert [entry.id for entry in again.entries()] == [f"c{number}" for number in range(100, 356)]
    assert len((tmp_path / "journal").read_bytes().splitlines()) == JOURNAL_SIZE
    again.close()


def test_a_disk_that_has_no_room_to_tidy_up_still_takes_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "journal")

    def no_room(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(journal_module, "COMPACT_AT_LINES", 1)
    monkeypatch.setattr(durable, "replace_file", no_room)
    for identity in ("c1", "c2", "c3"):
        journal.write(an_entry(identity))
    monkeypatch.undo()
    journal.close()

    again = Journal(tmp_path / "journal")
    assert [entry.id for entry in again.entries()] == ["c1", "c2", "c3"]
    again.close()


def test_the_spool_keeps_every_message_until_it_is_committed_and_hands_out_in_order(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for seq in range(1, 6):
        spool.append(a_log(seq))

    first = rest(spool)
    spool.commit(LogsCommitted("installation-a", 1, 2))
    assert rest(spool) == []
    spool.rewind()

    assert first == [(1, seq) for seq in range(1, 6)]
    assert rest(spool) == [(1, 3), (1, 4), (1, 5)]
    spool.close()


def test_a_mark_that_comes_while_the_spool_is_being_sent_skips_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for seq in range(1, 6):
        spool.append(a_log(seq))
    for _ in range(3):
        spool.next()

    spool.commit(LogsCommitted("installation-a", 1, 2))

    assert rest(spool) == [(1, 4), (1, 5)]
    spool.close()


@pytest.mark.parametrize(
    "mark",
    [LogsCommitted("installation-b", 1, 9), LogsCommitted("installation-a", 2, 9)],
    ids=["another installation", "another boot"],
)
def test_a_mark_of_another_boot_drops_nothing(tmp_path: Path, mark: LogsCommitted) -> None:
    spool = Spool(tmp_path / "spool")
    spool.append(a_log(1))

    assert spool.commit(mark) == 0
    assert len(spool) == 1
    spool.close()


def test_the_spool_survives_the_process_with_what_was_committed_gone(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    for seq in range(1, 4):
        spool.append(a_log(seq))
    spool.commit(LogsCommitted("installation-a", 1, 1))
    # Not closed: the process dies here.

    again = Spool(tmp_path / "spool")
    again.append(a_log(1, boot_seq=2))

    assert rest(again) == [(1, 2), (1, 3), (2, 1)]
    again.close()
    spool.close()


def test_a_full_spool_refuses_before_a_number_is_given(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", max_messages=2)
    for seq in (1, 2):
        assert spool.has_room()
        spool.append(a_log(seq))

    assert not spool.has_room()
    assert spool.refused == 1
    spool.commit(LogsCommitted("installation-a", 1, 1))
    assert spool.has_room()
    spool.close()


def test_the_counter_file_counts_boots_and_keeps_the_installation(tmp_path: Path) -> None:
    first = next_boot(tmp_path / "counter", "boot-a")
    second = next_boot(tmp_path / "counter", "boot-b")

    assert (first.boot_seq, second.boot_seq) == (1, 2)
    assert first.install_id == second.install_id
    assert second.boot_id == "boot-b"


INSTALLATION = b'{"install_id": "0d8f6c1e-51c6-4f0e-9d5e-1d2c3b4a5f60", "boot_seq": %s}'


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b'{"install_id": "x", "boot_seq": 3}', b'{"install_id": 5, "boot_seq": 3}'),
        *(
            INSTALLATION % boots
            for boots in (b"-5", b"9223372036854775807", b"Infinity", b"NaN", b"3.5", b'"3"', b"[]")
        ),
    ],
)
def test_a_damaged_counter_file_begins_a_new_installation(tmp_path: Path, content: bytes) -> None:
    before = next_boot(tmp_path / "counter", "boot-a")
    (tmp_path / "counter").write_bytes(content)

    after = next_boot(tmp_path / "counter", "boot-b")

    assert after.install_id != before.install_id
    assert after.boot_seq == 1


def test_a_write_that_only_partly_fits_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"whole\n")
    file = os.open(path, os.O_WRONLY | os.O_APPEND)
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: real_write(descriptor, content[:3]))

    with pytest.raises(OSError, match="only a part"):
        durable.append(file, b"torn line\n")

    os.close(file)
    assert path.read_bytes() == b"whole\n"


def test_credentials_are_for_their_owner_only_and_come_back_as_they_were(tmp_path: Path) -> None:
    body = {
        "uuid": "u",
        "username": "u",
        "password": "secret-word",
        "mqtt": {"host": "broker.test", "port": 8883, "tls": True, "ca_pem": None},
        "topic_root": "signage",
    }
    credentials = Credentials.from_enrolment(body)
    credentials.save(tmp_path / "credentials.json")

    assert Credentials.load(tmp_path / "credentials.json") == credentials
    assert (tmp_path / "credentials.json").stat().st_mode & 0o777 == 0o600
    assert "secret-word" not in repr(credentials)
    assert credentials.at("mqtt://127.0.0.1:2883").port == 2883
