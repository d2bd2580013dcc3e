"""What the local stack consists of: its settings, its services and the order in which they start."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from deploy.local import postgres
from deploy.local.processes import Service
from deploy.parts import broker as mosquitto
from deploy.parts import database_roles
from deploy.parts import gateway as nginx
from deploy.parts.layout import LOOPBACK, REPOSITORY, Layout, layout_from, ports_from, usable
from deploy.parts.probes import Probe, accepts, converter_health, converter_is_settled, http_answers
from migrations.rights import TASK_QUEUE
from shared.config import Config, load

FUNCTION_THREADS: Final = "64"  # functions-framework's 4 per core stop at 8 stalled connections
TASKS_ACCOUNT: Final = "task-queue@signage.local"
QUEUE_SECRET: Final = "task_queue_secret"  # noqa: S105 - the file's name
SCHEDULER_ACCOUNT: Final = "scheduler@signage.local"

# Set here for every component; what the caller's environment says of them is not passed on.
OURS: Final = frozenset(
    {
        *("DATABASE_URL", "DATABASE_URL_FILE", "DATABASE_ROLE_PASSWORDS", "DATABASE_ROLE_PASSWORDS_FILE"),
        *("MQTT_URL", "MQTT_USERNAME", "MQTT_PASSWORD"),
        *("QUEUE_SECRET", "QUEUE_SECRET_FILE"),
        *("MQTT_PASSWORD_FILE", "PORT", "HOST", "FUNCTION_TARGET", "FUNCTION_SOURCE", "FUNCTION_SIGNATURE_TYPE"),
        *("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "DEBUG"),
    }
)

# Settings that let a simulated fleet show something; the caller's environment wins.
OF_THE_DEMO: Final = {"CRASH_RECOVERY_ENABLED": "true"}


@dataclass(frozen=True)
class Stack:
    """Everything that is decided before the first process starts."""

    environ: Mapping[str, str]
    layout: Layout = field(init=False)
    ports: Mapping[str, int] = field(init=False)
    config: Config = field(init=False)

    def __post_init__(self) -> None:
        """Raises BadSetting or ConfigurationError when a setting cannot be used."""
        if self.is_demo:
            object.__setattr__(self, "environ", {**OF_THE_DEMO, **self.environ})
        object.__setattr__(self, "layout", layout_from(self.environ))
        object.__setattr__(self, "ports", ports_from(self.environ))
        object.__setattr__(self, "config", load(self.environ))

    @property
    def is_demo(self) -> bool:
        """Whether simulated displays are asked for."""
        return self.environ.get("DEMO", "0") not in {"", "0"}

    @cached_property
    def cluster(self) -> postgres.Cluster | None:
        """Our own Postgres; None when DATABASE_URL names another one."""
        given = self.environ.get("DATABASE_URL")
        if given and not self._is_ours(given):
            return None
        programs = postgres.find_programs(self.layout.data)
        data = self.layout.data / f"pg{programs.major}"
        password = self.layout.secret("postgres_superuser_password")
        return postgres.Cluster(programs, data, self.ports["POSTGRES_PORT"], password)

    def _is_ours(self, url: str) -> bool:
        """Whether it is our own database: `stack.env` was sourced before `make run`."""
        return f"{postgres.OWNER}:{self.database_password}@{LOOPBACK}:" in url

    @cached_property
    def database_password(self) -> str:
        """The owner role's, as it stands in DATABASE_URL."""
        return self.layout.secret("database_password")

    @property
    def database_url(self) -> str:
        """The address of Postgres, as the owner of the database."""
        if self.cluster is None:
            return self.environ["DATABASE_URL"]
        return self.cluster.url(postgres.DATABASE, postgres.OWNER, self.database_password)

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
        return nginx.Gateway(self.layout.run, self.ports["GATEWAY_PORT"], self.ports["API_PORT"], limit)

    @property
    def own_converter(self) -> bool:
        """Whether the converter is ours; CONVERTER_URL may name another one."""
        return self.environ.get("CONVERTER_URL", "") in {"", f"http://{LOOPBACK}:{self.ports['CONVERTER_PORT']}"}

    @property
    def media_root(self) -> Path:
        """The media volume."""
        given = self.environ.get("MEDIA_ROOT")
        return Path(given) if given else self.layout.media

    @property
    def dashboard_url(self) -> str:
        return f"http://{LOOPBACK}:{self.ports['GATEWAY_PORT']}"

    def used_ports(self) -> dict[str, int]:
        """The ports that must be free, by the name that sets each."""
        elsewhere = set()
        if self.cluster is None:
            elsewhere.add("POSTGRES_PORT")
        if not self.own_converter:
            elsewhere.add("CONVERTER_PORT")
        return {name: port for name, port in self.ports.items() if name not in elsewhere}

    def addresses(self) -> dict[str, str]:
        """What components need to find each other, and what scripts may want to know."""
        port = self.ports
        return {
            "DATABASE_URL": self.database_url,
            "QUEUE_URL": f"grpc://{LOOPBACK}:{port['TASK_QUEUE_PORT']}/projects/local/locations/local",
            "CONVERTER_URL": self.environ.get("CONVERTER_URL") or f"http://{LOOPBACK}:{port['CONVERTER_PORT']}",
            "MEDIA_ROOT": str(self.media_root),
        }

    def environment(self, **more: str) -> dict[str, str]:
        """The whole environment of a component; what the caller set besides (settings) goes through."""
        port = self.ports
        issuer = f"http://{LOOPBACK}:{port['TASK_QUEUE_KEYS_PORT']}"
        return {
            **{name: value for name, value in self.environ.items() if name not in OURS},
            **{name: str(number) for name, number in port.items()},
            **{name: value for name, value in self.addresses().items() if name != "DATABASE_URL"},
            "DEPLOYMENT_MODE": "local",
            "PUBLIC_URL": self.environ.get("PUBLIC_URL") or self.dashboard_url,
            "LOCAL_STATE_DIR": str(self.layout.root),
            "MQTT_URL": self.broker.services_url,
            "MQTT_TOPIC_ROOT": self.broker.topic_root,
            "CONVERT_WORKER_URL": f"http://{LOOPBACK}:{port['CONVERT_WORKER_PORT']}",
            "SCHEDULER_TICK_URL": f"http://{LOOPBACK}:{port['SCHEDULER_TICK_PORT']}",
            "OIDC_ISSUER": issuer,
            "OIDC_KEYS_URL": f"{issuer}/keys",
            "TASKS_SERVICE_ACCOUNT": TASKS_ACCOUNT,
            "SCHEDULER_SERVICE_ACCOUNT": SCHEDULER_ACCOUNT,
            "DISPLAYS_MQTT_HOST": LOOPBACK,
            "DISPLAYS_MQTT_PORT": str(port["MQTT_DISPLAYS_PORT"]),
            "DISPLAYS_MQTT_TLS": "false",
            "DISPLAYS_PASSWORD_FILE": str(self.broker.displays_password_file),
            "BROKER_CRASHES_FILE": str(self.broker.crashes_file),
            "BRIDGE_HEALTH_HOST": LOOPBACK,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(REPOSITORY), self.environ.get("PYTHONPATH")))),
            "PYTHONUNBUFFERED": "1",
            **more,
        }

    def broker_login(self, user: str) -> dict[str, str]:
        """The environment with which one of our services signs in at the broker."""
        self.layout.secret(f"mqtt_{user}_password")
        return {"MQTT_USERNAME": user, "MQTT_PASSWORD_FILE": str(self.layout.secrets / f"mqtt_{user}_password")}

    def database_login(self, component: str) -> dict[str, str]:
        """The environment with which one of our components signs in at Postgres."""
        if self.cluster is None:  # somebody else's Postgres, by the one role that we were given
            return {"DATABASE_URL": self.database_url}
        passwords = database_roles.passwords(self.layout)
        return {"DATABASE_URL": database_roles.address_for(component, self.database_url, passwords)}

    def owner_login(self) -> dict[str, str]:
        """The environment of what changes the database itself: the migrations, and who adds the first sign-in."""
        if self.cluster is None:
            return {"DATABASE_URL": self.database_url}
        passwords = json.dumps(database_roles.passwords(self.layout))
        return {"DATABASE_URL": self.database_url, "DATABASE_ROLE_PASSWORDS": passwords}

    def queue_login(self) -> dict[str, str]:
        """The environment with which the queue knows our services, and they it."""
        self.layout.secret(QUEUE_SECRET)
        return {"QUEUE_SECRET_FILE": str(self.layout.secrets / QUEUE_SECRET)}

    def _signing(self) -> dict[str, str]:
        self.layout.secret("signing_key")
        return {"SIGNING_KEY_FILE": str(self.layout.secrets / "signing_key")}

    def prepare(self) -> bool:
        """Make secrets, configurations and the database's files; True when there was no database yet.

        Raises:
            PostgresUnusable, BrokerUnusable, GatewayUnusable: a program is missing or cannot be used.
        """
        with usable("MEDIA_ROOT", self.media_root):
            self.media_root.mkdir(parents=True, exist_ok=True)
        passwords = {user: self.layout.secret(f"mqtt_{user}_password") for user in mosquitto.SERVICES}
        mosquitto.prepare(self.broker, passwords)
        nginx.prepare(self.gateway)
        return self.cluster is not None and postgres.initialise(self.cluster)

    def _function_folder(self, name: str) -> Path:
        folder = self.layout.run / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def foundation(self) -> list[Service]:
        """What holds the data: before the migrations."""
        found = [
            Service(
                "broker",
                mosquitto.command(self.broker),
                mosquitto.answers(self.broker),
                self.environment(),
                f"displays {self.broker.displays_url}, services {self.broker.services_url}",
                mosquitto.STOP_SIGNAL,
                user=mosquitto.system_user(),
                pid_file=self.broker.pid_file,
            )
        ]
        if self.cluster is not None:
            found.append(_postgres(self.cluster, self.environment()))
        return found

    def middle(self) -> list[Service]:
        """Queue, converter and functions: after the migrations."""
        login = self.queue_login()
        own = self.database_login(TASK_QUEUE) | login
        answers = self._queue_answers()
        queue = self._module("task-queue", "deploy.parts.task_queue", answers, "TASK_QUEUE_PORT", own)
        functions = [
            self._function(
                "api", "API_PORT", "/api/health/live", **self.broker_login("api"), **login, **self._signing()
            ),
            self._function("convert-worker", "CONVERT_WORKER_PORT", "/"),
            self._function("scheduler-tick", "SCHEDULER_TICK_PORT", "/", **self.broker_login("scheduler"), **login),
        ]
        if not self.own_converter:
            return [queue, *functions]
        settled = converter_is_settled(self.ports["CONVERTER_PORT"])
        return [queue, *functions, self._module("converter", "deploy.parts.converter", settled, "CONVERTER_PORT")]

    def why_no_conversions(self) -> str | None:
        """Why our converter converts nothing on this machine; None when it does, or is not ours."""
        health = converter_health(self.ports["CONVERTER_PORT"]) if self.own_converter else None
        return None if health is None or health["status"] == "up" else str(health["reason"])

    def front(self) -> list[Service]:
        """What needs the others: bridge, displays' logins, ticker, and the door for people."""
        gateway = Service(
            "gateway",
            nginx.command(self.gateway),
            nginx.answers(self.gateway),
            self.environment(),
            self.dashboard_url,
            nginx.STOP_SIGNAL,
            user=nginx.system_user(),
        )
        listens = http_answers(self.ports["BRIDGE_HEALTH_PORT"], "/readyz", 200)
        login = self.database_login("bridge") | self.broker_login("bridge")
        bridge = self._module("bridge", "bridge.main", listens, "BRIDGE_HEALTH_PORT", login)
        own = self.database_login("broker_accounts")
        accounts = self._module("broker-accounts", "bridge.broker_accounts", _at_once, login=own)
        ticker = self._module("ticker", "deploy.parts.ticker", _at_once)
        return [bridge, accounts, ticker, gateway]

    def demo(self) -> list[Service]:
        """The simulated displays, with DEMO=1."""
        if not self.is_demo:
            return []
        return [self._module("demo-fleet", "deploy.displays.simulated", _at_once)]

    def _queue_answers(self) -> Probe:
        keys = http_answers(self.ports["TASK_QUEUE_KEYS_PORT"], "/keys", 200)
        calls = accepts(self.ports["TASK_QUEUE_PORT"])
        return lambda: calls() and keys()

    def _module(
        self, name: str, module: str, ready: Probe, port: str = "", login: Mapping[str, str] | None = None
    ) -> Service:
        """A Python module of ours. Without a port all that can be seen of it is that it still runs."""
        return Service(
            name,
            (sys.executable, "-m", module),
            ready,
            self.environment(**(login or {})),
            f"{LOOPBACK}:{self.ports[port]}" if port else "",
            settle_seconds=0.0 if port else 1.0,
        )

    def _function(self, name: str, port: str, path: str, **environment: str) -> Service:
        """One functions-framework process. Ready when it answers `path` with anything but an error of its own."""
        target = name.replace("-", "_")
        source = REPOSITORY / "functions" / target / "main.py"
        command = (sys.executable, "-m", "functions_framework", f"--target={target}", f"--source={source}")
        settings = {
            **self.database_login(target),
            "HOST": LOOPBACK,
            "PORT": str(self.ports[port]),
            "THREADS": FUNCTION_THREADS,
            "XDG_RUNTIME_DIR": str(self._function_folder(name)),  # gunicorn's control socket, one each
        }
        ready = http_answers(self.ports[port], path)
        address = f"http://{LOOPBACK}:{self.ports[port]}"
        return Service(name, command, ready, self.environment(**settings, **environment), address)


def _postgres(cluster: postgres.Cluster, environment: Mapping[str, str]) -> Service:
    return Service(
        "postgres",
        postgres.command(cluster),
        postgres.answers(cluster),
        environment,
        f"{LOOPBACK}:{cluster.port}",
        postgres.STOP_SIGNAL,
        stop_seconds=20.0,  # a checkpoint may take a while
        user=postgres.system_user(),
    )


def _at_once() -> bool:
    return True
