"""Commands of people and scripts to one client or many: rights, answers, audit log."""

import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from deploy.parts.broker import RunningBroker
from extensions.batches import operations as batches
from functions.api.app import create_app
from functions.api.services import Services
from shared.commands.acks import operations as acks
from shared.commands.rules import Ack
from shared.config import Config
from shared.postgres.door import database_now, transaction
from shared.tables import clients
from shared.vocabulary import CommandState
from tests.api.people import Api
from tests.stores.commands_world import TIMINGS, new_client, seconds
from tests.stores.listening_display import listening_display

RESTART = {"action": "restart_app", "reason": "black screen"}


@pytest.fixture
def client(engine: Engine) -> str:
    """A client whose word counts: it names neither boots nor starts."""
    return new_client(engine, boot=None, start=None)


def path_of(client: str) -> str:
    return f"/api/clients/{client}/commands"


def say(engine: Engine, command: dict[str, Any], word: str) -> None:
    with transaction(engine) as connection:
        ack = Ack(command["client_uuid"], command["id"], CommandState(word))
        acks.record_acks(connection, database_now(connection), [ack], TIMINGS)


def audited(api: Api, target: str) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = api.get("/api/audit?limit=100", "admin").get_json()["items"]
    return [line for line in lines if line["target"] == target]


# --- a revoked login ---


def test_revoking_a_login_ends_the_open_command_and_revoking_none_does_not(api: Api, client: str) -> None:
    name = api.post(path_of(client), json=RESTART).get_json()["id"]
    api.delete(f"/api/clients/{client}/enrolment", role="admin")  # it never had one
    before = api.get(f"/api/commands/{name}").get_json()["state"]
    code = api.post(f"/api/clients/{client}/enrolment", role="admin").get_json()["code"]
    assert api.post("/api/enroll", json={"code": code}).status_code == 201

    assert api.delete(f"/api/clients/{client}/enrolment", role="admin").status_code == 204

    told = api.get(f"/api/commands/{name}").get_json()
    assert (before, told["state"], told["outcome_reason"]) == ("queued", "cancelled", "login_revoked")


# --- one client ---


def test_without_a_broker_a_command_is_stored_answered_and_audited(api: Api, client: str) -> None:
    answer = api.post(path_of(client), json=RESTART)

    body = answer.get_json()
    assert (answer.status_code, body["state"], body["source"]) == (202, "queued", "operator")
    assert (body["reason"], body["client_uuid"]) == ("black screen", client)
    assert body["requested_by"].startswith("token:test operator")
    assert api.get(f"/api/clients/{client}").get_json()["open_command"]["id"] == body["id"]
    assert api.get(f"/api/commands/{body['id']}").get_json() == body
    assert [item["id"] for item in api.get(path_of(client)).get_json()["items"]] == [body["id"]]
    [line] = audited(api, client)
    assert (line["action"], line["details"]["command_id"]) == ("command.restart_app", body["id"])


def test_in_flight_and_locked_out_are_conflicts_that_say_what_stands_against_it(
    api: Api, engine: Engine, client: str
) -> None:
    first = api.post(path_of(client), json=RESTART).get_json()

    busy = api.post(path_of(client), json=RESTART)
    say(engine, first, "succeeded")
    locked = api.post(path_of(client), json={"action": "reboot_host"})

    assert (busy.status_code, busy.get_json()["code"]) == (409, "command_in_flight")
    assert busy.get_json()["command_id"] == first["id"]
    assert (locked.status_code, locked.get_json()["code"]) == (409, "locked_out")
    shown = api.get(f"/api/clients/{client}").get_json()
    assert locked.get_json()["lockout_until"] == shown["lockout_until"]


def test_a_command_is_withdrawn_once_and_only_while_nobody_has_it(api: Api, engine: Engine, client: str) -> None:
    withdrawn = api.post(path_of(client), json=RESTART).get_json()
    for _ in range(2):
        answer = api.post(f"/api/commands/{withdrawn['id']}/cancel")
        assert (answer.status_code, answer.get_json()["state"]) == (200, "cancelled")
    assert api.get(f"/api/clients/{client}").get_json()["lockout_until"] is None
    heard = api.post(path_of(client), json=RESTART).get_json()
    say(engine, heard, "received")

    refused = api.post(f"/api/commands/{heard['id']}/cancel")

    assert (refused.status_code, refused.get_json()["code"]) == (409, "not_cancellable")
    assert refused.get_json()["state"] == "received"


