"""A tester that knows only docs/openapi.json, and checks every answer against it: schemathesis with all its checks.

Each round makes other requests, by its own seed. The first round also sends the requests that schemathesis derives from
the document itself (its phase "coverage"), which are the same in each round; a share leaves out most of the wrong ones.
"""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.config import _checks as defaults
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER

from deploy.parts.layout import REPOSITORY
from tests.api.schema_audit import CHANGES_NOTHING, READS, Change
from tests.api.schema_repairs import Repairs
from tests.api.schema_world import World
from tests.diary import progress

DOCUMENT: Final = REPOSITORY / "docs" / "openapi.json"
SLOWEST_SECONDS: Final = 60.0  # only that an answer comes; `make bench` measures the time
MORE_ROUNDS: Final = 10
LONGEST_TEXT: Final = 2000  # characters of each finding that are kept
# Statuses that may also answer a valid request, if the document lists them:
VALID: Final = (
    "412",  # the resource has changed since the caller read it (If-Match)
    "422",  # well-formed, but against a rule that is not about its form: a past time, a wrong code
    "423",  # another request writes to the same upload
)
# Statuses that may also refuse an invalid request:
INVALID: Final = (
    "412",  # tus 1.0 demands it for a missing or other version
    "413",  # the body is too large
    "414",  # the URL is too long
)
MISSING_HEADER: Final = ("412",)  # as above: Tus-Resumable
# Operation -> statuses for rules that a schema cannot express and `schema_repairs` cannot satisfy:
VALID_HERE: Final = {
    # Random bytes are not a presentation, picture or video, and there may be more of them than the file still needs.
    "PATCH /api/event-media/uploads/{upload_id}": ("413", "415"),
}

ONLY_RIGHT: Final = {"coverage": {"generation": {"mode": "positive"}}}

schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")  # tus: bytes, too
schemathesis.serializer.alias("image/jpeg", "application/octet-stream")


@dataclass
class Found:
    """The result. `failures` and `errors` have one text for each kind, with a request that shows it."""

    declared: int = 0
    """How many operations the document has."""
    requests: int = 0
    answers: Counter[int] = field(default_factory=Counter)
    checks: Counter[str] = field(default_factory=Counter)
    operations: set[str] = field(default_factory=set)
    succeeded: set[str] = field(default_factory=set)
    changes: list[Change] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def silent(self, refusing: frozenset[str]) -> list[str]:
        """The operations that never succeeded, except those of `refusing`."""
        return sorted(self.operations - self.succeeded - refusing)

    @property
    def server_errors(self) -> int:
        """How many answers had a status of 5xx."""
        return sum(number for status, number in self.answers.items() if status >= 500)

    def text(self) -> str:
        """All findings, for people."""
        return "\n\n".join(f"{name}\n{text}" for name, text in {**self.failures, **self.errors}.items())


def announced() -> dict[str, Any]:
    """docs/openapi.json."""
    read: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return read


def judged(
    world: World,
    document: dict[str, Any],
    requests: int,
    seed: int,
    examples: int,
    refusing: frozenset[str],
    say: Callable[[str], None],
    share: int = 1,
) -> Found:
    """Run rounds until `requests` requests are judged; each round makes `examples` requests for each operation.

    One of `share` operations gets the wrong requests of the phase "coverage"; which, changes with the document.

    Chance decides which requests succeed. While an operation has not succeeded, except those of `refusing`, up to
    MORE_ROUNDS follow.
    """
    operations = [f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods]
    found, more = Found(declared=len(operations)), 0
    first = zlib.crc32(json.dumps(document).encode())
    spared = [name for name in operations if zlib.crc32(name.encode(), first) % share and name not in VALID_HERE]
    with _hooked(Repairs(world)):
        for number in range(1000):
            if found.requests >= requests:
                if more == MORE_ROUNDS or not found.silent(refusing):
                    break
                more += 1
            before, known = found.requests, set(found.failures)
            config = _config(world, seed * 1000 + number, examples, spared, is_first=number == 0)
            _round(document, config, found)
            say(f"round {number + 1}: {found.requests:,} requests, {len(found.failures)} findings")
            for name in found.failures.keys() - known:
                say(f"{name}\n{found.failures[name]}")
            if found.requests == before:
                found.errors["a round without a request"] = ""
                break
    return found


