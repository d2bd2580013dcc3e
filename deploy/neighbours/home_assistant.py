"""Displays as devices of Home Assistant: `python -m deploy.neighbours.home_assistant` until SIGTERM.

It asks the API for the overview as a page does, publishes at Home Assistant's broker, and turns pressed buttons into
commands. One thread does all: should it hang, the broker ends the connection and publishes that nobody knows.

    SIGNAGE_API_URL, SIGNAGE_API_TOKEN     the token's role and sites are those of Home Assistant's people
    HOME_ASSISTANT_MQTT_URL                mqtt:// or mqtts://host[:port]; MQTT 5
    HOME_ASSISTANT_MQTT_USERNAME, HOME_ASSISTANT_MQTT_PASSWORD
    HOME_ASSISTANT_TOPIC_ROOT              signage-fleet; another one for each deployment at this broker
    PUBLIC_URL                             where people open the dashboard, for links; may be missing
"""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self
from urllib.parse import urlsplit

import msgspec
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from deploy.neighbours import home_assistant_rules as rules
from deploy.neighbours.api import Api, Misconfigured, Refused, Unanswered, check_url, needed
from deploy.neighbours.home_assistant_rules import OFFLINE, ONLINE, Display, Place, Press
from shared import typed
from shared.outside import tls
from shared.outside.mqtt import DEFAULT_PORTS, connect_properties
from shared.stopping import stop_event
from shared.structured_log import Outage, configure, event
from shared.version import version
from shared.vocabulary import Role

POLL_SECONDS: Final = 5.0  # as the page does
SHORTEST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 60.0
OLD_SECONDS: Final = 30.0  # after so long without an answer of the API nobody knows how the displays are
CONNECT_SECONDS: Final = 10.0
KEEPALIVE_SECONDS: Final = 30
STEP_SECONDS: Final = 0.5
MOST_PRESSES: Final = 100
CONFIGS: Final = f"{Place.prefix}/device/+/config"
REFUSED: Final = 0x80  # reason codes from here on are errors


@dataclass(frozen=True)
class Settings:
    """The settings, from the environment."""

    api_url: str
    token: str = field(repr=False)
    mqtt_url: str
    username: str
    password: str = field(repr=False)
    place: Place
    page: str

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Self:
        """Raises Misconfigured."""
        api_url = needed(environment, "SIGNAGE_API_URL").rstrip("/")
        mqtt_url = needed(environment, "HOME_ASSISTANT_MQTT_URL")
        root = environment.get("HOME_ASSISTANT_TOPIC_ROOT") or Place.root
        check_url("SIGNAGE_API_URL", api_url, ("http", "https"))
        check_url("HOME_ASSISTANT_MQTT_URL", mqtt_url, tuple(DEFAULT_PORTS))
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", root):
            raise Misconfigured("HOME_ASSISTANT_TOPIC_ROOT: expected 1 to 64 letters, digits, _ and -")
        return cls(
            api_url,
            needed(environment, "SIGNAGE_API_TOKEN"),
            mqtt_url,
            environment.get("HOME_ASSISTANT_MQTT_USERNAME", ""),
            environment.get("HOME_ASSISTANT_MQTT_PASSWORD", ""),
            Place(root=root),
            environment.get("PUBLIC_URL", ""),
        )


class _Heard(msgspec.Struct):
    state: str


class Overview(msgspec.Struct):
    """The overview, or its changes."""

    cursor: str
    full: bool
    gone: list[str]
    bridge: _Heard
    clients: list[Display]


class _Caller(msgspec.Struct):
    role: str


class _Session(msgspec.Struct):
    principal: _Caller


class _Command(msgspec.Struct):
    id: str
    state: str
    outcome_reason: str | None
    finished_at: str | None


class Source(Protocol):
    """What a fleet is read from."""

    def overview(self, since: str | None) -> Overview: ...

    def may_command(self) -> bool: ...


class Service(Api):
    """What Home Assistant's side asks of our API."""

    def overview(self, since: str | None) -> Overview:
        """The fleet, or its changes since a cursor. Raises Unanswered or Refused."""
        query = {"since": since} if since else {}
        return typed.decode(self.ask("GET", "/api/monitoring/overview", params=query), Overview)

    def may_command(self) -> bool:
        """Whether the token may send commands. Raises Unanswered or Refused."""
        return typed.decode(self.ask("GET", "/api/session"), _Session).principal.role != Role.VIEWER

    def send(self, press: Press) -> _Command:
        """Send the command of a press, once however often this is called. Raises Unanswered or Refused."""
        body = {"action": press.action, "reason": "Home Assistant"}
        path, headers = f"/api/clients/{press.uuid}/commands", {"Idempotency-Key": press.key}
        return typed.decode(self.ask("POST", path, json=body, headers=headers), _Command)

    def command(self, command_id: str) -> _Command:
        """A command as it is now. Raises Unanswered or Refused."""
        return typed.decode(self.ask("GET", f"/api/commands/{command_id}"), _Command)


class Lost(Exception):
    """The connection to the broker is over; the message says why."""


class Link:
    """One connection to Home Assistant's broker. Its will says that nobody knows how the displays are.

    The client id is the topic root, so that a new connection ends an older one, whose will would come late. The
    session ends with it: what was pressed meanwhile is not kept.
    """

    def __init__(self, settings: Settings) -> None:
        """Does not connect yet."""
        self.place = settings.place
        self.presses: list[Press] = []
        self.kept: set[str] = set()
        """Displays for which the broker holds retained messages."""
        self._ready, self._fault = False, ""
        self._parts = urlsplit(settings.mqtt_url)
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            self.place.root,
            protocol=MQTTProtocolVersion.MQTTv5,
            reconnect_on_failure=False,
        )
        if settings.username:
            self._client.username_pw_set(settings.username, settings.password)
        if self._parts.scheme == "mqtts":
            self._client.tls_set_context(tls.trusting())
        self._client.connect_timeout = CONNECT_SECONDS
        self._client.will_set(self.place.status, OFFLINE, qos=1, retain=True)
        self._client.on_connect = self._connected
        self._client.on_subscribe = self._subscribed
        self._client.on_publish = self._answered
        self._client.on_message = self._heard

    def open(self) -> None:
        """Connect and subscribe. Raises Lost."""
        port = self._parts.port or DEFAULT_PORTS[self._parts.scheme]
        until = time.monotonic() + CONNECT_SECONDS
        try:
            self._client.connect(
                self._parts.hostname or "", port, KEEPALIVE_SECONDS, clean_start=True, properties=connect_properties()
            )
        except (OSError, ValueError) as error:
            raise Lost(f"cannot be reached: {type(error).__name__}") from error
        while not self._ready:
            self.step(STEP_SECONDS)
            if time.monotonic() > until:
                raise Lost("does not answer")

    def step(self, seconds: float) -> None:
        """Read and write for up to so long. Raises Lost."""
        code = self._client.loop(seconds)
        if self._fault or code != MQTTErrorCode.MQTT_ERR_SUCCESS:
            raise Lost(self._fault or "the connection is closed")

    def keep(self, topic: str, payload: bytes | str) -> None:
        """Publish a retained message; an empty one removes it."""
        self._client.publish(topic, payload, qos=1, retain=True)

    def close(self) -> None:
        """Publish that nobody knows any more, and disconnect."""
        sent = self._client.publish(self.place.status, OFFLINE, qos=1, retain=True)
        until = time.monotonic() + STEP_SECONDS * 4
        while not sent.is_published() and time.monotonic() < until:
            if self._client.loop(STEP_SECONDS) != MQTTErrorCode.MQTT_ERR_SUCCESS:
                return
        self._client.disconnect()
        self._client.loop(STEP_SECONDS)

    def _connected(self, client: Client, _data: Any, _flags: Any, code: ReasonCode, _properties: Any) -> None:
        if code.value >= REFUSED:
            self._fault = f"refuses the connection: {code}"
            return
        asked = SubscribeOptions(qos=1, noLocal=True)
        live = SubscribeOptions(qos=0, retainAsPublished=True, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND)
        client.subscribe([(CONFIGS, asked), (self.place.state("+"), asked), (self.place.press("+", "+"), live)])

    def _subscribed(self, _client: Client, _data: Any, _mid: int, codes: list[ReasonCode], _properties: Any) -> None:
        if any(code.value >= REFUSED for code in codes):
            self._fault = f"refuses a subscription of {CONFIGS} or below {self.place.root}/"
        self._ready = True

    def _answered(self, _client: Client, _data: Any, _mid: int, code: ReasonCode, _properties: Any) -> None:
        if code.value >= REFUSED:
            self._fault = f"refuses a message below {self.place.root}/ or to {CONFIGS}: {code}"

    def _heard(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            return
        if uuid := rules.subject(self.place, topic):
            self.kept |= {uuid} if message.payload else set()
            return
        if not topic.startswith(f"{self.place.root}/"):
            return  # a device of somebody else
        press = None if message.retain else rules.read_press(self.place, topic, bytes(message.payload))
        if press is None or len(self.presses) >= MOST_PRESSES:
            event("press_ignored", "a message is no press of a button, or too many wait", topic=topic)
        elif press.key not in {one.key for one in self.presses}:
            self.presses.append(press)


class Fleet:
    """The displays that the token may see, as of the last answer of the API."""

    def __init__(self, service: Source, clock: Callable[[], float] = time.monotonic) -> None:
        """Knows nothing yet."""
        self.displays: dict[str, Display] = {}
        self.may_command = False
        self.known = False
        """There was a whole answer."""
        self._service, self._clock = service, clock
        self._cursor: str | None = None
        self._listening = False
        self._answered_at = 0.0

    def poll(self) -> set[str]:
        """Read the changes. Returns the changed and the deleted displays. Raises Unanswered or Refused."""
        answer = self._service.overview(self._cursor)
        changed = {one.uuid for one in answer.clients} | set(answer.gone)
        if answer.full:
            self.may_command = self._service.may_command()
            changed |= self.displays.keys()
            self.displays = {}
        for uuid in answer.gone:
            self.displays.pop(uuid, None)
        self.displays |= {one.uuid: one for one in answer.clients}
        self._cursor, self.known = answer.cursor, True
        self._listening, self._answered_at = answer.bridge.state == "listening", self._clock()
        return changed

    def is_fresh(self) -> bool:
        """Whether its states are true now: the API answered lately, and the bridge hears the displays."""
        return self.known and self._listening and self._clock() - self._answered_at <= OLD_SECONDS


Asked = dict[str, tuple[Press, str]]
"""Uuid -> its last press that made a command, and the command's id, until it ends."""


class Neighbour:
    """What is published over one connection, and the presses that came over it."""

    def __init__(self, settings: Settings, service: Service, fleet: Fleet, link: Link, asked: Asked) -> None:
        """Everything is to be published: the broker may have lost what it kept. `asked` outlives the connection."""
        self._settings, self._service, self._fleet, self._link = settings, service, fleet, link
        self._place = settings.place
        self._due = set(fleet.displays)
        self._told: dict[str, bytes] = {}  # uuid -> its discovery message
        self._status = ""
        self._answers: dict[str, bytes] = {}  # uuid -> the answer to its last press
        self._unanswered: list[Press] = []
        self._leaving: set[str] = set()
        self._asked = asked

    def turn(self, changed: set[str]) -> None:
        """Publish what changed."""
        self._due |= changed
        for uuid in self._due & self._fleet.displays.keys():
            self._tell(self._fleet.displays[uuid])
        if self._fleet.known:
            for uuid in (self._link.kept | self._told.keys() | self._due) - self._fleet.displays.keys():
                self._remove(uuid)
        self._due = set()
        if (status := ONLINE if self._fleet.is_fresh() else OFFLINE) != self._status:
            self._status = status
            self._link.keep(self._place.status, status)

    def _tell(self, display: Display) -> None:
        may = self._fleet.may_command
        told = rules.discovery(display, self._place, version(), self._settings.page, may_command=may)
        if self._told.get(display.uuid) != told:
            self._link.keep(self._place.config(display.uuid), told)
            self._told[display.uuid] = told
        self._link.keep(self._place.state(display.uuid), rules.state(display))

    def _remove(self, uuid: str) -> None:
        self._link.keep(self._place.config(uuid), b"")
        self._leaving.add(uuid)
        for known in (self._told, self._answers, self._asked):
            known.pop(uuid, None)
        self._link.kept.discard(uuid)

    def clear(self) -> None:
        """Remove what is kept of displays that left at an earlier turn: their entities would not understand it."""
        for uuid in self._leaving - self._fleet.displays.keys():
            self._link.keep(self._place.state(uuid), b"")
            self._link.keep(self._place.answer(uuid), b"")
        self._leaving = set()

    def answer_presses(self, *, again: bool) -> None:
        """Send a command for each new press. `again`: also for recent presses that the API did not answer."""
        presses, self._link.presses = self._link.presses, []
        if again:
            presses, self._unanswered = self._unanswered + presses, []
        for press in presses:
            self._asked.pop(press.uuid, None)
            if press.uuid not in self._fleet.displays:
                event("press_ignored", "a button of an unknown display was pressed", client_uuid=press.uuid)
            elif late := press.lateness(time.time()):
                if self._answers.get(press.uuid) != rules.unanswered(press.action):
                    self._answer(press, rules.outcome(press.action, late))
            elif not self._send(press):
                self._unanswered.append(press)

    def _send(self, press: Press) -> bool:
        """Returns whether it needs no other try."""
        try:
            command = self._service.send(press)
        except Unanswered:
            self._answer(press, rules.unanswered(press.action))
            return False
        except (Refused, msgspec.DecodeError) as error:
            until = error.locked_until if isinstance(error, Refused) else None
            locked = f" Locked until {rules.minute(until)}." if until else ""
            self._answer(press, rules.outcome(press.action, f"refused: {error}{locked}"))
            return True
        self._asked[press.uuid] = press, command.id
        self._answer(press, rules.outcome(press.action, command.state, command.outcome_reason))
        return True

    def follow(self) -> None:
        """Tell what became of the commands that were pressed."""
        for uuid, (press, command_id) in list(self._asked.items()):
            now = self._fleet.displays[uuid].open_command
            if now is not None and now.id == command_id:
                self._answer(press, rules.outcome(press.action, now.state))
                continue
            try:
                command = self._service.command(command_id)
            except (Unanswered, Refused, msgspec.DecodeError):
                continue  # the next poll tries again; a deleted display is forgotten
            self._answer(press, rules.outcome(press.action, command.state, command.outcome_reason))
            if command.finished_at:
                del self._asked[uuid]

    def _answer(self, press: Press, payload: bytes) -> None:
        if self._answers.get(press.uuid) != payload:
            self._answers[press.uuid] = payload
            self._link.keep(self._place.answer(press.uuid), payload)


def run(settings: Settings, stop: threading.Event) -> None:
    """Serve until `stop`. A broker that is lost, or refuses, is tried again, ever less often."""
    service, asked = Service(settings.api_url, settings.token), Asked()
    fleet, broker, pause = Fleet(service), Outage("home_assistant_broker"), SHORTEST_PAUSE_SECONDS
    while not stop.is_set():
        link, began = Link(settings), time.monotonic()
        try:
            link.open()
            broker.over()
            _serve(Neighbour(settings, service, fleet, link, asked), fleet, link, stop)
            link.close()
        except Lost as error:
            broker.began(error, reason=str(error))
            lasted = time.monotonic() - began
            pause = SHORTEST_PAUSE_SECONDS if lasted > LONGEST_PAUSE_SECONDS else min(pause * 2, LONGEST_PAUSE_SECONDS)
            stop.wait(pause)


def _serve(neighbour: Neighbour, fleet: Fleet, link: Link, stop: threading.Event) -> None:
    """Serve over this connection. Raises Lost."""
    api, pause, poll_at = Outage("signage_api"), POLL_SECONDS, 0.0
    while not stop.is_set():
        changed, polls = set[str](), time.monotonic() >= poll_at
        if polls:
            neighbour.clear()
            try:
                changed = fleet.poll()
                api.over()
                pause = POLL_SECONDS
            except (Unanswered, Refused, msgspec.DecodeError) as error:
                api.began(error, reason=str(error))
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            poll_at = time.monotonic() + pause
        neighbour.turn(changed)
        neighbour.answer_presses(again=polls)
        if polls:
            neighbour.follow()
        link.step(STEP_SECONDS)


def main() -> int:
    """Run until SIGTERM or SIGINT. Returns the exit code: 2 after a configuration error."""
    configure("home_assistant", version=version())
    try:
        settings = Settings.read(os.environ)
    except Misconfigured as error:
        event("configuration_error", str(error))
        return 2
    run(settings, stop_event())
    return 0


if __name__ == "__main__":
    sys.exit(main())
