"""The rights of each user at the broker: which topics it may publish to, and which filters it may subscribe to.

In deploy/parts, `broker_rights` writes them as mosquitto's ACL, and `broker_logins` answers brokers that ask over HTTP.
"""

from typing import Final

from msgspec import Struct

from shared.vocabulary import LEVEL_WORDS

SERVICES: Final = ("bridge", "api", "scheduler")  # the users of the services' listener
URGENT: Final = "bridge_urgent"  # the bridge's second session (bridge/lanes.py), with the bridge's password

UPWARD: Final = ("heartbeat", "health", "service_failed", "presence", "acks")
LOGS: Final = tuple(f"logs/{word}" for word in LEVEL_WORDS)  # by name: a made-up level may have 64 KB
OVERTAKING: Final = ("service_failed", "presence", "acks")  # the topics of the bridge's urgent session
DOWNWARD: Final = ("commands", "logs_committed", "log_level", "hours")


class BrokerRights(Struct, frozen=True):
    """The topic filters that a user may read and write."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    def may_publish(self, topic: str) -> bool:
        """Whether the user may publish to this topic."""
        return not set("+#") & set(topic) and any(_covers(one, topic) for one in self.writes)

    def may_subscribe(self, topic_filter: str) -> bool:
        """Whether the user may subscribe to this filter. A filter that is wider than one of `reads` is refused."""
        return any(_covers(one, topic_filter) for one in self.reads)


def of_display(root: str, name: str) -> BrokerRights:
    """A display's rights: write its own upward topics, read its own downward topics; `name` is its user name."""
    return BrokerRights(_below(f"{root}/{name}", DOWNWARD), _below(f"{root}/{name}", (*UPWARD, *LOGS)))


def of_services(root: str) -> dict[str, BrokerRights]:
    """The rights of each user of our services.

    No service may subscribe to command topics. The broker's answer "no matching subscribers" proves that no display got
    a command; another subscriber would hide it.
    """
    canary = f"{root}/service/canary"
    everybody = f"{root}/+"
    to_displays = _below(everybody, ("commands", "logs_committed", "hours"))
    return {
        "bridge": BrokerRights((*_below(everybody, (*UPWARD, "logs/+")), canary), (canary, *to_displays)),
        "api": BrokerRights(writes=_below(everybody, ("commands", "log_level"))),
        "scheduler": BrokerRights(writes=_below(everybody, ("commands",))),
        URGENT: BrokerRights((*_below(everybody, OVERTAKING), canary), (canary, *_below(everybody, ("commands",)))),
    }


def _below(start: str, topics: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{start}/{topic}" for topic in topics)


def _covers(allowed: str, asked: str) -> bool:
    """Whether `asked` has the levels of `allowed`, in which `+` stands for any one level but `#`."""
    ours, theirs = allowed.split("/"), asked.split("/")
    return len(ours) == len(theirs) and all(
        one == other or (one == "+" and other not in {"", "#"}) for one, other in zip(ours, theirs, strict=True)
    )
