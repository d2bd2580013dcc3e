"""The broker is killed, and thousands of displays reconnect at once."""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import machine
from tests.lab.campaigns.verdict import REST_SECONDS, come_to_rest, judge

BACK_LIMIT_SECONDS = 60.0


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 2_000
    kills: int = 3
    lines: int = 5  # lines of each display after each kill
    report_seconds: float = 10.0  # between two heartbeats; three times as often as in production
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("herd", plan.seed, {"displays": plan.displays, "broker_kills": plan.kills})
    began = time.monotonic()
    slowest = {"connected": 0.0, "committed": 0.0}
    with machine(folder) as service:
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # for the displays
        with fleet(service, plan.displays, plan.seed, plan.report_seconds) as displays:
            wait_until(lambda: displays.is_connected, REST_SECONDS)
            for number in range(plan.kills):
                service.broker.kill()
                wait_until(lambda: not displays.any_connected, REST_SECONDS)
                displays.log(plan.lines)
                service.broker.start()
                killed = time.monotonic()
                wait_until(lambda: displays.is_connected, REST_SECONDS)
                slowest["connected"] = max(slowest["connected"], time.monotonic() - killed)
                wait_until(lambda: displays.uncommitted == 0, REST_SECONDS)
                slowest["committed"] = max(slowest["committed"], time.monotonic() - killed)
                say(f"{number + 1}/{plan.kills}: all back after {time.monotonic() - killed:.1f} s")
            come_to_rest(service, displays)
        judge(ledger, service, displays)
    ledger.counted |= {f"slowest_{name}_seconds": round(seconds, 1) for name, seconds in slowest.items()}
    ledger.conditions["all back within 60 s, with what they had to say"] = slowest["committed"] < BACK_LIMIT_SECONDS
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger
