"""SQL of recovery: what was decided and recorded, and how far it has gone with each client."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection

from shared.postgres.fragments import no_later
from shared.postgres.many import ManyRows
from shared.postgres.query import NO_ROW, Query, columns
from shared.vocabulary import RecoveryBasis, RecoveryDecision, RecoveryState


@dataclass(frozen=True)
class NewDecision:
    """A decision to be recorded; on a breaker where `client_uuid` is None."""

    client_uuid: str | None
    decision: RecoveryDecision
    why: str
    evidence: dict[str, Any]
    command_id: str | None


@dataclass(frozen=True)
class RecoveryEvent:
    """One decision; on a breaker where `client_uuid` is null. `evidence` is what was known when it was made."""

    id: int
    at: datetime
    client_uuid: str | None
    decision: RecoveryDecision
    why: str
    evidence: dict[str, Any]
    command_id: str | None


@dataclass(frozen=True)
class Rung:
    """The rung that a client goes up: which command stands for it, and what that is."""

    client_uuid: str
    command_id: str
    basis: RecoveryBasis | None
    restarts: int
    reboots: int


@dataclass(frozen=True)
class HealthNote:
    """Since when a client on the ladder is well, and whether its ladder begins anew."""

    client_uuid: str
    healthy_since: datetime | None
    recovered: bool


@dataclass(frozen=True)
class LastDecision:
    """The state that was recorded last of a client."""

    client_uuid: str
    decided: RecoveryState


@dataclass(frozen=True)
class LadderRow:
    """How far recovery has gone with a client, and what an operator said."""

    step: int
    restarts: int
    reboots: int
    refused_restarts: int
    refused_reboots: int
    tried_since: datetime | None
    healthy_since: datetime | None
    unheard_at: datetime | None
    held_at: datetime | None
    held_by: str | None
    held_reason: str | None
    held_until: datetime | None


RECOVERY_LOCK: Final = 7_305_003  # advisory lock of the transaction that counts and issues
LOCK = Query(f"SELECT pg_advisory_xact_lock({RECOVERY_LOCK})", NO_ROW)
LOCK_SHARED = Query(f"SELECT pg_advisory_xact_lock_shared({RECOVERY_LOCK})", NO_ROW)


def lock_recovery(connection: Connection) -> None:
    """Wait until no other transaction recovers or is in the way of it; then none does until this one ends.

    What was counted then stays what it is, and a hold that was answered to an operator is never overtaken.
    """
    LOCK.run(connection)


def lock_for_operator(connection: Connection) -> None:
    """Wait until no transaction recovers; other operators are let in as well."""
    LOCK_SHARED.run(connection)


COUNT_OPEN_SILENT = Query(
    """
    SELECT count(*) FROM client_commands AS c JOIN client_recovery AS r ON r.command_id = c.id
    WHERE c.rank < 90 AND c.client_uuid = r.client_uuid AND r.basis = 'stale'
    """,
    int,
)


def count_open_silent(connection: Connection) -> int:
    """How many commands are open that recovery sent to displays because they were silent."""
    return COUNT_OPEN_SILENT.one(connection)


RUNGS: Final = ManyRows("said", Rung)
STEP_UP = Query(
    f"""
    INSERT INTO client_recovery AS r (client_uuid, step, restarts, reboots, tried_since, command_id, basis)
    SELECT client_uuid, 1, restarts, reboots, CAST(:now AS timestamptz), command_id, basis FROM {RUNGS}
    ORDER BY client_uuid
    ON CONFLICT (client_uuid) DO UPDATE SET step = r.step + 1, restarts = r.restarts + EXCLUDED.restarts,
        reboots = r.reboots + EXCLUDED.reboots, tried_since = coalesce(r.tried_since, EXCLUDED.tried_since),
        command_id = EXCLUDED.command_id, basis = EXCLUDED.basis, healthy_since = NULL,
        unheard_at = NULL, decided = NULL, decided_at = NULL
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def step_up(connection: Connection, now: datetime, taken: Sequence[Rung]) -> None:
    """One rung further, and which command stands for it."""
    STEP_UP.run(connection, now=now, **RUNGS.of(taken))


