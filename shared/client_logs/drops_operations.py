"""What happens when messages of a client are dropped: its own log says how many."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sqlalchemy import Connection

from shared.client_logs import drops_rules, drops_store, hourly_counts_store
from shared.client_logs.drops_rules import DropRow
from shared.vocabulary import LogLevel


def record(
    connection: Connection, now: datetime, dropped: Mapping[str, int], rows: Mapping[str, DropRow]
) -> dict[str, DropRow]:
    """Write into each client's own log how many of its messages were dropped: a line a minute, counted up.

    It is a line of the log, not a table of its own: a reader of the log sees the gap where it is.
    `rows` are the lines begun before; the answer holds those that can still be counted up, once this commits.
    """
    begun = drops_rules.still_counting(rows, now)
    raised = {uuid: replace(row, count=row.count + dropped[uuid]) for uuid, row in begun.items() if uuid in dropped}
    if raised:
        drops_store.raise_counts(connection, list(raised.values()))
    new = {uuid: count for uuid, count in dropped.items() if uuid not in begun}
    opened = drops_store.begin(connection, now, new) if new else {}
    if opened:
        hour = now.replace(minute=0, second=0, microsecond=0)
        opened_now = {(uuid, hour, LogLevel.WARNING): (1, now) for uuid in opened}
        hourly_counts_store.add(connection, opened_now)
    return {**begun, **raised, **opened}
