"""Crowds at the doors of the API hold few of its threads and pay for no work; nobody else is held up."""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from flask import Flask
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from deploy.parts.machine import FUNCTION_THREADS
from deploy.parts.probes import wait_until
from functions.api import turns
from functions.api.routes import ALL
from functions.api.routing import PUBLIC, Endpoint
from functions.api.turns import ENROLMENT, PEOPLE, STRANGERS, Turns
from shared.access import operations as access
from shared.errors import Busy, ServiceError, TooManyRequests
from shared.outside.people_provider import AT_ONCE
from tests.api.people import OURS, PASSWORD, Api, add_user, ask_by_cookie, cookie_of, new_address, sign_in
from tests.api.test_uploads_in_parts import Turnstile

ENDPOINTS = [endpoint for routes in ALL for endpoint in routes.endpoints]
BEHIND_TURNS = [endpoint for endpoint in ENDPOINTS if endpoint.turns]
TAKE_THEIR_OWN = {"sign_in", "answer_screenshot", "send_earlier_screenshot"}  # once they know whose turn it is
AT_THE_PROVIDER = {"begin_at_provider", "come_back_from_provider"}  # tests/rules/test_people_provider.py
CHEAP = {"live", "ready", "show_method"}  # without a statement, or with an answer that is kept
SOME_ID = "00000000-0000-4000-8000-000000000009"


def test_all_turns_together_leave_threads_for_everybody_else() -> None:
    assert sum(each.most for each in turns.ALL) + AT_ONCE < int(FUNCTION_THREADS)


def test_every_door_that_strangers_find_open_has_turns_or_costs_little() -> None:
    without = {endpoint.name for endpoint in ENDPOINTS if endpoint.role is PUBLIC and endpoint.turns is None}

    assert without == TAKE_THEIR_OWN | AT_THE_PROVIDER | CHEAP


@contextmanager
def taken(of: Turns, by: Callable[[int], str]) -> Iterator[type[ServiceError]]:
    """Take every turn that these callers get. Yields why the next one is refused."""
    with ExitStack() as stack:
        for number in range(of.most + 1):
            try:
                stack.enter_context(of.turn(by(number)))
            except ServiceError as refusal:
                yield type(refusal)
                return


def ask_at(api: Api, endpoint: Endpoint, address: str) -> TestResponse:
    """A request that is refused before anybody reads what it says: no field of its body is right."""
    path = re.sub(r"<id:\w+>", "1", re.sub(r"<(?!id:)[^>]+>", SOME_ID, endpoint.path))
    role = None if endpoint.role is PUBLIC else "admin"
    body = {} if endpoint.body is None else {"json": {"wrong": 1}}
    return api.ask(endpoint.method, path, role, headers={"X-Forwarded-For": address}, **body)


@pytest.mark.parametrize("endpoint", BEHIND_TURNS, ids=lambda endpoint: endpoint.name)
def test_who_gets_no_turn_is_told_to_come_back_before_the_body_is_judged(api: Api, endpoint: Endpoint) -> None:
    assert endpoint.turns is not None

    with taken(endpoint.turns, str) as refusal:
        answer = ask_at(api, endpoint, new_address())

    assert answer.status_code in {429, 503}
    assert (answer.get_json()["code"], answer.headers["Retry-After"]) == (refusal.code, "5")
    assert ask_at(api, endpoint, new_address()).get_json()["code"] != refusal.code


def test_a_callers_own_crowd_leaves_turns_for_others(api: Api) -> None:
    [enrol] = [endpoint for endpoint in BEHIND_TURNS if endpoint.path == "/api/enroll"]

    with taken(ENROLMENT, lambda _: "2001:db8:1:2::/64") as refusal:
        of_the_crowd = ask_at(api, enrol, "2001:db8:1:2:3:4:5:6")
        of_another = ask_at(api, enrol, "2001:db8:1:3::1")

    assert refusal is TooManyRequests
    assert (of_the_crowd.status_code, of_the_crowd.get_json()["code"]) == (429, "too_many_requests")
    assert (of_another.status_code, of_another.get_json()["code"]) == (400, "invalid_field")


def test_a_turn_ends_with_its_request_and_callers_are_forgotten() -> None:
    few = Turns(1, 2)
    for number in range(5):
        with few.turn(str(number)), taken(few, lambda at: f"another {at}") as refusal:
            assert refusal is Busy

    assert len(few._under_way) == 0


def test_who_sends_a_body_slowly_keeps_no_turn_from_others(api: Api) -> None:
    [enrol] = [endpoint for endpoint in BEHIND_TURNS if endpoint.path == "/api/enroll"]
    bodies = [Turnstile(b'{"wrong": "' + b"x" * 4000 + b'"}') for _ in range(ENROLMENT.most)]
    kind = {"content_type": "application/json", "headers": {"X-Forwarded-For": new_address()}}
    with ThreadPoolExecutor(ENROLMENT.most) as pool:
        slow = [pool.submit(api.post, "/api/enroll", None, input_stream=body, **kind) for body in bodies]
        try:
            assert all(body.halfway.wait(60) for body in bodies)
            answer = ask_at(api, enrol, new_address())
        finally:
            for body in bodies:
                body.go_on.set()
        assert {sent.result(60).status_code for sent in slow} <= {400, 429, 503}

    assert answer.status_code == 400


# --- passwords, which take long on purpose ---


@contextmanager
def no_password_is_hashed() -> Iterator[None]:
    """Keep both places of hashing occupied for the length of the block."""
    with access._HASHING, access._HASHING:
        yield


def under_way(of: Turns) -> int:
    return of._under_way.total()


def test_strangers_with_wrong_passwords_hold_few_threads_and_no_turns_of_people(
    app: Flask, api: Api, engine: Engine, anna: str
) -> None:
    home, crowd, other = new_address(), 30, f"ben-{anna}"
    assert sign_in(app, anna, address=home).status_code == 201
    add_user(engine, other)
    cookie = cookie_of(sign_in(app, other))
    sign_in(app, "nobody", "wrong")  # the hash of nobody is made once

    with ThreadPoolExecutor(crowd + 2) as pool:
        with no_password_is_hashed():
            strangers = [pool.submit(sign_in, app, "nobody", "wrong") for _ in range(crowd)]
            wait_until(lambda: sum(one.done() for one in strangers) == crowd - STRANGERS.most, 20)
            turned_away = [one.result() for one in strangers if one.done()]
            waiting = [one for one in strangers if not one.done()]
            assert under_way(STRANGERS) == STRANGERS.most

            at_home = pool.submit(sign_in, app, anna, PASSWORD, home)
            wait_until(lambda: under_way(PEOPLE) == 1, 20)
            body = {"current_password": PASSWORD, "new_password": "another horse battery"}
            change = pool.submit(
                app.test_client(use_cookies=False).post,
                "/api/users/me/password",
                json=body,
                headers={"Cookie": f"signage_session={cookie}", **OURS},
            )
            wait_until(lambda: under_way(PEOPLE) == 2, 20)
            assert ask_by_cookie(app, "GET", "/api/session", cookie).status_code == 200
            assert api.get("/api/clients").status_code == 200

        assert [one.result(60).status_code for one in waiting] == [401] * STRANGERS.most
        assert at_home.result(60).status_code == 201
        assert change.result(60).status_code == 204

    assert {(one.status_code, one.get_json()["code"], one.headers["Retry-After"]) for one in turned_away} == {
        (503, "busy", "5")
    }