def test_an_admin_ends_what_a_display_may_have_with_a_reason_and_it_is_audited(
    api: Api, engine: Engine, client: str
) -> None:
    heard = api.post(path_of(client), json=RESTART).get_json()
    say(engine, heard, "received")
    path = f"/api/commands/{heard['id']}/end"

    assert api.post(path, json={"reason": "it hangs"}, role="operator").status_code == 403
    assert api.post(path, json={"reason": ""}, role="admin").status_code == 400
    answer = api.post(path, json={"reason": "it hangs"}, role="admin")
    say(engine, heard, "succeeded")

    assert (answer.status_code, answer.get_json()["state"]) == (200, "timed_out")
    assert answer.get_json()["outcome_reason"].endswith(": it hangs")
    told = api.get(f"/api/commands/{heard['id']}").get_json()
    assert (told["state"], told["late_state"]) == ("timed_out", "succeeded")
    assert api.get(f"/api/clients/{client}").get_json()["open_command"] is None
    assert [line["details"]["reason"] for line in audited(api, client) if line["action"] == "command.end"] == [
        "it hangs"
    ]


REFUSED: list[tuple[str, dict[str, Any], int, str, list[str]]] = [
    ("operator", {"action": "shutdown_host"}, 403, "forbidden", []),
    ("operator", {**RESTART, "override_lockout": True}, 403, "forbidden", []),
    ("admin", {**RESTART, "override_lockout": True, "reason": " "}, 400, "invalid_field", ["reason"]),
    ("admin", {**RESTART, "ttl_seconds": 9}, 400, "invalid_field", ["ttl_seconds"]),
    ("admin", {**RESTART, "ttl_seconds": 1.5}, 400, "invalid_field", ["ttl_seconds"]),
    ("admin", {"action": "format_disk"}, 400, "invalid_field", ["action"]),
    ("admin", {}, 400, "invalid_field", ["action"]),
    ("admin", {"action": "screen_off"}, 422, "not_capable", []),
]


@pytest.mark.parametrize(("role", "body", "status", "code", "fields"), REFUSED, ids=str)
def test_a_refused_command_leaves_nothing_behind(
    api: Api, client: str, role: str, body: dict[str, Any], status: int, code: str, fields: list[str]
) -> None:
    answer = api.post(path_of(client), role, json=body)

    told = answer.get_json()
    assert (answer.status_code, told["code"]) == (status, code)
    assert [one["field"] for one in told.get("errors", [])] == fields
    assert api.get(path_of(client)).get_json()["items"] == []
    assert api.get(f"/api/clients/{client}").get_json()["lockout_until"] is None


def test_an_admin_overrides_a_lockout_to_shut_down_and_it_is_audited(api: Api, engine: Engine, client: str) -> None:
    say(engine, api.post(path_of(client), json=RESTART).get_json(), "succeeded")
    override = {"action": "shutdown_host", "override_lockout": True, "reason": "it smells"}

    assert api.post(path_of(client), "admin", json=override).status_code == 202

    newest = audited(api, client)[0]
    assert (newest["details"]["override_lockout"], newest["details"]["reason"]) == (True, "it smells")


# --- many ---


@pytest.fixture
def fleet(engine: Engine) -> list[str]:
    return [new_client(engine, boot=None, start=None, site=f"hall-{uuid.uuid4()}") for _ in range(5)]


def batch_of(answer: Any) -> str:
    assert answer.status_code == 202, answer.get_json()
    return str(answer.get_json()["batch_id"])


def test_many_clients_have_one_outcome_each_and_nothing_is_called_done(api: Api, fleet: list[str]) -> None:
    busy = api.post(path_of(fleet[1]), json=RESTART).get_json()
    nobody = str(uuid.uuid4())

    answer = api.post("/api/commands", json={**RESTART, "clients": [*fleet, nobody, fleet[0].upper()]})

    body = answer.get_json()
    assert [one["uuid"] for one in body["outcomes"]] == [*fleet, nobody]
    assert body["counts"] == {"accepted": 4, "command_in_flight": 1, "unknown_client": 1}
    accepted = [one for one in body["outcomes"] if one["outcome"] == "accepted"]
    assert {one["command"]["state"] for one in accepted} == {"queued"}
    assert busy["id"] not in {one["command"]["id"] for one in accepted}
    details = api.get(f"/api/command-batches/{batch_of(answer)}").get_json()
    assert (details["state"], details["result"], details["clients"]) == ("running", None, 6)
    assert (details["outcomes"], details["states"]) == (body["counts"], {"queued": 4})
    [line] = audited(api, body["batch_id"])
    assert (line["action"], line["details"]["command"]) == ("command_batch.send", "restart_app")


