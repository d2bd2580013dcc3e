"""Queries with many rows: Postgres returns each column as one JSON array.

Converting each value to Python and back to JSON costs ten times as much. Arrays are cheaper than objects: Postgres
looks up how to write a value once a column, not once a field of each row.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy import Connection, Select

from shared.postgres.query import Query

R = TypeVar("R", bound=msgspec.Struct)


class ColumnQuery(Generic[R]):
    """A SELECT that returns one JSON array for each column, with the values in the order of the rows."""

    def __init__(
        self, statement: Callable[[], Select[Any]], row: type[R], known: sa.ColumnElement[bool] | None = None
    ) -> None:
        """`row`: a class with the columns' names. `known`: SQL that is true when the owner of the rows exists."""
        fields = msgspec.structs.fields(row)
        texts = msgspec.defstruct("Texts", [(field.name, str | None) for field in fields])
        self._row = row
        self._readers = [msgspec.json.Decoder(list[field.type]) for field in fields]  # type: ignore[name-defined]
        self._query = Query(partial(_as_columns, statement, known), texts)

    def all(self, connection: Connection, **values: Any) -> list[R]:
        """All rows. Raises msgspec.ValidationError for a value that does not fit its field's type."""
        return self.all_if_known(connection, **values) or []

    def all_if_known(self, connection: Connection, **values: Any) -> list[R] | None:
        """All rows; None when their owner does not exist."""
        columns = self._query.one_or_none(connection, **values)
        if columns is None:
            return None
        texts = msgspec.structs.astuple(columns)
        if texts[0] is None:  # without rows every array is NULL
            return []
        return list(map(self._row, *(reader.decode(text) for reader, text in zip(self._readers, texts, strict=True))))


def _as_columns(statement: Callable[[], Select[Any]], known: sa.ColumnElement[bool] | None) -> Select[Any]:
    rows = statement().subquery("r")
    columns: list[Any] = [sa.cast(sa.func.json_agg(column), sa.Text).label(column.name) for column in rows.c]
    return sa.select(*columns) if known is None else sa.select(*columns).having(known)
