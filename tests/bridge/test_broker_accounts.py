"""The displays' password file follows the database, and the broker follows the file."""

import os
import secrets
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts.broker_accounts.__main__ import pause
from deploy.parts.broker_accounts.logins import Accounts, write_if_changed
from deploy.parts.layout import REPOSITORY
from deploy.parts.probes import connect_code
from shared.access import enrolment_store
from shared.access.rules import MOSQUITTO_SALT_BYTES, mosquitto_hash
from tests import migrated
from tests.bridge.conftest import SECONDS, Database, eventually
from tests.local.mqtt_clients import connected, publish, subscribe


@pytest.fixture(scope="module")
def accounts(
    database_url: str, broker: mosquitto.RunningBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The log of a running broker_accounts."""
    with running(database_url, broker, tmp_path_factory.mktemp("accounts") / "accounts.log") as log:
        yield log


@contextmanager
def running(database_url: str, broker: mosquitto.RunningBroker, log: Path) -> Iterator[Path]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.parts.broker_accounts"],
            cwd=REPOSITORY,
            env={
                **os.environ,
                "DATABASE_URL": migrated.address_for("broker_accounts", database_url),
                "DISPLAYS_PASSWORD_FILE": str(broker.broker.displays_password_file),
                "BROKER_CRASHES_FILE": str(broker.broker.crashes_file),
            },
            stdout=output,
            stderr=output,
        )
    try:
        eventually(lambda: "component_started" in log.read_text())
        yield log
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(60)
        print(log.read_text()[-3000:])
    assert process.returncode == 0


def enrol(database: Database, name: str, password: str) -> None:
    """Store a login like POST /api/enroll."""
    hashed = mosquitto_hash(password, secrets.token_bytes(MOSQUITTO_SALT_BYTES))
    database.do("INSERT INTO clients (uuid, registered_by) VALUES (:u, 'enrolment') ON CONFLICT DO NOTHING", u=name)
    database.do(
        "INSERT INTO display_logins (client_uuid, password_hash, created_at) VALUES (:u, :h, now())"
        " ON CONFLICT (client_uuid) DO UPDATE SET password_hash = EXCLUDED.password_hash",
        u=name,
        h=hashed,
    )


def may_connect(broker: mosquitto.RunningBroker, name: str, password: str) -> bool:
    return connect_code(broker.broker.displays_port, name, password) == 0


def test_an_enrolled_display_can_connect(accounts: Path, broker: mosquitto.RunningBroker, database: Database) -> None:
    name = str(uuid.uuid4())
    assert not may_connect(broker, name, "one")

    enrol(database, name, "one")

    eventually(lambda: may_connect(broker, name, "one"))


def test_a_new_password_takes_the_place_of_the_old_one(
    accounts: Path, broker: mosquitto.RunningBroker, database: Database
) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "old")
    eventually(lambda: may_connect(broker, name, "old"))

    enrol(database, name, "new")

    eventually(lambda: may_connect(broker, name, "new"))
    assert not may_connect(broker, name, "old")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE display_logins SET revoked_at = now() WHERE client_uuid = :u",
        "UPDATE clients SET deleted_at = now() WHERE uuid = :u",
    ],
    ids=["login revoked", "client deleted"],
)
def test_who_may_no_longer_log_in_is_refused(
    statement: str, accounts: Path, broker: mosquitto.RunningBroker, database: Database
) -> None:
    name = str(uuid.uuid4())
    enrol(database, name, "one")
    eventually(lambda: may_connect(broker, name, "one"))

    database.do(statement, u=name)

    eventually(lambda: not may_connect(broker, name, "one"))
    assert name not in broker.broker.displays_password_file.read_text()


def test_who_is_revoked_is_cut_off_within_two_seconds_and_nobody_else(
    accounts: Path, broker: mosquitto.RunningBroker, database: Database
) -> None:
    gone, other, place = str(uuid.uuid4()), str(uuid.uuid4()), broker.broker
    for name in (gone, other):
        enrol(database, name, "one")
    eventually(lambda: may_connect(broker, other, "one"))
    with (
        connected(place.services_port, "bridge", broker.passwords["bridge"], "bridge") as (bridge, served),
        connected(place.displays_port, other, "one") as (neighbour, kept),
        connected(place.displays_port, gone, "one") as (_, cut),
    ):
        subscribe(bridge, f"signage/{other}/heartbeat")

        database.do("UPDATE display_logins SET revoked_at = now() WHERE client_uuid = :u", u=gone)

        assert cut.disconnected.wait(SECONDS)
        assert publish(neighbour, kept, f"signage/{other}/heartbeat") == 0
        eventually(lambda: bool(served.messages))
        assert [seen.disconnected.is_set() for seen in (kept, served)] == [False, False]


def test_a_login_that_came_while_it_looked_does_not_outlive_its_end(
    engine: Engine, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "passwords"
    kept = Accounts(engine, file)
    name, digest = str(uuid.uuid4()), enrolment_store.live_logins_digest

    def enrolled_meanwhile(connection: Connection) -> str:
        found = digest(connection)
        enrol(database, name, "one")
        return found

    with monkeypatch.context() as during:
        during.setattr(enrolment_store, "live_logins_digest", enrolled_meanwhile)
        kept.keep_up()
    database.do("UPDATE clients SET deleted_at = now() WHERE uuid = :u", u=name)
    kept.keep_up()

    assert name not in file.read_text()


def test_it_looks_often_while_that_is_cheap_and_once_a_second_where_it_is_not() -> None:
    assert [pause(seconds) for seconds in (0.001, 0.02, 0.2, 3.0)] == pytest.approx([0.25, 0.4, 1.0, 1.0])


def test_postgres_may_go_away_and_come_back(tmp_path: Path) -> None:
    with migrated.running() as cluster, mosquitto.throw_away() as broker:
        url = migrated.url_of(cluster)
        with running(url, broker, tmp_path / "accounts.log") as log:
            with postgres.superuser(cluster) as admin:
                admin.run("ALTER DATABASE signage ALLOW_CONNECTIONS false")
                admin.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'signage'")
                eventually(lambda: "database_away" in log.read_text())
                admin.run("ALTER DATABASE signage ALLOW_CONNECTIONS true")
            name = str(uuid.uuid4())
            hashed = mosquitto_hash("one", secrets.token_bytes(MOSQUITTO_SALT_BYTES))
            with postgres.superuser(cluster, "signage") as admin:
                admin.run("INSERT INTO clients (uuid, registered_by) VALUES (:u, 'enrolment')", u=name)
                admin.run("INSERT INTO display_logins VALUES (:u, :h, now())", u=name, h=hashed)

            eventually(lambda: may_connect(broker, name, "one"))


def test_the_file_keeps_its_mode_and_is_never_half_written(tmp_path: Path) -> None:
    path = tmp_path / "passwords"
    path.write_bytes(b"old\n")
    path.chmod(0o604)
    old = path.open("rb")  # a reader that has the old file open keeps reading it

    with old:
        assert write_if_changed(path, b"new\n")

        assert (old.read(), path.read_bytes()) == (b"old\n", b"new\n")
    assert path.stat().st_mode & 0o777 == 0o604
    assert [entry.name for entry in tmp_path.iterdir()] == ["passwords"]
    assert not write_if_changed(path, b"new\n")


def test_a_new_file_is_closed_to_others(tmp_path: Path) -> None:
    write_if_changed(tmp_path / "passwords", b"")

    assert (tmp_path / "passwords").stat().st_mode & 0o777 == 0o640
