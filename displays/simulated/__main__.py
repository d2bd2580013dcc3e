"""The demo fleet: N displays in one process. `python -m displays.simulated`

    DEMO_DISPLAYS          how many (50)
    DEMO_SEED              seed of names, sites and faults (1)
    DEMO_HEARTBEAT_SECONDS between heartbeats (30; 5 to 3,600)
    LOCAL_STATE_DIR        the local stack's state (.local); logins and disks go to its folder `demo`
    SIGNAGE_API_URL, SIGNAGE_ADMIN_TOKEN, SIGNAGE_MQTT_URL
                           addresses of the stack; default: from `stack.env` in the state dir

`python -m displays.simulated --one CREDENTIALS_FILE STATE_DIR` runs a single healthy display without
the HTTP API, for authors of clients who want to see a reference client.

SIGTERM and SIGINT end it cleanly: every display sends presence `offline`.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from logging import WARNING
from pathlib import Path
from typing import Any, Final

import requests

from deploy.parts.layout import layout_from, read_stack_env
from displays.client.credentials import Credentials
from displays.simulated.behaviours import Role, cast, live
from displays.simulated.display import Behaviour, Display
from displays.simulated.enrolment import Enroller, EnrolmentRefused
from displays.simulated.outage import dark_site, outages
from shared.structured_log import configure, event, failure

RETRY_SECONDS: Final = 2.0  # before another request to an unreachable API
LOGIN_SECONDS: Final = 3.0  # until the broker has surely heard of a new login


@dataclass(frozen=True)
class Settings:
    """The settings from the environment; see the module's docstring."""

    displays: int
    seed: int
    heartbeat_seconds: int
    folder: Path
    api_url: str
    admin_token: str
    mqtt_url: str | None


class BadSetting(Exception):
    """A setting is missing or invalid; the text names it."""


def settings_from(environ: Mapping[str, str]) -> Settings:
    """Read the settings; the environment wins over `stack.env`. Raises BadSetting."""
    layout = layout_from(environ)
    known = {**read_stack_env(layout.stack_env), **environ}
    for name in ("SIGNAGE_API_URL", "SIGNAGE_ADMIN_TOKEN"):
        if not known.get(name):
            raise BadSetting(f"{name} is neither set nor in {layout.stack_env}: is the stack running?")
    return Settings(
        displays=_whole(environ, "DEMO_DISPLAYS", 50, 1, 100_000),
        seed=_whole(environ, "DEMO_SEED", 1, 0, 2**63),
        heartbeat_seconds=heartbeat_seconds(environ),
        folder=layout.root / "demo",
        api_url=known["SIGNAGE_API_URL"],
        admin_token=known["SIGNAGE_ADMIN_TOKEN"],
        mqtt_url=known.get("SIGNAGE_MQTT_URL"),
    )


def heartbeat_seconds(environ: Mapping[str, str]) -> int:
    """Seconds between heartbeats, within the limits of the contract. Raises BadSetting."""
    return _whole(environ, "DEMO_HEARTBEAT_SECONDS", 30, 5, 3600)


