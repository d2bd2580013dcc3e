"""Logins of displays are revoked in every possible way, while the broker still has their sessions and wills.

Each round has its own broker. BROKER_PROGRAM names another mosquitto than the installed one. In half of the rounds
freed memory is overwritten, so that the use of a freed session crashes at once. Further rounds run without the
displays' door, with the logins in mosquitto's own file and a SIGHUP for each change: these must crash, otherwise the
campaign detects nothing.
"""

import itertools
import re
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from deploy.parts import broker as mosquitto
from deploy.parts import guardian
from deploy.parts.layout import write_file
from deploy.parts.probes import connect_code, free_port, wait_until
from deploy.parts.short_lived import DidNotStart, running
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.wire import Puback, Received, Wire, WireBroken

ORDERS: Final = ("one after another", "all at once")
ENDS: Final = ("deleted", "rotated", "enrolled anew")
STATES: Final = ("connected", "just gone", "some gone")
KINDS: Final = tuple(itertools.product(ENDS, STATES, ORDERS))
WAIT_SECONDS: Final = 240.0  # for steps that take a few seconds
WAIT_IN_VAIN_SECONDS: Final = 10.0  # in a round that must crash
# Freed memory is overwritten: times become earlier than all others, and addresses become invalid.
SPOILT: Final = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.perturb=129"}
STARTS: Final = 3
NO_SUBSCRIBERS: Final = 0x10
OLD, NEW = "old", "new"


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    rounds: int = 100
    without_door: int = 4
    displays: int = 6
    beside: int = 4  # rounds at the same time
    expiry_seconds: int = 4
    will_seconds: int = 2
    seed: int = 1


@dataclass
class Found:
    """The result of one round."""

    crashed: bool = False
    wrong: list[str] = field(default_factory=list)

    @property
    def is_bad(self) -> bool:
        return self.crashed or bool(self.wrong)


@dataclass
class Door:
    """A running broker, and the way in which it gets logins."""

    place: mosquitto.Broker
    process: "subprocess.Popen[bytes]"
    by_signal: bool  # the logins are in mosquitto's own file
    logins: dict[str, str] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    _lines: dict[tuple[str, str], str] = field(default_factory=dict)

    def tell(self) -> None:
        """Write the logins, and wait until the broker accepts a login that was written with them."""
        probe = f"probe-{uuid.uuid4()}"
        lines = "".join(self._line(*login) for login in {**self.logins, probe: NEW}.items())
        write_file(self.place.displays_password_file, self._services() + lines)
        if self.by_signal:
            guardian.send(self.process.pid, signal.SIGHUP)
        self.wait(lambda: self.code(probe, NEW) == 0)

    def _services(self) -> str:
        return self.place.services_password_file.read_text() if self.by_signal else ""

    def _line(self, name: str, password: str) -> str:
        if (name, password) not in self._lines:
            self._lines[name, password] = mosquitto.password_lines({name: password})
        return self._lines[name, password]

    def wait(self, so: Callable[[], bool]) -> None:
        """Wait until it is so, or the broker has crashed. Raises TimeoutError."""
        seconds = WAIT_IN_VAIN_SECONDS if self.by_signal else WAIT_SECONDS
        wait_until(lambda: self.is_gone or so(), seconds)

    @property
    def is_gone(self) -> bool:
        return self.process.poll() is not None

    def code(self, name: str, password: str) -> int | None:
        """The broker's answer to this login; None if it has crashed."""
        codes: list[int | None] = []

        def answered() -> bool:
            codes.append(connect_code(self.place.displays_port, name, password))
            return codes[-1] is not None

        self.wait(answered)
        return codes[-1] if codes else None

    def display(self, name: str, password: str = OLD, *, expiry_seconds: int = 3600, will_seconds: int = 3600) -> Wire:
        wire = Wire.connect(
            self.place.displays_port,
            name,
            password,
            clean_start=False,
            expiry_seconds=expiry_seconds,
            will_seconds=will_seconds,
        )
        self.wires.append(wire)
        wire.subscribe(f"signage/{name}/commands")
        return wire

    def api(self) -> Wire:
        self.wires.append(Wire.connect(self.place.services_port, "api", OLD))
        return self.wires[-1]


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger(f"logins-{version()}", plan.seed, {"rounds": plan.rounds, "displays_of_each": plan.displays})
    began = time.monotonic()
    jobs = [(number, False) for number in range(plan.rounds)] + [(n, True) for n in range(plan.without_door)]
    with ThreadPoolExecutor(plan.beside) as pool:
        found = list(pool.map(lambda job: _round(plan, folder, *job), jobs))
    for (number, by_signal), one in zip(jobs, found, strict=True):
        if one.is_bad:
            kind = "without the door" if by_signal else ", ".join(KINDS[number % len(KINDS)])
            say(f"round {number} ({kind}): {'crashed, ' * one.crashed}{one.wrong}")
    shipped = [one for one, (_, by_signal) in zip(found, jobs, strict=True) if not by_signal]
    control = [one for one, (_, by_signal) in zip(found, jobs, strict=True) if by_signal]
    ledger.counted = {
        "mosquitto_crashes": sum(one.crashed for one in shipped),
        "things_that_went_wrong": sum(len(one.wrong) for one in shipped),
        "rounds_without_the_door": len(control),
        "of_these_crashed": sum(one.crashed for one in control),
        "of_these_went_wrong": sum(one.is_bad for one in control),
    }
    ledger.conditions = {
        "no broker crashes": not any(one.crashed for one in shipped),
        "nobody else is touched, and each login is let in or kept out as it should be": not any(
            one.wrong for one in shipped
        ),
    }
    ledger.experiments["without the door a round goes wrong, so that one would be seen"] = any(
        one.is_bad for one in control
    )
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def version() -> str:
    """The version of the tested mosquitto."""
    said = subprocess.run([str(mosquitto.find_program()), "-h"], check=False, capture_output=True, text=True).stdout
    found = re.search(r"version (\S+)", said)
    return found[1] if found else "unknown"


