"""The broker is killed, and thousands of displays reconnect at once.

`connections` is the same with as many displays as one box takes, each with a connection of its own.
"""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from deploy.parts import broker_launch
from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import PATIENCE_SECONDS, fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import machine
from tests.lab.campaigns.verdict import REST_SECONDS, come_to_rest, judge, until_committed, until_connected

SPARE_FILES = 200  # of the fleet and of the broker, besides those of the displays' connections


class TooFewFiles(Exception):
    """This process may not open as many files as there are displays; the message says what to do."""


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 2_000
    kills: int = 3
    lines: int = 5  # lines of each display after each kill
    report_seconds: float = 10.0  # between two heartbeats; three times as often as in production
    patience_seconds: float = PATIENCE_SECONDS  # before a first resend
    seed: int = 1
    limit_seconds: float = 60.0
    name: str = "herd"


def may_open(connections: int) -> None:
    """Raise the limit of open files for so many connections, here and in the programs that start from now on.

    Raises:
        TooFewFiles: only root may raise it that far.
    """
    needed = connections + SPARE_FILES
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and most < needed:
        most = max(needed, broker_launch.OPEN_FILES)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (OSError, ValueError) as error:
        _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
        raise TooFewFiles(
            f"{connections:,} displays need {needed:,} open files; a process here may open {allowed:,}, enough for"
            f" {allowed - SPARE_FILES:,}. Only root with CAP_SYS_RESOURCE may raise that (ulimit -Hn)."
        ) from error


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger(plan.name, plan.seed, {"displays": plan.displays, "broker_kills": plan.kills})
    began = time.monotonic()
    slowest = {"connected": 0.0, "committed": 0.0}
    may_open(plan.displays)
    with machine(folder) as service:
        with fleet(service, plan.displays, plan.seed, plan.report_seconds, plan.patience_seconds) as displays:
            until_connected(displays)
            for number in range(plan.kills):
                service.broker.kill()
                wait_until(lambda: not displays.any_connected, REST_SECONDS)
                displays.log(plan.lines)
                service.broker.start()
                killed = time.monotonic()
                until_connected(displays)
                slowest["connected"] = max(slowest["connected"], time.monotonic() - killed)
                until_committed(displays)
                slowest["committed"] = max(slowest["committed"], time.monotonic() - killed)
                say(f"{number + 1}/{plan.kills}: all back after {time.monotonic() - killed:.1f} s")
            come_to_rest(service, displays)
        judge(ledger, service, displays)
    ledger.counted |= {f"slowest_{name}_seconds": round(seconds, 1) for name, seconds in slowest.items()}
    limit = f"all back within {plan.limit_seconds:g} s, with what they had to say"
    ledger.limits[limit] = slowest["committed"] < plan.limit_seconds
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger
