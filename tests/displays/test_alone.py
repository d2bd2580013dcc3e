"""A machine that nothing answers: what it does, that the disk counts it, and what counts as an answer."""

import asyncio
import contextlib
import http.server
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.parts.probes import free_port
from displays.agent import vitals
from displays.agent.heal import Healer, gateway_answers, load, save, something_answers
from displays.agent.heal_rules import ALONE_SECONDS, Budget, Step
from displays.client.credentials import Credentials
from displays.client.link import Link
from tests.deploy.certificates import Authority, listening
from tests.displays.gateways import served


def login(url: str, **more: str) -> Credentials:
    return Credentials("u", "u", "secret", "127.0.0.1", 1, tls=True, ca_pem=None, topic_root="signage", url=url, **more)


def healer(path: Path, done: list[Step], *, is_on: bool = True) -> Healer:
    async def carry(step: Step) -> None:
        done.append(step)

    return Healer(path, login("http://127.0.0.1:9"), lambda: False, carry, is_on=is_on)


def alone_for(one: Healer, quarters: int) -> None:
    """So many quarters of an hour, a look at each minute."""
    for minute in range(1, 15 * quarters + 1):
        asyncio.run(one.look(minute * 60.0, "2026-03-01"))


def test_hours_alone_are_one_restart_of_the_network_and_three_reboots(tmp_path: Path) -> None:
    done: list[Step] = []
    for _ in range(6):  # each reboot is another start of the agent
        alone_for(healer(tmp_path / "heal.json", done), 2)

    assert done.count(Step.REBOOT) == 3
    assert done[:4] == [Step.RESTART_NETWORK, Step.REBOOT] * 2
    assert load(tmp_path / "heal.json").reboots == 3


def test_a_display_whose_owner_wants_no_healing_does_nothing(tmp_path: Path) -> None:
    done: list[Step] = []

    alone_for(healer(tmp_path / "heal.json", done, is_on=False), 4)

    assert done == []


def test_a_reboot_that_cannot_be_counted_is_not_done(tmp_path: Path) -> None:
    done: list[Step] = []

    alone_for(healer(tmp_path / "no folder" / "heal.json", done), 4)

    assert done == [Step.RESTART_NETWORK]


def test_a_reboot_that_is_refused_is_asked_for_again_after_a_quarter_of_an_hour(tmp_path: Path) -> None:
    done: list[Step] = []

    alone_for(healer(tmp_path / "heal.json", done), 3)

    assert done == [Step.RESTART_NETWORK, Step.REBOOT, Step.REBOOT]
    assert ALONE_SECONDS == 15 * 60


@pytest.mark.parametrize("content", ["", "{", "[]", '{"day": 1}', '{"day": "x", "more": 1}'])
def test_a_damaged_budget_is_one_of_which_nothing_was_spent(tmp_path: Path, content: str) -> None:
    (tmp_path / "heal.json").write_text(content)

    assert load(tmp_path / "heal.json").used("2026-03-01") == 0


def test_a_budget_survives(tmp_path: Path) -> None:
    save(tmp_path / "heal.json", Budget("2026-03-01", 2))

    assert load(tmp_path / "heal.json") == Budget("2026-03-01", 2)


def test_an_answer_on_another_day_forgets_the_reboots_of_a_wrong_clock(tmp_path: Path) -> None:
    path = tmp_path / "heal.json"
    save(path, Budget("2036-11-29", 3))

    healer(path, []).heard(0.0, "2026-11-29")

    assert load(path) == Budget()


# --- what counts as an answer ---


class Deaf(http.server.BaseHTTPRequestHandler):
    """A gateway whose service is away."""

    def do_HEAD(self) -> None:  # http.server's name
        self.send_response(502)
        self.end_headers()


UNTRUSTED = {  # lifetime and beginning of its certificate, whether its authority is trusted, what people are told
    "expired": (timedelta(hours=-1), timedelta(days=-2), True, r"expired \(it is \d{4}-.* UTC here\)"),
    "not yet valid": (timedelta(hours=2), timedelta(hours=1), True, r"not yet valid \(it is \d{4}-.* UTC here\)"),
    "of a stranger": (timedelta(hours=1), timedelta(days=-2), False, "certificate signature failure"),
}


