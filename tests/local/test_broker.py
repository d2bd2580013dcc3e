"""The shipped mosquitto configuration: who may connect, under which identity, and with which rights."""

import socket
import subprocess
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from deploy.parts import broker as mosquitto
from deploy.parts import broker_launch
from deploy.parts.broker import RunningBroker
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import connect_code, free_port, wait_until
from deploy.parts.short_lived import running
from tests.lab.campaigns.logins import without_door
from tests.local.mqtt_clients import NO_SUBSCRIBERS, NOT_AUTHORIZED, ONE, OTHER, Refused, connected, publish, subscribe


@pytest.fixture(scope="module")
def displays(broker: RunningBroker) -> dict[str, str]:
    """Return two displays' logins: user name -> password."""
    logins = {ONE: "password of the first", OTHER: "password of the other"}
    broker.set_displays(logins)
    return logins


def service(broker: RunningBroker, name: str) -> Any:
    return connected(broker.broker.services_port, name, broker.passwords[name], client_id=name)


def display(broker: RunningBroker, displays: dict[str, str], name: str, client_id: str = "") -> Any:
    return connected(broker.broker.displays_port, name, displays[name], client_id)


def test_both_listeners_refuse_whoever_has_no_login(broker: RunningBroker) -> None:
    assert connect_code(broker.broker.displays_port) == NOT_AUTHORIZED
    assert connect_code(broker.broker.services_port) == NOT_AUTHORIZED


def test_a_display_is_itself_with_its_own_rights_on_every_listener_that_lets_it_in(
    broker: RunningBroker, displays: dict[str, str]
) -> None:
    place = broker.broker
    with service(broker, "bridge") as (bridge, seen), display(broker, displays, OTHER) as (_neighbour, neighbours):
        subscribe(bridge, "signage/+/heartbeat")
        for pretended in ("bridge", OTHER, "api", ONE):
            with connected(place.displays_port, ONE, displays[ONE], client_id=pretended) as (impostor, told):
                assert publish(impostor, told, f"signage/{OTHER}/commands") == NOT_AUTHORIZED
                assert publish(impostor, told, f"signage/{ONE}/heartbeat") == 0

        assert not neighbours.disconnected.is_set()
        assert not seen.disconnected.is_set()


def test_at_the_services_listener_a_display_is_let_in_under_its_own_name_alone(
    broker: RunningBroker, displays: dict[str, str]
) -> None:
    port = broker.broker.services_port
    with service(broker, "bridge") as (_, seen), display(broker, displays, OTHER) as (_neighbour, neighbours):
        for pretended in ("bridge", "api", OTHER, ""):
            with pytest.raises(Refused, match="Not authorized"), connected(port, ONE, displays[ONE], pretended):
                pass
        with connected(port, ONE, displays[ONE], ONE) as (client, told):
            assert publish(client, told, f"signage/{OTHER}/heartbeat") == NOT_AUTHORIZED

        assert not seen.disconnected.is_set()
        assert not neighbours.disconnected.is_set()


def test_a_service_may_have_several_connections_of_one_user(broker: RunningBroker) -> None:
    port, password = broker.broker.services_port, broker.passwords["api"]
    with connected(port, "api", password, "api-1") as (_, first), connected(port, "api", password, "api-2") as (two, _):
        subscribe(two, "nothing")

        assert not first.disconnected.is_set()


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        *((f"signage/{ONE}/{topic}", 1) for topic in ("commands", "logs_committed", "log_level")),
        *((f"signage/{ONE}/{topic}", NOT_AUTHORIZED) for topic in ("#", "+", "heartbeat", "commands/#", "")),
        *((topic, NOT_AUTHORIZED) for topic in ("#", "+/+/commands", f"signage/{OTHER}/commands", "$SYS/#")),
        (f"$share/g/signage/{ONE}/commands", NOT_AUTHORIZED),
        ("$share/g/signage/+/heartbeat", NOT_AUTHORIZED),
        (f"signage/{ONE}", NOT_AUTHORIZED),
        (f"signage/{ONE}/" + "x" * 60_000, NOT_AUTHORIZED),
    ],
)
def test_a_display_subscribes_to_its_own_downward_topics_and_to_nothing_else(
    broker: RunningBroker, displays: dict[str, str], topic: str, code: int
) -> None:
    with display(broker, displays, ONE) as (client, _):
        assert subscribe(client, topic) == code


