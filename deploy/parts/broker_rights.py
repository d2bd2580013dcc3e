"""The rights of users at the broker: mosquitto's ACL files.

    python -m deploy.parts.broker_rights [TOPIC_ROOT [LOGIN_PREFIX]]

prints them, for a broker that somebody else runs. On a shared broker each stack has its own topic root, and its own
prefix for the user names of its services.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Final

SERVICES: Final = ("bridge", "api", "scheduler")  # the users of the services' listener
URGENT: Final = "bridge_urgent"  # the bridge's second session (bridge/lanes.py), with the bridge's password

UPWARD: Final = ("heartbeat", "health", "logs/+", "service_failed", "presence", "acks")
OVERTAKING: Final = ("service_failed", "presence", "acks")  # the topics of the bridge's urgent session
DOWNWARD: Final = ("commands", "logs_committed", "log_level", "hours", "interval")
RETAINED: Final = ("presence",)  # the only retained messages that a display may publish


def displays_acl(root: str) -> str:
    """A display's rights: write its own upward topics, read its own downward topics; %u is its user name."""
    upward = [f"pattern write {root}/%u/{topic}" for topic in UPWARD]
    downward = [f"pattern read {root}/%u/{topic}" for topic in DOWNWARD]
    return "\n".join(upward + downward) + "\n"


def services_acl(root: str, login_prefix: str = "") -> str:
    """The rights of each of our services; `login_prefix` comes before their names.

    No service may subscribe to command topics. The broker's answer "no matching subscribers" proves that no display got
    a command; another subscriber would hide it.
    """
    bridge = [f"topic read {root}/+/{topic}" for topic in UPWARD]
    bridge.append(f"topic readwrite {root}/service/canary")
    bridge += [f"topic write {root}/+/{topic}" for topic in ("commands", "logs_committed", "hours", "interval")]
    urgent = [f"topic read {root}/+/{topic}" for topic in OVERTAKING]
    urgent += [f"topic readwrite {root}/service/canary", f"topic write {root}/+/commands"]
    api = [f"topic write {root}/+/{topic}" for topic in ("commands", "log_level")]
    scheduler = [f"topic write {root}/+/commands"]
    sections = zip((*SERVICES, URGENT), (bridge, api, scheduler, urgent), strict=True)
    return "\n".join("\n".join([f"user {login_prefix}{user}", *lines, ""]) for user, lines in sections)


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
