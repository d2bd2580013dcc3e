"""kill -9 of bridge, Postgres and broker at random times, half of them with a load above the bridge's capacity.

1. The displays connect. 2. Rounds in random order: displays log lines, services fail, and at a random time a component
is killed and started again. In half of each component's rounds the displays flood. 3. Wait until everything is
committed. 4. Compare the database with the ledger.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import Fleet, fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import BACK_SECONDS, Machine, machine
from tests.lab.campaigns.verdict import come_to_rest, judge, until_connected

BACK_LIMIT_SECONDS = 10.0
ENOUGH_LINES = 1_000  # that waited at the broker: otherwise none could be lost


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 200
    bridge: int = 20
    postgres: int = 10
    broker: int = 10
    lines: int = 500  # lines of each display in total
    flood: int = 150  # heartbeats of each display in a flooded round
    longest_wait_seconds: float = 4.0  # before a kill
    seed: int = 1

    @property
    def rounds(self) -> list[tuple[str, bool]]:
        """(component, with a flood), in an order decided by the seed."""
        made = [
            (name, number >= count // 2)
            for name, count in (("bridge", self.bridge), ("postgres", self.postgres), ("broker", self.broker))
            for number in range(count)
        ]
        random.Random(self.seed).shuffle(made)
        return made


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    sizes = {
        "displays": plan.displays,
        "bridge_kills": plan.bridge,
        "postgres_kills": plan.postgres,
        "broker_kills": plan.broker,
    }
    ledger = Ledger("kills", plan.seed, sizes)
    began = time.monotonic()
    with machine(folder) as service:
        with fleet(service, plan.displays, plan.seed) as displays:
            until_connected(displays)
            back = _rounds(plan, service, displays, say)
            rest = come_to_rest(service, displays)
        judge(ledger, service, displays)
    ledger.counted |= {
        **{f"slowest_{name}_seconds": round(seconds, 2) for name, seconds in back.items()},
        "rest_seconds": round(rest, 1),
        "most_lines_waiting": displays.most_waiting,
        "repeats": sum(one.repeats for one in displays.displays),
        "heartbeats": displays.heartbeats,
    }
    ledger.experiments["lines waited, so that some could be lost"] = displays.most_waiting > ENOUGH_LINES
    ledger.limits["each back within 10 s"] = max(back.values()) < BACK_LIMIT_SECONDS
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _rounds(plan: Plan, service: Machine, displays: Fleet, say: Callable[[str], None]) -> dict[str, float]:
    """Run the rounds. Returns the longest time of each component from its kill until it answered again."""
    chance = random.Random(plan.seed + 1)
    rounds = plan.rounds
    slowest: Counter[str] = Counter()
    for number, (name, flood) in enumerate(rounds):
        done, due = plan.lines * number // len(rounds), plan.lines * (number + 1) // len(rounds)
        displays.flood(plan.flood if flood else 0)
        displays.log(due - done)
        displays.fail_services(0.1)
        time.sleep(chance.uniform(0.0, plan.longest_wait_seconds))
        seconds = kill(service, name)
        slowest[name] = max(slowest[name], seconds)  # type: ignore[assignment]  # seconds are no whole numbers
        until_connected(displays)
        say(f"{number + 1}/{len(rounds)} {name}{' flooded' if flood else ''}: back after {seconds:.2f} s")
    return dict(slowest)


def kill(service: Machine, name: str) -> float:
    """Kill a component and start it again. Returns the seconds until batches were committed again."""
    component = service.components[name]
    began = time.monotonic()
    component.kill()
    component.start()
    component.wait_until_ready()
    service.looked_after()
    before = 0 if component is service.bridge else service.batches()
    wait_until(lambda: service.batches() > before, BACK_SECONDS)
    return time.monotonic() - began
