"""The bridge's waiting messages after the broker restarts, with other logins or on another port; and crashes."""

import os
import signal
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

from deploy.parts import broker as mosquitto
from deploy.parts.broker import Broker
from deploy.parts.broker_launch import CRASHES, CRASHES_KEPT, RUNNING, note_crash
from deploy.parts.probes import free_port, wait_until
from tests.lab.campaigns.wire import Puback, Received, Wire
from tests.local.mqtt_clients import ONE, OTHER

PASSWORDS = dict.fromkeys(mosquitto.SERVICES, "service")


def session(place: Broker) -> Wire:
    """Connect as the bridge, and resume its session or begin one."""
    return Wire.connect(place.services_port, "bridge", "service", clean_start=False, expiry_seconds=3600)


def begin(place: Broker, folder: Path) -> None:
    """Subscribe as the bridge, disconnect, and stop the broker."""
    with mosquitto.serve(place, PASSWORDS, folder / "log") as served:
        served.set_displays({ONE: "one"})
        wire = session(place)
        wire.subscribe("signage/+/logs/+")
        wire.close()
        publish(place, 3)


def publish(place: Broker, count: int) -> None:
    """Publish as a display and check that each message is acknowledged with Success."""
    wire = Wire.connect(place.displays_port, ONE, "one")
    codes: list[int] = []
    for _ in range(count):
        wire.publish(f"signage/{ONE}/logs/info".encode(), b"{}")

    def answered() -> bool:
        wire.flush()
        codes.extend(event.code for event in wire.take() if isinstance(event, Puback))
        return codes == [0] * count

    wait_until(answered, 60)
    wire.close()


def what_waits(place: Broker) -> int:
    wire = session(place)
    wire.subscribe("signage/+/acks")  # acknowledged after the waiting messages
    came = sum(isinstance(event, Received) for event in wire.take())
    wire.close()
    return came


def test_an_enrolment_before_the_bridge_is_back_takes_nothing_from_it(tmp_path: Path) -> None:
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    begin(place, tmp_path)
    with mosquitto.serve(place, PASSWORDS, tmp_path / "log") as served:
        served.set_displays({ONE: "one", OTHER: "other"})

        publish(place, 5)

        assert what_waits(place) == 8


def test_another_port_of_the_services_takes_nothing_from_the_bridge(tmp_path: Path) -> None:
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    begin(place, tmp_path)
    elsewhere = replace(place, services_port=free_port())
    with mosquitto.serve(elsewhere, PASSWORDS, tmp_path / "log"):
        publish(elsewhere, 5)

        assert what_waits(elsewhere) == 8


def test_a_signal_that_would_have_it_read_everything_anew_is_not_heard(tmp_path: Path) -> None:
    """Otherwise mosquitto would end sessions that have ended already, and crash when they expire."""
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    with mosquitto.serve(place, PASSWORDS, tmp_path / "log") as served:
        served.set_displays({ONE: "one"})
        status = Path(f"/proc/{served.pid}/status").read_text()
        ignored = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigIgn:"))

        assert ignored & 1 << (signal.SIGHUP - 1)


def crashes(place: Broker) -> int:
    return len(place.crashes_file.read_text().split()) if place.crashes_file.exists() else 0


def test_a_broker_that_did_not_end_in_order_is_noted_by_the_next_one(tmp_path: Path) -> None:
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    ends = [signal.SIGTERM, signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM]
    noted = []
    for end in ends:
        with mosquitto.serve(place, PASSWORDS, tmp_path / "log") as served:
            wait_until(place.running_file.exists, 60)
            noted.append(crashes(place))
            os.kill(served.pid, end)
            wait_until(partial(has_ended, served.pid), 60)

    assert noted == [0, 0, 1, 1, 2, 3]


def has_ended(pid: int) -> bool:
    """Whether the process has exited; it may still be a zombie."""
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] in {"Z", "X"}


def test_a_broker_that_cannot_start_is_no_crash(tmp_path: Path) -> None:
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    mosquitto.prepare(place, PASSWORDS)
    place.configuration.write_text("nonsense\n")
    for _ in range(2):
        subprocess.run(mosquitto.command(place), check=False, capture_output=True)

    assert (crashes(place), place.running_file.exists()) == (0, False)


def test_of_many_crashes_the_last_are_noted(tmp_path: Path) -> None:
    for _ in range(CRASHES_KEPT + 5):
        (tmp_path / RUNNING).touch()
        note_crash(tmp_path)

    assert len((tmp_path / CRASHES).read_text().split()) == CRASHES_KEPT
