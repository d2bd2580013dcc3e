"""Mosquitto with two listeners: one for displays, one for our own services.

Both share one ACL. Our services' passwords are in mosquitto's own password file. A plugin checks the displays'
passwords: it reads its file again when it changes, and refuses packets that no display needs (`broker_door.c`,
docs/decisions/0014). The client id must be the user name, so nobody can take over another client's session.
`mosquitto/mosquitto.conf` has the settings, each with its reason.
"""

import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from deploy.parts import broker_door, broker_launch, guardian
from deploy.parts.broker_rights import DOWNWARD, RETAINED, SERVICES, URGENT, displays_acl, services_acl
from deploy.parts.config_file import INSIDE, Listener, filled
from deploy.parts.layout import LOOPBACK, write_file
from deploy.parts.probes import Probe, connect_code, free_port, mqtt_refuses_anonymous, wait_until
from deploy.parts.short_lived import running
from shared.access.rules import MOSQUITTO_SALT_BYTES, mosquitto_hash

__all__ = ["SERVICES", "URGENT", "Broker", "RunningBroker", "command", "prepare", "serve", "throw_away"]
FILES: Final = Path(__file__).with_name("mosquitto")
DISPLAYS_CONNECTIONS: Final = broker_launch.OPEN_FILES - 8_192  # the rest is for services, subscriptions and files
STOP_SIGNAL: Final = signal.SIGTERM  # mosquitto then saves its sessions and ends


class BrokerUnusable(Exception):
    """Mosquitto or its plugin cannot be used; the message says what to do."""


@dataclass(frozen=True)
class Broker:
    """The folders and ports of one mosquitto."""

    run: Path  # generated: configuration, ACLs, password files
    data: Path  # its sessions and queues
    displays_port: int
    services_port: int
    topic_root: str = "signage"
    displays_connections: int = DISPLAYS_CONNECTIONS

    @property
    def configuration(self) -> Path:
        return self.run / "mosquitto.conf"

    @property
    def displays_password_file(self) -> Path:
        """Written by `broker_accounts`, read by the plugin."""
        return self.run / "displays.passwords"

    @property
    def acl_file(self) -> Path:
        """The rights of each user."""
        return self.run / "all.acl"

    @property
    def services_password_file(self) -> Path:
        return self.run / "services.passwords"

    @property
    def pid_file(self) -> Path:
        """The broker's process id, written by the runner."""
        return self.run / "broker.pid"

    @property
    def running_file(self) -> Path:
        """Exists while the broker runs. If it exists when a broker starts, the last one crashed."""
        return self.data / broker_launch.RUNNING

    @property
    def crashes_file(self) -> Path:
        """A line for each crash: when the next broker started, in seconds since 1970."""
        return self.data / broker_launch.CRASHES

    @property
    def services_url(self) -> str:
        return f"mqtt://{LOOPBACK}:{self.services_port}"

    @property
    def displays_url(self) -> str:
        return f"mqtt://{LOOPBACK}:{self.displays_port}"


def password_lines(passwords: Mapping[str, str]) -> str:
    """A password file for these users, each with a new salt."""
    return "".join(
        f"{user}:{mosquitto_hash(password, secrets.token_bytes(MOSQUITTO_SALT_BYTES))}\n"
        for user, password in passwords.items()
    )


@cache
def _same_line(user: str, password: str) -> str:
    """A line of a password file, cached: a new salt would look like a new password to the broker."""
    return password_lines({user: password})


def service_logins(passwords: Mapping[str, str]) -> dict[str, str]:
    """The password of every user of the services' listener, from the password of each service."""
    return {**passwords, URGENT: passwords["bridge"]}


def configuration(broker: Broker, displays: Listener = INSIDE, services: Listener = INSIDE) -> str:
    """The text of mosquitto.conf. Raises BrokerUnusable when the plugin cannot be compiled."""
    try:
        door = broker_door.library(broker.run)
    except broker_door.NoDoor as error:
        raise BrokerUnusable(str(error)) from error
    return filled(
        FILES / "mosquitto.conf",
        data=broker.data,
        door=door,
        displays_passwords=broker.displays_password_file,
        services=",".join((*SERVICES, URGENT)),
        topic_root=broker.topic_root,
        downward=",".join(DOWNWARD),
        retained=",".join(RETAINED),
        running=broker.running_file,
        services_passwords=broker.services_password_file,
        acl=broker.acl_file,
        displays_port=broker.displays_port,
        displays_address=displays.address,
        displays_tls=displays.tls_lines(FILES / "tls.conf"),
        displays_connections=broker.displays_connections,
        services_port=broker.services_port,
        services_address=services.address,
        services_tls=services.tls_lines(FILES / "tls.conf"),
    )


