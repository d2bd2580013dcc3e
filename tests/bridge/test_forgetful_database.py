"""A restored database has lost the last minutes, and a bridge that continues must forget them too."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from shared.postgres.door import engine_for
from tests import migrated, volatile
from tests.bridge.conftest import SESSIONS, Database, Display, bridges, eventually, stamp

SECONDS = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[postgres.Cluster]:
    """A migrated Postgres that is not running: its data directory can be copied and restored."""
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as folder:
        yield migrated.copied(Path(folder))


@contextmanager
def running_database(cluster: postgres.Cluster, folder: Path) -> Iterator[Database]:
    with postgres.serve(cluster, folder / "log"):
        engine = engine_for(migrated.url_of(cluster), "tests")
        try:
            yield Database(engine)
        finally:
            engine.dispose()


def heartbeat(display: Display, seq: int, status: str, app_instance: str) -> None:
    body = {"process_status": status, "boot_id": "b", "app_instance": app_instance, "interval_seconds": 20}
    display.publish("heartbeat", {**body, **stamp(seq)})


def heard(database: Database, display: Display) -> tuple[Any, Any]:
    """The stored state of its player, and the number of its last heartbeat."""
    found = database.rows("SELECT seq FROM client_heartbeats WHERE client_uuid = :u", u=display.uuid)
    return database.client(display.uuid).get("process_status"), found[0]["seq"] if found else None


def beat_until_heard(database: Database, display: Display, first: int, status: str, app_instance: str) -> int:
    """Send three equal heartbeats, so that the last ones are remembered. Returns the last number."""
    for seq in range(first, first + 3):
        heartbeat(display, seq, status, app_instance)
        eventually(lambda seq=seq: heard(database, display)[1] == seq, SECONDS)  # type: ignore[misc]  # mypy cannot infer defaults
    return first + 2


def put_back(cluster: postgres.Cluster, copy: Path) -> None:
    shutil.rmtree(cluster.data)
    copy.rename(cluster.data)


def listening_since(database: Database) -> datetime | None:
    since: datetime | None = database.value("SELECT connected_since FROM bridge_status")
    return since


def test_a_display_that_is_well_is_not_shown_as_it_was_when_the_copy_was_made(
    cluster: postgres.Cluster, broker: mosquitto.RunningBroker, display: Display, tmp_path: Path
) -> None:
    copy = cluster.data.with_name("copy")
    with bridges(migrated.url_of(cluster), broker, tmp_path, preloaded=True) as start:
        with running_database(cluster, tmp_path) as database:
            bridge = start()
            last = beat_until_heard(database, display, 1, "crashed", "one")
            display.publish("logs/info", {"message": "before", **stamp(1)})
            eventually(lambda: ("logs_committed", {**stamp(1)}) in display.told, SECONDS)
        shutil.copytree(cluster.data, copy)

        with running_database(cluster, tmp_path) as database:
            last = beat_until_heard(database, display, last + 1, "running", "two")
            assert heard(database, display) == ("running", last)
            before = listening_since(database)
        put_back(cluster, copy)

        with running_database(cluster, tmp_path) as database:
            eventually(lambda: bridge.events().count("lead_regained") >= 2, SECONDS)
            eventually(lambda: heard(database, display)[0] == "crashed", SECONDS)  # as in the copy
            last = beat_until_heard(database, display, last + 1, "running", "two")

            assert heard(database, display) == ("running", last)
            eventually(lambda: (listening_since(database) or before) != before, SECONDS)
            assert (listening_since(database) or before) > before  # type: ignore[operator]  # neither is null
            assert bridge.events().count("broker_connected") == SESSIONS  # the same bridge with the same session
