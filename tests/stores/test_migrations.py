"""The migrations: from empty to head they give tables.py, every step can be undone, and data survives."""

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
from sqlalchemy import Connection, Engine

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
    (
        "notification_deliveries",
        "event",
        [event for event in vocabulary.NotificationEvent if event not in vocabulary.NEWER_EVENTS],
    ),
    ("notification_deliveries", "state", vocabulary.DeliveryState),
    ("incident_members", "symptom", [one for one in vocabulary.Symptom if one is not vocabulary.Symptom.SCREEN_FAILED]),
    ("incident_members", "newer_symptom", [vocabulary.Symptom.SCREEN_FAILED]),
    ("incident_events", "kind", vocabulary.IncidentEventKind),
    ("users", "role", vocabulary.Role),
    ("api_tokens", "role", vocabulary.Role),
]


def test_every_single_step_can_be_undone_with_data_in_place_and_done_again(
    empty_database: str, empty_engine: Engine
) -> None:
    alembic(empty_database, "upgrade", "head")
    with empty_engine.begin() as connection:
        add_a_client_with_a_log_a_command_and_a_conversion(connection)
    steps = len([line for line in alembic(empty_database, "history").splitlines() if " -> " in line])

    for _ in range(steps - 1):
        alembic(empty_database, "downgrade", "-1")
    empty_engine.dispose()
    with empty_engine.connect() as connection:
        assert connection.execute(sa.text("SELECT uuid, name FROM clients")).all() == [(UUID, "Lobby")]
    alembic(empty_database, "upgrade", "head")
    assert "No new upgrade operations detected" in alembic(empty_database, "check")
    empty_engine.dispose()
    with empty_engine.connect() as connection:
        assert connection.execute(sa.text("SELECT name, status FROM clients")).all() == [("Lobby", "unknown")]
    alembic(empty_database, "downgrade", "base")
    empty_engine.dispose()

    with empty_engine.connect() as connection:
        left = connection.execute(
            sa.text(
                "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
            )
        ).scalar_one()
        types = connection.execute(sa.text("SELECT count(*) FROM pg_type WHERE typtype = 'e'")).scalar_one()
    assert (left, types) == (1, 0)  # alembic_version alone


def add_a_client_with_a_log_a_command_and_a_conversion(connection: Connection) -> None:
    """Add one row of each kind that a migration has to convert."""
    for statement in (
        f"INSERT INTO clients (uuid, name, registered_by) VALUES ('{UUID}', 'Lobby', 'enrolment')",
        f"INSERT INTO client_logs (client_uuid, level, message, received_at) VALUES ('{UUID}', 'error', 'x', now())",
        f"INSERT INTO client_logs (client_uuid, level, message, received_at) VALUES ('{UUID}', 'info', '', '2001-1-1')",
        (
            "INSERT INTO client_commands (id, client_uuid, action, source, requested_by, created_at, expires_at)"
            f" VALUES ('c1', '{UUID}', 'restart_app', 'operator', 'user:a', now(), now() + interval '1 minute')"
        ),
        (
            "INSERT INTO command_batches (id, action, requested_by, request_hash, max_unproven, waves, created_at)"
            " VALUES ('b1', 'restart_app', 'user:a', 'h', '10%', 1, now())"
        ),
        (
            "INSERT INTO command_batch_members (batch_id, client_uuid, position, wave, outcome, command_id)"
            f" VALUES ('b1', '{UUID}', 0, 1, 'accepted', 'c1')"
        ),
        (
            "INSERT INTO event_media (id, filename, kind, bytes, sha256, path, uploaded_at, uploaded_by)"
            " VALUES (1, 'a.pptx', 'pptx', 5, 'aa', 'originals/aa', now(), 'user:a')"
        ),
        "INSERT INTO conversions (source_event_media_id, file_hash, created_at) VALUES (1, 'aa', now())",
    ):
        connection.execute(sa.text(statement))


def test_a_screenshot_beside_another_command_ends_where_older_code_knows_of_one(
    empty_database: str, empty_engine: Engine
) -> None:
    alembic(empty_database, "upgrade", "0051_screenshots_beside")
    with empty_engine.begin() as connection:
        add_a_client_with_a_log_a_command_and_a_conversion(connection)
        connection.execute(
            sa.text(
                "INSERT INTO client_commands (id, client_uuid, action, source, requested_by, created_at, expires_at)"
                f" VALUES ('c2', '{UUID}', 'screenshot', 'operator', 'user:a', now(), now() + interval '1 minute')"
            )
        )

    alembic(empty_database, "downgrade", "-1")
    empty_engine.dispose()

    with empty_engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT id, state FROM client_commands ORDER BY id")).all()
    assert rows == [("c1", "queued"), ("c2", "expired")]


