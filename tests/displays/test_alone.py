"""A machine that reaches neither broker nor gateway: what it does, and that the disk counts it."""

import asyncio
import http.server
import json
import threading
from pathlib import Path

import pytest

from deploy.displays.agent.enrolment import NotEnrolled, _redeem
from deploy.displays.agent.heal import Healer, gateway_answers, load, save
from deploy.displays.agent.heal_rules import ALONE_SECONDS, Budget, Step
from deploy.displays.client.credentials import Credentials, trusting
from deploy.parts.probes import free_port


def login(url: str, **more: str) -> Credentials:
    return Credentials("u", "u", "secret", "127.0.0.1", 1, tls=True, ca_pem=None, topic_root="signage", url=url, **more)


def healer(path: Path, done: list[Step]) -> Healer:
    async def carry(step: Step) -> None:
        done.append(step)

    return Healer(path, login("http://127.0.0.1:9"), lambda: False, carry)


def alone_for(one: Healer, quarters: int) -> None:
    """So many quarters of an hour, a look at each minute."""
    for minute in range(1, 15 * quarters + 1):
        asyncio.run(one.help_itself(minute * 60.0, "2026-03-01"))


def test_hours_alone_are_one_restart_of_the_network_and_three_reboots(tmp_path: Path) -> None:
    done: list[Step] = []
    for _ in range(6):  # each reboot is another start of the agent
        alone_for(healer(tmp_path / "heal.json", done), 2)

    assert done.count(Step.REBOOT) == 3
    assert done[:4] == [Step.RESTART_NETWORK, Step.REBOOT] * 2
    assert load(tmp_path / "heal.json").reboots == 3


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


def test_whatever_speaks_http_is_a_gateway_that_answers() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        there = f"http://127.0.0.1:{server.server_port}"
        assert asyncio.run(gateway_answers(login(there)))
        server.shutdown()

    assert not asyncio.run(gateway_answers(login(f"http://127.0.0.1:{free_port()}")))
    assert not asyncio.run(gateway_answers(login("")))


class Stranger(http.server.BaseHTTPRequestHandler):
    """Refuses a code with words that a terminal would obey."""

    def do_POST(self) -> None:  # http.server's name
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(409)
        self.end_headers()
        self.wfile.write(json.dumps({"detail": "no\x1b]0;owned\x07\nEnrolled as root"}).encode())


def test_a_refusal_of_whoever_answers_there_is_shown_as_text() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(NotEnrolled) as refusal:
            _redeem(f"http://127.0.0.1:{server.server_port}", "A-CODE", trusting())
        server.shutdown()

    assert "owned" in str(refusal.value)
    assert str(refusal.value).isprintable()
