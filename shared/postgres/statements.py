"""Statements that are made once and asked for again and again, at the least that asking can cost.

SQLAlchemy writes them, at import, and says what happens when one fails; between the two, what it does for each
run of a statement takes as long as pg8000's part of it (docs/decisions/0036-what-a-small-read-costs.md).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.dialects.postgresql.pg8000 import PGDialect_pg8000

from shared.postgres.kept_statements import PLANNED_ONCE
from shared.postgres.prepared import PreparingConnection

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_DIALECT: Final = PGDialect_pg8000()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Constant:
    """A statement in pg8000's spelling, and what stands in for each of its `%s`: a name, or None and the value."""

    text: str
    places: tuple[tuple[str | None, Any], ...]

    def arguments(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """One value for each place."""
        return tuple(value if name is None else values[name] for name, value in self.places)


def constant(statement: sa.Executable) -> Constant:
    """The statement, written out. Its parameters are times, texts, numbers and lists of them.

    Raises TypeError for one that would be written anew for each run, or whose values SQLAlchemy would change.
    """
    compiled: Any = statement.compile(dialect=_DIALECT)  # type: ignore[attr-defined]  # every statement has it
    changed = compiled._bind_processors.keys()  # noqa: SLF001 - no public name tells it
    if compiled.post_compile_params:
        raise TypeError("an expanding IN is written anew for each run: spell its values out, or give one array")
    if given := [name for name in changed if compiled.binds[name].required]:
        raise TypeError(f"SQLAlchemy changes {', '.join(given)} on the way: use `connection.execute`, or a plain type")
    return Constant(str(compiled), tuple(_place(compiled, name) for name in compiled.positiontup or ()))


def keyed(statement: sa.Executable) -> Constant:
    """As `constant`, planned once for all values: of what finds its rows by their keys, be they one or a thousand."""
    made = constant(statement)
    return replace(made, text=f"{made.text} {PLANNED_ONCE}")


def _place(compiled: Any, name: str) -> tuple[str | None, Any]:
    bound = compiled.binds[name]
    if bound.required:
        return name, None
    change = compiled._bind_processors.get(name)  # noqa: SLF001 - as above
    return None, change(bound.value) if change else bound.value


def moment(name: str) -> sa.BindParameter[Any]:
    """The parameter `name`: a time."""
    return sa.bindparam(name, type_=sa.DateTime(timezone=True))


def one_of(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether `column` is among the texts of the parameter `name`: a list."""
    return column == sa.any_(sa.cast(sa.bindparam(name), sa.ARRAY(sa.Text)))


def among(column: sa.ColumnElement[Any], values: Iterable[str]) -> sa.ColumnElement[bool]:
    """Whether `column` is one of these values of the code: as `in_`, which would be written anew for each run."""
    return column.in_([sa.literal(str(value)) for value in values])


def table(name: str, **columns: Any) -> sa.TableValuedAlias:
    """Rows with these columns, of these types: the parameter `name`, which `as_rows` makes (`executemany` is slow)."""
    typed: list[Any] = [sa.column(column, kind) for column, kind in columns.items()]
    said = sa.func.jsonb_to_recordset(sa.cast(sa.bindparam(name), JSONB)).table_valued(*typed)
    return said.render_derived(name=name, with_types=True)


def as_rows(records: Sequence[Mapping[str, Any]]) -> str:
    """The value of a parameter that is a `table`."""
    return json.dumps(records)


def rows(connection: Connection, statement: Constant, values: Mapping[str, Any] = NOTHING) -> list[Any]:
    """Its rows, if any, each the values of its columns in their order. Raises what `connection.execute` raises."""
    return _run(connection, statement, values)[1]


def mappings(connection: Connection, statement: Constant, values: Mapping[str, Any] = NOTHING) -> list[Any]:
    """Its rows, each a dict by the names of its columns: what a RowMapping gives for a name, and no more than that."""
    names, found = _run(connection, statement, values)
    return [dict(zip(names, row, strict=True)) for row in found]


def _run(connection: Connection, statement: Constant, values: Mapping[str, Any]) -> tuple[Sequence[str], list[Any]]:
    arguments = statement.arguments(values)
    raw: Any = connection.connection.dbapi_connection
    if _is_watched(connection) or not (connection.in_transaction() or raw.autocommit):
        result = connection.exec_driver_sql(statement.text, arguments)
        return (list(result.keys()), [list(row) for row in result]) if result.returns_rows else ([], [])
    try:
        return _told(raw, statement.text, arguments)
    except BaseException as error:  # noqa: BLE001 - it raises what becomes of it
        connection._handle_dbapi_exception(error, statement.text, arguments, None, None)  # noqa: SLF001 - ADR 36


def _told(raw: PreparingConnection, text: str, arguments: tuple[Any, ...]) -> tuple[Sequence[str], list[Any]]:
    cursor = raw.cursor()
    cursor.execute(text, arguments)
    found = cursor._context  # noqa: SLF001 - our own cursor
    return [column["name"] for column in found.columns or ()], found.rows or []


def _is_watched(connection: Connection) -> bool:
    """Whether somebody listens to what is executed: then it goes the way that tells them."""
    return bool(connection._has_events or connection.engine._has_events)  # noqa: SLF001 - ADR 36


def value(connection: Connection, statement: Constant, values: Mapping[str, Any] = NOTHING) -> Any:
    """The first value of its first row; None without a row."""
    found = rows(connection, statement, values)
    return found[0][0] if found else None
