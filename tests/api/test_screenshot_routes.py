"""Pictures of screens over HTTP: who may request and see them, what a display may send, and sites that forbid them."""

import base64
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from displays.simulated.picture import draw
from extensions.screenshots.rules import LARGEST_BYTES
from functions.api.turns import PICTURES
from shared.errors import TooManyUploads
from shared.tables import audit_repeats, clients
from tests.api.people import Api

PICTURE = draw("Lobby", "12:00", "running")
SEND = "/api/display/screenshots"
NOBODYS = "00000000-0000-4000-8000-000000000009"


class EnrolledDisplay:
    """A display with a login, which calls the API over HTTP."""

    def __init__(self, api: Api, engine: Engine, site: str = "Berlin") -> None:
        self.api, self.uuid = api, str(uuid.uuid4())
        code = api.post(f"/api/clients/{self.uuid}/enrolment", role="admin").get_json()["code"]
        self.password = api.post("/api/enroll", role=None, json={"code": code}).get_json()["password"]
        with engine.begin() as connection:
            facts = {"capabilities": ["screenshot"], "site": site}
            connection.execute(sa.update(clients).where(clients.c.uuid == self.uuid).values(**facts))

    def asked(self, role: str = "operator") -> TestResponse:
        path = f"/api/clients/{self.uuid}/commands"
        return self.api.post(path, role=role, json={"action": "screenshot"})

    def command(self) -> dict[str, Any]:
        """Request a screenshot. Returns the command."""
        command: dict[str, Any] = self.asked().get_json()
        return command

    def send(self, body: bytes = PICTURE, **changes: Any) -> TestResponse:
        """Send a picture; `changes` are query parameters, or `login` and `content_type`."""
        login = changes.pop("login", f"{self.uuid}:{self.password}")
        headers = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if login else {}
        kind = changes.pop("content_type", "image/jpeg")
        path = f"{SEND}/{changes.pop('command_id')}" if "command_id" in changes else SEND
        return self.api.post(path, role=None, query_string=changes, data=body, content_type=kind, headers=headers)

    def shown(self, role: str = "operator") -> TestResponse:
        return self.api.get(f"/api/clients/{self.uuid}/screenshots", role)


@pytest.fixture
def display(api: Api, engine: Engine) -> EnrolledDisplay:
    return EnrolledDisplay(api, engine)


def audited(api: Api, target: str, action: str) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = api.get("/api/audit?limit=100", "admin").get_json()["items"]
    return [line for line in lines if (line["target"], line["action"]) == (target, action)]


