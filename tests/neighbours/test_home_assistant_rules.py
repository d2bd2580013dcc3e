"""What Home Assistant is told of a display, and which messages are presses of its buttons."""

import json
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import msgspec
import pytest

from deploy.neighbours import home_assistant_rules as rules
from deploy.neighbours.api import Misconfigured
from deploy.neighbours.home_assistant import OLD_SECONDS, Fleet, Overview, Settings
from deploy.neighbours.home_assistant_rules import Display, Open, Passed, Place, Until
from shared.vocabulary import ClientStatus, CommandAction

ONE: Final = "0b6f8c1e-5b0e-4a3c-9a53-5a8f1d2c3b4a"
NOON: Final = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
PLACE: Final = Place()
WELL: Final = Display(
    uuid=ONE,
    name="Lobby North",
    site="Berlin",
    tags=["menu"],
    status="running",
    status_since=NOON,
    last_heartbeat_at=NOON,
    screen_health="ok",
    screen_failed_since=None,
    limits=[],
    service_failed_at=None,
    service_mended_at=None,
    service_failed_unit=None,
    app_version="4.2.0",
    ip="10.1.2.3",
    hostname="lobby",
    lockout_until=None,
    recovery=None,
    open_command=None,
    incident_id=None,
)


def but(**facts: Any) -> Display:
    return msgspec.structs.replace(WELL, **facts)


def found(display: Display = WELL, *, may_command: bool = True, page: str = "") -> dict[str, Any]:
    made: dict[str, Any] = json.loads(rules.discovery(display, PLACE, "1.2.3", page, may_command=may_command))
    return made


def shown(display: Display) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(rules.state(display))
    return made


def test_a_display_is_a_device_with_our_state_and_two_buttons() -> None:
    made = found(page="https://signage.example.org/")

    assert PLACE.config(ONE) == f"homeassistant/device/signage-fleet_{ONE}/config"
    assert made["device"] == {
        "identifiers": [f"signage-fleet_{ONE}"],
        "name": "Lobby North",
        "manufacturer": "Signage Fleet",
        "model": "Display",
        "serial_number": ONE,
        "sw_version": "4.2.0",
        "suggested_area": "Berlin",
        "configuration_url": f"https://signage.example.org/?d={ONE}",
    }
    assert made["origin"] == {"name": "Signage Fleet", "sw_version": "1.2.3"}
    assert made["availability"] == [{"topic": "signage-fleet/status"}]
    assert made["state_topic"] == f"signage-fleet/{ONE}/state"
    parts = made["components"]
    assert {key: part["platform"] for key, part in parts.items()} == {
        **dict.fromkeys(("state", "words", "since", "answer"), "sensor"),
        "problem": "binary_sensor",
        **dict.fromkeys(("restart_app", "reboot_host"), "button"),
    }
    assert len({part["unique_id"] for part in parts.values()}) == len(parts)
    assert parts["state"]["options"] == list(ClientStatus)
    assert (parts["since"]["device_class"], parts["problem"]["device_class"]) == ("timestamp", "problem")
    assert parts["answer"]["state_topic"] == f"signage-fleet/{ONE}/answer"
    reboot = parts["reboot_host"]
    assert (reboot["command_topic"], reboot["qos"]) == (f"signage-fleet/{ONE}/press/reboot_host", 0)
    assert reboot["retain"] is False


def test_each_template_reads_a_field_that_is_sent() -> None:
    parts = found()["components"]
    sent = {*shown(WELL), *json.loads(rules.unanswered(CommandAction.REBOOT_HOST))}

    read = {
        part["value_template"].removeprefix("{{ value_json.").removesuffix(" }}")
        for part in parts.values()
        if "value_template" in part
    }

    assert read
    assert read <= sent


def test_a_token_that_may_not_command_takes_the_buttons_away() -> None:
    parts = found(may_command=False)["components"]

    assert parts["restart_app"] == parts["reboot_host"] == {"platform": "button"}


