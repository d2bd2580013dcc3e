"""Every setting of the service: listed here, read and checked once, before a component starts.

`SETTINGS` is the list: name, how it is parsed, default, unit and meaning. `load` reads the
environment into a frozen `Config`. A missing or malformed value stops the start with an error that names the
variable. Each secret may come from a file instead; `<NAME>_FILE` is its path. `GET /api/settings` shows
`describe`, which holds no secrets.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from shared import database_tls, http_proxy
from shared.errors import ConfigurationError
from shared.http_proxy import HttpProxy
from shared.vocabulary import Role


class Setting(Struct, frozen=True):
    """One environment variable. `default` None: each component that needs it must get it."""

    name: str
    parse: Callable[[str], Any]
    default: Any
    unit: str
    meaning: str
    secret: bool = False


def _text(value: str) -> str:
    return value


def _readable(value: str) -> str:
    if not os.access(value, os.R_OK):
        raise ValueError("expected a file that can be read")
    return value


def _flag(value: str) -> bool:
    words = {
        "true": True,
        "1": True,
        "yes": True,
        "on": True,
        "false": False,
        "0": False,
        "no": False,
        "off": False,
    }
    if value.lower() not in words:
        raise ValueError("expected true or false")
    return words[value.lower()]


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"-?\d{1,18}", value):
            raise ValueError("expected a whole number")
        number = int(value)
        if not low <= number <= high:
            raise ValueError(f"expected {low} to {high}")
        return number

    return parse


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in words:
            raise ValueError("expected one of " + ", ".join(words))
        return value

    return parse


def _url(*schemes: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in schemes:
            raise ValueError("expected an address that starts with " + " or ".join(s + "://" for s in schemes))
        if parts.scheme not in {"cloudtasks", "postgresql"} and not parts.hostname:
            raise ValueError("the address has no host")
        _ = parts.port  # raises ValueError for an invalid port
        return value.rstrip("/")

    return parse


def _issuer(value: str) -> str:
    _url("http", "https")(value)
    if urlsplit(value).query or urlsplit(value).fragment:
        raise ValueError("expected an address without ? and #")
    return value  # a slash at its end is a part of the name


def _database_url(value: str) -> str:
    address = _url("postgresql")(value)
    database_tls.context(address)  # raises ValueError
    return address


def _passwords(value: str) -> Mapping[str, str]:
    try:
        given = json.loads(value)
    except ValueError:
        raise ValueError("expected a JSON object") from None
    if not isinstance(given, dict) or not all(isinstance(one, str) and len(one) >= 16 for one in given.values()):
        raise ValueError("expected a JSON object of passwords of 16 characters or more")
    return MappingProxyType(given)


def _roles(value: str) -> Mapping[str, Role]:
    try:
        given = json.loads(value)
        return MappingProxyType({claim: Role(role) for claim, role in given.items()})
    except (ValueError, AttributeError):
        words = ", ".join(role.value for role in Role)
        raise ValueError(f"expected a JSON object, each value of the claim to one of {words}") from None


def _topic_root(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value):
        raise ValueError("expected 1 to 64 letters, digits, - or _: one topic level")
    return value


SHORTEST_KEY_BYTES: Final = 32  # the length of the HMAC digest
FEWEST_CHARACTERS: Final = 10  # different ones; a random hexadecimal key has more


def _key(value: str) -> str:
    if len(value.encode()) < SHORTEST_KEY_BYTES or len(set(value)) < FEWEST_CHARACTERS:
        raise ValueError(f"expected {SHORTEST_KEY_BYTES} random bytes or more, such as `openssl rand -hex 32` gives")
    return value


DAY = 86_400

SETTINGS: Final[tuple[Setting, ...]] = (
    Setting(
        "DEPLOYMENT_MODE",
        _one_of("local", "box", "cloud"),
        "local",
        "",
        "where this runs; local binds loopback only",
    ),
    Setting("DATABASE_URL", _database_url, None, "", "the Postgres database of all components", secret=True),
    Setting(
        "DATABASE_ROLE_PASSWORDS",
        _passwords,
        MappingProxyType({}),
        "",
        "for the migrations: a JSON object, component to the password of its database role; empty: no role is made",
        secret=True,
    ),
    Setting("MQTT_URL", _url("mqtt", "mqtts"), "mqtt://127.0.0.1:1884", "", "the broker's listener for services"),
    Setting("MQTT_USERNAME", _text, None, "", "this component's own broker user"),
    Setting("MQTT_PASSWORD", _text, None, "", "this component's own broker password", secret=True),
    Setting("MQTT_TOPIC_ROOT", _topic_root, "signage", "", "first level of every topic"),
    Setting(
        "QUEUE_URL",
        _url("grpc", "cloudtasks"),
        "grpc://127.0.0.1:8123/projects/local/locations/local",
        "",
        "the Cloud Tasks service that holds the queue `conversions`",
    ),
    Setting(
        "QUEUE_SECRET",
        _key,
        "",
        "",
        "secret of the callers of our own task queue (grpc://); 32 random bytes or more",
        secret=True,
    ),
    Setting("CONVERTER_URL", _url("http", "https"), "http://127.0.0.1:3000", "", "the document conversion service"),
    Setting(
        "CONVERT_WORKER_URL",
        _url("http", "https"),
        "http://127.0.0.1:8082",
        "",
        "where the queue delivers conversion jobs; also the audience of its identity tokens",
    ),
    Setting(
        "SCHEDULER_TICK_URL",
        _url("http", "https"),
        "http://127.0.0.1:8083",
        "",
        "where the scheduler calls the tick; also the audience of its identity tokens",
    ),
    Setting(
        "OIDC_ISSUER",
        _url("http", "https"),
        "https://accounts.google.com",
        "",
        "issuer of the identity tokens of queue and scheduler: Google, or our own, with its keys below /keys",
    ),
    Setting("TASKS_SERVICE_ACCOUNT", _text, None, "", "e-mail that the task queue's identity tokens must carry"),
    Setting("SCHEDULER_SERVICE_ACCOUNT", _text, None, "", "e-mail that the scheduler's identity tokens must carry"),
    Setting(
        "IAP_AUDIENCE",
        _text,
        "",
        "",
        "/projects/<number>/global/backendServices/<id>: the backend behind Identity-Aware Proxy; empty: no such proxy",
    ),
    Setting(
        "SSO_ISSUER",
        _issuer,
        "",
        "",
        "OpenID Connect provider at which people sign in, exactly as it names itself",
    ),
    Setting("SSO_NAME", _text, "single sign-on", "", "its name on the button"),
    Setting("SSO_CLIENT_ID", _text, "", "", "our name there"),
    Setting("SSO_CLIENT_SECRET", _text, "", "", "our secret there; empty: a public client", secret=True),
    Setting("SSO_SCOPES", _text, "openid profile email", "", "scopes that are asked for"),
    Setting("SSO_ROLE_CLAIM", _text, "groups", "", "claim that gives the role; a dot leads into an object"),
    Setting(
        "SSO_ROLES",
        _roles,
        MappingProxyType({}),
        "",
        "JSON object, value of that claim to role; the highest counts",
    ),
    Setting("SSO_SITES_CLAIM", _text, "", "", "claim that gives the sites, `*` for all; empty: all"),
    Setting("MEDIA_ROOT", Path, Path("/server/media"), "", "the mounted media volume; PDFs go under converted/"),
    Setting("SIGNING_KEY", _key, None, "", "key that second factors derive from; 32 random bytes or more", secret=True),
    Setting(
        "CRASH_RECOVERY_ENABLED",
        _flag,
        False,
        "",
        "whether the tick restarts and reboots unwell clients; commands expire in either case",
    ),
    Setting(
        "CLIENT_AUTO_REGISTER",
        _flag,
        True,
        "",
        "whether the first message of a valid broker login registers its client",
    ),
    Setting(
        "HEARTBEAT_STALE_SECONDS",
        _whole(90, DAY),  # late is shown from 90 s on: a client is late before it is stale
        180,
        "s",
        "silence after which a client is stale, at least 90; never under 3 x its own interval",
    ),
    Setting(
        "COMMAND_LOCKOUT_SECONDS",
        _whole(0, DAY),
        600,
        "s",
        "time after a restart_app or reboot_host in which the client gets no other one",
    ),
    Setting(
        "LOG_RETENTION_DAYS",
        _whole(1, 3650),
        30,
        "d",
        "how long debug, info and warning logs are kept; error and critical ones three times as long",
    ),
    Setting(
        "HISTORY_RETENTION_DAYS",
        _whole(1, 36500),
        365,
        "d",
        "how long commands, recovery, incidents, quiet times, clients' changes and the audit log are kept",
    ),
    Setting("UPLOAD_LIMIT_BYTES", _whole(1, 10 * 1024**3), 200 * 1000 * 1000, "B", "largest upload"),
    Setting(
        "CONVERSION_DEADLINE_SECONDS",
        _whole(5, 1200),
        120,
        "s",
        "D: LibreOffice's time for one document, at most 20 min",
    ),
    Setting(
        "PUBLIC_URL",
        _url("http", "https"),
        "",
        "",
        "where people open the dashboard, for links in notifications; empty: no links",
    ),
    Setting(
        "OUTBOUND_PROXY",
        http_proxy.read,
        "",
        "",
        "http://host:port or http://user:password@host:port, by which webhooks, chat and the sign-in service are"
        " reached; mail is direct",
    ),
    Setting(
        "NOTIFICATION_PRIVATE_ADDRESSES",
        _one_of("auto", "allow", "refuse"),
        "auto",
        "",
        "whether notifications may go to private addresses and, outside the cloud, to loopback; auto: not in the cloud",
    ),
    Setting(
        "SECOND_FACTOR_REQUIRED",
        _one_of("nobody", "admins", "everybody"),
        "nobody",
        "",
        "who must set up a second factor before anything else; everybody may",
    ),
    Setting(
        "LEAKED_PASSWORDS_FILE",
        _readable,
        "",
        "",
        "sorted SHA-1 of leaked passwords, one a line, which the api refuses; empty: no list",
    ),
    Setting(
        "TRUSTED_PROXY_HOPS",
        _whole(0, 10),
        1,
        "",
        "number of trusted proxies before the api function that append to X-Forwarded-For; 0: none",
    ),
    Setting(
        "DISPLAYS_MQTT_URL",
        _url("mqtt", "mqtts"),
        "mqtt://127.0.0.1:1883",
        "",
        "the broker's address that POST /api/enroll tells a display; mqtts: with TLS",
    ),
    Setting(
        "DISPLAYS_CA_FILE",
        _text,
        "",
        "",
        "PEM file with the CA that displays must trust; empty for a public one",
    ),
    Setting(
        "DISPLAYS_PASSWORD_FILE",
        _text,
        "",
        "",
        "the displays' logins: broker_accounts writes it, the broker reads it",
    ),
    Setting(
        "SERVICES_PASSWORD_FILE",
        _text,
        "",
        "",
        "our services' logins as mosquitto_passwd writes them, for broker_logins; empty: the broker knows them itself",
    ),
    Setting(
        "BROKER_LOGINS_PORT",
        _whole(1, 65_535),
        8091,
        "",
        "loopback port on which broker_logins answers a broker that is not ours",
    ),
    Setting("BROKER_CRASHES_FILE", _text, "", "", "where the broker's launcher notes crashes; empty: nowhere"),
    Setting(
        "CERTIFICATE_DOORS",
        _text,
        "",
        "",
        "ports whose certificates broker_accounts checks, such as `displays=127.0.0.1:8883 people=127.0.0.1:443`",
    ),
    Setting(
        "BRIDGE_HEALTH_PORT",
        _whole(1, 65_535),
        8090,
        "",
        "port on which the bridge answers /healthz, /readyz, /metrics",
    ),
    Setting("DATABASE_POOL_SIZE", _whole(1, 200), 5, "", "connections that one process keeps to Postgres"),
    Setting(
        "DATABASE_PREPARED_STATEMENTS",
        _flag,
        True,
        "",
        "whether a connection keeps prepared statements; false behind a pooler in transaction mode",
    ),
)
BY_NAME: Final = {setting.name: setting for setting in SETTINGS}


class Config(Struct, frozen=True):
    """The settings. `config["NAME"]` returns the parsed value or the default."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """The value of one setting. Raises ConfigurationError when it has neither value nor default."""
        value = self.values[name]
        if value is None:
            raise ConfigurationError(f"{name} is not set ({BY_NAME[name].meaning}).")
        return value

    def describe(self) -> dict[str, dict[str, Any]]:
        """All settings but secrets: value, default, unit and meaning, as JSON values."""
        return {
            s.name: {
                "value": _plain(self.values[s.name]),
                "default": _plain(s.default),
                "unit": s.unit,
                "meaning": s.meaning,
            }
            for s in SETTINGS
            if not s.secret
        }


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path | HttpProxy) else dict(value) if isinstance(value, Mapping) else value


def load(environ: Mapping[str, str] | None = None, required: tuple[str, ...] = ()) -> Config:
    """Read the environment. `required`: the settings that this component must have.

    Raises:
        ConfigurationError: the first bad variable; the text names it and the expected form.
    """
    environ = os.environ if environ is None else environ
    config = Config({setting.name: _read(setting, environ) for setting in SETTINGS})
    for name in required:
        _ = config[name]
    return config


def _read(setting: Setting, environ: Mapping[str, str]) -> Any:
    raw = environ.get(setting.name)
    if setting.secret and raw is None:
        raw = _from_file(setting.name, environ)
    if raw is None or raw == "":
        return setting.default
    try:
        return setting.parse(raw)
    except ValueError as error:
        shown = "its value" if setting.secret or "@" in raw else repr(raw[:200])  # @: an address with a password
        raise ConfigurationError(f"{setting.name}: {shown} is not usable: {error}.") from None


def _from_file(name: str, environ: Mapping[str, str]) -> str | None:
    path = environ.get(name + "_FILE")
    if not path:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{name}_FILE: {path} cannot be read ({type(error).__name__}).") from None
