"""The migrations: from empty to head they give tables.py, once; a database from before the squash loses no data."""

import io
import os
import secrets
import subprocess
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from unittest.mock import patch

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Engine

from deploy.box import migrations
from deploy.local import postgres
from shared import vocabulary
from shared.postgres.door import engine_for
from tests.stack import eventually

ROOT = Path(__file__).parents[2]
SPEC_REVISIONS = {"c1d2e3f4g5h6", "b1c2d3e4f5a6"}
NATIVE_ENUMS = {
    "process_status": vocabulary.ProcessStatus,
    "screen_health_status": vocabulary.ScreenHealthStatus,
    "log_level": vocabulary.LogLevel,
    "conversion_status": vocabulary.ConversionStatus,
}
UUID = "3f0e8a52-6f43-4d6c-9a55-0a4be0a1c001"


def alembic(url: str, word: str, *values: str) -> str:
    """Run an Alembic command on a database. Returns its output. Runs in this process, because starting one is slow."""
    said = io.StringIO()
    with patch.dict(os.environ, {"DATABASE_URL": url}):
        getattr(command, word)(Config(ROOT / "alembic.ini", stdout=said), *values)
    return said.getvalue()


@pytest.fixture
def empty_database(postgres_server: postgres.Cluster) -> Iterator[str]:
    """The address of an empty database."""
    name = f"migrations_{secrets.token_hex(4)}"
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"CREATE DATABASE {name}")
    yield postgres_server.url(name)
    with postgres.superuser(postgres_server) as connection:
        connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def empty_engine(empty_database: str) -> Iterator[Engine]:
    engine = engine_for(empty_database, "test")
    yield engine
    engine.dispose()


def test_head_equals_the_tables_of_the_code(database_url: str) -> None:
    assert "No new upgrade operations detected" in alembic(database_url, "check")


def test_the_chain_has_one_head_and_the_specifications_revisions_in_their_order() -> None:
    scripts = ScriptDirectory.from_config(Config(ROOT / "alembic.ini"))
    order = [script.revision for script in scripts.walk_revisions()][::-1]

    assert set(order) >= SPEC_REVISIONS
    assert order.index("c1d2e3f4g5h6") < order.index("b1c2d3e4f5a6") < order.index("0006_conversions")
    assert scripts.get_heads() == [order[-1]]
    numbered = [revision for revision in order if revision not in SPEC_REVISIONS]
    assert numbered == sorted(numbered), "an id that is not among these is older or newer by its number"


def test_a_function_that_catches_errors_stays_out_of_parallel_plans(engine: Engine) -> None:
    catching = sa.text("SELECT proname, proparallel FROM pg_proc WHERE prosrc ~ 'EXCEPTION\\s+WHEN' ORDER BY proname")
    with engine.connect() as connection:
        found = [(name, parallel) for name, parallel in connection.execute(catching) if not name.startswith("pg_")]

    assert found == [("subnet_of", "u")]


def test_closed_lists_of_the_database_are_those_of_the_vocabulary(engine: Engine) -> None:
    with engine.connect() as connection:
        for name, words in NATIVE_ENUMS.items():
            labels = connection.execute(
                sa.text("SELECT enumlabel FROM pg_enum WHERE enumtypid = to_regtype(:name) ORDER BY enumsortorder"),
                {"name": name},
            )
            assert labels.scalars().all() == [word.value for word in words], name
        for table, column, listed in CHECKED_LISTS:
            definition = connection.execute(
                sa.text("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = :name"),
                {"name": f"ck_{table}_{column}"},
            ).scalar_one()
            assert definition.split("'")[1::2] == [word.value for word in listed]


CHECKED_LISTS: list[tuple[str, str, Iterable[StrEnum]]] = [
    ("clients", "status", vocabulary.ClientStatus),
    ("clients", "presence", vocabulary.Presence),
    ("clients", "registered_by", vocabulary.RegisteredBy),
    ("clients", "screen_off_by", vocabulary.ScreenOffBy),
    ("client_commands", "action", vocabulary.CommandAction),
    ("client_commands", "state", vocabulary.CommandState),
    ("client_commands", "source", vocabulary.CommandSource),
    ("client_commands", "confirmed_by", vocabulary.ConfirmedBy),
    ("command_batches", "action", vocabulary.BATCH_ACTIONS),
    ("command_batches", "state", vocabulary.BatchState),
    ("command_batch_members", "outcome", vocabulary.MemberOutcome),
    ("event_media", "kind", vocabulary.MediaKind),
    ("conversions", "target_format", vocabulary.TargetFormat),
    ("service_failure_events", "event", vocabulary.FailureEvent),
    ("quiet_times", "preset", vocabulary.QuietPreset),
    ("quiet_times", "scope", vocabulary.QuietScope),
    ("command_schedule_runs", "outcome", vocabulary.ScheduleOutcome),
    ("incidents", "kind", vocabulary.IncidentKind),
    ("door_certificates", "door", vocabulary.Door),
    ("notification_channels", "kind", vocabulary.ChannelKind),
    ("notification_deliveries", "phase", vocabulary.NotificationPhase),
    ("notification_deliveries", "event", vocabulary.NotificationEvent),
    ("notification_deliveries", "state", vocabulary.DeliveryState),
    ("incident_members", "symptom", vocabulary.Symptom),
    ("incident_events", "kind", vocabulary.IncidentEventKind),
    ("users", "role", vocabulary.Role),
    ("api_tokens", "role", vocabulary.Role),
]


