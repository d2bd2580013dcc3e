"""A real Home Assistant, headless, set up by its own interfaces: a first user, then MQTT by its form.

HOME_ASSISTANT names its program `hass`, in an environment made with `pip install homeassistant` (a newer Python than
ours; the first start fetches more). The project does not require it.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import requests

from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, http_answers
from deploy.parts.short_lived import running

CONFIGURATION: Final = """\
homeassistant: {{name: Shop, unit_system: metric, time_zone: Europe/Berlin}}
http: {{server_host: 127.0.0.1, server_port: {port}}}
"""
START_SECONDS: Final = 600.0


def program() -> Path | None:
    """Its program; None where there is none."""
    named = os.environ.get("HOME_ASSISTANT")
    return Path(named) if named and Path(named).is_file() else None


@dataclass(frozen=True)
class Device:
    """A device as people see it."""

    name: str
    area: str | None
    version: str | None
    entities: dict[str, str]
    """Their names -> their ids."""


@dataclass(frozen=True)
class HomeAssistant:
    """A running one, and the token of its owner."""

    url: str
    token: str

    def call(self, method: str, path: str, body: Any = None) -> requests.Response:
        """Call its API; it must succeed."""
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = requests.request(method, self.url + path, json=body, headers=headers, timeout=60)
        assert answer.ok, f"{method} {path}: {answer.status_code} {answer.text[:1000]}"
        return answer

    def add_mqtt(self, port: int) -> None:
        """Fill in the form that connects it to a broker on loopback."""
        flow = self.call("POST", "/api/config/config_entries/flow", {"handler": "mqtt"}).json()
        done = self.call(
            "POST", f"/api/config/config_entries/flow/{flow['flow_id']}", {"broker": LOOPBACK, "port": port}
        )
        assert done.json()["type"] == "create_entry", done.text

    def told(self, template: str) -> str:
        """A template, filled in."""
        return self.call("POST", "/api/template", {"template": template}).text

    def devices(self) -> dict[str, Device]:
        """The devices by MQTT, by their serial number, which is the display's uuid."""
        lines = self.told(
            "{% for e in integration_entities('mqtt') %}{{ [device_attr(e, 'serial_number'), device_attr(e, 'name'), "
            "area_name(e), device_attr(e, 'sw_version'), e, state_attr(e, 'friendly_name')] | to_json }}\n{% endfor %}"
        ).splitlines()
        found = dict[str, Device]()
        for line in filter(None, map(str.strip, lines)):
            serial, name, area, version, entity, shown = json.loads(line)
            device = found.setdefault(serial, Device(name, area, version, {}))
            if shown is not None:  # else it is only just being made
                device.entities[shown.removeprefix(name).strip()] = entity
        return found

    def states(self) -> dict[str, Any]:
        """Entity id -> its state and attributes."""
        return {one["entity_id"]: one for one in self.call("GET", "/api/states").json()}

    def press(self, entity: str) -> None:
        """Press a button."""
        self.call("POST", "/api/services/button/press", {"entity_id": entity})


@contextmanager
def home_assistant(folder: Path) -> Iterator[HomeAssistant]:
    """One with its files below `folder` and without any integration yet."""
    hass, port = program(), free_port()
    assert hass is not None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "configuration.yaml").write_text(CONFIGURATION.format(port=port), encoding="utf-8")
    path = f"{hass.parent}:{os.environ['PATH']}"
    environment = {"PATH": path, "VIRTUAL_ENV": str(hass.parent.parent), "PYTHONPATH": ""}
    command = (str(hass), "--config", str(folder))
    ready = http_answers(port, "/api/onboarding", 200)
    with running(command, ready, folder / "log", environment=environment, ready_seconds=START_SECONDS):
        yield HomeAssistant(f"http://{LOOPBACK}:{port}", _owner(f"http://{LOOPBACK}:{port}"))


def _owner(url: str) -> str:
    """Make the first user. Returns a token of theirs."""
    client = f"{url}/"
    user = {
        "client_id": client,
        "name": "Owner",
        "username": "owner",
        "password": "owner-of-this-test",
        "language": "en",
    }
    made = requests.post(f"{url}/api/onboarding/users", json=user, timeout=60)
    assert made.ok, made.text
    asked = {"grant_type": "authorization_code", "code": made.json()["auth_code"], "client_id": client}
    answer = requests.post(f"{url}/auth/token", data=asked, timeout=60)
    assert answer.ok, answer.text
    return str(answer.json()["access_token"])
