"""The lines that the audit log must have for the changes of a tester, by operation of the document."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection

from shared.tables import audit_log

READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
# Its answer and the caller's cookie hold all of what it began.
CHANGES_NOTHING: Final = "POST /api/session/provider"
# These succeed also when they change nothing (a repeat, a dry run, a part of a file), and are then not audited.
MAY_CHANGE_NOTHING: Final = frozenset(
    {
        "PATCH /api/clients",  # of displays that are all unknown
        "PATCH /api/event-media/uploads/{upload_id}",
        "PATCH /api/users/{user_id}",
        "POST /api/clients/service_failed/mended",
        "POST /api/clients/{uuid}/clear_service_failed",
        "POST /api/clients/{uuid}/commands",
        "POST /api/clients/{uuid}/recovery/resume",
        "POST /api/clients/{uuid}/service_failed/give_back",
        "POST /api/clients/{uuid}/service_failed/take",
        "POST /api/incidents/{incident_id}/give_back",
        "POST /api/incidents/{incident_id}/take",
        "POST /api/command-batches/{batch_id}/abort",
        "POST /api/command-batches/{batch_id}/pause",
        "POST /api/command-batches/{batch_id}/resume",
        "POST /api/commands",
        "POST /api/conversions/{media_id}/pdf",
        "POST /api/schedules",
        "DELETE /api/schedules/{schedule_id}",
        "POST /api/recovery/breaker/release",
        "POST /api/quiet-times",
        "DELETE /api/quiet-times/{quiet_id}",
    }
)


@dataclass(frozen=True)
class Change:
    """A request for a change, and its status."""

    operation: str
    status: int
    request_id: str


@dataclass(frozen=True)
class Line:
    """One line of the audit log."""

    actor: str
    result: str


def lines_by_request(connection: Connection) -> Mapping[str, list[Line]]:
    """Request id -> its lines of the audit log."""
    found = defaultdict(list)
    for row in connection.execute(sa.select(audit_log.c.request_id, audit_log.c.actor, audit_log.c.result)):
        found[row.request_id].append(Line(row.actor, row.result))
    return found


def deviations(changes: Iterable[Change], lines: Mapping[str, list[Line]], tester: str) -> Counter[str]:
    """Count the missing and the wrong lines of the log. `tester` is the actor of all requests with a token."""
    found: Counter[str] = Counter()
    done: Counter[str] = Counter()
    succeeded = set()
    for change in changes:
        said = lines.get(change.request_id, [])
        is_done = any(line.result == "done" for line in said)
        done[change.operation] += is_done
        if change.status >= 400:
            found[f"{change.operation}: refused with {change.status}, and a line says done"] += is_done
            continue
        succeeded.add(change.operation)
        if change.operation not in MAY_CHANGE_NOTHING:
            found[f"{change.operation}: changed something without a line"] += not is_done
        found[f"{change.operation}: a line of somebody else"] += any(_is_foreign(line, tester) for line in said)
    for operation in succeeded:
        found[f"{operation}: never a line"] += not done[operation]
    return +found


def _is_foreign(line: Line, tester: str) -> bool:
    """Whether the actor is unexpected: neither the tester nor an anonymous caller, a person or a display."""
    return line.actor not in {tester, "anonymous"} and not line.actor.startswith(("user:", "display:"))
