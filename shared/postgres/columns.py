"""Rows that travel as columns: where many go into an answer, Postgres writes them as JSON.

Taking each value over into Python and out again costs ten times as much. Of a column Postgres finds out once how a
value is written, of an object for each of its fields.
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
    """A `Query` for a SELECT that answers one JSON array for each column, with its values in the rows' order."""

    def __init__(
        self, statement: Callable[[], Select[Any]], row: type[R], known: sa.ColumnElement[bool] | None = None
    ) -> None:
        """`row` has the columns' names. `known`: whether what the rows belong to is there."""
        fields = msgspec.structs.fields(row)
        texts = msgspec.defstruct("Texts", [(field.name, str | None) for field in fields])
        self._row = row
        self._readers = [msgspec.json.Decoder(list[field.type]) for field in fields]  # type: ignore[name-defined]
        self._query = Query(partial(_as_columns, statement, known), texts)

    def all(self, connection: Connection, **values: Any) -> list[R]:
        """Its rows. Raises msgspec.ValidationError for a value that is not of its field's type."""
        return self.all_if_known(connection, **values) or []

    def all_if_known(self, connection: Connection, **values: Any) -> list[R] | None:
        """Its rows; None where what they belong to is not there."""
        columns = self._query.one_or_none(connection, **values)
        if columns is None:
            return None
        texts = msgspec.structs.astuple(columns)
        if texts[0] is None:  # without a row each of them is NULL
            return []
        return list(map(self._row, *(reader.decode(text) for reader, text in zip(self._readers, texts, strict=True))))


def _as_columns(statement: Callable[[], Select[Any]], known: sa.ColumnElement[bool] | None) -> Select[Any]:
    rows = statement().subquery("r")
    columns: list[Any] = [sa.cast(sa.func.json_agg(column), sa.Text).label(column.name) for column in rows.c]
    return sa.select(*columns) if known is None else sa.select(*columns).having(known)
