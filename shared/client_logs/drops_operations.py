"""Use case of dropped messages: the client's own log shows how many."""

from collections.abc import Mapping
from datetime import datetime

from msgspec.structs import replace
from sqlalchemy import Connection

from shared.client_logs import drops_rules, drops_store, hourly_counts_store
from shared.client_logs.drops_rules import DropRow
from shared.vocabulary import LogLevel


def record(
    connection: Connection, now: datetime, dropped: Mapping[str, int], rows: Mapping[str, DropRow]
) -> dict[str, DropRow]:
    """Write into each client's log how many of its messages were dropped: one line a minute, whose count grows.

    It is a line of the log and not a table of its own, so that readers of the log see the gap where it is.
    `rows`: the lines that still count. Returns the lines that count after the commit.
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
