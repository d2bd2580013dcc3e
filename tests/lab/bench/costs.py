"""The cost of a thousand displays: processor time of a heartbeat, report, log line, tick, poll and command, by part.

    python -m tests.lab.bench.costs [displays]

The parts run as shipped; their idle time is measured first and subtracted. Processor time depends little on a busy
machine (about twofold, because of caches); `seconds`, the time of a request, depends on it much. Then follows the sum
for a month: 30 days with the habits below, which are assumptions and are printed too.
"""

import json
import os
import platform
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from deploy.parts import guardian
from deploy.parts.probes import wait_until
from functions.scheduler_tick import steps
from shared.vocabulary import Role
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.api.people import issue_token
from tests.lab.bench.http import Caller
from tests.lab.bench.ingest import count
from tests.lab.bench.tick import ticking
from tests.lab.bench.traffic import Traffic, bench_machine, publish
from tests.lab.campaigns.machine import Machine, processor_seconds

DISPLAYS = 1_000
REPORTS_SECONDS = 20  # seconds of heartbeats and reports at the fleet's own pace
LINES, WHOLE, POLLS, TICKS, COMMANDS = 400, 20, 200, 20, 40
ANSWERS_PER_SECOND = 20
IDLE_SECONDS = 30
DAYS = 30
DAY = 86_400
ANSWER = "its ACKs and their proof"  # three ACKs, and a heartbeat of the player's new start

# The habits of displays and people for the month.
HEARTBEAT_SECONDS, HEALTH_SECONDS, TICK_SECONDS, POLL_SECONDS = 30, 60, 60, 5
LINES_A_DAY, COMMANDS_A_MONTH = 20, 4  # of each display
WATCHERS, WATCHED_HOURS = 2, 8  # dashboards, each day


@dataclass(frozen=True)
class Cost:
    """The cost of one action: processor time by part in milliseconds; `seconds` of its request, 0 without one."""

    what: str
    parts: dict[str, float]
    seconds: float = 0.0

    @property
    def milliseconds(self) -> float:
        return sum(self.parts.values())


@dataclass(frozen=True)
class Parts:
    """Part -> its process."""

    service: Machine
    api: FunctionProcess

    def seconds(self) -> dict[str, float]:
        """Part -> its processor seconds until now; `here` is this process."""
        pids = {name: component.pids for name, component in self.service.components.items()}
        pids["api"] = {self.api.pid} | guardian.descendants(self.api.pid)
        return {**{name: sum(map(processor_seconds, own)) for name, own in pids.items()}, "here": time.process_time()}


