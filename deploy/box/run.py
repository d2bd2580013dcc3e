"""`python -m deploy.box.run SERVICE`: becomes one service of a machine that serves a network (see deploy/box/box.py).

systemd or Docker keeps each service running. This program works out the command and environment of the service and
replaces itself by it, so that signals and exit codes are the service's own. Exit code 2: a setting is wrong; a line on
standard error says which.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from deploy.box.box import Box, unread
from deploy.parts import broker as mosquitto
from deploy.parts import gateway as nginx
from deploy.parts.broker import BrokerUnusable
from deploy.parts.components import OF_A_BOX
from deploy.parts.gateway import GatewayUnusable
from deploy.parts.layout import REPOSITORY, BadSetting
from shared.errors import ConfigurationError

Program = tuple[Sequence[str], Mapping[str, str]]
"""A command line and the whole environment of a service."""


def broker(box: Box) -> Program:
    """Mosquitto; writes its files first."""
    box.check_tls()
    passwords = {
        user: (box.layout.secrets / f"mqtt_{user}_password").read_text(encoding="utf-8").strip()
        for user in mosquitto.SERVICES
    }
    mosquitto.prepare(box.broker, passwords, box.displays, box.services)
    return mosquitto.command(box.broker), {"PATH": os.environ.get("PATH", os.defpath)}


def gateway(box: Box) -> Program:
    """nginx; writes its configuration first."""
    box.check_tls()
    nginx.prepare(box.gateway, box.people)
    return nginx.command(box.gateway), {"PATH": os.environ.get("PATH", os.defpath)}


def _ours(name: str) -> Callable[[Box], Program]:
    def program(box: Box) -> Program:
        service = box.service(name)
        return service.command, service.environment or {}

    return program


SERVICES: Final[dict[str, Callable[[Box], Program]]] = {
    **{name: _ours(name) for name in OF_A_BOX},
    "broker": broker,
    "gateway": gateway,
}


def main(arguments: Sequence[str]) -> int:
    """Become the service. Returns only if that fails."""
    if len(arguments) != 1 or arguments[0] not in SERVICES:
        print(f"Name one of: {', '.join(SERVICES)}.", file=sys.stderr)
        return 2
    try:
        command, environment = SERVICES[arguments[0]](Box(os.environ))
    except (BadSetting, BrokerUnusable, ConfigurationError, GatewayUnusable, OSError) as error:
        print(f"{arguments[0]}: {error}", file=sys.stderr)
        return 2
    if arguments[0] == "migrations" and (names := unread(os.environ)):  # once for each start of a box
        print(f"No setting of this version is called {' or '.join(names)} (docs/reference.md).", file=sys.stderr)
    return become(command, environment)


def become(command: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process by this command."""
    os.chdir(REPOSITORY)
    os.execvpe(command[0], list(command), dict(environment))  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
