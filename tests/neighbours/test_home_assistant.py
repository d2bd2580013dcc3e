"""Displays in Home Assistant: its broker is a real Mosquitto, and this test reads and presses in its place."""

import json
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import paho.mqtt.client as mqtt
import pytest

from deploy.neighbours.home_assistant_rules import Place
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port
from displays.simulated.simulated import SimulatedDisplay
from tests.bridge.proxy import proxied
from tests.lab.campaigns.neighbours import broker, neighbour
from tests.local.mqtt_clients import Seen, connected, publish, subscribe
from tests.stack import Api, Stack, enrol, eventually

PLACE: Final = Place()
BUTTON: Final = "restart_app"
AHEAD: Final = 30.0  # seconds by which the clock of this home is ahead: a press is good for 90


class Home:
    """What Home Assistant would know: the last message of each topic."""

    def __init__(self, client: mqtt.Client, seen: Seen) -> None:
        """Subscribe to everything."""
        self.client, self.seen = client, seen
        subscribe(client, "#")

    def last(self, topic: str) -> bytes:
        return next((payload for at, payload in reversed(self.seen.messages) if at == topic), b"")

    def state(self, display: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.last(PLACE.state(display)) or b"{}")
        return found

    def answer(self, display: str) -> str:
        return str(json.loads(self.last(PLACE.answer(display)) or b'{"answer": ""}')["answer"])

    def press(self, display: str, payload: str, *, retain: bool = False) -> None:
        publish(self.client, self.seen, PLACE.press(display, BUTTON), payload.encode(), retain=retain)

    def until_status(self, word: str) -> None:
        eventually(lambda: self.last(PLACE.status) == word.encode(), f"the status {word}")

    def until_forgotten(self, display: str) -> None:
        kept = PLACE.config(display), PLACE.state(display), PLACE.answer(display)
        eventually(lambda: not any(map(self.last, kept)), "the removal")


@contextmanager
def home(port: int) -> Iterator[Home]:
    with connected(port, "", "") as (client, seen):
        yield Home(client, seen)


@pytest.fixture
def api(stack: Stack) -> Api:
    return stack.api()


@pytest.fixture
def display(api: Api, folder: Path) -> Iterator[SimulatedDisplay]:
    """A display that runs."""
    with enrol(api, str(uuid.uuid4()), folder) as made:
        made.heartbeat("running")
        yield made


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with broker(tmp_path / "broker") as made:
        yield made


def uuid_of(display: SimulatedDisplay) -> str:
    return display.display.credentials.uuid


def commands(api: Api, display: str) -> list[str]:
    return [one["action"] for one in api.get(f"/api/clients/{display}/commands")["items"]]


def test_a_display_is_shown_as_it_is_until_it_is_deleted(
    stack: Stack, api: Api, display: SimulatedDisplay, port: int, tmp_path: Path
) -> None:
    one = uuid_of(display)
    api.call("PATCH", f"/api/clients/{one}", json={"name": 'Küche "/#+', "site": "Köln"})

    with home(port) as shown, neighbour(stack, port, tmp_path / "log"):
        eventually(lambda: shown.state(one).get("state") == "running", "the state")
        assert json.loads(shown.last(PLACE.config(one)))["device"]["name"] == 'Küche "/#+'
        assert shown.state(one)["problem"] == "OFF"
        shown.until_status("online")

        display.heartbeat("crashed")
        eventually(lambda: shown.state(one)["state"] == "crashed", "the crash")
        assert shown.state(one)["problem"] == "ON"

        api.call("DELETE", f"/api/clients/{one}", 204)
        shown.until_forgotten(one)