def test_rows_without_a_hash_survive_the_step_that_requires_one(empty_database: str, empty_engine: Engine) -> None:
    alembic(empty_database, "upgrade", "0008_conversion_unique")
    with empty_engine.begin() as connection:
        for number in (1, 2, 3):
            connection.execute(
                sa.text(
                    "INSERT INTO event_media (id, filename, kind, bytes, sha256, path, uploaded_at, uploaded_by)"
                    " VALUES (:id, 'a.pptx', 'pptx', 5, :hash, 'x', now(), 'u')"
                ),
                {"id": number, "hash": f"h{number}"},
            )
        for identity, medium, file_hash, status in (
            (1, 1, None, "pending"),  # the only one: it gets its medium's hash
            (2, 2, None, "pending"),  # another one has the hash: deleted
            (3, 2, "h2", "ready"),
            (4, 3, None, "failed"),  # a further advanced one also has no hash: deleted
            (5, 3, None, "ready"),
        ):
            connection.execute(
                sa.text(
                    "INSERT INTO conversions (id, source_event_media_id, file_hash, status, created_at)"
                    " VALUES (:id, :medium, :hash, CAST(:status AS conversion_status), now())"
                ),
                {"id": identity, "medium": medium, "hash": file_hash, "status": status},
            )

    alembic(empty_database, "upgrade", "head")
    empty_engine.dispose()

    with empty_engine.connect() as connection:
        rows = connection.execute(sa.text("SELECT id, file_hash FROM conversions ORDER BY id")).all()
    assert rows == [(1, "h1"), (3, "h2"), (5, "h3")]


def test_channels_from_before_are_told_of_more_if_they_are_told_of_displays(
    empty_database: str, empty_engine: Engine
) -> None:
    alembic(empty_database, "upgrade", "0041_noticed_later")
    made = (
        "INSERT INTO notification_channels (name, kind, url, events, tells_since, created_by, created_at, changed_at)"
        " VALUES (:name, 'webhook', 'https://a.example', CAST(:events AS text[]), now(), 'u', now(), now())"
    )
    with empty_engine.begin() as connection:
        connection.execute(sa.text(made), {"name": "all", "events": "{incident_opened,display_unwell}"})
        connection.execute(sa.text(made), {"name": "breakers", "events": "{breaker_open}"})

    alembic(empty_database, "upgrade", "head")
    empty_engine.dispose()

    with empty_engine.begin() as connection:
        connection.execute(sa.text(made), {"name": "by code of before", "events": "{display_unwell}"})
        rows = connection.execute(sa.text("SELECT name, newer_events FROM notification_channels ORDER BY id")).all()
    newer = ["service_failed", "screen_bad", "connection_unsteady"]
    ours = ["certificate_old", "certificate_ending"]
    limits = ["limit_passed", "login_shared", "site_emptied"]
    assert rows == [
        ("all", [*newer, *limits]),
        ("breakers", []),
        ("by code of before", [*newer, *ours, *limits]),
    ]


def test_channels_that_hear_of_a_silent_bridge_hear_of_certificates(empty_database: str, empty_engine: Engine) -> None:
    alembic(empty_database, "upgrade", "0045_certificates")
    made = (
        "INSERT INTO notification_channels"
        " (name, kind, url, events, newer_events, tells_since, created_by, created_at, changed_at)"
        " VALUES (:name, 'webhook', 'https://a.example', CAST(:events AS text[]), '{screen_bad}',"
        " now(), 'u', now(), now())"
    )
    query = sa.text("SELECT name, newer_events FROM notification_channels ORDER BY id")
    with empty_engine.begin() as connection:
        connection.execute(sa.text(made), {"name": "ours", "events": "{bridge_silent}"})
        connection.execute(sa.text(made), {"name": "shops", "events": "{display_unwell}"})

    alembic(empty_database, "upgrade", "0047_certificates_are_told")
    empty_engine.dispose()
    with empty_engine.begin() as connection:
        upgraded = connection.execute(query).all()
    alembic(empty_database, "downgrade", "0045_certificates")
    empty_engine.dispose()
    with empty_engine.begin() as connection:
        downgraded = connection.execute(query).all()

    assert upgraded == [("ours", ["screen_bad", "certificate_old", "certificate_ending"]), ("shops", ["screen_bad"])]
    assert downgraded == [("ours", ["screen_bad"]), ("shops", ["screen_bad"])]


