"""SQL of recovery: recorded decisions, and each client's place on the ladder."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Connection

from shared.postgres import query
from shared.postgres.fragments import is_open
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query, columns
from shared.quiet.store import RECOVERY_LOCK
from shared.vocabulary import RecoveryBasis, RecoveryDecision, RecoveryState
from shared.words.sentences import Sentence


class NewDecision(Struct, frozen=True):
    """A decision to record; `client_uuid` None: about a breaker."""

    client_uuid: str | None
    decision: RecoveryDecision
    why: Sentence
    evidence: dict[str, Any]
    command_id: str | None


class RecoveryEvent(Struct, frozen=True):
    """A recorded decision; `client_uuid` null: about a breaker. `evidence` holds the facts at that time.

    `decision`: restart_app, reboot_host, none, breaker_open, breaker_closed or breaker_released; while versions change,
    a word of a newer one.
    """

    id: int
    at: datetime
    client_uuid: str | None
    decision: str
    why: Sentence
    evidence: dict[str, Any]
    command_id: str | None


class Rung(Struct, frozen=True):
    """A rung that a client goes up, with its command."""

    client_uuid: str
    command_id: str
    basis: RecoveryBasis | None
    restarts: int
    reboots: int


class HealthNote(Struct, frozen=True):
    """Since when a client on the ladder is well, and whether its ladder is reset."""

    client_uuid: str
    healthy_since: datetime | None
    recovered: bool


class LastDecision(Struct, frozen=True):
    """The last recorded state of a client."""

    client_uuid: str
    decided: RecoveryState


class Tried(Struct, frozen=True):
    """How far up the ladder of four attempts recovery has gone, and since when the client is healthy again.

    A command that the display refused or did not begin is not an attempt; it is counted in `refused_…`.
    """

    step: int
    restarts: int
    reboots: int
    refused_restarts: int
    refused_reboots: int
    since: datetime | None
    healthy_since: datetime | None


@query.run(f"SELECT pg_advisory_xact_lock({RECOVERY_LOCK})")
def lock_recovery(connection: Connection) -> None:
    """Lock recovery until the transaction ends: wait for other ticks, and for people who make something quiet.

    So the cap on open commands holds, and recovery sends nothing after the answer to the person.
    """


@query.run(
    """
    UPDATE client_recovery SET step = 0, restarts = 0, reboots = 0, refused_restarts = 0, refused_reboots = 0,
        tried_since = NULL, healthy_since = NULL, unheard_at = NULL, decided = NULL
    WHERE client_uuid = :client_uuid AND (step > 0 OR refused_restarts + refused_reboots > 0 OR unheard_at IS NOT NULL)
    """
)
def resume(connection: Connection, client_uuid: str) -> bool:
    """Reset the ladder; False when nothing was tried."""


@query.one(
    f"""
    SELECT count(*) FROM client_commands AS c JOIN client_recovery AS r ON r.command_id = c.id
    WHERE {is_open("c")} AND c.client_uuid = r.client_uuid AND r.basis = 'stale'
    """
)
def count_open_silent(connection: Connection) -> int:
    """How many of recovery's open commands were sent because of silence."""


RUNGS: Final = ManyRows("said", Rung)


@query.run(
    f"""
    INSERT INTO client_recovery AS r (client_uuid, step, restarts, reboots, tried_since, command_id, basis)
    SELECT client_uuid, 1, restarts, reboots, CAST(:now AS timestamptz), command_id, basis FROM {RUNGS}
    ORDER BY client_uuid
    ON CONFLICT (client_uuid) DO UPDATE SET step = r.step + 1, restarts = r.restarts + EXCLUDED.restarts,
        reboots = r.reboots + EXCLUDED.reboots, tried_since = coalesce(r.tried_since, EXCLUDED.tried_since),
        command_id = EXCLUDED.command_id, basis = EXCLUDED.basis, healthy_since = NULL,
        unheard_at = NULL, decided = NULL, decided_at = NULL
    """,
    RUNGS,
)
def step_up(connection: Connection, now: datetime, taken: Sequence[Rung]) -> None:
    """Move clients one rung up, and store the command of the rung."""


NOTES: Final = ManyRows("said", HealthNote)


