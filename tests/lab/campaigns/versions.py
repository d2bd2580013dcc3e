"""Two versions on one schema: the code of just before each migration goes on working on the schema of today.

For each migration the code of the commit before it came is taken out of the git history, and

1. lives through an upgrade (`upgrade.py`): it serves a fleet on its own schema, the migrations of today run under it,
   today's code comes beside it, each answers what the other wrote (`together.py`), bridges of both take over from each
   other, and it is gone back to;
2. passes its own tests of stores, api and tick on the schema of today, but for those that fail on its own as well.
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
"""Tests that look at the schema itself and not at what code does with it, each with the reason."""


@dataclass(frozen=True)
class Plan:
    """How much of it: the `newest` versions, and of so many of them the tests too."""

    newest: int = 1000
    tested: int = 1000
    displays: int = 4
    seed: int = 1


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """The campaign's ledger."""
    began = time.monotonic()
    folder.chmod(0o755)
    found = Found({"upgrades": 0, "tests_passed": 0, "tests_that_fail_on_their_own_schema_too": 0})
    chosen = old_code.commits()[-plan.newest :] if old_code.is_here() else []
    seen: set[str] = set()
    for number, (revision, commit) in enumerate(chosen):
        with old_code.sound_code(revision, commit, folder) as version:
            if version.commit in seen:
                continue  # what is between could never be run
            seen.add(version.commit)
            if version.has_components:
                _upgrade(version, plan, folder / f"upgrade-{number}", found)
            if number >= len(chosen) - plan.tested:
                pass_its_tests(version, folder, found)
        say(f"{revision}, code of {version.commit[:7]}: {found.counted} {found.wrong or ''}")
    ledger = judged(plan, found, len(seen))
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _upgrade(version: Version, plan: Plan, folder: Path, found: Found) -> None:
    """One that breaks off counts as broken, and the next one begins."""
    try:
        live_through_an_upgrade(version, plan.displays, plan.seed, folder, found)
    except Exception as error:  # noqa: BLE001 - whatever it was, it is told and fails the campaign
        found.note("upgrade", f"{version.revision}: {str(error)[:1000]}")


def judged(plan: Plan, found: Found, versions: int) -> Ledger:
    """What was found, as conditions."""
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
    ledger.conditions["there was a history to take versions from"] = versions > 0
    ledger.conditions["tests of before were run"] = found.counted["tests_passed"] > 0
    return ledger


def pass_its_tests(version: Version, folder: Path, found: Found) -> None:
    """On the schema of today; what fails there twice is asked on its own schema, and fails there too.

    Twice, because a busy machine alone breaks a test that has to be through with so much in so many seconds.
    """
    with old_code.todays_migrations(version):
        today = old_code.tested(version, folder, ())
        failed = old_code.tested(version, folder, sorted(today.failed)).failed if today.failed else frozenset()
    found.count("tests_passed", today.passed + len(today.failed - failed))
    own = old_code.tested(version, folder, sorted(failed)).failed if failed else frozenset()
    found.count("tests_that_fail_on_their_own_schema_too", len(own))
    for name in sorted(failed - own):
        if name not in ABOUT_THE_SCHEMA:
            found.note("test", f"{version.revision}: {name}")
