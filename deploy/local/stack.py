"""The local stack: its settings, its services and the order in which they start."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts import database_roles
from deploy.parts import gateway as nginx
from deploy.parts.components import Component
from deploy.parts.config_file import Listener
from deploy.parts.layout import LOOPBACK, BadSetting, usable, write_file
from deploy.parts.machine import Machine
from deploy.parts.probes import accepts, converter_health, converter_is_settled, http_answers
from deploy.parts.service import Service

EVERY_ADDRESS: Final = "0.0.0.0"  # nosec B104 - only when somebody asks for it
# Settings for the demo; the caller's environment overrides them.
OF_THE_DEMO: Final = {"CRASH_RECOVERY_ENABLED": "true"}
OF_A_BROKER: Final = ("MQTT_URL", "DISPLAYS_MQTT_URL")  # where services and displays find one that is not ours


class Stack(Machine):
    """The whole product on one machine, on loopback, with its own Postgres unless DATABASE_URL names another one."""

    def __post_init__(self) -> None:
        """Raises BadSetting or ConfigurationError when a setting cannot be used."""
        if self.is_demo:
            object.__setattr__(self, "environ", {**OF_THE_DEMO, **self.environ})
        super().__post_init__()

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
        """Whether this address is our own database, because `stack.env` was sourced before `make run`."""
        return f"{postgres.OWNER}:{self.database_password}@{LOOPBACK}:" in url

    @cached_property
    def database_password(self) -> str:
        """The owner role's password."""
        return self.layout.secret("database_password")

    @property
    def database_url(self) -> str:
        """The address of the database, with its owner's login."""
        if self.cluster is None:
            return self.environ["DATABASE_URL"]
        return self.cluster.url(postgres.DATABASE, postgres.OWNER, self.database_password)

    @property
    def own_converter(self) -> bool:
        """Whether the stack runs its own converter; CONVERTER_URL may name another one."""
        return self.environ.get("CONVERTER_URL", "") in {"", f"http://{LOOPBACK}:{self.ports['CONVERTER_PORT']}"}

    @cached_property
    def foreign_broker(self) -> Mapping[str, str]:
        """The settings by which services and displays find a broker that is not ours; empty when we run our own.

        Raises:
            BadSetting: only some of them are given.
        """
        given = {name: value for name in OF_A_BROKER if (value := self.environ.get(name))}
        for missing in OF_A_BROKER if given else ():
            if missing not in given:
                raise BadSetting(
                    f"{missing} is not set, but {', '.join(given)} is: a broker that is not ours needs MQTT_URL for our"
                    " services and DISPLAYS_MQTT_URL for displays."
                )
        return given

    @property
    def displays_url(self) -> str:
        """The broker's address for displays."""
        if not self.foreign_broker:
            return self.broker.displays_url
        return str(self.config["DISPLAYS_MQTT_URL"])

    def environment(self, **more: str) -> dict[str, str]:
        """Override the machine's: the broker may not be ours."""
        return {**super().environment(), **self.foreign_broker, **more}

    @property
    def dashboard_url(self) -> str:
        return f"http://{LOOPBACK}:{self.ports['GATEWAY_PORT']}"

    @property
    def gateway_listens(self) -> str:
        """The gateway's address: loopback, because it has no TLS; in a container 0.0.0.0.

        Raises:
            BadSetting: GATEWAY_LISTEN is another one.
        """
        address = self.environ.get("GATEWAY_LISTEN") or LOOPBACK
        if address not in (LOOPBACK, EVERY_ADDRESS):
            raise BadSetting(f"GATEWAY_LISTEN: {address!r} is neither {LOOPBACK} nor {EVERY_ADDRESS}.")
        return address

    def used_ports(self) -> dict[str, int]:
        """The ports that must be free, by the variable that sets each."""
        unused = set[str]()
        if self.cluster is None:
            unused.add("POSTGRES_PORT")
        if not self.own_converter:
            unused.add("CONVERTER_PORT")
        if self.foreign_broker:
            unused |= {"MQTT_DISPLAYS_PORT", "MQTT_SERVICES_PORT", "MQTT_BROWSERS_PORT"}
        else:
            unused.add("BROKER_LOGINS_PORT")
        return {name: port for name, port in self.ports.items() if name not in unused}

    def database_login(self, role: str) -> dict[str, str]:
        """Override the machine's: Postgres may not be ours."""
        if self.cluster is None:  # a foreign Postgres, with the role in its DATABASE_URL
            return {"DATABASE_URL": self.database_url}
        passwords = database_roles.passwords(self.layout)
        return {"DATABASE_URL": database_roles.address_for(role, self.database_url, passwords)}

    def owner_login(self) -> dict[str, str]:
        """The environment of programs that sign in as the database's owner: migrations and the first sign-in."""
        if self.cluster is None:
            return {"DATABASE_URL": self.database_url}
        passwords = json.dumps(database_roles.passwords(self.layout))
        return {"DATABASE_URL": self.database_url, "DATABASE_ROLE_PASSWORDS": passwords}

    def login(self, component: Component) -> dict[str, str]:
        """Override the machine's: the secret at the people's provider comes from the caller."""
        login = super().login(component)
        if login.pop("SSO_CLIENT_SECRET_FILE", None):
            names = ("SSO_CLIENT_SECRET", "SSO_CLIENT_SECRET_FILE")
            login |= {name: self.environ[name] for name in names if self.environ.get(name)}
        return login

    def prepare(self) -> bool:
        """Make secrets, configurations and the database's files. True when the database is new.

        Raises:
            PostgresUnusable, BrokerUnusable, GatewayUnusable: a program is missing or cannot be used.
        """
        with usable("MEDIA_ROOT", self.media_root):
            self.media_root.mkdir(parents=True, exist_ok=True)
        for generated in ("signing_key", "queue_secret"):
            self.layout.secret(generated)
        passwords = {user: self.layout.secret(f"mqtt_{user}_password") for user in mosquitto.SERVICES}
        if self.foreign_broker:
            logins = mosquitto.password_lines(mosquitto.service_logins(passwords))
            write_file(self.broker.services_password_file, logins)
        else:
            mosquitto.prepare(self.broker, passwords)
        nginx.prepare(self.gateway, Listener(self.gateway_listens))
        return self.cluster is not None and postgres.initialise(self.cluster)

    def foundation(self) -> list[Service]:
        """The services with data, which start before the migrations."""
        found = [] if self.foreign_broker else [self._own_broker()]
        if self.cluster is not None:
            found.append(_postgres(self.cluster, self.environment()))
        return found

    def _own_broker(self) -> Service:
        return Service(
            "broker",
            mosquitto.command(self.broker),
            mosquitto.answers(self.broker),
            self.environment(),
            f"displays {self.broker.displays_url}, services {self.broker.services_url}",
            mosquitto.STOP_SIGNAL,
            user=mosquitto.system_user(),
            pid_file=self.broker.pid_file,
        )

    def middle(self) -> list[Service]:
        """Queue, converter, functions and a foreign broker's logins, which start after the migrations."""
        logins = []
        if self.foreign_broker:  # the api signs in there
            file = str(self.broker.services_password_file)
            listens = http_answers(self.ports["BROKER_LOGINS_PORT"], "/readyz", 200)
            logins = [self.service("broker-logins", listens, SERVICES_PASSWORD_FILE=file)]
        converter = ["converter"] if self.own_converter else []
        return [*logins, *self._ours("task-queue", "api", "convert-worker", "scheduler-tick", *converter)]

    def why_no_conversions(self) -> str | None:
        """Why our converter cannot convert on this machine; None when it can, or is not ours."""
        health = converter_health(self.ports["CONVERTER_PORT"]) if self.own_converter else None
        return None if health is None or health["status"] == "up" else str(health["reason"])

    def front(self) -> list[Service]:
        """The services that need the others: bridge, displays' logins, ticker and gateway."""
        gateway = Service(
            "gateway",
            nginx.command(self.gateway),
            nginx.answers(self.gateway),
            self.environment(),
            self.dashboard_url,
            nginx.STOP_SIGNAL,
            user=nginx.system_user(),
        )
        if self.foreign_broker:
            return [*self._ours("bridge", "ticker"), gateway]
        return [*self._ours("bridge", "broker-accounts", "ticker", "browsers-door"), gateway]

    def demo(self) -> list[Service]:
        """The simulated displays, with DEMO=1."""
        return self._ours("demo-fleet") if self.is_demo else []

    def _ours(self, *names: str) -> list[Service]:
        """Components, each with the probe that says when it is ready; none for one without a port."""
        port = self.ports
        keys = http_answers(port["TASK_QUEUE_KEYS_PORT"], "/keys", 200)
        calls = accepts(port["TASK_QUEUE_PORT"])
        ready = {
            "task-queue": lambda: calls() and keys(),
            "api": http_answers(port["API_PORT"], "/api/health/live"),
            "convert-worker": http_answers(port["CONVERT_WORKER_PORT"], "/"),
            "scheduler-tick": http_answers(port["SCHEDULER_TICK_PORT"], "/"),
            "converter": converter_is_settled(port["CONVERTER_PORT"]),
            "bridge": http_answers(port["BRIDGE_HEALTH_PORT"], "/readyz", 200),
            "browsers-door": accepts(port["MQTT_BROWSERS_PORT"]),
        }
        return [self.service(name, ready[name]) if name in ready else self.service(name) for name in names]


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
