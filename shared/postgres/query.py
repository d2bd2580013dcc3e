"""A statement with typed rows, as one object."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import NoneType
from typing import Any, Final, Generic, TypeVar

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection, CursorResult
from sqlalchemy.dialects.postgresql.pg8000 import PGDialect_pg8000

from shared import typed

R = TypeVar("R")
NO_ROW: Final = NoneType
"""The row type of a statement without rows."""
_DIALECT: Final = PGDialect_pg8000()  # type: ignore[no-untyped-call]


def columns(row: type[Struct], table: str) -> str:
    """The fields of a row type as columns of this table, for a SELECT or RETURNING."""
    return ", ".join(f"{table}.{name}" for name in row.__struct_fields__)


class Query(Generic[R]):
    """A statement and the type of its rows.

    `KNOWN = Query("SELECT id, state FROM client_commands WHERE id = ANY(:ids)", Known)`, and then
    `KNOWN.all(connection, ids=ids)`. The values of all parameters are given by name.
    """

    def __init__(self, statement: str | Callable[[], sa.Executable], row: type[R]) -> None:
        """`statement`: SQL text, or a function that makes a SQLAlchemy statement at the first use (faster cold start).

        `row`: a Struct with the columns' names; a NamedTuple with the columns' order; or the type of the only column.
        """
        self._statement = statement
        self.row = row
        self._has_fields = issubclass(row, Struct)

    @property
    def text(self) -> str:
        """The statement, with `%s` for each value."""
        return self._written.text

    def all(self, connection: Connection, **values: Any) -> list[R]:
        """All rows. Raises msgspec.ValidationError for a row that does not fit the type."""
        result = self._result(connection, values)
        if issubclass(self.row, tuple):
            return typed.convert([tuple(row) for row in result], list[self.row])  # type: ignore[name-defined]
        if not self._has_fields:
            return typed.convert([row[0] for row in result], list[self.row])  # type: ignore[name-defined]
        names = tuple(result.keys())
        found = [dict(zip(names, row, strict=True)) for row in result]
        return typed.convert(found, list[self.row])  # type: ignore[name-defined]

    def one_or_none(self, connection: Connection, **values: Any) -> R | None:
        """The first row, or None."""
        return next(iter(self.all(connection, **values)), None)

    def one(self, connection: Connection, **values: Any) -> R:
        """The only row. Raises ValueError for none or several."""
        [row] = self.all(connection, **values)
        return row

    def run(self, connection: Connection, **values: Any) -> int:
        """Run the statement. Returns how many rows it touched."""
        return self._result(connection, values).rowcount

    def _result(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        written = self._written
        return connection.exec_driver_sql(written.text, written.arguments(values))

    @cached_property
    def _written(self) -> "Written":
        return written(sa.text(self._statement) if isinstance(self._statement, str) else self._statement())


class Written(Struct, frozen=True):
    """A statement for pg8000, and for each `%s` the name of its parameter, or None and its value."""

    text: str
    places: tuple[tuple[str | None, Any], ...]

    def arguments(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values in the order of the `%s`."""
        return tuple(value if name is None else values[name] for name, value in self.places)


def written(statement: sa.Executable) -> Written:
    """Compile a statement. Do it once, because compiling costs more than running.

    Its parameters are times, texts, numbers and lists of them. Raises TypeError when SQLAlchemy would compile the
    statement again for each run, or would change its values.
    """
    compiled: Any = statement.compile(dialect=_DIALECT)  # type: ignore[attr-defined]  # every statement has it
    if compiled.post_compile_params:
        raise TypeError("an expanding IN is written anew for each run: spell its values out, or give one array")
    return Written(str(compiled), tuple(_place(name, compiled.binds[name]) for name in compiled.positiontup or ()))


def _place(name: str, bound: sa.BindParameter[Any]) -> tuple[str | None, Any]:
    change = bound.type.dialect_impl(_DIALECT).bind_processor(_DIALECT)
    if not bound.required:
        return None, change(bound.value) if change else bound.value
    if change:
        raise TypeError(f"SQLAlchemy changes {name} on the way: give it a plain type")
    return name, None


def moment(name: str) -> sa.BindParameter[Any]:
    """A parameter `name` for a time."""
    return sa.bindparam(name, type_=sa.DateTime(timezone=True))


def one_of(column: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[bool]:
    """Whether `column` is in the list of texts of the parameter `name`."""
    return column == sa.any_(sa.cast(sa.bindparam(name), sa.ARRAY(sa.Text)))


def among(column: sa.ColumnElement[Any], values: Iterable[str]) -> sa.ColumnElement[bool]:
    """Whether `column` is one of these constants. `in_` with parameters would be compiled for each run."""
    return column.in_([sa.literal(str(value)) for value in values])
