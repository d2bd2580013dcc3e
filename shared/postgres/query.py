"""One statement, one typed row, one line of use."""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from functools import cached_property
from types import NoneType
from typing import Any, Final, Generic, TypeVar, get_type_hints

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, CursorResult

from shared.postgres.statements import Constant, constant

R = TypeVar("R")
NO_ROW: Final = NoneType
"""The row of a statement that answers none."""


def columns(row: type, table: str) -> str:
    """The fields of a row type as columns of this table, for a SELECT or RETURNING."""
    return ", ".join(f"{table}.{name}" for name in get_type_hints(row))


class Query(Generic[R]):
    """A statement and the type of its rows.

    `KNOWN = Query("SELECT id, state FROM client_commands WHERE id = ANY(:ids)", Known)`, and then
    `KNOWN.all(connection, ids=ids)`. The values of all parameters are given by name.
    """

    def __init__(self, statement: str | Callable[[], sa.Executable], row: type[R]) -> None:
        """`statement` is its text, or makes it with SQLAlchemy: at its first use, for all at import cost a cold start.

        `row` is a frozen dataclass or a Struct with the columns' names, or the type of the only column; or a
        NamedTuple: then the columns stand in its order.
        """
        self._statement = statement
        self._row = row
        self._has_fields = is_dataclass(row) or issubclass(row, msgspec.Struct)

    def all(self, connection: Connection, **values: Any) -> list[R]:
        """Its rows. Raises msgspec.ValidationError for a row that is not of the type."""
        result = self._result(connection, values)
        if issubclass(self._row, tuple):
            return msgspec.convert([tuple(row) for row in result], list[self._row])  # type: ignore[name-defined]
        if not self._has_fields:
            return msgspec.convert([row[0] for row in result], list[self._row])  # type: ignore[name-defined]
        names = tuple(result.keys())
        found = [dict(zip(names, row, strict=True)) for row in result]
        return msgspec.convert(found, list[self._row])  # type: ignore[name-defined]

    def one_or_none(self, connection: Connection, **values: Any) -> R | None:
        """Its first row, or None without one."""
        return next(iter(self.all(connection, **values)), None)

    def one(self, connection: Connection, **values: Any) -> R:
        """Its only row. Raises ValueError where there is none, or more."""
        [row] = self.all(connection, **values)
        return row

    def run(self, connection: Connection, **values: Any) -> int:
        """Run it; how many rows it touched."""
        return self._result(connection, values).rowcount

    def _result(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        written = self._written
        return connection.exec_driver_sql(written.text, written.arguments(values))

    @cached_property
    def _written(self) -> Constant:
        return constant(sa.text(self._statement) if isinstance(self._statement, str) else self._statement())
