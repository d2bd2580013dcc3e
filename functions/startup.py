"""What every function checks before it answers its first request: default deny begins at the start.

The framework binds 0.0.0.0 unless HOST says otherwise, and none of the functions speaks TLS itself: in
`local` and `box` only loopback is allowed, where a gateway stands in front.
"""

from collections.abc import Mapping

from shared import deployment
from shared.config import Config
from shared.errors import ConfigurationError


def check_deployment(config: Config, component: str, environ: Mapping[str, str]) -> None:
    """Raises ConfigurationError naming the variable when this function must not start as it is configured."""
    if config["DEPLOYMENT_MODE"] != "cloud":
        _check_host(config["DEPLOYMENT_MODE"], environ.get("HOST", ""))
    deployment.check(config, component)


def check_signing(config: Config) -> None:
    """Raises ConfigurationError where addresses that expire are switched on and what signs them is missing."""
    ways = {config["SIGNED_DOWNLOADS"], config["SIGNED_UPLOADS"]}
    if "local" in ways:
        _ = config["SIGNING_KEY"]
    if "bucket" in ways and not config["MEDIA_BUCKET"]:
        raise ConfigurationError("MEDIA_BUCKET is not set; SIGNED_DOWNLOADS or SIGNED_UPLOADS is `bucket`.")


def _check_host(mode: str, host: str) -> None:
    if not deployment.is_loopback(host):
        shown = repr(host[:100]) if host else "not set, which means every address"
        raise ConfigurationError(f"HOST is {shown}; with DEPLOYMENT_MODE {mode} it must be 127.0.0.1.")
