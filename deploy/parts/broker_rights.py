"""The rights of each user at the broker: which topics it may publish to, and which filters it may subscribe to.

    python -m deploy.parts.broker_rights [TOPIC_ROOT [LOGIN_PREFIX]]

prints them as mosquitto's ACL files, for a broker that somebody else runs. On a shared broker each stack has its own
topic root, and its own prefix for the user names of its services. `broker_logins` decides by them, too.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from shared.vocabulary import LEVEL_WORDS

SERVICES: Final = ("bridge", "api", "scheduler")  # the users of the services' listener
URGENT: Final = "bridge_urgent"  # the bridge's second session (bridge/lanes.py), with the bridge's password

UPWARD: Final = ("heartbeat", "health", "service_failed", "presence", "acks")
LOGS: Final = tuple(f"logs/{word}" for word in LEVEL_WORDS)  # by name: a made-up level may have 64 KB
OVERTAKING: Final = ("service_failed", "presence", "acks")  # the topics of the bridge's urgent session
DOWNWARD: Final = ("commands", "logs_committed", "log_level", "hours", "look")
RETAINED: Final = ("presence",)  # the only retained messages that a display may publish


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
    to_displays = _below(everybody, ("commands", "logs_committed", "hours", "look"))
    return {
        "bridge": BrokerRights((*_below(everybody, (*UPWARD, "logs/+")), canary), (canary, *to_displays)),
        "api": BrokerRights(writes=_below(everybody, ("commands", "log_level"))),
        "scheduler": BrokerRights(writes=_below(everybody, ("commands",))),
        URGENT: BrokerRights((*_below(everybody, OVERTAKING), canary), (canary, *_below(everybody, ("commands",)))),
    }


def displays_acl(root: str) -> str:
    """A display's rights; %u is its user name."""
    rights = of_display(root, "%u")
    lines = [
        *(f"pattern write {topic}" for topic in rights.writes),
        *(f"pattern read {topic}" for topic in rights.reads),
    ]
    return "\n".join(lines) + "\n"


def services_acl(root: str, login_prefix: str = "") -> str:
    """The rights of each of our services; `login_prefix` comes before their names."""
    sections = []
    for user, rights in of_services(root).items():
        both = set(rights.reads) & set(rights.writes)
        lines = [f"topic {'readwrite' if topic in both else 'read'} {topic}" for topic in rights.reads]
        lines += [f"topic write {topic}" for topic in rights.writes if topic not in both]
        sections.append("\n".join([f"user {login_prefix}{user}", *lines, ""]))
    return "\n".join(sections)


def _below(start: str, topics: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{start}/{topic}" for topic in topics)


def _covers(allowed: str, asked: str) -> bool:
    """Whether `asked` has the levels of `allowed`, in which `+` stands for any one level but `#`."""
    ours, theirs = allowed.split("/"), asked.split("/")
    return len(ours) == len(theirs) and all(
        one == other or (one == "+" and other not in {"", "#"}) for one, other in zip(ours, theirs, strict=True)
    )


def _name(text: str) -> str:
    """Check a name: a wildcard would give rights on other stacks' topics, a line end would add rules."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text):
        raise argparse.ArgumentTypeError("expected 1 to 64 letters, digits, - or _")
    return text


def main(arguments: Sequence[str]) -> None:
    """Print the ACLs of the services and of displays."""
    parser = argparse.ArgumentParser(prog="python -m deploy.parts.broker_rights", description="Rights at a broker.")
    parser.add_argument("topic_root", nargs="?", type=_name, default="signage")
    parser.add_argument("login_prefix", nargs="?", type=_name)
    given = parser.parse_args(arguments)
    print(f"{services_acl(given.topic_root, given.login_prefix or '')}\n{displays_acl(given.topic_root)}", end="")


if __name__ == "__main__":
    main(sys.argv[1:])