def _config(world: World, seed: int, examples: int, spared: list[str], *, is_first: bool) -> SchemathesisConfig:
    """A configuration with all checks and phases, which stores nothing between runs."""
    return SchemathesisConfig.from_dict(
        {
            "seed": seed,
            "base-url": world.function.url,
            "headers": {"Authorization": f"Bearer {world.token}"},
            "continue-on-failure": True,
            "request-timeout": 30,
            "cache": {"enabled": False},
            "generation": {"max-examples": examples, "no-shrink": True, "database": "none"},
            "phases": {
                "examples": {"enabled": is_first},
                "coverage": {"enabled": is_first},
                "stateful": {"max-steps": 6},
            },
            "checks": _checks(),
            "operations": [
                *({"include-name": name, "checks": _checks(*statuses)} for name, statuses in VALID_HERE.items()),
                *({"include-name": name, "phases": ONLY_RIGHT} for name in spared),
            ],
            "dictionaries": {"displays": {"values": list(world.displays)}},
            "parameters": {"path.uuid": {"dictionary": "displays", "probability": 0.7}},
        }
    )


def _checks(*valid_here: str) -> dict[str, Any]:
    return {
        "max_response_time": SLOWEST_SECONDS,
        "positive_data_acceptance": {
            "expected-statuses": [*defaults.POSITIVE_DATA_ACCEPTANCE_EXPECTED_STATUSES, *VALID, *valid_here]
        },
        "negative_data_rejection": {
            "expected-statuses": [*defaults.NEGATIVE_DATA_REJECTION_EXPECTED_STATUSES, *INVALID]
        },
        "missing_required_header": {
            "expected-statuses": [*defaults.MISSING_REQUIRED_HEADER_EXPECTED_STATUSES, *MISSING_HEADER]
        },
    }


@contextmanager
def _hooked(repairs: Repairs) -> Iterator[None]:
    GLOBAL_HOOK_DISPATCHER.register_hook_with_name(repairs, "before_call")
    try:
        yield
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(repairs)


def _round(document: dict[str, Any], config: SchemathesisConfig, found: Found) -> None:
    schema = schemathesis.openapi.from_dict(document, config=config)
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _count(event.recorder, found)
            progress(f"{found.requests:,} requests")
        elif isinstance(event, events.NonFatalError):
            found.errors.setdefault(f"{event.label}: {event.info.title}", str(event.info.message)[:LONGEST_TEXT])
        elif isinstance(event, events.FatalError):
            raise event.exception


def _count(recorder: ScenarioRecorder, found: Found) -> None:
    for case_id, sent in recorder.interactions.items():
        found.requests += 1
        if sent.response is None:
            found.errors.setdefault(f"{recorder.label}: no answer", sent.request.uri)
            continue
        status = sent.response.status_code
        found.answers[status] += 1
        node = recorder.cases.get(case_id)
        if node is not None:
            _count_case(node.value, sent.response, found)
    for case_id, checks in recorder.checks.items():
        for check in checks:
            found.checks[check.name] += 1
            if check.failure_info is not None:
                failure = check.failure_info.failure
                answer = _answered(recorder, case_id)
                shown = f"{failure.message}\n{check.failure_info.code_sample}\n{answer}"[:LONGEST_TEXT]
                found.failures.setdefault(f"{failure.operation or recorder.label}: {failure.title}", shown)


def _answered(recorder: ScenarioRecorder, case_id: str) -> str:
    """The answer, for people."""
    sent = recorder.interactions.get(case_id)
    if sent is None or sent.response is None:
        return "no answer"
    return f"{sent.response.status_code} {(sent.response.content or b'')[:500].decode(errors='replace')}"


def _count_case(case: Any, response: Any, found: Found) -> None:
    """Count the request for its operation, by success and by whether it was to change something."""
    operation, method = case.operation.label, case.method.upper()
    found.operations.add(operation)
    if method != case.operation.method.upper():
        return
    if response.status_code < 400:
        found.succeeded.add(operation)
    named = response.headers.get("x-request-id")
    if method not in READS and operation != CHANGES_NOTHING and named:
        found.changes.append(Change(operation, response.status_code, named[0]))
