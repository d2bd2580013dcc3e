"""The common parts of `make run` and a box: the settings, and each service's command line and environment."""

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from deploy.parts import broker as mosquitto
from deploy.parts import gateway as nginx
from deploy.parts.components import COMPONENTS, Component
from deploy.parts.layout import GATEWAY_KEY, LOOPBACK, REPOSITORY, Layout, layout_from, ports_from
from deploy.parts.probes import Probe
from deploy.parts.service import Service
from shared.config import BY_NAME, Config, load

FUNCTION_THREADS: Final = "64"  # functions-framework's 4 per core stop at 8 stalled connections
TASKS_ACCOUNT: Final = "task-queue@signage.local"
SCHEDULER_ACCOUNT: Final = "scheduler@signage.local"

# Set here for every component; the caller's values of these variables are not passed on.
OURS: Final = frozenset(
    {
        *("DATABASE_URL", "DATABASE_URL_FILE", "DATABASE_ROLE_PASSWORDS", "DATABASE_ROLE_PASSWORDS_FILE"),
        *("MQTT_URL", "MQTT_USERNAME", "MQTT_PASSWORD"),
        *("QUEUE_SECRET", "QUEUE_SECRET_FILE", "SSO_CLIENT_SECRET", "SSO_CLIENT_SECRET_FILE"),
        *("MQTT_PASSWORD_FILE", "PORT", "HOST", "FUNCTION_TARGET", "FUNCTION_SOURCE", "FUNCTION_SIGNATURE_TYPE"),
        *("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DEBUG"),
    }
)


def at_once() -> bool:
    """The probe of a component that needs none."""
    return True


@dataclass(frozen=True)
class Machine(ABC):
    """The settings of a machine, from which the command and environment of each service follow."""

    environ: Mapping[str, str]
    layout: Layout = field(init=False)
    ports: Mapping[str, int] = field(init=False)
    config: Config = field(init=False)

    def __post_init__(self) -> None:
        """Raises BadSetting or ConfigurationError when a setting cannot be used."""
        object.__setattr__(self, "layout", layout_from(self.environ))
        object.__setattr__(self, "ports", ports_from(self.environ))
        object.__setattr__(self, "config", load(self.environ))

    @property
    @abstractmethod
    def dashboard_url(self) -> str:
        """The dashboard's address, unless PUBLIC_URL names another one."""

    @abstractmethod
    def database_login(self, role: str) -> dict[str, str]:
        """The environment with which a component signs in at Postgres."""

    @property
    def broker(self) -> mosquitto.Broker:
        """The broker's files and ports."""
        return mosquitto.Broker(
            self.layout.run,
            self.layout.data / "mosquitto",
            self.ports["MQTT_DISPLAYS_PORT"],
            self.ports["MQTT_SERVICES_PORT"],
            self.config["MQTT_TOPIC_ROOT"],
        )

    @property
    def gateway(self) -> nginx.Gateway:
        """The gateway's files and ports."""
        limit = self.config["UPLOAD_LIMIT_BYTES"]
        ports = self.ports
        ca = self.config["DISPLAYS_CA_FILE"]
        return nginx.Gateway(
            self.layout.run,
            ports["GATEWAY_PORT"],
            ports["API_PORT"],
            limit,
            displays_port=ports["MQTT_BROWSERS_PORT"],
            ca_file=Path(ca) if ca else None,
            key=self.layout.secret(GATEWAY_KEY),
        )

    @property
    def media_root(self) -> Path:
        """The media volume."""
        given = self.environ.get("MEDIA_ROOT")
        return Path(given) if given else self.layout.media

    def addresses(self) -> dict[str, str]:
        """The addresses by which components find each other, for scripts too."""
        port = self.ports
        return {
            "QUEUE_URL": f"grpc://{LOOPBACK}:{port['TASK_QUEUE_PORT']}/projects/local/locations/local",
            "CONVERTER_URL": self.environ.get("CONVERTER_URL") or f"http://{LOOPBACK}:{port['CONVERTER_PORT']}",
            "MEDIA_ROOT": str(self.media_root),
        }

    def environment(self, **more: str) -> dict[str, str]:
        """The whole environment of a component, with the caller's other variables (settings) and `more`."""
        port = self.ports
        return {
            **{name: value for name, value in self.environ.items() if name not in OURS},
            **{name: str(number) for name, number in port.items()},
            **self.addresses(),
            "DEPLOYMENT_MODE": "local",
            "PUBLIC_URL": self.environ.get("PUBLIC_URL") or self.dashboard_url,
            "LOCAL_STATE_DIR": str(self.layout.root),
            "MQTT_URL": self.broker.services_url,
            "MQTT_TOPIC_ROOT": self.broker.topic_root,
            "CONVERT_WORKER_URL": f"http://{LOOPBACK}:{port['CONVERT_WORKER_PORT']}",
            "SCHEDULER_TICK_URL": f"http://{LOOPBACK}:{port['SCHEDULER_TICK_PORT']}",
            "OIDC_ISSUER": f"http://{LOOPBACK}:{port['TASK_QUEUE_KEYS_PORT']}",
            "TASKS_SERVICE_ACCOUNT": TASKS_ACCOUNT,
            "SCHEDULER_SERVICE_ACCOUNT": SCHEDULER_ACCOUNT,
            "DISPLAYS_MQTT_URL": self.broker.displays_url,
            "DISPLAYS_PASSWORD_FILE": str(self.broker.displays_password_file),
            "BROKER_CRASHES_FILE": str(self.broker.crashes_file),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(REPOSITORY), self.environ.get("PYTHONPATH")))),
            "PYTHONUNBUFFERED": "1",
            "MALLOC_ARENA_MAX": "2",  # as in the image: glibc would keep memory of each of 64 threads
            **more,
        }

    def login(self, component: Component) -> dict[str, str]:
        """The environment with which a component signs in at Postgres and the broker, and finds its other secrets."""
        folder = self.layout.secrets
        files = {secret.upper(): str(folder / secret) for secret in component.secrets}
        login = {f"{setting}_FILE": file for setting, file in files.items() if setting in BY_NAME}
        if component.role:
            login |= self.database_login(component.role)
        if component.user:
            password = str(folder / f"mqtt_{component.user}_password")
            login |= {"MQTT_USERNAME": component.user, "MQTT_PASSWORD_FILE": password}
        return login

    def service(self, name: str, ready: Probe = at_once, **more: str) -> Service:
        """A component of ours, with its whole environment. One without a port must also live for a second."""
        component = COMPONENTS[name]
        port = str(self.ports[next(iter(component.ports))]) if component.ports else ""
        address = f"{LOOPBACK}:{port}" if port else ""
        command = [sys.executable, "-m", component.program]
        if component.program.endswith(".py"):
            source = REPOSITORY / component.program
            command[2:] = ["functions_framework", f"--target={source.parent.name}", f"--source={source}"]
            address = f"http://{address}"
            more |= {"HOST": LOOPBACK, "PORT": port, "THREADS": FUNCTION_THREADS}
            more |= {"XDG_RUNTIME_DIR": str(self._function_folder(name))}  # gunicorn's control socket, one each
        environment = self.environment(**self.login(component), **more)
        return Service(name, tuple(command), ready, environment, address, settle_seconds=0.0 if port else 1.0)

    def _function_folder(self, name: str) -> Path:
        folder = self.layout.run / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder
