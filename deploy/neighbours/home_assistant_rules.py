"""The messages for Home Assistant about a display, and the meaning of a pressed button. Pure.

Home Assistant's side: https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload (2024.11 or newer).
"""

import math
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec

from shared.vocabulary import WELL, ClientStatus, CommandAction

LONGEST_STATE: Final = 255  # characters; Home Assistant refuses a longer state
LONGEST_NAME: Final = 200  # Latin letters, so that an entity's id with it has less than 255
LETTERS_OF_ONE: Final = 8
OLDEST_PRESS_SECONDS: Final = 60.0
NOBODY_KNOWS: Final = "None"  # Home Assistant shows a payload of this text as "unknown"
PAGES: Final = {
    "error_page": "shows an error page",
    "no_page": "shows no page",
    "wrong_page": "shows another page than expected",
}
BUTTONS: Final = {CommandAction.RESTART_APP: "Restart player", CommandAction.REBOOT_HOST: "Reboot"}
ONLINE, OFFLINE = "online", "offline"


class Until(msgspec.Struct):
    """What recovery does about a display, in words."""

    state: str
    why: str
    until: datetime | None


class Passed(msgspec.Struct):
    """A limit of health that a display passes."""

    limit: str


class Open(msgspec.Struct):
    """The open command of a display."""

    id: str
    state: str


class Display(msgspec.Struct):
    """A display as the overview shows it. Values that a newer service adds are texts like the others."""

    uuid: str
    name: str
    site: str | None
    tags: list[str]
    status: str
    status_since: datetime
    last_heartbeat_at: datetime | None
    screen_health: str
    screen_failed_since: datetime | None
    limits: list[Passed]
    service_failed_at: datetime | None
    service_mended_at: datetime | None
    service_failed_unit: str | None
    app_version: str | None
    ip: str | None
    hostname: str | None
    lockout_until: datetime | None
    recovery: Until | None
    open_command: Open | None
    incident_id: int | None


@dataclass(frozen=True)
class Place:
    """Where at the broker: Home Assistant's discovery prefix, and a root of our own. No topic has a display's name."""

    prefix: str = "homeassistant"
    root: str = "signage-fleet"

    @property
    def status(self) -> str:
        """Whether this program knows how the displays are: `online` or `offline`."""
        return f"{self.root}/status"

    def config(self, uuid: str) -> str:
        """Without a node id: Home Assistant 2025.2 does not remove the device of one with it."""
        return f"{self.prefix}/device/{self.root}_{uuid}/config"

    def state(self, uuid: str) -> str:
        return f"{self.root}/{uuid}/state"

    def answer(self, uuid: str) -> str:
        return f"{self.root}/{uuid}/answer"

    def press(self, uuid: str, action: str) -> str:
        return f"{self.root}/{uuid}/press/{action}"


def discovery(display: Display, place: Place, version: str, page: str = "", *, may_command: bool) -> bytes:
    """The discovery message of a display: one device with its entities.

    `page`: where people open the dashboard; empty: no link. A button without rights is named without content, which
    removes an older one.
    """
    name = fitting(display.name) or fitting(display.hostname or "") or display.uuid
    device = {
        "identifiers": [f"{place.root}_{display.uuid}"],
        "name": name,
        "manufacturer": "Signage Fleet",
        "model": "Display",
        "serial_number": display.uuid,
        **({"sw_version": display.app_version} if display.app_version else {}),
        **({"suggested_area": display.site} if display.site else {}),
        **({"configuration_url": f"{page.rstrip('/')}/?d={display.uuid}"} if page else {}),
    }
    answer = place.answer(display.uuid)
    shown: dict[str, dict[str, Any]] = {
        "state": {
            "platform": "sensor",
            "name": "State",
            "device_class": "enum",
            "options": list(ClientStatus),
            "json_attributes_topic": place.state(display.uuid),
        },
        "problem": {"platform": "binary_sensor", "name": "Problem", "device_class": "problem"},
        "words": {"platform": "sensor", "name": "In words", "icon": "mdi:text"},
        "since": {"platform": "sensor", "name": "Since", "device_class": "timestamp"},
        "answer": {"platform": "sensor", "name": "Last answer", "icon": "mdi:reply", "state_topic": answer},
    }
    components: dict[str, dict[str, Any]] = {
        key: {"value_template": f"{{{{ value_json.{key} }}}}", **one, "unique_id": f"{place.root}_{display.uuid}_{key}"}
        for key, one in shown.items()
    }
    for action, words in BUTTONS.items():
        components[action] = {"platform": "button"}
        if may_command:
            components[action] |= {
                "name": words,
                "unique_id": f"{place.root}_{display.uuid}_{action}",
                "command_topic": place.press(display.uuid, action),
                "command_template": "{{ utcnow().timestamp() }}",
                "qos": 0,  # a press that comes late or twice is worse than none
                "retain": False,
                "device_class": "restart",
            }
    return msgspec.json.encode(
        {
            "device": device,
            "origin": {"name": "Signage Fleet", "sw_version": version},
            "availability": [{"topic": place.status}],
            "state_topic": place.state(display.uuid),
            "components": components,
        }
    )


