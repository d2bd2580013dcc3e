"""The bridge: `python -m bridge.main` stores the messages of displays until SIGTERM."""

import gc

gc.disable()  # imported modules are never garbage: collecting among them would be a fifth of the start

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
ANSWERS_AT_ONCE_SECONDS: Final = 0.5
REQUIRED: Final = ("DATABASE_URL", "MQTT_USERNAME", "MQTT_PASSWORD")
gc.freeze()
gc.enable()


def main() -> int:
    """Run the bridge. Returns the exit code: 0 after SIGTERM or SIGINT, 2 after a configuration error."""
    configure("bridge", version=version())
    try:
        config = load(required=REQUIRED)
        deployment.check(config, "bridge")
    except ConfigurationError as error:
        event("configuration_error", error.detail)
        return 2
    return _run(config, stop_event())


def _run(config: Config, stop: threading.Event) -> int:
    snapshots = Snapshots()
    stop_health = probes.serve(_health_host(config), config["BRIDGE_HEALTH_PORT"], snapshots)
    engine = make_engine(config, "bridge")
    rarely_collect()
    check = _BrokerCheck(config["MQTT_URL"], stop)
    check.start()
    check.join(ANSWERS_AT_ONCE_SECONDS)
    try:
        BridgeLoop(config, engine, stop, snapshots).run()
    finally:
        stop_health()
        engine.dispose()
    if check.is_open:
        return 2
    event("component_stopped", "the bridge left in order")
    return 0


def rarely_collect() -> None:
    """Collect cyclic garbage once in a dozen batches: a batch makes hardly any, and each search costs a third."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def _health_host(config: Config) -> str:
    """Loopback, because the probes have neither TLS nor a login; in the cloud the platform asks from outside."""
    return "0.0.0.0" if config["DEPLOYMENT_MODE"] == "cloud" else "127.0.0.1"  # nosec B104 - see above


class _BrokerCheck(threading.Thread):
    """Refuse a broker without logins: anybody could pose as any display. A broker that is away is not checked.

    A broker that lets everybody in answers at once. One that refuses may take seconds (RabbitMQ: 3), which the bridge
    does not wait for: it is already at work, and stops if the answer is the wrong one after all.
    """

    def __init__(self, url: str, stop: threading.Event) -> None:
        super().__init__(name="broker-check", daemon=True)
        self.is_open = False  # the broker accepts a connection without a login
        self._url = url
        self._stop_bridge = stop

    def run(self) -> None:
        if refuses_anonymous(self._url) is False:
            self.is_open = True
            event("configuration_error", "MQTT_URL: this broker accepts a connection without a login.")
            self._stop_bridge.set()


if __name__ == "__main__":
    sys.exit(main())
