"""Code of today, put back after later code: a command whose action it does not know is shown as it is."""

import re

import pytest
from sqlalchemy import Engine

from functions.api.routes import ALL
from shared.postgres.door import database_now
from shared.vocabulary import CommandState
from tests.api.people import Api
from tests.stores.later_code import ACTION, SOURCE, Later, leave

READ = [endpoint.path for routes in ALL for endpoint in routes.endpoints if endpoint.method == "GET"]
SHOW_IT = {
    "/api/clients",
    "/api/clients/crashed",
    "/api/clients/<uuid:uuid>",
    "/api/clients/<uuid:uuid>/commands",
    "/api/clients/<uuid:uuid>/events",
    "/api/commands/<uuid:command_id>",
    "/api/command-batches",
    "/api/command-batches/<uuid:batch_id>",
    "/api/monitoring/overview",
}


@pytest.fixture(scope="module")
def later(engine: Engine) -> Later:
    with engine.begin() as connection:
        return leave(connection, database_now(connection))


@pytest.mark.parametrize("path", READ)
@pytest.mark.parametrize("state", [CommandState.QUEUED, CommandState.RUNNING])
def test_every_route_answers_as_before(api: Api, later: Later, path: str, state: CommandState) -> None:
    ids = {"uuid": later.clients[state], "command_id": later.commands[state], "batch_id": later.batch}
    there = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: ids.get(match[1], "999999999"), path)

    answer = api.get(there, role="admin")

    assert answer.status_code != 500
    if path in SHOW_IT:
        assert ACTION in answer.get_data(as_text=True)


def test_a_command_says_its_words_and_keeps_others_from_its_client(api: Api, later: Later) -> None:
    state = CommandState.QUEUED
    shown = api.get(f"/api/commands/{later.commands[state]}").get_json()
    refused = api.post(f"/api/clients/{later.clients[state]}/commands", json={"action": "restart_app"})

    assert (shown["action"], shown["source"], shown["state"]) == (ACTION, SOURCE, "queued")
    assert (refused.status_code, refused.get_json()["command_id"]) == (409, later.commands[state])


def test_it_can_be_withdrawn_and_ended_and_never_asked_for(api: Api, later: Later) -> None:
    ended = api.post(f"/api/commands/{later.commands[CommandState.RECEIVED]}/end", "admin", json={"reason": "odd"})
    withdrawn = api.post(f"/api/commands/{later.commands[CommandState.QUEUED]}/cancel")
    asked = api.post(f"/api/clients/{later.clients[CommandState.FAILED]}/commands", json={"action": ACTION})

    assert (ended.status_code, ended.get_json()["state"]) == (200, "timed_out")
    assert (withdrawn.status_code, withdrawn.get_json()["state"]) == (200, "cancelled")
    told = withdrawn.get_json()
    by = told["outcome_words"].removeprefix("cancelled by ")
    assert told["outcome_reason"].startswith(f"cancelled by token:{by}#")
    assert asked.status_code == 400


def test_its_batch_waits_for_later_code_or_is_aborted_by_a_person(api: Api, later: Later) -> None:
    path = f"/api/command-batches/{later.batch}"

    assert api.post(f"{path}/pause").status_code == 200
    assert api.post(f"{path}/resume").status_code == 403
    assert api.post(f"{path}/resume", role="admin").get_json()["outcomes"] == {"waiting": 1}
    assert api.post(f"{path}/abort").get_json()["outcomes"] == {"aborted": 1}
