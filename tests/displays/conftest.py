"""A stack, and one machine on which the agent was installed by the line that the dashboard shows."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.displays.machines import Machine, machine
from tests.stack import Api, Stack, eventually, running_stack


@dataclass(frozen=True)
class Seen:
    """A display as the service sees it."""

    api: Api
    uuid: str

    def client(self) -> dict[str, Any]:
        """The display as its own page shows it."""
        found: dict[str, Any] = self.api.get(f"/api/clients/{self.uuid}")
        return found

    def runs(self) -> dict[str, Any] | None:
        """The same, once its player runs."""
        now = self.client()
        return now if (now["process_status"], now["status"]) == ("running", "running") else None

    def logs(self) -> list[str]:
        """What is stored of its log, newest first."""
        page = self.api.get(f"/api/client-logs/{self.uuid}/logs?limit=500")
        return [one["message"] for one in page["items"]]

    def may(self, action: str) -> bool:
        """Does the service know that the display can do that? None means: everything."""
        able = self.client()["capabilities"]
        return able is None or action in able

    def send(self, action: str) -> str:
        """Send a command, once the service knows that it can be carried out; its id.

        After a start without a disk the display counts from 1: that heals within 90 s.
        """
        eventually(lambda: self.may(action), f"leave for {action}", 180)
        body = {"action": action, "reason": "test", "override_lockout": True}
        return str(self.api.post(f"/api/clients/{self.uuid}/commands", body, expected=202)["id"])

    def over(self, command: str) -> dict[str, Any] | None:
        """The command, once it has ended."""
        now: dict[str, Any] = self.api.get(f"/api/commands/{command}")
        return now if now["finished_at"] else None

    def command(self, action: str) -> dict[str, Any]:
        """Send a command, wait for its end, which must be success."""
        sent = self.send(action)
        done = eventually(lambda: self.over(sent), f"the end of {action}", 180)
        assert done["state"] == "succeeded", done
        return done


@dataclass(frozen=True)
class Installed(Seen):
    """One on a machine that can be looked into."""

    machine: Machine
    said: str  # by the installer

    def status(self) -> str:
        """What `signage-display status` shows."""
        return self.machine.try_to("signage-display", "status").stdout


def install(there: Machine, api: Api, identity: str = "") -> Installed:
    """Paste the line, as the dialog *Connect a display* shows it."""
    identity = identity or str(uuid.uuid4())
    code = api.post(f"/api/clients/{identity}/enrolment", expected=201)["code"]
    line = f"curl -fsS {api.url}/display/install.sh | sh -s -- {api.url} {code}"
    return Installed(api, identity, there, there.run("sh", "-c", line))


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("stack"), TICK_SECONDS="1", DEMO="") as running:
        yield running


@pytest.fixture(scope="package")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine on which nothing of ours is."""
    with machine(tmp_path_factory.mktemp("machine")) as running:
        yield running


@pytest.fixture(scope="package")
def display(bare: Machine, stack: Stack) -> Installed:
    return install(bare, stack.api())
