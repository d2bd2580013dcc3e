"""How a message reaches people: our own JSON to a webhook, or anything that Apprise has an address for.

A sender waits a bounded time and gets a `DeliveryAttempt` in our own words. The words of a receiver, a library or an
exception may hold the channel's secrets and are not passed on.
"""

from datetime import timedelta
from typing import Final

from shared.config import Config
from shared.outside.couriers.addresses import Reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter

WEBHOOK_DEADLINE: Final = timedelta(seconds=10)  # for all of it: looking up, connecting, sending, the answer
MESSENGER_DEADLINE: Final = timedelta(seconds=30)  # mail servers take their time


def reach_of(config: Config) -> Reach:
    """What addresses channels may reach here: in the cloud neither loopback nor, unless allowed, private ones."""
    is_cloud = config["DEPLOYMENT_MODE"] == "cloud"
    wanted: str = config["NOTIFICATION_PRIVATE_ADDRESSES"]
    private = wanted == "allow" or (wanted == "auto" and not is_cloud)
    return Reach(loopback=private and not is_cloud, private=private)


def send(kind: str, url: str, signing_secret: str | None, letter: Letter, reach: Reach) -> DeliveryAttempt:
    """Try once, within a deadline; raises nothing that the receiver or the network can cause."""
    if kind == "webhook":
        from shared.outside.couriers import webhook  # noqa: PLC0415 - cold start

        return webhook.post(url, signing_secret, letter, reach, WEBHOOK_DEADLINE)
    from shared.outside.couriers import messenger  # noqa: PLC0415 - cold start

    return messenger.notify(url, letter, reach, MESSENGER_DEADLINE)
