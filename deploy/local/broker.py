"""Mosquitto with two listeners: one for displays, one for our own services.

Where the installed mosquitto can, each listener has its own password file and ACL, so that a display's
login opens nothing on the services' listener. From 2.0.12 on that setting loses what is published while a
client with a session is away (docs/decisions/0011): there both listeners share one password file and one
ACL. Either way a display's client id is its user name, so nobody can take the bridge's or a neighbour's.
Why each setting is here stands beside it; the figures are from docs/reliability.md.
"""

import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from deploy.local import broker_launch, guardian
from deploy.local.broker_rights import SERVICES, URGENT, displays_acl, separate_services_acl, services_acl
from deploy.local.layout import LOOPBACK, write_file
from deploy.local.probes import Probe, connect_code, free_port, mqtt_refuses_anonymous, wait_until
from deploy.local.short_lived import running
from shared.access.rules import MOSQUITTO_SALT_BYTES, mosquitto_hash

__all__ = ["SERVICES", "URGENT", "Broker", "RunningBroker", "command", "prepare", "serve", "throw_away"]
STOP_SIGNAL: Final = signal.SIGTERM  # saves its sessions and ends

KEPT_SECONDS: Final = 86_400  # as the bridge asks for its sessions
SEPARATE_BELOW: Final = (2, 0, 12)  # the first mosquitto whose per_listener_settings lose messages


class BrokerUnusable(Exception):
    """There is no mosquitto that can be used; the message says what to do."""


@cache
def installed_version() -> tuple[int, ...]:
    """The version of the installed mosquitto, such as (2, 0, 11); () when there is none."""
    program = find_program()
    if program is None:
        return ()
    said = subprocess.run([program, "-h"], check=False, capture_output=True, text=True).stdout
    found = re.search(r"version (\d+(?:\.\d+)*)", said)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def must_share() -> bool:
    """Whether the listeners of the installed mosquitto must share their logins and rules."""
    return installed_version() >= SEPARATE_BELOW


@dataclass(frozen=True)
class Broker:
    """Where one mosquitto keeps its files and listens."""

    run: Path  # generated: configuration, ACLs, password files
    data: Path  # its sessions and queues
    displays_port: int
    services_port: int
    topic_root: str = "signage"
    shared: bool = field(default_factory=must_share)
    """Both listeners use one password file and one ACL."""

    @property
    def configuration(self) -> Path:
        return self.run / "mosquitto.conf"

    @property
    def displays_password_file(self) -> Path:
        """Rendered by `python -m bridge.broker_accounts`; where the listeners share, with the services' in it."""
        return self.run / ("all.passwords" if self.shared else "displays.passwords")

    @property
    def services_password_file(self) -> Path:
        return self.run / "services.passwords"

    @property
    def pid_file(self) -> Path:
        """Written by the runner: whom broker_accounts signals."""
        return self.run / "broker.pid"

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


def service_logins(passwords: Mapping[str, str]) -> dict[str, str]:
    """Every user of the services' listener, of the password of each service."""
    return {**passwords, URGENT: passwords["bridge"]}


COMMON = """\
# A PUBACK is no durability: what came since the last save is lost at a kill -9. broker_launch.py asks for one each
# second, which keeps that window small; this is for the case that it cannot. Saving at every change would write the
# whole file each time (36,000 -> 534 messages/s), and each second by itself stops a broker with much to save.
persistence true
persistence_location {data}/
autosave_on_changes false
autosave_interval 60
# Defaults drop beyond 1,000 queued messages while they answer "Success".
max_queued_messages 1000000
# Nor may one display that sends large ones fill the memory, and make each save as long.
max_queued_bytes 268435456
# Not below the bridge's batch, which is acknowledged only after its commit.
max_inflight_messages 16000
message_size_limit 65536
max_packet_size 262144
# Median latency 34 -> 16 ms.
set_tcp_nodelay true
connection_messages false
log_dest stdout
log_timestamp false
log_type error
log_type warning
log_type notice
"""

# Without `use_username_as_clientid` any display could connect as "bridge", throw the bridge out and wipe its queue.
SEPARATE_DISPLAYS = """\
listener {displays_port} {host}
allow_anonymous false
password_file {displays_passwords}
acl_file {run}/displays.acl
use_username_as_clientid true
"""
SEPARATE = """\
per_listener_settings true

listener {services_port} {host}
allow_anonymous false
password_file {services_passwords}
acl_file {run}/services.acl
"""

SHARED = """\
allow_anonymous false
password_file {displays_passwords}
acl_file {run}/all.acl

listener {displays_port} {host}
use_username_as_clientid true

listener {services_port} {host}
use_username_as_clientid true
"""


def configuration(broker: Broker, *, displays: bool = True) -> str:
    """The whole mosquitto.conf; where listeners are separate, without the displays' one if asked so."""
    separate = SEPARATE + ("\n" + SEPARATE_DISPLAYS if displays else "")
    return (COMMON + "\n" + (SHARED if broker.shared else separate)).format(
        host=LOOPBACK,
        run=broker.run,
        data=broker.data,
        displays_port=broker.displays_port,
        services_port=broker.services_port,
        displays_passwords=broker.displays_password_file,
        services_passwords=broker.services_password_file,
    )