@pytest.mark.parametrize(
    ("topic", "qos", "retained", "allowed"),
    [
        ("presence", 1, True, True),
        ("presence", 1, False, True),
        ("heartbeat", 0, False, True),
        ("heartbeat", 1, True, False),
        ("logs/info", 1, True, False),
        ("logs/made-up", 1, True, False),
        ("heartbeat", 2, False, False),
        ("presence", 2, True, False),
    ],
)
def test_a_display_retains_its_presence_alone_and_sends_nothing_twice(
    broker: RunningBroker, displays: dict[str, str], topic: str, qos: int, retained: bool, allowed: bool
) -> None:
    with service(broker, "bridge") as (bridge, heard), display(broker, displays, ONE) as (client, seen):
        for kind in ("presence", "heartbeat", "logs/+", "acks"):
            subscribe(bridge, f"signage/{ONE}/{kind}")
        heard.messages.clear()  # what was retained before
        publish(client, seen, f"signage/{ONE}/{topic}", b"tried", qos=qos, retain=retained)
        publish(client, seen, f"signage/{ONE}/acks", b"last")

        wait_until(lambda: any(payload == b"last" for _, payload in heard.messages), 60)
        publish(client, seen, f"signage/{ONE}/presence", b"", retain=True)  # later subscribers receive nothing
        assert (b"tried" in [payload for _, payload in heard.messages]) is allowed


def test_services_subscribe_as_before(broker: RunningBroker) -> None:
    with service(broker, "bridge") as (client, _):
        assert [subscribe(client, topic) for topic in ("signage/+/heartbeat", "signage/+/logs/+")] == [1, 1]


def what_waits_for_the_bridge(place: mosquitto.Broker, folder: Path) -> int:
    """Return how many of ten messages published while the bridge is away reach it once it is back."""
    passwords = dict.fromkeys(mosquitto.SERVICES, "service")
    with (
        running(
            mosquitto.command(place), mosquitto.answers(place), folder / "log", user=mosquitto.system_user()
        ) as process,
    ):
        if "plugin " in place.configuration.read_text():
            mosquitto.RunningBroker(place, passwords, process.pid).set_displays({ONE: "one"})
        with connected(place.services_port, "bridge", "service", "bridge", expiry_seconds=3600) as (bridge, _):
            subscribe(bridge, "signage/+/logs/+")
        with connected(place.displays_port, ONE, "one") as (client, told):
            for number in range(10):
                assert publish(client, told, f"signage/{ONE}/logs/info", str(number).encode()) == 0
        with connected(place.displays_port, ONE, "one", "bridge"):
            pass  # a display with the bridge's client id and a clean start deletes nothing of the bridge's session
        with connected(place.services_port, "bridge", "service", "bridge", expiry_seconds=3600) as (back, heard):
            subscribe(back, "signage/+/acks")  # acknowledged after the waiting messages
            return len(heard.messages)