def test_two_starts_at_once_migrate_once(empty_database: str) -> None:
    start = [sys.executable, "-m", "alembic", "upgrade", "head"]
    environment = {**os.environ, "DATABASE_URL": empty_database}
    both = [subprocess.Popen(start, cwd=ROOT, env=environment, stderr=subprocess.PIPE) for _ in range(2)]
    ends = [process.communicate(timeout=240)[1] for process in both]

    assert [process.returncode for process in both] == [0, 0], ends
    assert "No new upgrade operations detected" in alembic(empty_database, "check")


def test_what_runs_may_be_in_the_way_of_an_upgrade(postgres_server: postgres.Cluster, empty_database: str) -> None:
    alembic(empty_database, "upgrade", "0062_sentences")
    start = [sys.executable, "-m", "deploy.box.migrations"]
    environment = {**os.environ, "DATABASE_URL": empty_database}
    with postgres.superuser(postgres_server, empty_database.rpartition("/")[2]) as old_code:
        old_code.run("SET deadlock_timeout = '1min'")  # so that it is the migrations that end
        old_code.run("BEGIN")
        old_code.run("SELECT FROM notification_deliveries")
        with subprocess.Popen(start, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as migrating:
            eventually(lambda: old_code.run(WAITS_FOR_DELIVERIES) == [[True]], "the migrations wait")
            old_code.run("SELECT FROM notification_channels")
            old_code.run("COMMIT")
            said, _ = migrating.communicate(timeout=240)

    assert migrating.returncode == 0
    assert said.splitlines() == ["Something that runs is in the way of the migrations; trying again."]
    assert "No new upgrade operations detected" in alembic(empty_database, "check")


WAITS_FOR_DELIVERIES = """
    SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'notification_deliveries'::regclass)
"""
OLD_QUIET = (
    (
        f"INSERT INTO clients (uuid, name, registered_by, site, tags) VALUES"
        f" ('{UUID}', 'Lobby', 'enrolment', 'Rome', '{{outdoor}}')"
    ),
    (
        f"INSERT INTO client_recovery (client_uuid, step, held_at, held_by, held_reason, held_until)"
        f" VALUES ('{UUID}', 2, '2026-03-01 10:00Z', 'user:ada', 'I work on it', '2099-03-01 14:00Z')"
    ),
    (
        f"INSERT INTO recovery_exclusions (client_uuid, reason, excluded_by, excluded_at)"
        f" VALUES ('{UUID}', 'Test device', 'user:bo', '2026-02-01Z')"
    ),
    (
        "INSERT INTO recovery_exclusions (site, reason, excluded_by, excluded_at)"
        " VALUES ('Rome', 'Showroom', 'user:bo', '2026-02-02Z')"
    ),
    (
        "INSERT INTO notification_snoozes (scope, client_uuid, reason, until, created_by, created_at, ended_at,"
        f" ended_by)"
        f" VALUES ('client', '{UUID}', '', '2026-03-02Z', 'user:ada', '2026-03-01Z', '2026-03-01 12:00Z', 'user:bo')"
    ),
    (
        "INSERT INTO notification_snoozes (scope, reason, until, created_by, created_at)"
        " VALUES ('fleet', 'Storm', '2026-03-03Z', 'user:ada', '2026-03-01Z')"
    ),
    (
        "INSERT INTO maintenance_windows (id, name, reason, scope, site, starts_at, ends_at, last_ends_at, created_by,"
        " created_at) VALUES (7, 'Panels', 'New ones', 'site', 'Rome', '2026-03-01 20:00Z', '2026-03-01 22:30Z',"
        " '2026-03-01 22:30Z', 'user:ada', '2026-02-28Z')"
    ),
    (
        "INSERT INTO maintenance_windows (id, name, scope, starts_at, ends_at, time_zone, weekdays, repeat_until,"
        " last_ends_at, created_by, created_at)"
        " VALUES (8, 'Updates', 'clients', '2026-03-01 21:30Z', '2026-03-03 02:00Z', 'Europe/Rome',"
        " '{sunday}', '2026-05-03', '2026-05-05 01:00Z', 'user:ada', '2026-02-28Z')"
    ),
    f"INSERT INTO maintenance_window_clients (window_id, client_uuid) VALUES (8, '{UUID}')",
)
OLD_TABLES = (
    "SELECT held_at, held_by, held_reason, held_until, step FROM client_recovery",
    "SELECT client_uuid, site, reason, excluded_by, excluded_at FROM recovery_exclusions ORDER BY excluded_at",
    (
        "SELECT scope, site, client_uuid, reason, until, created_by, created_at, ended_at, ended_by"
        " FROM notification_snoozes ORDER BY scope"
    ),
    (
        "SELECT name, reason, scope, site, starts_at, ends_at, time_zone, weekdays, repeat_until, last_ends_at,"
        " created_by, created_at, ended_at, ended_by FROM maintenance_windows ORDER BY name"
    ),
    (
        "SELECT w.name, n.client_uuid FROM maintenance_window_clients AS n JOIN maintenance_windows AS w"
        " ON w.id = n.window_id"
    ),
)


def test_everything_left_alone_moves_into_one_table_and_back(empty_database: str, empty_engine: Engine) -> None:
    alembic(empty_database, "upgrade", "0052_screen_changes")
    with empty_engine.begin() as connection:
        for statement in OLD_QUIET:
            connection.exec_driver_sql(statement)
        before = [connection.exec_driver_sql(query).all() for query in OLD_TABLES]

    alembic(empty_database, "upgrade", "0053_quiet_times")
    empty_engine.dispose()
    with empty_engine.connect() as connection:
        carried = connection.exec_driver_sql(
            "SELECT preset, scope, site, clients, spans, time_zone, reason, created_by, ended_by FROM quiet_times"
            " ORDER BY id"
        ).all()
    alembic(empty_database, "downgrade", "-1")
    empty_engine.dispose()
    with empty_engine.connect() as connection:
        after = [connection.exec_driver_sql(query).all() for query in OLD_TABLES]

    weekly = [{"days": ["sunday"], "begins": "22:30", "ends": "03:00", "nights": 2}]
    assert [tuple(row) for row in carried] == [
        ("hold", "clients", None, [UUID], [], None, "I work on it", "user:ada", None),
        ("leave_out", "clients", None, [UUID], [], None, "Test device", "user:bo", None),
        ("leave_out", "site", "Rome", [], [], None, "Showroom", "user:bo", None),
        ("snooze", "clients", None, [UUID], [], None, "", "user:ada", "user:bo"),
        ("snooze", "fleet", None, [], [], None, "Storm", "user:ada", None),
        ("maintenance", "site", "Rome", [], [], None, "Panels: New ones", "user:ada", None),
        ("maintenance", "clients", None, [UUID], weekly, "Europe/Rome", "Updates", "user:ada", None),
    ]
    assert after == before


def test_on_the_way_back_a_tag_becomes_the_displays_that_bear_it(empty_database: str, empty_engine: Engine) -> None:
    alembic(empty_database, "upgrade", "0053_quiet_times")
    with empty_engine.begin() as connection:
        connection.exec_driver_sql(OLD_QUIET[0])
        for preset, quiet in (("hold", "recovery"), ("leave_out", "recovery"), ("snooze", "notices")):
            connection.exec_driver_sql(
                "INSERT INTO quiet_times (preset, quiet, scope, tag, starts_at, ends_at, created_by, created_at)"
                f" VALUES ('{preset}', '{{{quiet}}}', 'tag', 'outdoor', '2026-03-01Z', '2099-03-01Z', 'user:a',"
                " '2026-03-01Z')"
            )

    alembic(empty_database, "downgrade", "-1")
    empty_engine.dispose()

    with empty_engine.connect() as connection:
        for table in ("client_recovery", "recovery_exclusions", "notification_snoozes"):
            found = connection.exec_driver_sql(f"SELECT client_uuid FROM {table}").scalars().all()
            assert found == [UUID], table


NAMES_BEFORE = """
    INSERT INTO clients (uuid, name, site, tags, service_failed_at, service_failed_unit, registered_by) VALUES
        ('3f0e8a52-6f43-4d6c-9a55-0a4be0a1c001', E' Lobby\\u200b ', E'Ko\\u0308ln',
            ARRAY['wall', ' wall', E'su\\u0308d'], now(), E'pla\\u0308yer', 'enrolment'),
        ('3f0e8a52-6f43-4d6c-9a55-0a4be0a1c002', 'Bar', 'Köln', '{}', NULL, NULL, 'enrolment'),
        ('3f0e8a52-6f43-4d6c-9a55-0a4be0a1c003', 'Hall', E'\\u200b', '{}', NULL, NULL, 'enrolment');
    INSERT INTO users (username, password_hash, role, sites, disabled_at) VALUES
        ('anna', 'x', 'viewer', ARRAY[E'Ko\\u0308ln', 'Köln ', 'Bonn'], now()),
        ('ben', 'x', 'viewer', ARRAY[E'\\u200b'], now());
    INSERT INTO notification_channels (name, kind, url, events, sites, tells_since, created_by, created_at, changed_at)
    VALUES ('all', 'webhook', 'https://a.example', '{}', ARRAY['Köln '], now(), 'u', now(), now()),
        ('all ', 'webhook', 'https://a.example', '{}', NULL, now(), 'u', now(), now());
    INSERT INTO quiet_times (preset, quiet, scope, site, starts_at, spans, time_zone, created_by, created_at) VALUES
        ('opening_hours', '{screen}', 'site', 'Köln', now(), '[1]', 'UTC', 'u', now()),
        ('opening_hours', '{screen}', 'site', E'Ko\\u0308ln', now(), '[2]', 'UTC', 'u', now());
    INSERT INTO screenshots_off (site, since, "by") VALUES ('Köln', now(), 'u'), ('Köln ', now(), 'u');
    INSERT INTO recovery_breakers (site) VALUES ('Köln '), ('Köln');
    INSERT INTO incidents (kind, key, began_at, opened_at, cause) VALUES
        ('site', 'Köln ', now(), now(), ''), ('site', 'Köln', now(), now(), '');
    INSERT INTO status_links (name, site, secret_hash, created_by, created_at) VALUES ('m', 'Köln ', 'x', 'u', now());
    INSERT INTO command_schedules (id, action, reason, filter, waves, max_unproven, time_zone, at, weekdays, created_by,
        created_at, request_hash)
    VALUES ('s', 'restart_app', '', '{"site": "Köln ", "tag": " wall", "q": "a  b"}', '[]', '1', 'UTC', now(), '{}',
        'u', now(), 'x')
    """
NAMES_AFTER = {
    "SELECT name, site, tags, service_failed_unit FROM clients ORDER BY uuid": [
        ("Lobby", "Köln", ["wall", "süd"], "pläyer"),
        ("Bar", "Köln", [], None),
        ("Hall", "\u200b", [], None),
    ],
    "SELECT sites FROM users ORDER BY username": [(["Köln", "Bonn"],), (["\u200b"],)],
    "SELECT name, sites FROM notification_channels ORDER BY id": [("all", ["Köln"]), ("all (2)", None)],
    "SELECT site, ended_at IS NULL FROM quiet_times ORDER BY id": [("Köln", True), ("Köln", False)],
    "SELECT site FROM screenshots_off": [("Köln",)],
    "SELECT site FROM recovery_breakers WHERE site <> ''": [("Köln",)],
    "SELECT key FROM incidents ORDER BY id": [("Köln ",), ("Köln",)],
    "SELECT site FROM status_links": [("Köln",)],
    "SELECT filter FROM command_schedules": [({"site": "Köln", "tag": "wall", "q": "a b"},)],
}
"""What keeps its name: of two open incidents of a site one, and a name of which nothing would be left."""


def test_names_are_folded_once_and_the_audit_log_says_what_was_joined(
    empty_database: str, empty_engine: Engine
) -> None:
    alembic(empty_database, "upgrade", "0064_delivery_sentences")
    with empty_engine.begin() as connection:
        for statement in NAMES_BEFORE.split(";"):
            connection.exec_driver_sql(statement)
    empty_engine.dispose()
    lines = "SELECT action, target, details ->> 'was', details -> 'joined' FROM audit_log ORDER BY target, id"

    for revision in ("head", "0064_delivery_sentences", "head"):  # a second time there is nothing to do
        alembic(empty_database, "upgrade" if revision == "head" else "downgrade", revision)
        with empty_engine.begin() as connection:
            for query, rows in NAMES_AFTER.items():
                assert connection.execute(sa.text(query)).all() == rows, query
            audited = connection.execute(sa.text(lines)).all()
        empty_engine.dispose()
        assert audited[:3] == [
            ("name.fold", "channel:all (2)", "all ", False),
            ("name.fold", "search:a b", "a  b", False),
            ("name.fold", "site:Köln", "Ko\\u0308ln", True),
        ]
        assert [line.target for line in audited[3:]] == ["site:Köln", "tag:süd", "tag:wall", "unit:pläyer"]
