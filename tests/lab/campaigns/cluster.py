"""The whole product on three nodes of RabbitMQ 4, whose nodes are killed under load; before it, the cost of Mosquitto.

Displays and services reach the nodes through a TCP balancer. All nodes are on this machine, and ask one login server. A
killed node starts again when the others carry everything. Then follow a command to its proof, and a login that is taken
back. Only root can run it.
"""

import os
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.layout import LOOPBACK
from deploy.parts.probes import accepts, free_port, http_answers, wait_until
from tests.lab.campaigns.brokers import command_to_proof, running, take_back
from tests.lab.campaigns.fleet import Fleet, fleet, talking
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Component, machine, processor_seconds
from tests.lab.campaigns.memory import megabytes
from tests.lab.campaigns.rabbitmq import Rabbit
from tests.lab.campaigns.verdict import REST_SECONDS, come_to_rest, judge, until_committed, until_connected
from tests.lab.campaigns.whole import Whole
from tests.stack import enrolled, running_stack

LIMIT_SECONDS: Final = 120.0
PROGRAMS: Final = ("debootstrap", "bwrap")


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 500
    kills: int = 6  # of the nodes in turn
    lines: int = 40  # of each display: half before each kill, half after it
    measured_lines: int = 100  # of each display, for the cost
    quiet_seconds: float = 20.0  # in which the cost without lines is measured
    report_seconds: float = 10.0  # between two heartbeats; three times as often as in production
    seed: int = 1


def is_possible() -> bool:
    """Whether this machine can make the root file system with RabbitMQ, or has it."""
    return os.geteuid() == 0 and all(map(shutil.which, PROGRAMS))


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    folder.chmod(0o755)  # brokers and Postgres are other users
    began = time.monotonic()
    ledger = Ledger("cluster", plan.seed, {"displays": plan.displays, "kills_of_nodes": plan.kills})
    with (
        machine(_below(folder, "beside")) as service,
        fleet(service, plan.displays, plan.seed, plan.report_seconds) as displays,
    ):
        until_connected(displays)
        ledger.counted |= _cost("mosquitto", [service.broker], displays, plan, say)
    _run_on_a_cluster(ledger, plan, _below(folder, "cluster"), say)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _run_on_a_cluster(ledger: Ledger, plan: Plan, folder: Path, say: Callable[[str], None]) -> None:
    with _cluster(folder) as (port, logins_port, nodes):
        settings = {
            "MQTT_URL": f"mqtt://{LOOPBACK}:{port}",
            "DISPLAYS_MQTT_URL": f"mqtt://{LOOPBACK}:{port}",
            "BROKER_LOGINS_PORT": str(logins_port),
        }
        with running_stack(folder / "stack", DEMO="", **settings) as stack:
            whole, api = Whole(stack), stack.api()
            bridge = http_answers(int(stack.ports["BRIDGE_HEALTH_PORT"]), "/readyz", 200)
            wait_until(bridge, REST_SECONDS)
            displays = Fleet(port, plan.displays, plan.seed, plan.report_seconds)
            displays.logins |= {one.uuid: enrolled(api, one.uuid).password for one in displays.displays}
            with talking(displays):
                until_connected(displays)
                ledger.counted |= _cost("cluster", nodes, displays, plan, say)
                back = _kill_nodes(nodes, displays, plan, say)
                come_to_rest(whole, displays)
            judge(ledger, whole, displays)
            ledger.counted["slowest_back_seconds"] = round(back, 1)
            ledger.limits[f"all back and stored within {LIMIT_SECONDS:g} s of a kill"] = back < LIMIT_SECONDS
            wait_until(bridge, REST_SECONDS)
            command_to_proof(ledger, api, str(uuid.uuid4()), folder / "display")
            take_back(ledger, port, api, displays)


def _kill_nodes(nodes: list[Component], displays: Fleet, plan: Plan, say: Callable[[str], None]) -> float:
    """Kill the nodes in turn, each under load. Returns the longest time until all was back and stored."""
    slowest = 0.0
    for number in range(plan.kills):
        node = nodes[number % len(nodes)]
        displays.log(plan.lines // 2)
        wait_until(lambda: displays.most_waiting > 0, REST_SECONDS)
        node.kill()
        killed = time.monotonic()
        displays.log(plan.lines - plan.lines // 2)
        until_committed(displays)
        took = time.monotonic() - killed
        slowest = max(slowest, took)
        say(f"{number + 1}/{plan.kills}: all back and stored after {took:.1f} s")
        node.start()
        node.wait_until_ready()
    return slowest


def _cost(
    name: str, brokers: list[Component], displays: Fleet, plan: Plan, say: Callable[[str], None]
) -> dict[str, float]:
    """What the brokers' processes take: processor time of a line, without that of reports beside it, and memory."""

    def used() -> float:
        return sum(processor_seconds(pid) for one in brokers for pid in one.pids)

    before, began = used(), time.monotonic()
    wait_until(lambda: time.monotonic() - began > plan.quiet_seconds, REST_SECONDS)
    quiet = (used() - before) / (time.monotonic() - began)
    before, began = used(), time.monotonic()
    displays.log(plan.measured_lines)
    until_committed(displays)
    lines, seconds = plan.displays * plan.measured_lines, time.monotonic() - began
    found: dict[str, float] = {
        f"{name}_microseconds_a_line": round((used() - before - quiet * seconds) / lines * 1e6),
        f"{name}_at_rest_milliseconds_a_second": round(quiet * 1e3),
        f"memory_of_{name}_MB": round(sum(megabytes(pid) or 0.0 for one in brokers for pid in one.pids)),
    }
    say(f"{lines} lines in {seconds:.1f} s: {found}")
    return found


@contextmanager
def _cluster(folder: Path) -> Iterator[tuple[int, int, list[Component]]]:
    """A running cluster: the balancer's port, the port at which it asks for logins, and its nodes."""
    logins_port, port = free_port(), free_port()
    rabbits = Rabbit.cluster_below(folder, logins_port)
    first = rabbits[0]
    epmd = Component("epmd", first.epmd_command(), accepts(first.epmd_port), folder / "epmd.log")
    nodes = [Component(one.name, one.command(), one.answers(), one.folder / "console.log") for one in rabbits]
    command = (
        sys.executable,
        "-m",
        "tests.lab.campaigns.balancer",
        str(port),
        *(str(one.mqtt_port) for one in rabbits),
    )
    balancer = Component("balancer", command, accepts(port), folder / "balancer.log")
    with ExitStack() as stack:
        stack.enter_context(running(epmd))
        for one in nodes:
            stack.callback(one.stop)
            one.start()
        for one in nodes:
            one.wait_until_ready()
        stack.enter_context(running(balancer))
        yield port, logins_port, nodes


def _below(folder: Path, name: str) -> Path:
    made = folder / name
    made.mkdir()
    return made