def test_two_starts_at_once_migrate_once(empty_database: str) -> None:
    start = [sys.executable, "-m", "alembic", "upgrade", "head"]
    environment = {**os.environ, "DATABASE_URL": empty_database}
    both = [subprocess.Popen(start, cwd=ROOT, env=environment, stderr=subprocess.PIPE) for _ in range(2)]
    ends = [process.communicate(timeout=240)[1] for process in both]

    assert [process.returncode for process in both] == [0, 0], ends
    assert "No new upgrade operations detected" in alembic(empty_database, "check")


# --- databases from before the squash ---


@pytest.fixture
def old_engine(empty_database: str, empty_engine: Engine) -> Engine:
    """A database at the last revision before the squash, with what has gone since, and rows that used it."""
    alembic(empty_database, "upgrade", "0069_broker_memory")
    empty_engine.dispose()
    with empty_engine.begin() as connection:
        connection.exec_driver_sql(GONE_SINCE)
        connection.exec_driver_sql(OLD_ROWS)
    return empty_engine


GONE_SINCE = """
    CREATE TABLE maintenance_windows (id bigint PRIMARY KEY);
    CREATE TABLE maintenance_window_clients (window_id bigint REFERENCES maintenance_windows);
    CREATE TABLE recovery_exclusions (id bigint);
    CREATE TABLE notification_snoozes (id bigint);
    ALTER TABLE client_recovery ADD held_at timestamptz, ADD held_by text, ADD held_reason text,
        ADD held_until timestamptz;
    ALTER TABLE uploads ADD way text NOT NULL DEFAULT 'parts', ADD sha256 text;
    ALTER TABLE door_certificates ALTER COLUMN begins_at SET DEFAULT 'epoch';
    ALTER TABLE command_batches ALTER COLUMN request_hash SET NOT NULL;
    ALTER TABLE command_schedules ALTER COLUMN request_hash SET NOT NULL;
    ALTER TABLE door_certificates RENAME CONSTRAINT pk_door_certificates TO door_certificates_pkey;
    ALTER TABLE broker_crashes RENAME CONSTRAINT pk_broker_crashes TO broker_crashes_pkey;
    ALTER TABLE notification_channels ADD newer_events text[] NOT NULL DEFAULT '{}';
    ALTER TABLE notification_deliveries DROP CONSTRAINT ck_notification_deliveries_event,
        ADD CONSTRAINT ck_notification_deliveries_event CHECK (event IN ('display_unwell', 'recovered'));
    ALTER TABLE incident_members ADD newer_symptom text, DROP CONSTRAINT ck_incident_members_symptom,
        ADD CONSTRAINT ck_incident_members_symptom CHECK (symptom IN ('silent', 'service_failed'));
    ALTER TABLE users ADD disabled_at_sites timestamptz,
        ADD CONSTRAINT ck_users_sites_older_code CHECK (sites IS NULL OR disabled_at IS NOT NULL);
    ALTER TABLE api_tokens ADD revoked_at_sites timestamptz,
        ADD CONSTRAINT ck_api_tokens_sites_older_code CHECK (sites IS NULL OR revoked_at IS NOT NULL);
    DO $$ BEGIN
        EXECUTE replace(pg_get_functiondef('names_of_empty_sites'::regproc), '.disabled_at', '.disabled_at_sites');
        EXECUTE replace(pg_get_functiondef('names_of_empty_sites'::regproc), '.revoked_at', '.revoked_at_sites');
    END $$;
    """
