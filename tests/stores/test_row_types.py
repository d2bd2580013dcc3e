"""The types of rows accept every value that the database may return: nulls, and words that newer code may write.

Postgres tells from which column of which table a value comes, but not for expressions; those are not checked here.
"""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain
from types import NoneType
from typing import Any, Final, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
import pytest
import sqlalchemy as sa
from sqlalchemy import Connection

import extensions
import shared
from shared.access.idempotency_store import CALLER
from shared.postgres.driver import numbered
from shared.postgres.query import NO_ROW, Query

WHERE, SETS = "its WHERE leaves out rows without it", "the statement itself sets it"
NEVER_NULL: Final = {  # (statement, nullable column) -> why no row of the statement has a null there
    "takers incidents.taken_by": WHERE,
    "RECENTLY_CLEARED clients.service_failed_cleared_at": WHERE,
    "RECENTLY_CLEARED clients.service_failed_cleared_by": "it is written with the time",
    "CANCEL_OVERTAKEN_BY_STORED client_commands.outcome_reason": SETS,
    "CANCEL_OVERTAKEN_BY_SIGHTING client_commands.outcome_reason": SETS,
    "disprove_screens client_commands.outcome_reason": SETS,
    "DISPROVE_REBOOTS client_commands.outcome_reason": SETS,
    "ABANDON client_commands.outcome_reason": SETS,
    "cancel client_commands.outcome_reason": SETS,
    "expire client_commands.outcome_reason": SETS,
    "GIVE_UP client_commands.outcome_reason": SETS,
    "time_out client_commands.outcome_reason": SETS,
    "withdraw client_commands.outcome_reason": SETS,
    **{f"FIRST {table}.request_hash": "it is written with the key that WHERE asks for" for table in CALLER},
    "sites clients.site": WHERE,
    "sites_of clients.site": WHERE,
    "AILING clients.screen_failed_at": WHERE,
    "AILING clients.screen_health_since": WHERE,
    "failing clients.screen_failed_at": WHERE,
    "AILING clients.shared_login_since": WHERE,
    "id_token_of user_sessions.id_token": WHERE,
    "AILING client_limits.over_since": WHERE,
    "AILING client_limits.passed_at": WHERE,
    "conversions conversions.finished_at": WHERE,
    "clear_mended clients.service_failed_unit": "it is written with service_failed_at, which is compared",
    "AILING clients.service_failed_at": WHERE,
    "AILING clients.service_failed_unit": "it is written with service_failed_at, which is compared",
    "looked_at recovery_breakers.looked_at": WHERE,
    "standing recovery_breakers.open_since": WHERE,
    "standing recovery_breakers.why": "it is written with open_since",
}
OF_OURS: Final = {  # columns of words without a constraint -> why they hold no unknown word
    "client_commands.late_state": "a state that `state` may have too",
    "client_state_changes.from_status": "a state that clients.status had, which is bounded",
    "client_state_changes.to_status": "a state that clients.status had, which is bounded",
}
COLUMNS: Final = """
    SELECT CAST(attrelid AS bigint) AS oid, CAST(attnum AS int) AS number, relname || '.' || attname AS name,
        attnotnull AS required, typtype = 'e' OR EXISTS (
            SELECT FROM pg_constraint WHERE conrelid = attrelid AND contype = 'c' AND conkey = ARRAY[attnum]) AS bounded
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_type ON pg_type.oid = atttypid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0
"""


class Read(NamedTuple):
    """A column of a table, and the type of the field that a statement's rows have for it."""

    query: str
    hint: Any
    column: str
    required: bool
    bounded: bool


def queries() -> Iterator[tuple[str, Query[Any]]]:
    """Every statement in a module, on its function, alone or in a tuple or dict, with its name."""
    packages = (pkgutil.walk_packages(top.__path__, f"{top.__name__}.") for top in (shared, extensions))
    for found in chain.from_iterable(packages):
        for name, value in vars(importlib.import_module(found.name)).items():
            several = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else [value]
            asked = (getattr(each, "query", each) for each in several)
            yield from ((name, query) for query in asked if isinstance(query, Query))


def read_by(connection: Connection, asked: Iterable[tuple[str, Query[Any]]]) -> list[Read]:
    """The columns that the rows of these statements take directly from a table."""
    known = {(row.oid, row.number): row for row in connection.execute(sa.text(COLUMNS))}
    driver: Any = connection.connection.dbapi_connection
    reads = []
    for name, query in asked:
        if query.row is NO_ROW:
            continue
        _, answered, _ = driver.prepare_statement(numbered(query.text), ())
        for hint, column in fields(query.row, answered):
            if (row := known.get((column["table_oid"], column["column_attrnum"]))) is not None:
                reads.append(Read(name, hint, row.name, row.required, row.bounded))
    return reads


def fields(row: type, answered: list[dict[str, Any]]) -> list[tuple[Any, dict[str, Any]]]:
    """The type of each field, with the column that Postgres reports for it."""
    if get_origin(row) is tuple:
        return list(zip(get_args(row), answered, strict=True))
    if issubclass(row, msgspec.Struct):
        by_name = {column["name"]: column for column in answered}
        return [(hint, by_name[name]) for name, hint in get_type_hints(row).items() if name in by_name]
    hints = list(get_type_hints(row).values()) if issubclass(row, tuple) else [row]
    return list(zip(hints, answered, strict=False))  # a bare tuple names no types


def refuses_null(read: Read) -> bool:
    return not read.required and read.hint is not Any and NoneType not in get_args(read.hint)


def refuses_words(read: Read) -> bool:
    words = [one for one in (read.hint, *get_args(read.hint)) if isinstance(one, type) and issubclass(one, StrEnum)]
    return bool(words) and not read.bounded


@pytest.fixture
def reads(connection: Connection) -> list[Read]:
    return read_by(connection, queries())


def test_a_column_that_may_be_null_is_read_into_a_field_that_takes_it(reads: list[Read]) -> None:
    assert {f"{read.query} {read.column}" for read in reads if refuses_null(read)} == set(NEVER_NULL)


def test_a_column_is_read_as_one_of_some_words_where_the_database_holds_it_to_them(reads: list[Read]) -> None:
    """During an upgrade newer code may write other words, which older code must read. test_old_code_survives.py finds
    new words in a list.
    """
    assert {read.column for read in reads if refuses_words(read)} == set(OF_OURS)


def test_what_is_looked_at_is_nearly_everything(reads: list[Read]) -> None:
    assert len({read.query for read in reads}) > 100
    assert len(reads) > 1000


class Wrong(NamedTuple):
    """A row whose types are too narrow."""

    site: str
    log_level: StrEnum


def test_a_type_that_promises_too_much_is_found(connection: Connection) -> None:
    wrong = Query("SELECT site, log_level FROM clients", Wrong)

    site, level = read_by(connection, [("WRONG", wrong)])

    assert [refuses_null(site), refuses_words(site)] == [True, False]
    assert [refuses_null(level), refuses_words(level)] == [True, True]