def test_what_is_published_while_the_bridge_is_away_waits_for_it(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    mosquitto.prepare(place, dict.fromkeys(mosquitto.SERVICES, "service"))

    assert what_waits_for_the_bridge(place, tmp_path) == 10


def test_trap_3_without_the_door_a_display_wipes_what_waits_for_the_bridge(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    open_to_all(place)

    assert what_waits_for_the_bridge(place, tmp_path) == 0


def open_to_all(place: mosquitto.Broker) -> None:
    """Give the broker one display's login, and no rule that binds client ids to user names."""
    services = dict.fromkeys(mosquitto.SERVICES, "service")
    mosquitto.prepare(place, services)
    place.configuration.write_text(without_door(place).replace("use_username_as_clientid true\n", ""))
    place.displays_password_file.write_text(mosquitto.password_lines({**services, ONE: "one"}))


def test_a_wrong_password_and_an_unknown_user_are_refused(broker: RunningBroker, displays: dict[str, str]) -> None:
    assert connect_code(broker.broker.displays_port, ONE, displays[OTHER]) == NOT_AUTHORIZED
    assert connect_code(broker.broker.displays_port, str(uuid.uuid4()), "any") == NOT_AUTHORIZED
    assert connect_code(broker.broker.services_port, "bridge", "guess") == NOT_AUTHORIZED


def test_trap_3_a_display_that_calls_itself_bridge_does_not_take_the_bridges_session(
    broker: RunningBroker, displays: dict[str, str]
) -> None:
    with service(broker, "bridge") as (bridge, seen):
        subscribe(bridge, "signage/+/heartbeat")

        with display(broker, displays, ONE, client_id="bridge") as (impostor, told):
            publish(impostor, told, f"signage/{ONE}/heartbeat")

        wait_until(lambda: bool(seen.messages), 60)
        assert not seen.disconnected.is_set()
        assert bridge.is_connected()


def test_trap_3_without_the_door_the_takeover_would_be_seen(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    open_to_all(place)

    with (
        running(mosquitto.command(place), mosquitto.answers(place), tmp_path / "log", user=mosquitto.system_user()),
        connected(place.services_port, "bridge", "service", client_id="bridge") as (_bridge, seen),
        connected(place.displays_port, ONE, "one", client_id="bridge"),
    ):
        assert seen.disconnected.wait(60)


@pytest.mark.parametrize(
    ("topic", "allowed"),
    [
        *((f"signage/{ONE}/{topic}", True) for topic in ("heartbeat", "health", "service_failed")),
        *((f"signage/{ONE}/{topic}", True) for topic in ("presence", "acks", "logs/error")),
        (f"signage/{OTHER}/heartbeat", False),  # a neighbour's
        (f"signage/{ONE}/commands", False),  # its own, but read-only
        (f"signage/{OTHER}/commands", False),
        (f"signage/{ONE}/logs_committed", False),
        (f"signage/{ONE}/log_level", False),
        (f"signage/{ONE}/logs/error/deeper", False),
        ("signage/service/canary", False),
        ("elsewhere", False),
    ],
)
def test_a_display_writes_its_own_upward_topics_and_nothing_else(
    broker: RunningBroker, displays: dict[str, str], topic: str, allowed: bool
) -> None:
    with display(broker, displays, ONE) as (client, seen):
        code = publish(client, seen, topic)

    assert code == (NO_SUBSCRIBERS if allowed else NOT_AUTHORIZED)


@pytest.mark.parametrize(
    ("user", "topic", "allowed"),
    [
        ("bridge", f"signage/{ONE}/commands", True),
        ("bridge", f"signage/{ONE}/logs_committed", True),
        ("bridge", "signage/service/canary", True),
        ("bridge", f"signage/{ONE}/heartbeat", False),
        ("bridge", f"signage/{ONE}/log_level", False),
        ("api", f"signage/{ONE}/commands", True),
        ("api", f"signage/{ONE}/log_level", True),
        ("api", f"signage/{ONE}/logs_committed", False),
        ("api", "signage/service/canary", False),
        ("scheduler", f"signage/{ONE}/commands", True),
        ("scheduler", f"signage/{ONE}/log_level", False),
        ("scheduler", f"signage/{ONE}/heartbeat", False),
    ],
)
def test_each_service_writes_what_it_needs_and_nothing_else(
    broker: RunningBroker, user: str, topic: str, allowed: bool
) -> None:
    with service(broker, user) as (client, seen):
        code = publish(client, seen, topic)

    assert code == (NO_SUBSCRIBERS if allowed else NOT_AUTHORIZED)


def test_a_display_hears_its_own_commands_and_never_a_neighbours(
    broker: RunningBroker, displays: dict[str, str]
) -> None:
    with display(broker, displays, ONE) as (client, seen), service(broker, "api") as (api, told):
        subscribe(client, f"signage/{ONE}/commands")
        subscribe(client, "signage/+/commands")

        publish(api, told, f"signage/{OTHER}/commands", b"for the other")
        publish(api, told, f"signage/{ONE}/commands", b"for the first")

        wait_until(lambda: bool(seen.messages), 60)
        assert seen.messages == [(f"signage/{ONE}/commands", b"for the first")]


def test_the_api_and_the_scheduler_hear_nothing(broker: RunningBroker, displays: dict[str, str]) -> None:
    with (
        service(broker, "bridge") as (bridge, heard),
        service(broker, "api") as (api, api_heard),
        service(broker, "scheduler") as (scheduler, scheduler_heard),
        display(broker, displays, ONE) as (client, seen),
    ):
        for listener in (bridge, api, scheduler):
            subscribe(listener, "signage/+/acks")

        publish(client, seen, f"signage/{ONE}/acks")

        wait_until(lambda: bool(heard.messages), 60)
        assert api_heard.messages == []
        assert scheduler_heard.messages == []


def test_a_login_that_is_taken_back_cuts_the_running_session(broker: RunningBroker) -> None:
    user = str(uuid.uuid4())
    broker.set_displays({user: "once"})
    with connected(broker.broker.displays_port, user, "once") as (_client, seen):
        broker.set_displays({ONE: "password of the first", OTHER: "password of the other"})

        assert seen.disconnected.wait(60)


def test_what_is_queued_for_the_bridge_survives_a_restart_of_the_broker(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    passwords = dict.fromkeys(mosquitto.SERVICES, "service")
    with mosquitto.serve(place, passwords, tmp_path / "log") as first:
        first.set_displays({ONE: "display"})
        with connected(place.services_port, "bridge", "service", "bridge", expiry_seconds=3600) as (bridge, _):
            subscribe(bridge, "signage/+/logs/+")
        with connected(place.displays_port, ONE, "display") as (client, seen):
            for number in range(50):
                assert publish(client, seen, f"signage/{ONE}/logs/info", str(number).encode()) == 0

    with (
        mosquitto.serve(place, passwords, tmp_path / "log"),
        connected(place.services_port, "bridge", "service", "bridge", expiry_seconds=3600) as (_, heard),
    ):
        wait_until(lambda: len(heard.messages) >= 50, 60)

    assert [payload for _topic, payload in heard.messages] == [str(number).encode() for number in range(50)]


def test_a_password_that_mosquitto_passwd_wrote_and_one_that_we_wrote_are_both_taken(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port())
    mosquitto.prepare(place, dict.fromkeys(mosquitto.SERVICES, "service"))
    subprocess.run(
        ["mosquitto_passwd", "-b", place.displays_password_file, OTHER, "theirs"], check=True, capture_output=True
    )
    written = place.displays_password_file.read_text() + mosquitto.password_lines({ONE: "ours"})
    place.displays_password_file.write_text(written)

    with running(mosquitto.command(place), mosquitto.answers(place), tmp_path / "log", user=mosquitto.system_user()):
        assert connect_code(place.displays_port, OTHER, "theirs") == 0
        assert connect_code(place.displays_port, ONE, "ours") == 0
        assert connect_code(place.displays_port, ONE, "theirs") == NOT_AUTHORIZED


def test_silent_connections_at_the_displays_door_leave_room_for_our_own_services(tmp_path: Path) -> None:
    place = mosquitto.Broker(tmp_path / "run", tmp_path / "data", free_port(), free_port(), displays_connections=20)
    passwords = {name: f"password of {name}" for name in mosquitto.SERVICES}
    with mosquitto.serve(place, passwords, tmp_path / "log") as served, ExitStack() as stack:
        for _ in range(60):
            silent = stack.enter_context(socket.create_connection((LOOPBACK, place.displays_port), 60))
        assert silent.recv(1) == b""  # beyond the limit it is closed immediately
        with service(served, "bridge") as (_, seen):
            assert not seen.disconnected.is_set()


def test_a_broker_takes_fewer_displays_than_it_may_open_files() -> None:
    assert mosquitto.DISPLAYS_CONNECTIONS < broker_launch.OPEN_FILES
