"""Our displays in a real Home Assistant: our states, a dead part of ours, buttons, deleted displays, hostile names."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.neighbours.home_assistant_rules import fitting
from deploy.parts import guardian
from deploy.parts.broker import find_program
from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import accepts, free_port
from deploy.parts.short_lived import running
from displays.simulated.simulated import SimulatedDisplay
from tests.lab.campaigns.home_assistant import HomeAssistant, home_assistant
from tests.lab.campaigns.ledger import Ledger, tell
from tests.stack import Stack, enrol, eventually, running_stack

BROKER: Final = "listener {port} 127.0.0.1\nallow_anonymous true\n"
SECONDS: Final = 180.0
NAMES: Final = (
    "Lobby North",
    "Küche \"/#+$' {{ 1 / 0 }} {% raw %}",
    "漢" * 200,
    "../../homeassistant/status\n\t\u202e",
    "\U0001f4fa",
    "",
)
ACTIONS: Final = ("Restart player", "Reboot")


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 20
    presses: int = 5
    seed: int = 1


@contextmanager
def broker(folder: Path, port: int = 0) -> Iterator[int]:
    """Home Assistant's own broker, with nothing kept yet. Yields its port."""
    port = port or free_port()
    folder.mkdir(parents=True)
    (folder / "conf").write_text(BROKER.format(port=port), encoding="utf-8")
    program = find_program()  # by its path: an ordinary user's own has no sbin
    assert program is not None
    with running((program, "-c", str(folder / "conf")), accepts(port), folder / "log"):
        yield port


@contextmanager
def neighbour(
    stack: Stack, port: int, log: Path, token: str = "", url: str = ""
) -> Iterator["subprocess.Popen[bytes]"]:
    """Our program between the stack (by default with its admin's token) and Home Assistant's broker."""
    environment = {
        "SIGNAGE_API_URL": url or stack.url,
        "SIGNAGE_API_TOKEN": token or stack.environment["SIGNAGE_ADMIN_TOKEN"],
        "HOME_ASSISTANT_MQTT_URL": f"mqtt://{LOOPBACK}:{port}",
    }
    command = guardian.launch((sys.executable, "-m", "deploy.neighbours.home_assistant"), signal.SIGTERM, None)
    with log.open("ab") as written:
        process = subprocess.Popen(
            command, env={**os.environ, **environment}, cwd=REPOSITORY, stdout=written, stderr=written
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)


@dataclass
class Shop:
    """The displays, and what Home Assistant shows of them."""

    home: HomeAssistant
    stack: Stack
    displays: dict[str, SimulatedDisplay]

    def shown(self, entity: str) -> dict[str, str]:
        """Uuid -> the state of this entity of each display."""
        devices = self.home.devices()
        states = self.home.states()
        return {
            one: states[id_]["state"]
            for one, device in devices.items()
            if (id_ := device.entities.get(entity)) and id_ in states
        }

    def judged(self) -> dict[str, str]:
        """Uuid -> our state of each display."""
        return {one["uuid"]: one["status"] for one in self.stack.api().get("/api/monitoring/overview")["clients"]}

    def agrees(self) -> bool:
        """Whether Home Assistant shows every display with our state, and no other."""
        return self.shown("State") == self.judged()

    def unavailable(self) -> bool:
        """Whether nothing of any display is shown as known."""
        shown = [
            state for entity in ("State", "Problem", "In words", *ACTIONS) for state in self.shown(entity).values()
        ]
        return len(shown) > len(self.displays) and set(shown) == {"unavailable"}

    def commands(self, display: str) -> list[str]:
        """The states of the commands that a display was ever sent."""
        return [one["state"] for one in self.stack.api().get(f"/api/clients/{display}/commands")["items"]]

    def press(self, display: str, action: str) -> str:
        """Press a button, and wait for its answer."""
        before = self.shown("Last answer")[display]
        self.home.press(self.home.devices()[display].entities[action])

        def answered() -> str:
            now = self.shown("Last answer")[display]
            return "" if now == before else now

        return eventually(answered, f"an answer to {action}", SECONDS)

    def restart(self, display: str) -> str:
        """Press "Restart player", and wait for the command's end. Returns the last answer."""
        before = self.displays[display].state.app_instance
        self.press(display, "Restart player")
        eventually(lambda: self.displays[display].state.app_instance != before, "the player's new start", SECONDS)
        self.displays[display].heartbeat("running")
        eventually(lambda: self.commands(display) == ["succeeded"], "the proof", SECONDS)
        eventually(lambda: "succeeded" in self.shown("Last answer")[display], "the outcome", SECONDS)
        return self.shown("Last answer")[display]


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger, began = Ledger("neighbours", plan.seed, {"displays": plan.displays}), time.monotonic()
    with (
        running_stack(folder / "stack", TICK_SECONDS="1", DEMO="") as stack,
        broker(folder / "broker") as port,
        home_assistant(folder / "home") as home,
    ):
        home.add_mqtt(port)
        ledger.note = f"Home Assistant {home.call('GET', '/api/config').json()['version']}"
        shop = Shop(home, stack, _displays(stack, folder, plan.displays))
        _live(plan, shop, port, folder / "neighbour.log", ledger, say)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _displays(stack: Stack, folder: Path, count: int) -> dict[str, SimulatedDisplay]:
    """Displays that run, with hostile names among them."""
    made = dict[str, SimulatedDisplay]()
    for number in range(count):
        one = str(uuid.uuid4())
        made[one] = enrol(stack.api(), one, folder / "displays" / str(number))
        name = NAMES[number] if number < len(NAMES) else f"Display {number}"
        stack.api().call("PATCH", f"/api/clients/{one}", json={"name": name, "site": f"Hall {number % 3} / é"})
        made[one].connect()
        made[one].heartbeat("running")
        made[one].health(screen_health="ok", app_version="4.2.0")
    return made


