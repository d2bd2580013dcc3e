"""Old code and today's code on one database at the same time: each uses the rows that the other wrote."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import requests

from deploy.parts.layout import REPOSITORY
from tests.api.function_process import FunctionProcess
from tests.api.schema_world import GIF, World
from tests.lab.campaigns import old_code
from tests.lab.campaigns.ledger import Ledger
from tests.lab.campaigns.machine import Machine, rows
from tests.lab.campaigns.old_code import Version

Ask = Callable[..., requests.Response]
SEVERAL: Final = 3  # ids of each kind of resource
ANSWER_SECONDS: Final = 30
READY: Final = "/api/health/ready"  # it answers 503, because old code has no task queue here
DECLARED: Final[dict[str, str]] = {}
"""Requests that old code can no longer answer -> why."""
KNOWN: Final = {  # path parameter -> existing ids
    "uuid": "SELECT uuid FROM clients WHERE deleted_at IS NULL ORDER BY status, uuid",
    "command_id": "SELECT id FROM client_commands ORDER BY created_at DESC",
    "batch_id": "SELECT id FROM command_batches ORDER BY created_at DESC",
    "incident_id": "SELECT id FROM incidents ORDER BY id DESC",
    "media_id": "SELECT id FROM event_media ORDER BY id DESC",
    "upload_id": "SELECT id FROM uploads ORDER BY created_at DESC",
    "path": "SELECT substr(target_path, length('converted/') + 1) FROM conversions WHERE target_path IS NOT NULL",
}


@dataclass
class Found:
    """The results over all versions. `wrong`: kind of fault -> descriptions."""

    counted: dict[str, float] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    ledgers: list[Ledger] = field(default_factory=list)

    def count(self, name: str, number: float = 1) -> None:
        self.counted[name] = self.counted.get(name, 0) + number

    def note(self, kind: str, what: str) -> None:
        self.wrong.setdefault(kind, []).append(what)


def work_together(version: Version, service: Machine, before: FunctionProcess, today: World, found: Found) -> None:
    """Run old ticks, and read everything, before and after each version writes more."""

    def ask(method: str, path: str, **options: Any) -> requests.Response:
        """Call the old code, with a token that today's code issued."""
        headers = {"Authorization": f"Bearer {today.token}", **options.pop("headers", {})}
        return requests.request(method, before.url + path, headers=headers, timeout=ANSWER_SECONDS, **options)

    of_today = Version("today", "", REPOSITORY)
    for ticks in range(2):
        for one in (of_today, version):
            for failed in old_code.tick(one, service):
                found.note("tick", f"{one.name}, beside {version.name}: {failed}")
            found.count("ticks")
        _read_everything(version.name, version.tree, service, ask, found)
        _read_everything(f"today beside {version.name}", REPOSITORY, service, today.ask, found)
        if ticks == 0:
            _cross(version, before, ask, today, found)


def _read_everything(whose: str, tree: Path, service: Machine, ask: Ask, found: Found) -> None:
    """Request everything that a version's document lists as readable."""
    document = json.loads((tree / "docs" / "openapi.json").read_text(encoding="utf-8"))
    engine = service.engine()
    known = {name: [str(row[0]) for row in rows(engine, f"{query} LIMIT {SEVERAL}")] for name, query in KNOWN.items()}
    engine.dispose()
    for path in [path for path, methods in document["paths"].items() if "get" in methods]:
        for address in _addresses(path, known):
            answer = ask("GET", address, allow_redirects=False)  # some lead to a name that is none here
            found.count("reads")
            found.count("reads_answered", answer.status_code < 400)
            if answer.status_code < 500 or address == READY:
                continue
            if path in DECLARED:
                found.count("declared_errors")
            else:
                found.note("server error", f"{whose}: GET {address}: {answer.status_code} {answer.text[:500]}")


def _addresses(path: str, known: dict[str, list[str]]) -> list[str]:
    """The path with each existing id for its parameter."""
    parameter = re.search(r"\{(\w+)\}", path)
    if parameter is None:
        return [path]
    return [path.replace(parameter[0], one) for one in known.get(parameter[1], ["0"])]


def _cross(version: Version, before: FunctionProcess, ask: Ask, today: World, found: Found) -> None:
    """Check that each version knows and continues what the other wrote."""

    def holds(what: str, it: bool, answer: requests.Response) -> None:
        found.count("crossings")
        if not it:
            found.note("crossing", f"{version.name}: {what}: {answer.status_code} {answer.text[:500]}")

    ways: dict[str, Ask] = {"today": today.ask, "before": ask}
    command = {"action": "restart_app", "reason": "crossing"}
    for first, second, uuid in (("today", "before", today.displays[19]), ("before", "today", today.displays[20])):
        key = {"Idempotency-Key": f"crossing {version.name} {first}"}
        sent = ways[first]("POST", f"/api/clients/{uuid}/commands", json=command, headers=key)
        again = ways[second]("POST", f"/api/clients/{uuid}/commands", json=command, headers=key)
        same = sent.status_code == again.status_code == 202 and sent.json()["id"] == again.json()["id"]
        holds(f"the command of {first} is the command of {second}", same, again)
        media = ways[first]("POST", "/api/event-media", files={"file": (f"{first}.gif", GIF + os.urandom(8))})
        holds(f"{first} takes a file", media.status_code == 201, media)
        shown = ways[second]("GET", f"/api/event-media/{media.json()['media']['id']}/content")
        holds(f"the file of {first} is had of {second}", shown.content.startswith(GIF), shown)
    handed = today.made("/api/users", {"username": f"dora-{version.name}", "role": "viewer"})
    _sets_own_password(handed, before, today, holds)


def _sets_own_password(
    handed: dict[str, Any], before: FunctionProcess, today: World, holds: Callable[[str, bool, requests.Response], None]
) -> None:
    """A person who was added by today's code sets a password by old code."""
    name, one_time, own = handed["user"]["username"], handed["one_time_password"], "a password of her own"
    ours = {"X-Requested-With": "signage"}
    signed_in = _sign_in(before.url, name, one_time)
    body = {"current_password": one_time, "new_password": own}
    cookie = {"Cookie": f"signage_session={signed_in.cookies.get('signage_session')}", **ours}
    changed = requests.post(before.url + "/api/users/me/password", json=body, headers=cookie, timeout=ANSWER_SECONDS)
    holds("a one-time password is replaced at the code of before", changed.status_code == 204, changed)
    again = _sign_in(today.function.url, name, own)
    holds("the own password opens the code of today", again.status_code == 201, again)
    whole = again.status_code == 201 and not again.json()["must_change_password"]
    holds("it is nobody else's to change", whole, again)


def _sign_in(url: str, name: str, password: str) -> requests.Response:
    body = {"username": name, "password": password}
    return requests.post(f"{url}/api/session", json=body, timeout=ANSWER_SECONDS)
