"""Send a message to people: JSON to a webhook, or through a service that Apprise supports.

A try takes a bounded time and returns a `DeliveryAttempt` with our own sentence. Texts of a receiver, a library or an
exception may hold the channel's secrets, so they are not passed on.
"""

from datetime import timedelta
from typing import Final

from shared.config import Config
from shared.outside.couriers.addresses import Reach
from shared.outside.couriers.letters import DeliveryAttempt, Letter

WEBHOOK_DEADLINE: Final = timedelta(seconds=10)  # for name lookup, connecting, sending and the answer together
MESSENGER_DEADLINE: Final = timedelta(seconds=30)  # mail servers are slow


def reach_of(config: Config) -> Reach:
    """The addresses that channels may reach: in the cloud no loopback and, unless allowed, no private ones; and how."""
    is_cloud = config["DEPLOYMENT_MODE"] == "cloud"
    wanted: str = config["NOTIFICATION_PRIVATE_ADDRESSES"]
    private = wanted == "allow" or (wanted == "auto" and not is_cloud)
    return Reach(private and not is_cloud, private, config["OUTBOUND_PROXY"] or None)


def send(kind: str, url: str, signing_secret: str | None, letter: Letter, reach: Reach) -> DeliveryAttempt:
    """Try once, within a deadline. Raises no errors of the receiver or the network."""
    if kind == "webhook":
        from shared.outside.couriers import webhook  # noqa: PLC0415 - cold start

        return webhook.post(url, signing_secret, letter, reach, WEBHOOK_DEADLINE)
    from shared.outside.couriers import messenger  # noqa: PLC0415 - cold start

    return messenger.notify(url, letter, reach, MESSENGER_DEADLINE)
