"""Backup under load and restore into another Postgres, by the commands that docs/operating.md gives."""

import hashlib
import io
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.box import migrations
from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from functions.api.app import create_app
from functions.api.services import Services
from shared.config import load
from shared.postgres.door import engine_for
from tests import migrated, volatile
from tests.api.people import Api, add_user
from tests.api.test_life_of_media import make_ready, upload
from tests.lab.bench.store import writing
from tests.stack import eventually
from tests.worker import decks

DUMP = "--format=custom"
RESTORE = ("--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges")  # roles are not in a dump
CLOSE_GAPS = REPOSITORY / "deploy" / "box" / "close_log_gaps.sql"
DISPLAYS = 20
KEPT = ("client_logs", "event_media", "conversions", "client_commands", "audit_log", "users", "clients")
HASHES = "SELECT md5(CAST(t AS text)) FROM {table} AS t"


@dataclass
class World:
    """A database, the media volume beside it, and the API on both."""

    engine: Engine
    media: Path
    api: Api


@contextmanager
def world(database_url: str, media: Path) -> Iterator[World]:
    """Open the database and the api function's app there, without a queue and a broker."""
    told = {
        "DATABASE_URL": migrated.address_for("api", database_url),
        "MEDIA_ROOT": str(media),
        "MQTT_URL": "mqtt://127.0.0.1:9",
        "MQTT_USERNAME": "api",
        "MQTT_PASSWORD": "no-broker-in-this-test",
        "QUEUE_URL": "grpc://127.0.0.1:9/projects/local/locations/local",
        "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
    }
    engine = engine_for(database_url, "backup", pool_size=10)
    try:
        yield World(engine, media, Api(create_app(Services(load(told), engine)), engine))
    finally:
        engine.dispose()


def reports(batch: int) -> list[tuple[bytes, bytes]]:
    """Return what the displays send in one batch: a heartbeat and a numbered log line each."""
    found = []
    for display in range(DISPLAYS):
        stamp = {"install_id": f"i{display}", "boot_seq": 1, "seq": batch + 1, "ts": "2026-01-02T03:04:05Z"}
        prefix = f"signage/00000000-0000-4000-8000-{display:012d}/"
        beat = {"boot_id": "b", "app_instance": "a", "process_status": "running", "interval_seconds": 30}
        found.append(((prefix + "heartbeat").encode(), json.dumps({**beat, **stamp}).encode()))
        line = {"message": f"batch {batch} of {display}"}
        found.append(((prefix + "logs/info").encode(), json.dumps({**line, **stamp}).encode()))
    return found


@dataclass
class Load:
    """Writers that run until they are stopped: the bridge's batches, and uploads by the API."""

    world: World
    batches: list[int] = field(default_factory=list)  # that were committed
    uploads: dict[int, str] = field(default_factory=dict)  # medium -> SHA-256, answered 201
    _stop: threading.Event = field(default_factory=threading.Event)
    _faults: list[BaseException] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator["Load"]:
        threads = [threading.Thread(target=self._guarded, args=(work,)) for work in (self._bridge, self._people)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
        assert self._faults == []

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as fault:  # noqa: BLE001 - it is shown by the test's own thread
            self._faults.append(fault)

    def _bridge(self) -> None:
        with self.world.engine.connect() as connection:
            written, batch = writing(connection), 0
            while not self._stop.is_set():
                written(reports(batch))
                self.batches.append(batch)
                batch += 1

    def _people(self) -> None:
        number = 0
        while not self._stop.is_set():
            content = b"%PDF-1.4\n% " + str(number).encode() * 2000 + b"\n%%EOF\n"
            answer = upload(self.world.api, f"menu {number}.pdf", content)
            self.uploads[answer["media"]["id"]] = hashlib.sha256(content).hexdigest()
            number += 1


def hashes(engine: Engine, table: str) -> set[str]:
    """Return a hash of each row."""
    with engine.connect() as connection:
        return set(connection.execute(sa.text(HASHES.format(table=table))).scalars())


def batches_of(engine: Engine) -> dict[int, int]:
    """Return the number of log lines of each batch."""
    statement = "SELECT CAST(split_part(message, ' ', 2) AS int), count(*) FROM client_logs GROUP BY 1"
    with engine.connect() as connection:
        return {row[0]: row[1] for row in connection.execute(sa.text(statement))}


def program(cluster: postgres.Cluster, name: str) -> str:
    """Return the path of a Postgres program: beside the server, or the machine's where the server is a wheel."""
    beside = cluster.programs.folder / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"this machine's Postgres comes without {name}")
    return found