@pytest.mark.parametrize("name", ["a/b/#/+", '"}', "{{ 1 / 0 }}", "漢" * 20, "\x00\u202e!", "../homeassistant"])
def test_no_name_gets_into_a_topic_or_a_template(name: str) -> None:
    made = found(but(name=name, site=name, tags=[name], hostname=name, app_version=name))

    assert made["device"]["name"] == made["device"]["suggested_area"] == name
    del made["device"]
    ordinary = found()
    del ordinary["device"]
    assert made == ordinary
    assert shown(but(name=name, tags=[name]))["tags"] == [name]


@pytest.mark.parametrize(("letter", "most"), [("a", 200), ("漢", 25), ("\ufdfa", 1), ("가", 25)])
def test_a_long_name_is_cut_so_that_an_id_can_be_made_of_it(letter: str, most: int) -> None:
    assert found(but(name=letter * 200))["device"]["name"] == letter * most
    assert shown(but(name=letter * 200))["name"] == letter * 200


def test_a_display_without_a_name_is_called_by_its_host_or_its_uuid() -> None:
    assert found(but(name=""))["device"]["name"] == "lobby"
    assert found(but(name="", hostname=None))["device"]["name"] == ONE
    assert not {"sw_version", "suggested_area"} & found(but(app_version=None, site=None))["device"].keys()


@pytest.mark.parametrize(
    ("display", "problem", "words"),
    [
        (WELL, "OFF", "Running"),
        (but(status="late"), "OFF", "Late"),
        (but(status="stopped"), "OFF", "Stopped"),
        (but(status="crashed"), "ON", "The player crashed."),
        (but(status="stale"), "ON", "Silent: last heartbeat 2026-11-27 12:00 UTC."),
        (but(status="unknown"), "None", "Unknown"),
        (but(status="a later word"), "None", "A later word"),
        (but(service_failed_at=NOON, service_failed_unit="x.service"), "ON", "Service x.service failed."),
        (but(service_failed_at=NOON, service_failed_unit="x.service", service_mended_at=NOON), "OFF", "Running"),
        (but(screen_health="black", screen_failed_since=NOON), "ON", "The screen is black."),
        (but(screen_health="error_page", screen_failed_since=NOON), "ON", "The screen shows an error page."),
        (but(limits=[Passed("disk"), Passed("heat")]), "ON", "Past its limit: disk, heat."),
        (but(status="unknown", limits=[Passed("disk")]), "ON", "Past its limit: disk."),
        (
            but(status="crashed", incident_id=7, recovery=Until("locked", "It was restarted lately.", NOON)),
            "ON",
            "The player crashed. Part of incident 7. It was restarted lately (until 2026-11-27 12:00 UTC).",
        ),
    ],
)
def test_what_is_wrong_is_a_problem_and_stands_in_words(display: Display, problem: str, words: str) -> None:
    assert shown(display)["problem"] == problem
    assert shown(display)["words"] == words


def test_a_state_is_one_that_home_assistant_takes() -> None:
    long = but(status="a later word", recovery=Until("due", "x" * 999, None))

    assert shown(long)["state"] == "unknown"
    assert len(shown(long)["words"]) == 255
    assert json.loads(rules.outcome(CommandAction.REBOOT_HOST, "x" * 999))["answer"].endswith("…")


TOPIC: Final = PLACE.press(ONE, "reboot_host")


