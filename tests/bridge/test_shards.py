"""Two stacks on one broker, each with its own topic root, logins and database (decision 25).

`signage` is a stack as shipped; `south` has the settings of a shard in deploy/gcp.
"""

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts.broker_rights import displays_acl, services_acl
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from shared.outside.mqtt import Publisher
from shared.postgres.door import engine_for
from tests import migrated
from tests.bridge.conftest import (
    PASSWORD,
    SESSIONS,
    BridgeProcess,
    Database,
    Display,
    StartBridge,
    bridges,
    connected,
    eventually,
)

HERE, THERE = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))  # the display of each
SOUTH: Final = ("south", "south-")  # topic root, prefix of its logins
NO_SUBSCRIBERS, NOT_AUTHORIZED = 0x10, 0x87


@dataclass
class Shard:
    """One of the two: its bridge, its database, its display, and its api's publisher."""

    bridge: BridgeProcess
    database: Database
    display: Display
    api: Publisher

    def tell(self, topic: str) -> int:
        """Publish a message as this shard's api. Returns the broker's answer."""
        return self.api.publish(topic, b"{}", 10, time.monotonic() + 5)


@pytest.fixture(scope="module")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[mosquitto.RunningBroker]:
    """A broker with the logins and rights of both."""
    folder = tmp_path_factory.mktemp("broker")
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port())
    passwords = dict.fromkeys(mosquitto.SERVICES, "password of a service")
    mosquitto.prepare(place, passwords)
    theirs = {f"{SOUTH[1]}{user}": secret for user, secret in mosquitto.service_logins(passwords).items()}
    services = (services_acl("signage"), services_acl(*SOUTH))
    (place.run / "all.acl").write_text("\n".join((*services, *map(displays_acl, ("signage", "south")))))
    with place.services_password_file.open("a") as file:
        file.write(mosquitto.password_lines(theirs))
    settings = place.configuration.read_text().replace("topic_roots signage", "topic_roots signage,south")
    place.configuration.write_text(settings.replace("_services bridge", f"_services {','.join(theirs)},bridge"))
    log, user = folder / "log", mosquitto.system_user()
    with running(mosquitto.command(place), mosquitto.answers(place), log, user=user) as process:
        served = mosquitto.RunningBroker(place, passwords, process.pid)
        served.set_displays({HERE: PASSWORD, THERE: PASSWORD})
        yield served


@pytest.fixture(scope="module")
def databases(postgres_server: postgres.Cluster, migrated_template: str) -> Iterator[tuple[str, str]]:
    """A database for each shard."""
    names = ("shard_here", "shard_there")
    with postgres.superuser(postgres_server) as connection:
        for name in names:
            connection.run(f"CREATE DATABASE {name} TEMPLATE {migrated_template} OWNER {postgres.OWNER}")
    yield postgres_server.url(names[0], postgres.OWNER, "owner"), postgres_server.url(names[1], postgres.OWNER, "owner")
    with postgres.superuser(postgres_server) as connection:
        for name in names:
            connection.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def start(
    shared_broker: mosquitto.RunningBroker, databases: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartBridge]:
    """Starts a bridge, by default the first shard's."""
    with bridges(databases[0], shared_broker, tmp_path_factory.mktemp("bridges"), preloaded=True) as begin:
        yield begin


@pytest.fixture(scope="module")
def shards(
    shared_broker: mosquitto.RunningBroker, databases: tuple[str, str], start: StartBridge
) -> Iterator[tuple[Shard, Shard]]:
    """Both shards; their displays published retained presence before the bridges started."""
    broker, roots = shared_broker.broker, ("signage", "south")
    engines = [engine_for(url, "tests", pool_size=2) for url in databases]
    for engine, name in zip(engines, (HERE, THERE), strict=True):
        Database(engine).do("INSERT INTO clients (uuid, registered_by) VALUES (:uuid, 'enrolment')", uuid=name)
    shown = [connected(shared_broker, name, root=root) for name, root in zip((HERE, THERE), roots, strict=True)]
    for display in shown:
        display.publish("presence", {"state": "online", "session": f"of {display.root}"}, retain=True)
    password = shared_broker.passwords["api"]
    apis = [Publisher(broker.services_url, f"{prefix}api", password, "any") for prefix in ("", SOUTH[1])]
    started = [start(wait=False), start(wait=False, **of_south(shared_broker, databases[1]))]
    for bridge in started:
        eventually(bridge.ready)
    here, there = map(Shard, started, map(Database, engines), shown, apis)
    yield here, there
    for close in (*(api.close for api in apis), *(one.close for one in shown), *(one.dispose for one in engines)):
        close()


