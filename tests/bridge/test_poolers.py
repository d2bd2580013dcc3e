"""Behind a pooler that changes the session between transactions the bridge never leads, and reports why."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from deploy.local.postgres import system_user
from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running
from shared.postgres.door import engine_for, said_by_postgres
from tests import migrated
from tests.bridge.conftest import BridgeProcess, Database, StartBridge, bridges, eventually

SECONDS = 60.0
WORDS = "behind a pooler in transaction mode: the bridge needs the server itself"
IGNORED = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout,tcp_user_timeout"
KEEPALIVES = "tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count"


@contextmanager
def pgbouncer(database_url: str, folder: Path, *more: str) -> Iterator[str]:
    """The address of the database behind a pooler with these additional settings."""
    address, port = sa.make_url(database_url), free_port()
    users = folder / "users"
    users.write_text(f'"{address.username}" "{address.password}"\n')
    lines = (
        "[databases]",
        f"{address.database} = host={LOOPBACK} port={address.port}",
        "[pgbouncer]",
        f"listen_addr = {LOOPBACK}",
        f"listen_port = {port}",
        "unix_socket_dir =",
        "auth_type = scram-sha-256",
        f"auth_file = {users}",
        *more,
    )
    configuration = folder / "pgbouncer.ini"
    configuration.write_text("\n".join(lines) + "\n")
    for one in (users, configuration):
        one.chmod(0o644)
    folder.chmod(0o755)
    command = ("/usr/sbin/pgbouncer", str(configuration))
    with running(command, accepts(port), folder / "pgbouncer.log", user=system_user()):
        yield address.set(port=port).render_as_string(hide_password=False)


def lines_of(bridge: BridgeProcess, event: str) -> list[dict[str, str]]:
    told = [json.loads(line) for line in bridge.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in told if line.get("event") == event]


def never_leads_and_says_why(bridge: BridgeProcess) -> bool:
    status, body = bridge.ask("/healthz")
    return status == 503 and body["faults"] == [WORDS] and bridge.ask("/readyz")[0] == 503


def test_a_pooler_that_changes_the_session_is_refused_by_name(
    start_bridge: StartBridge, database_url: str, database: Database, tmp_path: Path
) -> None:
    before = database.value("SELECT epoch FROM bridge_status")
    settings = ("pool_mode = transaction", f"ignore_startup_parameters = {IGNORED},{KEEPALIVES}")
    with pgbouncer(database_url, tmp_path, *settings) as pooled:
        bridge = start_bridge(wait=False, DATABASE_URL=pooled, DATABASE_PREPARED_STATEMENTS="false")

        eventually(lambda: never_leads_and_says_why(bridge), SECONDS)

        assert [line["message"] for line in lines_of(bridge, "database_behind_pooler")] == [WORDS]
        assert database.value("SELECT epoch FROM bridge_status") == before


def test_a_pooler_that_refuses_our_settings_is_named_too_with_what_it_said(
    start_bridge: StartBridge, database_url: str, tmp_path: Path
) -> None:
    with pgbouncer(database_url, tmp_path, "pool_mode = transaction") as pooled:
        bridge = start_bridge(wait=False, DATABASE_URL=pooled)

        eventually(lambda: never_leads_and_says_why(bridge), SECONDS)

        [line] = lines_of(bridge, "database_away")
        assert line["sqlstate"] == "08P01"
        assert line["said"].startswith("unsupported startup parameter: ")


def test_a_pooler_that_gives_each_connection_a_session_of_its_own_is_no_fault(
    database_url: str, broker: mosquitto.RunningBroker, tmp_path: Path
) -> None:
    settings = ("pool_mode = session", f"ignore_startup_parameters = {IGNORED},{KEEPALIVES}")
    own = migrated.address_for("bridge", database_url)
    with (
        pgbouncer(own, tmp_path, *settings) as pooled,
        bridges(database_url, broker, tmp_path, preloaded=True) as start,
    ):
        assert start(DATABASE_URL=pooled).ready()


def test_a_wrong_password_is_told_as_one(start_bridge: StartBridge, database_url: str) -> None:
    wrong = sa.make_url(database_url).set(password="wrong").render_as_string(hide_password=False)

    bridge = start_bridge(wait=False, DATABASE_URL=wrong)
    eventually(lambda: bool(lines_of(bridge, "database_away")), SECONDS)

    [line] = lines_of(bridge, "database_away")
    assert line["sqlstate"] == "28P01"
    assert line["said"] == 'password authentication failed for user "signage"'


@pytest.mark.parametrize("statement", ["SELECT CAST('a secret' AS int)", "SELECT 1 secret secret"])
def test_what_is_told_of_an_error_quotes_no_value(statement: str, database_url: str) -> None:
    engine = engine_for(database_url, "tests")
    with pytest.raises(sa.exc.DBAPIError) as caught, engine.begin() as connection:
        connection.execute(sa.text(statement))
    engine.dispose()

    assert "secret" not in str(said_by_postgres(caught.value))
