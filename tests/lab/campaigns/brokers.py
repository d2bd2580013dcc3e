"""A broker against the rules that the product leans on (`broker_rules`).

    make campaign ONLY=broker BROKER=mosquitto     the shipped one; BROKER_PROGRAM=… another Mosquitto
    make campaign ONLY=broker BROKER=rabbitmq      RabbitMQ 4 of Debian 13; as root

RabbitMQ asks deploy.parts.broker_logins, and carries the whole product afterwards. With Mosquitto the campaigns kills,
herd, logins and stolen do that.
"""

import secrets
import signal
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from deploy.parts import broker as mosquitto
from deploy.parts import guardian
from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import free_port, http_answers, wait_until
from shared.access.rules import MOSQUITTO_SALT_BYTES, mosquitto_hash
from shared.postgres.door import engine_for
from tests import migrated
from tests.lab.campaigns import logins, rabbitmq
from tests.lab.campaigns.broker_client import Caller, until
from tests.lab.campaigns.broker_rules import RULES, TOLERATED, Place
from tests.lab.campaigns.fleet import Fleet, talking
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Component
from tests.lab.campaigns.rabbitmq import Rabbit
from tests.lab.campaigns.verdict import come_to_rest, judge
from tests.lab.campaigns.whole import Whole
from tests.stack import Api, enrol, enrolled, eventually, running_stack

MOSQUITTO: Final = "mosquitto"
VERSIONS: Final[dict[str, Callable[[], str]]] = {
    MOSQUITTO: logins.version,
    "rabbitmq": rabbitmq.version,
}
BROKERS: Final = tuple(VERSIONS)
PASSWORD: Final = "the password of everybody"
PROOF_SECONDS: Final = 60.0  # the life of a command
BACK_SECONDS: Final = 900.0  # for all displays, which one thread here connects one after another, and their lines
REPORT_SECONDS, PATIENCE_SECONDS = 10.0, 30.0  # of the displays; see Fleet
LOGINS: Final = 400  # displays of the rules besides those of the herd


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    broker: str = MOSQUITTO
    waiting: int = 20_000
    herd: int = 1_000
    displays: int = 2_000
    lines: int = 10  # of each display, before each kill of the broker, and after it
    backlog: int = 50  # lines of each display while the bridge stands still
    kills: int = 3
    seed: int = 1


