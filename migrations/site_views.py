"""The views through which a caller of chosen sites sees the tables: default deny, in one place.

Such a caller may see a part of some tables. Each of these tables has a view of the same name in the schema SCHEMA.
The api sets `search_path` to this schema alone and names the sites in the setting SETTING, both for one transaction
(`shared.access.sites_store`). So each statement of the product reads and writes the caller's part. It finds no table
without a view here, and no row while no sites are named: both are errors. A write that reaches beyond the sites fails
with SQLSTATE 44000 (with check option violation).

The migrations make the views. `SELECT *` is written out, so a migration that changes a table needs new views: `drop`
runs before such migrations and `make` after them, in the same transaction.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final

import sqlalchemy as sa
from pg8000.native import identifier, literal
from sqlalchemy import Connection

from shared.access.sites_store import SCHEMA, SETTING
from shared.postgres.fragments import MAKERS, made

MINE: Final = f"ANY (CAST(current_setting('{SETTING}') AS text[]))"
"""SQL: `site = MINE` is whether the caller may see this site. An error while no sites are named."""


def _is_mine(uuid: str) -> str:
    """SQL: whether this client is at one of the caller's sites."""
    return f"EXISTS (SELECT FROM public.clients AS mine WHERE mine.uuid = {uuid} AND mine.site = {MINE})"  # nosec B608 - made of constants


OF_CLIENT: Final = _is_mine("t.client_uuid")
EVERYTHING: Final = "true"


@dataclass(frozen=True)
class View:
    """A view of the table `t` with the same name."""

    where: str
    """SQL: which rows the caller sees."""
    replaced: Mapping[str, str] = field(default_factory=dict)
    """Column -> the SQL that the caller sees instead. Such a column cannot be written."""
    checks: bool = True
    """Whether a row that is written must be one that the caller sees."""