@dataclass(frozen=True)
class Backup:
    """What a dump under load wrote, and what was known to be committed before it began."""

    folder: Path
    committed: dict[str, set[str]]
    batches: set[int]
    uploads: dict[int, str]
    ready: dict[str, Any]
    lost: dict[str, Any]
    cursor: str


def make_backup(source: World, cluster: postgres.Cluster, database_url: str, folder: Path) -> Backup:
    """Dump the database first and copy the files after it: a file that a dumped row names existed before the dump."""
    volume = source.api.app.extensions["signage"].media_volume
    found = []
    for number in range(2):
        decks.make_pptx(folder / "deck.pptx", 1, seed=number)
        uploaded = upload(source.api, f"deck {number}.pptx", (folder / "deck.pptx").read_bytes())
        found.append({**uploaded, "path": make_ready(source.engine, volume, uploaded)})
    add_user(source.engine, "ada")
    with Load(source).running() as load:
        eventually(lambda: len(load.batches) > 20 and len(load.uploads) > 5, "some load")
        cursor = source.api.get("/api/monitoring/overview").get_json()["cursor"]
        batches, uploads = set(load.batches), dict(load.uploads)
        committed = {table: hashes(source.engine, table) for table in KEPT if table != "clients"}
        dump = [program(cluster, "pg_dump"), DUMP, f"--file={folder / 'signage.dump'}", database_url]
        subprocess.run(dump, check=True)
        eventually(lambda: set(load.batches) > batches, "some work during the backup")
        (volume.root / "converted" / found[1]["path"]).unlink()  # like a medium that is deleted during the copy
        copy = ["env", "LC_ALL=C", "cp", "-a", str(source.media), str(folder / "media")]
        copied = subprocess.run(copy, check=False, capture_output=True, text=True)
    for complaint in copied.stderr.splitlines():  # uploads that ended meanwhile: their temporary files were renamed
        assert complaint.endswith(": No such file or directory"), complaint
    return Backup(folder, committed, batches, uploads, found[0], found[1], cursor)