def prepare(
    broker: Broker,
    service_passwords: Mapping[str, str],
    displays: Listener = INSIDE,
    services: Listener = INSIDE,
) -> None:
    """Write every file that the broker reads; an existing file of displays' logins stays."""
    for folder in (broker.run, broker.data):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = broker.topic_root
    write_file(broker.acl_file, services_acl(root) + "\n" + displays_acl(root))
    write_file(broker.services_password_file, password_lines(service_logins(service_passwords)))
    if not broker.displays_password_file.exists():
        write_file(broker.displays_password_file, "")
    guardian.own(broker.data, system_user())
    write_file(broker.configuration, configuration(broker, displays, services))


def system_user() -> str:
    """The user that mosquitto runs as, when root starts it and user namespaces are forbidden."""
    return guardian.existing_user("mosquitto", "nobody")


def find_program() -> str | None:
    """The path of mosquitto: BROKER_PROGRAM, else the installed one; None when there is none."""
    return os.environ.get("BROKER_PROGRAM") or shutil.which(
        "mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
    )


def command(broker: Broker) -> tuple[str, ...]:
    """The broker's command line; see `broker_launch`.

    Raises:
        BrokerUnusable: mosquitto is not installed. There is no fallback: the brokers that pip can install lose
            acknowledged messages or have no ACLs.
    """
    program = find_program()
    if program is None:
        raise BrokerUnusable("There is no mosquitto: install the Debian package mosquitto.")
    launch = (sys.executable, "-I", "-S", broker_launch.__file__, str(broker.data))
    return (*launch, program, "-c", str(broker.configuration))


def answers(broker: Broker) -> Probe:
    """Whether both listeners answer, and refuse a client without a login."""
    probes = [mqtt_refuses_anonymous(port) for port in (broker.displays_port, broker.services_port)]
    return lambda: all(probe() for probe in probes)


@dataclass(frozen=True)
class RunningBroker:
    """A throw-away broker: its addresses, the services' passwords, and logins for displays."""

    broker: Broker
    passwords: Mapping[str, str]  # by service: bridge, api, scheduler
    pid: int

    def set_displays(self, passwords: Mapping[str, str]) -> None:
        """Replace the displays' logins (user name -> password) and wait until the broker has read them.

        The broker has read them when it accepts a probe login that was written with them.
        """
        self._read("", passwords)

    def add_displays(self, passwords: Mapping[str, str]) -> None:
        """Add or change logins like `set_displays`; the other logins stay."""
        here = self.broker.displays_password_file.read_text(encoding="utf-8").splitlines(keepends=True)
        self._read("".join(line for line in here if line.partition(":")[0] not in passwords), passwords)

    def _read(self, others: str, passwords: Mapping[str, str]) -> None:
        probe, secret = f"probe-{secrets.token_hex(8)}", secrets.token_hex(8)
        lines = [_same_line(*login) for login in passwords.items()]
        write_file(self.broker.displays_password_file, "".join([others, *lines, password_lines({probe: secret})]))
        wait_until(lambda: connect_code(self.broker.displays_port, probe, secret) == 0, 60)


@contextmanager
def serve(broker: Broker, passwords: Mapping[str, str], log: Path) -> Iterator[RunningBroker]:
    """Run the broker for the length of the block. Its folders stay, so the next run continues its sessions."""
    prepare(broker, passwords)
    with running(command(broker), answers(broker), log, stop_signal=STOP_SIGNAL, user=system_user()) as process:
        write_file(broker.pid_file, f"{process.pid}\n")
        yield RunningBroker(broker, passwords, process.pid)


@contextmanager
def throw_away(topic_root: str = "signage") -> Iterator[RunningBroker]:
    """Run a broker in a temporary folder for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="signage-mqtt-") as folder:
        place = Path(folder)
        broker = Broker(place / "run", place / "data", free_port(), free_port(), topic_root)
        passwords = {user: secrets.token_urlsafe(24) for user in SERVICES}
        with serve(broker, passwords, place / "log") as served:
            yield served
