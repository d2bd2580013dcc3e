"""What a broker that asks over HTTP is answered: the rules of `broker_rights`, in RabbitMQ's words."""

import random
import uuid
from pathlib import Path
from urllib.parse import urlencode

import pytest

from deploy.parts.broker import password_lines
from deploy.parts.broker_logins.known import service_logins
from deploy.parts.broker_logins.questions import NoQuestion, fields_of, is_own_client_id, may_use
from deploy.parts.broker_rights import BrokerRights, of_display, of_services
from shared.errors import ConfigurationError

ME, OTHER = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
MINE = of_display("signage", ME)
SERVICES = of_services("signage")
HOSTILE = ["", "+", "#", "/", ".", "..", "*", "$SYS", "\x00", "é", "a" * 60_000, "%u", f"{ME}\n", f"{ME}/", f" {ME}"]


def topic(permission: str, routing_key: str) -> dict[str, str]:
    return {
        "vhost": "/",
        "resource": "topic",
        "name": "amq.topic",
        "permission": permission,
        "routing_key": routing_key,
    }


def resource(kind: str, name: str, permission: str) -> dict[str, str]:
    return {"vhost": "/", "resource": kind, "name": name, "permission": permission}


@pytest.mark.parametrize(
    ("permission", "routing_key"),
    [
        ("write", f"signage.{ME}.heartbeat"),
        ("write", f"signage.{ME}.logs.error"),
        ("write", f"signage.{ME}.presence"),
        ("read", f"signage.{ME}.commands"),
        ("read", f"signage.{ME}.hours"),
    ],
)
def test_a_display_may_use_its_own_topics(permission: str, routing_key: str) -> None:
    assert may_use("topic", ME, topic(permission, routing_key), MINE)


@pytest.mark.parametrize(
    ("permission", "routing_key"),
    [
        ("write", f"signage.{OTHER}.heartbeat"),
        ("write", f"signage.{ME}.commands"),
        ("write", f"signage.{ME}.logs"),
        ("write", f"signage.{ME}.logs.shout"),
        ("write", f"signage.{ME}.logs." + "x" * 60_000),
        ("write", f"signage.{ME}.logs.error.more"),
        ("write", f"signage.{ME}.logs."),
        ("write", f"signage.{ME}.logs.*"),
        ("write", "signage.service.canary"),
        ("write", f"signage/{ME}/heartbeat"),
        ("read", f"signage.{OTHER}.commands"),
        ("read", f"signage.{ME}.heartbeat"),
        ("read", "signage.*.commands"),
        ("read", f"signage.{ME}.*"),
        ("read", f"signage.{ME}.#"),
        ("read", "#"),
        ("read", f"$share.group.signage.{ME}.commands"),
        ("configure", f"signage.{ME}.commands"),
        ("", f"signage.{ME}.commands"),
    ],
)
def test_a_display_may_use_no_other_topic(permission: str, routing_key: str) -> None:
    assert not may_use("topic", ME, topic(permission, routing_key), MINE)


def test_a_topic_of_another_exchange_or_virtual_host_is_refused() -> None:
    own = topic("write", f"signage.{ME}.heartbeat")

    assert not may_use("topic", ME, {**own, "name": "amq.fanout"}, MINE)
    assert not may_use("topic", ME, {**own, "vhost": "other"}, MINE)
    assert not may_use("vhost", ME, {"vhost": "other"}, MINE)
    assert may_use("vhost", ME, {"vhost": "/"}, MINE)


@pytest.mark.parametrize("user", SERVICES)
def test_a_service_may_do_what_the_printed_rights_say(user: str) -> None:
    rights = SERVICES[user]

    for one in rights.reads:
        assert may_use("topic", user, topic("read", one.replace("/", ".").replace("+", "*")), rights)
    for one in rights.writes:
        assert may_use("topic", user, topic("write", one.replace("/", ".").replace("+", ME)), rights)
    assert not may_use("topic", user, topic("read", "signage.*.commands"), rights)
    assert not may_use("topic", user, topic("read", "signage.#"), rights)


@pytest.mark.parametrize(
    ("kind", "name", "permission", "allowed"),
    [
        ("queue", f"mqtt-subscription-{ME}qos1", "configure", True),
        ("queue", f"mqtt-subscription-{ME}qos0", "read", True),
        ("queue", f"mqtt-will-{ME}", "write", True),
        ("queue", f"mqtt-subscription-{OTHER}qos1", "read", False),
        ("queue", f"mqtt-will-{OTHER}", "write", False),
        ("queue", "mqtt-subscription-bridgeqos1", "read", False),
        ("queue", f"mqtt-subscription-{ME}qos2", "read", False),
        ("queue", ME, "read", False),
        ("exchange", "amq.topic", "write", True),
        ("exchange", "amq.topic", "read", True),
        ("exchange", "amq.topic", "configure", False),
        ("exchange", "amq.default", "write", True),
        ("exchange", "amq.default", "read", False),
        ("exchange", "amq.fanout", "write", False),
        ("exchange", "", "write", False),
        ("", "amq.topic", "write", False),
    ],
)
def test_the_queues_of_a_session_and_two_exchanges_are_all_that_may_be_used(
    kind: str, name: str, permission: str, allowed: bool
) -> None:
    assert may_use("resource", ME, resource(kind, name, permission), MINE) is allowed


@pytest.mark.parametrize(
    ("user", "client_id", "own"),
    [
        (ME, ME, True),
        (ME, "bridge", False),
        (ME, f"{ME}-2", False),
        ("bridge", "bridge", True),
        ("bridge", "bridge-2", False),
        ("bridge", "bridge_urgent", False),
        ("bridge_urgent", "bridge", False),
        ("api", "api-4f2a", True),
        ("api", "api", True),
        ("api", "api-", False),
        ("api", "bridge", False),
        ("api", f"api-{'a' * 65}", False),
        ("scheduler", "scheduler-1", True),
        ("scheduler", "api-1", False),
    ],
)
def test_a_client_id_belongs_to_one_user(user: str, client_id: str, own: bool) -> None:
    assert is_own_client_id(user, client_id) is own


def test_no_hostile_name_gets_anything() -> None:
    dice = random.Random(1)
    for _ in range(5_000):
        name, key = dice.choice(HOSTILE), f"signage.{dice.choice(HOSTILE)}.{dice.choice(HOSTILE)}"
        for asked in (topic(dice.choice(["read", "write"]), key), resource(dice.choice(HOSTILE), name, name)):
            assert not may_use(dice.choice(["topic", "resource"]), ME, asked, MINE)
        if name:
            assert not is_own_client_id(ME, name)


@pytest.mark.parametrize("body", [b"a", b"username=a&username=b", b"\xff", b"a=%ff", b"&".join([b"a=b"] * 40)])
def test_a_body_that_is_no_form_is_no_question(body: bytes) -> None:
    with pytest.raises(NoQuestion):
        fields_of(body)


def test_a_form_is_read_as_it_was_meant() -> None:
    asked = {"username": "é&=+", "password": " ", "client_id": ""}

    assert fields_of(urlencode(asked).encode()) == asked


def test_the_services_logins_come_from_mosquittos_file(tmp_path: Path) -> None:
    file = tmp_path / "services"
    file.write_text(password_lines({"bridge": "b", "api": "a"}))

    assert set(service_logins(file)) == {"bridge", "api"}
    assert service_logins(None) == {}


@pytest.mark.parametrize(
    "text", ["root:$7$1$a$b\n", "bridge\n", "bridge:plain\n", "bridge:$7$a$b$c\nbridge:$7$a$b$c\n"]
)
def test_a_file_with_something_else_stops_the_start(text: str, tmp_path: Path) -> None:
    (tmp_path / "services").write_text(text)

    with pytest.raises(ConfigurationError):
        service_logins(tmp_path / "services")


def test_a_file_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        service_logins(tmp_path / "nothing")


def test_rights_of_nobody_are_none() -> None:
    assert not BrokerRights().may_publish("signage/a/heartbeat")
    assert not BrokerRights().may_subscribe("signage/a/commands")
