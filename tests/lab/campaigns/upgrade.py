"""An upgrade from old code, and the way back, while displays talk."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts.layout import REPOSITORY
from tests.api.people import PASSWORD
from tests.api.schema_world import world
from tests.lab.campaigns import old_code
from tests.lab.campaigns.fleet import Fleet, fleet
from tests.lab.campaigns.ledger import Ledger
from tests.lab.campaigns.machine import Component, Machine, machine
from tests.lab.campaigns.old_code import Version
from tests.lab.campaigns.together import Found, work_together
from tests.lab.campaigns.verdict import come_to_rest, judge, until_committed

LINES: Final = 50  # lines of each display in each part of the upgrade


def live_through_an_upgrade(version: Version, displays: int, seed: int, folder: Path, found: Found) -> None:
    """1. Old code on its own schema. 2. Migrate while it runs. 3. Both versions together. 4. Switch over, and back."""
    ledger = Ledger(version.name, seed, {})
    below = {name: folder / name for name in ("machine", "before", "today")}
    for one in below.values():
        one.mkdir(parents=True)
        one.chmod(0o755)
    folder.chmod(0o755)
    with machine(below["machine"], bridge=False, durable=False) as service, ExitStack() as running:
        old_code.at_its_own_schema(version, service, _database_of(service))
        talking = running.enter_context(fleet(service, displays, seed, report_seconds=1))
        bridges = running.enter_context(_bridges(version, service))
        bridges["before"].start()
        media = below["today"] / "media"
        media.mkdir()
        before = running.enter_context(old_code.api(version, service, below["before"], media))
        _all_is_committed(talking)
        talking.log(LINES)
        _migrate(service)
        _all_is_committed(talking)
        today = running.enter_context(world(below["today"], service.database_url, _broker_of(service)))
        service.set_displays({**talking.logins, today.displays[-1]: PASSWORD})
        work_together(version, service, before, today, found)
        _over_and_back(bridges, talking)
        come_to_rest(service, talking)
        judge(ledger, service, talking)
    found.ledgers.append(ledger)
    found.count("upgrades")


def _database_of(service: Machine) -> str:
    """A new, empty database."""
    name = "upgraded"
    with postgres.superuser(service.cluster) as superuser:
        superuser.run(f"CREATE DATABASE {name} OWNER {postgres.OWNER}")
    return name


def _broker_of(service: Machine) -> mosquitto.RunningBroker:
    process = service.broker.process
    assert process is not None
    return mosquitto.RunningBroker(service.place, service.passwords, process.pid)


@contextmanager
def _bridges(version: Version, service: Machine) -> Iterator[dict[str, Component]]:
    made = {
        "before": old_code.bridge(service, "before", version),
        "today": old_code.bridge(service, "today"),
    }
    try:
        yield made
    finally:
        for bridge in made.values():
            bridge.stop()


def _all_is_committed(displays: Fleet) -> None:
    """Wait until all lines are committed and reported as such."""
    until_committed(displays)


def _migrate(service: Machine) -> None:
    """Migrate as an upgrade does, while old code runs."""
    command = [sys.executable, "-m", "deploy.box.migrations"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "DATABASE_URL": service.database_url}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"the migrations ended with {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")


def _over_and_back(bridges: dict[str, Component], displays: Fleet) -> None:
    """Today's bridge takes over from a killed old one; then an old bridge takes over again."""
    for leads, stands_by in (("before", "today"), ("today", "before")):
        bridges[stands_by].start()
        displays.log(LINES)
        displays.fail_services(0.5)
        _all_is_committed(displays)
        bridges[leads].kill()
        displays.log(LINES)
        _all_is_committed(displays)
