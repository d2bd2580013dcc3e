"""What the SQL of several nouns has to agree on, said once."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from shared.vocabulary import BAD_SCREENS, TERMINAL_RANK, WELL

END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
"""After every row that there is: where a page begins that begins with the newest row."""


NOW: Final = "CAST(:now AS timestamptz)"


def _one_of(words: Iterable[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"IN ({listed})"


def is_open(command: str) -> str:
    """SQL: whether a command is open. Spelt out, so that the planner sees the partial index of open commands."""
    return f"{command}.rank < {TERMINAL_RANK}"


def is_unwell(client: str) -> str:
    """SQL: `recovery.evidence.rules.is_unwell`. Spelt out, so that a partial index serves it."""
    return f"""({client}.status IN ('crashed', 'stale') OR {client}.process_status = 'crashed'
        OR {client}.service_failed_at IS NOT NULL)"""


def is_well(client: str) -> str:
    """SQL: whether a client is heard and has not crashed."""
    return f"{client}.status {_one_of(WELL)}"


def is_bad(screen: str) -> str:
    """SQL: whether a screen shows nothing, or always the same."""
    return f"{screen} {_one_of(BAD_SCREENS)}"


def arrived_at(report: str) -> str:
    """SQL: when a report arrived, by the database's clock.

    `:now` is the transaction's time and `:clock` the bridge's monotonic clock at the same moment; the report's `heard`
    is by the latter.
    """
    return f"CAST(:now AS timestamptz) - (CAST(:clock AS float8) - {report}.heard) * interval '1 second'"


def may_be_on(window: str, now: str = NOW) -> str:
    """SQL: whether a maintenance window may be on: its first occurrence has begun and its last one has not ended."""
    return f"{window}.starts_at <= {now} AND {is_current(window, now)}"


def is_current(window: str, now: str = NOW) -> str:
    """SQL: whether a maintenance window is neither ended by a person nor over; a repeated one counts in between."""
    return f"{window}.ended_at IS NULL AND ({window}.last_ends_at IS NULL OR {window}.last_ends_at > {now})"


def no_later(table: str, *columns: str, more: str = "") -> str:
    """SQL: moments in these columns that have not come yet become `:now`: the database's clock was set back.

    `more` is set in the same rows, by what they said before.
    """
    values = [f"{column} = CASE WHEN {column} > {NOW} THEN {NOW} ELSE {column} END" for column in columns]
    values += [more] if more else []
    return f"UPDATE {table} SET {', '.join(values)} WHERE {are_ahead(table, *columns)}"  # noqa: S608 - made of constants


def are_ahead(table: str, *columns: str) -> str:
    """SQL: whether one of these moments has not come yet."""
    return f"({' OR '.join(f'{table}.{column} > {NOW}' for column in columns)})"
