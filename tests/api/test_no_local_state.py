"""No instance of the api function keeps state between requests, so any instance can answer the next one.

A new instance answers each request of these conversations, and ends afterwards. Other tests kill a function in the
middle of a request: test_uploads_in_parts.py, test_one_transaction.py, tests/worker, tests/tick and tests/bridge.
"""

import os
import re
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from deploy.parts.layout import REPOSITORY
from functions.api.app import create_app
from functions.api.services import Services
from shared.config import Config
from shared.postgres.door import make_engine
from shared.vocabulary import Role
from tests.api.people import OURS, PASSWORD, add_user, cookie_of, cookies, issue_token, new_address
from tests.api.test_uploads_in_parts import FILM, PATH, TUS
from tests.stores.commands_world import new_client

CHANGES: Final = frozenset({"os.mkdir", "os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.truncate"})
_changed: set[str] = set()
_is_watching = False


def _note(name: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that notes the path of every file or folder that this process creates or changes."""
    if not _is_watching:
        return
    if name in CHANGES or (name == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        _changed.update(os.fsdecode(one) for one in arguments if isinstance(one, str | bytes))


sys.addaudithook(_note)  # an audit hook cannot be removed


@contextmanager
def watched() -> Iterator[set[str]]:
    """The paths that this process writes to during the block."""
    global _is_watching  # noqa: PLW0603 - the hook cannot be had twice
    _changed.clear()
    _is_watching = True
    try:
        yield _changed
    finally:
        _is_watching = False


class Instances:
    """A new instance for each request."""

    def __init__(self, config: Config, token: str) -> None:
        self.number = 0
        self._config, self._token = config, token

    def ask(self, method: str, path: str, expected: int = 200, **options: Any) -> TestResponse:
        """The answer of a new instance; with the token, unless `headers` has other credentials or none."""
        headers = options.pop("headers", {})
        if not {"Cookie", "X-Forwarded-For"} & set(headers):
            headers = {"Authorization": f"Bearer {self._token}", **headers}
        engine = make_engine(self._config, "api")
        try:
            client = create_app(Services(self._config, engine)).test_client(use_cookies=False)
            answer = client.open(path, method=method, headers=headers, **options)
            assert answer.status_code == expected, f"{method} {path}: {answer.text}"
            answer.get_data()
        finally:
            engine.dispose()
        self.number += 1
        return answer


@pytest.fixture
def instances(configuration: Config, engine: Engine) -> Instances:
    return Instances(configuration, issue_token(engine, Role.ADMIN))


def test_a_person_is_known_to_every_instance_until_they_sign_out_at_one(instances: Instances, engine: Engine) -> None:
    name = f"anna-{uuid.uuid4()}"
    add_user(engine, name)
    elsewhere = {"X-Forwarded-For": new_address()}
    wrong = {"username": f"bert-{uuid.uuid4()}", "password": "wrong"}

    signed_in = instances.ask(
        "POST", "/api/session", 201, json={"username": name, "password": PASSWORD}, headers=elsewhere
    )
    cookie = {"Cookie": cookies(cookie_of(signed_in)), **OURS}
    assert instances.ask("GET", "/api/session", headers=cookie).get_json()["principal"]["name"] == name
    instances.ask("DELETE", "/api/session", 204, headers=cookie)
    instances.ask("GET", "/api/session", 401, headers=cookie)

    address = {"X-Forwarded-For": new_address()}
    for _ in range(5):  # the instances share their counts
        instances.ask("POST", "/api/session", 401, json=wrong, headers=address)
    instances.ask("POST", "/api/session", 429, json=wrong, headers=address)


def test_a_key_means_the_same_command_at_every_instance(instances: Instances, engine: Engine) -> None:
    client = new_client(engine)
    body, key = {"action": "restart_app", "reason": "black"}, {"Idempotency-Key": str(uuid.uuid4())}

    answers = [
        instances.ask("POST", f"/api/clients/{client}/commands", 202, json=body, headers=key).get_json()["id"]
        for _ in range(3)
    ]

    assert len(set(answers)) == 1
    assert instances.ask("GET", f"/api/commands/{answers[0]}").get_json()["reason"] == "black"


def test_parts_of_a_file_go_to_any_instance_and_nothing_is_written_but_media(
    instances: Instances, media_root: Path
) -> None:
    begun = {**TUS, "Upload-Length": str(len(FILM)), "Upload-Metadata": "filename ZmlsbS5tcDQ="}
    step = len(FILM) // 3 + 1
    with watched() as written:
        place = instances.ask("POST", PATH, 201, headers=begun).headers["Location"]
        for at in range(0, len(FILM), step):
            sent = {**TUS, "Upload-Offset": str(at), "Content-Type": "application/offset+octet-stream"}
            end = instances.ask("PATCH", place, 204, headers=sent, data=FILM[at : at + step])
            instances.ask("HEAD", place, headers=TUS)
        medium = end.headers["Upload-Media-Id"]
        content = instances.ask("GET", f"/api/event-media/{medium}/content", buffered=True)

    assert content.data == FILM
    assert any(path.startswith(str(media_root)) for path in written), "the watch sees nothing"
    elsewhere = {path for path in written if not path.startswith(str(media_root))}
    assert [path for path in elsewhere if path.startswith("/")] == []
    assert [path for path in elsewhere if Path(path).exists()] == []  # relative paths of unknown folders


def test_a_cursor_and_a_code_of_one_instance_are_taken_by_another(instances: Instances, engine: Engine) -> None:
    client = new_client(engine)

    whole = instances.ask("GET", "/api/monitoring/overview").get_json()
    nothing = instances.ask("GET", f"/api/monitoring/overview?since={whole['cursor']}").get_json()
    code = instances.ask("POST", f"/api/clients/{client}/enrolment", 201).get_json()["code"]
    without = {"X-Forwarded-For": new_address()}
    login = instances.ask("POST", "/api/enroll", 201, json={"code": code}, headers=without).get_json()
    instances.ask("POST", "/api/enroll", 422, json={"code": code}, headers=without)

    assert client in str(whole)
    assert client not in str(nothing["clients"])
    assert login["uuid"] == client


def test_no_module_of_ours_is_written_to_while_requests_are_answered() -> None:
    """A `global` would keep state in one instance only."""
    sources = [path for folder in ("functions", "extensions", "shared") for path in (REPOSITORY / folder).rglob("*.py")]
    keeps = re.compile(r"^ +global \w", re.MULTILINE)

    assert len(sources) > 50
    assert [path for path in sources if keeps.search(path.read_text(encoding="utf-8"))] == []
