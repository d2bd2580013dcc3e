"""A display that subscribes to its neighbour's commands would hide that nobody received one: the door refuses it."""

from pathlib import Path

import pytest

from deploy.parts import broker as mosquitto
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from tests.lab.campaigns.logins import without_door
from tests.local.mqtt_clients import NO_SUBSCRIBERS, ONE, OTHER, connected, publish, subscribe

COMMANDS = f"signage/{OTHER}/commands"
SPOILING = (COMMANDS, "signage/+/commands", "#", f"$share/g/{COMMANDS}")


def told_of_an_absent_neighbour(place: mosquitto.Broker, *subscriptions: str) -> int:
    """Return the reason code of a command to an absent display beside a display with these subscriptions."""
    with (
        connected(place.services_port, "api", "service", "api") as (api, told),
        connected(place.displays_port, ONE, "display") as (display, seen),
    ):
        for topic in subscriptions:
            subscribe(display, topic)
        code = publish(api, told, COMMANDS)
    assert COMMANDS not in [topic for topic, _ in seen.messages]
    return code


@pytest.mark.parametrize("has_door", [True, False])
def test_an_absent_neighbour_is_told_as_absent_whatever_a_display_subscribes_to(tmp_path: Path, has_door: bool) -> None:
    """Mosquitto alone grants every subscription, and its ACL file has no rule against one."""
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    services = dict.fromkeys(mosquitto.SERVICES, "service")
    mosquitto.prepare(place, services)
    if not has_door:
        place.configuration.write_text(without_door(place))
    logins = {**({} if has_door else services), ONE: "display", OTHER: "display"}
    place.displays_password_file.write_text(mosquitto.password_lines(logins))
    with running(mosquitto.command(place), mosquitto.answers(place), tmp_path / "log", user=mosquitto.system_user()):
        assert told_of_an_absent_neighbour(place) == NO_SUBSCRIBERS
        for spoiling in SPOILING:
            assert told_of_an_absent_neighbour(place, spoiling) == (NO_SUBSCRIBERS if has_door else 0)