@query.run(
    f"""
    UPDATE client_recovery AS r SET
        healthy_since = CASE WHEN said.recovered THEN NULL ELSE said.healthy_since END,
        step = CASE WHEN said.recovered THEN 0 ELSE r.step END,
        restarts = CASE WHEN said.recovered THEN 0 ELSE r.restarts END,
        reboots = CASE WHEN said.recovered THEN 0 ELSE r.reboots END,
        refused_restarts = CASE WHEN said.recovered THEN 0 ELSE r.refused_restarts END,
        refused_reboots = CASE WHEN said.recovered THEN 0 ELSE r.refused_reboots END,
        tried_since = CASE WHEN said.recovered THEN NULL ELSE r.tried_since END
    FROM {NOTES} WHERE r.client_uuid = said.client_uuid
    """,
    NOTES,
)
def note_health(connection: Connection, notes: Sequence[HealthNote]) -> None:
    """Store since when these clients are well, and reset the ladders that say so.

    The last command stays: a failure that it repaired must not count again later.
    """


DECIDED: Final = ManyRows("said", LastDecision)
NOTE_DECISIONS = Query(
    f"""
    INSERT INTO client_recovery (client_uuid, decided, decided_at)
    SELECT client_uuid, decided, CAST(:now AS timestamptz) FROM {DECIDED} ORDER BY client_uuid
    ON CONFLICT (client_uuid) DO UPDATE SET decided = EXCLUDED.decided, decided_at = EXCLUDED.decided_at
    """,
    NO_ROW,
)


def note_decisions(connection: Connection, now: datetime, decided: Mapping[str, RecoveryState]) -> None:
    """Store the last recorded state of each client, by uuid."""
    NOTE_DECISIONS.run(connection, now=now, **DECIDED.of([LastDecision(*item) for item in decided.items()]))


EVENTS: Final = ManyRows("said", NewDecision)


@query.run(
    f"""
    INSERT INTO recovery_events (at, client_uuid, decision, why, evidence, command_id)
    SELECT CAST(:now AS timestamptz), client_uuid, decision, why, evidence, command_id FROM {EVENTS}
    """,
    EVENTS,
)
def record(connection: Connection, now: datetime, events: Sequence[NewDecision]) -> None:
    """Record decisions."""


SHOWN: Final = f"SELECT {columns(RecoveryEvent, 'e')} FROM recovery_events AS e"
NEXT: Final = """
    (at, id) < (coalesce(CAST(:after AS timestamptz), 'infinity'), coalesce(CAST(:after_id AS bigint), 0))
    ORDER BY at DESC, id DESC LIMIT CAST(:most AS int)"""
PAGE = Query(f"{SHOWN} WHERE {NEXT}", RecoveryEvent)
PAGE_OF_CLIENT = Query(f"{SHOWN} WHERE client_uuid = :client AND {NEXT}", RecoveryEvent)


def events_page(
    connection: Connection, client_uuid: str | None, limit: int, after: tuple[datetime, int] | None
) -> list[RecoveryEvent]:
    """Up to `limit` decisions about one client or (None) all, the newest first, after the cursor (at, id)."""
    query = PAGE if client_uuid is None else PAGE_OF_CLIENT
    at, event_id = after or (None, None)
    return query.all(connection, client=client_uuid, most=limit, after=at, after_id=event_id)


@query.rows(
    f"""
    {SHOWN} WHERE client_uuid IS NULL AND (evidence ->> 'site' IS NULL OR evidence ->> 'site' = :site)
    ORDER BY at DESC, id DESC LIMIT CAST(:limit AS int)
    """
)
def breaker_events(connection: Connection, site: str | None, limit: int) -> list[RecoveryEvent]:
    """The last decisions about the breakers of the fleet and of this site, the newest first."""


@query.one(
    """
    SELECT count(*) FROM client_commands
    WHERE finished_at >= :since AND source = 'recovery' AND state = 'succeeded'
        AND action IN ('restart_app', 'reboot_host')
    """
)
def count_mended(connection: Connection, since: datetime) -> int:
    """How many restarts and reboots of recovery provably happened since then."""


@query.run("DELETE FROM recovery_events WHERE at < :before")
def drop_history(connection: Connection, before: datetime) -> int:
    """Delete decisions made before then. Returns how many."""


@query.one_or_none(
    """
    SELECT step, restarts, reboots, refused_restarts, refused_reboots, tried_since AS since, healthy_since
    FROM client_recovery WHERE client_uuid = :client_uuid
    """
)
def ladder_of(connection: Connection, client_uuid: str) -> Tried | None:
    """The client's place on the ladder; None when recovery never acted on it."""
