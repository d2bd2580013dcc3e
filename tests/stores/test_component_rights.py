"""The rights of each component's database role, as the migrations create it."""

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DatabaseError, ProgrammingError

from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from migrations import rights, roles
from shared.access import audit_store
from shared.access.rules import AuditLine
from shared.postgres.door import database_now, engine_for, sqlstate
from shared.tables import metadata
from tests import migrated

WRONG_PASSWORD = "28P01"

ACCOUNTS = (
    *("users", "user_sessions", "second_factors", "recovery_codes", "api_tokens", "enrolment_codes"),
    *("provider_identities", "provider_tries", "status_links"),
)


@pytest.fixture(params=roles.WITH_ROLES)
def component(request: pytest.FixtureRequest, database_url: str) -> Iterator[Engine]:
    """An engine of each component's role in turn."""
    yield from as_component(request.param, database_url)


@pytest.fixture
def tick(database_url: str) -> Iterator[Engine]:
    """An engine of the tick's role."""
    yield from as_component("scheduler_tick", database_url)


def as_component(name: str, database_url: str) -> Iterator[Engine]:
    engine = engine_for(migrated.address_for(name, database_url), "rights", 1)
    yield engine
    engine.dispose()


def is_refused(engine: Engine, statement: str) -> bool:
    """Whether Postgres denies the right to this statement; an allowed statement is rolled back."""
    with engine.connect() as connection:
        try:
            connection.execute(sa.text(statement))
        except ProgrammingError as error:
            return error.orig is not None and error.orig.args[0]["C"] == "42501"
    return False


def table_rows() -> list[str]:
    return [line.split()[0] for line in rights.TABLES.splitlines()[1:]]


def test_every_table_has_one_line_of_rights() -> None:
    tables = {name for name in metadata.tables if "." not in name} | {"alembic_version", "client_logs_id_seq"}

    assert sorted(table_rows()) == sorted(tables)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_log SET actor = 'nobody'",
        "DELETE FROM audit_log",
        "TRUNCATE audit_log",
        "DROP TABLE audit_log",
        "ALTER TABLE audit_log DISABLE TRIGGER ALL",
        "CREATE RULE hide AS ON INSERT TO audit_log DO INSTEAD NOTHING",
    ],
)
def test_no_component_changes_or_removes_a_line_of_the_audit_log(component: Engine, statement: str) -> None:
    assert is_refused(component, statement)


@pytest.mark.parametrize(
    "statement",
    [
        f"SET ROLE {postgres.OWNER}",
        "SET SESSION AUTHORIZATION postgres",
        "CREATE ROLE another LOGIN",
        f"GRANT {postgres.OWNER} TO CURRENT_USER",
        f"ALTER ROLE {postgres.OWNER} PASSWORD 'known'",
        "ALTER FUNCTION forget_audit_before(timestamptz) OWNER TO CURRENT_USER",
        "CREATE TABLE public.trap (id int)",
        "COPY (SELECT 1) TO PROGRAM 'true'",
    ],
)
def test_no_component_gives_itself_more_rights(component: Engine, statement: str) -> None:
    assert is_refused(component, statement)


@pytest.mark.parametrize("table", ACCOUNTS)
@pytest.mark.parametrize("name", ["bridge", "convert_worker", "broker_accounts", "task_queue"])
def test_who_need_not_know_accounts_cannot_read_them(name: str, table: str, database_url: str) -> None:
    for engine in as_component(name, database_url):
        assert is_refused(engine, f"SELECT 1 FROM {table}")


@pytest.mark.parametrize("table", ["users", "second_factors", "recovery_codes", "api_tokens", "display_logins"])
def test_the_tick_reads_no_secret_of_people_scripts_and_displays(table: str, tick: Engine) -> None:
    assert is_refused(tick, f"SELECT 1 FROM {table}")


def test_rights_that_somebody_gave_by_hand_are_gone_after_the_next_start(engine: Engine, database_url: str) -> None:
    with engine.begin() as owner:
        owner.execute(sa.text("GRANT UPDATE ON audit_log TO signage_convert_worker"))
        owner.execute(sa.text("GRANT EXECUTE ON FUNCTION forget_audit_before(timestamptz) TO PUBLIC"))

    migrated.upgrade(database_url)

    for worker in as_component("convert_worker", database_url):
        assert is_refused(worker, "UPDATE audit_log SET actor = 'nobody'")
        assert is_refused(worker, "SELECT forget_audit_before(now())")