def test_the_commands_of_many_go_out_at_once_to_who_listens(
    configuration: Config, engine: Engine, broker: RunningBroker, fleet: list[str]
) -> None:
    login = {"MQTT_URL": broker.broker.services_url, "MQTT_PASSWORD": broker.passwords["api"]}
    services = Services(Config({**configuration.values, **login}), engine)
    heard = Api(create_app(services), engine)

    with listening_display(broker, fleet[2]) as got:
        outcomes = heard.post("/api/commands", json={**RESTART, "clients": fleet}).get_json()["outcomes"]
        message = got.get(timeout=60)
    services.publisher.close()

    states = {one["uuid"]: one["command"]["state"] for one in outcomes}
    assert states == {one: "sent" if one == fleet[2] else "queued" for one in fleet}
    assert outcomes[2]["command"]["id"].encode() in message.payload
    assert {one["command"]["outcome_reason"] for one in outcomes} == {None, "no_subscriber"}


def test_a_dry_run_answers_and_leaves_nothing(api: Api, fleet: list[str]) -> None:
    api.post(path_of(fleet[0]), json=RESTART)
    request = {**RESTART, "clients": fleet, "waves": [1, "50%", "rest"], "dry_run": True}

    answer = api.post("/api/commands", json=request)

    body = answer.get_json()
    assert (answer.status_code, body["batch_id"], body["counts"]) == (
        200,
        None,
        {"accepted": 4, "command_in_flight": 1},
    )
    assert [one["wave"] for one in body["outcomes"]] == [3, 1, 2, 2, 2]
    assert [api.get(path_of(one)).get_json()["items"] for one in fleet[1:]] == [[]] * 4


NOT_ACCEPTED = [
    ({}, 400, "invalid_field"),
    ({"clients": [], "filter": {"q": "x"}}, 400, "invalid_field"),
    ({"filter": {}}, 400, "invalid_field"),
    ({"clients": ["lobby"]}, 400, "invalid_field"),
    ({"clients": [], "waves": [1, "rest"]}, 422, "no_clients"),
    ({"filter": {"q": "nobody is called this"}}, 422, "no_clients"),
    ({"clients": ["00000000-0000-4000-8000-000000000001"], "waves": ["rest", 1]}, 422, "invalid_waves"),
    ({"clients": ["00000000-0000-4000-8000-000000000001"], "waves": ["half"]}, 400, "invalid_field"),
    ({"clients": ["00000000-0000-4000-8000-000000000001"], "max_unproven": "101%"}, 422, "invalid_waves"),
    ({"clients": ["00000000-0000-4000-8000-000000000001"], "action": "screenshot"}, 400, "invalid_field"),
]


@pytest.mark.parametrize(("request_body", "status", "code"), NOT_ACCEPTED, ids=str)
def test_what_makes_no_batch_is_refused_by_name(api: Api, request_body: dict[str, Any], status: int, code: str) -> None:
    answer = api.post("/api/commands", json={**RESTART, **request_body})

    assert (answer.status_code, answer.get_json()["code"]) == (status, code)


def test_to_shut_many_down_and_to_resume_that_is_for_admins(api: Api, fleet: list[str]) -> None:
    request = {"action": "shutdown_host", "clients": fleet, "waves": [1, "rest"]}
    assert api.post("/api/commands", json=request).status_code == 403
    batch = batch_of(api.post("/api/commands", "admin", json=request))

    assert api.post(f"/api/command-batches/{batch}/pause").status_code == 200  # aborting is always allowed
    assert api.post(f"/api/command-batches/{batch}/resume").status_code == 403
    assert api.post(f"/api/command-batches/{batch}/resume", "admin").get_json()["state"] == "running"
    assert api.post(f"/api/command-batches/{batch}/abort").get_json()["state"] == "aborted"
    words = [line["action"] for line in audited(api, batch)]
    assert words == ["command_batch.abort", "command_batch.resume", "command_batch.pause", "command_batch.send"]


