"""SQL of shown states that change with time alone: all in one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.clients.signs_store import LAST_SIGN, LATE_AFTER, THRESHOLD
from shared.postgres import query
from shared.postgres.many import ManyRows
from shared.postgres.query import Query
from shared.vocabulary import ClientStatus, ProcessStatus

MOST_CANDIDATES: Final = 5_000  # of one transaction, so that what the bridge receives meanwhile does not wait


class StatusChange(Struct, frozen=True):
    """A client whose stored state is out of date; it changes only if it still is `was`."""

    uuid: str
    was: ClientStatus
    status: ClientStatus
    cause: str
    at: datetime


class Candidate(Struct, frozen=True):
    """A client whose stored state may be out of date."""

    uuid: str
    status: ClientStatus
    process_status: ProcessStatus
    last_heartbeat_at: datetime
    interval_seconds: int
    sign_at: datetime | None


CANDIDATES = Query(  # the intervals of `reports.rules.late_after` and `reports.rules.stale_after`
    f"""
    WITH found AS MATERIALIZED (
        SELECT c.uuid, c.status, c.process_status, h.last_heartbeat_at, h.interval_seconds, h.sign_at
        FROM client_heartbeats AS h JOIN clients AS c ON c.uuid = h.client_uuid
        WHERE c.deleted_at IS NULL AND c.uuid > :after AND CASE
            WHEN h.last_heartbeat_at >= CAST(:now AS timestamptz) - {LATE_AFTER}
                THEN c.status <> c.process_status::text
            WHEN CAST(:deaf AS boolean) THEN c.status <> 'unknown'
            ELSE NOT (c.status = 'stale' AND greatest({LAST_SIGN}, CAST(:since AS timestamptz))
                < CAST(:now AS timestamptz) - {THRESHOLD}) END)
    SELECT * FROM found ORDER BY uuid LIMIT :most
    """,
    Candidate,
)


def candidates(
    connection: Connection, now: datetime, stale_seconds: int, after: str, *, deaf: bool, since: datetime | None
) -> list[Candidate]:
    """Up to MOST_CANDIDATES clients whose stored state may be out of date, the next after this one by uuid.

    `deaf`: the bridge does not hear the fleet; `since`: the listening time began.
    """
    rest = {"deaf": deaf or since is None, "after": after, "most": MOST_CANDIDATES}
    return CANDIDATES.all(connection, now=now, since=since, stale=stale_seconds, **rest)


CHANGES: Final = ManyRows("said", StatusChange)


@query.run(
    f"""
    WITH said AS MATERIALIZED (SELECT * FROM {CHANGES}),
    free AS MATERIALIZED (
        SELECT c.uuid, least(greatest(said.at, c.status_since), CAST(:now AS timestamptz)) AS since
        FROM clients AS c JOIN said ON said.uuid = c.uuid AND said.was = c.status
        ORDER BY c.uuid FOR NO KEY UPDATE OF c SKIP LOCKED),
    changed AS (
        UPDATE clients AS c SET status = said.status, status_since = free.since
        FROM said JOIN free USING (uuid) WHERE c.uuid = said.uuid
        RETURNING c.uuid, free.since, said.was, said.status, said.cause)
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