def test_the_tick_ends_the_audit_logs_retention_but_never_within_thirty_days(tick: Engine, engine: Engine) -> None:
    with engine.begin() as owner:
        now = database_now(owner)
        for days in (5, 29, 31, 400):
            line = AuditLine("anna", "test", f"{days} days", "done", None, {})
            audit_store.insert(owner, now - timedelta(days=days), line)

    with tick.begin() as connection:
        gone = audit_store.delete_before(connection, now)

    with engine.connect() as owner:
        kept = owner.execute(sa.text("SELECT target FROM audit_log WHERE action = 'test' ORDER BY at")).scalars().all()
    assert (gone, kept) == (2, ["29 days", "5 days"])


@pytest.mark.parametrize("name", ["audit_log", "client_logs", "client_logs_routine", "client_logs_serious_other"])
def test_the_tick_drops_weekly_partitions_and_no_other_table(name: str, tick: Engine) -> None:
    with tick.connect() as connection, pytest.raises(ProgrammingError, match="is no weekly partition"):
        connection.execute(sa.text("SELECT drop_client_log_partition(:name)"), {"name": name})


def test_only_the_tick_may_do_what_it_does_as_the_owner(component: Engine) -> None:
    assert component.url.username is not None
    allowed = component.url.username == "signage_scheduler_tick"

    assert is_refused(component, "SELECT forget_audit_before(now())") is not allowed
    assert is_refused(component, "SELECT make_client_log_partition('routine', DATE '2001-01-01')") is not allowed


def test_another_password_replaces_the_one_before(postgres_server: postgres.Cluster, database_url: str) -> None:
    """The owner has another name, so its roles belong to this test alone."""
    owner, password = "rotating", secrets.token_urlsafe(16)
    with postgres.superuser(postgres_server) as superuser:
        superuser.run(f"CREATE ROLE {owner} LOGIN CREATEROLE PASSWORD '{password}' IN ROLE {postgres.OWNER}")
    url = postgres_server.url(database_url.rpartition("/")[2], owner, password)

    for word in ("the first password", "the second password"):
        assert migrate(url, {"bridge": word}).returncode == 0

    assert signs_in(postgres_server, database_url, "rotating_bridge", "the second password")
    assert not signs_in(postgres_server, database_url, "rotating_bridge", "the first password")


def test_an_owner_who_may_not_make_roles_is_told_what_to_do(
    postgres_server: postgres.Cluster, database_url: str
) -> None:
    with postgres.superuser(postgres_server) as superuser:
        superuser.run(f"CREATE ROLE modest LOGIN PASSWORD 'modest' IN ROLE {postgres.OWNER}")
    url = postgres_server.url(database_url.rpartition("/")[2], "modest", "modest")

    ended = migrate(url, {"bridge": "a password of the bridge"})

    assert ended.returncode == 2
    assert ended.stderr.strip().endswith('ALTER ROLE "modest" CREATEROLE;')


def test_a_password_of_no_component_makes_no_role(database_url: str) -> None:
    ended = migrate(database_url, {"brigde": "a password of the bridge"})

    assert ended.returncode == 2
    assert ended.stderr.strip().endswith("DATABASE_ROLE_PASSWORDS: there is no component brigde.")


def migrate(url: str, passwords: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """Run the migrations as a box and the cloud do."""
    environment = {**os.environ, "DATABASE_URL": url, "DATABASE_ROLE_PASSWORDS": json.dumps(passwords)}
    command = [sys.executable, "-m", "deploy.box.migrations"]
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)


def signs_in(cluster: postgres.Cluster, database_url: str, role: str, password: str) -> bool:
    engine = engine_for(cluster.url(database_url.rpartition("/")[2], role, password), "rights", 1)
    try:
        with engine.connect():
            return True
    except DatabaseError as error:
        if sqlstate(error) != WRONG_PASSWORD:
            raise
        return False
    finally:
        engine.dispose()
