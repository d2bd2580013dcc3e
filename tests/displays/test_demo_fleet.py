"""A simulated display against a real broker with the shipped configuration, seen from the service's side."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from deploy.parts.broker import RunningBroker
from deploy.parts.layout import REPOSITORY
from displays.client.contract import LOGS
from displays.client.credentials import Credentials
from displays.simulated import outage
from displays.simulated.display import Behaviour
from displays.simulated.simulated import SimulatedDisplay

SUCCESS, NO_MATCHING_SUBSCRIBERS = 0x00, 0x10
UPWARD = ("heartbeat", "health", "logs/+", "service_failed", "presence", "acks")


@dataclass(frozen=True)
class Heard:
    """One message as the service received it."""

    topic: str  # below the display's own prefix
    body: dict[str, Any]
    qos: int
    retain: bool
    expiry_seconds: int | None


class Service:
    """The service's side: the bridge's login subscribes, the api's login publishes."""

    def __init__(self, broker: RunningBroker, display: str) -> None:
        self.heard: list[Heard] = []
        self._prefix = f"signage/{display}/"
        self._port = broker.broker.services_port
        self._subscribed = False
        self._codes: dict[tuple[mqtt.Client, int], int] = {}  # of the PUBACKs, by sender and packet id
        self._bridge = self._client("bridge", broker.passwords["bridge"])
        self._api = self._client("api", broker.passwords["api"])

    def _client(self, user: str, password: str) -> mqtt.Client:
        client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=f"{user}-{secrets.token_hex(4)}", protocol=mqtt.MQTTv5
        )
        client.username_pw_set(user, password)
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        client.on_subscribe = self._on_subscribe
        client.connect("127.0.0.1", self._port)
        client.loop_start()
        return client

    def listen(self) -> None:
        """Subscribe as the bridge does; until then every PUBACK is "no matching subscribers"."""
        self._bridge.subscribe([(self._prefix + topic, 1) for topic in UPWARD])
        until(lambda: self._subscribed)

    def _on_publish(self, client: mqtt.Client, _data: Any, mid: int, reason: ReasonCode, _p: Any) -> None:
        self._codes[client, mid] = reason.value

    def _on_subscribe(self, *_: Any) -> None:
        self._subscribed = True

    def _on_message(self, _client: mqtt.Client, _data: Any, message: mqtt.MQTTMessage) -> None:
        expiry = getattr(message.properties, "MessageExpiryInterval", None)
        name = message.topic.removeprefix(self._prefix)
        self.heard.append(Heard(name, json.loads(message.payload), message.qos, message.retain, expiry))

    def send(self, topic: str, body: dict[str, Any], expiry_seconds: int = 60, retain: bool = False) -> int:
        """Publish below the display's prefix; return the reason code of the broker's PUBACK."""
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # unannotated in paho
        properties.MessageExpiryInterval = expiry_seconds
        sender = self._bridge if topic in {"logs_committed", "hours", "look"} else self._api
        info = sender.publish(self._prefix + topic, json.dumps(body), 1, retain, properties)
        until(lambda: (sender, info.mid) in self._codes)
        return self._codes[sender, info.mid]

    def command(self, identity: str, action: str, **fields: Any) -> None:
        self.send("commands", {"id": identity, "action": action, "expires_at": "2030-01-01T00:00:00Z"} | fields)

    def of(self, topic: str) -> list[dict[str, Any]]:
        return [message.body for message in list(self.heard) if message.topic == topic]

    def one(self, topic: str) -> Heard:
        """Wait for the first message on `topic` and return it."""
        until(lambda: any(message.topic == topic for message in list(self.heard)))
        return next(message for message in self.heard if message.topic == topic)

    def acks(self) -> list[tuple[str, str, str | None]]:
        return [(body["id"], body["state"], body["reason"]) for body in self.of("acks")]

    def close(self) -> None:
        for client in (self._bridge, self._api):
            client.disconnect()
            client.loop_stop()