def test_a_press_is_one_command_and_the_lockout_holds(
    stack: Stack, api: Api, display: SimulatedDisplay, port: int, tmp_path: Path
) -> None:
    one, before = uuid_of(display), display.state.app_instance

    with home(port) as shown:
        shown.press(one, f"{time.time() + AHEAD}", retain=True)  # it was pressed before, and kept
        with neighbour(stack, port, tmp_path / "log"):
            shown.until_status("online")
            shown.press(one, f"{time.time() - 3600}")
            eventually(lambda: "s old" in shown.answer(one), "the refusal of an old press")
            shown.press(one, "PRESS")
            assert commands(api, one) == []

            first = f"{time.time() + AHEAD}"
            shown.press(one, first, retain=True)
            shown.press(one, first)
            eventually(lambda: commands(api, one), "the command")
            shown.press(one, first)  # the same press comes again
            display.wait_until(lambda: display.state.app_instance != before)
            display.heartbeat("running")
            eventually(lambda: shown.answer(one) == "Restart player: succeeded", "the outcome")
            shown.press(one, f"{time.time() + AHEAD + 1}")
            eventually(lambda: "Locked until" in shown.answer(one), "the refusal")
        with neighbour(stack, port, tmp_path / "log"):
            shown.until_status("online")
            shown.press(one, first)  # once more, at another process
            eventually(lambda: "refused" not in shown.answer(one), "the first command's state")

    assert commands(api, one) == [BUTTON]


def test_a_press_whose_answer_is_lost_is_still_one_command(
    stack: Stack, api: Api, display: SimulatedDisplay, port: int, tmp_path: Path
) -> None:
    one = uuid_of(display)

    with proxied(urlsplit(stack.url).port or 80) as way, home(port) as shown:
        url = f"http://{LOOPBACK}:{way.port}"
        with neighbour(stack, port, tmp_path / "log", url=url):
            shown.until_status("online")
            way.hold_downward.set()
            shown.press(one, f"{time.time() + AHEAD}")
            eventually(lambda: "nobody knows" in shown.answer(one), "the word that nobody knows")
            eventually(lambda: commands(api, one), "the command")
            way.hold_downward.clear()
            eventually(lambda: "nobody knows" not in shown.answer(one), "the answer")

    assert "refused" not in shown.answer(one)
    assert commands(api, one) == [BUTTON]


def test_a_dead_program_is_unavailable_and_catches_up(
    stack: Stack, api: Api, display: SimulatedDisplay, port: int, tmp_path: Path
) -> None:
    one = uuid_of(display)

    with home(port) as shown:
        with neighbour(stack, port, tmp_path / "log") as process:
            shown.until_status("online")
            process.kill()
            shown.until_status("offline")
        api.call("DELETE", f"/api/clients/{one}", 204)
        left = str(uuid.uuid4())  # deleted, and the removal was cut off half-way
        publish(shown.client, shown.seen, PLACE.state(left), b"{}", retain=True)
        with neighbour(stack, port, tmp_path / "log"):
            shown.until_forgotten(one)
            shown.until_forgotten(left)
            shown.until_status("online")
        shown.until_status("offline")


def test_the_sites_of_the_token_decide_what_is_shown(
    stack: Stack, api: Api, display: SimulatedDisplay, port: int, tmp_path: Path
) -> None:
    one, site = uuid_of(display), f"Hall {uuid.uuid4()}"
    made = api.post("/api/tokens", {"name": site, "role": "viewer", "sites": [site]}, 201)

    with home(port) as shown, neighbour(stack, port, tmp_path / "log", made["token"]):
        shown.until_status("online")
        assert [topic for topic, _ in shown.seen.messages if "/config" in topic] == []

        api.call("PATCH", f"/api/clients/{one}", json={"site": site})
        eventually(lambda: shown.state(one), "the display")
        assert json.loads(shown.last(PLACE.config(one)))["components"][BUTTON] == {"platform": "button"}

        api.call("PATCH", f"/api/clients/{one}", json={"site": "elsewhere"})
        shown.until_forgotten(one)


def test_a_broker_that_lost_everything_is_told_again(stack: Stack, display: SimulatedDisplay, tmp_path: Path) -> None:
    one, port = uuid_of(display), free_port()

    with neighbour(stack, port, tmp_path / "log"):
        for folder in ("first", "second"):
            with broker(tmp_path / folder, port), home(port) as shown:
                eventually(lambda: shown.state(one), "the display")
                shown.until_status("online")
