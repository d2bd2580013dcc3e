"""A network that is slow, silent, half-open or reset, between bridge and broker and between bridge and Postgres."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bridge.proxy import Proxy, proxied
from tests.lab.campaigns.fleet import Fleet, fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Machine, machine
from tests.lab.campaigns.verdict import come_to_rest, judge, judge_states, until_committed, until_connected

SLOW_SECONDS = 0.1
SIDES = ("broker", "postgres")


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 50
    rounds: int = 32
    lines: int = 20  # lines of each display in a round
    longest_seconds: float = 15.0  # length of a fault: above the timeout of the socket to Postgres
    seed: int = 1

    @property
    def faults(self) -> list[tuple[str, str]]:
        """(side, fault): every pair equally often, in an order decided by the seed."""
        pairs = [(side, fault) for fault in FAULTS for side in SIDES]
        made = [pairs[number % len(pairs)] for number in range(self.rounds)]
        random.Random(self.seed).shuffle(made)
        return made


def _slow(proxy: Proxy, seconds: float) -> None:
    proxy.delay_seconds = SLOW_SECONDS
    time.sleep(seconds)
    proxy.delay_seconds = 0.0


def _reset(proxy: Proxy, _seconds: float) -> None:
    proxy.reset()


def _silent(proxy: Proxy, seconds: float) -> None:
    """Hold all data for a while, then let it pass."""
    for direction in (proxy.hold_upward, proxy.hold_downward):
        direction.set()
    time.sleep(seconds)
    for direction in (proxy.hold_upward, proxy.hold_downward):
        direction.clear()


def _half_open(proxy: Proxy, seconds: float) -> None:
    """Drop the data of the bridge while it still receives; then close the connection."""
    proxy.hold_upward.set()
    time.sleep(seconds)
    proxy.cut()
    proxy.hold_upward.clear()


FAULTS: dict[str, Callable[[Proxy, float], None]] = {
    "slow": _slow,
    "reset": _reset,
    "silent": _silent,
    "half-open": _half_open,
}


@contextmanager
def between(service: Machine) -> Iterator[dict[str, Proxy]]:
    """Start the machine's bridge behind a proxy for each side."""
    port = service.cluster.port
    with proxied(service.place.services_port) as broker, proxied(port) as database:
        service.bridge.environment["MQTT_URL"] = f"mqtt://127.0.0.1:{broker.port}"
        url = service.bridge.environment["DATABASE_URL"]
        service.bridge.environment["DATABASE_URL"] = url.replace(f":{port}/", f":{database.port}/")
        service.bridge.start()
        service.bridge.wait_until_ready()
        try:
            yield {"broker": broker, "postgres": database}
        finally:
            service.bridge.stop()
            service.bridge.process = None


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("network", plan.seed, {"displays": plan.displays, "faults": plan.rounds})
    began = time.monotonic()
    with machine(folder, bridge=False) as service:
        with between(service) as proxies, fleet(service, plan.displays, plan.seed) as displays:
            until_connected(displays)
            bridge = service.bridge.process
            slowest = _rounds(plan, proxies, displays, say)
            come_to_rest(service, displays)
            ledger.conditions["the same bridge runs"] = service.bridge.process is bridge
        judge(ledger, service, displays)
        judge_states(ledger, service)
    ledger.counted["slowest_back_seconds"] = round(slowest, 2)
    ledger.limits["caught up within 30 s of each fault"] = slowest < 30
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _rounds(plan: Plan, proxies: dict[str, Proxy], displays: Fleet, say: Callable[[str], None]) -> float:
    """Run the rounds. Returns the longest time from a fault until every line was committed."""
    chance = random.Random(plan.seed + 1)
    slowest = 0.0
    for number, (side, fault) in enumerate(plan.faults):
        seconds = chance.uniform(0.2, plan.longest_seconds)
        displays.log(plan.lines)
        displays.fail_services(0.1)
        time.sleep(chance.uniform(0.0, 0.2))
        FAULTS[fault](proxies[side], seconds)
        began = time.monotonic()
        until_committed(displays)
        back = time.monotonic() - began
        slowest = max(slowest, back)
        say(f"{number + 1}/{plan.rounds} {side} {fault} for {seconds:.1f} s: caught up after {back:.2f} s")
    return slowest
