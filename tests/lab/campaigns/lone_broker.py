"""A mosquitto alone, as shipped or with a changed configuration, and one display's login."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.parts import broker as mosquitto
from deploy.parts.probes import free_port
from tests.lab.campaigns.fleet import PASSWORD
from tests.lab.campaigns.machine import Component
from tests.lab.campaigns.wire import Wire

NAME = str(uuid.UUID(int=7))


def without(*settings: str) -> Callable[[str], str]:
    """mosquitto.conf without these settings, so that the defaults apply."""
    return lambda text: "\n".join(line for line in text.splitlines() if line.split(" ")[0] not in settings) + "\n"


def shipped(text: str) -> str:
    return text


@contextmanager
def broker(
    folder: Path, change: Callable[[str], str] = shipped, names: Iterable[str] = (NAME,), *, alone: bool = False
) -> Iterator[tuple[mosquitto.Broker, Component]]:
    """A mosquitto with these displays' logins; `alone`: without the program that asks it to save."""
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port())
    mosquitto.prepare(place, dict.fromkeys(mosquitto.SERVICES, PASSWORD))
    with place.displays_password_file.open("a") as logins:
        logins.write(mosquitto.password_lines(dict.fromkeys(names, PASSWORD)))
    place.configuration.write_text(change(mosquitto.configuration(place)))
    command = (str(mosquitto.find_program()), "-c", str(place.configuration)) if alone else mosquitto.command(place)
    component = Component("broker", command, mosquitto.answers(place), folder / "log", user=mosquitto.system_user())
    component.start()
    component.wait_until_ready()
    try:
        yield place, component
    finally:
        component.stop()


def bridge_session(place: mosquitto.Broker) -> Wire:
    """The bridge's session, resumed or new."""
    wire = Wire.connect(place.services_port, "bridge", PASSWORD, clean_start=False, expiry_seconds=3600)
    wire.subscribe("signage/+/logs/+")
    return wire
