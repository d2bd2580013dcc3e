"""A database role for each component, and its rights on each table.

The role of DATABASE_URL owns everything; only the migrations use it. An attacker in a component has only that
component's rights: no component can change or delete a line of the audit log, and the conversion worker, which reads
decks from strangers, cannot read accounts. `apply` makes the roles and sets exactly the rights listed here. It runs
with the migrations, at every start.
"""

from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import sqlalchemy as sa
from pg8000.native import identifier, literal
from scramp import ScramMechanism
from sqlalchemy import Connection
from sqlalchemy.exc import ProgrammingError

from migrations import site_views
from migrations.roles import COMPONENTS, QUEUE_SCHEMA, TASK_QUEUE, WITH_ROLES, role_of
from shared.access.sites_store import SCHEMA
from shared.postgres.fragments import MAKERS

VERBS: Final = {"s": "SELECT", "i": "INSERT", "u": "UPDATE", "d": "DELETE"}

# s SELECT, i INSERT, u UPDATE, d DELETE, - nothing. Locking a row (FOR UPDATE, FOR SHARE) needs UPDATE.
TABLES: Final = """\
                           api     bridge  scheduler_tick  convert_worker  broker_accounts  broker_logins
alembic_version            s       -       -               -               -                -
clients                    siu     siu     siu             -               s                s
client_hours               siud    s       siud            -               -                -
client_heartbeats          su      siu     siu             -               -                -
client_health              s       siu     siu             -               -                -
client_limits              s       -       siu             -               -                -
client_health_history      s       si      sid             -               -                -
client_installs            s       siud    sid             -               -                -
client_state_changes       s       siu     sid             -               -                -
client_screen_changes      s       i       sid             -               -                -
client_losses              s       siu     sid             -               -                -
service_failure_events     siud    siu     sid             -               -                -
client_logs                s       siu     s               -               -                -
client_logs_id_seq         -       u       -               -               -                -
log_marks                  -       siud    siud            -               -                -
log_gaps                   -       siud    sid             -               -                -
log_keys                   -       siud    sid             -               -                -
client_log_hours           s       siud    sid             -               -                -
client_commands            siu     siud    siud            -               -                -
command_batches            siu     -       siud            -               -                -
command_batch_members      siu     -       siud            -               -                -
command_schedules          siu     -       sud             -               -                -
command_schedule_clients   si      -       s               -               -                -
command_schedule_runs      si      -       sid             -               -                -
screenshots                sid     -       sd              -               -                -
expectations               siud    s       -               -               -                -
screenshots_off            siud    -       -               -               -                -
recovery_events            si      -       sid             -               -                -
client_recovery            siu     siu     siu             -               -                -
recovery_breakers          su      -       siu             -               -                -
scheduler_status           su      -       su              -               -                -
quiet_times                siu     -       sd              -               -                -
incidents                  su      -       siud            -               -                -
incident_members           s       -       siud            -               -                -
incident_events            si      -       sid             -               -                -
notification_channels      siud    -       su              -               -                -
notification_deliveries    siu     -       siud            -               -                -
bridge_status              s       su      s               -               s                -
dead_letters               s       siu     sid             -               -                -
broker_crashes             s       s       sd              -               siud             -
broker_files_seen          s       -       -               -               siud             -
door_certificates          s       -       s               -               siud             -
event_media                siud    -       siud            su              -                -
conversions                siud    -       siud            siu             -                -
uploads                    siud    -       sud             -               -                -
users                      siud    -       -               -               -                -
user_sessions              siud    -       sd              -               -                -
provider_identities        siud    -       -               -               -                -
provider_tries             sid     -       -               -               -                -
second_factors             siud    -       -               -               -                -
recovery_codes             siud    -       -               -               -                -
sign_in_addresses          siud    -       sd              -               -                -
login_failures             siud    -       sud             -               -                -
api_tokens                 siu     -       -               -               -                -
status_links               siu     -       -               -               -                -
enrolment_codes            siud    -       sd              -               -                -
display_logins             siud    -       -               -               s                s
audit_log                  si      -       si              -               -                -
audit_repeats              siud    -       siud            -               -                -
"""

READ_MAKERS: Final = ("api", "bridge", "scheduler_tick")
"""Who acts later in somebody's name and so reads what that person or token may do today, without secrets."""

# Functions that run with the owner's rights for a component; each checks its arguments.
FUNCTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "make_client_log_partition(text, date)": ("scheduler_tick",),
    "client_log_weeks_without_partition()": ("scheduler_tick",),
    "drop_client_log_partition(text)": ("scheduler_tick",),
    "forget_audit_before(timestamptz)": ("scheduler_tick",),
    "names_of_empty_sites()": ("api", "scheduler_tick"),
}


class RolesImpossible(Exception):
    """The components' roles cannot be made; the message gives reason and remedy."""


def apply(connection: Connection, passwords: Mapping[str, str]) -> None:
    """Make a role for each component in `passwords`, and set the rights of every existing role.

    Raises:
        RolesImpossible: no such component, or the owner may not make or change its role.
    """
    owner = str(connection.execute(sa.text("SELECT current_user")).scalar_one())
    if passwords:
        _check(connection, owner, passwords)
    for component, password in passwords.items():
        _make(connection, role_of(component, owner), password)
    there = _roles(connection)
    for function, components in FUNCTIONS.items():
        _allow_function(connection, function, there & {role_of(component, owner) for component in components})
    for component in COMPONENTS:
        if role_of(component, owner) in there:
            _allow(connection, role_of(component, owner), dict(rights_of(component)))
    if role_of(TASK_QUEUE, owner) in there:
        _allow_queue(connection, role_of(TASK_QUEUE, owner))
    if connection.execute(sa.text("SELECT to_regclass(:name)"), {"name": MAKERS}).scalar_one() is None:
        return  # the migrations ended before the views
    for role in there & {role_of(component, owner) for component in READ_MAKERS}:
        _run(connection, f"GRANT USAGE ON SCHEMA {identifier(SCHEMA)} TO {identifier(role)}")
        _run(connection, f"GRANT SELECT ON {MAKERS} TO {identifier(role)}")
    if (api := role_of("api", owner)) in there:
        _allow_views(connection, api, dict(rights_of("api")))


