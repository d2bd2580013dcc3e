"""SQL of idempotency keys. A key and its request's hash stand in the row that the request made, and go with it."""

from typing import Final, NamedTuple

from sqlalchemy import Connection

from shared.postgres.query import NO_ROW, Query

CALLER: Final = {
    "client_commands": "requested_by",
    "command_batches": "requested_by",
    "command_schedules": "created_by",
    "quiet_times": "created_by",
}
"""The tables whose rows are made by requests with a key, and their column of the caller. Each has its own keys."""


class KeyedRow(NamedTuple):
    """The row that the first request with a key made."""

    id: str | int
    request_hash: str


LOCK = Query("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))", NO_ROW)
FIRST: Final = {
    table: Query(
        f"SELECT id, request_hash FROM public.{table} WHERE {caller} = :caller AND idempotency_key = :key", KeyedRow
    )
    for table, caller in CALLER.items()
}
KEEP: Final = {
    table: Query(f"UPDATE public.{table} SET idempotency_key = :key, request_hash = :hash WHERE id = :id", NO_ROW)
    for table in CALLER
}


def first(connection: Connection, table: str, caller: str, key: str) -> KeyedRow | None:
    """The row that this caller's first request with this key made, also where the caller sees chosen sites only.

    Of two transactions with the same key the second waits here until the first one ends.
    """
    LOCK.run(connection, key=f"idempotency:{table} {caller} {key}")
    return FIRST[table].one_or_none(connection, caller=caller, key=key)


def keep(connection: Connection, table: str, row_id: str | int, key: str, request_hash: str) -> None:
    """Write the key and the hash of its request into the row that the request made."""
    KEEP[table].run(connection, id=row_id, key=key, hash=request_hash)
