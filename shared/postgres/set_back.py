"""What is done to stored times after the database's clock was set back: no time that is past by nature lies ahead.

`shared.tables` says which columns these are. Deadlines move with them in their own stores.
"""

from datetime import datetime
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.postgres.fragments import NOW, are_ahead
from shared.postgres.query import NO_ROW, Query
from shared.tables import NEVER_AHEAD, metadata


def never_ahead(table: sa.Table) -> tuple[str, ...]:
    """The columns of a table whose times never lie ahead."""
    return tuple(column.name for column in table.columns if NEVER_AHEAD in column.info)


def _set_to_now(table: sa.Table) -> str:
    """SQL: set the future times of a table to `:now`. Locks the rows in the order of their keys."""
    columns, keys = never_ahead(table), ", ".join(column.name for column in table.primary_key)
    same = " AND ".join(f"t.{column.name} = ahead.{column.name}" for column in table.primary_key)
    values = ", ".join(f"{one} = CASE WHEN t.{one} > {NOW} THEN {NOW} ELSE t.{one} END" for one in columns)
    return f"""
        WITH ahead AS MATERIALIZED (
            SELECT {keys} FROM {table.name} WHERE {are_ahead(table.name, *columns)} ORDER BY {keys} FOR NO KEY UPDATE)
        UPDATE {table.name} AS t SET {values} FROM ahead WHERE {same}
        """  # noqa: S608 - made of the tables' names


WITH_DEADLINES: Final = ("client_commands",)
"""The tables whose own store moves their deadlines in the same statement."""
TABLES: Final = {
    table.name: Query(_set_to_now(table), NO_ROW)
    for table in metadata.sorted_tables
    if never_ahead(table) and table.name not in WITH_DEADLINES
}


def forget_the_future(connection: Connection, now: datetime, table: str) -> int:
    """Set this table's future times to now. Returns how many rows had one. A repetition changes nothing."""
    return TABLES[table].run(connection, now=now)
