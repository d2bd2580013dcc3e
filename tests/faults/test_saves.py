"""The broker does not answer while it saves, but it must answer in between, however long a save takes."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.parts import broker as mosquitto
from deploy.parts.broker_launch import rest_seconds
from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import PASSWORD
from tests.lab.campaigns.lone_broker import NAME, bridge_session, broker, shipped
from tests.lab.campaigns.machine import Component
from tests.lab.campaigns.wire import Puback, Wire

SAVE_SECONDS = 2.2  # half a gigabyte on a good machine, far less on a small or busy one
LOOK_SECONDS = 0.0005
WATCHED_SAVES = 2
ENOUGH, FEW = 1000, 100  # answers between saves: of a broker that goes on, and of one that does not
BACKLOG = 600  # messages of 64 KB, enough to notice a save in progress
LOGS = f"signage/{NAME}/logs/info".encode()


class SlowSaves:
    """Stops the broker in the middle of each save, like a slow disk."""

    def __init__(self, place: mosquitto.Broker, component: Component) -> None:
        assert component.process is not None
        self.held = 0
        self._pid = component.process.pid
        self._draft = place.data / "mosquitto.db.new"
        self._stop = threading.Event()

    def run(self) -> None:
        last = None
        while not self._stop.wait(LOOK_SECONDS):
            if (draft := self._inode()) not in {None, last}:
                os.kill(self._pid, signal.SIGSTOP)
                self._stop.wait(SAVE_SECONDS)
                os.kill(self._pid, signal.SIGCONT)
                self.held, last = self.held + 1, draft

    def _inode(self) -> int | None:
        """The inode of the save in progress, which differs from that of the previous one; None without one."""
        try:
            return self._draft.stat().st_ino
        except OSError:
            return None

    def end(self) -> None:
        self._stop.set()


@contextmanager
def slow_saves(place: mosquitto.Broker, component: Component) -> Iterator[SlowSaves]:
    """Let every save in the block take SAVE_SECONDS; the block begins after the first one."""
    saves = SlowSaves(place, component)
    thread = threading.Thread(target=saves.run, name="slow saves")
    thread.start()
    try:
        wait_until(lambda: saves.held > 0, 60)
        yield saves
    finally:
        saves.end()
        thread.join()


def fill(place: mosquitto.Broker) -> None:
    wire = Wire.connect(place.displays_port, NAME, PASSWORD)
    for _ in range(BACKLOG):
        wire.publish(LOGS, bytes(64_000))

    def all_answered() -> bool:
        wire.flush()
        wire.take()
        return not wire.unanswered

    wait_until(all_answered, 60)
    wire.close()


def answered(place: mosquitto.Broker, saves: SlowSaves, watched: int) -> int:
    """How many publishes of a display are answered during so many more saves, or until there are ENOUGH."""
    wire = Wire.connect(place.displays_port, NAME, PASSWORD)
    count, until = 0, saves.held + watched
    while count < ENOUGH and saves.held < until:
        while len(wire.unanswered) < 100:
            wire.publish(LOGS, b"more")
        wire.flush()
        count += sum(isinstance(event, Puback) for event in wire.take())
        time.sleep(0.002)
    wire.close()
    return count


def by_itself(text: str) -> str:
    """mosquitto.conf with the broker's own saves each second."""
    assert "autosave_interval 60\n" in text
    return text.replace("autosave_interval 60\n", "autosave_interval 1\n")


@pytest.mark.parametrize(("change", "alone", "goes_on"), [(shipped, False, True), (by_itself, True, False)])
def test_a_broker_whose_saves_are_slow_still_answers(
    tmp_path: Path, change: Callable[[str], str], alone: bool, goes_on: bool
) -> None:
    """With its own saves the broker reads one packet of each client between two saves, so a backlog never ends.

    That case shows that the test sees it: one attempt is enough, for a busy test may stop the broker at the wrong time.
    As shipped it goes on, however few packets a slow machine reads between two saves.
    """
    with broker(tmp_path, change, alone=alone) as (place, component):
        bridge_session(place).close()
        fill(place)
        for _ in range(1 if goes_on else 10):
            with slow_saves(place, component) as saves:
                count = answered(place, saves, WATCHED_SAVES * (10 if goes_on else 1))
            if count < FEW:
                break
        if count >= FEW and not goes_on:
            pytest.skip("did not come about: a save in which the broker was stopped")

        assert (count >= ENOUGH) is goes_on


@pytest.mark.parametrize(("took", "rest"), [(0.001, 1.0), (0.25, 1.0), (0.5, 2.0), (2.5, 10.0)])
def test_saves_take_at_most_a_fifth_of_the_time_and_quick_ones_come_each_second(took: float, rest: float) -> None:
    assert rest_seconds(took) == rest


def test_whoever_asks_for_saves_ends_with_the_broker(tmp_path: Path) -> None:
    with broker(tmp_path) as (_, component):
        assert component.process is not None
        (beside,) = component.pids - {component.process.pid}

        os.kill(component.process.pid, signal.SIGKILL)
        component.process.wait()

        wait_until(lambda: not Path(f"/proc/{beside}").exists() or _is_dead(beside), 60)
        component.process = None


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}
    except OSError:
        return True
