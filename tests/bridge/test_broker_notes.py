"""What the broker's launcher notes in files comes to the database: crashes, and how many files are open."""

import os
import signal
import time
from pathlib import Path

from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from deploy.parts.broker_accounts.notes import Crashes, OpenFiles
from deploy.parts.probes import free_port
from tests.bridge.conftest import Database, eventually
from tests.bridge.test_broker_accounts import running


def test_each_crash_that_the_launcher_noted_is_counted_once(engine: Engine, database: Database, tmp_path: Path) -> None:
    noted, now = tmp_path / "broker.crashes", time.time()
    crashes, after_a_restart = Crashes(engine, noted), Crashes(engine, noted)

    def counted() -> int:
        return int(database.value("SELECT count(*) FROM broker_crashes"))

    crashes.carry()  # the file does not exist yet
    assert counted() == 0
    noted.write_text(f"{now - 9}\n{now - 8}\n")
    crashes.carry()
    noted.write_text(f"{now - 9}\n{now - 8}\n{now - 7}\n")
    crashes.carry()
    after_a_restart.carry()
    assert counted() == 3
    noted.write_text(f"nonsense\nnan\n1e99\n{now - 100 * 86_400}\n{now - 6}\n")  # the third is long ago
    crashes.carry()
    assert counted() == 4


def test_a_broker_that_crashes_is_counted_in_the_database(
    database_url: str, database: Database, tmp_path: Path
) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    passwords = dict.fromkeys(mosquitto.SERVICES, "service")
    before = database.value("SELECT count(*) FROM broker_crashes")
    with mosquitto.serve(place, passwords, tmp_path / "log") as served:
        eventually(place.running_file.exists)
        os.kill(served.pid, signal.SIGSEGV)
    with (
        mosquitto.serve(place, passwords, tmp_path / "log") as served,
        running(database_url, served, tmp_path / "accounts.log") as log,
    ):
        eventually(lambda: database.value("SELECT count(*) FROM broker_crashes") == before + 1)
        eventually(lambda: "broker_crashed" in log.read_text())


def test_how_many_files_the_broker_has_open_comes_to_the_database(
    database_url: str, engine: Engine, database: Database, tmp_path: Path
) -> None:
    database.do("DELETE FROM broker_files_seen")
    noted = tmp_path / "broker.files"
    files = OpenFiles(engine, noted)

    def seen() -> object:
        return database.value("SELECT count(*) || ' ' || coalesce(max(opened), 0) FROM broker_files_seen")

    for text in ("", "nonsense", "1 2", "1 2 3 4"):
        noted.write_text(text)
        files.carry()
    assert seen() == "0 0"
    for opened, known in ((900, "1 900"), (901, "1 900"), (57_000, "1 57000")):  # below a per cent nothing is written
        noted.write_text(f"{opened} 65536 9000000\n")
        files.carry()
        assert seen() == known

    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    with (
        mosquitto.serve(place, dict.fromkeys(mosquitto.SERVICES, "service"), tmp_path / "log") as served,
        running(database_url, served, tmp_path / "accounts.log"),
    ):
        eventually(lambda: 0 < int(database.value("SELECT opened FROM broker_files_seen")) < 900)
        assert 10**6 < int(database.value("SELECT memory_bytes FROM broker_files_seen")) < 10**8
