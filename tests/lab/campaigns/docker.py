"""The Docker box on a real engine: started, killed, restarted, killed with its engine, backed up and restored.

It is set up by the lines of the guides. Each container is killed -9, all are restarted, and the engine dies with
everything that it started. Each time both doors have to open again, with every container in one network. It runs as
root beside an engine of its own machine; docs/deploying.md, "The Docker box on an engine", says how.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from tests.deploy.confined import COMPOSE, VARIABLE, instructions
from tests.lab.campaigns.docker_box import STAY, Box, backup_lines, box_of_its_own, restore_lines, set_up_lines, unit
from tests.lab.campaigns.doors import PICTURE
from tests.lab.campaigns.ledger import Ledger, tell

KILL, START = "DOCKER_ENGINE_KILL", "DOCKER_ENGINE_START"  # commands
PATIENCE_SECONDS: Final = 120.0
LOOK_SECONDS: Final = 0.25
MOST_SECONDS: Final = {
    "first start": 20.0,  # a database is made, too
    "death of a container": 10.0,
    "death of the network": 40.0,  # the others look for it every 20 s
    "restart": 20.0,
    "hard kill": 30.0,
    "restore": 60.0,
}


@dataclass(frozen=True)
class Plan:
    """How often."""

    restarts: int = 20
    boots: int = 20
    seed: int = 1


@dataclass
class Tally:
    """Seconds until the box was whole again, by what had been done to it; None where it stayed in pieces."""

    say: Callable[[str], None]
    took: dict[str, list[float | None]] = field(default_factory=dict)
    again: int = 0

    def watch(self, box: Box, what: str, began: float, gone: Collection[str] = ()) -> None:
        """Wait until the box is whole, without the containers of these starts."""
        seconds = None
        while seconds is None and time.monotonic() - began < PATIENCE_SECONDS:
            if box.is_open() and box.is_whole(set(gone)):
                seconds = round(time.monotonic() - began, 1)
            else:
                time.sleep(LOOK_SECONDS)
        self.took.setdefault(what, []).append(seconds)
        self.say(f"{what}: {seconds} s")
        if seconds is None:
            self.say(box.run("docker compose ps --all; docker compose logs --tail 20"))
            box.run("docker compose down; docker compose up --detach")


def engine() -> str | None:
    """The engine's version; None where none answers."""
    if shutil.which("docker") is None:
        return None
    asked = ["docker", "version", "--format", "{{.Server.Version}}"]
    done = subprocess.run(asked, check=False, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def run(plan: Plan, folder: Path, say: Callable[[str], None] = tell) -> Ledger:
    """The campaign's ledger."""
    boots = plan.boots if {KILL, START} <= set(os.environ) else 0
    ledger = Ledger("docker", plan.seed, {"deaths": len(STAY), "restarts": plan.restarts, "hard_kills": boots})
    began, tally = time.monotonic(), Tally(say)
    with box_of_its_own(folder) as box:
        before = _nameless()
        box.run(set_up_lines(), box.folder)
        ledger.conditions["one build leaves no image without a name"] = _nameless() <= before
        started = time.monotonic()
        box.run(unit("ExecStart"))
        tally.watch(box, "first start", started)
        for service in sorted(STAY):
            life = box.lives()[service]
            os.kill(life.pid, signal.SIGKILL)
            kind = "death of the network" if service == "net" else f"death of a container, {service}"
            tally.watch(box, kind, time.monotonic(), [life.started])
        _restore(box, ledger, tally)
        for _ in range(plan.restarts):
            gone = [life.started for life in box.lives().values()]
            started = time.monotonic()
            box.run("docker compose restart")
            tally.watch(box, "restart", started, gone)
        for _ in range(boots):
            _hard_kill(box, tally)
    _judge(ledger, tally)
    ledger.note = _note(boots)
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger


def _hard_kill(box: Box, tally: Tally) -> None:
    """Kill the engine and whatever it started; start it, and run what the unit runs."""
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
        tally.watch(box, "hard kill", began, [life.started for life in lives])
    tally.again += tries.result() - 1


def _restore(box: Box, ledger: Ledger, tally: Tally) -> None:
    """Back up, lose every volume and what came later, restore."""
    kept = _uploaded(box, PICTURE + b"kept")
    for line in backup_lines():
        box.run(line)
    later = _uploaded(box, PICTURE + b"later")
    dump = box.folder / "backup" / "signage.dump"
    ledger.conditions["the dump is closed to others"] = dump.stat().st_mode & 0o077 == 0
    box.run("docker compose down --volumes; docker compose run --rm setup")
    began = time.monotonic()
    box.run(restore_lines())
    tally.watch(box, "restore", began)
    found = box.ask("GET", f"/api/event-media/{kept}/content")
    ledger.conditions["a restore brings back what the backup had"] = found.data == PICTURE + b"kept"
    ledger.conditions["and nothing that came later"] = box.ask("GET", f"/api/event-media/{later}").status == 404


def _uploaded(box: Box, file: bytes) -> int:
    answer = box.ask("POST", "/api/event-media", file)
    assert answer.status == 201, answer.data
    return int(answer.json()["media"]["id"])


def _judge(ledger: Ledger, tally: Tally) -> None:
    """What must hold, and how quick it has to be."""
    for kind, most in MOST_SECONDS.items():
        took = [seconds for what, times in tally.took.items() if what.startswith(kind) for seconds in times]
        back = [seconds for seconds in took if seconds is not None]
        if took:
            ledger.conditions[f"the box comes back after each {kind}"] = len(back) == len(took)
        if back:
            name = kind.replace(" ", "_")
            ledger.counted |= {f"{name}_median_seconds": round(median(back), 1), f"{name}_slowest_seconds": max(back)}
            ledger.limits[f"within {most:.0f} s of each {kind}"] = max(back) <= most
    ledger.counted |= {"times_in_pieces": sum(times.count(None) for times in tally.took.values())}
    ledger.counted |= {"unit_tried_again": tally.again}


def _nameless() -> set[str]:
    """Images without a name."""
    listed = ["docker", "images", "--quiet", "--filter", "dangling=true"]
    return set(subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split())


def _note(boots: int) -> str:
    """Versions, images that came from no registry, and what was not run."""
    asked = ["docker", "compose", "version", "--short"]
    compose = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()
    bases = {rest.split()[0] for word, rest in instructions() if word == "FROM" and ":" in rest}
    used = {VARIABLE.sub(lambda found: found[3], str(one["image"])) for one in COMPOSE["services"].values()}
    made = {name: _made_here(name) for name in sorted(bases | used) if ":" in name}
    stand_ins = ", ".join(f"{name} ({words})" for name, words in made.items() if words)
    found = f"Docker {engine()}, compose {compose}; stand-ins: {stand_ins or 'none'}"
    return found if boots else f"{found}; engine not killed: {KILL} and {START} were not given"


def _made_here(name: str) -> str:
    """What an image that came from no registry is; nothing for one that did, or that only the builder has."""
    form = '{{len .RepoDigests}} {{index .Config.Labels "org.opencontainers.image.title"}}'
    asked = ["docker", "image", "inspect", "--format", form, name]
    digests, _, title = subprocess.run(asked, check=False, capture_output=True, text=True).stdout.strip().partition(" ")
    return (title or "made here") if digests == "0" else ""
