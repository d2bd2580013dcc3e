"""How a display sends pictures: one on request, the last ten after a failure, and to which addresses it never sends."""

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest

from displays.client import contract, screenshots
from displays.client.credentials import Credentials
from displays.client.screenshots import NoPicture, Screenshots, can_send
from tests.receivers import Posted, Receiver, receiver

PICTURE = b"\xff\xd8 a picture \xff\xd9"
LOGIN = Credentials("u-1", "u-1", "secret", "broker", 8883, tls=True, ca_pem=None, topic_root="signage")
TAKEN = (201, dict[str, str]())


@pytest.fixture
def service() -> Iterator[Receiver]:
    with receiver() as server:
        server.answer = lambda _: TAKEN
        yield server


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screenshots, "OFFER_AFTER", (0.01, 0.01, 0.01))
    monkeypatch.setattr(screenshots, "AGAIN_SECONDS", 0.01)


async def picture() -> bytes:
    return PICTURE


async def no_picture() -> bytes:
    raise NoPicture("the page of the player has crashed")


def of(service: Receiver) -> Screenshots:
    port = urlsplit(service.url).port
    return Screenshots(replace(LOGIN, url=f"http://127.0.0.1:{port}"), picture)


def asked(posted: Posted) -> dict[str, list[str]]:
    return parse_qs(urlsplit(posted.path).query)


def test_a_picture_goes_to_the_address_of_enrolment_under_the_displays_login(service: Receiver) -> None:
    assert asyncio.run(of(service).answer("c-1")) is None

    [posted] = service.posted
    assert posted.path == "/api/display/screenshots/c-1?age_seconds=0"
    assert posted.body == PICTURE
    assert posted.headers["content-type"] == "image/jpeg"
    assert base64.b64decode(posted.headers["authorization"].removeprefix("Basic ")) == b"u-1:secret"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_cannot_now_is_asked_again(service: Receiver, status: int) -> None:
    service.answer = lambda _: TAKEN if len(service.posted) == 3 else (status, {})

    assert asyncio.run(of(service).answer("c-1")) is None
    assert len(service.posted) == 3


@pytest.mark.parametrize("status", [401, 403, 409, 413])
def test_a_refusal_is_the_reason_and_is_not_tried_again(service: Receiver, status: int) -> None:
    service.answer = lambda _: (status, {})

    assert asyncio.run(of(service).answer("c-1")) == f"HTTP {status}"
    assert len(service.posted) == 1


def test_a_redirection_is_not_followed_with_the_login(service: Receiver) -> None:
    with receiver() as elsewhere:
        service.answer = lambda _: (307, {"Location": elsewhere.url})

        assert asyncio.run(of(service).answer("c-1")) == "HTTP 307"
        assert elsewhere.posted == []


def test_without_a_service_or_a_picture_the_reason_says_so() -> None:
    nobody = Screenshots(replace(LOGIN, url="http://127.0.0.1:9"), picture)
    blind = Screenshots(replace(LOGIN, url="http://127.0.0.1:9"), no_picture)

    assert str(asyncio.run(nobody.answer("c-1"))).startswith("the service cannot be reached: ")
    assert asyncio.run(blind.answer("c-1")) == "the page of the player has crashed"


@pytest.mark.parametrize(
    ("url", "tls", "may"),
    [
        ("https://signage.example.org", True, True),
        ("https://signage.example.org", False, True),
        ("http://127.0.0.1:8080", True, True),
        ("http://10.0.0.1", False, True),
        ("http://signage.example.org", True, False),  # the password would be sent unencrypted
        ("", True, False),
        ("ftp://signage.example.org", False, False),
    ],
)
def test_a_password_of_tls_is_never_sent_without_it(url: str, tls: bool, may: bool) -> None:
    assert can_send(replace(LOGIN, url=url, tls=tls)) is may


# --- after a failure ---


def filled(sender: Screenshots, count: int) -> None:
    for number in range(count):
        sender.keep(partial(bytes, str(number), "ascii"))


def test_the_last_ten_are_offered_after_a_failure_the_newest_first(service: Receiver) -> None:
    sender = of(service)
    filled(sender, contract.PICTURES_KEPT + 2)

    asyncio.run(sender.offer())

    assert [asked(posted)["place"] for posted in service.posted] == [[str(n)] for n in range(1, 11)]
    assert [posted.body for posted in service.posted] == [b"%d" % n for n in range(11, 1, -1)]


def test_while_the_service_has_not_heard_of_the_failure_they_are_offered_again(service: Receiver) -> None:
    service.answer = lambda _: TAKEN if len(service.posted) > 2 else (409, {})
    sender = of(service)
    filled(sender, 2)

    asyncio.run(sender.offer())

    assert [asked(posted)["place"][0] for posted in service.posted] == ["1", "1", "1", "2"]


def test_after_a_break_the_rest_follows(service: Receiver) -> None:
    service.answer = lambda _: (500, {}) if len(service.posted) == 2 else TAKEN
    sender = of(service)
    filled(sender, 3)

    asyncio.run(sender.offer())

    assert [asked(posted)["place"][0] for posted in service.posted] == ["1", "2", "2", "3"]


@pytest.mark.parametrize(("status", "times"), [(409, 3), (403, 1), (401, 1), (415, 1)])
def test_a_service_that_wants_none_is_left_alone(service: Receiver, status: int, times: int) -> None:
    service.answer = lambda _: (status, {})
    sender = of(service)
    filled(sender, 5)

    asyncio.run(sender.offer())

    assert len(service.posted) == times


def test_two_failures_at_once_offer_the_same_pictures_once(service: Receiver) -> None:
    sender = of(service)
    filled(sender, 2)

    async def twice() -> None:
        await asyncio.gather(sender.offer(), sender.offer())

    asyncio.run(twice())

    assert len(service.posted) == 2


def test_what_cannot_be_taken_is_not_kept(service: Receiver) -> None:
    sender = of(service)

    async def looks() -> list[bool]:
        return [await sender.keep_taken(no_picture), await sender.keep_taken(picture)]

    assert asyncio.run(looks()) == [False, True]
    asyncio.run(sender.offer())
    assert [posted.body for posted in service.posted] == [PICTURE]
