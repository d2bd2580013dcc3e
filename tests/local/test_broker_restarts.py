"""What waits for the bridge when the broker was started again, with other logins or on another port."""

import signal
from dataclasses import replace
from pathlib import Path

import pytest

from deploy.local import broker as mosquitto
from deploy.local import guardian
from deploy.local.broker import Broker, RunningBroker
from deploy.local.broker_rights import separate_services_acl, services_acl
from deploy.local.probes import connect_code, free_port, wait_until
from tests.faults.wire import Puback, Received, Wire

ONE = "00000000-0000-4000-8000-000000000001"
PASSWORDS = dict.fromkeys(mosquitto.SERVICES, "service")


def session(place: Broker) -> Wire:
    """The bridge's session, found again or begun."""
    return Wire.connect(place.services_port, "bridge", "service", clean_start=False, expiry_seconds=3600)


def begin(place: Broker, folder: Path) -> None:
    """The bridge subscribes and goes away, and so does the broker."""
    with mosquitto.serve(place, PASSWORDS, folder / "log") as served:
        served.set_displays({ONE: "one"})
        wire = session(place)
        wire.subscribe("signage/+/logs/+")
        wire.close()
        publish(place, 3)


def publish(place: Broker, count: int) -> None:
    """As a display; each is answered with Success."""
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
    wire.subscribe("signage/+/acks")  # answered after what waited
    came = sum(isinstance(event, Received) for event in wire.take())
    wire.close()
    return came


def read_logins_again(served: RunningBroker) -> None:
    """As at an enrolment; a login that is new is let in when the broker has read them."""
    lines = served.broker.displays_password_file.read_text()
    added = mosquitto.password_lines({"probe": "p"})
    served.broker.displays_password_file.write_text(lines + added)
    guardian.send(served.pid, signal.SIGHUP)
    wait_until(lambda: connect_code(served.broker.displays_port, "probe", "p") == 0, 60)


@pytest.mark.parametrize("shipped", [True, False])
def test_an_enrolment_before_the_bridge_is_back_takes_nothing_from_it(tmp_path: Path, shipped: bool) -> None:
    """The rules without patterns lose what is published after the broker has read its logins again."""
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port(), shared=False)
    begin(place, tmp_path)
    with mosquitto.serve(place, PASSWORDS, tmp_path / "log") as served:
        if not shipped:
            (place.run / "services.acl").write_text(services_acl("signage"))
        read_logins_again(served)

        publish(place, 5)

        assert what_waits(place) == (8 if shipped else 3)


def test_the_right_to_read_is_the_bridges_alone() -> None:
    rules = separate_services_acl("signage").split("\n\n")
    told = {part.splitlines()[0]: part for part in rules if part.startswith("user ") and "deny" in part}

    assert told.keys() == {"user api", "user scheduler", "user bridge_urgent"}
    assert all(f"topic deny signage/+/{topic}" in told["user api"] for topic in ("heartbeat", "logs/+", "acks"))
    assert all(f"topic deny signage/+/{topic}" in told["user bridge_urgent"] for topic in ("heartbeat", "logs/+"))
    assert "topic deny signage/+/acks" not in told["user bridge_urgent"]


@pytest.mark.parametrize("moves", [True, False])
def test_another_port_of_the_services_takes_nothing_from_the_bridge(tmp_path: Path, moves: bool) -> None:
    """Without the move what is published before the bridge is back is lost."""
    place = Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port(), shared=False)
    begin(place, tmp_path)
    if not moves:
        (place.run / "services.port").unlink()
    elsewhere = replace(place, services_port=free_port())
    with mosquitto.serve(elsewhere, PASSWORDS, tmp_path / "log"):
        publish(elsewhere, 5)

        assert what_waits(elsewhere) == (8 if moves else 3)
