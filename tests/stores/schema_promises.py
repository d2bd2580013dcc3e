"""The promises of a schema to the code on it, read from Postgres' catalogue, and which of them a migration breaks.

Old code runs on the new schema during an upgrade and after a rollback. A breach is a text such as "clients.name is
gone". Without a breach, old code can still store, change, delete and read whatever it could before.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection

from deploy.parts.layout import REPOSITORY

WIDER: Final = frozenset({("smallint", "integer"), ("smallint", "bigint"), ("integer", "bigint")})
"""Changes of a type that accept all earlier values, and return numbers as before."""
WORD: Final = re.compile(r"'((?:[^']|'')*)'")
KEEPS: Final = frozenset({"a", "r"})  # a foreign key refuses to delete the referenced row

OF_OURS: Final = "relnamespace = 'public'::regnamespace AND NOT relispartition AND relname <> 'alembic_version'"
COLUMNS: Final = f"""
    SELECT relname AS table, attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required,
        pg_get_expr(adbin, adrelid) AS default, attgenerated::text AS generated, attidentity::text AS identity
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relkind IN ('r', 'p') AND {OF_OURS}
"""
CONSTRAINTS: Final = f"""
    SELECT relname AS table, conname AS name, contype::text AS kind, pg_get_constraintdef(pg_constraint.oid) AS text,
        confdeltype::text AS on_delete, confrelid::regclass::text AS names,
        ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY(conkey)) AS columns
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
    WHERE contype IN ('c', 'f', 'p', 'u', 'x') AND {OF_OURS}
"""
INDEXES: Final = f"""
    SELECT relname AS table, indexrelid::regclass::text AS name, indisunique AS is_unique,
        pg_get_indexdef(indexrelid) AS text
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE {OF_OURS}
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
"""
ENUMS: Final = """
    SELECT typname AS name, array_agg(enumlabel::text ORDER BY enumsortorder) AS words
    FROM pg_type JOIN pg_enum ON enumtypid = pg_type.oid GROUP BY typname
"""
FUNCTIONS: Final = """
    SELECT oid::regprocedure::text AS name, pg_get_function_result(oid) AS result, prosrc AS body
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace
"""
TRIGGERS: Final = f"""
    SELECT relname AS table, tgname AS name, pg_get_triggerdef(pg_trigger.oid) AS text
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE NOT tgisinternal AND {OF_OURS}
"""
Row = Mapping[str, Any]
Inside = dict[tuple[str, str], Row]  # a table, and a name within it


def chain() -> list[Script]:
    """The migrations in order."""
    return list(reversed(list(ScriptDirectory.from_config(Config(REPOSITORY / "alembic.ini")).walk_revisions())))


@dataclass(frozen=True)
class Promises:
    """A schema: its parts by name; columns, constraints, indexes and triggers by table and name."""

    columns: Inside
    constraints: Inside
    indexes: Inside
    triggers: Inside
    enums: dict[str, Row]
    functions: dict[str, Row]

    @property
    def tables(self) -> set[str]:
        """The names of the tables."""
        return {table for table, _ in self.columns}


def promises(connection: Connection) -> Promises:
    """Read the promises of the transaction's present schema."""

    def asked(question: str) -> list[Row]:
        return [dict(row) for row in connection.execute(sa.text(question)).mappings()]

    def inside(question: str) -> Inside:
        return {(row["table"], row["name"]): row for row in asked(question)}

    return Promises(
        columns=inside(COLUMNS),
        constraints=inside(CONSTRAINTS),
        indexes=inside(INDEXES),
        triggers=inside(TRIGGERS),
        enums={row["name"]: row for row in asked(ENUMS)},
        functions={row["name"]: row for row in asked(FUNCTIONS)},
    )


def breaches(before: Promises, after: Promises, connection: Connection) -> set[str]:
    """The promises that old code can no longer rely on. `connection` computes the defaults of new columns."""
    gone = before.tables - after.tables
    known = before.tables & after.tables
    return {
        *(f"{table} is gone" for table in gone),
        *_of_columns(before, after, known),
        *_of_constraints(before, after, known, connection),
        *_of_indexes(before, after, known),
        *_of_words(before, after),
        *_of_programs(before, after, known),
    }


def _of_columns(before: Promises, after: Promises, known: set[str]) -> Iterator[str]:
    for (table, name), was in before.columns.items():
        if table not in known:
            continue
        now = after.columns.get((table, name))
        if now is None:
            yield f"{table}.{name} is gone"
        else:
            yield from (f"{table}.{name} {change}" for change in _changes(was, now))
    for (table, name), now in after.columns.items():
        if table in known and (table, name) not in before.columns and _must_be_given(now):
            yield f"{table}.{name} is new and must be given"


