"""`make run MQTT_URL=…`: the stack on a broker that somebody else runs. `make campaign ONLY=brokers` runs it there."""

from pathlib import Path

import pytest

from deploy.local.stack import Stack
from deploy.parts.layout import BadSetting

THEIRS = {"MQTT_URL": "mqtt://127.0.0.1:5001", "DISPLAYS_MQTT_URL": "mqtts://broker.example.com:5002"}


def test_another_broker_takes_the_place_of_ours(tmp_path: Path) -> None:
    stack = Stack({**THEIRS, "LOCAL_STATE_DIR": str(tmp_path / "state")})
    stack.layout.prepare()
    stack.prepare()

    names = {one.name for wave in (stack.foundation(), stack.middle(), stack.front()) for one in wave}
    told = stack.environment()

    assert names & {"broker", "broker-accounts", "browsers-door"} == set()
    assert {"broker-logins", "bridge", "api", "postgres"} <= names
    assert {name: told[name] for name in THEIRS} == THEIRS
    assert stack.displays_url == "mqtts://broker.example.com:5002"
    assert not {"MQTT_DISPLAYS_PORT", "MQTT_SERVICES_PORT", "MQTT_BROWSERS_PORT"} & set(stack.used_ports())
    assert not stack.broker.configuration.exists()
    users = [line.partition(":")[0] for line in stack.broker.services_password_file.read_text().splitlines()]
    assert sorted(users) == ["api", "bridge", "bridge_urgent", "scheduler"]


def test_without_it_our_own_broker_is_started(tmp_path: Path) -> None:
    stack = Stack({"LOCAL_STATE_DIR": str(tmp_path / "state")})
    stack.layout.prepare()

    assert stack.foreign_broker == {}
    assert "BROKER_LOGINS_PORT" not in stack.used_ports()
    assert stack.environment()["MQTT_URL"] == stack.broker.services_url


@pytest.mark.parametrize("given", THEIRS)
def test_half_of_it_is_refused_by_name(given: str, tmp_path: Path) -> None:
    stack = Stack({given: THEIRS[given], "LOCAL_STATE_DIR": str(tmp_path / "state")})
    stack.layout.prepare()

    with pytest.raises(BadSetting) as refused:
        stack.used_ports()

    assert str(refused.value).startswith(" ".join(THEIRS.keys() - {given}))
