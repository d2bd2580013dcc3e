"""An Idempotency-Key that is used again: the same request has one effect, another one is refused, whoever sees what."""

import secrets
import threading
from typing import Any, Final

import pytest
from sqlalchemy import Engine

from shared.vocabulary import Role
from tests.api.people import Api
from tests.api.site_world import planned, token_for
from tests.stores.commands_world import new_client

RESTART: Final = {"action": "restart_app", "reason": "black"}
HOLD: Final = {"preset": "hold", "reason": "painted", "scope": "clients"}
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

    def __init__(self, api: Api, engine: Engine) -> None:
        self.api, self.key, self.site = api, secrets.token_hex(8), f"Site {secrets.token_hex(4)}"
        self.first, self.second = (new_client(engine, site=self.site, capabilities=["restart_app"]) for _ in range(2))
        self.token = token_for(engine, Role.OPERATOR, [self.site])

    def ask(self, kind: str, display: str) -> tuple[int, Any]:
        """Status of the answer, and the id of what was made or the code of the refusal."""
        path, body = asked(kind, display)
        answer = self.api.post(path, None, token=self.token, json=body, headers={"Idempotency-Key": self.key})
        said = answer.get_json()
        return answer.status_code, said.get("id") or said.get("batch_id") or said.get("code")


@pytest.fixture
def caller(api: Api, engine: Engine) -> Caller:
    return Caller(api, engine)


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

    assert other == (422, "idempotency_key_reused")
    assert same == ((403, "site_not_allowed") if has_moved else (status, made))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_request_four_times_at_once_has_one_effect(caller: Caller, kind: str) -> None:
    answers: list[tuple[int, Any]] = []
    callers = [threading.Thread(target=lambda: answers.append(caller.ask(kind, caller.first))) for _ in range(4)]

    for one in callers:
        one.start()
    for one in callers:
        one.join()

    assert len(answers) == 4
    assert len(set(answers)) == 1
    assert answers[0][0] in {201, 202}
