"""Slow senders cannot occupy all threads of the api function."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import Engine

from functions.api.turns import UPLOADS
from shared.vocabulary import Role
from tests.api.people import Api, issue_token
from tests.api.test_uploads_in_parts import FILM, TUS, Turnstile, create, send, send_slowly

PART = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}


def test_one_caller_has_so_many_uploads_at_once_and_others_have_theirs(api: Api) -> None:
    *places, others, last = (create(api).headers["Location"] for _ in range(UPLOADS.most_of_one + 2))
    bodies = [Turnstile(FILM) for _ in places]

    with ThreadPoolExecutor(UPLOADS.most_of_one) as pool:
        slow = [pool.submit(send_slowly, api, place, body) for place, body in zip(places, bodies, strict=True)]
        try:
            assert all(body.halfway.wait(60) for body in bodies)
            one_more = send(api, last, 0, FILM)
            somebody_else = api.patch(others, "admin", headers=PART, data=FILM)
        finally:
            for body in bodies:
                body.go_on.set()
        assert [sent.result(60).status_code for sent in slow] == [204] * UPLOADS.most_of_one

    assert (one_more.status_code, one_more.get_json()["code"]) == (429, "too_many_uploads")
    assert int(one_more.headers["Retry-After"]) > 0
    assert somebody_else.status_code == 204
    assert send(api, last, 0, FILM).status_code == 204


def test_all_callers_together_have_so_many_uploads_at_once(api: Api, engine: Engine) -> None:
    tokens = [issue_token(engine, Role.OPERATOR) for _ in range(UPLOADS.most // UPLOADS.most_of_one)]
    *places, last = (create(api).headers["Location"] for _ in range(UPLOADS.most + 1))
    bodies = [Turnstile(FILM) for _ in places]

    with ThreadPoolExecutor(UPLOADS.most) as pool:
        slow = [
            pool.submit(api.patch, place, token=tokens[number // UPLOADS.most_of_one], headers=PART, input_stream=body)
            for number, (place, body) in enumerate(zip(places, bodies, strict=True))
        ]
        try:
            assert all(body.halfway.wait(60) for body in bodies)
            one_more = send(api, last, 0, FILM)
            of_a_stranger = api.patch(last, None, headers=PART, data=FILM)
        finally:
            for body in bodies:
                body.go_on.set()
        assert [sent.result(60).status_code for sent in slow] == [204] * UPLOADS.most

    assert (one_more.status_code, one_more.get_json()["code"]) == (429, "too_many_uploads")
    assert of_a_stranger.status_code == 401
    assert send(api, last, 0, FILM).status_code == 204