def until(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture
def credentials(broker: RunningBroker) -> Credentials:
    identity, password = str(uuid.uuid4()), secrets.token_urlsafe(24)
    broker.add_displays({identity: password})
    port = broker.broker.displays_port
    return Credentials(identity, identity, password, "127.0.0.1", port, False, None, "signage")


@pytest.fixture
def service(broker: RunningBroker, credentials: Credentials) -> Iterator[Service]:
    opened = Service(broker, credentials.uuid)
    opened.listen()
    yield opened
    opened.close()


@pytest.fixture
def display(credentials: Credentials, tmp_path: Path) -> Iterator[SimulatedDisplay]:
    """A connected display that publishes nothing by itself."""
    with SimulatedDisplay(credentials, tmp_path / "disk") as connected:
        yield connected


def test_every_kind_of_message_travels_as_the_contract_says(display: SimulatedDisplay, service: Service) -> None:
    assert display.heartbeat("running") == 0
    assert display.health(screen_health="black", broker_connection={"reconnect_count": 7}) == 0
    assert display.service_failed("player.service") == 0
    assert display.log("error", "went dark", panel=2)

    carried = {}
    for topic in ("heartbeat", "health", "service_failed", "logs/error"):
        message = service.one(topic)
        carried[topic] = (message.qos, message.retain, message.expiry_seconds)
    assert carried == {
        "heartbeat": (1, False, 30),
        "health": (1, False, 300),
        "service_failed": (1, False, None),
        "logs/error": (1, False, None),
    }
    for topic in carried:
        body = service.one(topic).body
        assert body["install_id"] == display.state.boot.install_id
        assert (body["boot_seq"], body["seq"]) == (1, 1)
    assert service.one("health").body["broker_connection"] == {"reconnect_count": 7}
    assert service.one("logs/error").body["context"] == {"panel": 2}


def test_presence_is_retained_and_a_clean_end_says_offline_for_the_same_session(
    broker: RunningBroker, credentials: Credentials, tmp_path: Path
) -> None:
    with SimulatedDisplay(credentials, tmp_path / "disk"):
        late_listener = Service(broker, credentials.uuid)
        late_listener.listen()
        online = late_listener.one("presence")
    until(lambda: len(late_listener.of("presence")) == 2)
    late_listener.close()

    offline = late_listener.of("presence")[1]
    assert online.retain
    assert online.body["state"] == "online"
    assert (offline["state"], offline["session"], offline["reason"]) == ("offline", online.body["session"], "stopped")


def test_a_command_for_a_display_that_left_is_known_to_reach_nobody(
    display: SimulatedDisplay, service: Service
) -> None:
    command = {"id": "c1", "action": "restart_app"}
    assert service.send("commands", command) == SUCCESS

    display.disconnect()

    until(lambda: service.send("commands", command) == NO_MATCHING_SUBSCRIBERS)  # once the broker has read the farewell


def test_a_pulled_plug_leaves_the_offline_word_to_the_broker_after_its_delay(
    display: SimulatedDisplay, service: Service
) -> None:
    online = service.one("presence").body

    display.cut()
    cut_at = time.monotonic()
    until(lambda: len(service.of("presence")) == 2, 60)

    assert time.monotonic() - cut_at > 15
    assert service.of("presence")[1] == online | {"state": "offline", "reason": "connection_lost"}


def test_a_reconnect_within_the_delay_is_never_seen_as_offline(display: SimulatedDisplay, service: Service) -> None:
    display.drop_connection()
    until(lambda: len(service.of("presence")) == 2)
    display.heartbeat()
    display.health()

    sessions = [body["session"] for body in service.of("presence")]
    assert [body["state"] for body in service.of("presence")] == ["online", "online"]
    assert sessions[0] != sessions[1]
    health = service.one("health").body
    assert health["boot_seq"] == 1
    assert health["broker_connection"]["reconnect_count"] == 1
    assert health["broker_connection"]["last_disconnect_at"] is not None


def test_a_site_without_network_is_gone_until_it_is_restored(display: SimulatedDisplay) -> None:
    gone = asyncio.run_coroutine_threadsafe(outage.cut([display.display]), display.call(asyncio.get_running_loop))

    assert gone.result(60) == [display.display]
    assert display.call(lambda: display.display.is_up) is False
    display.call(lambda: outage.restore(gone.result()))
    display.wait_until_up()


def test_a_restart_is_acknowledged_step_by_step_and_brings_a_new_app_instance(
    display: SimulatedDisplay, service: Service
) -> None:
    before = display.state.app_instance

    service.command("c1", "restart_app", if_app_instance=before)
    until(lambda: len(service.acks()) == 3)
    display.heartbeat()

    assert service.acks() == [("c1", "received", None), ("c1", "running", None), ("c1", "succeeded", None)]
    assert [body["seq"] for body in service.of("acks")] == [1, 2, 3]
    assert service.one("acks").expiry_seconds == 86_400
    assert service.of("acks")[2]["app_instance"] != before
    heartbeat = service.one("heartbeat").body
    assert heartbeat["app_instance"] == service.of("acks")[2]["app_instance"]
    assert heartbeat["last_command"] == {"id": "c1", "state": "succeeded"}


def test_a_command_that_is_delivered_twice_restarts_once(display: SimulatedDisplay, service: Service) -> None:
    service.command("c1", "restart_app")
    until(lambda: len(service.acks()) == 3)
    instance = display.state.app_instance

    service.command("c1", "restart_app")
    until(lambda: len(service.acks()) == 4)

    assert service.acks()[3] == ("c1", "succeeded", None)
    assert display.state.app_instance == instance


def test_a_precondition_that_fails_is_rejected(display: SimulatedDisplay, service: Service) -> None:
    service.command("c1", "reboot_host", if_boot_id="another boot")
    until(service.acks)

    assert service.acks() == [("c1", "rejected", "precondition_failed")]


@pytest.mark.parametrize("subscribed_before", [True, False])
def test_a_retained_command_is_never_obeyed(
    broker: RunningBroker, credentials: Credentials, service: Service, tmp_path: Path, subscribed_before: bool
) -> None:
    retained = {"id": "ghost", "action": "restart_app"}
    if not subscribed_before:
        service.send("commands", retained, retain=True)
    with SimulatedDisplay(credentials, tmp_path / "disk"):
        if subscribed_before:
            service.send("commands", retained, retain=True)
        service.command("live", "restart_app")
        until(lambda: len(service.acks()) == 3)

    assert {identity for identity, _, _ in service.acks()} == {"live"}


def test_a_reboot_says_offline_comes_back_as_a_new_boot_and_remembers_its_commands(
    display: SimulatedDisplay, service: Service
) -> None:
    before = display.state.boot

    service.command("c1", "reboot_host", if_boot_id=before.boot_id)
    until(lambda: len(service.acks()) == 3)
    service.command("c1", "reboot_host")
    until(lambda: len(service.acks()) == 4)

    assert [state for _, state, _ in service.acks()] == ["received", "running", "succeeded", "succeeded"]
    after = display.state.boot
    assert (after.install_id, after.boot_seq) == (before.install_id, 2)
    assert after.boot_id != before.boot_id
    assert [(body["state"], body["reason"]) for body in service.of("presence")] == [
        ("online", "connected"),
        ("offline", "reboot"),
        ("online", "connected"),
    ]


def test_a_shutdown_leaves_nobody_to_answer_and_is_told_after_the_next_start(
    display: SimulatedDisplay, service: Service
) -> None:
    service.command("c1", "shutdown_host")
    until(lambda: len(service.of("presence")) == 2)
    assert [state for _, state, _ in service.acks()] == ["received", "running"]

    display.connect()
    until(lambda: len(service.acks()) == 3)

    assert service.acks()[2] == ("c1", "succeeded", None)
    assert display.state.boot.boot_seq == 2


def test_a_display_switched_on_while_it_goes_down_boots_after_that(display: SimulatedDisplay, service: Service) -> None:
    display.switch_off_and_on()
    service.command("c1", "restart_app")
    until(lambda: len(service.acks()) == 3)

    assert service.acks()[2] == ("c1", "succeeded", None)
    assert [body["state"] for body in service.of("presence")] == ["online", "offline", "online"]
    assert display.state.boot.boot_seq == 2


def test_a_silent_display_answers_nothing_and_a_late_one_begins_nothing_expired(
    display: SimulatedDisplay, service: Service
) -> None:
    display.behave(answers_commands=False)
    service.command("unanswered", "restart_app")
    service.send("log_level", {"level": "debug", "until": 60})  # arrives after it
    display.wait_until(lambda: display.display.log("debug", "the command has arrived"))
    display.behave(answers_commands=True, answer_delay_seconds=5.0)
    service.send("commands", {"id": "too-late", "action": "restart_app"}, expiry_seconds=5)
    until(service.acks)

    assert service.acks() == [("too-late", "rejected", "expired")]


def test_logs_stay_spooled_until_committed_and_come_again_in_order(display: SimulatedDisplay, service: Service) -> None:
    for number in range(1, 6):
        display.log("info", f"line {number}")
    until(lambda: len(service.of("logs/info")) == 5)
    boot = display.state.boot
    service.send("logs_committed", {"install_id": boot.install_id, "boot_seq": 1, "seq": 2})
    until(lambda: display.spooled == 3)

    display.drop_connection()
    until(lambda: len(service.of("logs/info")) == 8)

    assert [body["seq"] for body in service.of("logs/info")] == [1, 2, 3, 4, 5, 3, 4, 5]
    service.send("logs_committed", {"install_id": boot.install_id, "boot_seq": 1, "seq": 5})
    until(lambda: display.spooled == 0)


def test_logs_written_without_a_network_arrive_when_it_is_back(display: SimulatedDisplay, service: Service) -> None:
    display.lose_network()
    for number in range(1, 4):
        display.log("warning", f"alone {number}")
    assert service.of("logs/warning") == []

    display.find_network()
    until(lambda: len(service.of("logs/warning")) == 3)

    assert [body["seq"] for body in service.of("logs/warning")] == [1, 2, 3]


def test_a_failure_notice_that_nobody_could_take_goes_out_when_the_network_is_back(
    display: SimulatedDisplay, service: Service
) -> None:
    display.lose_network()
    with pytest.raises(ConnectionError):
        display.service_failed("player.service")

    display.find_network()
    notice = service.one("service_failed").body
    display.wait_until_up()
    display.health()

    assert notice["unit"] == "player.service"
    assert service.one("health").body["service_failed"]["seq"] == notice["seq"]


def test_what_has_to_arrive_is_sent_again_after_a_loss_and_an_old_heartbeat_is_not(
    display: SimulatedDisplay, service: Service
) -> None:
    def speak_into_a_dying_connection() -> None:
        display.display.heartbeat()
        display.display.service_failed("player.service")
        display.display.drop_connection()

    display.call(speak_into_a_dying_connection)
    service.one("service_failed")
    display.heartbeat()
    until(lambda: service.of("heartbeat"))

    assert [body["seq"] for body in service.of("heartbeat")] == [2]
    assert [body["seq"] for body in service.of("service_failed")] == [1]


def test_a_temporary_log_level_lets_debug_lines_out(display: SimulatedDisplay, service: Service) -> None:
    assert not display.log("debug", "hidden")

    service.send("log_level", {"level": "debug", "until": 60})
    display.wait_until(lambda: display.display.log("debug", "shown"))
    display.health()

    assert service.one("logs/debug").body["seq"] == 1
    assert service.one("health").body["log_level"] == "debug"


@pytest.mark.parametrize("payload", [{"action": "restart_app"}, {"id": "x" * 129, "action": "restart_app"}])
def test_a_command_that_makes_no_sense_stops_nothing(
    display: SimulatedDisplay, service: Service, payload: dict[str, Any]
) -> None:
    service.send("commands", payload)
    service.command("next", "restart_app")
    until(lambda: len(service.acks()) == 3)

    assert {identity for identity, _, _ in service.acks()} == {"next"}


def test_a_plain_display_can_be_played_too(display: SimulatedDisplay, service: Service) -> None:
    display.publish_raw(LOGS, {"message": "no stamp"}, "fatal")

    assert service.one("logs/fatal").body == {"message": "no stamp"}


def test_an_automatic_display_says_by_itself_that_it_lives(
    credentials: Credentials, service: Service, tmp_path: Path
) -> None:
    with SimulatedDisplay(credentials, tmp_path / "disk", Behaviour(interval_seconds=5)):
        until(lambda: len(service.of("heartbeat")) >= 2)

    first, second = service.of("heartbeat")[:2]
    assert (first["seq"], second["seq"]) == (1, 2)
    assert first["interval_seconds"] == 5
    assert service.of("health")


def test_a_new_login_is_waited_for_and_the_reason_is_logged(
    broker: RunningBroker, credentials: Credentials, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    broker.set_displays({})
    caplog.set_level("INFO", logger="signage")
    display = SimulatedDisplay(credentials, tmp_path / "disk")
    with pytest.raises(TimeoutError):
        display.connect(timeout_seconds=0.5)
    until(lambda: "Not authorized" in " ".join(line["why"] for line in retries(caplog)))

    broker.set_displays({credentials.username: credentials.password})
    display.wait_until_up()
    display.close()

    assert {line["client_uuid"] for line in retries(caplog)} == {credentials.uuid}


def retries(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The fields of each log line about another try to connect."""
    written: list[dict[str, Any]] = [record.fields for record in list(caplog.records)]  # type: ignore[attr-defined]  # put there by structured_log
    return [fields for fields in written if fields["event"] == "connect_retry"]


def test_kill_9_keeps_the_installation_and_raises_the_boot_number(
    credentials: Credentials, service: Service, tmp_path: Path
) -> None:
    credentials.save(tmp_path / "credentials.json")
    first = start_process(tmp_path)
    until(lambda: service.of("heartbeat"))
    before = service.of("heartbeat")[-1]

    first.send_signal(signal.SIGKILL)
    first.wait(60)
    heard = len(service.of("heartbeat"))
    second = start_process(tmp_path)
    until(lambda: len(service.of("heartbeat")) > heard)
    after = service.of("heartbeat")[-1]
    second.send_signal(signal.SIGTERM)

    assert second.wait(60) == 0
    assert after["install_id"] == before["install_id"]
    assert (after["boot_seq"], after["seq"]) == (before["boot_seq"] + 1, 1)
    assert after["boot_id"] != before["boot_id"]
    until(lambda: service.of("presence")[-1]["state"] == "offline")
    assert service.of("presence")[-1]["reason"] == "stopped"


def start_process(folder: Path) -> subprocess.Popen[bytes]:
    """Start one display as a process of its own, with its disk in `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "displays.simulated", "--one", folder / "credentials.json", folder / "disk"],
        cwd=REPOSITORY,
        env=os.environ | {"DEMO_HEARTBEAT_SECONDS": "5"},
        stderr=subprocess.DEVNULL,
    )


# --- the screen ---


def test_a_screen_goes_off_and_its_report_comes_before_the_outcome(display: SimulatedDisplay, service: Service) -> None:
    service.command("c1", "screen_off")
    until(lambda: ("c1", "succeeded", None) in service.acks())

    assert service.acks() == [("c1", "received", None), ("c1", "running", None), ("c1", "succeeded", None)]
    last = service.of("health")[-1]
    assert (last["screen_health"], last["screen_off_by"]) == ("off", "command")

    service.command("c2", "screen_on")
    until(lambda: ("c2", "succeeded", None) in service.acks())
    last = service.of("health")[-1]
    assert (last["screen_health"], last["screen_off_by"]) == ("ok", None)


def test_hours_are_kept_over_a_power_cut_and_named_in_health(display: SimulatedDisplay, service: Service) -> None:
    never_open = {"version": "v1", "hours": {"zone": "UTC", "open": []}}

    service.send("hours", never_open)
    until(lambda: any(body["screen_health"] == "off" for body in service.of("health")))
    assert service.of("health")[-1]["hours_version"] == "v1"
    assert service.of("health")[-1]["screen_off_by"] == "hours"

    display.cut()
    display.connect()
    display.wait_until(lambda: not display.display.is_lit)
    display.health()
    until(lambda: service.of("health")[-1]["boot_seq"] == 2)
    assert (service.of("health")[-1]["screen_health"], service.of("health")[-1]["hours_version"]) == ("off", "v1")

    service.send("hours", {"version": None, "hours": None})
    until(lambda: service.of("health")[-1]["hours_version"] is None)
    until(lambda: service.of("health")[-1]["screen_health"] == "ok")


def test_how_the_screen_may_look_is_kept_over_a_power_cut_and_named_in_health(
    display: SimulatedDisplay, service: Service
) -> None:
    refused = [{"what": "look", "reason": "not_understood"}]
    service.send("look", {"version": "n1", "black": "grey"})
    until(
        lambda: display.health() == 0 and service.of("health")[-1:] and service.of("health")[-1]["refused"] == refused
    )
    service.send("look", {"version": "n1", "black": "allowed"})
    until(lambda: service.of("health")[-1].get("look_version") == "n1")
    assert service.of("health")[-1]["refused"] == []

    display.cut()
    display.connect()
    display.health()
    until(lambda: service.of("health")[-1]["boot_seq"] == 2)
    assert service.of("health")[-1]["look_version"] == "n1"


@pytest.mark.parametrize("order", ["hours", "look"])
def test_an_order_that_a_display_cannot_follow_is_refused_by_name(
    display: SimulatedDisplay, service: Service, order: str
) -> None:
    display.display._screen = display.display._kept_look = None
    service.send(order, {"version": "v1", "hours": {"zone": "UTC", "open": []}})

    refused = [{"what": order, "reason": "not_capable"}]
    until(
        lambda: display.health() == 0 and service.of("health")[-1:] and service.of("health")[-1]["refused"] == refused
    )


def test_retained_hours_are_ignored(display: SimulatedDisplay, service: Service, broker: RunningBroker) -> None:
    service.send("hours", {"version": "v1", "hours": {"zone": "UTC", "open": []}}, retain=True)
    service.command("c1", "screen_on")
    until(lambda: ("c1", "succeeded", None) in service.acks())

    assert service.of("health")[-1]["hours_version"] is None
