"""The bridge: `python -m bridge.main` stores the messages of displays until SIGTERM."""

import gc

gc.disable()  # imported modules are never garbage: collecting among them would be a fifth of the start

import ipaddress
import sys
import threading
from typing import Final

from bridge import probes
from bridge.loop import BridgeLoop
from bridge.probes import refuses_anonymous
from bridge.status import Snapshots
from shared import deployment
from shared.config import Config, load
from shared.errors import ConfigurationError
from shared.postgres.door import make_engine
from shared.stopping import stop_event
from shared.structured_log import configure, event
from shared.version import version

COLLECT_AFTER: Final = 50_000  # objects
REQUIRED: Final = ("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD")
gc.freeze()
gc.enable()


def main() -> int:
    """Run the bridge. Returns the exit code: 0 after SIGTERM or SIGINT, 2 after a configuration error."""
    configure("bridge", version=version())
    try:
        config = load(required=REQUIRED)
        deployment.check(config, "bridge")
        _check_health_host(config)
        _check_broker(config)
    except ConfigurationError as error:
        event("configuration_error", error.detail)
        return 2
    return _run(config, stop_event())


def _run(config: Config, stop: threading.Event) -> int:
    snapshots = Snapshots()
    stop_health = probes.serve(config["BRIDGE_HEALTH_HOST"], config["BRIDGE_HEALTH_PORT"], snapshots)
    engine = make_engine(config, "bridge")
    rarely_collect()
    try:
        BridgeLoop(config, engine, stop, snapshots).run()
    finally:
        stop_health()
        engine.dispose()
    event("component_stopped", "the bridge left in order")
    return 0


def rarely_collect() -> None:
    """Collect cyclic garbage once in a dozen batches: a batch makes hardly any, and each search costs a third."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def _check_health_host(config: Config) -> None:
    host = config["BRIDGE_HEALTH_HOST"]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        raise ConfigurationError(f"BRIDGE_HEALTH_HOST: {host!r} is not an IP address.") from None
    mode = config["DEPLOYMENT_MODE"]
    if mode != "cloud" and not address.is_loopback:  # the probes have neither TLS nor a login
        raise ConfigurationError(f"BRIDGE_HEALTH_HOST: with DEPLOYMENT_MODE {mode} it must be a loopback address.")


def _check_broker(config: Config) -> None:
    """Refuse a broker without logins: anybody could pose as any display. A broker that is away is not checked."""
    if refuses_anonymous(config["MQTT_URL"]) is False:
        raise ConfigurationError("MQTT_URL: this broker accepts a connection without a login.")


if __name__ == "__main__":
    sys.exit(main())
