"""A Docker box on a real engine: started, killed, restarted, killed with its engine, backed up and restored.

It is set up with the commands of the guides. Each container is killed -9, all are restarted, and the engine is killed
with all its processes. Each time both doors must open again, with every container in one network. It runs as root with
an engine on this machine: see docs/deploying.md, "The Docker box on an engine".
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.deploy.confined import COMPOSE, VARIABLE, instructions
from tests.lab.campaigns.docker_box import STAY, Box, box_of_its_own, set_up_lines
from tests.lab.campaigns.doors import PICTURE
from tests.lab.campaigns.guides import backup_lines, restore_lines
from tests.lab.campaigns.ledger import Ledger, tell
from tests.lab.campaigns.tally import LOOK_SECONDS, PATIENCE_SECONDS, Tally

KILL, START = "DOCKER_ENGINE_KILL", "DOCKER_ENGINE_START"  # commands
MOST_SECONDS: Final = {
    "first start": 20.0,  # including the creation of a database
    "death of a container": 10.0,
    "death of the network": 40.0,  # the other containers check it every 20 s
    "restart": 20.0,
    "hard kill": 30.0,
    "restore": 60.0,
}


@dataclass(frozen=True)
class Plan:
    """How often each fault is repeated."""

    restarts: int = 20
    boots: int = 20
    seed: int = 1


def _watch(box: Box, tally: Tally, what: str, began: float, gone: Collection[str] = ()) -> None:
    """Wait until the box is complete, without the container starts in `gone`."""
    if not tally.watch(what, began, lambda: box.doors.are_open() and box.is_whole(set(gone))):
        tally.say(box.run("docker compose ps --all; docker compose logs --tail 20"))
        box.run("docker compose down; docker compose up --detach")


def engine() -> str | None:
    """The engine's version; None if no engine answers."""
    if shutil.which("docker") is None:
        return None
    asked = ["docker", "version", "--format", "{{.Server.Version}}"]
    done = subprocess.run(asked, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    boots = plan.boots if {KILL, START} <= set(os.environ) else 0
    ledger = Ledger("docker", plan.seed, {"deaths": len(STAY), "restarts": plan.restarts, "hard_kills": boots})
    began, tally, tries = time.monotonic(), Tally(say), 0
    with box_of_its_own(folder) as box:
        before = _nameless()
        build, start = set_up_lines().split("docker compose up", 1)
        box.run(build)
        ledger.conditions["one build leaves no image without a name"] = _nameless() <= before
        started = time.monotonic()
        box.run(f"docker compose up{start}")
        _watch(box, tally, "first start", started)
        for service in sorted(STAY):
            life = box.lives()[service]
            os.kill(life.pid, signal.SIGKILL)
            kind = "death of the network" if service == "net" else f"death of a container, {service}"
            _watch(box, tally, kind, time.monotonic(), [life.started])
        _restore(box, ledger, tally)
        for _ in range(plan.restarts):
            gone = [life.started for life in box.lives().values()]
            started = time.monotonic()
            box.run("docker compose restart")
            _watch(box, tally, "restart", started, gone)
        for _ in range(boots):
            tries += _hard_kill(box, tally)
    tally.judge(ledger, MOST_SECONDS)
    ledger.counted |= {"unit_tried_again": tries - boots}
    ledger.note = _note(boots)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _hard_kill(box: Box, tally: Tally) -> int:
    """Kill the engine and all its processes, start it, and run the unit's command. Returns how many tries that took."""
    lives = box.lives().values()
    subprocess.run(os.environ[KILL], shell=True, check=True)
    for life in lives:
        with contextlib.suppress(ProcessLookupError):
            os.kill(life.pid, signal.SIGKILL)
    began = time.monotonic()
    subprocess.run(os.environ[START], shell=True, check=True)
    while engine() is None and time.monotonic() - began < PATIENCE_SECONDS:
        time.sleep(LOOK_SECONDS)
    with ThreadPoolExecutor(1) as beside:
        tries = beside.submit(box.boot)
        _watch(box, tally, "hard kill", began, [life.started for life in lives])
    return tries.result()


def _restore(box: Box, ledger: Ledger, tally: Tally) -> None:
    """Back up, delete every volume and later data, restore."""
    kept = _uploaded(box, PICTURE + b"kept")
    for line in backup_lines("Docker"):
        box.run(line)
    later = _uploaded(box, PICTURE + b"later")
    dump = box.folder / "backup" / "signage.dump"
    ledger.conditions["the dump is closed to others"] = dump.stat().st_mode & 0o077 == 0
    box.run("docker compose down --volumes")
    began = time.monotonic()
    box.run(restore_lines("Docker"))
    _watch(box, tally, "restore", began)
    found = box.ask("GET", f"/api/event-media/{kept}/content")
    ledger.conditions["a restore brings back what the backup had"] = found.data == PICTURE + b"kept"
    ledger.conditions["and nothing that came later"] = box.ask("GET", f"/api/event-media/{later}").status == 404


def _uploaded(box: Box, file: bytes) -> int:
    answer = box.ask("POST", "/api/event-media", file)
    assert answer.status == 201, answer.data
    return int(answer.json()["media"]["id"])


def _nameless() -> set[str]:
    """The images without a name."""
    listed = ["docker", "images", "--quiet", "--filter", "dangling=true"]
    return set(subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split())


def _note(boots: int) -> str:
    """Versions, images that are not from a registry, and parts that were not run."""
    asked = ["docker", "compose", "version", "--short"]
    compose = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    bases = {rest.split()[0] for word, rest in instructions() if word == "FROM" and ":" in rest}
    used = {VARIABLE.sub(lambda found: found[3], str(one["image"])) for one in COMPOSE["services"].values()}
    made = {name: made_here(name) for name in sorted(bases | used) if ":" in name}
    stand_ins = ", ".join(f"{name} ({words})" for name, words in made.items() if words)
    found = f"Docker {engine()}, compose {compose}; stand-ins: {stand_ins or 'none'}"
    return found if boots else f"{found}; engine not killed: {KILL} and {START} were not given"


def made_here(name: str) -> str:
    """A description of an image that is not from a registry; empty for other images."""
    form = '{{len .RepoDigests}} {{index .Config.Labels "org.opencontainers.image.title"}}'
    asked = ["docker", "image", "inspect", "--format", form, name]
    digests, _, title = subprocess.run(asked, check=False, capture_output=True, text=True).stdout.strip().partition(" ")
    return (title or "made here") if digests == "0" else ""
