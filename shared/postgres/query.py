"""A statement with typed rows: on its function, or as an object where a function does more than run it.

    @query.one_or_none(f"SELECT {COLUMNS} FROM command_batches WHERE id = :batch_id")
    def get(connection: Connection, batch_id: str) -> BatchRow | None:
        # one line of docstring

The function's parameters are the statement's, and its annotation is the type of the rows. Both are looked at when the
function is defined: TypeError for a parameter that only one of them has.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, wraps
from types import NoneType, UnionType
from typing import Any, Final, Generic, TypeVar, get_args, get_origin

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy import Connection, CursorResult
from sqlalchemy.dialects.postgresql.pg8000 import PGDialect_pg8000

from shared import typed
from shared.postgres.many import ManyRows

Statement = str | Callable[[], sa.Executable]
"""SQL text, or a function that makes a SQLAlchemy statement at the first use (faster cold start)."""
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])
NO_ROW: Final = NoneType
"""The row type of a statement without rows."""
_PARAMETER: Final = re.compile(r"(?<![:\w\\]):(\w+)(?!:)")  # as sqlalchemy.text reads them
_DIALECT: Final = PGDialect_pg8000()  # type: ignore[no-untyped-call]


def columns(row: type[Struct], table: str) -> str:
    """The fields of a row type as columns of this table, for a SELECT or RETURNING."""
    return ", ".join(f"{table}.{name}" for name in row.__struct_fields__)


class Query(Generic[R]):
    """A statement and the type of its rows.

    `KNOWN = Query("SELECT id, state FROM client_commands WHERE id = ANY(:ids)", Known)`, and then
    `KNOWN.all(connection, ids=ids)`. The values of all parameters are given by name.
    """

    def __init__(self, statement: Statement, row: type[R]) -> None:
        """`row`: a Struct with the columns' names; a tuple with the columns' order; or the type of the only column."""
        self.statement = statement
        self.row = row
        self._is_tuple = get_origin(row) is tuple or issubclass(row, tuple)
        self._has_fields = not self._is_tuple and issubclass(row, Struct)

    @property
    def text(self) -> str:
        """The statement, with `%s` for each value."""
        return self._written.text

    def all(self, connection: Connection, **values: Any) -> list[R]:
        """All rows. Raises msgspec.ValidationError for a row that does not fit the type."""
        result = self._result(connection, values)
        if self._is_tuple:
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
        return written(sa.text(self.statement) if isinstance(self.statement, str) else self.statement())


def rows(statement: Statement, many: ManyRows[Any] | None = None) -> Callable[[F], F]:
    """The function returns all rows: as a list, as a set, or as a dict of pairs.

    `many`: the table that the function's last collection fills.
    """

    def on(function: F) -> F:
        answer = function.__annotations__["return"]
        collect: Any = get_origin(answer)
        kinds: Any = get_args(answer)
        query: Query[Any] = Query(statement, tuple[kinds] if collect is dict else kinds[0])
        return _asking(function, query, lambda *asked, **values: collect(query.all(*asked, **values)), many)

    return on


def one_or_none(statement: Statement, many: ManyRows[Any] | None = None) -> Callable[[F], F]:
    """The function returns the first row, or None. `many`: as in `rows`."""

    def on(function: F) -> F:
        [row] = [kind for kind in get_args(function.__annotations__["return"]) if kind is not NoneType]
        query: Query[Any] = Query(statement, row)
        return _asking(function, query, query.one_or_none, many)

    return on


def one(statement: Statement, many: ManyRows[Any] | None = None) -> Callable[[F], F]:
    """The function returns the only row; ValueError for none or several. `many`: as in `rows`."""

    def on(function: F) -> F:
        query: Query[Any] = Query(statement, function.__annotations__["return"])
        return _asking(function, query, query.one, many)

    return on


def run(statement: Statement, many: ManyRows[Any] | None = None) -> Callable[[F], F]:
    """The function returns nothing, or how many rows it touched, or as a bool whether it touched one.

    `many`: as in `rows`.
    """

    def on(function: F) -> F:
        query = Query(statement, NO_ROW)
        answer = function.__annotations__["return"]
        ask = {None: query.run, int: query.run, bool: lambda *asked, **values: query.run(*asked, **values) == 1}
        return _asking(function, query, ask[answer], many)

    return on


def _asking(function: F, query: Query[Any], ask: Callable[..., Any], many: ManyRows[Any] | None) -> F:
    """`function` with a body: it asks with its arguments as values, each collection as a list."""
    parameters = dict(list(inspect.signature(function).parameters.items())[1:])
    lists = [name for name, parameter in parameters.items() if _is_collection(parameter.annotation)]
    filling = lists.pop() if many else None
    defaults = {name: each.default for name, each in parameters.items() if each.default is not each.empty}
    if isinstance(query.statement, str):
        values = {*parameters} - {filling} | {*(many.names if many else ())}
        if values != {*_PARAMETER.findall(query.statement)}:
            raise TypeError(f"{function.__qualname__} gives {sorted(values)}, and its statement has other parameters")

    @wraps(function)
    def asking(connection: Connection, *given: Any, **by_name: Any) -> Any:
        function(connection, *given, **by_name)  # raises TypeError for other arguments than its own
        values = defaults | dict(zip(parameters, given, strict=False)) | by_name
        for name in lists:
            values[name] = None if values[name] is None else list(values[name])
        if many and filling:
            values |= many.of(values.pop(filling))
        return ask(connection, **values)

    asking.query = query  # type: ignore[attr-defined]  # tests hold its rows against the database
    return asking  # type: ignore[return-value]


def _is_collection(annotation: Any) -> bool:
    origin = get_origin(annotation)
    if origin is UnionType:
        return any(_is_collection(kind) for kind in get_args(annotation))
    return isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping)


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
