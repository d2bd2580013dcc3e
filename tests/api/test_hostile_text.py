"""Names from people, scripts, files and displays come out as the same text, and are never interpreted.

The same hostile texts go through every field of free text: by HTTP into a real api function, and as a display's
messages through the bridge's reading and writing. The tests look for them in answers, headers and process logs.
tests/browser/test_hostile_text.py and test_exports.py test browsers and spreadsheets.
"""

import base64
import io
import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import pytest
import requests
from sqlalchemy import Engine

from bridge.inbox import Arrival, Inbox
from bridge.status import Counters
from bridge.storing import LeaderMemory
from bridge.writes import Writer
from shared import structured_log
from shared.commands.operations import timings
from shared.config import Config
from shared.leadership import operations as leadership
from shared.names import folded
from shared.postgres.door import scrub
from shared.vocabulary import Role
from tests import migrated
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.hostile_texts import ELSEWHERE, HALF, TEXTS, WAYS, Way, free_texts, strings_of
from tests.api.people import issue_token
from tests.worker.hostile_pdfs import PDF

PLACES: Final = (
    *("/api", "/api/clients", "/api/event-media/uploads", "/api/tokens"),
    *("/api/files/converted", "/api/command-batches"),
)
HARMFUL: Final = re.compile(r"[/\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")  # in a file's name
NAMES: Final = {"site", "sites", "tag", "tags", "q"}
OF_NAMES: Final = {
    *(("/api/clients/{client}", "name"), ("/api/notifications/channels", "name")),
    ("/api/expectations", "target"),
}
"""Fields that are names beside those in NAMES."""
INJECTED: Final = b"\nX-Injected"


@dataclass(frozen=True)
class Service:
    """The api function on the module's database, and an admin."""

    function: FunctionProcess
    token: str
    client: str

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send one request. Its answer must be well-formed, whatever its status is."""
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        answer = requests.request(method, self.function.url + path, headers=headers, timeout=60, **options)
        assert answer.status_code < 500, answer.text
        assert "X-Injected" not in answer.headers
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        if answer.content:
            kind = "application/json" if answer.ok else "application/problem+json"
            assert answer.headers["Content-Type"] == kind
            answer.json()
        return answer

    def said(self, path: str) -> set[str]:
        """Every text of the answer to a GET."""
        answer = self.ask("GET", path.format(client=self.client))
        assert answer.status_code == 200, answer.text
        return set(strings_of(answer.json()))


@pytest.fixture(scope="module")
def service(database_url: str, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("hostile")
    environment = {
        **ENVIRONMENT,
        "DATABASE_URL": migrated.address_for("api", database_url),
        "MEDIA_ROOT": str(folder),
        "MQTT_URL": "mqtt://127.0.0.1:9",
        "QUEUE_URL": "grpc://127.0.0.1:9/projects/local/locations/local",
    }
    with function_process("functions/api/main.py", environment, folder) as function:
        made = Service(function, issue_token(engine, Role.ADMIN), str(uuid.uuid4()))
        assert made.ask("POST", f"/api/clients/{made.client}/enrolment").status_code == 201
        yield made


def sound_lines(log: str) -> list[dict[str, Any]]:
    """The lines of a process's log: each must be one JSON object without control characters."""
    assert log.replace("\n", "").isprintable()
    assert log.isascii()
    lines = [json.loads(line) for line in log.splitlines()]
    assert all(isinstance(line, dict) and line["message"] != "forged" for line in lines)
    return lines


def test_every_field_that_takes_free_text_is_in_the_table() -> None:
    written = {(way.method.lower(), way.path.replace("{client}", "{uuid}"), f) for way in WAYS for f in way.fields}

    assert set(free_texts()) == written | ELSEWHERE.keys()
    assert not written & ELSEWHERE.keys()


def comes_out(way: Way, text: str, field: str) -> str:
    """The text as it is stored: a name without the characters that nobody sees, and on one line."""
    is_name = field.rpartition(".")[2].removesuffix("[]") in NAMES or (way.path, field) in OF_NAMES
    return folded(scrub(text)) if is_name else scrub(text)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_text_comes_out_as_it_went_in_and_as_nothing_else(service: Service, way: Way) -> None:
    for text in TEXTS.values():
        answer = service.ask(
            way.method,
            way.path.format(client=service.client),
            data=json.dumps(way.body(text)),
            headers={"Content-Type": "application/json"},
        )
        if way.is_refused or text == HALF:
            assert 400 <= answer.status_code < 500
            continue
        assert answer.ok, answer.text
        seen = set(strings_of(answer.json())) if answer.content else set()
        for path in way.reads:
            seen |= service.said(path)
        expected = {comes_out(way, f"{text} {field}", field) for field in way.fields} if way.comes_out else set()
        assert expected <= seen
        if way.undo:
            method, _, path = way.undo.partition(" ")
            made = answer.json() if answer.content else {}
            assert service.ask(method, path.format(client=service.client, id=made.get("id"))).ok
    sound_lines(service.function.log.read_text())