def _changes(was: Row, now: Row) -> Iterator[str]:
    if was["type"] != now["type"] and (was["type"], now["type"]) not in WIDER:
        yield f"is {now['type']} and was {was['type']}"
    if now["required"] and not was["required"]:
        yield "may be null no more"
    if was["required"] and not now["required"]:
        yield "may be null now, which readers did not expect"
    if was["default"] != now["default"] and was["default"] is not None and not was["generated"]:
        yield f"is {now['default'] or 'null'} where nothing is said, and was {was['default']}"
    if (now["generated"] or now["identity"] == "a") and not (was["generated"] or was["identity"] == "a"):
        yield "can be written no more"


def _must_be_given(column: Row) -> bool:
    return column["required"] and column["default"] is None and not column["generated"] and not column["identity"]


def _of_constraints(before: Promises, after: Promises, known: set[str], connection: Connection) -> Iterator[str]:
    for (table, name), now in after.constraints.items():
        was = before.constraints.get((table, name))
        if table not in known:
            if now["kind"] == "f" and now["on_delete"] in KEEPS and now["names"] in known:
                yield f"rows of {now['names']} stay while {table} names them"
        elif was is None or was["text"] != now["text"]:
            yield from _tightened(before, after, was, now, connection)
    for (table, name), was in before.constraints.items():
        if table in known and was["kind"] in {"p", "u"} and (table, name) not in after.constraints:
            yield f"{name} of {table} is gone, which ON CONFLICT needs"


def _tightened(before: Promises, after: Promises, was: Row | None, now: Row, connection: Connection) -> Iterator[str]:
    """The breaches by a new or changed constraint on an existing table."""
    if was is not None and now["kind"] == "c" and _without_words(was["text"]) == _without_words(now["text"]):
        yield from _words(f"{now['table']}.{now['columns'][0]}", _said(was["text"]), _said(now["text"]))
        return
    is_old = any((now["table"], name) in before.columns for name in now["columns"])
    if not is_old and _holds_unsaid(after, now, connection):
        return
    yield f"{now['name']} of {now['table']} is stricter: {now['text']}"


def _holds_unsaid(after: Promises, constraint: Row, connection: Connection) -> bool:
    """Whether a constraint that concerns only new columns holds for their defaults."""
    columns = [after.columns[constraint["table"], name] for name in constraint["columns"]]
    if constraint["kind"] != "c":
        return all(column["default"] is None and not column["required"] for column in columns)
    unsaid = ", ".join(f"CAST({one['default'] or 'NULL'} AS {one['type']}) AS {one['name']}" for one in columns)
    condition = constraint["text"].removeprefix("CHECK ")
    asked = f"SELECT ({condition}) IS NOT FALSE FROM (SELECT {unsaid}) AS unsaid"
    return bool(connection.exec_driver_sql(asked.replace("%", "%%")).scalar_one())


def _of_indexes(before: Promises, after: Promises, known: set[str]) -> Iterator[str]:
    for (table, name), was in before.indexes.items():
        now = after.indexes.get((table, name))
        if table in known and (now is None or now["text"] != was["text"]):
            yield f"{name} of {table} is gone or another one"
    for (table, name), now in after.indexes.items():
        if table in known and (table, name) not in before.indexes and now["is_unique"]:
            yield f"{name} of {table} is stricter: {now['text']}"


def _of_words(before: Promises, after: Promises) -> Iterator[str]:
    for name, was in before.enums.items():
        now = after.enums.get(name)
        if now is None:
            yield f"the type {name} is gone"
        else:
            yield from _words(name, was["words"], now["words"])


def _words(whose: str, was: list[str], now: list[str]) -> Iterator[str]:
    if lost := sorted(set(was) - set(now)):
        yield f"{whose} refuses {', '.join(lost)}"
    if new := sorted(set(now) - set(was)):
        yield f"{whose} has {', '.join(new)}, which readers do not know"


def _said(text: str) -> list[str]:
    return WORD.findall(text)


def _without_words(text: str) -> str:
    """The constraint without the words of its lists, so that constraints can be compared."""
    return re.sub(r"'…'(::\w+)?(, '…'(::\w+)?)*", "…", WORD.sub("'…'", text))


def _of_programs(before: Promises, after: Promises, known: set[str]) -> Iterator[str]:
    for name, was in before.functions.items():
        now = after.functions.get(name)
        if now is None or now["result"] != was["result"]:
            yield f"{name} is gone or answers another type"
        elif now["body"] != was["body"]:
            yield f"{name} works otherwise"
    for (table, name), was in before.triggers.items():
        now = after.triggers.get((table, name))
        if table in known and (now is None or now["text"] != was["text"]):
            yield f"the trigger {name} of {table} is gone or another one"
    for table, name in after.triggers.keys() - before.triggers.keys():
        if table in known:
            yield f"the trigger {name} of {table} is new"
