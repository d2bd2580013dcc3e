"""RabbitMQ 4 of Debian 13, with our settings, in a root file system of its own (tests/debian.py).

Everything listens on loopback. Bubblewrap gives it a process namespace, so that its death ends all of its programs. The
nodes of a cluster share an epmd apart, which survives them: on machines of their own each would have one.
"""

import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.layout import LOOPBACK, REPOSITORY, write_file
from deploy.parts.probes import Probe, accepts, free_port
from tests import debian

RELEASE: Final = "trixie"
HOME: Final = "/var/lib/rabbitmq"
PLUGINS: Final = "[rabbitmq_mqtt,rabbitmq_auth_backend_http].\n"
SHIPPED: Final = REPOSITORY / "deploy/parts/rabbitmq"
DEFINITIONS: Final = "/etc/rabbitmq/definitions.json"  # in cluster.conf
LOGINS: Final = "127.0.0.1:8091"  # our login server, in these settings
OF_THIS_MACHINE: Final = """\
mqtt.listeners.tcp.1 = 127.0.0.1:{port}
log.console = true
log.console.level = warning
log.file = false
"""


@dataclass(frozen=True)
class Rabbit:
    """The folder and ports of one RabbitMQ."""

    folder: Path
    mqtt_port: int
    logins_port: int
    epmd_port: int

    @classmethod
    def below(cls, folder: Path, logins_port: int) -> "Rabbit":
        """Prepare one that keeps its files below `folder`, and asks our login server at `logins_port`."""
        rabbit = cls(folder, free_port(), logins_port, free_port())
        rabbit.prepare()
        return rabbit

    @classmethod
    def cluster_below(cls, folder: Path, logins_port: int) -> "list[Rabbit]":
        """Prepare the nodes of a cluster with our cluster.conf. Their epmd must be started first."""
        text = (SHIPPED / "cluster.conf").read_text(encoding="utf-8")
        epmd_port, cookie = free_port(), secrets.token_hex()
        names = re.findall(r"= (rabbit@\S+)$", text, re.MULTILINE)
        nodes = [cls(folder / f"node-{number}", free_port(), logins_port, epmd_port) for number in range(len(names))]
        for name, node in zip(names, nodes, strict=True):
            text = text.replace(name, node.name)
        for node in nodes:
            node.prepare(text.replace(DEFINITIONS, f"{HOME}/definitions.json"))
            shutil.copy(SHIPPED / "definitions.json", node.folder)
            write_file(node.folder / ".erlang.cookie", cookie)
        return nodes

    def prepare(self, more: str = "") -> None:
        """Write its settings, with `more` at their end."""
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = (SHIPPED / "rabbitmq.conf").read_text(encoding="utf-8")
        settings = settings.replace(LOGINS, f"{LOOPBACK}:{self.logins_port}")
        (self.folder / "rabbitmq.conf").write_text(settings + OF_THIS_MACHINE.format(port=self.mqtt_port) + more)
        (self.folder / "enabled_plugins").write_text(PLUGINS)

    @property
    def name(self) -> str:
        return f"rabbit{self.mqtt_port}@localhost"

    @property
    def url(self) -> str:
        return f"mqtt://{LOOPBACK}:{self.mqtt_port}"

    def command(self) -> tuple[str, ...]:
        """Its command line."""
        settings = {
            "RABBITMQ_NODENAME": self.name,
            "RABBITMQ_CONFIG_FILE": f"{HOME}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{HOME}/enabled_plugins",
            "RABBITMQ_MNESIA_BASE": f"{HOME}/mnesia",
            "RABBITMQ_LOG_BASE": f"{HOME}/log",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "ERL_EPMD_PORT": str(self.epmd_port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
        return (*_sandbox(settings, "--bind", str(self.folder), HOME), "/usr/lib/rabbitmq/bin/rabbitmq-server")

    def epmd_command(self) -> tuple[str, ...]:
        """The command line of an epmd apart."""
        return (*_sandbox({}), "/usr/bin/epmd", "-address", LOOPBACK, "-port", str(self.epmd_port))

    def answers(self) -> Probe:
        """Whether it takes connections. It delays each refusal by three seconds, so no login is tried."""
        return accepts(self.mqtt_port)


def _sandbox(settings: Mapping[str, str], *more_places: str) -> tuple[str, ...]:
    """The beginning of a command line: in the root file system, with these environment variables."""
    environment = {"HOME": HOME, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **settings}
    told = [word for name, value in environment.items() for word in ("--setenv", name, value)]
    sandbox = ("bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--clearenv", *told)
    root = str(debian.root_with_brokers(RELEASE))
    places = ("--ro-bind", root, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run")
    return (*sandbox, *places, *more_places)


def version() -> str:
    """The version of its package."""
    root = str(debian.root_with_brokers(RELEASE))
    command = ("dpkg-query", f"--root={root}", "--show", "--showformat=${Version}", "rabbitmq-server")
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.partition("-")[0]