@dataclass
class Subject:
    """A broker under test."""

    displays_port: int
    services_port: int
    component: Component
    logins_port: int = 0  # where it asks for logins; 0: it does not ask

    def stop(self) -> None:
        """Stop it in order. Erlang must be told itself: bubblewrap does not pass the signal on."""
        for pid in self.component.pids:
            if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "beam.smp":
                guardian.send(pid, signal.SIGTERM)
                if self.component.process is not None:
                    self.component.process.wait(60)
                return
        self.component.stop()


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger. Raises ValueError: no such broker."""
    folder.chmod(0o755)  # brokers and Postgres are other users
    began = time.monotonic()
    names = [str(uuid.uuid4()) for _ in range(LOGINS + plan.herd)]
    sizes = {"rules": len(RULES), "waiting": plan.waiting, "herd": plan.herd}
    if plan.broker != MOSQUITTO:
        sizes |= {"displays": plan.displays, "lines_waiting": plan.displays * plan.backlog, "broker_kills": plan.kills}
    ledger = Ledger(f"broker-{plan.broker}-{VERSIONS[plan.broker]()}", plan.seed, sizes)
    with _alone(plan.broker, folder / "alone", names) as subject:
        _hold_to_the_rules(ledger, plan, subject, names, say)
    if not ledger.broken and plan.broker != MOSQUITTO:
        _carry_the_product(ledger, plan, folder / "whole", say)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _hold_to_the_rules(
    ledger: Ledger, plan: Plan, subject: Subject, names: list[str], say: Callable[[str], None]
) -> None:
    one = subject.component

    def start() -> None:
        one.start()
        one.wait_until_ready()

    ports, ends = (subject.displays_port, subject.services_port), (one.kill, subject.stop)
    place = Place(*ports, names, PASSWORD, *ends, start, plan.waiting, plan.herd)
    kept = 0
    for name, rule in RULES.items():
        began = time.monotonic()
        try:
            holds = rule(place)
        except Exception as error:  # noqa: BLE001 - whatever a broker does, the other rules are tried
            say(f"  {name}: {error!r}")
            holds = False
        say(f"{'ok ' if holds else 'NOT'} {name} ({time.monotonic() - began:.1f} s)")
        kept += holds
        if name not in TOLERATED:
            ledger.conditions[name] = holds
        elif not holds:
            ledger.counted[f"not that {name}"] = 1
    ledger.counted["rules_kept"] = kept


def _carry_the_product(ledger: Ledger, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
    """Enrol, heartbeat, a command to its proof, a backlog over kills of the broker, a login that is taken back."""
    folder.mkdir()
    subject = _asking(folder / "broker", free_port())
    settings = {
        "MQTT_URL": f"mqtt://{LOOPBACK}:{subject.services_port}",
        "DISPLAYS_MQTT_URL": f"mqtt://{LOOPBACK}:{subject.displays_port}",
        "BROKER_LOGINS_PORT": str(subject.logins_port),
    }
    with running(subject.component), running_stack(folder / "stack", DEMO="", **settings) as stack:
        whole, api = Whole(stack), stack.api()
        bridge = http_answers(int(stack.ports["BRIDGE_HEALTH_PORT"]), "/readyz", 200)
        wait_until(bridge, 60)
        command_to_proof(ledger, api, str(uuid.uuid4()), folder / "display")
        say(f"enrolled, heard, restarted: {ledger.counted}")
        fleet = Fleet(subject.displays_port, plan.displays, plan.seed, REPORT_SECONDS, PATIENCE_SECONDS)
        fleet.logins |= {one.uuid: enrolled(api, one.uuid).password for one in fleet.displays}
        back = 0.0
        with talking(fleet):
            wait_until(lambda: fleet.is_connected, BACK_SECONDS)
            ledger.counted["stored_per_second"] = round(_work_off(whole, fleet, plan.backlog))
            say(f"{plan.displays * plan.backlog} lines waited: {ledger.counted['stored_per_second']} stored a second")
            for number in range(plan.kills):
                fleet.log(plan.lines)
                subject.component.kill()
                fleet.log(plan.lines)
                subject.component.start()
                killed = time.monotonic()
                subject.component.wait_until_ready()
                wait_until(lambda: fleet.is_connected and fleet.uncommitted == 0, BACK_SECONDS)
                back = max(back, time.monotonic() - killed)
                say(f"{number + 1}/{plan.kills}: all back and stored after {time.monotonic() - killed:.1f} s")
            come_to_rest(whole, fleet)
        judge(ledger, whole, fleet)
        ledger.counted["slowest_back_seconds"] = round(back, 1)
        ledger.conditions["the bridge is ready afterwards"] = bridge()
        take_back(ledger, subject.displays_port, api, fleet)


def _work_off(whole: Whole, fleet: Fleet, lines: int) -> float:
    """Let so many lines of each display wait at the broker while the bridge stands still. Returns lines per second."""
    bridge = whole.pids()["bridge"]
    for pid in bridge:
        guardian.send(pid, signal.SIGSTOP)
    fleet.log(lines)
    wait_until(lambda: all(one.taken == one.lines for one in fleet.displays), BACK_SECONDS)
    for pid in bridge:
        guardian.send(pid, signal.SIGCONT)
    began = time.monotonic()
    wait_until(lambda: fleet.uncommitted == 0, BACK_SECONDS)
    return lines * len(fleet.displays) / (time.monotonic() - began)


def command_to_proof(ledger: Ledger, api: Api, name: str, state: Path) -> None:
    """Enrol a display of this name, hear it, and restart its app: a command must come to its proof."""
    display = enrol(api, name, state)
    display.connect()
    display.heartbeat("running")
    eventually(lambda: api.get(f"/api/clients/{name}")["last_heartbeat_at"], "the first heartbeat")
    before, began = display.state.app_instance, time.monotonic()
    command = api.post(f"/api/clients/{name}/commands", {"action": "restart_app"}, expected=202)["id"]
    restarts = until(lambda: display.state.app_instance != before, PROOF_SECONDS)
    display.heartbeat("running")
    proven = until(lambda: api.get(f"/api/commands/{command}")["state"] == "succeeded", PROOF_SECONDS)
    ledger.conditions["a command comes to its proof"] = restarts and proven
    ledger.counted["command_to_proof_seconds"] = round(time.monotonic() - began, 1)
    display.close()


def take_back(ledger: Ledger, port: int, api: Api, fleet: Fleet) -> None:
    """A login that is taken back: the connection ends, and it is refused."""
    gone, kept = fleet.displays[0].uuid, fleet.displays[1].uuid
    callers = {name: Caller(port, name, fleet.logins[name]) for name in (gone, kept)}
    began = time.monotonic()
    api.call("DELETE", f"/api/clients/{gone}/enrolment", 204)
    cut = until(lambda: callers[gone].seen.ended is not None, 30)
    ledger.counted["cut_after_seconds"] = round(time.monotonic() - began, 1)
    again = Caller(port, gone, fleet.logins[gone])
    ledger.conditions["a login that is taken back is cut off and refused"] = cut and not again.is_in
    ledger.conditions["nobody else is cut off"] = callers[kept].is_in
    for one in callers.values():
        one.drop()


@contextmanager
def _alone(broker: str, folder: Path, names: list[str]) -> Iterator[Subject]:
    """The broker with these displays' logins, and nothing of the product but what answers for logins."""
    folder.mkdir()
    passwords = dict.fromkeys(mosquitto.SERVICES, PASSWORD)
    with ExitStack() as stack:
        if broker == MOSQUITTO:
            subject = _mosquitto(folder, passwords, names)
        else:
            database_url = migrated.url_of(stack.enter_context(migrated.running()))
            _put_logins(database_url, names)
            subject = _asking(folder / "broker", free_port())
            services = folder / "services.passwords"
            services.write_text(mosquitto.password_lines(mosquitto.service_logins(passwords)))
            told = {
                "DATABASE_URL": migrated.address_for("broker_logins", database_url),
                "SERVICES_PASSWORD_FILE": str(services),
                "BROKER_LOGINS_PORT": str(subject.logins_port),
                "MQTT_URL": f"mqtt://{LOOPBACK}:{subject.services_port}",
            }
            ready = http_answers(subject.logins_port, "/readyz", 200)
            command = (sys.executable, "-m", "deploy.parts.broker_logins")
            log = folder / "logins.log"
            stack.enter_context(running(Component("broker-logins", command, ready, log, environment=told)))
        stack.enter_context(running(subject.component))
        yield subject