def of_south(broker: mosquitto.RunningBroker, database_url: str) -> dict[str, str]:
    """Further settings of the second shard's bridge (deploy/gcp/names.tf)."""
    root, prefix = SOUTH
    return {
        "DATABASE_URL": migrated.address_for("bridge", database_url),
        "MQTT_TOPIC_ROOT": root,
        "MQTT_USERNAME": f"{prefix}bridge",
        "MQTT_PASSWORD": broker.passwords["bridge"],
        "CLIENT_AUTO_REGISTER": "false",
    }


def heard(shard: Shard, name: str) -> dict[str, Any]:
    """This shard's row of a display."""
    return shard.database.client(name)


def test_each_hears_what_its_own_display_retained_and_nothing_of_the_other(shards: tuple[Shard, Shard]) -> None:
    here, there = shards

    eventually(lambda: all(heard(one, one.display.uuid)["presence_session"] for one in shards))
    assert heard(here, HERE)["presence_session"] == "of signage"
    assert heard(there, THERE)["presence_session"] == "of south"
    assert (heard(here, THERE), heard(there, HERE)) == ({}, {})
    assert [one.database.value("SELECT count(*) FROM dead_letters") for one in shards] == [0, 0]


def test_each_tells_its_own_display_and_cannot_reach_the_other_one(shards: tuple[Shard, Shard]) -> None:
    here, there = shards

    assert (here.tell(f"signage/{HERE}/commands"), there.tell(f"south/{THERE}/commands")) == (0, 0)
    assert (here.tell(f"signage/{THERE}/commands"), there.tell(f"south/{HERE}/commands")) == (NO_SUBSCRIBERS,) * 2
    assert (here.tell(f"south/{THERE}/commands"), there.tell(f"signage/{HERE}/commands")) == (NOT_AUTHORIZED,) * 2
    eventually(lambda: all([kind for kind, _ in one.display.told].count("commands") == 1 for one in shards))


def test_a_display_that_speaks_to_the_other_shard_becomes_no_client_there(shards: tuple[Shard, Shard]) -> None:
    """Mosquitto's rules for displays are the same for all: a login of one shard may publish below the other's root."""
    here, there = shards
    stray = here.display.client.publish(f"south/{HERE}/heartbeat", b'{"process_status": "running"}', qos=1)
    eventually(lambda: stray.mid in here.display.answers)

    eventually(lambda: bool(there.database.rows("SELECT 1 FROM dead_letters")))
    assert there.database.one("SELECT topic, reason FROM dead_letters") == {
        "topic": f"south/{HERE}/heartbeat",
        "reason": "unknown_client",
    }
    assert heard(there, HERE) == {}


def test_both_lead_and_neither_was_ever_disturbed(shards: tuple[Shard, Shard]) -> None:
    for shard in shards:
        assert shard.bridge.ask("/readyz")[0] == 200  # its canary returns
        assert shard.bridge.events().count("broker_connected") == SESSIONS
        assert "broker_disconnected" not in shard.bridge.events()


def test_one_login_for_both_would_throw_the_first_one_out(
    shards: tuple[Shard, Shard],
    start: StartBridge,
    shared_broker: mosquitto.RunningBroker,
    databases: tuple[str, str],
) -> None:
    """The wrong setting, which shows that the test above can detect it: a bridge's name is its session."""
    here, there = shards
    there.bridge.kill()
    assert "broker_disconnected" not in here.bridge.events()

    start(wait=False, **{**of_south(shared_broker, databases[1]), "MQTT_USERNAME": "bridge"})

    eventually(lambda: "broker_disconnected" in here.bridge.events())