def code(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, answer.get_json()["code"]


def test_from_the_ask_to_the_picture(api: Api, display: EnrolledDisplay) -> None:
    command = display.command()

    sent = display.send(command_id=command["id"], age_seconds=1)

    assert sent.status_code == 201
    told = api.get(f"/api/commands/{command['id']}").get_json()
    assert (told["state"], told["confirmed_by"]) == ("succeeded", "evidence")
    answer = display.shown().get_json()
    [item] = answer["items"]
    assert (answer["allowed"], item["command_id"], item["width"]) == (True, command["id"], 960)
    stored_at, taken_at = (datetime.fromisoformat(at) for at in (told["finished_at"], item["taken_at"]))
    assert stored_at - taken_at == timedelta(seconds=1)  # as old as the display says
    picture = api.get(f"/api/screenshots/{item['id']}", "operator")
    assert picture.data == PICTURE
    assert picture.headers["Content-Type"] == "image/jpeg"
    assert picture.headers["Cache-Control"] == "no-store"
    assert picture.headers["X-Content-Type-Options"] == "nosniff"
    assert picture.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"


def test_who_asked_and_who_looked_is_audited(api: Api, display: EnrolledDisplay, engine: Engine) -> None:
    command = display.command()
    display.send(command_id=command["id"])
    [item] = display.shown().get_json()["items"]

    for role in ("operator", "operator", "admin"):
        api.get(f"/api/screenshots/{item['id']}", role)

    [asked] = audited(api, display.uuid, "command.screenshot")
    looked = audited(api, display.uuid, "screenshot.look")
    [sent] = audited(api, display.uuid, "screenshot.send")
    assert sent["actor"] == f"display:{display.uuid}"
    assert asked["details"]["command_id"] == command["id"]
    assert {line["actor"].split("#")[0] for line in looked} == {"token:test operator", "token:test admin"}
    assert len(looked) == 2
    with engine.connect() as connection:
        looks = (audit_repeats.c.target == display.uuid, audit_repeats.c.action == "screenshot.look")
        repeats = sa.select(audit_repeats.c.repeats).where(*looks)
        assert sorted(connection.execute(repeats).scalars()) == [0, 1]


def test_looks_at_two_displays_are_two_lines(api: Api, engine: Engine) -> None:
    displays = [EnrolledDisplay(api, engine) for _ in range(2)]
    for display in displays:
        display.send(command_id=display.command()["id"])
        [item] = display.shown().get_json()["items"]
        api.get(f"/api/screenshots/{item['id']}", "operator")

    assert [len(audited(api, display.uuid, "screenshot.look")) for display in displays] == [1, 1]


# --- what a display may send ---


@pytest.mark.parametrize(
    "login",
    [
        "",
        "x",
        ":",
        "{uuid}",
        "{uuid}:",
        "{uuid}:wrong",
        "00000000-0000-4000-8000-000000000009:{password}",
        "{uuid}\0:{password}",
        "x" * 5000,
    ],
)
def test_only_the_displays_own_login_is_let_in(display: EnrolledDisplay, login: str) -> None:
    command = display.command()
    said = login.format(uuid=display.uuid, password=display.password)

    answer = display.send(command_id=command["id"], login=said)

    assert code(answer) == (401, "unauthenticated")
    assert display.shown().get_json()["items"] == []


def test_a_revoked_login_and_that_of_a_deleted_display_are_not_let_in(api: Api, engine: Engine) -> None:
    revoked, deleted = EnrolledDisplay(api, engine), EnrolledDisplay(api, engine)
    api.delete(f"/api/clients/{revoked.uuid}/enrolment", role="admin")
    api.delete(f"/api/clients/{deleted.uuid}", role="admin")

    assert code(revoked.send(place=1)) == code(deleted.send(place=1)) == (401, "unauthenticated")


def test_a_stolen_login_writes_no_picture_of_another_display(api: Api, engine: Engine) -> None:
    thief, victim = EnrolledDisplay(api, engine), EnrolledDisplay(api, engine)
    command = victim.command()

    assert code(thief.send(command_id=command["id"])) == (409, "screenshot_not_wanted")

    assert victim.shown().get_json()["items"] == []
    assert thief.shown().get_json()["items"] == []


def test_a_login_at_the_broker_opens_nothing_else(display: EnrolledDisplay) -> None:
    told = base64.b64encode(f"{display.uuid}:{display.password}".encode()).decode()

    answer = display.api.get(
        f"/api/clients/{display.uuid}/screenshots", None, headers={"Authorization": f"Basic {told}"}
    )

    assert code(answer) == (401, "unauthenticated")


Spoil = Callable[[EnrolledDisplay, str], TestResponse]


@pytest.mark.parametrize(
    ("send", "expected"),
    [
        (lambda d, k: d.send(command_id=k, content_type="image/png"), (415, "unsupported_media_type")),
        (lambda d, k: d.send(b"<script>alert(1)</script>", command_id=k), (415, "unsupported_media_type")),
        (lambda d, k: d.send(PICTURE + bytes(LARGEST_BYTES), command_id=k), (413, "too_large")),
        (lambda d, k: d.send(PICTURE + bytes(2_000_000), command_id=k), (413, "too_large")),
        (lambda d, _: d.send(), (400, "invalid_field")),
        (lambda d, k: d.send(command_id=k, place=1), (400, "invalid_field")),
        (lambda d, _: d.send(place=11), (400, "invalid_field")),
        (lambda d, k: d.send(command_id=k, age_seconds=-1), (400, "invalid_field")),
        (lambda d, _: d.send(command_id="x"), (404, "not_found")),
        (lambda d, _: d.send(command_id=NOBODYS), (409, "screenshot_not_wanted")),
        (lambda d, k: d.send(command_id=k, age_seconds=60), (409, "screenshot_not_wanted")),
        (lambda d, _: d.send(place=1), (409, "screenshot_not_wanted")),
    ],
)
def test_whatever_else_is_sent_is_refused_by_name_and_changes_nothing(
    api: Api, display: EnrolledDisplay, send: Spoil, expected: tuple[int, str]
) -> None:
    command = display.command()

    assert code(send(display, command["id"])) == expected

    assert api.get(f"/api/commands/{command['id']}").get_json()["state"] == "queued"
    assert display.shown().get_json()["items"] == []


def test_displays_that_fail_together_leave_threads_for_people(api: Api, engine: Engine) -> None:
    busy, other = EnrolledDisplay(api, engine), EnrolledDisplay(api, engine)
    command = busy.command()["id"]

    with ExitStack() as turns:
        for _ in range(PICTURES.most_of_one):
            turns.enter_context(PICTURES.turn(busy.uuid))
        answer = busy.send(command_id=command)
        assert other.send(command_id=other.command()["id"]).status_code == 201
        while True:
            try:
                turns.enter_context(PICTURES.turn(str(uuid.uuid4())))
            except TooManyUploads:
                break
        assert code(other.send(place=1)) == (429, "too_many_uploads")
        assert code(other.send(place=1, login=f"{other.uuid}:wrong")) == (401, "unauthenticated")

    assert code(answer) == (429, "too_many_uploads")
    assert int(answer.headers["Retry-After"]) > 0
    assert busy.shown().status_code == 200
    assert busy.send(command_id=command).status_code == 201


# --- sites that forbid pictures ---


def test_a_site_is_switched_off_and_on(api: Api, engine: Engine) -> None:
    site = f"Site {uuid.uuid4()}"
    display = EnrolledDisplay(api, engine, site)
    display.send(command_id=display.command()["id"])
    waiting = display.command()

    answer = api.ask("PUT", "/api/screenshot-policy", "admin", json={"site": site, "allowed": False})

    assert site in answer.get_json()["sites_off"]
    assert display.shown().get_json() == {"allowed": False, "items": []}
    assert code(display.send(command_id=waiting["id"])) == (403, "screenshots_off")
    assert code(display.asked()) == (403, "screenshots_off")
    assert [line["details"] for line in audited(api, site, "screenshot.policy")] == [{"allowed": False, "forgotten": 1}]
    back = api.ask("PUT", "/api/screenshot-policy", "admin", json={"site": site, "allowed": True})
    assert site not in back.get_json()["sites_off"]
    assert display.send(command_id=waiting["id"]).status_code == 201


def test_the_newest_picture_of_each_of_many_displays_is_listed(api: Api, engine: Engine) -> None:
    one, other, silent = (EnrolledDisplay(api, engine, site="Wall") for _ in range(3))
    for display, age in ((one, 1), (one, 0), (other, 1)):
        assert display.send(command_id=display.command()["id"], age_seconds=age).status_code == 201
    query = {"client": [one.uuid, other.uuid, silent.uuid, NOBODYS]}

    listed = api.get("/api/screenshots", "operator", query_string=query).get_json()["items"]
    newest = one.shown().get_json()["items"][0]

    assert {item["client_uuid"] for item in listed} == {one.uuid, other.uuid}
    assert newest in listed
    assert api.get("/api/screenshots", "operator", query_string={"client": "x"}).status_code == 400
    api.ask("PUT", "/api/screenshot-policy", "admin", json={"site": "Wall", "allowed": False})
    assert api.get("/api/screenshots", "operator", query_string=query).get_json()["items"] == []
    api.ask("PUT", "/api/screenshot-policy", "admin", json={"site": "Wall", "allowed": True})


def test_the_newest_pictures_of_other_sites_are_not_listed(api: Api, engine: Engine) -> None:
    own, foreign = EnrolledDisplay(api, engine, site="Near"), EnrolledDisplay(api, engine, site="Far")
    for display in (own, foreign):
        display.send(command_id=display.command()["id"])
    body = {"name": "near", "role": "operator", "sites": ["Near"]}
    token = api.post("/api/tokens", "admin", json=body).get_json()["token"]

    found = api.get("/api/screenshots", token=token, query_string={"client": [own.uuid, foreign.uuid]}).get_json()

    assert [item["client_uuid"] for item in found["items"]] == [own.uuid]
