"""Refuse insecure configurations at the start, by deployment mode and component.

In `local` no traffic leaves this machine. In `box` all traffic that leaves it is encrypted. In `cloud` identities come
from Google, and every address of ours is a public name with TLS. Each refusal names the variable.
"""

import ipaddress
from typing import Final
from urllib.parse import unquote, urlsplit

from shared import database_tls
from shared.config import BY_NAME, Config
from shared.errors import ConfigurationError

SHORTEST_SECRET: Final = 16  # characters
KNOWN_DEFAULTS: Final = (
    "password",
    "changeme",
    "change-me",
    "secret",
    "signage",
    "admin",
    "public",
    "guest",
    "postgres",
)
SPEAK_TO_THE_BROKER: Final = {"api", "scheduler_tick", "bridge"}
CALLED_BY: Final = {  # whose identity tokens a function accepts, and for which audience
    "convert_worker": ("TASKS_SERVICE_ACCOUNT", "CONVERT_WORKER_URL"),
    "scheduler_tick": ("SCHEDULER_SERVICE_ACCOUNT", "SCHEDULER_TICK_URL"),
}


def check(config: Config, component: str) -> None:
    """Check the settings of a component (api, convert_worker, scheduler_tick, bridge). Raises ConfigurationError."""
    mode: str = config["DEPLOYMENT_MODE"]
    if component in CALLED_BY:
        _check_caller(config, component)
    if component == "api" and config["SSO_ISSUER"]:
        _check_provider(config)
    if mode == "local":
        return
    _check_database(config)
    if component in SPEAK_TO_THE_BROKER:
        _check_broker(config, mode)
    if mode == "cloud":
        _check_cloud(config, component)
    elif "QUEUE_URL" in _used_by(component) and not config["QUEUE_SECRET"]:
        raise ConfigurationError("QUEUE_SECRET is not set: whoever reaches a queue of our own could use it as we do.")


def _check_caller(config: Config, component: str) -> None:
    account, _ = CALLED_BY[component]
    if "@" not in config[account]:
        raise ConfigurationError(f"{account}: {config[account]!r} is no service account's e-mail address.")


def _check_provider(config: Config) -> None:
    if config["IAP_AUDIENCE"]:
        raise ConfigurationError("SSO_ISSUER cannot be used beside IAP_AUDIENCE: people come by that proxy.")
    if not config["SSO_ISSUER"].startswith("https://") and not _stays_here(config["SSO_ISSUER"]):
        raise ConfigurationError("SSO_ISSUER must start with https:// when it leaves this machine.")
    for name in ("SSO_CLIENT_ID", "SSO_ROLE_CLAIM", "SSO_ROLES", "PUBLIC_URL"):
        if not config[name]:
            raise ConfigurationError(f"{name} is not set: with SSO_ISSUER it must be ({BY_NAME[name].meaning}).")
    if "openid" not in config["SSO_SCOPES"].split():
        raise ConfigurationError("SSO_SCOPES must have openid: without it the provider says nothing about people.")


def _check_database(config: Config) -> None:
    address: str = config["DATABASE_URL"]
    if not database_tls.stays_here(address) and "sslmode" not in database_tls.tls_parameters(address):
        raise ConfigurationError(
            "DATABASE_URL must say whom it believes to be that server: ?sslmode=verify-full&sslrootcert=<file> (or"
            " verify-ca), or sslmode=require for TLS with whoever answers there."
        )
    password = urlsplit(address).password
    if password is not None:
        _check_secret("DATABASE_URL", unquote(password), "the password in it")


def _check_broker(config: Config, mode: str) -> None:
    if not config["MQTT_URL"].startswith("mqtts://") and (mode == "cloud" or not _stays_here(config["MQTT_URL"])):
        raise ConfigurationError(f"MQTT_URL must start with mqtts:// when DEPLOYMENT_MODE is {mode}.")
    _check_secret("MQTT_PASSWORD", config["MQTT_PASSWORD"], "it")


def _check_cloud(config: Config, component: str) -> None:
    for name in ("OIDC_ISSUER", "CONVERT_WORKER_URL", "SCHEDULER_TICK_URL", "CONVERTER_URL"):
        if name in _used_by(component) and (not config[name].startswith("https://") or _stays_here(config[name])):
            raise ConfigurationError(f"{name} must start with https:// and leave this machine in the cloud.")
    if "QUEUE_URL" in _used_by(component) and not config["QUEUE_URL"].startswith("cloudtasks://"):
        raise ConfigurationError("QUEUE_URL must start with cloudtasks:// when DEPLOYMENT_MODE is cloud.")
    if component == "api":
        _check_people(config)


def _used_by(component: str) -> set[str]:
    """The address settings that this component uses."""
    return {
        "api": {"QUEUE_URL", "CONVERT_WORKER_URL"},
        "convert_worker": {"OIDC_ISSUER", "CONVERT_WORKER_URL", "CONVERTER_URL"},
        "scheduler_tick": {"OIDC_ISSUER", "QUEUE_URL", "CONVERT_WORKER_URL", "SCHEDULER_TICK_URL"},
        "bridge": set(),
    }[component]


def _check_people(config: Config) -> None:
    audience: str = config["IAP_AUDIENCE"]
    parts = audience.split("/")
    if len(parts) != 6 or parts[1] != "projects" or not parts[2].isdigit() or not parts[5].isdigit():
        raise ConfigurationError(
            "IAP_AUDIENCE must be /projects/<number>/global/backendServices/<id> when DEPLOYMENT_MODE is cloud:"
            " people come by Identity-Aware Proxy."
        )


def _check_secret(name: str, value: str, what: str) -> None:
    if len(value) < SHORTEST_SECRET or any(value.lower().startswith(word) for word in KNOWN_DEFAULTS):
        raise ConfigurationError(
            f"{name}: {what} is short or a known default; use {SHORTEST_SECRET} random characters or more."
        )


def _stays_here(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether this host is the loopback of this machine, also as an IPv4 address in an IPv6 one."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback  # Python 3.11 says no of ::ffff:127.0.0.1, 3.13 yes