def test_names_of_fields_parameters_addresses_and_headers_are_refused_as_text(service: Service) -> None:
    for text in TEXTS.values():
        unknown = service.ask(
            "PATCH",
            f"/api/clients/{service.client}",
            data=json.dumps({text: 1}),
            headers={"Content-Type": "application/json"},
        )
        assert unknown.status_code == 400
        named = quote(text, errors="surrogatepass")
        assert service.ask("GET", f"/api/clients?{named}=1").status_code == 400
        assert service.ask("GET", f"/api/clients?cursor={named}").status_code == 400
        for place in PLACES:
            assert service.ask("GET", f"{place}/{named}").status_code in {400, 404, 405}
        assert service.ask("GET", f"/api/clients?q={named}").ok
        request = b"GET /api/none HTTP/1.1\r\nHost: x\r\nX-Request-ID: %s\r\nConnection: close\r\n\r\n"
        answer = service.function.raw(request % scrub(text).encode())
        assert answer.startswith(b"HTTP/1.1 4")
    sound_lines(service.function.log.read_text())


def in_a_form(name: str) -> tuple[bytes, str]:
    """A multipart body with a file of this name, encoded so that it can have any character; and its content type."""
    head = f"--b\r\nContent-Disposition: form-data; name=\"file\"; filename*=UTF-8''{quote(name, safe='')}\r\n\r\n"
    return head.encode() + PDF + b"\r\n--b--\r\n", "multipart/form-data; boundary=b"


@pytest.mark.parametrize("text", [pytest.param(text, id=what) for what, text in TEXTS.items()])
def test_a_file_may_be_called_anything_and_is_sent_under_one_harmless_line(service: Service, text: str) -> None:
    name = f"{scrub(text)}.pdf"
    body, content_type = in_a_form(name)

    media = service.ask("POST", "/api/event-media", data=body, headers={"Content-Type": content_type})
    assert media.status_code == 201, media.text
    address = f"/api/event-media/{media.json()['media']['id']}"
    renamed = service.ask("PATCH", address, json={"filename": name})
    metadata = "filename " + base64.b64encode(name.encode()).decode()
    tus = {"Tus-Resumable": "1.0.0", "Upload-Length": "1", "Upload-Metadata": metadata}
    in_parts = service.ask("POST", "/api/event-media/uploads", headers=tus)

    shown = [media.json()["media"], renamed.json(), in_parts.json()]
    assert not any(HARMFUL.search(one["filename"]) for one in shown)
    request = f"GET {address}/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token}\r\n"
    head, _, content = service.function.raw(request.encode() + b"Connection: close\r\n\r\n").partition(b"\r\n\r\n")
    assert content == PDF
    assert INJECTED not in head
    assert head.replace(b"\r\n", b"").decode("ascii").isprintable()
    sound_lines(service.function.log.read_text())


MESSAGES: Final[tuple[tuple[str, Callable[[str], Any]], ...]] = (
    ("heartbeat", lambda t: {"process_status": t, "boot_id": t, "app_instance": t}),
    ("heartbeat", lambda t: {"last_command": {"id": t, "state": t}}),
    (
        "health",
        lambda t: {
            **{name: f"{t} {name}" for name in ("app_version", "os", "ip", "hostname")},
            "screen_health": t,
            "log_level": t,
            "capabilities": [t],
            t: t,
            "broker_connection": {"last_disconnect_at": t},
            "recent_acks": [{"id": t, "state": "received", "reason": t}],
        },
    ),
    ("logs/error", lambda t: {"message": f"{t} message", "logger": f"{t} logger"}),
    ("logs/odd", lambda t: {"message": t, "context": {f"{t} key": f"{t} value"}}),
    ("service_failed", lambda t: {"unit": f"{t} unit", "result": t}),
    ("presence", lambda t: {"state": "online", "session": t, "reason": t}),
    ("acks", lambda t: {"id": t, "state": "failed", "reason": t}),
    ("acks", lambda t: {"id": "x", "state": f"{t} state"}),
    ("logs/error", lambda t: [f"{t} list"]),
)


def test_what_a_display_says_comes_out_as_it_said_it(service: Service, engine: Engine, configuration: Config) -> None:
    written, clients = io.StringIO(), {text: str(uuid.uuid4()) for text in TEXTS.values()}
    structured_log.configure("bridge", written)
    inbox = Inbox("signage", "signage/service/canary")
    with engine.connect() as connection:
        with connection.begin():
            epoch = leadership.lead(connection, "hostile")
        assert epoch is not None
        writer = Writer(epoch, "hostile", True, timings(configuration), LeaderMemory())
        for text, client in clients.items():
            said = [(f"signage/{client}/{topic}", json.dumps(body(text)).encode()) for topic, body in MESSAGES]
            for topic, payload in (*said, (f"signage/{scrub(text)}/heartbeat", b"\x1b[31m\xff")):
                arrival = Arrival(topic, payload, 1, time.monotonic())
                writer.write(connection, [inbox.read(arrival)], Counters(), 1)

    for text, client in clients.items():
        shown = service.said(f"/api/clients/{client}") | service.said(f"/api/client-logs/{client}/logs")
        names = ("app_version", "os", "ip", "hostname", "message", "logger", "key", "value")
        assert {*(scrub(f"{text} {name}") for name in names), folded(scrub(f"{text} unit"))} <= shown
    failures, errors = service.said("/api/clients/service_failed"), service.said("/api/client-logs/recent-errors")
    letters = service.said("/api/dead-letters?limit=100")
    for text in TEXTS.values():
        assert folded(scrub(f"{text} unit")) in failures
        assert scrub(f"{text} message") in errors
        assert f"signage/{scrub(text)}/heartbeat" in letters
    sound_lines(written.getvalue())
    sound_lines(service.function.log.read_text())
