"""SQL fragments that several stores share."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from shared.vocabulary import (
    BAD_SCREENS,
    MENDED_BY_A_START,
    ROLE_FOR,
    TERMINAL_RANK,
    WELL,
    WITHOUT_PICTURE,
    CommandAction,
    ProcessStatus,
    Role,
)

END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)
"""Later than every row: the start of the first page, newest rows first."""


NOW: Final = "CAST(:now AS timestamptz)"
OF_SITES: Final = "of_sites"
"""The schema of the views of rights by site (`migrations/site_views.py`)."""
MAKERS: Final = f"{OF_SITES}.makers"
"""The people and tokens in whose name something acts later, with their present rights, without secrets."""


def _one_of(words: Iterable[str]) -> str:
    listed = ", ".join(f"'{word}'" for word in words)
    return f"IN ({listed})"


def is_open(command: str) -> str:
    """SQL: whether a command is open. Written so that the planner uses the partial index of open commands."""
    return f"{command}.rank < {TERMINAL_RANK}"


def occupies(command: str) -> str:
    """SQL: whether a command is open that keeps its client from another one: any but a screenshot."""
    return f"{is_open(command)} AND {command}.action <> '{CommandAction.SCREENSHOT}'"


def is_unwell(client: str) -> str:
    """SQL of `recovery.evidence.rules.is_unwell`. Written so that the planner uses the partial index."""
    return f"""({client}.status IN ('crashed', 'stale') OR {client}.process_status = 'crashed'
        OR {service_fails(client)} OR {screen_fails(client)})"""


def service_fails(client: str) -> str:
    """SQL of `clients.failures_rules.service_fails`. Written so that the planner uses the partial index."""
    return f"({client}.service_failed_at IS NOT NULL AND {client}.service_mended_at IS NULL)"


def shows_another(client: str) -> str:
    """SQL: whether a client shows another state than its player's. The planner uses its partial index."""
    cases = " ".join(f"WHEN '{status}' THEN '{status}'" for status in ProcessStatus)
    return f"{client}.deleted_at IS NULL AND {client}.status <> CASE {client}.process_status {cases} END"


def is_well(client: str) -> str:
    """SQL: whether a client is heard and has not crashed."""
    return f"{client}.status {_one_of(WELL)}"


def is_mended(client: str, health: str) -> str:
    """SQL: whether a client is well and its recorded failure over; before the next tick, by its health report.

    Never null. `health`: the client's row of `client_health`, which may be missing.
    """
    over = f"{client}.service_mended_at IS NOT NULL OR {no_failure_stands(client, health)}"
    return f"coalesce({is_well(client)} AND ({over}), false)"


def no_failure_stands(client: str, health: str) -> str:
    """SQL: whether a health report of a minute after the service failure says that none stands; null without one."""
    return f"""({health}.body->'service_failed' = 'null'::jsonb
        AND {health}.received_at >= {client}.service_failed_at + interval '60 seconds')"""


def is_bad(screen: str) -> str:
    """SQL: whether a screen does not show its content (BAD_SCREENS)."""
    return f"{screen} {_one_of(BAD_SCREENS)}"


def is_without_picture(screen: str) -> str:
    """SQL: the same, or whether it is switched off."""
    return f"{screen} {_one_of(WITHOUT_PICTURE)}"


def may_be_mended(screen: str) -> str:
    """SQL: whether another start of the player may mend a screen."""
    return f"{screen} {_one_of(MENDED_BY_A_START)}"


def screen_fails(client: str) -> str:
    """SQL: whether a client's screen fails. Spelt out, so that the planner sees the partial index.

    Old code ends a bad time without ending the failure, so a failure that is older than the bad time is over.
    """
    return f"""({client}.screen_health_since IS NOT NULL AND {client}.screen_failed_at IS NOT NULL
        AND {client}.screen_failed_at >= {client}.screen_health_since)"""


def screen_failed_since(client: str) -> str:
    """SQL: since when a client's screen fails: when it became bad; null while it does not fail."""
    return f"CASE WHEN {screen_fails(client)} THEN {client}.screen_health_since END"


def arrived_at(report: str) -> str:
    """SQL: when a report arrived, by the database's clock.

    `:now` is the transaction's time, `:clock` the bridge's monotonic clock at the same time, in seconds. The report's
    `heard` is a time of `:clock`.
    """
    return f"CAST(:now AS timestamptz) - (CAST(:clock AS float8) - {report}.heard) * interval '1 second'"


def may_be_quiet(time: str, now: str = NOW, since: str = "") -> str:
    """SQL: whether a quiet time may apply at a moment from `since` (now) to now.

    One that began when it was made has begun, also for a transaction that is older.
    """
    began = f"{time}.starts_at <= greatest({now}, {time}.created_at)"
    if not since:
        return f"{began} AND {is_current(time, now)}"
    since = f"CAST({since} AS timestamptz)"
    return f"""{began} AND ({time}.ended_at IS NULL OR {time}.ended_at > {since})
        AND ({time}.ends_at IS NULL OR {time}.ends_at > {since})"""


def made(maker: str, by: str, at: str) -> str:
    """SQL: whether this row of MAKERS is who made something: `by` at the time `at`. A later bearer of a name is not."""
    return f"{maker}.actor = {by} AND {maker}.since <= {at}"


def may_send(maker: str, action: str) -> str:
    """SQL: whether the maker may send this command today, at their sites."""
    operators = _one_of(action for action, role in ROLE_FOR.items() if role is Role.OPERATOR)
    return f"""{maker}.is_live
        AND ({maker}.role = '{Role.ADMIN}' OR {maker}.role = '{Role.OPERATOR}' AND {action} {operators})"""


def is_at_site_of(maker: str, client: str) -> str:
    """SQL: whether a client is at a site of this maker; of a maker whose row is missing, too."""
    return f"({maker}.sites IS NULL OR {client}.site = ANY({maker}.sites))"


def is_current(time: str, now: str = NOW) -> str:
    """SQL: whether a quiet time is neither ended by a person nor over, also between two of its weekly hours."""
    return f"{time}.ended_at IS NULL AND ({time}.ends_at IS NULL OR {time}.ends_at > {now})"


def no_later(table: str, *columns: str, more: str = "") -> str:
    """SQL: an UPDATE that sets future times in these columns to `:now`, after the database's clock was set back.

    `more`: another assignment for the same rows; it sees the old values.
    """
    values = [f"{column} = CASE WHEN {column} > {NOW} THEN {NOW} ELSE {column} END" for column in columns]
    values += [more] if more else []
    return f"UPDATE {table} SET {', '.join(values)} WHERE {are_ahead(table, *columns)}"  # noqa: S608 - made of constants


def are_ahead(table: str, *columns: str) -> str:
    """SQL: whether a time in one of these columns is in the future."""
    return f"({' OR '.join(f'{table}.{column} > {NOW}' for column in columns)})"
