"""The migrations: from empty to head they give tables.py, once; a database from before the squash is refused."""

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
    """A database that says of itself that it stands at a revision from before the squash."""
    alembic(empty_database, "upgrade", "head")
    empty_engine.dispose()
    with empty_engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0074_taken'")
    return empty_engine


def test_a_database_from_before_the_squash_is_told_what_to_do_and_left_alone(
    empty_database: str, old_engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", empty_database)

    assert migrations.main() == 2
    assert "stands at 0074_taken" in (told := capsys.readouterr().err)
    assert "`make reset`" in told
    with pytest.raises(CommandError, match="make reset"):
        alembic(empty_database, "upgrade", "head")
    with old_engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one() == "0074_taken"


def test_what_runs_may_be_in_the_way_of_an_upgrade(postgres_server: postgres.Cluster, empty_database: str) -> None:
    alembic(empty_database, "upgrade", "0009_file_hash_required")
    start = [sys.executable, "-m", "deploy.box.migrations"]
    environment = {**os.environ, "DATABASE_URL": empty_database}
    with postgres.superuser(postgres_server, empty_database.rpartition("/")[2]) as service:
        service.run("SET deadlock_timeout = '1min'")  # so that it is the migrations that end
        service.run("BEGIN")
        service.run("SELECT FROM conversions")
        with subprocess.Popen(start, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as migrating:
            eventually(lambda: service.run(WAITS_FOR_CONVERSIONS) == [[True]], "the migrations wait")
            service.run("SELECT FROM clients")
            service.run("COMMIT")
            told, _ = migrating.communicate(timeout=240)

    assert migrating.returncode == 0
    assert told.splitlines() == ["Something that runs is in the way of the migrations; trying again."]
    assert "No new upgrade operations detected" in alembic(empty_database, "check")


WAITS_FOR_CONVERSIONS = """
    SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'conversions'::regclass)
"""


def test_texts_of_before_become_sentences_whatever_they_say(
    postgres_server: postgres.Cluster, empty_database: str, empty_engine: Engine
) -> None:
    alembic(empty_database, "upgrade", "0009_file_hash_required")  # the views of today are not for 0077
    before = ScriptDirectory.from_config(Config(ROOT / "alembic.ini")).get_revision("0077_narrow_reads")
    long = "ü{ $x } %s\n" * 20_000
    with postgres.superuser(postgres_server, empty_database.rpartition("/")[2]) as superuser:
        superuser.run(before.module.SQL)
        superuser.run("UPDATE alembic_version SET version_num = '0077_narrow_reads'")
    with empty_engine.begin() as connection:
        for statement in OF_0077.format(uuid=UUID).split(";"):
            connection.execute(sa.text(statement), {"text": "", "long": long})
    alembic(empty_database, "upgrade", "head")

    with empty_engine.connect() as connection:
        told = {
            f"{table}.{column}": [
                row and row["facts"]["text"]
                for row in connection.execute(sa.text(f"SELECT {column} FROM {table} ORDER BY ctid")).scalars()
            ]
            for table, column in SENTENCES_OF_0078
        }
    assert told == {
        "client_state_changes.cause": ["", long],
        "recovery_events.why": ["", long],
        "incidents.cause": ["", long],
        "incident_events.words": ["", long],
        "command_schedule_runs.why": ["", long, None],
        "client_commands.reason": [None, long],
        "notification_channels.last_error": ["", long, None],
    }


OF_0077 = """
INSERT INTO clients (uuid, name, registered_by) VALUES ('{uuid}', 'd', 'enrolment');
INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause)
    SELECT '{uuid}', now(), 'late', 'stale', unnest(ARRAY[:text, :long]);
INSERT INTO recovery_events (at, client_uuid, decision, why, evidence)
    SELECT now(), '{uuid}', 'none', unnest(ARRAY[:text, :long]), '{{}}';
INSERT INTO incidents (kind, began_at, opened_at, cause) SELECT 'cluster', now(), now(), unnest(ARRAY[:text, :long]);
INSERT INTO incident_events (incident_id, at, kind, words)
    SELECT id, now(), 'closed', unnest(ARRAY[:text, :long]) FROM incidents LIMIT 2;
INSERT INTO command_schedules
    (id, action, reason, waves, max_unproven, time_zone, at, weekdays, created_by, created_at)
    VALUES ('s', 'restart_app', '', '[]', '1', 'UTC', now(), '{{}}', 'user:anna', now());
INSERT INTO command_schedule_runs (schedule_id, due_at, outcome, why)
    SELECT 's', now() + n * interval '1 hour', CASE WHEN why IS NULL THEN 'made' ELSE 'missed' END, why
    FROM unnest(ARRAY[:text, :long, NULL]) WITH ORDINALITY AS of(why, n);
INSERT INTO client_commands
    (id, client_uuid, action, state, source, reason, requested_by, created_at, expires_at)
    SELECT n::text, '{uuid}', 'restart_app', 'succeeded', 'operator', reason, 'user:anna', now(),
        now() + interval '1 hour' FROM unnest(ARRAY[:text, :long]) WITH ORDINALITY AS of(reason, n);
INSERT INTO notification_channels
    (name, kind, url, events, tells_since, created_by, created_at, changed_at, last_failed_at, last_error)
    SELECT n::text, 'webhook', 'https://hook.example', '{{}}', now(), 'user:anna', now(), now(),
        CASE WHEN error IS NOT NULL THEN now() END, error
    FROM unnest(ARRAY[:text, :long, NULL]) WITH ORDINALITY AS of(error, n)
"""
SENTENCES_OF_0078 = (
    ("client_state_changes", "cause"),
    ("recovery_events", "why"),
    ("incidents", "cause"),
    ("incident_events", "words"),
    ("command_schedule_runs", "why"),
    ("client_commands", "reason"),
    ("notification_channels", "last_error"),
)
