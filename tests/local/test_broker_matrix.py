"""Who may publish and hear what on the shipped mosquitto: every actor, topic and verb is a cell.

The table of rights is written from the contract's words and knows nothing of the files that the product renders.
"""

import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import product
from typing import TYPE_CHECKING, Final

import paho.mqtt.client as mqtt
import pytest

from deploy.parts import broker as mosquitto
from deploy.parts.broker import RunningBroker
from deploy.parts.probes import connect_code, free_port, wait_until
from tests.local.mqtt_clients import NO_SUBSCRIBERS, NOT_AUTHORIZED, Seen, connected, publish, subscribe

if TYPE_CHECKING:
    from pathlib import Path

ONE, OTHER, REVOKED, UNKNOWN = (str(uuid.UUID(int=number)) for number in (1, 2, 3, 4))
SERVICES: Final = ("bridge", "bridge_urgent", "api", "scheduler")
ACTORS: Final = (ONE, OTHER, *SERVICES)
LOGS: Final = tuple(
    f"logs/{word}"
    for word in (
        *("debug", "trace", "info", "notice", "warning", "warn", "error", "err"),
        *("critical", "crit", "alert", "emerg", "fatal"),
    )
)
UPWARD: Final = ("heartbeat", "health", *LOGS, "service_failed", "presence", "acks")
DOWNWARD: Final = ("commands", "logs_committed", "log_level")
NOBODYS: Final = ("", "config", "logs", "logs/shout", "logs/info/more", "commands/more", "heartbeat/more")
CANARY: Final = "signage/service/canary"
ELSEWHERE: Final = (
    "signage/service/other",
    "signage",
    "other",
    f"other/{ONE}/heartbeat",
    "$SYS/broker/uptime",
)
TOPICS: Final = (
    *(f"signage/{who}/{kind}".rstrip("/") for who in (ONE, OTHER, UNKNOWN) for kind in (*UPWARD, *DOWNWARD, *NOBODYS)),
    CANARY,
    *ELSEWHERE,
)
WILDCARDS: Final = ("#", "signage/#", "signage/+/commands", f"signage/{ONE}/#", "+/+/+", "$SYS/#", "$SYS/broker/#")
SETTLED: Final = "settled"


def may_write(actor: str, topic: str) -> bool:
    """Whether the contract lets the actor publish to the topic."""
    root, who, kind = (*topic.split("/", 2), "", "")[:3]
    if root != "signage" or not kind:
        return False
    if actor in (ONE, OTHER):
        return who == actor and kind in UPWARD
    if topic == CANARY:
        return actor in ("bridge", "bridge_urgent")
    allowed = {
        "bridge": ("commands", "logs_committed"),
        "bridge_urgent": ("commands",),
        "api": ("commands", "log_level"),
        "scheduler": ("commands",),
    }
    return kind in allowed[actor]


def may_read(actor: str, topic: str) -> bool:
    """Whether the contract lets the actor read the topic."""
    root, who, kind = (*topic.split("/", 2), "", "")[:3]
    if root != "signage" or not kind:
        return False
    if actor in (ONE, OTHER):
        return who == actor and kind in DOWNWARD
    if topic == CANARY:
        return actor in ("bridge", "bridge_urgent")
    allowed = {"bridge": UPWARD, "bridge_urgent": ("service_failed", "presence", "acks")}
    return kind in allowed.get(actor, ())


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker with one revoked login."""
    folder: Path = tmp_path_factory.mktemp("matrix")
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port())
    with mosquitto.serve(place, {name: password_of(name) for name in mosquitto.SERVICES}, folder / "log") as served:
        served.set_displays({name: f"password of {name}" for name in (ONE, OTHER, REVOKED)})
        wait_until(lambda: connect_code(place.displays_port, REVOKED, f"password of {REVOKED}") == 0, 60)
        served.set_displays({name: f"password of {name}" for name in (ONE, OTHER)})
        wait_until(lambda: connect_code(place.displays_port, REVOKED, f"password of {REVOKED}") != 0, 60)
        yield served


def password_of(actor: str) -> str:
    """Return the actor's password; the bridge's two sessions share one."""
    return f"password of {'bridge' if actor == 'bridge_urgent' else actor}"


def as_(broker: RunningBroker, actor: str) -> AbstractContextManager[tuple[mqtt.Client, Seen]]:
    """Connect as this actor to its own listener."""
    return connected(port_of(broker, actor), actor, password_of(actor), actor)


def port_of(broker: RunningBroker, actor: str) -> int:
    return broker.broker.services_port if actor in SERVICES else broker.broker.displays_port


def test_who_gets_in(broker: RunningBroker) -> None:
    """Check each login at each listener; each uses a client id that is not its own."""
    logins = {
        "nobody": ("", "", set()),
        **{name: (name, password_of(name), {"services", "displays"}) for name in SERVICES},
        **{name: (name, password_of(name), {"displays"}) for name in (ONE, OTHER)},
        "a wrong password": (ONE, f"password of {OTHER}", set()),
        "an empty password": (ONE, "", set()),
        "a service's wrong password": ("bridge", "bridge", set()),
        "a login that was taken back": (REVOKED, f"password of {REVOKED}", set()),
        "an unknown display": (UNKNOWN, "password", set()),
        "a pattern as a name": ("+", "password", set()),
    }
    listeners = {"displays": broker.broker.displays_port, "services": broker.broker.services_port}
    deviations = []
    for (what, (name, password, opens)), (listener, port) in product(logins.items(), listeners.items()):
        code = connect_code(port, name, password) if name else connect_code(port)
        if (code == 0) != (listener in opens) or code not in (0, NOT_AUTHORIZED):
            deviations.append(f"{what} at the {listener}' listener: {code}")

    assert deviations == []


@pytest.mark.parametrize("actor", ACTORS)
def test_what_it_may_publish(broker: RunningBroker, actor: str) -> None:
    deviations = []
    with as_(broker, actor) as (client, told):
        for topic in TOPICS:
            code = publish(client, told, topic)
            expected = {0, NO_SUBSCRIBERS} if may_write(actor, topic) else {NOT_AUTHORIZED}
            if code not in expected:
                deviations.append(f"{topic}: {code:#04x}")

    assert deviations == []


@pytest.mark.parametrize("actor", ACTORS)
def test_what_it_hears_whatever_it_subscribes_to(broker: RunningBroker, actor: str) -> None:
    """The actor subscribes to every topic and to wildcards; everyone who may publish does so."""
    with as_(broker, actor) as (client, seen):
        for topic in (*TOPICS, *WILDCARDS):
            subscribe(client, topic)
        for writer in ACTORS:
            if writer != actor:
                _write_all(broker, writer)
        _write(client, seen, actor)
        _wait_until_settled(broker, actor, client, seen)
    heard = {topic for topic, payload in seen.messages if payload != SETTLED.encode()}
    written = {topic for topic in TOPICS if any(may_write(writer, topic) for writer in ACTORS)}

    assert heard == {topic for topic in written if may_read(actor, topic)}


def _write_all(broker: RunningBroker, writer: str) -> None:
    with as_(broker, writer) as (client, told):
        _write(client, told, writer)


def _write(client: mqtt.Client, told: Seen, writer: str) -> None:
    for topic in TOPICS:
        if may_write(writer, topic):
            publish(client, told, topic)


def _wait_until_settled(broker: RunningBroker, actor: str, client: mqtt.Client, seen: Seen) -> None:
    """Wait for a last reason code, or a last message where the actor receives any: all earlier ones have arrived."""
    last = next((topic for topic in TOPICS if may_read(actor, topic)), None)
    if last is None:
        subscribe(client, TOPICS[0])
        return
    writer = next(one for one in ACTORS if one != actor and may_write(one, last))
    with as_(broker, writer) as (other, told):
        publish(other, told, last, SETTLED.encode())
    wait_until(lambda: any(payload == SETTLED.encode() for _, payload in seen.messages), 60)


def test_the_table_has_cells_enough_and_rights_of_every_kind() -> None:
    cells = list(product(ACTORS, TOPICS))

    assert 2 * len(cells) >= 500  # both verbs
    assert sum(may_write(*cell) for cell in cells) > 20
    assert sum(may_read(*cell) for cell in cells) > 20