def _live(plan: Plan, shop: Shop, port: int, log: Path, ledger: Ledger, say: Callable[[str], None]) -> None:
    holds, ids = ledger.conditions, list(shop.displays)

    def soon(look: Callable[[], bool], what: str) -> None:
        say(what)
        try:
            eventually(look, what, SECONDS)
            holds[what] = True
        except AssertionError:
            holds[what] = False

    with neighbour(shop.stack, port, log) as process:
        soon(shop.agrees, "each display is a device with our state")
        devices = shop.home.devices()
        named = {one["uuid"]: one["name"] for one in shop.stack.api().get("/api/monitoring/overview")["clients"]}
        holds["hostile names come as they are"] = all(
            device.name == (fitting(named[one]) or one) for one, device in devices.items()
        )
        holds["the site is the area"] = all(one.area and one.area.startswith("Hall ") for one in devices.values())
        shop.displays[ids[0]].heartbeat("crashed")
        soon(lambda: shop.shown("Problem")[ids[0]] == "on", "a crash is a problem")
        soon(lambda: shop.shown("State")[ids[0]] == "crashed", "a crash is a state")
        holds["the others have no problem"] = {shop.shown("Problem")[one] for one in ids[1:]} == {"off"}
        answers = [(shop.restart(one), shop.press(one, "Reboot")) for one in ids[: plan.presses]]
        ledger.counted["presses"] = 2 * len(answers)
        holds["a press is one command"] = all(len(shop.commands(one)) == 1 for one in ids[: plan.presses])
        holds["what it came to is shown"] = all(first == "Restart player: succeeded" for first, _ in answers)
        holds["the lockout refuses the next one with its end"] = all("Locked until" in second for _, second in answers)
        say(str(answers[0]))
        process.kill()
        process.wait()
        soon(shop.unavailable, "a killed program of ours is shown as unavailable")
        holds["a press meanwhile does nothing"] = _press_in_vain(shop, ids[-1])
        shop.stack.api().call("DELETE", f"/api/clients/{ids[1]}", 204)
    with neighbour(shop.stack, port, log):
        soon(lambda: ids[1] not in shop.home.devices(), "a display deleted meanwhile is no device any more")
        soon(shop.agrees, "the others are back with our states")
        holds["the old press stays without effect"] = shop.commands(ids[-1]) == []
        shop.stack.api().call("DELETE", f"/api/clients/{ids[2]}", 204)
        soon(lambda: ids[2] not in shop.home.devices(), "a deleted display is no device any more")
    soon(shop.unavailable, "a stopped program of ours is shown as unavailable")


def _press_in_vain(shop: Shop, display: str) -> bool:
    shop.home.press(shop.home.devices()[display].entities["Reboot"])
    return shop.commands(display) == []