def prepare(broker: Broker, service_passwords: Mapping[str, str]) -> None:
    """Write every file that the broker reads; logins of displays that are there already stay."""
    for folder in (broker.run, broker.data):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    displays, root = displays_acl(broker.topic_root), broker.topic_root
    for name, rules in (
        ("displays", displays),
        ("services", separate_services_acl(root)),
        ("all", services_acl(root) + "\n" + displays),
    ):
        write_file(broker.run / f"{name}.acl", rules)
    lines = password_lines(service_logins(service_passwords))
    write_file(broker.services_password_file, lines)
    write_file(broker.displays_password_file, (lines if broker.shared else "") + _logins_of_displays(broker))
    guardian.own(broker.data, system_user())
    _follow_port(broker, service_passwords)


def _follow_port(broker: Broker, service_passwords: Mapping[str, str]) -> None:
    """Move the bridge's kept sessions to the services' port, should it be another one than before.

    Mosquitto keeps each session with the port of its listener. Where listeners are separate and none has that
    port, the session may not read: what displays publish before the bridge is back would be lost while they read
    Success. So the bridge's sessions are taken up once on the new port, while displays cannot connect yet.
    """
    note = broker.run / "services.port"
    before = note.read_text(encoding="utf-8").strip() if note.exists() else ""
    moved = before not in {"", str(broker.services_port)} and (broker.data / "mosquitto.db").exists()
    if moved and not broker.shared:
        write_file(broker.configuration, configuration(broker, displays=False))
        port, password = broker.services_port, service_passwords["bridge"]
        log = broker.run / "moving.log"
        with running(command(broker), mqtt_refuses_anonymous(port), log, stop_signal=STOP_SIGNAL, user=system_user()):
            for user in ("bridge", URGENT):
                connect_code(port, user, password, session_seconds=KEPT_SECONDS)
    write_file(note, f"{broker.services_port}\n")
    write_file(broker.configuration, configuration(broker))


def _logins_of_displays(broker: Broker) -> str:
    """The lines of the present password file that are no service's."""
    if not broker.displays_password_file.exists():
        return ""
    lines = broker.displays_password_file.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if line.partition(":")[0] not in {*SERVICES, URGENT})


def system_user() -> str:
    """Who mosquitto runs as when root starts it where user namespaces are forbidden."""
    return guardian.existing_user("mosquitto", "nobody")


def find_program() -> str | None:
    """Where mosquitto is; None when it is not installed."""
    return shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")


def command(broker: Broker) -> tuple[str, ...]:
    """The broker's command line; see `broker_launch`.

    Raises:
        BrokerUnusable: mosquitto is not installed. No other broker is taken in its place: the ones that
            pip can install lose acknowledged messages or have no ACLs.
    """
    program = find_program()
    if program is None:
        raise BrokerUnusable("There is no mosquitto: install the Debian package mosquitto.")
    launch = (sys.executable, "-I", "-S", broker_launch.__file__, str(broker.data / "mosquitto.db"))
    return (*launch, program, "-c", str(broker.configuration))


def answers(broker: Broker) -> Probe:
    """Whether both listeners answer, and refuse whoever has no login."""
    probes = [mqtt_refuses_anonymous(port) for port in (broker.displays_port, broker.services_port)]
    return lambda: all(probe() for probe in probes)


@dataclass(frozen=True)
class RunningBroker:
    """A throw-away broker: its addresses, the services' passwords, and logins for displays."""

    broker: Broker
    passwords: Mapping[str, str]  # by service: bridge, api, scheduler
    pid: int

    def set_displays(self, passwords: Mapping[str, str]) -> None:
        """Make these the displays' logins (user name -> password); returns when the broker has read them.

        It has when it accepts a login that was written with them.
        """
        services = service_logins(self.passwords) if self.broker.shared else {}
        self._read(password_lines({**services, **passwords}))

    def add_displays(self, passwords: Mapping[str, str]) -> None:
        """As `set_displays`, beside the logins that are there, which stay.

        A Mosquitto 2.0.11 that reads that a session's login is gone may end, or hang, a while later.
        """
        here = self.broker.displays_password_file.read_text(encoding="utf-8").splitlines(keepends=True)
        others = [line for line in here if line.partition(":")[0] not in passwords]
        self._read("".join(others) + password_lines(passwords))

    def _read(self, logins: str) -> None:
        probe, secret = f"probe-{secrets.token_hex(8)}", secrets.token_hex(8)
        write_file(self.broker.displays_password_file, logins + password_lines({probe: secret}))
        guardian.send(self.pid, signal.SIGHUP)
        wait_until(lambda: connect_code(self.broker.displays_port, probe, secret) == 0, 60)


@contextmanager
def serve(broker: Broker, passwords: Mapping[str, str], log: Path) -> Iterator[RunningBroker]:
    """The broker on its folders for as long as the block lasts; started again on them it goes on."""
    prepare(broker, passwords)
    with running(command(broker), answers(broker), log, stop_signal=STOP_SIGNAL, user=system_user()) as process:
        write_file(broker.pid_file, f"{process.pid}\n")
        yield RunningBroker(broker, passwords, process.pid)


@contextmanager
def throw_away(topic_root: str = "signage") -> Iterator[RunningBroker]:
    """A running broker in a folder of its own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="signage-mqtt-") as folder:
        place = Path(folder)
        broker = Broker(place / "run", place / "data", free_port(), free_port(), topic_root)
        passwords = {user: secrets.token_urlsafe(24) for user in SERVICES}
        with serve(broker, passwords, place / "log") as served:
            yield served
