"""A stack, and a machine with the agent, installed by the dashboard's command line."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from shared.commands.rules import is_able
from shared.vocabulary import CommandAction
from tests.install_line import install_line
from tests.machines.displays.bare import machine
from tests.nspawn import Machine
from tests.stack import Api, Stack, eventually, running_stack

AS_ROOT = 'sudo() { "$@"; }; '  # the machines have no sudo, and need none


@dataclass(frozen=True)
class Seen:
    """A display in the view of the service."""

    api: Api
    uuid: str

    def client(self) -> dict[str, Any]:
        """The data of the display's page."""
        found: dict[str, Any] = self.api.get(f"/api/clients/{self.uuid}")
        return found

    def runs(self) -> dict[str, Any] | None:
        """The data of the display's page once its player runs; None before."""
        now = self.client()
        return now if (now["process_status"], now["status"]) == ("running", "running") else None

    def logs(self) -> list[str]:
        """Its stored log lines, newest first."""
        page = self.api.get(f"/api/client-logs/{self.uuid}/logs?limit=500")
        return [one["message"] for one in page["items"]]

    def may(self, action: str) -> bool:
        """Whether the service knows that the display supports the action."""
        return is_able(self.client()["capabilities"], CommandAction(action))

    def send(self, action: str) -> str:
        """Send a command once the service knows that the display supports it. Returns its id.

        After a start without a disk the display numbers from 1; the service accepts that within 90 s.
        """
        eventually(lambda: self.may(action), f"leave for {action}", 180)
        body = {"action": action, "reason": "test", "override_lockout": True}
        return str(self.api.post(f"/api/clients/{self.uuid}/commands", body, expected=202)["id"])

    def over(self, command: str) -> dict[str, Any] | None:
        """The command if it is over; otherwise None."""
        now: dict[str, Any] = self.api.get(f"/api/commands/{command}")
        return now if now["finished_at"] else None

    def command(self, action: str) -> dict[str, Any]:
        """Send a command and wait for its success."""
        sent = self.send(action)
        done = eventually(lambda: self.over(sent), f"the end of {action}", 180)
        assert done["state"] == "succeeded", done
        return done


@dataclass(frozen=True)
class Installed(Seen):
    """A display on a machine that tests can inspect."""

    machine: Machine
    said: str  # output of the installer

    def runs(self) -> dict[str, Any] | None:
        """As `Seen.runs`, but only after a heartbeat of the machine's present boot.

        The ACK of a reboot comes before that heartbeat. A display refuses a command that names the boot before.
        """
        now = super().runs()
        return now if now and now["boot_id"] == self.machine.boot_id() else None

    def send(self, action: str) -> str:
        """As `Seen.send`, once the display runs."""
        eventually(self.runs, "the display", 180)
        return super().send(action)

    def names_its_player(self) -> bool:
        """Whether its last heartbeat names the player's present start. Until then it refuses a restart."""
        return bool(self.client()["app_instance"] == self.machine.shown("kiosk.service", "InvocationID"))

    def status(self) -> str:
        """The output of `signage-display status`."""
        return self.machine.try_to("signage-display", "status").stdout


def install(there: Machine, api: Api, identity: str = "") -> Installed:
    """Run the command line of the dialog *Connect a display*."""
    identity = identity or str(uuid.uuid4())
    code = api.post(f"/api/clients/{identity}/enrolment", expected=201)["code"]
    return Installed(api, identity, there, there.run("sh", "-c", AS_ROOT + install_line(api.url, code)))


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("stack"), TICK_SECONDS="1", DEMO="") as running:
        yield running


@pytest.fixture(scope="package")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine without any of our software."""
    with machine(tmp_path_factory.mktemp("machine")) as running:
        yield running


@pytest.fixture(scope="package")
def display(bare: Machine, stack: Stack) -> Installed:
    return install(bare, stack.api())
