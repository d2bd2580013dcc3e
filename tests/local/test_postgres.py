"""The Postgres that `make run` and every test starts."""

import os
import signal
from pathlib import Path

import pg8000.dbapi
import pytest

from deploy.local import postgres
from deploy.parts import guardian
from deploy.parts.probes import free_port


def cluster_in(folder: Path) -> postgres.Cluster:
    programs = postgres.find_programs()
    return postgres.Cluster(programs, folder / f"pg{programs.major}", free_port(), "superuser's secret")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> postgres.Cluster:
    """A cluster that was initialised and is not running."""
    made = cluster_in(tmp_path_factory.mktemp("cluster"))
    assert postgres.initialise(made)
    return made


def test_data_survives_a_restart(cluster: postgres.Cluster, tmp_path: Path) -> None:
    with postgres.serve(cluster, tmp_path / "log"), postgres.superuser(cluster) as connection:
        connection.run("CREATE TABLE restarted AS SELECT 42 AS answer")

    assert not postgres.initialise(cluster)  # it is there

    with postgres.serve(cluster, tmp_path / "log"), postgres.superuser(cluster) as connection:
        assert connection.run("SELECT answer FROM restarted") == [[42]]


def test_committed_data_survives_a_kill(cluster: postgres.Cluster, tmp_path: Path) -> None:
    with postgres.serve(cluster, tmp_path / "log") as process, postgres.superuser(cluster) as connection:
        connection.run("CREATE TABLE killed AS SELECT 42 AS answer")
        backends = guardian.descendants(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        for backend in backends:
            guardian.send(backend, signal.SIGKILL)
        process.wait()

    with postgres.serve(cluster, tmp_path / "log"), postgres.superuser(cluster) as connection:
        assert connection.run("SELECT answer FROM killed") == [[42]]


def test_the_database_can_be_ensured_again_and_again(cluster: postgres.Cluster, tmp_path: Path) -> None:
    with postgres.serve(cluster, tmp_path / "log"):
        first = postgres.ensure_database(cluster, "an old 'password'")
        second = postgres.ensure_database(cluster, "a new/password@with:signs")

        assert first != second
        with pytest.raises(pg8000.dbapi.DatabaseError, match="28P01"):
            signs_in(cluster, "an old 'password'")
        assert signs_in(cluster, "a new/password@with:signs")


def signs_in(cluster: postgres.Cluster, password: str) -> bool:
    with postgres.opened(cluster, postgres.OWNER, password, postgres.DATABASE) as connection:
        return bool(connection.run("SELECT true") == [[True]])


def test_it_listens_on_loopback_only_and_asks_for_a_password(postgres_server: postgres.Cluster) -> None:
    with postgres.superuser(postgres_server) as connection:
        assert connection.run("SHOW listen_addresses") == [["127.0.0.1"]]
        assert connection.run("SHOW unix_socket_directories") == [[""]]
        rules = connection.run("SELECT DISTINCT auth_method FROM pg_hba_file_rules")

    assert rules == [["scram-sha-256"]]


def test_a_cluster_of_a_version_that_is_not_installed_is_named(tmp_path: Path) -> None:
    (tmp_path / "pg9").mkdir()

    with pytest.raises(postgres.PostgresUnusable, match="postgresql-9"):
        postgres.find_programs(tmp_path)