def test_a_backup_made_under_load_brings_back_whatever_was_committed_before_it(
    postgres_server: postgres.Cluster, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    media, folder = tmp_path / "media", tmp_path / "backup"
    media.mkdir()
    folder.mkdir()
    with world(database_url, media) as source:
        backup = make_backup(source, postgres_server, database_url, folder)
        known = source.api.get(f"/api/monitoring/overview?since={backup.cursor}").get_json()
        assert known["full"] is False, "where it was given, the cursor is answered with what changed"

    with postgres.throw_away(place=volatile.folder()) as elsewhere:
        url = postgres.ensure_database(elsewhere, "owner")
        restore = [program(elsewhere, "pg_restore"), *RESTORE, f"--role={postgres.OWNER}"]
        restore.append(f"--dbname={elsewhere.url(postgres.DATABASE)}")
        subprocess.run([*restore, str(folder / "signage.dump")], check=True)
        monkeypatch.setenv("DATABASE_URL", url)
        monkeypatch.setenv("DATABASE_ROLE_PASSWORDS", json.dumps(migrated.PASSWORDS))
        assert migrations.main() == 0, "the migrations that every start runs"
        with world(url, folder / "media") as restored:
            check_rows(restored, backup)
            check_files(restored, backup)
            check_service(restored, backup)


def check_rows(restored: World, backup: Backup) -> None:
    """Check that rows committed before the dump are unchanged, and that later batches are there whole or not at all."""
    for table, rows in backup.committed.items():
        missing = rows - hashes(restored.engine, table)
        assert not missing, f"{table}: {len(missing)} of {len(rows)} rows are missing or changed"
    counts = batches_of(restored.engine)
    assert backup.batches <= set(counts)
    assert set(counts.values()) == {DISPLAYS}
    assert sorted(counts) == list(range(len(counts)))


def check_files(restored: World, backup: Backup) -> None:
    """Check that each medium's file has the bytes that its row states, and that a missing PDF is reported."""
    items = restored.api.get("/api/event-media?limit=100").get_json()["items"]
    assert {item["id"] for item in items} >= set(list(backup.uploads)[-50:])
    for item in items:
        content = restored.api.get(f"/api/event-media/{item['id']}/content", buffered=True)
        assert hashlib.sha256(content.data).hexdigest() == item["sha256"], item
    served = restored.api.get(f"/api/files/converted/{backup.ready['path']}", buffered=True)
    gone = restored.api.get(f"/api/files/converted/{backup.lost['path']}")
    assert served.status_code == 200
    assert (gone.status_code, "not on the media volume" in gone.get_json()["detail"]) == (404, True)
    again = restored.api.post(f"/api/conversions/{backup.lost['media']['id']}/pdf")
    assert (again.status_code, again.get_json()["status"]) == (202, "pending")


def check_service(restored: World, backup: Backup) -> None:
    """Check that dashboards fetch all again, displays resend what was not acknowledged, and new work is stored."""
    fleet = restored.api.get(f"/api/monitoring/overview?since={backup.cursor}").get_json()
    assert fleet["full"] is True
    assert len(fleet["clients"]) == DISPLAYS
    before = batches_of(restored.engine)
    with restored.engine.connect() as connection:
        written = writing(connection)
        for batch in (len(before) - 2, len(before) - 1, len(before)):  # two that were stored already, and a new one
            written(reports(batch))
    assert batches_of(restored.engine) == {**before, len(before): DISPLAYS}
    check_marks(restored, len(before))
    answer = restored.api.post("/api/event-media", data={"file": (io.BytesIO(b"%PDF-1.4\n% new\n%%EOF\n"), "new.pdf")})
    assert answer.status_code == 201


def check_marks(restored: World, stored: int) -> None:
    """Check that displays continue: marks pass the gap of lines committed after the dump once a display reports it."""
    gap = 4
    for batch, expected in ((stored + gap, stored + 1), (stored + gap + 1, stored + gap + 2)):
        with restored.engine.connect() as connection:
            writing(connection)(reports(batch))
        assert marks(restored.engine) == {expected}
        with restored.engine.begin() as connection:
            connection.execute(sa.text(CLOSE_GAPS.read_text(encoding="utf-8")))
        assert marks(restored.engine) == {batch + 1}
    assert hashes(restored.engine, "log_keys") == set()


def marks(engine: Engine) -> set[int]:
    """Return up to which number each display's log is stored without a gap."""
    with engine.connect() as connection:
        return set(connection.execute(sa.text("SELECT seq FROM log_marks")).scalars())


def test_the_commands_in_the_manual_are_the_ones_that_are_tested() -> None:
    manual = (REPOSITORY / "docs" / "operating.md").read_text(encoding="utf-8")
    section = manual[manual.index("## Backup and restore") :].partition("\n## ")[0]

    assert section.count(f"pg_dump {DUMP}") >= 2, "with systemd and with Docker"
    assert section.count(CLOSE_GAPS.name) >= 2
    assert section.count(f"pg_restore {' '.join(RESTORE)}") >= 2