NOTES: Final = ManyRows("said", HealthNote)
NOTE_HEALTH = Query(
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
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def note_health(connection: Connection, notes: Sequence[HealthNote]) -> None:
    """Write since when these clients are well, and whether their ladder begins anew.

    The last command is kept: a failure that it mended must not count again later.
    """
    NOTE_HEALTH.run(connection, **NOTES.of(notes))


DECIDED: Final = ManyRows("said", LastDecision)
NOTE_DECISIONS = Query(
    f"""
    INSERT INTO client_recovery (client_uuid, decided, decided_at)
    SELECT client_uuid, decided, CAST(:now AS timestamptz) FROM {DECIDED} ORDER BY client_uuid
    ON CONFLICT (client_uuid) DO UPDATE SET decided = EXCLUDED.decided, decided_at = EXCLUDED.decided_at
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def note_decisions(connection: Connection, now: datetime, decided: Mapping[str, RecoveryState]) -> None:
    """Remember the state that was recorded last of each client, by uuid."""
    NOTE_DECISIONS.run(connection, now=now, **DECIDED.of([LastDecision(*item) for item in decided.items()]))


EVENTS: Final = ManyRows("said", NewDecision)
RECORD = Query(
    f"""
    INSERT INTO recovery_events (at, client_uuid, decision, why, evidence, command_id)
    SELECT CAST(:now AS timestamptz), client_uuid, decision, why, evidence, command_id FROM {EVENTS}
    """,  # noqa: S608 - made of constants
    NO_ROW,
)


def record(connection: Connection, now: datetime, events: Sequence[NewDecision]) -> None:
    """Write decisions."""
    RECORD.run(connection, now=now, **EVENTS.of(events))


SHOWN: Final = f"SELECT {columns(RecoveryEvent, 'e')} FROM recovery_events AS e"  # noqa: S608 - made of constants
NEXT: Final = """
    (at, id) < (coalesce(CAST(:after AS timestamptz), 'infinity'), coalesce(CAST(:after_id AS bigint), 0))
    ORDER BY at DESC, id DESC LIMIT CAST(:most AS int)"""
PAGE = Query(f"{SHOWN} WHERE {NEXT}", RecoveryEvent)
PAGE_OF_CLIENT = Query(f"{SHOWN} WHERE client_uuid = :client AND {NEXT}", RecoveryEvent)
PAGE_OF_BREAKERS = Query(
    f"""
    {SHOWN} WHERE client_uuid IS NULL AND (evidence ->> 'site' IS NULL OR evidence ->> 'site' = :site)
    ORDER BY at DESC, id DESC LIMIT CAST(:most AS int)
    """,
    RecoveryEvent,
)


def events_page(
    connection: Connection, client_uuid: str | None, limit: int, after: tuple[datetime, int] | None
) -> list[RecoveryEvent]:
    """Up to `limit` decisions, of one client or of all, the newest first, that come after (at, id)."""
    query = PAGE if client_uuid is None else PAGE_OF_CLIENT
    at, event_id = after or (None, None)
    return query.all(connection, client=client_uuid, most=limit, after=at, after_id=event_id)


def breaker_events(connection: Connection, site: str | None, limit: int) -> list[RecoveryEvent]:
    """The last decisions on the breakers of the whole fleet and of this site, the newest first."""
    return PAGE_OF_BREAKERS.all(connection, site=site, most=limit)


DROP_OLD = Query("DELETE FROM recovery_events WHERE at < :before", NO_ROW)


def drop_history(connection: Connection, before: datetime) -> int:
    """Forget decisions made before then; how many."""
    return DROP_OLD.run(connection, before=before)


FORGET_THE_FUTURE = Query(
    no_later("client_recovery", "tried_since", "unheard_at", "healthy_since", "decided_at"), NO_ROW
)


def forget_the_future(connection: Connection, now: datetime) -> None:
    """Let what was noted of clients at a time that has not come yet count as noted now. Holds of people stay."""
    FORGET_THE_FUTURE.run(connection, now=now)


LADDER_OF = Query(
    f"SELECT {columns(LadderRow, 'r')} FROM client_recovery AS r WHERE client_uuid = :client",  # noqa: S608 - as above
    LadderRow,
)


def ladder_of(connection: Connection, client_uuid: str) -> LadderRow | None:
    """How far recovery has gone with this client and what an operator said; None when neither ever happened."""
    return LADDER_OF.one_or_none(connection, client=client_uuid)
