"""Brokers that grant less than the shipped one: the bridge respects their limits, and reports what is missing."""

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine

from deploy.parts import broker as mosquitto
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from shared.vocabulary import CommandAction
from tests.bridge.conftest import (
    PASSWORD,
    BridgeProcess,
    Database,
    StartBridge,
    bridges,
    eventually,
    stamp,
)
from tests.bridge.strict_broker import Script, receive_maximum, strict_broker
from tests.bridge.test_messages_reach_their_tables import issue
from tests.lab.campaigns.wire import Wire
from tests.stores.commands_world import new_client

SECONDS = 60.0
WAITING = 60
LARGE_BYTES = 40_000_000
TEN = Script(receive_maximum(10), receive_maximum=10, answer_seconds=0.05)
PATIENT = {"bridge.outbox.ANSWER_SECONDS": 15.0}  # below the lease of 20 s


def test_a_broker_that_takes_ten_at_a_time_never_throws_the_bridge_out(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, engine: Engine, database: Database
) -> None:
    names = [new_client(engine) for _ in range(WAITING)]
    commands = [issue(engine, name, CommandAction.RESTART_APP) for name in names]
    broker.set_displays(dict.fromkeys(names, PASSWORD))
    with ExitStack() as wires, strict_broker(broker.broker.services_port, TEN) as door:
        for name in names:
            wire = Wire.connect(broker.broker.displays_port, name, PASSWORD)
            wires.callback(wire.close)
            wire.subscribe(f"signage/{name}/commands")

        bridge = start_bridge(constants=PATIENT, MQTT_URL=f"mqtt://{LOOPBACK}:{door.port}")
        waiting = "SELECT count(*) FROM client_commands WHERE id = ANY(:ids) AND state <> 'sent'"
        eventually(lambda: database.value(waiting, ids=commands) == 0, SECONDS)

        assert "broker_disconnected" not in bridge.events()
        assert (door.thrown_out, door.most) == (0, 9)  # and one place is left for the canary
        told = "SELECT DISTINCT publish_attempts, unanswered_at FROM client_commands WHERE id = ANY(:ids)"
        assert database.rows(told, ids=commands) == [{"publish_attempts": 1, "unanswered_at": None}]
        assert bridge.ready()
        assert bridge.ask("/readyz")[1]["broker_lacks"] == [
            "it takes 10 messages at a time (Receive Maximum): commands to many displays go out slowly"
        ]


def test_a_broker_that_takes_one_at_a_time_gets_commands_and_canaries_in_turn(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker, engine: Engine, database: Database
) -> None:
    commands = [issue(engine, new_client(engine), CommandAction.RESTART_APP) for _ in range(5)]
    with strict_broker(broker.broker.services_port, Script(receive_maximum(1), 1, answer_seconds=0.02)) as door:
        bridge = start_bridge(MQTT_URL=f"mqtt://{LOOPBACK}:{door.port}")

        unanswered = "SELECT count(*) FROM client_commands WHERE id = ANY(:ids) AND publish_answer IS NULL"
        eventually(lambda: database.value(unanswered, ids=commands) == 0, SECONDS)

        assert (door.thrown_out, door.most) == (0, 1)
        assert bridge.ready()