@contextlib.contextmanager
def untrusted(folder: Path, kind: str) -> Iterator[Credentials]:
    """The login of a display whose gateway and broker show a certificate that it does not trust."""
    lifetime, begins, is_ours, _ = UNTRUSTED[kind]
    (folder / "other").mkdir()
    with listening(folder, lifetime, -begins) as door:
        authority = folder / "ca.pem" if is_ours else Authority(folder / "other").ca_file
        known, port = login(f"https://127.0.0.1:{door.address[1]}"), door.address[1]
        yield replace(known, port=port, ca_pem=authority.read_text())


def alone_at(moments: Iterable[float], known: Credentials, folder: Path) -> list[Step]:
    """What displays do that connect to nothing from these moments of their day on, each looking for an hour."""
    done: list[Step] = []

    async def carry(step: Step) -> None:
        done.append(step)

    async def looks() -> None:
        for number, moment in enumerate(moments):
            one = Healer(folder / f"heal-{number}.json", known, lambda: False, carry)
            one.heard(moment, "2026-11-28")
            for quarter in range(1, 5):
                await one.look(moment + quarter * ALONE_SECONDS, "2026-11-28")

    asyncio.run(looks())
    return done


def test_a_certificate_that_expires_reboots_none_of_a_thousand_displays(tmp_path: Path) -> None:
    rng = random.Random(7)
    with untrusted(tmp_path, "expired") as known:
        assert alone_at((rng.uniform(0, 86_400) for _ in range(1_000)), known, tmp_path) == []

    assert Step.REBOOT in alone_at([0.0], login("http://127.0.0.1:9"), tmp_path), "those that nothing answers do"


# paho leaves the socket of a failed handshake to the garbage collector
@pytest.mark.filterwarnings("ignore:.*<ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", UNTRUSTED)
def test_whoever_shows_an_untrusted_certificate_answers_and_the_status_says_why(tmp_path: Path, kind: str) -> None:
    async def trouble(known: Credentials) -> str:
        link = Link(known, Nobody(), random.Random(7))
        link.open()
        async with asyncio.timeout(60):
            while not link.trouble:  # noqa: ASYNC110 - it has no event for this
                await asyncio.sleep(0.01)
        await link.close("stopped")
        return link.trouble

    with untrusted(tmp_path, kind) as known:
        assert asyncio.run(gateway_answers(known))
        said = asyncio.run(trouble(known))

    assert re.search(f"its certificate is not trusted: .*{UNTRUSTED[kind][3]}", said), said


class Nobody:
    """Hears nothing."""

    def on_up(self) -> None:
        raise AssertionError

    def on_down(self) -> None:
        raise AssertionError

    def on_message(self, *_: object) -> None:
        raise AssertionError


def test_whoever_takes_the_connection_answers_the_gateway_or_the_broker() -> None:
    """So do a gateway whose service is away, a portal in a hotel, a broker that refuses the login."""
    with served(Deaf) as port:
        assert asyncio.run(gateway_answers(login(f"http://127.0.0.1:{port}")))
        assert asyncio.run(gateway_answers(login(f"https://127.0.0.1:{port}")))
        assert asyncio.run(something_answers(replace(login(f"http://127.0.0.1:{free_port()}"), port=port)))

    for gone in (f"http://127.0.0.1:{free_port()}", "", "http://no.such.invalid", "http://127.0.0.1:99999"):
        assert not asyncio.run(something_answers(replace(login(gone), port=free_port())))


def test_a_refusal_of_another_machine_is_an_answer_and_one_of_this_machine_none() -> None:
    if (address := vitals.address()) is None:
        pytest.skip("this machine has no address but loopback's")

    assert asyncio.run(gateway_answers(login(f"http://{address}:{free_port()}")))
    assert not asyncio.run(gateway_answers(login(f"http://localhost:{free_port()}")))