def rights_of(component: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each table that the component may use, with its rights."""
    heading, *lines = TABLES.splitlines()
    column = heading.split().index(component) + 1
    for line in lines:
        cells = line.split()
        if cells[column] != "-":
            yield cells[0], tuple(VERBS[letter] for letter in cells[column])


def _check(connection: Connection, owner: str, passwords: Collection[str]) -> None:
    if unknown := sorted(set(passwords) - set(WITH_ROLES)):
        raise RolesImpossible(f"DATABASE_ROLE_PASSWORDS: there is no component {', '.join(unknown)}.")
    asked = sa.text("SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user")
    if not connection.execute(asked).scalar_one():
        raise RolesImpossible(
            f"The role {owner} may not make a role for each component. Let it, as a superuser of Postgres:"
            f" ALTER ROLE {identifier(owner)} CREATEROLE;"
        )


def _roles(connection: Connection) -> set[str]:
    return set(connection.execute(sa.text("SELECT rolname FROM pg_roles")).scalars())


def _make(connection: Connection, role: str, password: str) -> None:
    """Make the role, or set its password. Postgres gets only the verifier of the password."""
    if role not in _roles(connection):
        _run(connection, f"CREATE ROLE {identifier(role)}")
    try:
        _run(connection, f"ALTER ROLE {identifier(role)} LOGIN PASSWORD {literal(_verifier(password))}")
    except ProgrammingError as error:  # from Postgres 16 on
        raise RolesImpossible(f"Somebody else made the role {role}: drop it, and the migrations make it.") from error


def _verifier(password: str) -> str:
    """The SCRAM-SHA-256 verifier (RFC 5803), as in `pg_authid`, so that a statement log holds no password."""
    salt, stored, server, iterations = ScramMechanism().make_auth_info(password)
    salt, stored, server = (b64encode(part).decode() for part in (salt, stored, server))
    return f"SCRAM-SHA-256${iterations}:{salt}${stored}:{server}"


def _allow(connection: Connection, role: str, rights: Mapping[str, Collection[str]]) -> None:
    """Grant exactly these rights. Other sessions see them at the commit of the migrations."""
    _let_in(connection, role)
    present = _own_tables(connection, "public")
    if present:
        _run(connection, f"REVOKE ALL ON {', '.join(map(identifier, present))} FROM {identifier(role)}")
    for table in rights.keys() & present:
        _run(connection, f"GRANT {', '.join(rights[table])} ON {identifier(table)} TO {identifier(role)}")


def _allow_views(connection: Connection, role: str, rights: Mapping[str, Collection[str]]) -> None:
    """Grant the rights on each table for its view in `site_views` too, which reads it with the owner's rights."""
    present = _own_tables(connection, "public")
    for table in site_views.VIEWS.keys() & present:
        view = f"{identifier(SCHEMA)}.{identifier(table)}"
        _run(connection, f"GRANT {', '.join(rights[table])} ON {view} TO {identifier(role)}")


def _allow_function(connection: Connection, function: str, roles: Collection[str]) -> None:
    if connection.execute(sa.text("SELECT to_regprocedure(:name)"), {"name": function}).scalar_one() is None:
        return  # an older schema
    _run(connection, f"REVOKE ALL ON FUNCTION {function} FROM PUBLIC")
    for role in roles:
        _run(connection, f"GRANT EXECUTE ON FUNCTION {function} TO {identifier(role)}")


def _allow_queue(connection: Connection, role: str) -> None:
    """Give the task queue its schema, and the older tables there that the owner has."""
    _let_in(connection, role)
    schema = identifier(QUEUE_SCHEMA)
    _run(connection, f"CREATE SCHEMA IF NOT EXISTS {schema}")
    _run(connection, f"GRANT USAGE, CREATE ON SCHEMA {schema} TO {identifier(role)}")
    for table in _own_tables(connection, QUEUE_SCHEMA):
        _run(connection, f"GRANT {', '.join(VERBS.values())} ON {schema}.{identifier(table)} TO {identifier(role)}")


def _let_in(connection: Connection, role: str) -> None:
    """Let this role connect if the database is not open to all roles."""
    asked = sa.text("SELECT current_database(), has_database_privilege(:role, current_database(), 'CONNECT')")
    database, may_connect = connection.execute(asked, {"role": role}).one()
    if not may_connect:
        _run(connection, f"GRANT CONNECT ON DATABASE {identifier(database)} TO {identifier(role)}")


def _own_tables(connection: Connection, schema: str) -> list[str]:
    """The owner's tables and sequences in this schema, without partitions."""
    asked = sa.text(
        """
        SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace(:schema) AND relkind IN ('r', 'p', 'S')
        AND NOT relispartition AND pg_has_role(relowner, 'USAGE') ORDER BY 1
        """
    )
    return list(connection.execute(asked, {"schema": schema}).scalars())


def _run(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement)