_MEMBERS: Final = "SELECT FROM public.incident_members AS m WHERE m.incident_id = t.id"
_BEYOND: Final = f"EXISTS ({_MEMBERS} AND NOT {_is_mine('m.client_uuid')})"
_COUNTED: Final = _MEMBERS.replace("SELECT", "SELECT CAST(count(DISTINCT m.client_uuid) AS integer)")
_MINE_IN: Final = f"({_COUNTED} AND {_is_mine('m.client_uuid')}"
_OTHERS_TOO: Final = """'{"code": "other_sites_too", "facts": {}}'::jsonb"""
_FOUND: Final = "strpos(lower(concat_ws(' ', c.name, c.uuid, c.site, c.hostname, c.ip)), lower(t.filter ->> 'q')) > 0"
_NAMES_MINE: Final = "named.uuid = c.uuid AND c.site = " + MINE
VIEWS: Final[Mapping[str, View]] = {
    "clients": View(f"t.site = {MINE}"),
    **dict.fromkeys(
        (
            "client_heartbeats",
            "client_health",
            "client_limits",
            "client_hours",
            "client_installs",
            "client_state_changes",
            "client_screen_changes",
            "client_losses",
            "service_failure_events",
            "client_logs",
            "client_log_hours",
            "client_commands",
            "command_batch_members",
            "command_schedule_clients",
            "client_recovery",
            "screenshots",
            "incident_members",
            "enrolment_codes",
            "display_logins",
        ),
        View(OF_CLIENT),
    ),
    "status_links": View(f"t.site = {MINE}"),
    # Parallel arrays of many clients. The only statement that reads them takes one client, which it finds first.
    "client_health_history": View(EVERYTHING),
    "dead_letters": View(_is_mine("t.sender")),
    "command_batches": View(
        f"""EXISTS (SELECT FROM public.command_batch_members AS m
            WHERE m.batch_id = t.id AND {_is_mine("m.client_uuid")})""",  # nosec B608 - made of constants
        checks=False,  # the members come after it
    ),
    "command_schedules": View(
        f"""CASE WHEN t.filter IS NULL THEN EXISTS (SELECT FROM public.command_schedule_clients AS n
                WHERE n.schedule_id = t.id AND {_is_mine("n.client_uuid")})
            WHEN t.filter ->> 'site' IS NOT NULL THEN t.filter ->> 'site' = {MINE}
            ELSE EXISTS (SELECT FROM public.clients AS c WHERE c.site = {MINE}
                AND (t.filter ->> 'tag' IS NULL OR c.tags @> ARRAY[t.filter ->> 'tag'])
                AND (t.filter ->> 'q' IS NULL OR {_FOUND})) END""",  # noqa: S608 - made of constants
        checks=False,  # its triggers do
    ),
    "command_schedule_runs": View(
        f"EXISTS (SELECT FROM {SCHEMA}.command_schedules AS s WHERE s.id = t.schedule_id)"  # nosec B608 - made of constants
    ),
    "recovery_events": View(
        f"""CASE WHEN t.client_uuid IS NOT NULL THEN {OF_CLIENT}
            ELSE t.evidence ->> 'site' IS NULL OR t.evidence ->> 'site' = {MINE} END"""
    ),
    "recovery_breakers": View(f"t.site = '' OR t.site = {MINE}", checks=False),
    "screenshots_off": View(f"t.site = {MINE}"),
    "expectations": View(f"t.scope = 'site' AND t.target = {MINE} OR t.scope = 'client' AND {_is_mine('t.target')}"),
    "quiet_times": View(
        f"""t.scope = 'fleet' OR t.site = {MINE}
            OR t.scope = 'tag' AND EXISTS (
                SELECT FROM public.clients AS c WHERE c.tags @> ARRAY[t.tag] AND c.site = {MINE})
            OR t.scope = 'clients' AND EXISTS (
                SELECT FROM unnest(t.clients) AS named (uuid) JOIN public.clients AS c ON {_NAMES_MINE})""",  # noqa: S608 - made of constants
        {
            "clients": f"""ARRAY(SELECT named.uuid FROM unnest(t.clients) WITH ORDINALITY AS named (uuid, place)
                JOIN public.clients AS c ON {_NAMES_MINE} ORDER BY named.place)"""  # noqa: S608 - made of constants
        },
        checks=False,  # its triggers do
    ),
    "incidents": View(
        f"t.kind = 'listening' OR EXISTS ({_MEMBERS} AND {_is_mine('m.client_uuid')})",
        {
            "key": f"CASE WHEN t.kind <> 'site' OR t.key = {MINE} THEN t.key ELSE '' END",
            "cause": f"CASE WHEN {_BEYOND} THEN {_OTHERS_TOO} ELSE t.cause END",
            "group_size": f"CASE WHEN {_BEYOND} THEN NULL ELSE t.group_size END",
            "note": f"CASE WHEN {_BEYOND} THEN NULL ELSE t.note END",
            "members": f"CASE WHEN {_BEYOND} THEN {_MINE_IN}) ELSE t.members END",
            "present": f"CASE WHEN {_BEYOND} THEN {_MINE_IN} AND m.left_at IS NULL) ELSE t.present END",
            "peak": "CAST(NULL AS integer)",
            "waned_at": "CAST(NULL AS timestamptz)",
            "again_of": f"CASE WHEN EXISTS ({_MEMBERS.replace('t.id', 't.again_of')} AND {_is_mine('m.client_uuid')})"
            " THEN t.again_of END",
        },
        checks=False,
    ),
    "incident_events": View(
        f"""EXISTS (SELECT FROM public.incident_members AS m
                WHERE m.incident_id = t.incident_id AND {_is_mine("m.client_uuid")})
            AND NOT EXISTS (SELECT FROM public.incident_members AS m
                WHERE m.incident_id = t.incident_id AND NOT {_is_mine("m.client_uuid")})
            OR EXISTS (SELECT FROM public.incidents AS i WHERE i.id = t.incident_id AND i.kind = 'listening')"""  # noqa: S608 - made of constants
    ),
    "audit_log": View(_is_mine("t.target"), checks=False),  # what the caller does is always written down
    "scheduler_status": View(EVERYTHING, {"did": "'{}'::jsonb"}, checks=False),
    "bridge_status": View(EVERYTHING),
}

