"""Statements that SQLAlchemy writes once, because making one costs more than running it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql.pg8000 import PGDialect_pg8000

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
    if compiled.post_compile_params:
        raise TypeError("an expanding IN is written anew for each run: spell its values out, or give one array")
    return Constant(str(compiled), tuple(_place(name, compiled.binds[name]) for name in compiled.positiontup or ()))


def _place(name: str, bound: sa.BindParameter[Any]) -> tuple[str | None, Any]:
    change = bound.type.dialect_impl(_DIALECT).bind_processor(_DIALECT)
    if not bound.required:
        return None, change(bound.value) if change else bound.value
    if change:
        raise TypeError(f"SQLAlchemy changes {name} on the way: use `connection.execute`, or a plain type")
    return name, None


def moment(name: str) -> sa.BindParameter[Any]:
    """The parameter `name`: a time."""
    return sa.bindparam(name, type_=sa.DateTime(timezone=True))


def one_of(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether `column` is among the texts of the parameter `name`: a list."""
    return column == sa.any_(sa.cast(sa.bindparam(name), sa.ARRAY(sa.Text)))


def among(column: sa.ColumnElement[Any], values: Iterable[str]) -> sa.ColumnElement[bool]:
    """Whether `column` is one of these values of the code: as `in_`, which would be written anew for each run."""
    return column.in_([sa.literal(str(value)) for value in values])


def rows(connection: Connection, statement: Constant, values: Mapping[str, Any] = NOTHING) -> list[Any]:
    """Its rows, if any, each the values of its columns in their order. Raises what `connection.execute` raises."""
    result = connection.exec_driver_sql(statement.text, statement.arguments(values))
    return list(result.all()) if result.returns_rows else []


def mappings(connection: Connection, statement: Constant, values: Mapping[str, Any] = NOTHING) -> list[Any]:
    """Its rows, each by the names of its columns."""
    result = connection.exec_driver_sql(statement.text, statement.arguments(values))
    return [dict(row) for row in result.mappings()] if result.returns_rows else []


def value(connection: Connection, statement: Constant, values: Mapping[str, Any] = NOTHING) -> Any:
    """The first value of its first row; None without a row."""
    found = rows(connection, statement, values)
    return found[0][0] if found else None