def _round(plan: Plan, folder: Path, number: int, by_signal: bool) -> Found:
    found = Found()
    with ExitStack() as stack:
        door = _started(stack, _folders(folder, number, by_signal), by_signal, spoilt=by_signal or number % 2 == 0)
        try:
            _take_away(plan, door, KINDS[0] if by_signal else KINDS[number % len(KINDS)], found)
        except (WireBroken, TimeoutError) as error:
            found.wrong.append(repr(error))
        found.crashed = door.is_gone
    return found


def _started(stack: ExitStack, folders: tuple[Path, Path], by_signal: bool, *, spoilt: bool) -> Door:
    """Start a broker on free ports; try others if another process takes them first."""
    for _ in range(STARTS):
        place = mosquitto.Broker(*folders, free_port(), free_port())
        with suppress(DidNotStart):
            return stack.enter_context(_broker(place, by_signal, spoilt=spoilt))
    raise DidNotStart(f"not within {STARTS} starts")


def _folders(folder: Path, number: int, by_signal: bool) -> tuple[Path, Path]:
    own = folder / f"{'plain' if by_signal else 'round'}-{number}"
    own.mkdir()
    return own / "run", own / "data"


@contextmanager
def _broker(place: mosquitto.Broker, by_signal: bool, *, spoilt: bool) -> Iterator[Door]:
    mosquitto.prepare(place, dict.fromkeys(mosquitto.SERVICES, OLD))
    if by_signal:
        place.configuration.write_text(without_door(place))
        place.displays_password_file.write_text(place.services_password_file.read_text())
    with running(
        mosquitto.command(place),
        mosquitto.answers(place),
        place.run / "log",
        user=mosquitto.system_user(),
        environment=SPOILT if spoilt else {},
    ) as process:
        door = Door(place, process, by_signal)
        try:
            yield door
        finally:
            for wire in door.wires:
                wire.close()