OLD_ROWS = f"""
    INSERT INTO clients (uuid, name, registered_by) VALUES ('{UUID}', 'Lobby', 'enrolment');
    INSERT INTO incidents (id, kind, began_at, opened_at, cause) VALUES (1, 'site', now(), now(), ''),
        (2, 'cluster', now(), now(), '');
    INSERT INTO incident_members (incident_id, client_uuid, joined_at, left_at, failed_at, symptom, newer_symptom)
    VALUES (1, '{UUID}', now(), now(), now(), 'silent', NULL),
        (2, '{UUID}', now(), now(), now(), 'service_failed', 'screen_failed');
    INSERT INTO notification_channels (name, kind, url, events, newer_events, tells_since, created_by, created_at,
        changed_at)
    VALUES ('all', 'webhook', 'https://a.example', '{{recovered}}', '{{screen_bad}}', now(), 'u', now(), now());
    INSERT INTO notification_deliveries (channel_id, root, subject, phase, event, message, created_at, due_at)
    SELECT id, 'r', said ->> 'title', 'opened', 'display_unwell', said, now(), now() FROM notification_channels, unnest(
        ARRAY[
            '{{"title": "one", "facts": {{"event": "screen_bad"}}}}',
            '{{"title": "of many", "facts": {{"event": "display_unwell"}}, "own": {{"event": "login_shared"}}}}',
            '{{"title": "unknown"}}'
        ]::jsonb[]) AS said;
    INSERT INTO users (username, password_hash, role, sites, disabled_at, disabled_at_sites, one_time_until) VALUES
        ('ada', 'x', 'viewer', '{{Rome}}', now(), NULL, now()), ('ben', 'x', 'viewer', '{{Rome}}', now(), now(), NULL),
        ('cleo', 'x', 'viewer', NULL, now(), NULL, NULL);
    INSERT INTO api_tokens (id, name, role, secret_hash, created_by, created_at, sites, revoked_at, revoked_at_sites)
    VALUES ('a', '', 'viewer', '', 'u', now(), '{{Rome}}', now(), NULL),
        ('b', '', 'viewer', '', 'u', now(), NULL, now(), NULL);
    """
CARRIED = {
    "SELECT symptom FROM incident_members ORDER BY incident_id": ["silent", "screen_failed"],
    "SELECT events FROM notification_channels": [["recovered", "screen_bad"]],
    "SELECT event FROM notification_deliveries ORDER BY id": ["screen_bad", "login_shared", "display_unwell"],
    "SELECT username FROM users WHERE disabled_at IS NOT NULL ORDER BY username": ["ben", "cleo"],
    "SELECT count(*) FROM users WHERE one_time_until IS NOT NULL": [0],  # ada has a password of her own
    "SELECT id FROM api_tokens WHERE revoked_at IS NOT NULL": ["b"],
    "SELECT count FROM names_of_empty_sites() WHERE what = 'person'": [1],  # ada: nothing says that ben is let in
    "SELECT actor FROM of_sites.makers WHERE is_live ORDER BY actor": ["token:#a", "user:ada"],
}


def test_a_database_at_the_last_revision_before_the_squash_goes_on(empty_database: str, old_engine: Engine) -> None:
    alembic(empty_database, "upgrade", "head")
    old_engine.dispose()

    assert "No new upgrade operations detected" in alembic(empty_database, "check")
    with old_engine.connect() as connection:
        assert {query: list(connection.exec_driver_sql(query).scalars()) for query in CARRIED} == CARRIED


def test_a_database_from_longer_before_is_told_what_to_do_and_left_alone(
    empty_database: str, old_engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with old_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0064_delivery_sentences'")
    monkeypatch.setenv("DATABASE_URL", empty_database)

    assert migrations.main() == 2
    assert "stands at 0064_delivery_sentences" in (told := capsys.readouterr().err)
    assert "`make reset`" in told
    with pytest.raises(CommandError, match="make reset"):
        alembic(empty_database, "upgrade", "head")
    with old_engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT newer_events FROM notification_channels").scalar_one()


def test_what_runs_may_be_in_the_way_of_an_upgrade(
    postgres_server: postgres.Cluster, empty_database: str, old_engine: Engine
) -> None:
    old_engine.dispose()
    start = [sys.executable, "-m", "deploy.box.migrations"]
    environment = {**os.environ, "DATABASE_URL": empty_database}
    with postgres.superuser(postgres_server, empty_database.rpartition("/")[2]) as service:
        service.run("SET deadlock_timeout = '1min'")  # so that it is the migrations that end
        service.run("BEGIN")
        service.run("SELECT FROM notification_deliveries")
        with subprocess.Popen(start, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as migrating:
            eventually(lambda: service.run(WAITS_FOR_DELIVERIES) == [[True]], "the migrations wait")
            service.run("SELECT FROM notification_channels")
            service.run("COMMIT")
            told, _ = migrating.communicate(timeout=240)

    assert migrating.returncode == 0
    assert told.splitlines() == ["Something that runs is in the way of the migrations; trying again."]
    assert "No new upgrade operations detected" in alembic(empty_database, "check")


WAITS_FOR_DELIVERIES = """
    SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'notification_deliveries'::regclass)
"""