def test_a_staged_batch_is_paused_by_its_first_wave_resumed_and_ends_partial(
    api: Api, engine: Engine, fleet: list[str]
) -> None:
    batch = batch_of(api.post("/api/commands", json={**RESTART, "clients": fleet, "waves": [1, "rest"]}))
    path = f"/api/command-batches/{batch}"
    finish(api, engine, path, "failed")
    batches.work_off(engine, TIMINGS, 5.0)
    paused = api.get(path).get_json()
    assert (paused["state"], paused["unproven"], paused["result"]) == ("paused", 1, None)
    assert paused["state_reason"] == "1 of 1 command ended unproven, more than 10%; 4 were not sent."

    resumed = api.post(f"{path}/resume").get_json()
    assert (resumed["state"], resumed["wave"], resumed["outcomes"]) == ("running", 2, {"accepted": 5})
    assert [(one["number"], one["clients"]) for one in resumed["by_wave"]] == [(1, 1), (2, 4)]
    finish(api, engine, path, "succeeded")
    batches.work_off(engine, TIMINGS, 5.0)

    over = api.get(path).get_json()
    assert (over["state"], over["result"], over["states"]) == ("finished", "partial", {"failed": 1, "succeeded": 4})
    late = api.post(f"{path}/abort")
    assert (late.status_code, late.get_json()["code"]) == (409, "command_batch_over")


def finish(api: Api, engine: Engine, path: str, word: str) -> None:
    """End every open command of the batch with this state."""
    for one in api.get(f"{path}?limit=100").get_json()["members"]["items"]:
        if one["command"] is not None and one["command"]["finished_at"] is None:
            say(engine, {"client_uuid": one["uuid"], "id": one["command"]["id"]}, word)


def test_members_and_batches_come_in_pages(api: Api, fleet: list[str]) -> None:
    made = [batch_of(api.post("/api/commands", json={**RESTART, "clients": fleet})) for _ in range(3)]
    path = f"/api/command-batches/{made[0]}"

    first = api.get(f"{path}?limit=3").get_json()["members"]
    rest = api.get(f"{path}?limit=3&cursor={first['next_cursor']}").get_json()["members"]
    assert [one["uuid"] for one in (*first["items"], *rest["items"])] == fleet
    assert rest["next_cursor"] is None
    assert api.get(f"{path}?outcome=waiting").get_json()["members"]["items"] == []

    newest = api.get("/api/command-batches?limit=2").get_json()
    older = api.get(f"/api/command-batches?limit=1&cursor={newest['next_cursor']}").get_json()
    assert [one["id"] for one in (*newest["items"], *older["items"])] == made[::-1]


def test_locked_clients_say_until_when(api: Api, engine: Engine, fleet: list[str]) -> None:
    with transaction(engine) as connection:
        until = database_now(connection) + seconds(300)
        connection.execute(sa.update(clients).where(clients.c.uuid == fleet[0]).values(lockout_until=until))

    outcomes = api.post("/api/commands", json={**RESTART, "clients": fleet[:1]}).get_json()["outcomes"]

    shown = api.get(f"/api/clients/{fleet[0]}").get_json()["lockout_until"]
    assert [(one["outcome"], one["lockout_until"], one["command"]) for one in outcomes] == [("locked_out", shown, None)]


@pytest.fixture(autouse=True)
def _no_batch_is_left_running(engine: Engine) -> Iterator[None]:
    yield
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE command_batches SET state = 'aborted' WHERE state = 'running'"))


# --- screens ---


def test_a_screen_is_switched_alone_and_for_many_at_once(api: Api, engine: Engine, client: str) -> None:
    able = new_client(engine, capabilities=["screen_on", "screen_off"])
    off = {"action": "screen_off", "reason": "a quiet evening"}

    assert api.post(path_of(able), json=off).status_code == 202
    assert [line["action"] for line in audited(api, able)] == ["command.screen_off"]
    batch = api.post("/api/commands", json={"action": "screen_on", "clients": [able, client]})
    assert Counter(one["outcome"] for one in batch.get_json()["outcomes"]) == {
        "command_in_flight": 1,
        "not_capable": 1,
    }


def test_a_client_shows_whose_plan_its_dark_screen_is_and_whether_it_keeps_its_hours(api: Api, engine: Engine) -> None:
    plain = new_client(engine)
    planned = new_client(
        engine, screen_health="off", screen_off_by="hours", hours_wanted="b", hours_version="a", presence="online"
    )

    def shown(uuid: str) -> tuple[str | None, bool | None]:
        told = api.get(f"/api/clients/{uuid}").get_json()
        return told["screen_off_by"], told["keeps_hours"]

    assert shown(plain) == (None, None)
    assert shown(planned) == ("hours", False)