def _whole(environ: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = environ.get(name) or str(default)
    if not text.isdecimal() or not low <= int(text) <= high:
        raise BadSetting(f"{name}: {text!r} is no whole number from {low} to {high}")
    return int(text)


class Fleet:
    """The running displays, each with its task."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._enroller = Enroller(settings.api_url, settings.admin_token, settings.folder, settings.mqtt_url)
        self._displays: list[Display] = []
        self._at_site: dict[str, list[Display]] = {}
        self._lives: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Enrol the displays one after another, and start each once the broker knows its login."""
        roles = cast(self._settings.displays, self._settings.seed, self._settings.heartbeat_seconds)
        starting: list[asyncio.Task[None]] = []
        for role in roles:
            credentials = await self._credentials_for(role)
            if credentials is not None:
                starting.append(asyncio.create_task(self._start(role, credentials)))
                self._lives.append(starting[-1])
        await asyncio.gather(*starting)
        self._lose_a_network(roles)
        event("fleet_started", "all displays are started", displays=len(self._displays))

    async def stop(self) -> None:
        """Stop every display cleanly and wait for all."""
        for task in self._lives:
            task.cancel()
        await asyncio.gather(*self._lives, return_exceptions=True)
        await asyncio.gather(*(display.power_off("stopped") for display in self._displays))
        self._enroller.close()
        event("fleet_stopped", "all displays are off", displays=len(self._displays))

    async def _credentials_for(self, role: Role) -> Credentials | None:
        """The display's login; None when the service refuses it. Waits while the service is unreachable."""
        while True:
            try:
                return await asyncio.to_thread(self._enroller.credentials_for, role)
            except EnrolmentRefused as refusal:
                event("display_refused", "left out", WARNING, client_uuid=role.uuid, why=str(refusal))
                return None
            except requests.RequestException as error:
                event("api_unreachable", "asking again", WARNING, why=str(error), seconds=RETRY_SECONDS)
                await asyncio.sleep(RETRY_SECONDS)

    async def _start(self, role: Role, credentials: Credentials) -> None:
        await asyncio.sleep(LOGIN_SECONDS)
        display = Display(credentials, self._settings.folder / role.uuid, role.behaviour)
        self._displays.append(display)
        self._at_site.setdefault(role.site, []).append(display)
        display.name, display.vitals = role.name, dict(role.vitals)
        await display.power_on()
        self._begin(live(display, role), client_uuid=role.uuid)

    def _lose_a_network(self, roles: Sequence[Role]) -> None:
        site = dark_site(roles)
        if site is not None:
            self._begin(outages(self._at_site.get(site, []), self._settings.seed), site=site)

    def _begin(self, story: Coroutine[Any, Any, None], **whose: str) -> None:
        self._lives.append(asyncio.get_running_loop().create_task(_told(story, whose)))


async def _told(story: Coroutine[Any, Any, None], whose: Mapping[str, str]) -> None:
    """Run one display's or site's coroutine; log an error, so that the others continue."""
    try:
        await story
    except Exception:  # noqa: BLE001 - whatever it is, the rest of the fleet goes on
        failure("display_fault", "the simulation of a display or site ended with an error", **whose)


async def run_fleet(settings: Settings) -> None:
    """Run the whole fleet until SIGTERM or SIGINT."""
    fleet, told = Fleet(settings), _told_to_stop()
    starting = asyncio.get_running_loop().create_task(fleet.run())
    waiting = asyncio.get_running_loop().create_task(told.wait())
    try:
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done():
            await starting  # raises the error, if any
            await waiting
    finally:
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await fleet.stop()


async def run_one(credentials: Credentials, state_dir: Path, behaviour: Behaviour) -> None:
    """Run one healthy display until SIGTERM or SIGINT."""
    display, told = Display(credentials, state_dir, behaviour), _told_to_stop()
    await display.power_on()
    await told.wait()
    await display.power_off("stopped")


def _told_to_stop() -> asyncio.Event:
    """An event that SIGTERM or SIGINT sets."""
    told = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    return told


def main(arguments: list[str]) -> int:
    """Run the fleet. Returns the exit code: 0 after a signal, 2 for a bad setting."""
    parser = argparse.ArgumentParser(prog="python -m displays.simulated")
    parser.add_argument("--one", nargs=2, metavar=("CREDENTIALS_FILE", "STATE_DIR"), type=Path)
    one = parser.parse_args(arguments).one
    configure("demo_fleet")
    try:
        if one:
            behaviour = Behaviour(interval_seconds=heartbeat_seconds(os.environ))
            asyncio.run(run_one(Credentials.load(one[0]), one[1], behaviour))
        else:
            asyncio.run(run_fleet(settings_from(os.environ)))
    except BadSetting as refusal:
        print(refusal, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
