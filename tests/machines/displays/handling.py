"""What tests and campaigns do to a machine with the agent."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from displays.client.credentials import Credentials
from displays.conformance.checklist import judge
from displays.conformance.exercise import Exercise
from displays.conformance.service import Service
from displays.conformance.tap import Tap
from tests.machines.displays.conftest import Installed
from tests.nspawn import Machine

AGENT = "signage-display.service"
STATE = "/var/lib/signage-display"
SMALL_DISK = (  # with all that the folder has: a full disk keeps what is on it
    f"cp -a {STATE} /tmp/state && mount -t tmpfs -o size=2m,mode=700 tmpfs {STATE}"
    f" && chown signage-display: {STATE} && cp -a /tmp/state/. {STATE}/ && rm -r /tmp/state"
)
SPOILS = {"full": f"cat /dev/zero >{STATE}/fill; true", "read-only": f"mount -o remount,ro {STATE}"}


def say(there: Machine, lines: list[str]) -> None:
    """Let the player write these into its log."""
    there.run("sh", "-c", 'printf "%s\\n" "$@" >>/run/kiosk', "sh", *lines)


def configure(there: Machine, text: str) -> None:
    there.run("sh", "-c", 'printf "[display]\\n%s" "$1" >/etc/signage-display/display.conf', "sh", text)
    there.run("systemctl", "restart", AGENT)


def with_drop_in(there: Machine, unit: str, text: str) -> None:
    folder = f"/etc/systemd/system/{unit}.d"
    there.run("sh", "-c", f'mkdir -p {folder} && printf "%s" "$1" >{folder}/test.conf', "sh", text)
    there.run("systemctl", "daemon-reload")


def without_drop_in(there: Machine, unit: str) -> None:
    without_drop_in_on_the_disk(there, unit)
    there.run("systemctl", "daemon-reload")


def without_drop_in_on_the_disk(there: Machine, unit: str) -> None:
    (there.root / f"etc/systemd/system/{unit}.d/test.conf").unlink()


def connect_to(there: Machine, port: int) -> None:
    """Let the agent connect to this port of loopback, with short intervals."""
    login = Credentials(**json.loads(there.run("cat", f"{STATE}/credentials.json"))).at(f"mqtt://127.0.0.1:{port}")
    (there.root / "root/login.json").write_text(json.dumps({name: getattr(login, name) for name in login.__slots__}))
    there.run("sh", "-c", f"cat /root/login.json >{STATE}/credentials.json && rm /root/login.json")
    configure(there, "player = kiosk.service\nheartbeat_seconds = 5\n")


async def exercised(display: Installed, broker: int, seen_as: Callable[[int], int]) -> list[Any]:
    """The lines of the conformance check, with commands and a reboot. The display stays connected to its tap.

    `broker` is the port of the broker here; `seen_as` gives the machine's port for one of this machine.
    """
    async with Tap(display.uuid, "signage", ("127.0.0.1", broker)) as tap:
        await asyncio.to_thread(connect_to, display.machine, seen_as(tap.port))
        service = Service(display.api.url, display.api.token)
        exercise = Exercise(tap, service, commands=True, reboot=True, answer_seconds=60.0)
        talk = asyncio.create_task(keep_talking(display.machine))
        try:
            return judge(tap.record, await exercise.run())
        finally:
            talk.cancel()


async def keep_talking(there: Machine) -> None:
    """A player has something to say every now and then."""
    while True:
        await asyncio.sleep(1)
        await asyncio.to_thread(there.try_to, "sh", "-c", "echo something >>/run/kiosk")