def test_a_broker_that_brings_nothing_more_to_a_session_is_connected_to_anew(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker
) -> None:
    with strict_broker(broker.broker.services_port, Script(forgets=b"bridge", accepting_seconds=0.5)) as door:
        lively = {"bridge.duties.CANARY_SECONDS": 3.0}
        bridge = start_bridge(wait=False, constants=lively, MQTT_URL=f"mqtt://{LOOPBACK}:{door.port}")

        eventually(lambda: door.forgot and bridge.ready(), 4 * SECONDS)

        ended = [line["why"] for line in bridge.lines() if line["event"] == "broker_disconnected"]
        stillness = [why for why in ended if "not even a canary" in why]  # a busy machine may break others
        assert len(stillness) == 1, ended


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script(b"\x24\x00"), "it takes QoS 0 only"),
        (Script(b"\x28\x00"), "it has no wildcards"),
        (Script(qos=0), "it grants QoS 0 for signage/+/heartbeat"),
    ],
)
def test_a_broker_on_which_the_bridge_cannot_work_makes_it_not_ready_in_words(
    script: Script, words: str, start_bridge: StartBridge, broker: mosquitto.RunningBroker
) -> None:
    with strict_broker(broker.broker.services_port, script) as door:
        bridge = start_bridge(wait=False, MQTT_URL=f"mqtt://{LOOPBACK}:{door.port}")

        eventually(lambda: "broker_lacks" in bridge.events(), SECONDS)
        eventually(lambda: any(words in fault for fault in bridge.ask("/readyz")[1].get("faults", [])), SECONDS)

        assert not bridge.ready()
        assert any(words in lack for lack in bridge.ask("/readyz")[1]["broker_lacks"])
        assert bridge.events().count("broker_lacks") == 1


def test_who_uses_the_bridges_login_too_is_told_of_and_not_fought_each_half_second(
    start_bridge: StartBridge, broker: mosquitto.RunningBroker
) -> None:
    bridge = start_bridge()

    def is_told() -> bool:
        if bridge.ask("/readyz")[1].get("connected"):
            port, password = broker.broker.services_port, broker.passwords["bridge"]
            Wire.connect(port, "bridge", password, clean_start=False, expiry_seconds=60).close()
        return any("another deployment" in fault for fault in bridge.ask("/readyz")[1].get("faults", []))

    eventually(is_told, SECONDS)

    assert not bridge.ready()
    assert bridge.events().count("thrown_out") == 1
    eventually(bridge.ready, SECONDS)  # without a second bridge


@contextmanager
def boundless(folder: Path, displays: Mapping[str, str]) -> Iterator[mosquitto.RunningBroker]:
    """A Mosquitto with these logins and no limits."""
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port())
    place.run.mkdir()
    passwords = {"bridge": "password-of-bridge"}
    place.displays_password_file.write_text(
        mosquitto.password_lines({**mosquitto.service_logins(passwords), **displays})
    )
    listeners = "".join(f"listener {port} {LOOPBACK}\n" for port in (place.displays_port, place.services_port))
    logins = f"allow_anonymous false\npassword_file {place.displays_password_file}\n"
    place.configuration.write_text(logins + listeners)
    place.displays_password_file.chmod(0o644)
    folder.chmod(0o755)
    command = (str(mosquitto.find_program()), "-c", str(place.configuration))
    with running(command, mosquitto.answers(place), folder / "log", user=mosquitto.system_user()) as process:
        yield mosquitto.RunningBroker(place, passwords, process.pid)


def largest_bytes(bridge: BridgeProcess) -> int:
    """The peak of its memory."""
    lines = Path(f"/proc/{bridge.process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def test_a_message_of_40_mb_neither_stops_the_bridge_nor_fills_its_memory(
    database_url: str, database: Database, tmp_path: Path
) -> None:
    name = str(uuid.uuid4())
    with (
        boundless(tmp_path, {name: PASSWORD}) as broker,
        bridges(database_url, broker, tmp_path, preloaded=True) as start,
    ):
        bridge = start()
        before = largest_bytes(bridge)
        wire = Wire.connect(broker.broker.displays_port, name, PASSWORD)
        wire.publish(f"signage/{name}/logs/info".encode(), b"x" * LARGE_BYTES)
        wire.publish(
            f"signage/{name}/heartbeat".encode(), json.dumps({"process_status": "running", **stamp(1)}).encode()
        )
        eventually(lambda: _all_answered(wire), SECONDS)

        eventually(lambda: database.client(name).get("status") == "running", SECONDS)
        eventually(bridge.ready, SECONDS)

        assert largest_bytes(bridge) - before < LARGE_BYTES / 2
        assert "broker_disconnected" not in bridge.events()
        wire.close()


def _all_answered(wire: Wire) -> bool:
    wire.flush()
    wire.take()
    return not wire.unanswered and not wire.outgoing