def test_a_press_is_one_command_by_its_key() -> None:
    press = rules.read_press(PLACE, TOPIC, b"1795780800.25")

    assert press is not None
    assert (press.uuid, press.action) == (ONE, CommandAction.REBOOT_HOST)
    assert press.key == f"home-assistant {ONE} reboot_host 1795780800.25"
    assert press.lateness(1795780859) == ""
    assert "61 s old" in press.lateness(1795780861.25)
    assert "clocks differ" in press.lateness(1795780700)


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        (TOPIC, b"PRESS"),
        (TOPIC, b""),
        (TOPIC, b"nan"),
        (TOPIC, b"inf"),
        (TOPIC, b"1" * 41),
        (TOPIC, b"1\n"),
        (TOPIC, "\u0661".encode()),
        (TOPIC, b"\xff"),
        (PLACE.press(ONE, "shutdown_host"), b"1"),
        (PLACE.press("nobody", "reboot_host"), b"1"),
        (PLACE.press(ONE.upper(), "reboot_host"), b"1"),
        (f"other/{ONE}/press/reboot_host", b"1"),
        (f"{TOPIC}/more", b"1"),
    ],
)
def test_other_messages_are_no_press(topic: str, payload: bytes) -> None:
    assert rules.read_press(PLACE, topic, payload) is None


def test_only_what_is_kept_of_our_displays_is_ours() -> None:
    assert rules.subject(PLACE, PLACE.config(ONE)) == rules.subject(PLACE, PLACE.state(ONE)) == ONE
    other = Place(root="other")
    for foreign in (other.config(ONE), other.state(ONE), PLACE.config("x"), PLACE.answer(ONE), TOPIC, ONE, ""):
        assert rules.subject(PLACE, foreign) is None


NEEDED: Final = {
    "SIGNAGE_API_URL": "https://signage.example.org",
    "SIGNAGE_API_TOKEN": "t0k3n",
    "HOME_ASSISTANT_MQTT_URL": "mqtts://home.example.org",
}


def test_settings_are_read_or_named() -> None:
    assert Settings.read(NEEDED).place == PLACE
    assert "t0k3n" not in repr(Settings.read(NEEDED))
    for wrong in (
        {"SIGNAGE_API_TOKEN": " "},
        {"SIGNAGE_API_URL": "signage.example.org"},
        {"HOME_ASSISTANT_MQTT_URL": "mqtt://host:port"},
        {"HOME_ASSISTANT_MQTT_URL": "http://host"},
        {"HOME_ASSISTANT_TOPIC_ROOT": "a/#"},
    ):
        with pytest.raises(Misconfigured, match=next(iter(wrong))):
            Settings.read({**NEEDED, **wrong})


def test_an_open_command_is_read_from_the_overview() -> None:
    assert msgspec.convert(
        {**msgspec.to_builtins(WELL), "open_command": {"id": "x", "state": "sent", "more": 1}}, Display, strict=False
    ).open_command == Open("x", "sent")


class Answers:
    """A service that answers this."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = [
            {"cursor": "1-1", "gone": [], "clients": [], "bridge": {"state": "listening"}, **one} for one in answers
        ]

    def overview(self, _since: str | None) -> Overview:
        return msgspec.convert(self.answers.pop(0), Overview)

    def may_command(self) -> bool:
        return True


def test_states_are_true_only_while_the_api_answers_and_the_bridge_hears() -> None:
    now = 1000.0
    service = Answers({"full": True}, {"full": False, "bridge": {"state": "silent"}}, {"full": False})
    fleet = Fleet(service, lambda: now)

    assert not fleet.is_fresh()
    fleet.poll()
    assert fleet.is_fresh()
    now += OLD_SECONDS + 1
    assert not fleet.is_fresh()
    fleet.poll()
    assert not fleet.is_fresh()
    fleet.poll()
    assert fleet.is_fresh()


def test_changes_are_laid_over_what_is_known() -> None:
    other = str(UUID(int=7))
    whole, change = msgspec.to_builtins([WELL, but(uuid=other)]), msgspec.to_builtins([but(status="crashed")])
    fleet = Fleet(
        Answers(
            {"full": True, "clients": whole},
            {"full": False, "clients": change},
            {"full": False, "gone": [ONE]},
            {"full": True, "clients": msgspec.to_builtins([WELL])},
        )
    )

    assert fleet.poll() == {ONE, other}
    assert fleet.poll() == {ONE}
    assert fleet.displays[ONE].status == "crashed"
    assert fleet.poll() == {ONE}
    assert fleet.poll() == {ONE, other}
    assert fleet.displays.keys() == {ONE}
