"""The image for a first look on an engine: built and started by the README's lines, stopped, started again."""

import re
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import requests

from deploy.parts.layout import LOOPBACK, REPOSITORY
from tests.api.people import OURS
from tests.lab.campaigns.docker import engine, made_here
from tests.lab.campaigns.guides import block
from tests.lab.campaigns.ledger import Ledger, tell
from tests.stack import eventually, free_ports

DISPLAYS: Final = 50  # of the demo
LINES: Final = "../README.md"
MOST_SECONDS: Final = 60.0  # from `docker run` to the demo fleet
PASSWORD: Final = re.compile(r"first sign-in  admin / (\S+)")
TAG: Final = "signage-trial"
BASE: Final = "debian:bookworm-slim"  # in the Dockerfile


@dataclass(frozen=True)
class Trial:
    """One container of the image, with a name and a port of its own."""

    name: str
    port: int

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def run(self, line: str) -> str:
        """Run a command line in the repository. Returns its output. Raises RuntimeError with it if it fails."""
        done = subprocess.run(
            line, shell=True, check=False, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{line}\nended with {done.returncode}:\n{done.stdout[-3000:]}")
        return done.stdout

    def lines(self) -> tuple[str, str]:
        """The README's lines that build and start it: with its name and port, in the background, kept at its end."""
        lines = block(LINES, f"--target trial --tag {TAG}").replace(TAG, self.name)
        build, start = lines.strip().splitlines()
        return build, start.replace("--rm", f"--detach --name {self.name}").replace(":8080:8080", f":{self.port}:8080")

    def answers(self) -> bool:
        """Whether the service says that all its parts are ready."""
        try:
            return requests.get(f"{self.url}/api/health/ready", timeout=60).ok
        except requests.RequestException:
            return False

    def passwords(self) -> set[str]:
        """The passwords of the first sign-in that the container has printed at its starts."""
        return set(PASSWORD.findall(self.run(f"docker logs {self.name} 2>&1")))

    def signed_in(self) -> requests.Session:
        """A person who has signed in with the printed password."""
        password = eventually(self.passwords, "the first sign-in, printed after the last part").pop()
        person, login = requests.Session(), {"username": "admin", "password": password}
        answer = person.post(f"{self.url}/api/session", json=login, headers=OURS, timeout=60)
        assert answer.status_code == 201, answer.text
        return person

    def running(self, person: requests.Session) -> int:
        """How many displays run."""
        told = person.get(f"{self.url}/api/monitoring/overview", timeout=60)
        assert told.ok, told.text
        return int(told.json()["counts"]["running"])


@contextmanager
def trial_of_its_own() -> Iterator[Trial]:
    """A name and a free port; afterwards container and image are gone."""
    made = Trial(f"{TAG}-{uuid.uuid4().hex[:8]}", *free_ports(1))
    try:
        yield made
    finally:
        subprocess.run(["docker", "rm", "--force", "--volumes", made.name], check=False, capture_output=True)
        subprocess.run(["docker", "rmi", made.name], check=False, capture_output=True)


def _most_run(trial: Trial, person: requests.Session) -> bool:
    """Whether most of the demo's displays run; some are simulated to fail."""
    return trial.running(person) >= 0.8 * DISPLAYS


def run(seed: int, say: Callable[[str], None] = tell) -> Ledger:
    """Run the campaign. Returns its ledger."""
    ledger, began = Ledger("trial", seed, {"displays": DISPLAYS}), time.monotonic()
    with trial_of_its_own() as trial:
        build, start = trial.lines()
        trial.run(build)
        ledger.counted["build_seconds"] = round(time.monotonic() - began, 1)
        for what, line in (("first", start), ("second", f"docker start {trial.name}")):
            started = time.monotonic()
            trial.run(line)
            eventually(trial.answers, "a ready service", 10 * MOST_SECONDS)
            person = trial.signed_in()
            eventually(partial(_most_run, trial, person), "the demo fleet", 10 * MOST_SECONDS)
            ledger.counted[f"{what}_fleet_after_seconds"] = round(time.monotonic() - started, 1)
            say(f"trial: {ledger.counted}")
            trial.run(f"docker stop --time 60 {trial.name}")
            code = trial.run(f"docker inspect --format '{{{{.State.ExitCode}}}}' {trial.name}").strip()
            ledger.conditions[f"its {what} end is an orderly one"] = code == "0"
        ledger.conditions["a second start keeps the data"] = len(trial.passwords()) == 1
    ledger.note = f"Docker {engine()}; stand-ins: {made_here(BASE) or 'none'} for {BASE}"
    ledger.limits["the demo fleet is there in time"] = ledger.counted["first_fleet_after_seconds"] <= MOST_SECONDS
    ledger.seconds = round(time.monotonic() - began, 1)
    return ledger
