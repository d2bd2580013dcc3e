"""The code of the release before, taken from the git history and run on a later schema."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import free_port
from tests.api.function_process import ENVIRONMENT, FunctionProcess, function_process
from tests.lab.campaigns.machine import Component, Machine

SUITES: Final = ("stores", "api", "tick")
ASIDE: Final = (
    "tests/stores/test_migrations.py",  # tests the migrations themselves, which have changed
    "tests/stores/test_old_code_survives.py",  # the same
    "tests/stores/test_logs_at_scale.py",  # tests speed
    "tests/stores/test_fleet_at_scale.py",
    "tests/api/test_schema.py",  # a campaign of its own tests the answers
)
TICK: Final = (
    "import json, sys, functions.scheduler_tick.main as function;"
    "setattr(sys.modules.get('shared.overview.rules', sys), 'LATE_TICKS', 10_000);"  # no tick is late
    "print(json.dumps(function.steps.run(function.WORLD), default=str))"
)
RELEASE: Final = re.compile(r"v\d+\.\d+\.\d+")
ACCOUNTS: Final = {
    "SCHEDULER_SERVICE_ACCOUNT": "scheduler@signage.test",
    "TASKS_SERVICE_ACCOUNT": "tasks@signage.test",
    "HOST": LOOPBACK,
    "QUEUE_URL": "grpc://127.0.0.1:9/projects/local/locations/local",  # a closed port
    "TICK_SECONDS": "3600",  # the same for older code
}


@dataclass(frozen=True)
class Version:
    """The code of one commit, in its own folder."""

    name: str
    commit: str
    tree: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.tree)}

    def run(self, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        """Run a Python program of it to its end."""
        return subprocess.run(
            [sys.executable, *command],
            cwd=self.tree,
            env={**os.environ, **self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )


def is_here() -> bool:
    """Whether the git history exists: a checkout may be a tarball, or shallow."""
    return _git("rev-parse", "--is-shallow-repository") == "false"


def release_before() -> tuple[str, str] | None:
    """(tag, commit) of the newest release that the code checked out comes after; None if none was made."""
    for tag in _git("tag", "--merged", "HEAD", "--sort=-version:refname").split():
        commit = _git("rev-parse", f"{tag}^{{commit}}")
        if RELEASE.fullmatch(tag) and commit != _git("rev-parse", "HEAD"):
            return tag, commit
    return None


def files_of(commit: str, folder: str) -> list[str]:
    """The files of a commit below a folder."""
    return _git("ls-tree", "-r", "--name-only", commit, folder).splitlines()


def _git(*words: str) -> str:
    if shutil.which("git") is None:
        return ""
    done = subprocess.run(["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@contextmanager
def taken_out(name: str, commit: str, folder: Path) -> Iterator[Version]:
    """The code of a commit, during the block; the present code is not on its path."""
    tree = folder / name
    tree.mkdir()
    with subprocess.Popen(["git", "archive", commit], cwd=REPOSITORY, stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
    if archive.returncode != 0:
        raise RuntimeError(f"git archive {commit} failed")
    try:
        yield Version(name, commit, tree)
    finally:
        shutil.rmtree(tree)


# --- its components ---


def at_its_own_schema(version: Version, service: Machine, database: str) -> None:
    """Make a database with this code's own schema, and use it for the machine from now on."""
    url = service.cluster.url(database, "signage", "owner")
    done = version.run("-m", "alembic", "upgrade", "head", DATABASE_URL=url)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    service.database_url = url


def bridge(service: Machine, name: str, version: Version | None = None) -> Component:
    """A bridge of this version, or of today's code; not started."""
    of_today = service.bridge
    environment = {
        **of_today.environment,
        "DATABASE_URL": service.database_url,
        "BRIDGE_HEALTH_PORT": str(free_port()),
        **(version.environment if version else {}),
    }
    log = service.folder / f"bridge-{name}.log"
    folder = version.tree if version else REPOSITORY
    return replace(of_today, name=name, log=log, environment=environment, folder=folder, process=None)


@contextmanager
def api(version: Version, service: Machine, folder: Path, media: Path) -> Iterator[FunctionProcess]:
    """The api function of this version, on this media volume; its log goes to `folder`."""
    told = {
        **ENVIRONMENT,
        "DATABASE_URL": service.database_url,
        "MQTT_URL": service.place.services_url,
        "MQTT_PASSWORD": service.passwords["api"],
        "MEDIA_ROOT": str(media),
        "TICK_SECONDS": "3600",
        **version.environment,
    }
    with function_process(str(version.tree / "functions/api/main.py"), told, folder) as running:
        yield running


def tick(version: Version, service: Machine) -> list[str]:
    """Run one tick of this version. Returns the failed steps, or the error of the tick."""
    done = version.run(
        "-c",
        TICK,
        DATABASE_URL=service.database_url,
        MQTT_URL=service.place.services_url,
        MQTT_USERNAME="scheduler",
        MQTT_PASSWORD=service.passwords["scheduler"],
        CRASH_RECOVERY_ENABLED="true",
        **ACCOUNTS,
    )
    if done.returncode != 0:
        return [done.stderr[-1000:]]
    said = json.loads(done.stdout.splitlines()[-1])
    return list(said.get("failed", [str(said)]))


# --- its tests ---


LENIENT: Final = (
    *("--override-ini", "addopts="),
    *("-W", "ignore::pytest.PytestConfigWarning", "-W", "ignore::pytest.PytestUnknownMarkWarning"),
)
"""Old settings of pytest may name an option or a mark of a plugin that is no longer installed."""


@dataclass(frozen=True)
class Tested:
    """The results of its own tests."""

    passed: int
    failed: frozenset[str]


def tested(version: Version, folder: Path, what: Sequence[str]) -> Tested:
    """Run these of its tests, or all of its suites, on the migrations in its tree."""
    names = what or [f"tests/{suite}" for suite in SUITES if (version.tree / "tests" / suite).exists()]
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    options = ("-q", "-p", "no:cacheprovider", f"--basetemp={folder / 'pytest'}", f"--junit-xml={report}", *LENIENT)
    said = version.run("-m", "pytest", *names, *(f"--ignore={path}" for path in ASIDE), *options)
    cases = list(ET.parse(report).getroot().iter("testcase")) if report.exists() else []
    if not cases:
        raise RuntimeError(f"none of its tests ran: {said.stdout[-500:]}{said.stderr[-500:]}")
    failed = {
        _id(version, case) for case in cases if case.find("failure") is not None or case.find("error") is not None
    }
    skipped = sum(case.find("skipped") is not None for case in cases)
    return Tested(len(cases) - len(failed) - skipped, frozenset(failed))


def _id(version: Version, case: ET.Element) -> str:
    """The test's id for pytest."""
    path = Path(*case.get("classname", "").split(".")).with_suffix(".py")
    return f"{path}::{case.get('name')}" if (version.tree / path).exists() else case.get("name", "")


@contextmanager
def todays_migrations(version: Version) -> Iterator[None]:
    """Replace its migrations by today's during the block."""
    own, aside = version.tree / "migrations" / "versions", version.tree / "migrations" / "own"
    own.rename(aside)
    shutil.copytree(REPOSITORY / "migrations" / "versions", own, ignore=shutil.ignore_patterns("__pycache__"))
    try:
        yield
    finally:
        shutil.rmtree(own)
        aside.rename(own)
