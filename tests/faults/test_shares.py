"""A few seconds of each campaign that takes minutes: the same code and the same conditions."""

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from deploy.parts.layout import REPOSITORY
from tests.faults.test_campaigns import passed
from tests.lab.campaigns import brokers, clock, herd, logins, network, noise, stolen

SMALL_DISK = """
import sys
from pathlib import Path
from tests.lab.campaigns import disk
ledger = disk.run(disk.Plan(displays=5, lines=60, seconds=1.5, megabytes=200), Path(sys.argv[1]))
print(ledger.text())
sys.exit(bool(ledger.broken))
"""


def test_faults_of_the_network_lose_nothing_and_no_display_is_thought_dead(tmp_path: Path) -> None:
    plan = network.Plan(displays=4, rounds=2 * len(network.FAULTS), lines=10, longest_seconds=0.4, seed=2)

    ledger = network.run(plan, tmp_path)

    assert passed(ledger)
    assert {fault for _, fault in plan.faults} == set(network.FAULTS)


def test_clocks_that_leap_lose_nothing_and_no_display_is_thought_dead(tmp_path: Path) -> None:
    ledger = clock.run(clock.Plan(displays=4, lines=10, seconds=0.2), tmp_path)

    assert passed(ledger)


def test_displays_that_log_more_than_can_be_read_cost_their_neighbours_nothing(tmp_path: Path) -> None:
    plan = noise.Plan(displays=5, lines=40, seconds=2.0, commands=2, flooders=2, backlog=20_000)

    ledger = noise.run(plan, tmp_path)

    assert passed(ledger)


def test_displays_that_all_come_back_at_once_are_let_in(tmp_path: Path) -> None:
    ledger = herd.run(herd.Plan(displays=100, kills=1, lines=3, report_seconds=2), tmp_path)

    assert passed(ledger)


def test_displays_that_are_taken_away_crash_no_broker_and_touch_nobody_else(tmp_path: Path) -> None:
    ledger = logins.run(logins.Plan(rounds=6, without_door=2, expiry_seconds=2, will_seconds=1), tmp_path)

    assert passed(ledger)


def test_one_stolen_login_costs_its_neighbours_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    ways = tuple(way for way in stolen.WAYS if way.name in {"shared groups", "user properties of 180 KB"})

    ledger = stolen.run(stolen.Plan(seconds=1.0, ways=ways), tmp_path)

    assert passed(ledger)


@cache
def may_mount() -> bool:
    """Whether this process may mount a disk: only root, if the container allows it."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(probe, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="a small disk is a mount, which is for root only")
def test_a_full_disk_and_a_stopped_postgres_cost_nothing(tmp_path: Path) -> None:
    """Runs in its own process with its own mount namespace."""
    done = subprocess.run(
        [sys.executable, "-c", SMALL_DISK, tmp_path], check=False, cwd=REPOSITORY, capture_output=True, text=True
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_shipped_broker_keeps_the_rules_that_we_lean_on(tmp_path: Path) -> None:
    ledger = brokers.run(brokers.Plan(waiting=500, herd=20), tmp_path)

    assert passed(ledger)