_MAKERS: Final = f"""
    CREATE VIEW {MAKERS} (actor, since, role, sites, is_live) AS
    SELECT 'user:' || u.username, CASE WHEN u.created_at > now() THEN '-infinity' ELSE u.created_at END,
        u.role, u.sites, u.disabled_at IS NULL
    FROM public.users AS u
    UNION ALL
    SELECT 'token:' || t.name || '#' || t.id, '-infinity', t.role, t.sites,
        t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
    FROM public.api_tokens AS t"""  # noqa: S608 - made of constants
"""What a person or token may do today in whose name something acts. Made later than now: the clock was set back."""
_REFUSE: Final = "RAISE EXCEPTION 'this reaches beyond the sites of the caller' USING ERRCODE = '44000';"


def _made_at_mine(by: str) -> str:
    """SQL: whether the maker of the row has only sites of the caller: beyond them it does nothing any more."""
    return f"""EXISTS (SELECT FROM {MAKERS} AS maker WHERE {made("maker", f"OLD.{by}", "OLD.created_at")}
        AND maker.sites <@ CAST(current_setting('{SETTING}') AS text[]))"""  # nosec B608 - made of constants


@dataclass(frozen=True)
class Trigger:
    """What happens instead of a write to a view: it is refused, or done on the table."""

    event: str
    table: str
    within: str
    """SQL: whether the write concerns the caller's sites alone."""
    row: str = ""
    """SQL: for an UPDATE, which row of the table it is."""
    columns: tuple[str, ...] = ()
    """The columns that are written; none: all that the view does not replace."""


TRIGGERS: Final = (
    Trigger(
        "INSERT",
        "quiet_times",
        f"""NEW.scope = 'site' AND NEW.site = {MINE} OR NEW.scope = 'clients' AND NOT EXISTS (
            SELECT FROM unnest(NEW.clients) AS named (uuid) WHERE NOT {_is_mine("named.uuid")})""",  # nosec B608 - made of constants
    ),
    Trigger(
        "UPDATE",
        "quiet_times",
        f"""OLD.scope = 'site' AND OLD.site = {MINE}
            OR OLD.scope = 'clients' AND (OLD.named = cardinality(OLD.clients) OR {_made_at_mine("created_by")})""",
        "id = OLD.id AND ended_at IS NOT DISTINCT FROM OLD.ended_at",  # nobody else ended it in the meantime
    ),
    Trigger(
        "UPDATE",
        "command_batches",
        f"""NOT EXISTS (SELECT FROM public.command_batch_members AS m
            WHERE m.batch_id = OLD.id AND NOT {_is_mine("m.client_uuid")})
            OR {_made_at_mine("requested_by")}""",  # nosec B608 - made of constants
        "id = OLD.id",
    ),
    # The clients of a new schedule come after it; their view refuses others.
    Trigger("INSERT", "command_schedules", f"NEW.filter IS NULL OR NEW.filter ->> 'site' = {MINE}"),
    Trigger(
        "UPDATE",
        "command_schedules",
        f"""CASE WHEN OLD.filter IS NOT NULL THEN OLD.filter ->> 'site' = {MINE}
            ELSE NOT EXISTS (SELECT FROM public.command_schedule_clients AS n
                WHERE n.schedule_id = OLD.id AND NOT {_is_mine("n.client_uuid")}) END
            OR {_made_at_mine("created_by")}""",  # nosec B608 - made of constants
        "id = OLD.id",
    ),
    Trigger("UPDATE", "recovery_breakers", "OLD.site <> ''", "basis = OLD.basis AND site = OLD.site"),
    Trigger(
        "UPDATE",
        "incidents",
        f"NOT {_BEYOND.replace('t.id', 'OLD.id')}",
        "id = OLD.id",  # locked before
        ("taken_by", "taken_at", "note"),
    ),
)
"""Quiet times, batches, schedules and breakers of others are shown as far as they concern the caller. A caller changes
only those that concern nobody else's sites: a display that its maker has no rights for is not concerned."""


def drop(connection: Connection) -> None:
    """Remove the views, which would keep migrations from changing their tables."""
    _run(connection, f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")


def make(connection: Connection) -> None:
    """Make the views, unless they are there already, or the migrations ended before the tables."""
    if not _columns(connection, "users"):
        return
    statements = [f"CREATE SCHEMA {SCHEMA}", _MAKERS]
    for table, view in VIEWS.items():
        statements.append(_view(table, view, _columns(connection, table)))
    for trigger in TRIGGERS:
        statements += _trigger(trigger, _columns(connection, trigger.table, written=True))
    wanted = sha256("".join(statements).encode()).hexdigest()
    present = sa.text("SELECT obj_description(to_regnamespace(:schema), 'pg_namespace')")
    if connection.execute(present, {"schema": SCHEMA}).scalar_one() == wanted:
        return
    drop(connection)
    for statement in (*statements, f"COMMENT ON SCHEMA {SCHEMA} IS {literal(wanted)}"):
        _run(connection, statement)


def _view(table: str, view: View, columns: Iterable[str]) -> str:
    shown = ", ".join(
        f"{view.replaced[name]} AS {identifier(name)}" if name in view.replaced else f"t.{identifier(name)}"
        for name in columns
    )
    check = " WITH CHECK OPTION" if view.checks else ""
    return f"CREATE VIEW {SCHEMA}.{table} AS SELECT {shown} FROM public.{table} AS t WHERE {view.where}{check}"  # noqa: S608 - constants


def _trigger(trigger: Trigger, columns: Iterable[str]) -> tuple[str, str]:
    name = f"{SCHEMA}.{trigger.event.lower()}_{trigger.table}"
    replaced = () if trigger.event == "INSERT" else VIEWS[trigger.table].replaced
    there = [identifier(one) for one in trigger.columns or (one for one in columns if one not in replaced)]
    listed, new = ", ".join(there), ", ".join(f"NEW.{one}" for one in there)
    write = (
        f"INSERT INTO public.{trigger.table} ({listed}) VALUES ({new}) ON CONFLICT DO NOTHING RETURNING id INTO NEW.id"  # noqa: S608 - made of constants
        if trigger.event == "INSERT"
        else f"UPDATE public.{trigger.table} SET ({listed}) = ROW({new}) WHERE {trigger.row}"  # noqa: S608 - made of constants
    )
    return (
        f"""
        CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF ({trigger.within}) IS NOT TRUE THEN
                {_REFUSE}
            END IF;
            {write};
            IF FOUND THEN
                RETURN NEW;
            END IF;
            RETURN NULL;
        END $$
        """,
        (
            f"CREATE TRIGGER within_{trigger.event.lower()} INSTEAD OF {trigger.event}"
            f" ON {SCHEMA}.{trigger.table} FOR EACH ROW EXECUTE FUNCTION {name}()"
        ),
    )


def _columns(connection: Connection, table: str, *, written: bool = False) -> list[str]:
    """The columns of a table, in the table's order. `written`: only those that a statement may write."""
    asked = sa.text(
        """
        SELECT attname FROM pg_attribute
        WHERE attrelid = to_regclass('public.' || :table) AND attnum > 0 AND NOT attisdropped
            AND NOT (:written AND (attidentity <> '' OR attgenerated <> '')) ORDER BY attnum
        """
    )
    return list(connection.execute(asked, {"table": table, "written": written}).scalars())


def _run(connection: Connection, statement: str) -> None:
    connection.exec_driver_sql(statement.replace("%", "%%"))