class Meter:
    """Measures the cost of work, without the idle time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._idle = dict.fromkeys(parts.seconds(), 0.0)
        rest = self.cost(
            "nothing", IDLE_SECONDS, lambda: time.sleep(IDLE_SECONDS), ("postgres", "bridge", "broker", "api")
        )
        self.idle = rest.parts  # milliseconds a second
        self._idle |= {name: spent / 1000 for name, spent in rest.parts.items()}

    def cost(self, what: str, times: int, work: Callable[[], object], of: Sequence[str]) -> Cost:
        """Do `work`, which does the action `times` times. Returns the cost of one action in these parts."""
        before, began = self._parts.seconds(), time.monotonic()
        work()
        took, after = time.monotonic() - began, self._parts.seconds()
        spent = {name: after[name] - before[name] - self._idle[name] * took for name in of}
        return Cost(what, {name: max(0.0, 1000 * one / times) for name, one in spent.items()}, took / times)


def measure(displays: int) -> tuple[dict[str, float], list[Cost]]:
    """Returns the idle milliseconds a second of each part, and the cost of each action."""
    with tempfile.TemporaryDirectory(prefix="signage-costs-") as name, ExitStack() as stack:
        folder = Path(name)
        service, port = stack.enter_context(bench_machine(folder, bridge=True))
        engine = service.engine()
        stack.callback(engine.dispose)
        environment = {
            **ENVIRONMENT,
            "DATABASE_URL": service.database_url,
            "MEDIA_ROOT": str(folder),
            "MQTT_URL": service.place.services_url,
            "MQTT_PASSWORD": service.passwords["api"],
        }
        api = stack.enter_context(function_process("functions/api/main.py", environment, folder))
        world = stack.enter_context(ticking(service))
        traffic = Traffic(clients=displays)
        for kind in ("heartbeat", "health", "logs"):
            publish(port, [traffic.message(number, kind) for number in range(displays)])
        for table in ("client_health", "client_logs"):
            wait_until(lambda table=table: count(service, f"SELECT count(*) FROM {table}") == displays, 120)  # type: ignore[misc]
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("VACUUM ANALYZE"))  # otherwise autovacuum would run at any time
        steps.run(world)
        token = issue_token(engine, Role.ADMIN)
        meter = Meter(Parts(service, api))
        found = listened(meter, traffic, port)
        found += polled(meter, api, token)
        ticks = meter.cost("tick", TICKS, lambda: [steps.run(world) for _ in range(TICKS)], ("here", "postgres"))
        found += [ticks, *commanded(meter, api, token, traffic, port, engine)]
    return meter.idle, found


def listened(meter: Meter, traffic: Traffic, port: int) -> list[Cost]:
    """The cost of heartbeats and reports at the fleet's pace, with small batches; and of log lines."""
    reports = 2 * traffic.clients * REPORTS_SECONDS // HEALTH_SECONDS
    beats = [traffic.message(number % traffic.clients, "heartbeat") for number in range(reports)]
    health = [traffic.message(number % traffic.clients, "health") for number in range(reports // 2)]
    lines = [traffic.message(number % traffic.clients, "logs") for number in range(LINES)]
    of, pace = ("bridge", "broker", "postgres"), traffic.clients / HEARTBEAT_SECONDS
    return [
        meter.cost("heartbeat", len(beats), lambda: publish(port, beats, pace), of),
        meter.cost("health report", len(health), lambda: publish(port, health, pace), of),
        meter.cost("log line", len(lines), lambda: publish(port, lines, pace), of),
    ]


def polled(meter: Meter, api: FunctionProcess, token: str) -> list[Cost]:
    """The cost of the whole overview, and of a delta."""
    caller, of = Caller(api.port, "/api/monitoring/overview?format=packed", token), ("api", "postgres")
    for _ in range(10):
        cursor = json.loads(caller.ask())["cursor"]
    since = f"{caller.path}&since={cursor}&hb=1"
    found = [
        meter.cost("overview, whole", WHOLE, lambda: [caller.ask() for _ in range(WHOLE)], of),
        meter.cost("overview, a poll", POLLS, lambda: [caller.ask(since) for _ in range(POLLS)], of),
    ]
    caller.close()
    return found


def commanded(
    meter: Meter, api: FunctionProcess, token: str, traffic: Traffic, port: int, engine: sa.Engine
) -> list[Cost]:
    """The cost of a command: its POST with the publish, and the display's answer, each message in its own batch."""
    answers: list[tuple[bytes, bytes]] = []

    def ask() -> None:
        for number in range(COMMANDS):
            request = urllib.request.Request(
                f"{api.url}/api/clients/{traffic.uuids[number]}/commands",
                json.dumps({"action": "restart_app", "reason": "bench"}).encode(),
                {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=30) as answer:
                answers.extend(acknowledged(traffic.uuids[number], json.loads(answer.read())["id"]))
            topic, heartbeat = traffic.message(number, "heartbeat")
            answers.append((topic, heartbeat.replace(b'"app_instance": "a"', b'"app_instance": "b"')))

    def answer() -> None:
        publish(port, answers, ANSWERS_PER_SECOND)
        wait_until(lambda: succeeded(engine) == COMMANDS, 30)

    return [
        meter.cost("command", COMMANDS, ask, ("api", "bridge", "broker", "postgres")),
        meter.cost(ANSWER, COMMANDS, answer, ("bridge", "broker", "postgres")),
    ]


def acknowledged(name: str, command_id: str) -> list[tuple[bytes, bytes]]:
    """The three ACKs of a display that carries out a command."""
    stamp = {"install_id": str(uuid.UUID(int=7)), "boot_seq": 1, "ts": "2026-01-02T03:04:05Z"}
    identity = {"id": command_id, "boot_id": "b", "app_instance": "a"}
    return [
        (
            f"signage/{name}/acks".encode(),
            json.dumps({**identity, **stamp, "state": state, "seq": step}).encode(),
        )
        for step, state in enumerate(("received", "running", "succeeded"), 1)
    ]


def succeeded(engine: sa.Engine) -> int:
    with engine.connect() as connection:
        statement = sa.text("SELECT count(*) FROM client_commands WHERE state = 'succeeded'")
        return int(connection.execute(statement).scalar_one())


def month(displays: int) -> dict[str, int]:
    """Action -> how often it happens in a month."""
    seconds = DAYS * DAY
    return {
        "heartbeat": displays * seconds // HEARTBEAT_SECONDS,
        "health report": displays * seconds // HEALTH_SECONDS,
        "log line": displays * LINES_A_DAY * DAYS,
        "overview, whole": WATCHERS * DAYS,
        "overview, a poll": WATCHERS * WATCHED_HOURS * 3600 // POLL_SECONDS * DAYS,
        "tick": seconds // TICK_SECONDS,
        "command": displays * COMMANDS_A_MONTH,
        ANSWER: displays * COMMANDS_A_MONTH,
    }


def show(displays: int, idle: dict[str, float], costs: Sequence[Cost]) -> None:
    """Print both tables."""
    load = os.getloadavg()[0]
    print(f"{displays:,} displays; {os.cpu_count()} processors, load {load:.1f}, Python {platform.python_version()}")
    print("doing nothing, ms of processor each second: " + _parts(idle) + "\n")
    print(f"{'one':<24}{'ms of processor':>16}{'ms it took':>12}   of which")
    for cost in costs:
        took = f"{1000 * cost.seconds:.1f}" if {"api", "here"} & set(cost.parts) else "-"
        print(f"{cost.what:<24}{cost.milliseconds:>16.2f}{took:>12}   {_parts(cost.parts)}")
    print()
    print(f"{'in a month':<24}{'times':>14}{'s of requests':>15}{'h of processor':>16}{'of which postgres':>19}")
    whole = [0.0, 0.0, 0.0]
    for cost in costs:
        times = month(displays)[cost.what]
        waited = times * cost.seconds if {"api", "here"} & set(cost.parts) else 0.0
        spent = (waited, times * cost.milliseconds / 3.6e6, times * cost.parts.get("postgres", 0.0) / 3.6e6)
        whole = [before + more for before, more in zip(whole, spent, strict=True)]
        print(_line(cost.what, f"{times:,}", *spent))
    hours = DAYS * DAY / 3.6e6
    standing = (0.0, sum(idle.values()) * hours, idle.get("postgres", 0.0) * hours)
    print(_line("being there", "", *standing))
    print(_line("together", "", *(one + other for one, other in zip(whole, standing, strict=True))))


def _line(what: str, times: str, requests: float, hours: float, postgres: float) -> str:
    return f"{what:<24}{times:>14}{requests:>15,.0f}{hours:>16.2f}{postgres:>19.2f}"


def _parts(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {spent:.2f}" for name, spent in parts.items())


def main(arguments: Sequence[str]) -> int:
    """Measure and print. Returns the exit code."""
    guardian.become_subreaper()
    displays = int(arguments[0]) if arguments else DISPLAYS
    show(displays, *measure(displays))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
