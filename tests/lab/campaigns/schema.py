"""A tester that knows only the OpenAPI document calls every operation of the running api function over HTTP.

No request may cause a 5xx, and the document must list every answer.
"""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts import broker as mosquitto
from tests.api.schema_audit import deviations, lines_by_request
from tests.api.schema_tester import Found, announced, judged
from tests.api.schema_world import World, world
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import machine

# These succeed for people and answer 422 to scripts. Other tests check their lines in the audit log
# (test_sessions.py, test_passwords.py, test_own_sessions.py, test_second_factor.py).
PEOPLE_ONLY: Final = frozenset(
    {
        "DELETE /api/session",
        "POST /api/users/me/password",
        "GET /api/users/me/sessions",
        "DELETE /api/users/me/sessions/{session_id}",
        "GET /api/users/me/second-factor",
        "POST /api/users/me/second-factor",
        "POST /api/users/me/second-factor/confirm",
        "POST /api/users/me/second-factor/remove",
    }
)


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    cases: int = 20_000
    examples: int = 20  # requests of each operation in each round
    share: int = 1  # one of so many operations gets the wrong requests that follow from the document
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    began = time.monotonic()
    folder.chmod(0o755)
    below = folder / "machine", folder / "world"
    for one in below:
        one.mkdir()
    with machine(below[0], bridge=False, durable=False) as service:
        process = service.broker.process
        assert process is not None
        broker = mosquitto.RunningBroker(service.place, service.passwords, process.pid)
        with world(below[1], service.database_url, broker) as place:
            ledger, found = asked(plan, place, say)
    if found.failures or found.errors:
        say(found.text())
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def asked(plan: Plan, place: World, say: Callable[[str], None]) -> tuple[Ledger, Found]:
    """Run the tester in this world. Returns ledger and findings."""
    ledger = Ledger("schema", plan.seed, {"cases_planned": plan.cases})
    found = judged(place, announced(), plan.cases, plan.seed, plan.examples, PEOPLE_ONLY, say, plan.share)
    silent = found.silent(PEOPLE_ONLY)
    unsound = _unsound_audit(place, found, say)
    ledger.counted |= {
        "cases": found.requests,
        "operations": len(found.operations),
        "answered_with_success": len(found.succeeded),
        "checks": found.checks.total(),
        "server_errors": found.server_errors,
        "findings": len(found.failures),
        "changes_asked_for": len(found.changes),
    }
    ledger.conditions |= {
        "as many cases as planned": found.requests >= plan.cases,
        "every operation was asked for": len(found.operations) == found.declared,
        "every operation succeeded at least once": not silent,
        "no server error": found.server_errors == 0,
        "every answer is as the document says": not found.failures,
        "every change is a line of the audit log, and no refusal is": bool(found.changes) and not unsound,
        "the tester had no trouble of its own": not found.errors,
    }
    if silent:
        ledger.note = f"never with success: {', '.join(silent)}"
    return ledger, found


def _unsound_audit(place: World, found: Found, say: Callable[[str], None]) -> Counter[str]:
    """Missing and wrong lines in the audit log about the tester's changes."""
    with place.engine.connect() as connection:
        lines = lines_by_request(connection)
    unsound = deviations(found.changes, lines, f"token:tester#{place.token_id}")
    for what, times in sorted(unsound.items()):
        say(f"{what} ({times} times)")
    return unsound
