"""The disk of Postgres is full, and Postgres is stopped in order: no line is lost, and the bridge survives.

The data are on a small tmpfs in a mount namespace of this process and its children. This needs root, and a process that
does nothing else afterwards.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from deploy.parts.probes import wait_until
from tests.lab.campaigns.fleet import Fleet, fleet
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.machine import Machine, machine, rows
from tests.lab.campaigns.verdict import come_to_rest, judge, until_committed, until_connected

CLONE_NEWNS: Final = 0x20000
SMALL_WAL: Final = ("min_wal_size=32MB", "max_wal_size=64MB")
KEPT_FREE: Final = 8192
FULL_SECONDS: Final = 240.0  # until Postgres says that the disk is full, on a slow machine
NO_SPACE: Final = "No space left on device"


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 50
    lines: int = 300  # lines of each display, a third of them before each fault
    seconds: float = 20.0  # how long each fault lasts
    megabytes: int = 400
    seed: int = 1


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """Mount a small disk at `folder`, for this process and its children."""
    folder.mkdir()
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        raise PermissionError(ctypes.get_errno(), "a mount namespace is for root only: run this campaign as root")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger = Ledger("disk", plan.seed, {"displays": plan.displays, "megabytes": plan.megabytes})
    began = time.monotonic()
    folder.chmod(0o755)
    disk = folder / "disk"
    with (
        small_disk(disk, plan.megabytes),
        machine(disk, postgres_settings=SMALL_WAL) as service,
        fleet(service, plan.displays, plan.seed) as displays,
    ):
        until_connected(displays)
        bridge = service.bridge.process
        _tell(plan, displays)
        until_committed(displays)
        full, stored = _disk_full(plan, service, disk, displays, say)
        come_to_rest(service, displays)
        stopped = _stopped_in_order(plan, service, displays, say)
        come_to_rest(service, displays)
        ledger.conditions["the same bridge runs"] = service.bridge.process is bridge
        judge(ledger, service, displays)
        ledger.experiments["Postgres did run out of space"] = _ran_out_of_space(disk)
    ledger.counted |= {"lines_waiting_disk_full": full, "lines_waiting_postgres_stopped": stopped}
    ledger.experiments["lines waited"] = stopped == _third(plan) and full > _third(plan) // 2
    ledger.conditions["what was said to be committed is stored"] = stored >= 2 * _third(plan) - full
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _third(plan: Plan) -> int:
    return plan.lines // 3 * plan.displays


def _tell(plan: Plan, displays: Fleet) -> None:
    displays.log(plan.lines // 3)


def _disk_full(
    plan: Plan, service: Machine, disk: Path, displays: Fleet, say: Callable[[str], None]
) -> tuple[int, int]:
    """Fill the disk for a time. Returns how many lines waited at the end, and how many were stored in old pages."""
    ballast, engine = disk / "ballast", service.engine()
    _stored(engine)  # connect before: a new session writes a file
    with ballast.open("wb") as file:
        file.truncate(0)
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - KEPT_FREE)
        _tell(plan, displays)
        with suppress(TimeoutError):  # then the experiment did not come about
            wait_until(lambda: _ran_out_of_space(disk), FULL_SECONDS)
        time.sleep(plan.seconds)
    waiting, stored = displays.uncommitted, _stored(engine)
    ballast.unlink()
    engine.dispose()
    say(f"the disk was full for {plan.seconds:.0f} s; {waiting} lines waited")
    return waiting, stored


def _ran_out_of_space(disk: Path) -> bool:
    return NO_SPACE in (disk / "postgres.log").read_text()


def _stored(engine: Engine) -> int:
    return int(rows(engine, "SELECT count(*) FROM client_logs")[0][0])


def _stopped_in_order(plan: Plan, service: Machine, displays: Fleet, say: Callable[[str], None]) -> int:
    """Stop Postgres for a time. Returns how many lines waited when it started again."""
    process = service.database.process
    assert process is not None
    service.database.signal(signal.SIGINT)
    process.wait(60)
    service.database.process = None
    _tell(plan, displays)
    time.sleep(plan.seconds)
    waiting = displays.uncommitted
    service.database.start()
    service.database.wait_until_ready()
    say(f"Postgres was stopped for {plan.seconds:.0f} s; {waiting} lines waited")
    return waiting
