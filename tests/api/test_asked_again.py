"""An Idempotency-Key that is used again: the same request has one effect, another one is refused, whoever sees what."""

import json
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from shared.access import idempotency_store
from shared.postgres.fragments import MAKERS
from shared.vocabulary import Role
from tests.api.people import Api
from tests.api.site_world import planned, token_for
from tests.stack import eventually
from tests.stores.commands_world import new_client
from tests.stores.test_commands_races import at_once

RESTART: Final = {"action": "restart_app", "reason": "black"}
HOLD: Final = {"preset": "hold", "reason": "painted", "scope": "clients"}
WAITS: Final = sa.text(
    """
    SELECT EXISTS (SELECT FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database())
    """
)
KINDS: Final = ("command", "batch", "schedule", "quiet time")


def asked(kind: str, display: str) -> tuple[str, dict[str, Any]]:
    """Path and body of a request of this kind about this display."""
    requests: dict[str, tuple[str, dict[str, Any]]] = {
        "command": (f"/api/clients/{display}/commands", RESTART),
        "batch": ("/api/commands", {**RESTART, "clients": [display]}),
        "schedule": ("/api/schedules", planned(clients=[display])),
        "quiet time": ("/api/quiet-times", {**HOLD, "clients": [display]}),
    }
    return requests[kind]


class Caller:
    """A script of one site, with a key that it uses again and again, and two displays there."""

    def __init__(self, api: Api, engine: Engine, key: str) -> None:
        self.api, self.key, self.site = api, key, f"Site {secrets.token_hex(4)}"
        self.first, self.second = (new_client(engine, site=self.site, capabilities=["restart_app"]) for _ in range(2))
        self.token = token_for(engine, Role.OPERATOR, [self.site])

    def ask(self, kind: str, display: str, **more: str) -> tuple[int, Any]:
        """Status of the answer, and the id of what was made or the code of the refusal."""
        path, body = asked(kind, display)
        answer = self.api.post(
            path, None, token=self.token, json={**body, **more}, headers={"Idempotency-Key": self.key}
        )
        said = answer.get_json()
        return answer.status_code, said.get("id") or said.get("batch_id") or said.get("code")

    def audited(self) -> int:
        """How many changes by this caller stand in the audit log."""
        lines = self.api.get("/api/audit?limit=100", "admin").get_json()["items"]
        return sum(self.site in line["actor"] and line["result"] == "done" for line in lines)


@pytest.fixture
def caller(api: Api, engine: Engine) -> Caller:
    return Caller(api, engine, secrets.token_hex(8))


@pytest.mark.parametrize("has_moved", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_another_request_is_refused_also_after_its_display_moved(
    caller: Caller, kind: str, *, has_moved: bool
) -> None:
    status, made = caller.ask(kind, caller.first)
    assert status in {201, 202}
    if has_moved:
        caller.api.patch(f"/api/clients/{caller.first}", json={"site": "Elsewhere"})

    other, same = caller.ask(kind, caller.second), caller.ask(kind, caller.first)

    assert other == caller.ask(kind, caller.first, reason="another") == (422, "idempotency_key_reused")
    assert same == ((403, "site_not_allowed") if has_moved else (status, made))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_request_eight_times_at_once_has_one_effect(caller: Caller, kind: str) -> None:
    answers = at_once([partial(caller.ask, kind, caller.first)] * 8)

    assert len(set(answers)) == 1
    assert answers[0][0] in {201, 202}
    assert caller.audited() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_one_key_for_two_displays_at_once_is_refused_once(caller: Caller, kind: str) -> None:
    answers = at_once([partial(caller.ask, kind, display) for display in (caller.first, caller.second)])

    [made, refused] = sorted(answers)
    assert made[0] in {201, 202}
    assert refused == (422, "idempotency_key_reused")
    assert caller.audited() == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_belongs_to_its_caller(caller: Caller, engine: Engine, kind: str) -> None:
    mine, somebody = caller.ask(kind, caller.first), Caller(caller.api, engine, caller.key)

    theirs = somebody.ask(kind, somebody.first)

    assert theirs[0] == mine[0]
    assert theirs[1] != mine[1]


def test_a_request_waits_while_another_one_with_its_key_runs(caller: Caller, engine: Engine) -> None:
    actor = sa.text(f"SELECT actor FROM {MAKERS} WHERE sites = :sites")
    with ThreadPoolExecutor(1) as other, engine.connect() as first:
        of_caller = first.execute(actor, {"sites": [caller.site]}).scalar_one()
        idempotency_store.first(first, "client_commands", of_caller, caller.key)
        answer = other.submit(caller.ask, "command", caller.first)
        eventually(lambda: first.execute(WAITS).scalar_one(), "the request waits")
        first.rollback()

    assert answer.result()[0] == 202


def test_what_is_forbidden_since_does_not_change_the_answer(caller: Caller, engine: Engine) -> None:
    display = new_client(engine, site=caller.site, capabilities=["screenshot"])
    asked_first = caller.ask("command", display, action="screenshot")
    assert asked_first[0] == 202

    caller.api.ask("PUT", "/api/screenshot-policy", json={"site": caller.site, "allowed": False})

    assert caller.ask("command", display, action="screenshot") == asked_first


def test_a_refused_request_leaves_its_key_unused(caller: Caller) -> None:
    path, _ = asked("command", caller.first)
    in_the_way = caller.api.post(path, json=RESTART).get_json()["id"]
    assert caller.ask("command", caller.first) == (409, "command_in_flight")

    caller.api.post(f"/api/commands/{in_the_way}/cancel")

    assert caller.ask("command", caller.second)[0] == 202


def test_the_order_of_the_fields_makes_no_other_request(caller: Caller) -> None:
    path, body = asked("command", caller.first)
    headers = {"Idempotency-Key": caller.key, "Content-Type": "application/json"}

    ids = {
        caller.api.post(path, token=caller.token, data=json.dumps(dict(fields)), headers=headers).get_json()["id"]
        for fields in (body.items(), reversed(body.items()))
    }

    assert len(ids) == 1


@pytest.mark.parametrize("key", ["", "k" * 201])
def test_a_key_has_one_to_200_characters(caller: Caller, key: str) -> None:
    caller.key = key

    assert caller.ask("command", caller.first) == (400, "invalid_field")