def fitting(name: str) -> str:
    """As much of a name as Home Assistant can make an entity's id of.

    It writes a letter such as 漢 as "han_", and an id that is too long as one that it then refuses (2025.2).
    """
    room, taken = LONGEST_NAME, 0
    for letter in name:
        room -= 1 if letter.isascii() else LETTERS_OF_ONE * len(unicodedata.normalize("NFKC", letter))
        if room < 0:
            break
        taken += 1
    return name[:taken].strip()


def state(display: Display) -> bytes:
    """The state of a display as Home Assistant gets it."""
    recovery = display.recovery
    return msgspec.json.encode(
        {
            "state": display.status if display.status in set(ClientStatus) else ClientStatus.UNKNOWN,
            "problem": problem(display),
            "words": short(words(display)),
            "since": display.status_since,
            "last_heartbeat": display.last_heartbeat_at if display.status not in WELL else None,
            "screen": display.screen_health,
            "limits": [one.limit for one in display.limits],
            "name": display.name,
            "site": display.site,
            "tags": display.tags,
            "recovery": recovery and recovery.state,
            "recovery_until": recovery and recovery.until,
            "incident": display.incident_id,
            "lockout_until": display.lockout_until,
            "ip": display.ip,
            "hostname": display.hostname,
        }
    )


def service_fails(display: Display) -> bool:
    """Whether a service failed and is not mended."""
    return display.service_failed_at is not None and display.service_mended_at is None


def problem(display: Display) -> str:
    """`ON`, `OFF`, or that nobody knows."""
    failures = (service_fails(display), display.screen_failed_since, display.limits)
    if display.status in {ClientStatus.CRASHED, ClientStatus.STALE} or any(failures):
        return "ON"
    return "OFF" if display.status in WELL else NOBODY_KNOWS


def words(display: Display) -> str:
    """What is wrong with a display and what recovery does about it, or how it is."""
    said = [
        *_silence(display),
        *([f"Service {display.service_failed_unit} failed"] if service_fails(display) else []),
        *(
            [f"The screen {PAGES.get(display.screen_health, f'is {display.screen_health}')}"]
            if display.screen_failed_since
            else []
        ),
        *([f"Past its limit: {', '.join(one.limit for one in display.limits)}"] if display.limits else []),
        *([f"Part of incident {display.incident_id}"] if display.incident_id is not None else []),
    ]
    if display.recovery is not None and display.recovery.why:
        until = display.recovery.until
        said.append(display.recovery.why.rstrip(".") + (f" (until {minute(until)})" if until else ""))
    return ". ".join(said) + "." if said else display.status.capitalize()


def _silence(display: Display) -> list[str]:
    if display.status == ClientStatus.CRASHED:
        return ["The player crashed"]
    if display.status == ClientStatus.STALE:
        heard = display.last_heartbeat_at
        return [f"Silent: last heartbeat {minute(heard)}" if heard else "Silent"]
    return []


def minute(time: datetime) -> str:
    """A time, for people."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def short(text: str) -> str:
    """The text as a state of Home Assistant may be."""
    return text if len(text) <= LONGEST_STATE else text[: LONGEST_STATE - 1] + "…"


@dataclass(frozen=True)
class Press:
    """A pressed button. `at` is Unix time by Home Assistant's clock."""

    uuid: str
    action: CommandAction
    at: float
    payload: str

    @property
    def key(self) -> str:
        """The idempotency key: the same press makes one command, however often it comes."""
        return f"home-assistant {self.uuid} {self.action} {self.payload}"

    def lateness(self, now: float) -> str:
        """Why it is too late to carry it out, in words; empty if it is not. `now` is Unix time."""
        if abs(now - self.at) <= OLDEST_PRESS_SECONDS:
            return ""
        return f"Not sent: the press is {round(now - self.at)} s old, or the clocks differ by as much"


def read_press(place: Place, topic: str, payload: bytes) -> Press | None:
    """The press of a message; None for another message than a button of ours sends."""
    levels = topic.removeprefix(f"{place.root}/").split("/")
    if len(levels) != 3 or levels[1] != "press" or levels[2] not in BUTTONS or not is_uuid(levels[0]):
        return None
    try:
        text = payload.decode("ascii")
        at = float(text)
    except ValueError:
        return None
    if len(text) > 40 or not text.isprintable() or not math.isfinite(at):
        return None
    return Press(levels[0], CommandAction(levels[2]), at, text)


def subject(place: Place, topic: str) -> str | None:
    """The uuid of the display whose discovery message or state this is; None for another topic."""
    for before, after in (place.config("|").split("|"), place.state("|").split("|")):
        uuid = topic.removeprefix(before).removesuffix(after)
        if topic == before + uuid + after and is_uuid(uuid):
            return uuid
    return None


def is_uuid(text: str) -> bool:
    """Whether the text is a uuid in its usual form."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def outcome(action: CommandAction, said: str, reason: str | None = None) -> bytes:
    """The answer to a press: the state of its command with the reason of its end, or why there is none."""
    return msgspec.json.encode({"answer": short(f"{BUTTONS[action]}: {said}" + (f" ({reason})" if reason else ""))})


def unanswered(action: CommandAction) -> bytes:
    """The answer to a press while the API gives none."""
    return outcome(action, "the service does not answer; nobody knows whether it was sent")