def _asking(folder: Path, logins_port: int) -> Subject:
    """A RabbitMQ that asks our login server at this port."""
    rabbit = Rabbit.below(folder, logins_port)
    component = Component("broker", rabbit.command(), rabbit.answers(), folder.with_suffix(".log"))
    return Subject(rabbit.mqtt_port, rabbit.mqtt_port, component, logins_port)


def _mosquitto(folder: Path, passwords: dict[str, str], names: list[str]) -> Subject:
    place = mosquitto.Broker(folder / "run", folder / "data", free_port(), free_port())
    mosquitto.prepare(place, passwords)
    line = mosquitto.password_lines({"": PASSWORD})
    place.displays_password_file.write_text("".join(name + line for name in names))
    ready, user = mosquitto.answers(place), mosquitto.system_user()
    component = Component("broker", mosquitto.command(place), ready, folder / "broker.log", user=user)
    return Subject(place.displays_port, place.services_port, component)


@contextmanager
def running(one: Component) -> Iterator[None]:
    """A component that runs during the block."""
    one.start()
    one.wait_until_ready()
    try:
        yield
    finally:
        one.stop()


def _put_logins(database_url: str, names: list[str]) -> None:
    """These displays' logins, as POST /api/enroll stores them."""
    hashed = mosquitto_hash(PASSWORD, secrets.token_bytes(MOSQUITTO_SALT_BYTES))
    clients = "INSERT INTO clients (uuid, registered_by) SELECT unnest(CAST(:names AS text[])), 'enrolment'"
    theirs = (
        "INSERT INTO display_logins (client_uuid, password_hash, created_at)"
        " SELECT unnest(CAST(:names AS text[])), :hashed, now()"
    )
    engine = engine_for(database_url, "brokers")
    with engine.begin() as connection:
        connection.execute(sa.text(clients), {"names": names})
        connection.execute(sa.text(theirs), {"names": names, "hashed": hashed})
    engine.dispose()
