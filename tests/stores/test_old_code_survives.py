"""From the first release on: old code works on the new schema, so a migration keeps the promises of the schema before.

The promises before and after each migration since the release before are compared on a real Postgres
(`schema_promises`). A migration that breaks a promise on purpose lists it in its `SURVIVES`, with the reason why no
code is harmed; a removed part must have been unused for a while (docs/decisions/0029). `make campaign ONLY=versions`
runs the code of the release before on today's schema.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import Script
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from deploy.local import postgres
from deploy.parts.layout import REPOSITORY
from shared.postgres.door import engine_for
from tests.lab.campaigns import old_code
from tests.stores.schema_promises import breaches, chain, promises

KEPT: Final = ("clients", "event_media")
"""Tables whose rows are only marked as deleted, so foreign keys to them never act."""
GONE: Final = re.compile(r"^[\w.]+ is gone$")
UNUSED: Final = re.compile(r"^Unused since (\w+)\. ")
DATABASE: Final = "promises"


def matters(breach: str) -> bool:
    """Whether the breach can harm old code."""
    return not any(breach.startswith(f"rows of {table} stay") for table in KEPT)


@pytest.fixture(scope="module")
def emptied(postgres_server: postgres.Cluster) -> Iterator[Connection]:
    """A transaction on an empty database, rolled back in the end."""
    with postgres.superuser(postgres_server) as superuser:
        superuser.run(f"CREATE DATABASE {DATABASE}")
    engine = engine_for(postgres_server.url(DATABASE), "tests", pool_size=1)
    with engine.connect() as connection, connection.begin() as transaction:
        yield connection
        transaction.rollback()
    engine.dispose()
    with postgres.superuser(postgres_server) as superuser:
        superuser.run(f"DROP DATABASE {DATABASE} WITH (FORCE)")


@pytest.fixture(scope="module")
def broken(emptied: Connection) -> dict[str, set[str]]:
    """Revision -> the promises that its migration breaks; afterwards the database is at the head."""
    found: dict[str, set[str]] = {}
    with Operations.context(MigrationContext.configure(emptied)):
        before = promises(emptied)
        for script in chain():
            script.module.upgrade()
            after = promises(emptied)
            found[script.revision] = {breach for breach in breaches(before, after, emptied) if matters(breach)}
            before = after
    return found


BEFORE: Final = old_code.release_before()
since_release = pytest.mark.skipif(BEFORE is None, reason="no older commit has a tag of a release: any step may break")


def newer() -> list[Script]:
    """The migrations that the release before does not have."""
    assert BEFORE is not None
    had = set(old_code.files_of(BEFORE[1], "migrations/versions"))
    return [script for script in chain() if str(Path(script.path).relative_to(REPOSITORY)) not in had]


@since_release
def test_no_migration_breaks_what_code_of_before_relies_on_but_what_it_says(broken: dict[str, set[str]]) -> None:
    """Each migration breaks exactly the promises that it lists."""
    declared = {one.revision: set(getattr(one.module, "SURVIVES", {})) for one in newer()}

    assert {revision: broken[revision] for revision in declared} == declared


@since_release
def test_what_goes_away_was_unused_for_a_migration_or_more() -> None:
    """Expand in one version, contract in a later one: no step both adds and removes, or replaces."""
    order = [script.revision for script in chain()]
    for script in newer():
        for breach, reason in getattr(script.module, "SURVIVES", {}).items():
            assert len(reason) > 40, f"{script.revision} does not say why: {breach}"
            if GONE.match(breach):
                since = UNUSED.match(reason)
                assert since is not None, f"{script.revision}: say 'Unused since REVISION. …' of: {breach}"
                assert since[1] in order[: order.index(script.revision)], f"{script.revision} is not after {since[1]}"


def test_rows_that_are_said_to_stay_are_never_deleted_by_the_code() -> None:
    sources = [
        path
        for folder in ("shared", "extensions", "functions", "bridge")
        for path in (REPOSITORY / folder).rglob("*.py")
    ]
    deleted = re.compile(rf"(?:sa\.delete\(|DELETE FROM )({'|'.join(KEPT)})\b")

    assert not [path for path in sources if deleted.search(path.read_text(encoding="utf-8"))]


# --- the comparison finds every kind of breach ---


@dataclass(frozen=True)
class Spoiled:
    """A forbidden migration, and a statement of old code that it breaks."""

    change: str
    breach: str
    said: str | None = None
    """A statement that works before and fails after; None if the change only surprises or slows down readers."""


FIRST, SECOND = "3f0e8a52-6f43-4d6c-9a55-0a4be0a1c001", "3f0e8a52-6f43-4d6c-9a55-0a4be0a1c002"
CLIENT: Final = f"INSERT INTO clients (uuid, name, registered_by) VALUES ('{FIRST}', 'Lobby', 'enrolment')"
USER: Final = "INSERT INTO users (username, password_hash, role) VALUES ('anna', 'x', 'viewer')"
MEDIUM: Final = (
    "INSERT INTO event_media (filename, kind, bytes, sha256, path, uploaded_at, uploaded_by)"
    " VALUES ('a.odp', 'odp', 1, 'x', 'y', now(), 'u')"
)
SPOILED: Final = (
    Spoiled("DROP TABLE login_failures", "login_failures is gone", "SELECT bucket FROM login_failures"),
    Spoiled(
        "ALTER TABLE login_failures RENAME TO failed_sign_ins",
        "login_failures is gone",
        "INSERT INTO login_failures (bucket, at) VALUES ('a', now())",
    ),
    Spoiled("ALTER TABLE clients DROP COLUMN name CASCADE", "clients.name is gone", CLIENT),
    Spoiled("ALTER TABLE clients RENAME COLUMN site TO place", "clients.site is gone", "SELECT site FROM clients"),
    Spoiled(
        "ALTER TABLE clients ALTER COLUMN site TYPE integer USING 1",
        "clients.site is integer and was text",
        "UPDATE clients SET site = 'Rome'",
    ),
    Spoiled("ALTER TABLE clients ALTER COLUMN site SET NOT NULL", "clients.site may be null no more", CLIENT),
    Spoiled("ALTER TABLE clients ALTER COLUMN name DROP NOT NULL", "clients.name may be null now, which readers"),
    Spoiled("ALTER TABLE clients ADD COLUMN floor text NOT NULL", "clients.floor is new and must be given", CLIENT),
    Spoiled(
        "ALTER TABLE users ALTER COLUMN must_change_password DROP DEFAULT",
        "users.must_change_password is null where nothing is said, and was false",
        USER,
    ),
    Spoiled(
        "ALTER TABLE users ALTER COLUMN must_change_password SET DEFAULT true",
        "users.must_change_password is true where nothing is said, and was false",
    ),
    Spoiled(
        "ALTER TABLE event_media ALTER COLUMN id SET GENERATED ALWAYS",
        "event_media.id can be written no more",
        MEDIUM.replace("(filename", "(id, filename").replace("('a.odp'", "(7, 'a.odp'"),
    ),
    Spoiled(
        "ALTER TABLE users ADD CONSTRAINT ck_users_long CHECK (length(username) > 4)",
        "ck_users_long of users is stricter: CHECK ((length(username) > 4))",
        USER,
    ),
    Spoiled(
        "ALTER TABLE users ADD COLUMN team text DEFAULT 'b', ADD CONSTRAINT ck_users_team CHECK (team <> 'b')",
        "ck_users_team of users is stricter",
        USER,
    ),
    Spoiled(
        "ALTER TABLE clients ADD CONSTRAINT uq_clients_name UNIQUE (name)",
        "uq_clients_name of clients is stricter",
        f"{CLIENT}, ('{SECOND}', 'Lobby', 'enrolment')",
    ),
    Spoiled(
        "CREATE UNIQUE INDEX uq_clients_called ON clients (lower(name))",
        "uq_clients_called of clients is stricter",
        f"{CLIENT}, ('{SECOND}', 'LOBBY', 'enrolment')",
    ),
    Spoiled(
        "ALTER TABLE users DROP CONSTRAINT uq_users_username",
        "uq_users_username of users is gone, which ON CONFLICT needs",
        USER + " ON CONFLICT (username) DO NOTHING",
    ),
    Spoiled(
        "ALTER TABLE audit_log ADD CONSTRAINT fk_audit_log_target FOREIGN KEY (target) REFERENCES clients (uuid)",
        "fk_audit_log_target of audit_log is stricter",
    ),
    Spoiled(
        "CREATE TABLE badges (user_id bigint NOT NULL REFERENCES users (id))",
        "rows of users stay while badges names them",
    ),
    Spoiled(
        "ALTER TABLE users DROP CONSTRAINT ck_users_role,"
        " ADD CONSTRAINT ck_users_role CHECK (role IN ('operator', 'admin'))",
        "users.role refuses viewer",
        USER,
    ),
    Spoiled(
        "ALTER TABLE users DROP CONSTRAINT ck_users_role,"
        " ADD CONSTRAINT ck_users_role CHECK (role IN ('viewer', 'operator', 'admin', 'auditor'))",
        "users.role has auditor, which readers do not know",
    ),
    Spoiled(
        "ALTER TYPE conversion_status RENAME VALUE 'ready' TO 'done'",
        "conversion_status refuses ready",
        "SELECT id FROM conversions WHERE status = 'ready'",
    ),
    Spoiled(
        "ALTER FUNCTION make_client_log_partition(text, date) RENAME TO make_partition",
        "make_client_log_partition(text,date) is gone",
        "SELECT make_client_log_partition('routine', '2001-01-01')",
    ),
    Spoiled(
        "CREATE OR REPLACE FUNCTION stamp_changed_xid() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
        "stamp_changed_xid() works otherwise",
    ),
    Spoiled("DROP TRIGGER stamp_changed_xid ON clients", "the trigger stamp_changed_xid of clients is gone"),
    Spoiled(
        "CREATE TRIGGER stop BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION stamp_changed_xid()",
        "the trigger stop of users is new",
        USER,
    ),
    Spoiled("DROP INDEX ix_client_logs_received_at_id", "ix_client_logs_received_at_id of client_logs is gone"),
)
HARMLESS: Final = (
    "CREATE TABLE badges (id bigint PRIMARY KEY, user_id bigint REFERENCES users (id) ON DELETE CASCADE)",
    "ALTER TABLE users ADD COLUMN team text CHECK (team <> '')",
    "ALTER TABLE users ADD COLUMN team text NOT NULL DEFAULT 'a' CHECK (team IN ('a', 'b'))",
    "ALTER TABLE users ADD COLUMN badge text UNIQUE",
    "ALTER TABLE users ADD COLUMN badge bigint GENERATED ALWAYS AS IDENTITY",
    "ALTER TABLE users DROP CONSTRAINT ck_users_role",
    "ALTER TABLE command_batches ALTER COLUMN waves TYPE integer",
    "CREATE INDEX ix_users_role ON users (role)",
    "CREATE FUNCTION half(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT $1 / 2'",
    "CREATE TYPE colour AS ENUM ('red')",
)


def found_by(connection: Connection, change: str, said: str | None = None) -> set[str]:
    """The breaches of a change to the head's schema, which is rolled back. `said` works before it and fails after."""
    if said is not None:
        with connection.begin_nested() as kept:
            connection.exec_driver_sql(said)
            kept.rollback()
    before = promises(connection)
    with connection.begin_nested() as spoiled:
        connection.exec_driver_sql(change)
        found = breaches(before, promises(connection), connection)
        if said is not None:
            with pytest.raises(DBAPIError), connection.begin_nested():
                connection.exec_driver_sql(said)
        spoiled.rollback()
    return found


@pytest.mark.parametrize("case", SPOILED, ids=lambda case: case.breach)
def test_a_migration_that_is_spoiled_on_purpose_is_named(
    emptied: Connection, broken: dict[str, set[str]], case: Spoiled
) -> None:
    assert broken
    found = found_by(emptied, case.change, case.said)

    assert [breach for breach in found if breach.startswith(case.breach)], found


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("change", HARMLESS)
def test_what_only_adds_or_loosens_is_let_pass(emptied: Connection, change: str) -> None:
    assert not found_by(emptied, change)