def without_door(place: mosquitto.Broker) -> str:
    """mosquitto.conf with the displays' logins in the broker's own password file."""
    lines = [line for line in mosquitto.configuration(place).splitlines() if not line.startswith("plugin")]
    own = f"password_file {place.services_password_file}"
    return "\n".join(lines).replace(own, f"password_file {place.displays_password_file}") + "\n"


def _take_away(plan: Plan, door: Door, kind: tuple[str, str, str], found: Found) -> None:
    end, state, order = kind
    leaving = [str(uuid.uuid4()) for _ in range(plan.displays)]
    stays, waits, last = (str(uuid.uuid4()) for _ in range(3))
    door.logins = dict.fromkeys((*leaving, stays, waits, last), OLD)
    door.tell()
    api = door.api()
    neighbour = door.display(stays)
    door.display(waits).close()
    expiry, will = plan.expiry_seconds, plan.will_seconds
    wires = {name: door.display(name, expiry_seconds=expiry, will_seconds=will) for name in leaving}
    gone = {"connected": 0, "just gone": plan.displays, "some gone": plan.displays // 2}[state]
    for name in leaving[:gone]:
        wires[name].close()

    for group in [leaving] if order == "all at once" else [[name] for name in leaving]:
        _end(door, group, end)
    _check_ends(door, wires, leaving[gone:], end, found)
    _check_others(door, api, neighbour, stays, waits, found)
    for name in leaving:
        _wait_for_end_of_session(door, api, name)
    door.display(last, expiry_seconds=1, will_seconds=1).close()  # the broker handles all expired sessions before
    _wait_for_end_of_session(door, api, last)
    _check_others(door, api, neighbour, stays, waits, found)


def _end(door: Door, group: list[str], end: str) -> None:
    for name in group:
        if end == "rotated":
            door.logins[name] = NEW
        else:
            del door.logins[name]
    door.tell()
    if end == "enrolled anew":
        door.logins |= dict.fromkeys(group, NEW)
        door.tell()


def _check_ends(door: Door, wires: dict[str, Wire], connected: list[str], end: str, found: Found) -> None:
    for name in connected:
        door.wait(partial(_is_cut, wires[name]))
    for name in wires:
        if door.is_gone:
            return
        if door.code(name, OLD) == 0:
            found.wrong.append("an old password is accepted")
        if end != "deleted" and door.code(name, NEW) != 0:
            found.wrong.append("a new password is refused")


def _is_cut(wire: Wire) -> bool:
    try:
        wire.take()
    except WireBroken:
        return True
    return False


def _check_others(door: Door, api: Wire, neighbour: Wire, stays: str, waits: str, found: Found) -> None:
    """Check that a connected client receives and sends, and that an absent one gets its waiting messages."""
    for name in (stays, waits):
        if _answer(api, f"signage/{name}/commands") != 0:
            found.wrong.append("a neighbour's session is gone")
    neighbour.publish(f"signage/{stays}/heartbeat".encode(), b"{}")
    heard: list[object] = []
    door.wait(lambda: _hears(neighbour, heard))
    back = door.display(waits)
    door.wait(lambda: any(isinstance(event, Received) for event in back.take()))
    back.close()


def _hears(neighbour: Wire, heard: list[object]) -> bool:
    neighbour.flush()
    heard += neighbour.take()
    return {type(event) for event in heard} >= {Puback, Received}


def _answer(api: Wire, topic: str) -> int:
    """Publish a command. Returns the reason code of its PUBACK."""
    mid = api.publish(topic.encode(), b"{}")
    answers: list[int] = []

    def answered() -> bool:
        api.flush()
        answers.extend(event.code for event in api.take() if isinstance(event, Puback) and event.mid == mid)
        return bool(answers)

    wait_until(answered, WAIT_SECONDS)
    return answers[0]


def _wait_for_end_of_session(door: Door, api: Wire, name: str) -> None:
    door.wait(lambda: _answer(api, f"signage/{name}/commands") == NO_SUBSCRIBERS)
