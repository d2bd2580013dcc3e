"""Two versions on one schema: the code of the release before works on today's schema.

It must

1. survive an upgrade (`upgrade.py`): it serves a fleet on its own schema; today's migrations run; today's code runs
   beside it, and each version reads the other's rows (`together.py`); bridges of both take over from each other;
2. pass its own tests of stores, api and tick on today's schema, except those that fail on its own schema too.

While no older commit has a tag of a release there is nothing to upgrade from.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.lab.campaigns import old_code
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.old_code import Version
from tests.lab.campaigns.together import Found
from tests.lab.campaigns.upgrade import live_through_an_upgrade

ABOUT_THE_SCHEMA: Final[dict[str, str]] = {}
"""Tests of the schema itself, not of the code on it -> why they are excluded."""


@dataclass(frozen=True)
class Plan:
    """The size of the campaign."""

    displays: int = 4
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    began = time.monotonic()
    folder.chmod(0o755)
    found = Found({"upgrades": 0, "tests_passed": 0, "tests_that_fail_on_their_own_schema_too": 0})
    release = old_code.release_before()
    if release is None:
        say("no upgrade from the release before: no older commit has a tag of a release")
    else:
        with old_code.taken_out(*release, folder) as version:
            _upgrade(version, plan, folder / "upgrade", found)
            _pass_its_tests(version, folder, found)
        say(f"{release[0]}, the release before: {found.counted} {found.wrong or ''}")
    ledger = judged(plan, found, int(release is not None))
    ledger.note = f"upgraded from {release[0]}, the release before" if release else ""
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _upgrade(version: Version, plan: Plan, folder: Path, found: Found) -> None:
    """Run one upgrade. An error counts as broken, and the next upgrade begins."""
    try:
        live_through_an_upgrade(version, plan.displays, plan.seed, folder, found)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is told and fails the campaign
        found.note("upgrade", f"{version.name}: {str(error)[:1000]}")


def judged(plan: Plan, found: Found, versions: int) -> Ledger:
    """The ledger with the conditions."""
    ledger = Ledger("versions", plan.seed, {"versions": versions}, dict(found.counted))
    kinds = {
        "each upgrade is lived through, there and back": "upgrade",
        "code of before answers without an error": "server error",
        "code of before reads what code of today wrote, and the other way round": "crossing",
        "each tick of before does all of its steps": "tick",
        "tests of before pass on the schema of today": "test",
    }
    ledger.conditions = {name: kind not in found.wrong for name, kind in kinds.items()}
    ledger.conditions |= {
        name: all(one.conditions[name] for one in found.ledgers) for one in found.ledgers for name in one.conditions
    }
    for name in ("lines", "lost", "twice"):
        ledger.counted[name] = sum(one.counted[name] for one in found.ledgers)
    ledger.experiments["there was a release to upgrade from"] = versions > 0
    ledger.experiments["tests of before were run"] = found.counted["tests_passed"] > 0
    return ledger


def _pass_its_tests(version: Version, folder: Path, found: Found) -> None:
    """Run its tests on today's schema. A test that fails twice there must also fail on its own schema.

    Twice, because on a busy machine a test with a time limit may fail. Where no test can be run, that counts as broken,
    and the next version begins.
    """
    try:
        with old_code.todays_migrations(version):
            today = old_code.tested(version, folder, ())
            failed = old_code.tested(version, folder, sorted(today.failed)).failed if today.failed else frozenset()
        own = old_code.tested(version, folder, sorted(failed)).failed if failed else frozenset()
    except RuntimeError as error:
        found.note("test", f"{version.name}: {error}")
        return
    found.count("tests_passed", today.passed + len(today.failed - failed))
    found.count("tests_that_fail_on_their_own_schema_too", len(own))
    for name in sorted(failed - own):
        if name not in ABOUT_THE_SCHEMA:
            found.note("test", f"{version.name}: {name}")
