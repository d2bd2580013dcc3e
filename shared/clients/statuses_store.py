"""SQL of shown states that change with time alone: all in one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.reports.rules import LATE_AT_LEAST
from shared.clients.signs_store import LAST_SIGN, LATE_AFTER, THRESHOLD
from shared.leadership.rules import Listening
from shared.postgres import query
from shared.postgres.fragments import shows_another
from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.vocabulary import ClientStatus, ProcessStatus
from shared.words.sentences import Sentence

MOST_AT_ONCE: Final = 5_000  # of one transaction, so that what the bridge receives meanwhile does not wait
MOST_ODD: Final = 3_000


class StatusChange(Struct, frozen=True):
    """A client whose stored state is out of date; it changes only if it still is `was`."""

    uuid: str
    was: ClientStatus
    status: ClientStatus
    cause: Sentence
    at: datetime


class Candidate(Struct, frozen=True):
    """A client whose stored state may be out of date."""

    uuid: str
    status: ClientStatus
    process_status: ProcessStatus
    last_heartbeat_at: datetime
    interval_seconds: int
    sign_at: datetime | None


_JUDGED: Final = f"""
    SELECT c.uuid, c.status, c.process_status, h.last_heartbeat_at, h.interval_seconds, h.sign_at
    FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid
    WHERE c.deleted_at IS NULL AND CASE
        WHEN h.last_heartbeat_at >= CAST(:now AS timestamptz) - {LATE_AFTER} THEN c.status <> c.process_status::text
        WHEN CAST(:deaf AS boolean) THEN c.status <> 'unknown'
        ELSE NOT (c.status = 'stale' AND greatest({LAST_SIGN}, CAST(:since AS timestamptz))
            < CAST(:now AS timestamptz) - {THRESHOLD}) END"""
"""SQL: clients whose stored state may be out of date, by `reports.rules.late_after` and `reports.rules.stale_after`."""
OF_ALL = Query(f"{_JUDGED} ORDER BY c.uuid", Candidate)
AMONG = Query(f"{_JUDGED} AND c.uuid = ANY(CAST(:uuids AS text[])) ORDER BY c.uuid", Candidate)
ODD = Query(  # the narrow table and a partial index find them; the first comparison with the time is the cheaper
    f"""
    (SELECT client_uuid FROM client_heartbeats AS h
    WHERE h.last_heartbeat_at < CAST(:now AS timestamptz) - interval '{LATE_AT_LEAST.total_seconds()} seconds'
        AND h.last_heartbeat_at < CAST(:now AS timestamptz) - {LATE_AFTER}
    LIMIT {MOST_ODD + 1})
    UNION (SELECT c.uuid FROM clients AS c WHERE {shows_another("c")} LIMIT {MOST_ODD + 1})
    ORDER BY client_uuid
    """,
    str,
)


def candidates(connection: Connection, now: datetime, stale_seconds: int, bridge: Listening) -> list[str]:
    """The clients whose stored state may be out of date, by uuid, in one look at the fleet.

    Few are looked up; above MOST_ODD it is cheaper to join the whole fleet.
    """
    odd = ODD.all(connection, now=now)
    if len(odd) <= MOST_ODD:
        return odd
    return [row.uuid for row in OF_ALL.all(connection, now=now, stale=stale_seconds, **_heard(bridge))]


def judged(
    connection: Connection, now: datetime, stale_seconds: int, bridge: Listening, uuids: Sequence[str]
) -> list[Candidate]:
    """Those of these clients whose stored state may be out of date now."""
    return AMONG.all(connection, now=now, stale=stale_seconds, uuids=list(uuids), **_heard(bridge))


def _heard(bridge: Listening) -> dict[str, Any]:
    return {"deaf": bridge.deaf or bridge.since is None, "since": bridge.since}


CHANGES: Final = ManyRows("change", StatusChange)


@query.run(
    f"""
    WITH change AS MATERIALIZED (SELECT * FROM {CHANGES}),
    free AS MATERIALIZED (
        SELECT c.uuid, least(greatest(change.at, c.status_since), CAST(:now AS timestamptz)) AS since
        FROM clients AS c JOIN change ON change.uuid = c.uuid AND change.was = c.status
        ORDER BY c.uuid FOR NO KEY UPDATE OF c SKIP LOCKED),
    changed AS (
        UPDATE clients AS c SET status = change.status, status_since = free.since
        FROM change JOIN free USING (uuid) WHERE c.uuid = change.uuid
        RETURNING c.uuid, free.since, change.was, change.status, change.cause)
    INSERT INTO client_state_changes (client_uuid, at, from_status, to_status, cause, noticed_at)
    SELECT *, CAST(:now AS timestamptz) FROM changed
    """,
    CHANGES,
)
def change(connection: Connection, now: datetime, changes: Sequence[StatusChange]) -> int:
    """Write shown states that time has changed, with one change row each. Returns how many.

    A client that another transaction has locked waits for the next sweep, which avoids deadlocks. The time of a change
    is neither before the client's last change nor in the future.
    """
