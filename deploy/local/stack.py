"""The local stack: its settings, its services and the order in which they start."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from deploy.local import postgres
from deploy.parts import broker as mosquitto
from deploy.parts import database_roles
from deploy.parts import gateway as nginx
from deploy.parts.config_file import Listener
from deploy.parts.layout import LOOPBACK, BadSetting, usable, write_file
from deploy.parts.machine import QUEUE_SECRET, Machine
from deploy.parts.probes import Probe, accepts, converter_health, converter_is_settled, http_answers
from deploy.parts.service import Service
from migrations.roles import TASK_QUEUE

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

    def database_login(self, component: str) -> dict[str, str]:
        """The environment with which one of our components signs in at Postgres."""
        if self.cluster is None:  # a foreign Postgres, with the role in its DATABASE_URL
            return {"DATABASE_URL": self.database_url}
        passwords = database_roles.passwords(self.layout)
        return {"DATABASE_URL": database_roles.address_for(component, self.database_url, passwords)}

    def owner_login(self) -> dict[str, str]:
        """The environment of programs that sign in as the database's owner: migrations and the first sign-in."""
        if self.cluster is None:
            return {"DATABASE_URL": self.database_url}
        passwords = json.dumps(database_roles.passwords(self.layout))
        return {"DATABASE_URL": self.database_url, "DATABASE_ROLE_PASSWORDS": passwords}

    def queue_login(self) -> dict[str, str]:
        """The environment with the secret that authenticates our services to the task queue."""
        self.layout.secret(QUEUE_SECRET)
        return {"QUEUE_SECRET_FILE": str(self.layout.secrets / QUEUE_SECRET)}

    def _signing(self) -> dict[str, str]:
        self.layout.secret("signing_key")
        return {"SIGNING_KEY_FILE": str(self.layout.secrets / "signing_key")}

    def _provider_login(self) -> dict[str, str]:
        """The environment with which the api function signs in at the people's provider, as the caller gave it."""
        names = ("SSO_CLIENT_SECRET", "SSO_CLIENT_SECRET_FILE")
        return {name: self.environ[name] for name in names if self.environ.get(name)}

    def prepare(self) -> bool:
        """Make secrets, configurations and the database's files. True when the database is new.

        Raises:
            PostgresUnusable, BrokerUnusable, GatewayUnusable: a program is missing or cannot be used.
        """
        with usable("MEDIA_ROOT", self.media_root):
            self.media_root.mkdir(parents=True, exist_ok=True)
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

    def _broker_logins(self) -> Service:
        """The server that a broker asks which is not ours. It starts before the services that sign in there."""
        file = {"SERVICES_PASSWORD_FILE": str(self.broker.services_password_file)}
        login = self.database_login("broker_logins") | file
        listens = http_answers(self.ports["BROKER_LOGINS_PORT"], "/readyz", 200)
        return self._module("broker-logins", "deploy.parts.broker_logins", listens, "BROKER_LOGINS_PORT", login)

    def middle(self) -> list[Service]:
        """Queue, converter, functions and a foreign broker's logins, which start after the migrations."""
        login = self.queue_login()
        own = self.database_login(TASK_QUEUE) | login
        answers = self._queue_answers()
        queue = self._module("task-queue", "deploy.parts.task_queue", answers, "TASK_QUEUE_PORT", own)
        functions = [
            *([self._broker_logins()] if self.foreign_broker else []),
            self._function(
                "api",
                "API_PORT",
                "/api/health/live",
                **self.broker_login("api"),
                **login,
                **self._signing(),
                **self._provider_login(),
            ),
            self._function("convert-worker", "CONVERT_WORKER_PORT", "/"),
            self._function("scheduler-tick", "SCHEDULER_TICK_PORT", "/", **self.broker_login("scheduler"), **login),
        ]
        if not self.own_converter:
            return [queue, *functions]
        settled = converter_is_settled(self.ports["CONVERTER_PORT"])
        return [queue, *functions, self._module("converter", "deploy.parts.converter", settled, "CONVERTER_PORT")]

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
        listens = http_answers(self.ports["BRIDGE_HEALTH_PORT"], "/readyz", 200)
        login = self.database_login("bridge") | self.broker_login("bridge")
        bridge = self._module("bridge", "bridge.main", listens, "BRIDGE_HEALTH_PORT", login)
        ticker = self._module("ticker", "deploy.parts.ticker", _at_once)
        if self.foreign_broker:
            return [bridge, ticker, gateway]
        own = self.database_login("broker_accounts")
        accounts = self._module("broker-accounts", "deploy.parts.broker_accounts", _at_once, login=own)
        listens = accepts(self.ports["MQTT_BROWSERS_PORT"])
        browsers = self._module("browsers-door", "deploy.parts.websocket_door", listens, "MQTT_BROWSERS_PORT")
        return [bridge, accounts, ticker, browsers, gateway]

    def demo(self) -> list[Service]:
        """The simulated displays, with DEMO=1."""
        if not self.is_demo:
            return []
        return [self._module("demo-fleet", "displays.simulated", _at_once)]

    def _queue_answers(self) -> Probe:
        keys = http_answers(self.ports["TASK_QUEUE_KEYS_PORT"], "/keys", 200)
        calls = accepts(self.ports["TASK_QUEUE_PORT"])
        return lambda: calls() and keys()


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
