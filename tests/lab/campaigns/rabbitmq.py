"""RabbitMQ 4 of Debian 13, with our settings, in a root file system of its own (tests/debian.py).

Everything listens on loopback. Bubblewrap gives it a process namespace, so that its death ends all of its programs.
"""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.parts.layout import LOOPBACK, REPOSITORY
from deploy.parts.probes import Probe, accepts, free_port
from tests import debian

RELEASE: Final = "trixie"
HOME: Final = "/var/lib/rabbitmq"
PLUGINS: Final = "[rabbitmq_mqtt,rabbitmq_auth_backend_http].\n"
SETTINGS: Final = REPOSITORY / "deploy/parts/rabbitmq/rabbitmq.conf"
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

    @classmethod
    def below(cls, folder: Path, logins_port: int) -> "Rabbit":
        """Prepare one that keeps its files below `folder`, and asks our login server at `logins_port`."""
        rabbit = cls(folder, free_port(), logins_port)
        folder.mkdir(parents=True, exist_ok=True)
        settings = SETTINGS.read_text(encoding="utf-8").replace(LOGINS, f"{LOOPBACK}:{logins_port}")
        (folder / "rabbitmq.conf").write_text(settings + OF_THIS_MACHINE.format(port=rabbit.mqtt_port))
        (folder / "enabled_plugins").write_text(PLUGINS)
        return rabbit

    @property
    def url(self) -> str:
        return f"mqtt://{LOOPBACK}:{self.mqtt_port}"

    def command(self) -> tuple[str, ...]:
        """Its command line."""
        settings = {
            "HOME": HOME,
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            "RABBITMQ_NODENAME": f"rabbit{self.mqtt_port}@localhost",
            "RABBITMQ_CONFIG_FILE": f"{HOME}/rabbitmq.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{HOME}/enabled_plugins",
            "RABBITMQ_MNESIA_BASE": f"{HOME}/mnesia",
            "RABBITMQ_LOG_BASE": f"{HOME}/log",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "ERL_EPMD_PORT": str(free_port()),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }
        told = [word for name, value in settings.items() for word in ("--setenv", name, value)]
        root = debian.root_with_brokers(RELEASE)
        sandbox = ("bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--clearenv", *told)
        places = ("--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/run")
        return (*sandbox, *places, "--bind", str(self.folder), HOME, "/usr/lib/rabbitmq/bin/rabbitmq-server")

    def answers(self) -> Probe:
        """Whether it takes connections. It delays each refusal by three seconds, so no login is tried."""
        return accepts(self.mqtt_port)


def version() -> str:
    """The version of its package."""
    root = str(debian.root_with_brokers(RELEASE))
    command = ("dpkg-query", f"--root={root}", "--show", "--showformat=${Version}", "rabbitmq-server")
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.partition("-")[0]
