"""What every function checks before it answers its first request: default deny begins at the start.

The framework binds 0.0.0.0 unless HOST says otherwise, and none of the functions speaks TLS itself: in
`local` and `box` only loopback is allowed, where a gateway stands in front.
"""

import ipaddress
from collections.abc import Mapping
from typing import Final

from shared.config import Config
from shared.errors import ConfigurationError

SHORTEST_SECRET: Final = 16  # characters
KNOWN_DEFAULTS: Final = ("password", "changeme", "change-me", "secret", "signage", "admin", "public", "guest")


def check_deployment(config: Config, environ: Mapping[str, str]) -> None:
    """Raises ConfigurationError naming the variable when this must not start as it is configured."""
    mode: str = config["DEPLOYMENT_MODE"]
    if mode != "cloud":
        _check_host(mode, environ.get("HOST", ""))
    if mode == "cloud" and not config["MQTT_URL"].startswith("mqtts://"):
        raise ConfigurationError("MQTT_URL must start with mqtts:// when DEPLOYMENT_MODE is cloud.")
    if mode != "local":
        _check_secret("MQTT_PASSWORD", config["MQTT_PASSWORD"])


def check_signing(config: Config) -> None:
    """Raises ConfigurationError where addresses that expire are switched on and what signs them is missing."""
    ways = {config["SIGNED_DOWNLOADS"], config["SIGNED_UPLOADS"]}
    if "local" in ways:
        _ = config["SIGNING_KEY"]
    if "bucket" in ways and not config["MEDIA_BUCKET"]:
        raise ConfigurationError("MEDIA_BUCKET is not set; SIGNED_DOWNLOADS or SIGNED_UPLOADS is `bucket`.")


def _check_host(mode: str, host: str) -> None:
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        shown = repr(host[:100]) if host else "not set, which means every address"
        raise ConfigurationError(f"HOST is {shown}; with DEPLOYMENT_MODE {mode} it must be 127.0.0.1.")


def _check_secret(name: str, value: str) -> None:
    if len(value) < SHORTEST_SECRET or any(value.lower().startswith(word) for word in KNOWN_DEFAULTS):
        raise ConfigurationError(
            f"{name} is short or a known default; use {SHORTEST_SECRET} random characters or more."
        )
