"""A leader whose link to Postgres dies without a FIN loses the lead; in two real networks."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts import guardian
from deploy.parts.probes import free_port
from deploy.parts.short_lived import running
from shared.postgres.door import engine_for
from tests import migrated, volatile
from tests.bridge.conftest import BridgeProcess, Database, bridges, eventually
from tests.bridge.proxy import proxied
from tests.deploy.certificates import Authority
from tests.namespaces import FAR, NEAR, Networks, inside, two_networks, unwatched

PATIENCE_SECONDS = 240.0  # without keepalives it would be two hours; tests/stores/test_db.py has their seconds


@dataclass
class Two:
    """A leading bridge beyond the link, and a standby beside Postgres and the broker."""

    networks: Networks
    cluster: postgres.Cluster
    database: Database
    far: BridgeProcess
    near: BridgeProcess

    def ask_far(self, path: str) -> int:
        with inside(self.networks.far):
            return self.far.ask(path)[0]


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    with two_networks() as made:
        yield made


@pytest.fixture(scope="module")
def cluster(networks: Networks) -> Iterator[postgres.Cluster]:
    """A migrated Postgres that the other network reaches over TLS."""
    with tempfile.TemporaryDirectory(prefix="signage-pg-", dir=volatile.folder()) as folder, inside(networks.near):
        place, programs = Path(folder), postgres.find_programs()
        made = postgres.Cluster(programs, place / f"pg{programs.major}", free_port(), "superuser")
        postgres.initialise(made, sync=False)
        with (made.data / "pg_hba.conf").open("a") as rules:
            rules.write(f"hostssl all all {FAR}/32 scram-sha-256\n")
        certificate, key = Authority(place).sign("postgres")
        guardian.own(key, postgres.system_user())
        place.chmod(0o711)
        settings = (
            f"listen_addresses=127.0.0.1,{NEAR}",
            "ssl=on",
            f"ssl_cert_file={certificate}",
            f"ssl_key_file={key}",
        )
        command = (*postgres.command(made, durable=False), *(part for one in settings for part in ("-c", one)))
        user, log = postgres.system_user(), place / "log"
        with running(command, postgres.answers(made), log, stop_signal=postgres.STOP_SIGNAL, user=user):
            migrated.upgrade(postgres.ensure_database(made, "owner"))
            yield made


@contextmanager
def two_bridges(networks: Networks, cluster: postgres.Cluster, folder: Path) -> Iterator[Two]:
    url = cluster.url(postgres.DATABASE, postgres.OWNER, "owner")
    engine = engine_for(url, "tests")
    with (
        mosquitto.throw_away() as broker,
        proxied(broker.broker.services_port, host=NEAR) as door,
        bridges(url, broker, folder) as start,
    ):
        with inside(networks.far):
            elsewhere = {
                "DATABASE_URL": migrated.address_for("bridge", url).replace("127.0.0.1", NEAR),
                "MQTT_URL": f"mqtt://{NEAR}:{door.port}",
            }
            far = start(wait=False, **elsewhere)
            eventually(far.ready, PATIENCE_SECONDS)
        near = start(wait=False)
        eventually(lambda: near.ask("/healthz")[0] == 200, PATIENCE_SECONDS)
        try:
            yield Two(networks, cluster, Database(engine), far, near)
        finally:
            networks.mend()
            engine.dispose()


def is_cut_off(two: Two) -> None:
    two.networks.cut()


def loses_its_power(two: Two) -> None:
    two.networks.cut()
    two.far.kill()


@pytest.mark.parametrize("fault", [is_cut_off, loses_its_power])
def test_a_leader_that_vanishes_without_a_word_is_replaced(
    fault: Callable[[Two], None], networks: Networks, cluster: postgres.Cluster, tmp_path: Path
) -> None:
    with inside(networks.near), two_bridges(networks, cluster, tmp_path) as two:
        eventually(lambda: not unwatched(cluster.port), PATIENCE_SECONDS)
        epoch = two.database.value("SELECT epoch FROM bridge_status")

        fault(two)
        eventually(lambda: "lead_taken" in two.near.events(), PATIENCE_SECONDS)

        eventually(two.near.ready, PATIENCE_SECONDS)
        assert two.database.value("SELECT epoch FROM bridge_status") == epoch + 1


def test_a_leader_that_comes_back_from_beyond_a_dead_link_stands_by(
    networks: Networks, cluster: postgres.Cluster, tmp_path: Path
) -> None:
    with inside(networks.near), two_bridges(networks, cluster, tmp_path) as two:
        two.networks.cut()
        eventually(two.near.ready, PATIENCE_SECONDS)

        two.networks.mend()
        eventually(lambda: "lead_lost" in two.far.events(), PATIENCE_SECONDS)

        eventually(lambda: two.ask_far("/healthz") == 200, PATIENCE_SECONDS)
        assert two.ask_far("/readyz") == 503
        assert two.near.ready()
        assert "lead_lost" not in two.near.events()
