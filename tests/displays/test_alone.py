"""A machine that reaches neither broker nor gateway: what it does, and that the disk counts it."""

import asyncio
import http.server
import threading
from pathlib import Path

import pytest

from deploy.displays.agent.heal import Healer, gateway_answers, load, save
from deploy.displays.agent.heal_rules import ALONE_SECONDS, Budget, Step
from deploy.parts.probes import free_port


def healer(path: Path, done: list[Step]) -> Healer:
    async def carry(step: Step) -> None:
        done.append(step)

    return Healer(path, "http://127.0.0.1:9", None, lambda: False, carry)


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
        assert asyncio.run(gateway_answers(there, None))
        server.shutdown()

    assert not asyncio.run(gateway_answers(f"http://127.0.0.1:{free_port()}", None))
    assert not asyncio.run(gateway_answers("", None))
